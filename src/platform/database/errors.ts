import pg from 'pg'
import { diskFull, isDiskFull } from '../process/disk-space.ts'
import { serviceUnavailable } from '../http/errors.ts'

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '53300', // too_many_connections
  '57014', // query_canceled: the statement timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '25006', // read_only_sql_transaction: the server is no longer the primary
  '26000', // invalid_sql_statement_name: a pooler does not track prepared statements any more
  '42P05', // duplicate_prepared_statement: the same
  '53100', // disk_full
  '53200', // out_of_memory
])

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/**
 * When the coordinator of Citus is killed, statements that wait for a worker fail with this message and the SQLSTATE of
 * internal errors.
 */
const isPostmasterGone = (error: unknown): boolean =>
  codeOf(error) === 'XX000' && (error as Error).message.startsWith('postmaster was shut down')

/**
 * Whether a row got a number that is in use. After a failover of the coordinator of Citus, its sequence can be behind,
 * because Citus commits on the worker before it commits on the coordinator. Another attempt gets the next number. Rows
 * that Citus copies to a shard fail without the SQLSTATE.
 */
const isNumberTaken = (error: unknown): boolean =>
  ['23505', 'XX000'].includes(codeOf(error) ?? '') &&
  /unique constraint "event_outbox_pkey(?:_\d+)?"/.test((error as Error).message)

/** True when the database is unreachable, full, restarting or being replaced, and not when it rejected a statement. */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  const code = codeOf(error)
  if (code !== undefined && (unreachableCodes.has(code) || code.startsWith('08'))) return true
  if (isPostmasterGone(error) || isNumberTaken(error)) return true
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout expired|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
      error.message,
    )
  )
}

/** The SQLSTATE of a write on a standby. */
export const readOnlyState = '25006'

const connectionEnds = new Set([readOnlyState, '57P01', '57P02', '57P03', '26000', '42P05'])

/** Whether the connection, or its server, must not be used after this error. */
export const endsConnection = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === undefined
    ? isDatabaseUnavailable(error)
    : connectionEnds.has(state) || state.startsWith('08') || isPostmasterGone(error)
}

/** No server of the URL accepts writes, as in a failover. */
export class NoPrimaryError extends Error {
  readonly code = '08001'

  constructor(reason: string, options?: ErrorOptions) {
    super(`The primary database cannot be reached: ${reason}.`, options)
    this.name = 'NoPrimaryError'
  }
}

/**
 * Whether a statement failed because a table has no partition for a row. Citus loses the code of errors of rows that it
 * copies to a shard.
 */
export const lacksPartition = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === '23514' || (state === 'XX000' && (error as Error).message.startsWith('no partition of relation'))
}

/**
 * Whether the database can never accept a row: its values cannot be stored (class 22), violate a constraint (23) or are too
 * large (54), or the partition of its time was dropped.
 */
export const isRowRejected = (error: unknown): boolean => {
  const state = sqlState(error)
  return state !== undefined && (/^(22|23|54)/.test(state) || lacksPartition(error))
}

/** The five-character SQLSTATE of a rejected statement, or undefined. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

/**
 * The constraint or unique index that a write violated, by name. On a distributed schema the constraint of a shard is
 * violated, whose name ends in the number of the shard and is in the message only: Citus does not pass on the field.
 */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23')
    ? (error.constraint ?? /constraint "([^"]+)"/.exec(error.message)?.[1])?.replace(/_\d{6,}$/, '')
    : undefined

export const databaseUnavailable = (cause: unknown): Error =>
  isDiskFull(cause)
    ? diskFull(cause)
    : serviceUnavailable('The database cannot be reached right now. Try again shortly.', {
        cause,
        headers: { 'retry-after': '1' },
      })
