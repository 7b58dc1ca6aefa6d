import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { QueryArrayConfig } from 'pg'
import type { Sql } from 'sql-template-tag'
import { askDistribution, preferGenericPlans } from './distribution.ts'
import type { AskDistribution } from './distribution.ts'
import { sqlState } from './errors.ts'
import { beginning, findsTenantRole, rejectAllOrgs } from './tenant-role.ts'
import type { TransactionScope } from './tenant-role.ts'

export { default as sql, join, raw, empty } from 'sql-template-tag'
export type { Sql } from 'sql-template-tag'
export type { TransactionScope } from './tenant-role.ts'

/** An SQL text with `$1`, `$2` … and their values, made by the `sql` template. */
export type Statement = Pick<Sql, 'text' | 'values'>

/** Runs statements in the pool, on the pipelined connections or in a transaction. Column names are camelCase. */
export interface Db {
  rows<Row>(statement: Statement): Promise<Row[]>
  /** The first row, or undefined. */
  row<Row>(statement: Statement): Promise<Row | undefined>
  /** The number of rows that the statement changed. */
  execute(statement: Statement): Promise<number>
  /**
   * Returns one record by its key as JSON text, or undefined. The parts of the key are UUIDs. On `hot`, look-ups with the
   * same statement in one turn of the event loop are sent as one statement.
   */
  lookUp(statement: LookUp, key: readonly string[]): Promise<string | undefined>
}

/**
 * A point read of several keys: `$1`, `$2` … are arrays of UUIDs, one for each part of the key. It returns a row for each
 * existing key: `place` (the index of the key, from 1) and `record` (JSON as text).
 */
export interface LookUp {
  readonly text: string
  /**
   * For tables that a distributed schema divides by org: the same for keys of one org. Their first part is the org,
   * which is also the last parameter, behind the arrays.
   */
  readonly ofOrg?: string
}

export interface Transaction extends Db {
  /** Runs after the commit, in order; not after a rollback. Errors are logged only, because the work is committed. */
  afterCommit(work: () => void | Promise<void>): void
  /** Runs after a rollback, or when the commit failed. It must not throw. */
  afterRollback(work: () => void): void
}

export interface Database extends Db {
  /**
   * Point reads on the hot path. They are pipelined on a few connections, so that a slow statement would delay all
   * others: select by key only.
   */
  readonly hot: Db
  /**
   * Statements on queue tables, which can be empty and a minute later have a million rows. They use generic plans without
   * sequential scans, because a plan that was made for an empty table is too slow for a full one. They have their own
   * connections, so that requests and queues do not wait for each other.
   */
  readonly indexed: Pick<Database, keyof Db | 'transaction'>
  transaction<T>(scope: TransactionScope, work: (db: Transaction) => Promise<T>): Promise<T>
  /** Whether tables are distributed by `org_id`, so that a statement with several tables may name one org only. */
  isDistributed(): Promise<boolean>
  /** Whether row-level security applies to the transactions of an org; false when the role cannot be used. */
  hasTenantPolicies(): Promise<boolean>
  /** A handle whose transactions run `guard` first, so that an idempotency key is marked in the same transaction. */
  guarded(guard: (db: Transaction) => Promise<void>): Database
  /** Connections of the pool, and statements that wait for one. */
  poolUse(): { inUse: number; idle: number; waiting: number }
  close(): Promise<void>
}

export interface DatabaseOptions {
  connection: pg.ClientConfig
  poolSize: number
  hotConnections: number
  onError: (error: unknown, where: string) => void
}

type Runner = (config: QueryArrayConfig) => Promise<pg.QueryArrayResult>

// Timestamps are converted from PostgreSQL's text `2026-11-21 03:38:50.123456+00` to `2026-11-21T03:38:50.123Z` by slicing:
// a Date in between costs 1 µs per column of the hot reads.
const isoFromPostgres = (text: string): string => {
  if (!text.endsWith('+00')) return text
  const milliseconds = text[19] === '.' ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000'
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
}

const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.TIMESTAMPTZ, isoFromPostgres],
  [pg.types.builtins.DATE, (text: string) => text],
])
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format ?? 'text'),
}

const camelCase = (column: string): string =>
  column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

// Statement texts come from a fixed set of templates. The limit prevents a template with a variable list of columns from
// filling the server's memory with prepared statements.
const maxPreparedStatements = 500
const preparedNames = new Map<string, string>()
const preparedName = (text: string): string | undefined => {
  const known = preparedNames.get(text)
  if (known !== undefined || preparedNames.size >= maxPreparedStatements) return known
  const name = `s${preparedNames.size}`
  preparedNames.set(text, name)
  return name
}

const columnNames = new Map<string, string[]>()

