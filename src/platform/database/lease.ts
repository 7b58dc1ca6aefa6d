import { randomUUID } from 'node:crypto'
import { sql } from './database.ts'
import type { Database, Db, Sql } from './database.ts'
import * as queries from './lease-queries.ts'
import type { LeasedRow } from './lease-queries.ts'

export type { LeasedRow } from './lease-queries.ts'

/** What proves that a worker has a row. */
export interface Claim<Row> {
  token: string
  /** What `returning` asked for. */
  row: Row
  /** On this process's monotonic clock, before the claim was sent: the lease ends no later than this plus its length. */
  claimedAtMs: number
}

/** A claim that is kept alive while the work goes on. */
export interface Lease {
  readonly token: string
  /** Belongs into the `where` of every write of the work; one that changes no row came too late. */
  readonly held: Sql
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
  /** Throws when the lease is lost. Call it before an effect outside the database, where no `where` can help. */
  check(): void
  /** Stops renewing it. The row stays claimed until the lease runs out, or until the work's last write cleared it. */
  stop(): void
}

export interface LeaseTiming {
  leaseMs: number
  renewMs: number
}

/** A worker that was killed loses its row after 30 s; two renewals may fail before that. */
export const leaseTiming: LeaseTiming = { leaseMs: 30_000, renewMs: 10_000 }

export interface ClaimOptions {
  /** A further condition, such as sql`state in ('queued', 'running')`. */
  when?: Sql
  /** Further assignments, such as sql`state = 'running', attempt = attempt + 1`. */
  set?: Sql
  /** Columns to answer. */
  returning?: Sql
  timing?: LeaseTiming
}

export class LeaseLostError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The lease on this work was lost: ${reason}. Another worker may have it.`, options)
    this.name = 'LeaseLostError'
  }
}

/**
 * Takes the row if nobody has it, or if whoever had it let its lease run out. Undefined when it is taken, missing, or
 * not as `when` wants it. In a transaction, keep the lease only after the commit.
 */
export const claimLease = async <Row = unknown>(
  db: Db,
  target: LeasedRow,
  { timing = leaseTiming, ...options }: ClaimOptions = {},
): Promise<Claim<Row> | undefined> => {
  const token = randomUUID()
  const claimedAtMs = performance.now()
  const row = await queries.claim<Row>(db, target, token, timing.leaseMs, options)
  return row && { token, row, claimedAtMs }
}

/** Renews the claim until it is stopped or lost. */
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

  const stop = (): void => {
    stopped = true
    clearInterval(renewing)
    clearTimeout(ending)
  }
  const lose = (reason: string, cause?: unknown): void => {
    stop()
    if (!lost.signal.aborted) lost.abort(new LeaseLostError(reason, cause === undefined ? undefined : { cause }))
  }
  // By this process's own clock: when the event loop stood still, or the database did not answer, for so long that
  // somebody else may have the row by now.
  const endWhenDue = (): NodeJS.Timeout =>
    setTimeout(() => lose('it was not renewed in time'), Math.max(0, validUntilMs - performance.now()))

  const renew = async (): Promise<void> => {
    const sentAtMs = performance.now()
    try {
      const held = await queries.renew(db, target, token, leaseMs)
      if (!held && !stopped) {
        lose('somebody else took it, or it was ended')
        return
      }
      failures = 0
      if (stopped) return
      validUntilMs = sentAtMs + leaseMs
      clearTimeout(ending)
      ending = endWhenDue()
    } catch (error) {
      failures += 1
      if (failures >= 2) lose('it could not be renewed', error)
    }
  }

  let ending = endWhenDue()
  const renewing = setInterval(() => void renew(), renewMs)

  return {
    token,
    held: sql`lease_token = ${token}`,
    signal: lost.signal,
    check: () => {
      if (performance.now() >= validUntilMs) lose('it was not renewed in time')
      lost.signal.throwIfAborted()
    },
    stop,
  }
}

/**
 * Claims the row, does the work while the lease is kept, and gives the row back. Undefined, without any work, when
 * somebody else has it. What the work writes must say `where … and ${lease.held}`.
 */
export const withLease = async <Row, T>(
  db: Database,
  target: LeasedRow,
  options: ClaimOptions,
  work: (lease: Lease, row: Row) => Promise<T>,
): Promise<T | undefined> => {
  const claim = await claimLease<Row>(db, target, options)
  if (!claim) return undefined
  const lease = keepLease(db, target, claim, options.timing)
  try {
    return await work(lease, claim.row)
  } finally {
    lease.stop()
    // One that cannot be given back runs out by itself; the outcome of the work counts for more.
    await queries.release(db, target, claim.token).catch(() => undefined)
  }
}
