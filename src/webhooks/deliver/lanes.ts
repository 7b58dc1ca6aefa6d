import { createBodies } from './bodies.ts'
import type { DeliveryLane } from './lane-queries.ts'

/** Attempts of one process to one webhook at the same time. */
const capacity = 16
/** Fast endpoints get more and slow ones fewer, so that a slow endpoint does not use up the capacity of the process. */
const fast = { maxMs: 1_000, capacity: 64 }
const slow = { minMs: 5_000, capacity: 2 }

/** Further lanes are found by the next polls: somebody who can send wake-ups could name any number of them. */
const maxReady = 10_000
/** Kept for orgs without ready lanes, so that an org with that many does not keep out others. */
const maxReadyAlone = 10_000

/** Lanes whose capacity is remembered. */
const maxMeasured = 10_000

export type ClaimableLane = DeliveryLane & {
  /** How many more attempts may start now. */
  slots: number
  /** How many more attempts of all lanes of the org may start now. */
  orgSlots: number
  /** How many more bytes of bodies the org may claim now for this lane and those before it. */
  orgBytes: number
}

/**
 * The parts of the places and of the bytes of an org that are used up to: by lanes that have attempts and do not respond
 * within a second, and by lanes without attempts, with one each. The rest is for lanes that respond within a second.
 * Otherwise the webhooks of an org whose endpoints hang would use up its places until their attempts time out. Lanes that
 * took seconds the last time use up to half of the bytes.
 */
const shares = { busy: 3 / 4, idle: 15 / 16, slowBytes: 1 / 2 }

type Most = Pick<ClaimableLane, 'orgSlots' | 'orgBytes'>
type OrgMost = Record<'fast' | 'slow' | 'busy' | 'idle', Most>

interface OrgPlaces {
  used: number
  /** How many more. */
  orgSlots: number
  bytesUpTo: (share: number) => number
}

const mostOf = ({ used, orgSlots, bytesUpTo }: OrgPlaces): OrgMost => {
  const upTo = (share: number): number => Math.max(used === 0 ? 1 : 0, Math.floor((used + orgSlots) * share) - used)
  return {
    fast: { orgSlots, orgBytes: bytesUpTo(1) },
    slow: { orgSlots: upTo(shares.busy), orgBytes: bytesUpTo(shares.slowBytes) },
    busy: { orgSlots: upTo(shares.busy), orgBytes: bytesUpTo(shares.busy) },
    idle: { orgSlots: upTo(shares.idle), orgBytes: bytesUpTo(shares.idle) },
  }
}

const claimableOf = (
  { capacity, slots, isIdle }: { capacity: number | undefined; slots: number; isIdle: boolean },
  most: OrgMost,
): Most & { slots: number } => {
  if (capacity === fast.capacity) return { slots, ...most.fast }
  const isSlow = capacity === slow.capacity
  const busy = isSlow ? most.slow : most.busy
  if (busy.orgSlots > 0 && busy.orgBytes > 0) return { slots, ...busy }
  const { orgSlots, orgBytes } = most.idle
  return { slots: isIdle ? 1 : 0, orgSlots, orgBytes: isSlow ? most.slow.orgBytes : orgBytes }
}

