import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import { newId } from '../ids.ts'
import { createFetch } from './fetch-jobs.ts'
import type { JobStore } from './fetch-jobs.ts'
import type { Handler, JobKind } from './kind.ts'
import { countsFor, mayBegin } from './shares.ts'
import { createSettler } from './settler.ts'
import { createBackoff } from '../process/backoff.ts'
import { withoutSecrets } from '../text/redact.ts'
import type { Log } from '../process/log.ts'
import { runUnit } from '../process/units.ts'

export interface LaneOptions {
  kind: JobKind<object>
  handler: Handler<object>
  concurrency: number
  /** Finished jobs are kept for a while, because the scheduler reads them to know what it has sent. */
  scheduled: boolean
  /** Creates a job for work that began without one and failed. */
  enqueue: (payload: object, options: { startAfterSeconds: number; member: string | undefined }) => Promise<unknown>
}

/** Whom work belongs to, of a kind with `fairBy`. */
export interface WorkOwner {
  group: string
  /** Part of the group, for example the person. */
  member?: string | undefined
}

/** A place in a lane for work that has no job. It must be used or released. */
export interface Place {
  /**
   * Runs the handler now, with `handed` in its context. When it throws, a job is created that retries it. When the process
   * dies, no job exists: the caller must find such work again by its own rows.
   */
  start(payload: object, handed: unknown): void
  release(): void
}

/** Runs the jobs of one kind on this worker. */
export interface JobLane {
  readonly kind: JobKind<object>
  /** Whether it fetches now: it has free slots, and its last fetch did not fail just now. */
  hasRoom(): boolean
  /** A place for work of this owner, by the rules that apply to jobs. Undefined when it has to wait for one as a job. */
  occupy(owner: WorkOwner): Place | undefined
  /** Fetches and starts jobs until there is no room or none are left. Never rejects. After a failure it waits. */
  pump(): Promise<void>
  /** Sends the heartbeats of running attempts; aborts those that were given to another worker. */
  beat(): Promise<void>
  /** Stops fetching. */
  close(): void
  /** Resolves when nothing is running. */
  idle(): Promise<void>
  /** Aborts every attempt; from now on each outcome is recorded with one try. */
  abort(reason: Error): void
  /** The running jobs that this worker still owns. */
  owned(): { id: string; retryCount: number }[]
}

interface Attempt {
  /** For work without a job, one that is not stored. */
  job: Job
  isStored: boolean
  /** What the creator of work without a job passed to its handler. */
  handed?: unknown
  abort: AbortController
  /** Gets no more heartbeats: it was given to another worker, or its handler does not end. */
  lost: boolean
}

// pg-boss returns the ids that it touched, which its types omit.
const touchedBy = (response: unknown): string[] => (response as { settled?: string[] }).settled ?? []

const settleBatch = 500
const desertedAfterMs = 10_000
const maxMessage = 1_000

const messageOf = (error: unknown): string =>
  withoutSecrets(error instanceof Error ? error.message : String(error)).slice(0, maxMessage)

// A longer delay would overflow the timer, which would then fire at once. `unref`: a handler that never ends must not
// keep the process alive.
const maxTimerMs = 2 ** 31 - 1
const later = (ms: number, work: () => void): NodeJS.Timeout => setTimeout(work, Math.min(ms, maxTimerMs)).unref()

