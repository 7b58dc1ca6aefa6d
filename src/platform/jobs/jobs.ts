import type pg from 'pg'
import type { Db as BossDb, JobInsert, PgBoss } from 'pg-boss'
import type { Transaction } from '../database/database.ts'
import { newId } from '../ids.ts'
import type { Handler, JobKind } from './kind.ts'
import type { LaneOptions } from './lane.ts'
import * as queries from './queries.ts'
import { createRunner } from './runner.ts'
import type { JobTiming, Runner } from './runner.ts'
import { installJobs, openJobStore } from './store.ts'
import type { JobStore } from './store.ts'
import type { Log } from '../process/log.ts'

export { defineJob } from './kind.ts'
export type { Handler, JobContext, JobKind } from './kind.ts'

export interface EnqueueOptions {
  startAfterSeconds?: number
  /**
   * Many enqueue, one job runs. While a job of the kind waits under the key, another enqueue only makes sure that it
   * starts after this commit, and no later than asked here; its payload stays. One that runs already does not count:
   * it may have read what was true before. Transactions that overlap do not wait for one another: then there may be
   * a job or two more than needed.
   */
  singletonKey?: string | undefined
  /** Higher goes first within its kind; 0 by default. */
  priority?: number
}

/** Work that must happen, at least once, on some worker. The payload names a row; the row is the truth. */
export interface Jobs {
  /**
   * Enqueues in the caller's transaction: the job runs if and only if that commits. It starts within milliseconds on
   * a worker in this process, within half a second elsewhere.
   */
  enqueue<P extends object>(db: Transaction, kind: JobKind<P>, payload: P, options?: EnqueueOptions): Promise<void>
  /** The same for many at once, in one statement. */
  enqueueAll<P extends object>(
    db: Transaction,
    kind: JobKind<P>,
    payloads: P[],
    options?: Omit<EnqueueOptions, 'singletonKey'>,
  ): Promise<void>
  /**
   * Those of the payloads for which no job of the kind waits, runs or is to be tried again. Reads all that are not over:
   * for sweeps that look for what was lost.
   */
  unattended<P extends object>(kind: JobKind<P>, payloads: P[]): Promise<P[]>
  /** Registers a handler; call it before `start`. A handler that throws is tried again later, as the kind says. */
  work<P extends object>(kind: JobKind<P>, handler: Handler<P>, options?: { concurrency?: number }): void
  /** Runs the kind by a cron expression (UTC), once across all processes; call it before `start`. */
  schedule(kind: JobKind<Record<string, never>>, cron: string): void
  /** Work with a queue of its own, which begins and ends with the jobs of a worker; call it before `start`. */
  alongside(worker: Alongside): void
  /** With `work: false` this process only enqueues. */
  start(options: { work: boolean }): Promise<void>
  /**
   * Takes no more jobs, lets those that run finish, aborts their signals at the deadline and hands back what does not
   * end even then. Idempotent.
   */
  stop(options: { deadlineMs: number }): Promise<void>
  /** How far behind the workers are, over the kinds registered here. */
  lag(): Promise<queries.JobLag>
}

/** Started on workers only. It stops under the same deadline as the jobs. */
export interface Alongside {
  start(): void
  stop(options: { deadlineMs: number }): Promise<void>
}

export interface JobsOptions {
  connection: pg.ClientConfig
  log: Log
  timing?: Partial<JobTiming>
}

/**
 * The rhythm of a worker. A job whose worker was killed is noticed after `silentMs + reapMs` at the latest and started
 * at the next look: 20.5 s. A process that has just started watches for `silentMs` before it judges others, so a lone
 * one that is restarted picks its own job up within 20.5 s of its start.
 */
export const jobTiming: JobTiming = {
  pollMs: 500,
  heartbeatMs: 5_000,
  silentMs: 15_000,
  reapMs: 5_000,
  upkeepMs: 60_000,
}

const daySeconds = 86_400

const overTransaction = (db: Transaction): BossDb => ({
  executeSql: async (text, values = []) => ({ rows: await db.rows({ text, values }) }),
})

const toInsert = (kind: JobKind<object>, payload: object, options: EnqueueOptions): JobInsert => ({
  data: payload,
  // Every queue has the policy `short`: one waiting job for a key. Those without a key get one of their own.
  singletonKey: options.singletonKey ?? newId(),
  priority: options.priority ?? 0,
  ...(kind.fairBy === null ? {} : { group: { id: String((payload as Record<string, unknown>)[kind.fairBy]) } }),
  startAfter: options.startAfterSeconds ?? 0,
  ...settingsOf(kind),
})

const settingsOf = (kind: JobKind<object>) => ({
  retryLimit: kind.retryLimit,
  retryDelay: kind.retryDelaySeconds,
  retryBackoff: true,
  retryDelayMax: kind.retryDelayMaxSeconds,
  expireInSeconds: Math.min(Math.ceil(kind.timeoutSeconds) + 60, daySeconds),
  // A job that waits is kept, however long nobody works.
  retentionSeconds: 3_650 * daySeconds,
  deleteAfterSeconds: 14 * daySeconds,
})

