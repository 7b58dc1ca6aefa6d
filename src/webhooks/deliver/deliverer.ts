import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { createSettler } from '../../platform/jobs/settler.ts'
import type { Settler } from '../../platform/jobs/settler.ts'
import { createBackoff } from '../../platform/process/backoff.ts'
import { attemptDelivery } from './attempt.ts'
import type { AttemptDeps } from './attempt.ts'
import { createBodies } from './bodies.ts'
import { claimDeliveries, listLanes } from './claim.ts'
import { createLanes } from './lanes.ts'
import type { Lanes } from './lanes.ts'
import type { DeliveryLane } from './lane-queries.ts'
import type { ClaimedRow, Outcome } from './queue-queries.ts'
import { settleDeliveries } from './settle.ts'
import type { DeliveryWake } from './wake.ts'

export interface DelivererDeps extends AttemptDeps {
  db: Database
  deliveryWake: DeliveryWake
}

/** Sends queued deliveries. Runs in each worker in addition to its jobs. */
export interface Deliverer {
  start(): void
  /** Stops claiming, waits for running attempts, and releases those that are still running at the deadline. */
  stop(options: { deadlineMs: number }): Promise<void>
}

/**
 * Twice the longest attempt. The deliveries of a killed worker are claimed again after this time and at most one poll.
 */
const leaseSeconds = 30
const pollMs = 500
/** Delays after a failed claim. */
const retry = { firstMs: 500, maxMs: 5_000 }

/** Attempts of one process at the same time. */
const capacity = 512
/** What the body of a delivery with the contents of its event counts until it has been read. */
const unreadBytes = 500_000
/** No claim while more than this number of outcomes wait to be recorded. */
const maxUnsettled = 1_000
const rowsPerClaim = 64
const lanesPerClaim = 256
const lanesPerPoll = 500
/** Several, so that the retries of all orgs do not wait for minutes behind one org with many lanes that are not due. */
const pagesPerPoll = 10
const settleBatch = 200

const firstId = '00000000-0000-0000-0000-000000000000'

/** Claims deliveries of the ready lanes, or returns undefined when there are none. Lanes that may have more stay ready. */
const claimFrom = async (db: Database, lanes: Lanes, free: number): Promise<ClaimedRow[] | undefined> => {
  const asked = lanes.removeReady(lanesPerClaim, free)
  if (asked.length === 0) return undefined
  const slots = Math.min(rowsPerClaim, free)
  let rows: ClaimedRow[]
  try {
    rows = await claimDeliveries(db, { lanes: asked, slots, token: randomUUID(), leaseSeconds })
  } catch (error) {
    for (const lane of asked) lanes.markReady(lane)
    throw error
  }
  const ofLane = Map.groupBy(rows, ({ webhookId }) => webhookId)
  const ofOrg = Map.groupBy(rows, ({ orgId }) => orgId)
  const bytesOfOrg = new Map<string, number>()
  for (const { orgId, body } of rows) bytesOfOrg.set(orgId, (bytesOfOrg.get(orgId) ?? 0) + (body?.length ?? 0))
  // The lanes of an org share its bytes. A lane may have fewer places than another one, whose deliveries come first then.
  const leastOfOrg = new Map(asked.toSorted((a, b) => b.orgSlots - a.orgSlots).map((lane) => [lane.orgId, lane]))
  // Those beyond the bytes of an org are among the first `slots`, so the deliveries of any org may have been left out.
  const isAllCut =
    rows.length === slots || asked.some(({ orgId, orgBytes }) => (bytesOfOrg.get(orgId) ?? 0) >= orgBytes)
  for (const lane of asked) {
    const isCut =
      isAllCut ||
      (ofLane.get(lane.webhookId)?.length ?? 0) === lane.slots ||
      (ofOrg.get(lane.orgId)?.length ?? 0) >= (leastOfOrg.get(lane.orgId)?.orgSlots ?? 0)
    if (isCut) lanes.markReady(lane)
  }
  return rows
}

/**
 * Finds due deliveries that no wake announced: events whose wake-up was lost, retries, expired leases of killed workers.
 */
const createPoller = (db: Database, markReady: (lane: DeliveryLane) => void) => {
  let polledAtMs = Number.NEGATIVE_INFINITY
  let position = firstId
  const dueInMs = (): number => polledAtMs + pollMs - performance.now()
  return {
    dueInMs,
    /** Continues with the next lanes, unless the last poll was less than 500 ms ago. */
    poll: async (): Promise<void> => {
      if (dueInMs() > 0) return
      polledAtMs = performance.now()
      try {
        for (let page = 0; page < pagesPerPoll; page += 1) {
          const lanes = await listLanes(db, position, lanesPerPoll)
          for (const lane of lanes) if (lane.isDue) markReady(lane)
          position = (lanes.length === lanesPerPoll && lanes.at(-1)?.webhookId) || firstId
          if (position === firstId) return
        }
      } catch (error) {
        // Without this, the next attempt would skip the poll and count as a success.
        polledAtMs = Number.NEGATIVE_INFINITY
        throw error
      }
    },
  }
}

