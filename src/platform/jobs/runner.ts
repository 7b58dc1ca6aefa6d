import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db as BossDb, PgBoss } from 'pg-boss'
import { createLane } from './lane.ts'
import type { Lane, LaneOptions } from './lane.ts'
import * as queries from './queries.ts'
import type { Log } from '../process/log.ts'

export interface JobTiming {
  /** Between two looks for jobs that other processes enqueued. */
  pollMs: number
  heartbeatMs: number
  /** A worker that was silent for this long is dead. Three heartbeats. */
  silentMs: number
  /** Between two looks for dead workers. */
  reapMs: number
  /** Between two rounds of upkeep: statistics, time limits, the removal of what is old. Whole seconds. */
  upkeepMs: number
}

export interface Runner {
  /** Looks for jobs of this kind now. */
  nudge(kind: string): void
  stop(deadlineMs: number): Promise<void>
}

export interface RunnerOptions {
  boss: PgBoss
  db: BossDb
  lanes: LaneOptions[]
  log: Log
  timing: JobTiming
}

/** Calls `work` again and again, `everyMs` after it ended, until the signal. A failure is reported and goes by. */
const repeat = (everyMs: number, signal: AbortSignal, work: () => Promise<void>, onError: (error: unknown) => void) => {
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work()
      } catch (error) {
        onError(error)
      }
      await delay(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return loop()
}

/**
 * Looks for workers that fell silent. Silence only counts while this process itself could reach the database all the
 * time: after an outage of the database, or of this process, everybody seems to have been silent.
 */
const createReaper = ({ db, log, timing }: RunnerOptions, nudge: (kind: string) => void) => {
  let watchingSince: number | undefined
  let lastLook = 0
  return async (): Promise<void> => {
    const now = performance.now()
    if (now - lastLook > timing.reapMs * 2) watchingSince = undefined
    lastLook = now
    try {
      if (watchingSince !== undefined && now - watchingSince >= timing.silentMs) {
        const released = await queries.releaseSilent(db, timing.silentMs / 1_000)
        for (const job of released)
          log.warn({ job: job.name, jobId: job.id, state: job.state }, 'a worker died on a job')
        for (const name of new Set(released.map((job) => job.name))) nudge(name)
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
  const lanes = new Map(options.lanes.map((lane) => [lane.kind.name, createLane(boss, lane, log)]))
  const all = [...lanes.values()]
  const looking = new AbortController()
  const beating = new AbortController()
  // Jobs must not inherit what belongs to the request that happened to enqueue them.
  const inOwnContext = AsyncLocalStorage.snapshot()

  const nudge = (kind: string): void => inOwnContext(() => void lanes.get(kind)?.pump())
  const report = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `jobs: ${what} failed and is tried again`)

  const look = async (): Promise<void> => {
    const names = all.filter((lane) => lane.hasRoom()).map((lane) => lane.kind.name)
    if (names.length === 0) return
    for (const name of await queries.kindsWithDueJobs(db, names)) nudge(name)
  }
  const beat = async (): Promise<void> => {
    const results = await Promise.allSettled(all.map((lane) => lane.beat()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  const loops = [
    repeat(timing.pollMs, looking.signal, look, report('looking for jobs')),
    repeat(timing.reapMs, looking.signal, createReaper(options, nudge), report('looking for dead workers')),
  ]
  const heart = repeat(timing.heartbeatMs, beating.signal, beat, report('the heartbeat'))

  const release = async (lane: Lane): Promise<void> => {
    const held = lane.held()
    if (held.length === 0) return
    log.warn({ job: lane.kind.name, jobs: held.length }, 'jobs did not end in time and are handed back')
    await queries.releaseHeld(db, lane.kind.name, held)
  }

  return {
    nudge,
    stop: async (deadlineMs) => {
      looking.abort()
      for (const lane of all) lane.close()
      const idle = Promise.all([...loops, ...all.map((lane) => lane.idle())])
      const inTime = new AbortController()
      const deadline = delay(deadlineMs, undefined, { signal: inTime.signal }).catch(() => undefined)
      await Promise.race([idle, deadline])
      inTime.abort()
      for (const lane of all) lane.abort(new Error('this process has to end'))
      const grace = delay(abortedGraceMs, undefined, { ref: false })
      await Promise.race([idle, grace])
      await Promise.allSettled(all.map(release))
      beating.abort()
      await heart
    },
  }
}