const runHandler = async ({ kind, handler }: LaneOptions, attempt: Attempt): Promise<void> => {
  const { job, abort } = attempt
  const timeoutMs = kind.timeoutSeconds * 1_000
  const timers = [
    later(timeoutMs, () => abort.abort(new Error(`the job took longer than ${kind.timeoutSeconds} s`))),
    later(timeoutMs + desertedAfterMs, () => {
      attempt.lost = true
    }),
  ]
  const context = {
    jobId: job.id,
    attempt: job.retryCount + 1,
    isLastAttempt: job.retryCount >= kind.retryLimit,
    signal: abort.signal,
    handed: attempt.handed,
  }
  const { orgId } = (job.data ?? {}) as { orgId?: unknown }
  const unit = { kind: 'job', id: job.id, orgId: typeof orgId === 'string' ? orgId : null } as const
  try {
    await runUnit(
      unit,
      (reason) => abort.abort(reason),
      () => handler(job.data, context),
    )
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

const logFailure = (log: Log, kind: LaneOptions['kind'], job: Job, error: unknown): void => {
  const fields = { err: error, job: kind.name, jobId: job.id, attempt: job.retryCount + 1 }
  if (job.retryCount >= kind.retryLimit) log.error(fields, 'job failed permanently')
  else log.warn(fields, 'job failed, will be retried')
}

const createJobSettler = (boss: PgBoss, { kind, scheduled }: LaneOptions, log: Log) =>
  createSettler<Job>({
    write: (jobs) => (scheduled ? boss.complete(kind.name, jobs) : boss.deleteJob(kind.name, jobs)),
    maxItems: settleBatch,
    onError: (error) => log.warn({ err: error, job: kind.name }, 'outcomes of jobs could not be recorded yet'),
    onRejected: (error, rejected) =>
      log.error({ err: error, job: kind.name, jobId: rejected?.id }, 'the outcome of a job cannot be recorded'),
  })

/** Sends the heartbeat of the attempts and aborts those whose job was given to another worker. */
const touchAttempts = async (
  boss: PgBoss,
  { name }: JobKind<object>,
  attempts: Map<string, Attempt>,
): Promise<void> => {
  const mine = [...attempts.values()].filter((attempt) => attempt.isStored && !attempt.lost)
  if (mine.length === 0) return
  const jobs = mine.map(({ job }) => job)
  const touched = touchedBy(await boss.touch(name, jobs))
  for (const attempt of mine) {
    // An attempt that has ended meanwhile is no longer in the map and is not lost.
    if (touched.includes(attempt.job.id) || attempts.get(attempt.job.id) !== attempt) continue
    attempt.lost = true
    attempt.abort.abort(new Error('the job was given to another worker'))
  }
}

/** Runs attempts to their end and records how they ended. */
const createRuns = (boss: PgBoss, options: LaneOptions, log: Log) => {
  const { kind } = options
  const settler = createJobSettler(boss, options, log)
  /** Jobs whose attempt was aborted because the process stops. They are released, not failed: no retry delay applies. */
  const interrupted: Job[] = []
  let isStopping = false

  const runStored = async (attempt: Attempt): Promise<void> => {
    const { job } = attempt
    try {
      await runHandler(options, attempt)
      await settler.settle(job)
    } catch (error) {
      logFailure(log, kind, job, error)
      if (isStopping && !attempt.lost) interrupted.push(job)
      else await settler.persist(() => boss.fail(kind.name, job, { message: messageOf(error) }))
    }
  }

  const runUnstored = async (attempt: Attempt): Promise<void> => {
    if (isStopping) attempt.abort.abort(new Error('the process is stopping'))
    try {
      await runHandler(options, attempt)
    } catch (error) {
      logFailure(log, kind, attempt.job, error)
      const startAfterSeconds = isStopping ? 0 : kind.retryDelaySeconds
      const member = attempt.job.groupTier ?? undefined
      await settler.persist(() => options.enqueue(attempt.job.data, { startAfterSeconds, member }))
    }
  }

  return {
    interrupted,
    run: (attempt: Attempt) => (attempt.isStored ? runStored(attempt) : runUnstored(attempt)),
    stop: () => {
      isStopping = true
      settler.halt()
    },
  }
}

/** Whether work without a job may begin. When it may not, it becomes a job, behind which later work waits. */
const hasPlace = (
  { kind, concurrency }: LaneOptions,
  attempts: Map<string, Attempt>,
  owner: WorkOwner,
  crowded: Set<string>,
): boolean => {
  const room = concurrency - attempts.size
  if (room <= 0 || kind.fairBy === null) return room > 0
  const may = mayBegin(room, countsFor(attempts, owner), crowded.has(owner.group))
  if (!may) crowded.add(owner.group)
  return may
}

const placeOf = (attempt: Attempt, run: (attempt: Attempt) => unknown, leave: (attempt: Attempt) => void): Place => ({
  start: (payload, handed) => {
    attempt.job.data = payload
    attempt.handed = handed
    void run(attempt)
  },
  release: () => leave(attempt),
})

const unstoredJob = (name: string, { group, member }: WorkOwner): Job =>
  ({ id: newId(), name, data: {}, retryCount: 0, groupId: group, groupTier: member ?? null }) as unknown as Job

export const createLane = (store: JobStore, options: LaneOptions, log: Log): JobLane => {
  const { boss } = store
  const { kind, concurrency } = options
  const attempts = new Map<string, Attempt>()
  const { crowded, fetch } = createFetch(store, options)
  const runs = createRuns(boss, options, log)
  let fetching = false
  let wanted = false
  /** The last fetch left out groups that have their share. */
  let heldBack = false
  let closed = false
  let retryAtMs = Number.NEGATIVE_INFINITY
  const backoff = createBackoff({ firstMs: 500, maxMs: 5_000 })
  let whenIdle = Promise.withResolvers<void>()

  const add = (job: Job, isStored: boolean): Attempt => {
    const attempt: Attempt = { job, isStored, abort: new AbortController(), lost: false }
    attempts.set(job.id, attempt)
    return attempt
  }

  const leave = (attempt: Attempt): void => {
    if (attempts.get(attempt.job.id) === attempt) attempts.delete(attempt.job.id)
    if (wanted || heldBack) void pump()
    settleIdle()
  }

  const run = async (attempt: Attempt): Promise<void> => {
    await runs.run(attempt)
    leave(attempt)
  }

  const settleIdle = (): void => {
    if (!fetching && attempts.size === 0) whenIdle.resolve()
  }

  const pump = async (): Promise<void> => {
    wanted = true
    // The next poll after the delay tries again.
    if (fetching || performance.now() < retryAtMs) return
    fetching = true
    try {
      while (wanted && !closed && attempts.size < concurrency) {
        // Jobs that were settled together free their slots one after another; one fetch serves all of them.
        await nextTurn()
        wanted = false
        const next = fetch(attempts)
        // Before the jobs arrive, because an attempt that ends meanwhile frees a place for the groups that are left out.
        heldBack = next.heldBack
        const { jobs, mayHaveMore } = await next.fetched
        backoff.reset()
        for (const job of jobs) void run(add(job, true))
        // This loop or the next ending attempt fetches them.
        if (mayHaveMore) wanted = true
      }
    } catch (error) {
      retryAtMs = performance.now() + backoff.next()
      log.warn({ err: error, job: kind.name }, 'jobs could not be fetched')
    }
    fetching = false
    settleIdle()
  }

  return {
    kind,
    hasRoom: () => !closed && attempts.size < concurrency && performance.now() >= retryAtMs,
    occupy: (owner) =>
      closed || !hasPlace(options, attempts, owner, crowded)
        ? undefined
        : placeOf(add(unstoredJob(kind.name, owner), false), run, leave),
    pump,
    beat: () => touchAttempts(boss, kind, attempts),
    close: () => {
      closed = true
    },
    idle: () => {
      whenIdle = Promise.withResolvers()
      settleIdle()
      return whenIdle.promise
    },
    abort: (reason) => {
      runs.stop()
      for (const attempt of attempts.values()) attempt.abort.abort(reason)
    },
    owned: () => [
      ...runs.interrupted,
      ...[...attempts.values()].filter(({ isStored, lost }) => isStored && !lost).map((attempt) => attempt.job),
    ],
  }
}
