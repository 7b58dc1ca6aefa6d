import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import type { Handler, JobKind } from './kind.ts'
import { withoutSecrets } from '../text/redact.ts'
import type { Log } from '../process/log.ts'
import { runUnit } from '../process/units.ts'

export interface LaneOptions {
  kind: JobKind<object>
  handler: Handler<object>
  concurrency: number
  /** Its finished jobs stay for a while: they are how the scheduler knows what it has sent. */
  scheduled: boolean
}

/** All jobs of one kind on this worker. */
export interface Lane {
  readonly kind: JobKind<object>
  hasRoom(): boolean
  /** Fetches and starts as many as there is room for, until none are left. Never rejects. */
  pump(): Promise<void>
  /** Tells the database that the attempts under way are; aborts those that were given to others. */
  beat(): Promise<void>
  /** No more fetching. */
  close(): void
  /** When nothing is under way any more. */
  idle(): Promise<void>
  /** Aborts every signal and gives up recording outcomes that the database does not take. */
  abort(reason: Error): void
  /** What is still under way. */
  held(): { id: string; retryCount: number }[]
}

interface Attempt {
  job: Job
  abort: AbortController
  /** Not ours to keep alive: it was given to another worker, or its handler does not end. */
  lost: boolean
}

// The SQL of pg-boss answers with the ids that it touched; its types do not say so.
const touchedBy = (response: unknown): string[] => (response as { settled?: string[] }).settled ?? []

const settleBatch = 500
const retryMs = 1_000
const desertedAfterMs = 10_000
const maxMessage = 1_000

const messageOf = (error: unknown): string =>
  withoutSecrets(error instanceof Error ? error.message : String(error)).slice(0, maxMessage)

// A longer wait would overflow the timer and be over at once. A handler that never ends does not keep the process.
const maxTimerMs = 2 ** 31 - 1
const later = (ms: number, work: () => void): NodeJS.Timeout => setTimeout(work, Math.min(ms, maxTimerMs)).unref()

/**
 * What to fetch, how many and whose not: as many as there is room for or, of a kind that is fair, so many that nobody
 * gets more places than are left for others, even if all are for the same one. One alone fills half of the places, two
 * fill a third each.
 */
const shareOf = (
  { kind, concurrency }: LaneOptions,
  running: Attempt[],
): { batchSize: number; ignoreGroups: string[] } => {
  const room = concurrency - running.length
  if (kind.fairBy === null) return { batchSize: room, ignoreGroups: [] }
  const counts = [...Map.groupBy(running, ({ job }) => job.groupId ?? null)].flatMap(([group, jobs]) =>
    group === null ? [] : [{ group, count: jobs.length }],
  )
  const most = Math.max(0, ...counts.flatMap(({ count }) => (count < room ? [count] : [])))
  return {
    batchSize: Math.max(1, Math.floor((room - most) / 2)),
    ignoreGroups: counts.flatMap(({ group, count }) => (count < room ? [] : [group])),
  }
}

/** Tells the database how attempts ended. Tries until it answers: an outcome that is not recorded is work done twice. */
const createSettler = (boss: PgBoss, { kind, scheduled }: LaneOptions, log: Log) => {
  const finished: { job: Job; done: () => void }[] = []
  let settling = false
  let halted = false

  const persist = async (work: () => Promise<unknown>): Promise<void> => {
    while (!halted) {
      try {
        await work()
        return
      } catch (error) {
        log.warn({ err: error, job: kind.name }, 'the outcome of a job could not be recorded yet')
        await delay(retryMs)
      }
    }
  }

  // All that finish while one statement is under way go into the next one together.
  const flush = async (): Promise<void> => {
    if (settling) return
    settling = true
    while (finished.length > 0) {
      await nextTurn()
      const batch = finished.splice(0, settleBatch)
      const jobs = batch.map((one) => one.job)
      await persist(() => (scheduled ? boss.complete(kind.name, jobs) : boss.deleteJob(kind.name, jobs)))
      for (const { done } of batch) done()
    }
    settling = false
  }

  return {
    succeeded: (job: Job): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      finished.push({ job, done: resolve })
      void flush()
      return promise
    },
    failed: (job: Job, error: unknown): Promise<void> =>
      persist(() => boss.fail(kind.name, job, { message: messageOf(error) })),
    halt: () => {
      halted = true
    },
  }
}

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
  if (job.retryCount >= kind.retryLimit) log.error(fields, 'job given up')
  else log.warn(fields, 'job failed, to be tried again')
}

export const createLane = (boss: PgBoss, options: LaneOptions, log: Log): Lane => {
  const { kind, concurrency } = options
  const attempts = new Map<string, Attempt>()
  const settler = createSettler(boss, options, log)
  let fetching = false
  let wanted = false
  /** There may be jobs that were left because those for whom they are have their share. */
  let heldBack = false
  let closed = false
  let whenIdle = Promise.withResolvers<void>()

  const begin = async (job: Job): Promise<void> => {
    const attempt: Attempt = { job, abort: new AbortController(), lost: false }
    attempts.set(job.id, attempt)
    try {
      await runHandler(options, attempt)
      await settler.succeeded(job)
    } catch (error) {
      logFailure(log, kind, job, error)
      await settler.failed(job, error)
    }
    if (attempts.get(job.id) === attempt) attempts.delete(job.id)
    if (wanted || heldBack) void pump()
    settleIdle()
  }

  const settleIdle = (): void => {
    if (!fetching && attempts.size === 0) whenIdle.resolve()
  }

  const pump = async (): Promise<void> => {
    wanted = true
    if (fetching) return
    fetching = true
    try {
      while (wanted && !closed && attempts.size < concurrency) {
        // Those that were settled together make room one after the other: one fetch for all of them, not one each.
        await nextTurn()
        const share = shareOf(options, [...attempts.values()])
        wanted = false
        heldBack = share.ignoreGroups.length > 0
        const jobs = await boss.fetch<object>(kind.name, share)
        for (const job of jobs) void begin(job)
        // A full batch means that there may be more, which are fetched now or by the next attempt to end.
        if (jobs.length === share.batchSize) wanted = true
      }
    } catch (error) {
      log.warn({ err: error, job: kind.name }, 'jobs could not be fetched')
    }
    fetching = false
    settleIdle()
  }

  const beat = async (): Promise<void> => {
    const mine = [...attempts.values()].filter((attempt) => !attempt.lost)
    if (mine.length === 0) return
    const jobs = mine.map(({ job }) => job)
    const touched = touchedBy(await boss.touch(kind.name, jobs))
    for (const attempt of mine) {
      // One that has ended meanwhile is no longer in the map, and not lost either.
      if (touched.includes(attempt.job.id) || attempts.get(attempt.job.id) !== attempt) continue
      attempt.lost = true
      attempt.abort.abort(new Error('the job was given to another worker'))
    }
  }

  return {
    kind,
    hasRoom: () => attempts.size < concurrency,
    pump,
    beat,
    close: () => {
      closed = true
    },
    idle: () => {
      whenIdle = Promise.withResolvers()
      settleIdle()
      return whenIdle.promise
    },
    abort: (reason) => {
      settler.halt()
      for (const attempt of attempts.values()) attempt.abort.abort(reason)
    },
    held: () => [...attempts.values()].filter((attempt) => !attempt.lost).map((attempt) => attempt.job),
  }
}