/** What the handlers and schedules of a process are, until it starts. */
const createRegistry = () => {
  const lanes = new Map<string, LaneOptions>()
  const schedules = new Map<string, { kind: JobKind<object>; cron: string }>()
  return {
    lanes,
    schedules,
    addLane: (kind: JobKind<object>, handler: Handler<object>, concurrency: number): void => {
      if (lanes.has(kind.name)) throw new Error(`${kind.name} has a handler already`)
      lanes.set(kind.name, { kind, handler, concurrency, scheduled: schedules.has(kind.name) })
    },
    addSchedule: (kind: JobKind<object>, cron: string): void => {
      schedules.set(kind.name, { kind, cron })
      const lane = lanes.get(kind.name)
      if (lane) lane.scheduled = true
    },
  }
}

/** Makes the database's schedules those of this version. */
const syncSchedules = async (boss: PgBoss, schedules: Map<string, { kind: JobKind<object>; cron: string }>) => {
  for (const { kind, cron } of schedules.values()) {
    await boss.schedule(kind.name, cron, {}, { tz: 'UTC', missed: 'once', ...settingsOf(kind) })
  }
  for (const { name } of await boss.getSchedules()) {
    if (!schedules.has(name)) await boss.unschedule(name)
  }
}

/** Each kind of job has a queue of its name, created when it is first needed. */
const createQueues = (boss: PgBoss) => {
  const ready = new Map<string, Promise<void>>()
  const ensure = (kind: JobKind<object>): Promise<void> => {
    const known = ready.get(kind.name)
    if (known) return known
    const created = boss.createQueue(kind.name, { policy: 'short' })
    ready.set(kind.name, created)
    created.catch(() => ready.delete(kind.name))
    return created
  }
  return {
    ensure,
    ensureAll: async (kinds: JobKind<object>[]): Promise<void> => {
      for (const { name } of await boss.getQueues()) ready.set(name, Promise.resolve())
      for (const kind of kinds) await ensure(kind)
    },
  }
}

interface Started {
  store: JobStore
  queues: ReturnType<typeof createQueues>
  runner: Runner | undefined
}

const stopWork = async (state: Started | undefined, beside: Alongside[], deadlineMs: number): Promise<void> => {
  if (state?.runner) {
    await Promise.all([state.runner.stop(deadlineMs), ...beside.map((one) => one.stop({ deadlineMs }))])
  }
  await state?.store.close()
}

/** Connects nothing until `start`. */
export const createJobs = ({ connection, log, timing }: JobsOptions): Jobs => {
  const registry = createRegistry()
  const beside: Alongside[] = []
  let state: Started | undefined
  let stopping: Promise<void> | undefined

  const started = (): Started => {
    if (!state) throw new Error('jobs were used before their start')
    return state
  }
  const beforeStart = (): void => {
    if (state) throw new Error('handlers and schedules are registered before the start')
  }
  const insert = async (db: Transaction, kind: JobKind<object>, jobs: JobInsert[]): Promise<boolean> => {
    const ids = await started().store.boss.insert(kind.name, jobs, { db: overTransaction(db), returnId: true })
    return ids !== null
  }
  const nudgeAfterCommit = (
    db: Transaction,
    kind: JobKind<object>,
    { startAfterSeconds = 0 }: EnqueueOptions,
  ): void => {
    if (startAfterSeconds === 0) db.afterCommit(() => state?.runner?.nudge(kind.name))
  }

  return {
    enqueue: async (db, kind, payload, options = {}) => {
      await started().queues.ensure(kind)
      const { singletonKey: key, startAfterSeconds = 0 } = options
      const join = async () => key !== undefined && queries.joinWaiting(db, kind.name, key, startAfterSeconds)
      // The first insert finds a job under the key when its transaction committed just now; the last one has no key.
      const isWaiting = (await join()) || (await insert(db, kind, [toInsert(kind, payload, options)])) || (await join())
      if (!isWaiting) await insert(db, kind, [toInsert(kind, payload, { ...options, singletonKey: undefined })])
      nudgeAfterCommit(db, kind, options)
    },
    enqueueAll: async (db, kind, payloads, options = {}) => {
      if (payloads.length === 0) return
      await started().queues.ensure(kind)
      const jobs = payloads.map((payload) => toInsert(kind, payload, options))
      await insert(db, kind, jobs)
      nudgeAfterCommit(db, kind, options)
    },
    unattended: async (kind, payloads) => queries.listUnattended(started().store.db, kind.name, payloads),
    work: (kind, handler, { concurrency = 5 } = {}) => {
      beforeStart()
      registry.addLane(kind, handler as Handler<object>, concurrency)
    },
    schedule: (kind, cron) => {
      beforeStart()
      registry.addSchedule(kind, cron)
    },
    alongside: (worker) => {
      beforeStart()
      beside.push(worker)
    },
    start: async ({ work }) => {
      const { lanes, schedules } = registry
      await installJobs(connection, log)
      const rhythm = { ...jobTiming, ...timing }
      const store = await openJobStore(connection, log, { work, upkeepMs: rhythm.upkeepMs })
      const queues = createQueues(store.boss)
      state = { store, queues, runner: undefined }
      await queues.ensureAll([...lanes.values(), ...schedules.values()].map(({ kind }) => kind))
      if (!work) return
      await syncSchedules(store.boss, schedules)
      state.runner = createRunner({
        boss: store.boss,
        db: store.db,
        lanes: [...lanes.values()],
        log,
        timing: rhythm,
      })
      for (const worker of beside) worker.start()
    },
    stop: ({ deadlineMs }) => {
      stopping ??= stopWork(state, beside, deadlineMs)
      return stopping
    },
    lag: () => queries.findLag(started().store.db, [...registry.lanes.keys()]),
  }
}
