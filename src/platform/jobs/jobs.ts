import type pg from 'pg'
import type { Db as BossDb, JobInsert, PgBoss } from 'pg-boss'
import type { Transaction } from '../database/database.ts'
import { newId } from '../ids.ts'
import type { Handler, JobKind } from './kind.ts'
import type { LaneOptions, Place, WorkOwner } from './lane.ts'
import * as queries from './queries.ts'
import { createRunner } from './runner.ts'
import type { JobTiming, Runner } from './runner.ts'
import { installJobs, openJobStore } from './store.ts'
import type { JobStore } from './store.ts'
import type { Log } from '../process/log.ts'
import { noWakeups } from '../wake/wakeups.ts'
import type { Wakeups } from '../wake/wakeups.ts'

export { defineJob } from './kind.ts'
export type { Handler, JobContext, JobKind } from './kind.ts'
export type { Place, WorkOwner } from './lane.ts'

export interface EnqueueOptions {
  startAfterSeconds?: number
  /**
   * Debounces: while a job of the kind waits with this key, another enqueue creates none; it only makes the waiting job
   * start after this commit and no later than requested. The payload stays. A running job does not count, because it may
   * have read older data. Overlapping transactions do not wait for one another, so there can be one or two jobs more.
   */
  singletonKey?: string | undefined
  /** Jobs of a kind with a higher priority start first. Default: 0. Kinds with `fairBy` ignore it. */
  priority?: number
  /** The part of the group (see `fairBy`) that the job belongs to, for example a person: an id. */
  member?: string | undefined
}

/** Durable background jobs that run at least once. The payload contains ids; the rows are the truth. */
export interface Jobs {
  /**
   * Enqueues in the caller's transaction: the job runs if and only if that commits. It starts within milliseconds, or within
   * half a second when the worker is another process that cannot be woken.
   */
  enqueue<P extends object>(db: Transaction, kind: JobKind<P>, payload: P, options?: EnqueueOptions): Promise<void>
  /** The same for many jobs, in one statement. */
  enqueueAll<P extends object>(
    db: Transaction,
    kind: JobKind<P>,
    payloads: P[],
    options?: Omit<EnqueueOptions, 'singletonKey' | 'member'> & { memberOf?: (payload: P) => string | undefined },
  ): Promise<void>
  /**
   * A place in this process for work of a group and its member (see `fairBy`) that needs no job, because its own rows
   * record it. That saves two statements, and the work starts without a poll. Undefined when this process runs no jobs,
   * or the kind or the group has no place left; then enqueue a job. Release the place when the transaction that creates
   * the work fails.
   */
  occupy(kind: JobKind<object>, owner: WorkOwner): Place | undefined
  /**
   * The payloads for which no job of the kind is waiting, running or to be retried. Reads all unfinished jobs of the kind:
   * for sweeps that look for lost work.
   */
  unattended<P extends object>(kind: JobKind<P>, payloads: P[]): Promise<P[]>
  /** Registers a handler; call it before `start`. A handler that throws is retried by the policy of the kind. */
  work<P extends object>(kind: JobKind<P>, handler: Handler<P>, options?: { concurrency?: number }): void
  /** Runs the kind by a cron expression (UTC), once for all processes; call it before `start`. */
  schedule(kind: JobKind<Record<string, never>>, cron: string): void
  /** Starts and stops a worker that has a queue of its own with the jobs; call it before `start`. */
  alongside(worker: Alongside): void
  /** With `work: false` this process only enqueues jobs. */
  start(options: { work: boolean }): Promise<void>
  /**
   * Fetches no more jobs, waits for the running ones, aborts them at the deadline and releases those that do not end
   * within a further 2 s. Idempotent.
   */
  stop(options: { deadlineMs: number }): Promise<void>
  /** Backlog of the kinds that are registered in this process. */
  lag(): Promise<queries.JobLag>
}

/** Started in workers only. Stops with the deadline of the jobs. */
export interface Alongside {
  start(): void
  stop(options: { deadlineMs: number }): Promise<void>
}

export interface JobsOptions {
  connection: pg.ClientConfig
  /** For installing the schema, without a pooler. Default: `connection`. */
  direct?: pg.ClientConfig | undefined
  log: Log
  timing?: Partial<JobTiming>
  /** Wakes the workers of other processes. Default: they poll. */
  wakeups?: Wakeups
}