/** A pause that a wake ends, also one that came after `begin` and before `until`. */
const createPause = () => {
  let sleep = Promise.withResolvers<void>()
  const wake = (): void => sleep.resolve()
  return {
    wake,
    begin: (): void => {
      sleep = Promise.withResolvers()
    },
    until: async (ms: number): Promise<void> => {
      const timer = setTimeout(wake, ms)
      await sleep.promise
      clearTimeout(timer)
    },
  }
}

/** The delay of a delivery whose outcome the database rejects. Without it, the request is sent again after each lease. */
const rejectedSeconds = 3_600

/** Without anything that the database could reject. */
const postponed = (outcome: Outcome): Outcome => ({
  ...outcome,
  kind: 'released',
  delaySeconds: rejectedSeconds,
  attempt: null,
  response: null,
  error: null,
  disableReason: null,
  failingSince: null,
})

const createOutcomes = ({ db, log }: Pick<DelivererDeps, 'db' | 'log'>): Settler<Outcome> => {
  const settler = createSettler<Outcome>({
    write: (outcomes) => settleDeliveries(db, outcomes),
    maxItems: settleBatch,
    onError: (error) => log.warn({ err: error }, 'outcomes of deliveries could not be recorded yet'),
    onRejected: (error, outcome) => {
      log.error({ err: error, deliveryId: outcome?.id }, 'the outcome of a delivery cannot be recorded')
      if (outcome) void settler.persist(() => settleDeliveries(db, [postponed(outcome)]))
    },
  })
  return settler
}

export const createDeliverer = (deps: DelivererDeps): Deliverer => {
  const { db, deliveryWake, log } = deps
  const bodies = createBodies()
  const lanes = createLanes(bodies)
  const poller = createPoller(db, lanes.markReady)
  const settler = createOutcomes(deps)
  const abort = new AbortController()
  let started = false
  let stopped = false
  let inFlight = 0
  let unsettled = 0
  let running: Promise<void> = Promise.resolve()
  const backoff = createBackoff(retry)
  const { wake, ...pause } = createPause()

  const markReady = (due: readonly DeliveryLane[]): void => {
    for (const lane of due) lanes.markReady(lane)
    wake()
  }

  const attempt = async (row: ClaimedRow): Promise<void> => {
    let bytes = 0
    const countBody = (length: number): void => {
      bodies.add(row.orgId, length - bytes)
      bytes = length
    }
    countBody(row.expand === true ? unreadBytes : (row.body?.length ?? 0))
    inFlight += 1
    lanes.started(row)
    const outcome = await attemptDelivery(deps, row, { signal: abort.signal, onBody: countBody })
    lanes.ended(row, outcome.attempt === null ? undefined : outcome.durationMs)
    inFlight -= 1
    unsettled += 1
    countBody(0)
    wake()
    await settler.settle(outcome)
    unsettled -= 1
    // The next delivery of the key is due now.
    if (row.orderKey !== null) markReady([row])
  }

  /** Claims deliveries and starts their attempts. True if there may be more: lanes can have been ready for nothing. */
  const claim = async (): Promise<boolean> => {
    const free = unsettled < maxUnsettled ? capacity - inFlight : 0
    const rows = free > 0 ? await claimFrom(db, lanes, free) : undefined
    for (const row of rows ?? []) void attempt(row)
    return rows !== undefined
  }

  const work = async (): Promise<void> => {
    pause.begin()
    try {
      await poller.poll()
      while (!stopped && (await claim()));
      backoff.reset()
    } catch (error) {
      log.warn({ err: error }, 'deliveries could not be claimed')
      await delay(backoff.next(), undefined, { signal: abort.signal }).catch(() => undefined)
    }
    if (stopped) return
    await pause.until(Math.max(0, poller.dueInMs()))
  }

  const run = async (): Promise<void> => {
    while (!stopped) await work()
  }

  return {
    start: () => {
      started = true
      deliveryWake.listen(markReady)
      running = run()
    },
    stop: async ({ deadlineMs }) => {
      if (!started) return
      stopped = true
      wake()
      const deadline = performance.now() + deadlineMs
      await running
      while (inFlight + unsettled > 0 && performance.now() < deadline) await delay(10)
      settler.halt()
      abort.abort(new Error('the worker stops'))
      while (inFlight + unsettled > 0) await delay(10)
    },
  }
}