const toObjects = <Row>(text: string, result: pg.QueryArrayResult): Row[] => {
  let names = columnNames.get(text)
  if (names === undefined) {
    names = result.fields.map((field) => camelCase(field.name))
    if (columnNames.size < maxPreparedStatements) columnNames.set(text, names)
  }
  return result.rows.map((values: unknown[]) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i] as string] = values[i]
    return row as Row
  })
}

const uuidsOf = (keys: readonly (readonly string[])[], part: number): string =>
  `{${keys.map((key) => key[part]).join(',')}}`

type Key = readonly string[]
type LookUpAll = (statement: LookUp, keys: Key[]) => Promise<(string | undefined)[]>

const dbOver = (run: Runner, askIsDistributed: AskDistribution, lookUpOver?: (all: LookUpAll) => Db['lookUp']): Db => {
  const send = (statement: Statement): [string, Promise<pg.QueryArrayResult>] => {
    const text = statement.text
    const name = preparedName(text)
    const config: QueryArrayConfig = { text, values: statement.values, rowMode: 'array', types }
    if (name !== undefined) config.name = name
    return [text, run(config)]
  }
  const lookUpTogether = async (text: string, keys: Key[], more: string[]): Promise<(string | undefined)[]> => {
    const parts = keys[0]?.length ?? 0
    const values = [...Array.from({ length: parts }, (_, part) => uuidsOf(keys, part)), ...more]
    const [, result] = send({ text, values })
    const found: (string | undefined)[] = Array.from({ length: keys.length })
    for (const [place, record] of (await result).rows as unknown as [bigint, string][]) {
      found[Number(place) - 1] = record
    }
    return found
  }
  const lookUpAll: LookUpAll = async ({ text, ofOrg }, keys) => {
    if (ofOrg === undefined || !(await askIsDistributed(run))) return lookUpTogether(text, keys, [])
    const orgs = Map.groupBy(keys.entries(), ([, key]) => key[0] as string)
    const found: (string | undefined)[] = Array.from({ length: keys.length })
    const lookUpOrg = async (orgId: string, entries: [number, Key][]): Promise<void> => {
      const records = await lookUpTogether(
        ofOrg,
        entries.map(([, key]) => key),
        [orgId],
      )
      for (const [index, [place]] of entries.entries()) found[place] = records[index]
    }
    await Promise.all(Array.from(orgs, ([orgId, entries]) => lookUpOrg(orgId, entries)))
    return found
  }
  return {
    rows: async (statement) => {
      const [text, result] = send(statement)
      return toObjects(text, await result)
    },
    row: async <Row>(statement: Statement) => {
      const [text, result] = send(statement)
      return toObjects<Row>(text, await result)[0]
    },
    execute: async (statement) => (await send(statement)[1]).rowCount ?? 0,
    lookUp: lookUpOver?.(lookUpAll) ?? (async (statement, key) => (await lookUpAll(statement, [key]))[0]),
  }
}

const insideTransaction = new AsyncLocalStorage<true>()

const assertNoTransaction = (): void => {
  if (insideTransaction.getStore()) {
    throw new Error('the pool was used while a transaction is open: use the transaction instead')
  }
}

interface Waiting {
  key: Key
  resolve(record: string | undefined): void
  reject(error: unknown): void
}

const maxKeysOfLookUp = 500

/**
 * Sends look-ups of the same turn of the event loop as one statement. Requests that waited for the same check of their
 * callers' authority continue together, so under load one statement replaces dozens.
 */
const batchLookUps = (lookUpAll: LookUpAll): Db['lookUp'] => {
  const waiting = new Map<LookUp, Waiting[]>()
  const answer = async (statement: LookUp, batch: Waiting[]): Promise<void> => {
    try {
      const records = await lookUpAll(
        statement,
        batch.map(({ key }) => key),
      )
      for (const [place, { resolve }] of batch.entries()) resolve(records[place])
    } catch (error) {
      // A key that PostgreSQL rejects must not fail the other look-ups.
      if (batch.length > 1 && sqlState(error) !== undefined) for (const one of batch) void answer(statement, [one])
      else for (const { reject } of batch) reject(error)
    }
  }
  const send = (statement: LookUp): void => {
    const batch = waiting.get(statement) ?? []
    waiting.delete(statement)
    while (batch.length > 0) void answer(statement, batch.splice(0, maxKeysOfLookUp))
  }
  return (statement, key) =>
    new Promise((resolve, reject) => {
      assertNoTransaction()
      const batch = waiting.get(statement)
      if (batch) {
        batch.push({ key, resolve, reject })
        return
      }
      waiting.set(statement, [{ key, resolve, reject }])
      // Runs after the callbacks of the last response, when all of them have reached their next await.
      process.nextTick(send, statement)
    })
}

