import { randomUUID } from 'node:crypto'
import { sql } from './database.ts'
import type { Database, Db, Sql } from './database.ts'
import * as queries from './lease-queries.ts'
import type { LeasedRow } from './lease-queries.ts'

export type { LeasedRow } from './lease-queries.ts'

/** The proof that a worker has claimed a row. */
export interface Claim<Row> {
  token: string
  /** The columns of `returning`. */
  row: Row
  /** The time before the claim was sent, by this process's monotonic clock: the lease ends at most `leaseMs` later. */
  claimedAtMs: number
}

/** A claim that is renewed while the work is running. */
export interface Lease {
  readonly token: string
  /** Must be in the `where` of every write of the work; a write that changes no row came too late. */
  readonly held: Sql
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
  /** Throws when the lease is lost. Call it before an effect outside of the database. */
  check(): void
  /** Renews before the next interval, because somebody may have ended the lease. */
  renewSoon(): void
  /** Stops the renewal. The row stays claimed until the lease expires or the last write of the work releases it. */
  stop(): void
}

export interface LeaseTiming {
  leaseMs: number
  renewMs: number
}

/** A killed worker loses its row after 30 s. One renewal may fail without losing the lease. */
export const leaseTiming: LeaseTiming = { leaseMs: 30_000, renewMs: 10_000 }

export interface LeaseOptions {
  /** A further condition, such as sql`state in ('queued', 'running')`. */
  when?: Sql
  /** Further assignments, such as sql`state = 'running', attempt = attempt + 1`. */
  set?: Sql
  /** Columns to return. */
  returning?: Sql
  /** Further CTEs over `claimed`, which has the columns of `returning`. */
  also?: Sql
  timing?: LeaseTiming
}

export class LeaseLostError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The lease on this work was lost: ${reason}. Another worker may have it.`, options)
    this.name = 'LeaseLostError'
  }
}

/**
 * Claims a row that has no lease or an expired one. Undefined when the row is leased, missing, or does not satisfy
 * `when`. In a transaction, call `keepLease` only after the commit.
 */
export const claimLease = async <Row = unknown>(
  db: Db,
  target: LeasedRow,
  { timing = leaseTiming, ...options }: LeaseOptions = {},
): Promise<Claim<Row> | undefined> => {
  const token = randomUUID()
  const claimedAtMs = performance.now()
  const row = await queries.claim<Row>(db, target, { token, leaseMs: timing.leaseMs, ...options })
  return row && { token, row, claimedAtMs }
}

/** Renews the lease until it is stopped or lost. */
export const keepLease = (
  db: Database,
  target: LeasedRow,
  claim: Claim<unknown>,
  { leaseMs, renewMs }: LeaseTiming = leaseTiming,
): Lease => {
  const { token } = claim
  const lost = new AbortController()
  let validUntilMs = claim.claimedAtMs + leaseMs
  let failures = 0
  let stopped = false
  let isChecking = false

  const stop = (): void => {
    stopped = true
    clearInterval(renewing)
    clearTimeout(ending)
  }
  const lose = (reason: string, cause?: unknown): void => {
    stop()
    if (!lost.signal.aborted) lost.abort(new LeaseLostError(reason, cause === undefined ? undefined : { cause }))
  }
  // By this process's own clock: when the event loop was blocked or the database did not respond for the length of the
  // lease, another worker may have the row.
  const endWhenDue = (): NodeJS.Timeout =>
    setTimeout(() => lose('it was not renewed in time'), Math.max(0, validUntilMs - performance.now()))

  const renew = async (isScheduled: boolean): Promise<void> => {
    const sentAtMs = performance.now()
    try {
      const held = await queries.renew(db, target, token, leaseMs)
      if (!held && !stopped) {
        lose('another worker claimed it, or it was released')
        return
      }
      failures = 0
      if (stopped) return
      validUntilMs = sentAtMs + leaseMs
      clearTimeout(ending)
      ending = endWhenDue()
    } catch (error) {
      if (isScheduled) failures += 1
      if (failures >= 2) lose('it could not be renewed', error)
    }
  }

  let ending = endWhenDue()
  const renewing = setInterval(() => void renew(true), renewMs)

  return {
    token,
    held: sql`lease_token = ${token}`,
    signal: lost.signal,
    check: () => {
      if (performance.now() >= validUntilMs) lose('it was not renewed in time')
      lost.signal.throwIfAborted()
    },
    renewSoon: () => {
      if (stopped || isChecking) return
      isChecking = true
      void renew(false).finally(() => {
        isChecking = false
      })
    },
    stop,
  }
}

/**
 * Claims the row, runs the work while it renews the lease, and releases the row. Undefined, without running the work,
 * when the row is leased. Every write of the work must have `and ${lease.held}` in its `where`.
 */
export const withLease = async <Row, T>(
  db: Database,
  target: LeasedRow,
  options: LeaseOptions,
  work: (lease: Lease, row: Row) => Promise<T>,
): Promise<T | undefined> => {
  const claim = await claimLease<Row>(db, target, options)
  if (!claim) return undefined
  const lease = keepLease(db, target, claim, options.timing)
  try {
    return await work(lease, claim.row)
  } finally {
    lease.stop()
    // A lease that is not released expires; an error here must not replace the result of the work.
    await queries.release(db, target, claim.token).catch(() => undefined)
  }
}
