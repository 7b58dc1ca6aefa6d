import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db as BossDb, PgBoss } from 'pg-boss'
import { createLane } from './lane.ts'
import type { JobLane, LaneOptions, Place, WorkOwner } from './lane.ts'
import * as queries from './queries.ts'
import { createBackoff } from '../process/backoff.ts'
import type { Log } from '../process/log.ts'

export interface JobTiming {
  /** Interval of the poll for jobs that other processes enqueued. */
  pollMs: number
  heartbeatMs: number
  /** A worker without a heartbeat for this long is dead. Three heartbeats. */
  silentMs: number
  /** Interval of the check for dead workers. */
  reapMs: number
  /** Interval of pg-boss's maintenance: statistics, time limits, deletion of old jobs. Whole seconds. */
  upkeepMs: number
}

export interface Runner {
  /** Fetches jobs of this kind now. False when this worker has no room for them or does not run the kind. */
  wake(kind: string): boolean
  /** A place for work without a job; see `Jobs.occupy`. */
  occupy(kind: string, owner: WorkOwner): Place | undefined
  stop(deadlineMs: number): Promise<void>
}

export interface RunnerOptions {
  boss: PgBoss
  db: BossDb
  lanes: LaneOptions[]
  log: Log
  timing: JobTiming
}

/** Longer, and work would wait too long after an outage. Heartbeats must not be less frequent. */
const maxBackoffMs = 5_000

/**
 * Calls `work` until the signal is aborted, `everyMs` after its end. A failure is reported and does not stop the loop;
 * after several in a row it waits longer, up to 5 s.
 */
const repeat = (everyMs: number, signal: AbortSignal, work: () => Promise<void>, onError: (error: unknown) => void) => {
  const backoff = createBackoff({ firstMs: everyMs, maxMs: Math.max(everyMs, maxBackoffMs) })
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      let waitMs = everyMs
      try {
        await work()
        backoff.reset()
      } catch (error) {
        onError(error)
        waitMs = backoff.next()
      }
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return loop()
}

/**
 * Releases the jobs of workers without a heartbeat, only after this process itself could reach the database for all of
 * `silentMs`: after an outage of the database, or of this process, every heartbeat is old.
 */
const createReaper = ({ db, log, timing }: RunnerOptions, wake: (kind: string) => unknown) => {
  let watchingSince: number | undefined
  let checkedAt = 0
  return async (): Promise<void> => {
    const now = performance.now()
    if (now - checkedAt > timing.reapMs * 2) watchingSince = undefined
    checkedAt = now
    try {
      if (watchingSince !== undefined && now - watchingSince >= timing.silentMs) {
        const released = await queries.releaseSilent(db, timing.silentMs / 1_000)
        for (const job of released)
          log.warn({ job: job.name, jobId: job.id, state: job.state }, 'the worker of a job died')
        for (const name of new Set(released.map((job) => job.name))) wake(name)
      } else await db.executeSql('select 1')
      watchingSince ??= now
    } catch (error) {
      watchingSince = undefined
      throw error
    }
  }
}

const abortedGraceMs = 2_000

/** Runs the jobs of all lanes in this process. */
export const createRunner = (options: RunnerOptions): Runner => {
  const { boss, db, log, timing } = options
  const lanes = new Map(options.lanes.map((lane) => [lane.kind.name, createLane({ boss, db }, lane, log)]))
  const all = [...lanes.values()]
  const polling = new AbortController()
  const beating = new AbortController()
  // Jobs must not inherit the async context of the request that enqueued them.
  const inOwnContext = AsyncLocalStorage.snapshot()

  const wake = (kind: string): boolean =>
    inOwnContext(() => {
      const lane = lanes.get(kind)
      void lane?.pump()
      return lane?.hasRoom() === true
    })
  const report = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `jobs: ${what} failed and will be repeated`)

  const poll = async (): Promise<void> => {
    const names = all.filter((lane) => lane.hasRoom()).map((lane) => lane.kind.name)
    if (names.length === 0) return
    for (const name of await queries.kindsWithDueJobs(db, names)) wake(name)
  }
  const beat = async (): Promise<void> => {
    const results = await Promise.allSettled(all.map((lane) => lane.beat()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  const loops = [
    repeat(timing.pollMs, polling.signal, poll, report('the poll for jobs')),
    repeat(timing.reapMs, polling.signal, createReaper(options, wake), report('the check for dead workers')),
  ]
  const heart = repeat(timing.heartbeatMs, beating.signal, beat, report('the heartbeat'))

  const release = async (lane: JobLane): Promise<void> => {
    const owned = lane.owned()
    if (owned.length === 0) return
    log.warn({ job: lane.kind.name, jobs: owned.length }, 'jobs did not end in time and are released')
    await queries.releaseOwned(db, lane.kind.name, owned)
  }

  const occupy: Runner['occupy'] = (kind, owner) => {
    const place = lanes.get(kind)?.occupy(owner)
    return place && { ...place, start: (payload, handed) => inOwnContext(() => place.start(payload, handed)) }
  }

  return {
    wake,
    occupy,
    stop: async (deadlineMs) => {
      polling.abort()
      for (const lane of all) lane.close()
      const idle = Promise.all([...loops, ...all.map((lane) => lane.idle())])
      const inTime = new AbortController()
      const deadline = delay(deadlineMs, undefined, { signal: inTime.signal }).catch(() => undefined)
      await Promise.race([idle, deadline])
      inTime.abort()
      for (const lane of all) lane.abort(new Error('the process is stopping'))
      const grace = delay(abortedGraceMs, undefined, { ref: false })
      await Promise.race([idle, grace])
      await Promise.allSettled(all.map(release))
      beating.abort()
      await heart
    },
  }
}
