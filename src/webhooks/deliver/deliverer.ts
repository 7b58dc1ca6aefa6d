import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { attemptDelivery } from './attempt.ts'
import type { AttemptDeps } from './attempt.ts'
import * as queries from './queue-queries.ts'
import type { ClaimedRow, Lane, Outcome } from './queue-queries.ts'
import type { Wakeup } from './wakeup.ts'

export interface DelivererDeps extends AttemptDeps {
  db: Database
  wakeup: Wakeup
}

/** Works beside the jobs of a worker. */
export interface Deliverer {
  start(): void
  /** Takes no more, lets attempts end, and hands back what has not ended by the deadline. */
  stop(options: { deadlineMs: number }): Promise<void>
}

// A worker that was killed loses what it had after 30 s, twice as long as the longest attempt; the next look is at most
// half a second later.
const leaseSeconds = 30
const pollMs = 500
const retryMs = 1_000

/** Attempts under way in one process. */
const capacity = 512
/** Among them to one webhook: the longer its receiver took last, the fewer of the places that all share it may hold. */
const laneCapacity = 16
const quickLane = { answersWithinMs: 1_000, capacity: 64 }
const slowLane = { answersAfterMs: 5_000, capacity: 2 }
/** Bodies that are held for them: beyond it nothing new is begun. A claim may bring as many again. */
const maxBytesInFlight = 33_554_432
const rowsPerClaim = 64
/** Outcomes that are not written down yet; beyond it nothing new is begun. */
const maxUnsettled = 1_000

const lanesPerLook = 500
const lanesPerClaim = 256
const settleBatch = 200

const beforeAll = '00000000-0000-0000-0000-000000000000'

/** Which lanes have something to do, and how many more attempts each may have. */
const createLanes = () => {
  const ready = new Map<string, Lane>()
  const inFlight = new Map<string, number>()
  // Only what differs from the usual is remembered.
  const capacityOf = new Map<string, number>()
  const keyOf = ({ orgId, webhookId }: Lane): string => `${orgId} ${webhookId}`
  const roomOf = (key: string): number => (capacityOf.get(key) ?? laneCapacity) - (inFlight.get(key) ?? 0)
  return {
    markReady: (lane: Lane): void => {
      ready.set(keyOf(lane), { orgId: lane.orgId, webhookId: lane.webhookId })
    },
    /** Lanes to ask for; they are marked again when there is more. */
    take: (): (Lane & { room: number })[] => {
      const taken: (Lane & { room: number })[] = []
      for (const [key, lane] of ready) {
        const room = roomOf(key)
        if (room <= 0) continue
        ready.delete(key)
        taken.push({ ...lane, room })
        if (taken.length === lanesPerClaim) break
      }
      return taken
    },
    began: (lane: Lane): void => {
      const key = keyOf(lane)
      inFlight.set(key, (inFlight.get(key) ?? 0) + 1)
    },
    ended: (lane: Lane): void => {
      const key = keyOf(lane)
      const left = (inFlight.get(key) ?? 1) - 1
      if (left > 0) inFlight.set(key, left)
      else inFlight.delete(key)
    },
    answered: (lane: Lane, afterMs: number): void => {
      const key = keyOf(lane)
      if (afterMs <= quickLane.answersWithinMs) capacityOf.set(key, quickLane.capacity)
      else if (afterMs >= slowLane.answersAfterMs) capacityOf.set(key, slowLane.capacity)
      else capacityOf.delete(key)
    },
  }
}

type Lanes = ReturnType<typeof createLanes>

/** Writes outcomes down, those that come together in one statement. Tries until the database answers. */
const createSettler = ({ db, log }: Pick<DelivererDeps, 'db' | 'log'>) => {
  const waiting: { outcome: Outcome; done: () => void }[] = []
  let running = false
  let halted = false
  const persist = async (outcomes: Outcome[]): Promise<void> => {
    for (;;) {
      try {
        await queries.settleDeliveries(db.indexed, outcomes)
        return
      } catch (error) {
        if (halted) return
        log.warn({ err: error }, 'outcomes of deliveries could not be recorded yet')
        await delay(retryMs)
      }
    }
  }
  const run = async (): Promise<void> => {
    if (running) return
    running = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, settleBatch)
      await persist(batch.map(({ outcome }) => outcome))
      for (const { done } of batch) done()
    }
    running = false
  }
  return {
    settle: (outcome: Outcome): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ outcome, done: resolve })
      void run()
      return promise
    },
    /** One more try for what is left. */
    halt: () => {
      halted = true
    },
  }
}