const increase = (counts: Map<string, number>, key: string, by: number): void => {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/**
 * Keeps track of webhooks that may have due deliveries, and of the number of attempts that may start for each and for each
 * org. An org may have as many attempts as the process has free places: one org uses at most half of them, two a third
 * each, so that a place is free when an org has its first delivery, however many dead endpoints others have.
 */
export const createLanes = (bodies = createBodies()) => {
  /** By org. Orgs and lanes that were served are at the end. */
  const ready = new Map<string, Map<string, DeliveryLane>>()
  let readyCount = 0
  const inFlight = new Map<string, number>()
  const inFlightOfOrg = new Map<string, number>()
  /** Only capacities that differ from the default. The lane that was measured last is at the end. */
  const capacities = new Map<string, number>()
  const keyOf = ({ orgId, webhookId }: DeliveryLane): string => `${orgId} ${webhookId}`
  const slotsOf = (lane: DeliveryLane): number =>
    (capacities.get(keyOf(lane)) ?? capacity) - (inFlight.get(keyOf(lane)) ?? 0)
  /** `orgs` share the free places now, and leave a share. */
  const orgSlotsOf = (orgId: string, free: number, orgs: number): number => {
    const used = inFlightOfOrg.get(orgId) ?? 0
    return Math.max(used === 0 && free > 0 ? 1 : 0, Math.floor((free - used) / (orgs + 1)))
  }
  const remove = ({ orgId, webhookId }: DeliveryLane): void => {
    const lanes = ready.get(orgId)
    if (lanes?.delete(webhookId) === true) readyCount -= 1
    if (lanes?.size === 0) ready.delete(orgId)
  }
  /** Up to `limit` lanes of an org with free slots. `orgSlots`: of all of its lanes, `orgs`: that claim now. */
  const lanesOf = (orgId: string, limit: number, orgSlots: number, orgs: number): ClaimableLane[] => {
    const found: ClaimableLane[] = []
    if (orgSlots === 0 || bodies.leftOf(orgId, orgs, 1) <= 0) return found
    const used = inFlightOfOrg.get(orgId) ?? 0
    const most = mostOf({ used, orgSlots, bytesUpTo: (share) => bodies.leftOf(orgId, orgs, share) })
    for (const lane of ready.get(orgId)?.values() ?? []) {
      const key = keyOf(lane)
      const claimable = claimableOf(
        { capacity: capacities.get(key), slots: slotsOf(lane), isIdle: !inFlight.has(key) },
        most,
      )
      if (claimable.slots > 0 && claimable.orgSlots > 0 && claimable.orgBytes > 0) found.push({ ...lane, ...claimable })
      if (found.length === limit) break
    }
    return found
  }
  return {
    markReady: ({ orgId, webhookId }: DeliveryLane): void => {
      const lanes = ready.get(orgId) ?? new Map<string, DeliveryLane>()
      const most = lanes.size === 0 ? maxReady + maxReadyAlone : maxReady
      if (lanes.has(webhookId) || readyCount >= most) return
      lanes.set(webhookId, { orgId, webhookId })
      ready.set(orgId, lanes)
      readyCount += 1
    },
    /** Removes and returns up to `limit` ready lanes with free slots, of all orgs alike. `free`: places of the process. */
    removeReady: (limit: number, free: number): ClaimableLane[] => {
      const orgIds = [...ready.keys()]
      const removed: ClaimableLane[] = []
      for (const [place, orgId] of orgIds.entries()) {
        const share = Math.ceil((limit - removed.length) / (orgIds.length - place))
        const orgSlots = orgSlotsOf(orgId, free, orgIds.length)
        const lanes = lanesOf(orgId, share, orgSlots, orgIds.length)
        for (const lane of lanes) remove(lane)
        const rest = ready.get(orgId)
        if (rest && lanes.length > 0) {
          // Behind the other orgs.
          ready.delete(orgId)
          ready.set(orgId, rest)
        }
        removed.push(...lanes)
        if (removed.length >= limit) break
      }
      return removed
    },
    started: (lane: DeliveryLane): void => {
      increase(inFlight, keyOf(lane), 1)
      increase(inFlightOfOrg, lane.orgId, 1)
    },
    /** With the duration of a sent attempt, to which it adapts the capacity of the lane. */
    ended: (lane: DeliveryLane, durationMs: number | undefined): void => {
      const key = keyOf(lane)
      increase(inFlight, key, -1)
      increase(inFlightOfOrg, lane.orgId, -1)
      if (durationMs === undefined) return
      capacities.delete(key)
      if (durationMs <= fast.maxMs) capacities.set(key, fast.capacity)
      else if (durationMs >= slow.minMs) capacities.set(key, slow.capacity)
      const [oldest] = capacities.keys()
      if (capacities.size > maxMeasured && oldest !== undefined) capacities.delete(oldest)
    },
  }
}

export type Lanes = ReturnType<typeof createLanes>