interface RunOptions extends DatabaseOptions {
  hasTenantRole: () => Promise<boolean>
  askIsDistributed: AskDistribution
}

const hotPool = (options: RunOptions): { db: Db; close: () => Promise<void> } => {
  const slots: (Promise<pg.Client> | undefined)[] = Array.from({ length: options.hotConnections })
  let next = 0
  let closed = false
  const connect = async (slot: number): Promise<pg.Client> => {
    const client = new pg.Client({ ...options.connection, pipeline: true })
    const forget = (): void => {
      slots[slot] = undefined
    }
    client.on('error', (error) => {
      forget()
      if (!closed) options.onError(error, 'hot connection')
    })
    client.on('end', forget)
    try {
      await client.connect()
    } catch (error) {
      forget()
      throw error
    }
    return client
  }
  const run: Runner = async (config) => {
    assertNoTransaction()
    next = (next + 1) % slots.length
    const client = await (slots[next] ??= connect(next))
    return client.query(config)
  }
  const close = async (): Promise<void> => {
    closed = true
    const open = slots.filter((slot) => slot !== undefined)
    await Promise.allSettled(open.map(async (slot) => (await slot).end()))
  }
  return { db: dbOver(run, options.askIsDistributed, batchLookUps), close }
}

const runTransaction = async <T>(
  pool: pg.Pool,
  scope: TransactionScope,
  work: (db: Transaction) => Promise<T>,
  options: RunOptions,
): Promise<T> => {
  const begin = beginning(scope, scope !== 'all orgs' && (await options.hasTenantRole()))
  const client = await pool.connect()
  const after: (() => void | Promise<void>)[] = []
  const undo: (() => void)[] = []
  let broken: Error | undefined
  let result: T
  try {
    await client.query(begin)
    const db: Transaction = {
      ...dbOver((config) => {
        if (scope !== 'all orgs') rejectAllOrgs(config.text)
        return client.query(config)
      }, options.askIsDistributed),
      afterCommit: (callback) => {
        after.push(callback)
      },
      afterRollback: (callback) => {
        undo.push(callback)
      },
    }
    result = await insideTransaction.run(true, () => work(db))
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    for (const callback of undo) callback()
    throw error
  } finally {
    // A connection whose rollback failed is in an unknown state and must not be used again.
    client.release(broken)
  }
  for (const callback of after) {
    try {
      await callback()
    } catch (error) {
      options.onError(error, 'after commit')
    }
  }
  return result
}

// One to claim work and one to record its outcome.
const indexedConnections = 2

/** Opens the pools. Nothing connects before the first statement. */
export const openDatabase = (options: DatabaseOptions): Database => {
  const connection: pg.ClientConfig = {
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 60_000,
    application_name: 'atrium',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    ...options.connection,
    // The parsers above expect ISO dates in UTC.
    options: `${options.connection.options ?? ''} -c timezone=UTC -c datestyle=ISO`.trim(),
  }
  const poolOf = (config: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ ...connection, idleTimeoutMillis: 30_000, ...config })
    pool.on('error', (error) => {
      options.onError(error, 'idle connection')
    })
    // A connection that breaks between two statements of a transaction has no statement to reject, and an error event
    // without a listener would end the process. The next statement rejects, and the pool drops the connection.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return pool
  }
  const askIsDistributed = askDistribution()
  const over = (pool: pg.Pool, guard?: (db: Transaction) => Promise<void>): Database['indexed'] => ({
    ...dbOver((config) => {
      assertNoTransaction()
      return pool.query(config)
    }, askIsDistributed),
    transaction: (scope, work) => {
      if (insideTransaction.getStore()) throw new Error('transactions do not nest: use the open transaction instead')
      const guardedWork = guard
        ? async (db: Transaction) => {
            await guard(db)
            return work(db)
          }
        : work
      return runTransaction(pool, scope, guardedWork, { ...options, hasTenantRole, askIsDistributed })
    },
  })
  const pool = poolOf({ max: options.poolSize })
  const hasTenantRole = findsTenantRole(pool)
  const indexedPool = poolOf({
    max: indexedConnections,
    options: `${connection.options} -c enable_seqscan=off`,
    // pg awaits it before the first statement; its types say otherwise.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect: preferGenericPlans,
  })
  const hot = hotPool({ ...options, connection, hasTenantRole, askIsDistributed })
  const indexed = over(indexedPool)
  const open = (guard?: (db: Transaction) => Promise<void>): Database => ({
    ...over(pool, guard),
    hot: hot.db,
    indexed,
    isDistributed: () => askIsDistributed((config) => pool.query(config)),
    hasTenantPolicies: hasTenantRole,
    guarded: (next) => open(next),
    poolUse: () => ({ inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await Promise.all([pool.end(), indexedPool.end(), hot.close()])
    },
  })
  return open()
}