/**
 * Intervals of a worker. The job of a killed worker is released after at most `silentMs + reapMs` and started by the next
 * poll, 20.5 s after the kill. A new process waits for `silentMs` before it releases jobs of others, so a single process
 * that restarts resumes its own job within 20.5 s of its start.
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

const groupOf = (payload: Record<string, unknown>, fairBy: string, member: string | undefined) => ({
  id: String(payload[fairBy]),
  ...(member === undefined ? {} : { tier: member }),
})

const toInsert = (kind: JobKind<object>, payload: object, options: EnqueueOptions): JobInsert => ({
  data: payload,
  // All queues have the policy `short`, one waiting job per key. A job without a key gets a unique one.
  singletonKey: options.singletonKey ?? newId(),
  priority: options.priority ?? 0,
  ...(kind.fairBy === null ? {} : { group: groupOf(payload as Record<string, unknown>, kind.fairBy, options.member) }),
  startAfter: options.startAfterSeconds ?? 0,
  ...settingsOf(kind),
})

const settingsOf = (kind: JobKind<object>) => ({
  retryLimit: kind.retryLimit,
  retryDelay: kind.retryDelaySeconds,
  retryBackoff: true,
  retryDelayMax: kind.retryDelayMaxSeconds,
  expireInSeconds: Math.min(Math.ceil(kind.timeoutSeconds) + 60, daySeconds),
  // Waiting jobs are kept for 10 years, however long no worker runs.
  retentionSeconds: 3_650 * daySeconds,
  deleteAfterSeconds: 14 * daySeconds,
})

/** Collects the handlers and schedules of a process until it starts. */
const createRegistry = () => {
  const lanes = new Map<string, LaneOptions>()
  const schedules = new Map<string, { kind: JobKind<object>; cron: string }>()
  return {
    lanes,
    schedules,
    addLane: (lane: Omit<LaneOptions, 'scheduled'>): void => {
      const { name } = lane.kind
      if (lanes.has(name)) throw new Error(`${name} already has a handler`)
      lanes.set(name, { ...lane, scheduled: schedules.has(name) })
    },
    addSchedule: (kind: JobKind<object>, cron: string): void => {
      schedules.set(kind.name, { kind, cron })
      const lane = lanes.get(kind.name)
      if (lane) lane.scheduled = true
    },
  }
}

/** Makes the schedules in the database equal to those of this version. */
const syncSchedules = async (boss: PgBoss, schedules: Map<string, { kind: JobKind<object>; cron: string }>) => {
  for (const { kind, cron } of schedules.values()) {
    await boss.schedule(kind.name, cron, {}, { tz: 'UTC', missed: 'once', ...settingsOf(kind) })
  }
  for (const { name } of await boss.getSchedules()) {
    if (!schedules.has(name)) await boss.unschedule(name)
  }
}

/** Each kind of job has a pg-boss queue with its name, which is created on first use. */
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

/** Creates a job for work that began without one. */
const insertOver =
  (started: () => Started, kind: JobKind<object>): LaneOptions['enqueue'] =>
  (payload, options) =>
    started().store.boss.insert(kind.name, [toInsert(kind, payload, options)])

const stopWork = async (state: Started | undefined, beside: Alongside[], deadlineMs: number): Promise<void> => {
  if (state?.runner) {
    await Promise.all([state.runner.stop(deadlineMs), ...beside.map((one) => one.stop({ deadlineMs }))])
  }
  await state?.store.close()
}

/** Opens no connection before `start`. */
export const createJobs = ({ connection, direct, log, timing, wakeups = noWakeups }: JobsOptions): Jobs => {
  const registry = createRegistry()
  const beside: Alongside[] = []
  let state: Started | undefined
  let stopping: Promise<void> | undefined

  const started = (): Started => {
    if (!state) throw new Error('jobs were used before start')
    return state
  }
  const beforeStart = (): void => {
    if (state) throw new Error('handlers and schedules must be registered before start')
  }
  const insert = async (db: Transaction, kind: JobKind<object>, jobs: JobInsert[]): Promise<boolean> => {
    const ids = await started().store.boss.insert(kind.name, jobs, { db: overTransaction(db), returnId: true })
    return ids !== null
  }
  const wakeAfterCommit = (db: Transaction, kind: JobKind<object>, { startAfterSeconds = 0 }: EnqueueOptions): void => {
    if (startAfterSeconds > 0) return
    db.afterCommit(() => {
      if (!state?.runner?.wake(kind.name)) wakeups.publish('jobs', kind.name)
    })
  }

  return {
    enqueue: async (db, kind, payload, options = {}) => {
      await started().queues.ensure(kind)
      const { singletonKey: key, startAfterSeconds = 0 } = options
      const join = async () => key !== undefined && queries.joinWaiting(db, kind.name, key, startAfterSeconds)
      // The insert conflicts if another transaction has just committed a job with the key; then that job is joined. If it
      // has started meanwhile, the last insert has no key and cannot conflict.
      const isWaiting = (await join()) || (await insert(db, kind, [toInsert(kind, payload, options)])) || (await join())
      if (!isWaiting) await insert(db, kind, [toInsert(kind, payload, { ...options, singletonKey: undefined })])
      wakeAfterCommit(db, kind, options)
    },
    enqueueAll: async (db, kind, payloads, { memberOf, ...options } = {}) => {
      if (payloads.length === 0) return
      await started().queues.ensure(kind)
      const jobs = payloads.map((payload) => toInsert(kind, payload, { ...options, member: memberOf?.(payload) }))
      await insert(db, kind, jobs)
      wakeAfterCommit(db, kind, options)
    },
    occupy: (kind, owner) => state?.runner?.occupy(kind.name, owner),
    unattended: async (kind, payloads) => queries.listUnattended(started().store.db, kind.name, payloads),
    work: (kind, handler, { concurrency = 5 } = {}) => {
      beforeStart()
      registry.addLane({ kind, handler: handler as Handler<object>, concurrency, enqueue: insertOver(started, kind) })
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
      await installJobs(direct ?? connection, log)
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
      wakeups.subscribe('jobs', (kind) => void state?.runner?.wake(kind))
      for (const worker of beside) worker.start()
    },
    stop: ({ deadlineMs }) => {
      stopping ??= stopWork(state, beside, deadlineMs)
      return stopping
    },
    lag: () => queries.findLag(started().store.db, [...registry.lanes.keys()]),
  }
}
