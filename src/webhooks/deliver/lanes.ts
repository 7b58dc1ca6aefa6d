import type { DeliveryLane } from './queue-queries.ts'

/** Attempts of one process to one webhook at the same time. */
const capacity = 16
/** Fast endpoints get more and slow ones fewer, so that a slow endpoint does not use up the capacity of the process. */
const fast = { maxMs: 1_000, capacity: 64 }
const slow = { minMs: 5_000, capacity: 2 }

export type ClaimableLane = DeliveryLane & {
  /** How many more attempts may start now. */
  slots: number
}

/** Keeps track of webhooks that may have due deliveries, and of the number of attempts that may start for each. */
export const createLanes = () => {
  const ready = new Map<string, DeliveryLane>()
  const inFlight = new Map<string, number>()
  /** Only capacities that differ from the default. */
  const capacities = new Map<string, number>()
  const keyOf = ({ orgId, webhookId }: DeliveryLane): string => `${orgId} ${webhookId}`
  const slotsOf = (key: string): number => (capacities.get(key) ?? capacity) - (inFlight.get(key) ?? 0)
  return {
    markReady: (lane: DeliveryLane): void => {
      ready.set(keyOf(lane), { orgId: lane.orgId, webhookId: lane.webhookId })
    },
    /** Removes and returns up to `limit` ready lanes with free slots. */
    removeReady: (limit: number): ClaimableLane[] => {
      const lanes: ClaimableLane[] = []
      for (const [key, lane] of ready) {
        const slots = slotsOf(key)
        if (slots <= 0) continue
        ready.delete(key)
        lanes.push({ ...lane, slots })
        if (lanes.length === limit) break
      }
      return lanes
    },
    started: (lane: DeliveryLane): void => {
      const key = keyOf(lane)
      inFlight.set(key, (inFlight.get(key) ?? 0) + 1)
    },
    /** With the duration of a sent attempt, to which it adapts the capacity of the lane. */
    ended: (lane: DeliveryLane, durationMs: number | undefined): void => {
      const key = keyOf(lane)
      const left = (inFlight.get(key) ?? 1) - 1
      if (left > 0) inFlight.set(key, left)
      else inFlight.delete(key)
      if (durationMs === undefined) return
      if (durationMs <= fast.maxMs) capacities.set(key, fast.capacity)
      else if (durationMs >= slow.minMs) capacities.set(key, slow.capacity)
      else capacities.delete(key)
    },
  }
}

export type Lanes = ReturnType<typeof createLanes>