/** Deliveries of the lanes that are ready; those that may have more are ready again. */
const claimFrom = async (db: Database, lanes: Lanes, room: number): Promise<ClaimedRow[]> => {
  const asked = lanes.take()
  if (asked.length === 0) return []
  let rows: ClaimedRow[]
  try {
    rows = await queries.claimDeliveries(db.indexed, { lanes: asked, room, token: randomUUID(), leaseSeconds })
  } catch (error) {
    for (const lane of asked) lanes.markReady(lane)
    throw error
  }
  for (const lane of asked) {
    const taken = rows.filter((row) => row.webhookId === lane.webhookId).length
    if (rows.length === room || taken === lane.room) lanes.markReady(lane)
  }
  return rows
}

/** Finds lanes that nobody told of: other processes' events, retries, deliveries of workers that died. */
const createLookout = (db: Database, markReady: (lane: Lane) => void) => {
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let position = beforeAll
  const dueInMs = (): number => lookedAtMs + pollMs - performance.now()
  return {
    dueInMs,
    look: async (): Promise<void> => {
      if (dueInMs() > 0) return
      lookedAtMs = performance.now()
      const passed = await queries.listLanes(db.indexed, position, lanesPerLook)
      position = (passed.length === lanesPerLook && passed.at(-1)?.webhookId) || beforeAll
      for (const lane of passed) if (lane.isDue) markReady(lane)
    },
  }
}

export const createDeliverer = (deps: DelivererDeps): Deliverer => {
  const { db, log, wakeup } = deps
  const lanes = createLanes()
  const lookout = createLookout(db, lanes.markReady)
  const settler = createSettler(deps)
  const abort = new AbortController()
  let started = false
  let stopped = false
  let inFlight = 0
  let bytesInFlight = 0
  let unsettled = 0
  let bell = Promise.withResolvers<void>()
  let running: Promise<void> = Promise.resolve()
  const ring = (): void => bell.resolve()

  const attempt = async (row: ClaimedRow): Promise<void> => {
    const bytes = row.body?.length ?? 0
    inFlight += 1
    bytesInFlight += bytes
    lanes.began(row)
    const outcome = await attemptDelivery(deps, row, abort.signal)
    if (outcome.attempt !== null) lanes.answered(row, outcome.durationMs)
    lanes.ended(row)
    inFlight -= 1
    bytesInFlight -= bytes
    unsettled += 1
    ring()
    await settler.settle(outcome)
    unsettled -= 1
  }

  /** Takes and begins what there is room for. True when there may be more. */
  const claim = async (): Promise<boolean> => {
    const hasRoom = unsettled < maxUnsettled && bytesInFlight < maxBytesInFlight
    const room = hasRoom ? Math.min(rowsPerClaim, capacity - inFlight) : 0
    const rows = room > 0 ? await claimFrom(db, lanes, room) : []
    for (const row of rows) void attempt(row)
    return rows.length > 0
  }

  const round = async (): Promise<void> => {
    bell = Promise.withResolvers()
    try {
      await lookout.look()
      while (!stopped && (await claim()));
    } catch (error) {
      log.warn({ err: error }, 'deliveries could not be fetched')
      await delay(retryMs, undefined, { signal: abort.signal }).catch(() => undefined)
    }
    if (stopped) return
    const timer = setTimeout(ring, Math.max(0, lookout.dueInMs()))
    await bell.promise
    clearTimeout(timer)
  }

  const run = async (): Promise<void> => {
    while (!stopped) await round()
  }

  return {
    start: () => {
      started = true
      wakeup.listen((hinted) => {
        for (const lane of hinted) lanes.markReady(lane)
        ring()
      })
      running = run()
    },
    stop: async ({ deadlineMs }) => {
      if (!started) return
      stopped = true
      ring()
      const deadline = performance.now() + deadlineMs
      await running
      while (inFlight + unsettled > 0 && performance.now() < deadline) await delay(10)
      settler.halt()
      abort.abort(new Error('the worker stops'))
      while (inFlight + unsettled > 0) await delay(10)
    },
  }
}
