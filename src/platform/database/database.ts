import type pg from 'pg'
import type { QueryArrayConfig } from 'pg'
import type { Sql } from 'sql-template-tag'
import { batchLookUps, lookUpsOver } from './batching/look-ups.ts'
import type { LookUpAll, LookUpOne } from './batching/look-ups.ts'
import { DatabaseClient } from './connections/client.ts'
import { askDistribution, preferGenericPlans } from './distribution.ts'
import type { AskDistribution } from './distribution.ts'
import { openReplica } from './connections/replica.ts'
import { connectionOf, connectOf, poolOf, runAlone } from './connections/pool.ts'
import { preparedName, toObjects, types } from './connections/rows.ts'
import { createDeferredRows } from './transactions/deferred.ts'
import type { DeferredInsert } from './transactions/deferred.ts'
import { assertNoTransaction, insideTransaction } from './transactions/inside.ts'
import { createSignals } from './transactions/signals.ts'
import type { Signals } from './transactions/signals.ts'
import { beginning, findsTenantRole, rejectAllOrgs } from './tenant-role.ts'
import type { TransactionScope } from './tenant-role.ts'

export { default as sql, join, raw, empty } from 'sql-template-tag'
export type { Sql } from 'sql-template-tag'
export { keysAsked } from './batching/look-ups.ts'
export type { LookUp } from './batching/look-ups.ts'
export type { DeferredInsert } from './transactions/deferred.ts'
export type { TransactionScope } from './tenant-role.ts'

/** An SQL text with `$1`, `$2` … and their values, made by the `sql` template. */
export type Statement = Pick<Sql, 'text' | 'values'> & Partial<Pick<Sql, 'strings'>>

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
  lookUp: LookUpOne
}

export interface Transaction extends Db {
  /** Runs after the commit, in order; not after a rollback. Errors are logged only, because the work is committed. */
  afterCommit(work: () => void | Promise<void>): void
  /** Runs after a rollback, or when the commit failed. It must not throw. */
  afterRollback(work: () => void): void
  /** Inserts a row just before the commit. No later statement of the transaction sees it. */
  defer<Row extends { orgId: string }>(target: DeferredInsert<Row>, row: Row): void
  /** Tells the listeners of this process after the commit, once for each topic and key. */
  signal(topic: string, key: string): void
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
  /**
   * Reads of lists, searches and reports. They go to the standby of DATABASE_REPLICA_URL when it has everything that was
   * committed before the call, else to the pool. Not for authority, and not for reads that a write depends on.
   */
  readonly replica: Db
  transaction<T>(scope: TransactionScope, work: (db: Transaction) => Promise<T>): Promise<T>
  /** Tells the listeners of this process that something was committed. For statements without a transaction. */
  signal(topic: string, key: string): void
  /** Listens to the signals of this process. A listener must not throw. */
  onSignal(topic: string, listener: (key: string) => void): void
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
  /** A standby for `db.replica`, and how long a read may wait for it to catch up before it goes to the primary. */
  replica?: { connection: pg.ClientConfig; poolSize: number; waitMs: number } | undefined
  onError: (error: unknown, where: string) => void
}

type Runner = (config: QueryArrayConfig) => Promise<pg.QueryArrayResult>

const dbOver = (run: Runner, askIsDistributed: AskDistribution, batch?: (all: LookUpAll) => LookUpOne): Db => {
  const send = (statement: Statement): [string, Promise<pg.QueryArrayResult>] => {
    const text = statement.text
    // Up to the first value, the forms of a statement are usually the same.
    const name = preparedName(text, statement.strings?.[0] ?? text)
    const config: QueryArrayConfig = { text, values: statement.values, rowMode: 'array', types }
    if (name !== undefined) config.name = name
    return [text, run(config)]
  }
  const lookUpAll = lookUpsOver(
    (statement) => send(statement)[1],
    () => askIsDistributed(run),
  )
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
    lookUp: batch?.(lookUpAll) ?? (async (statement, key) => (await lookUpAll(statement, [key]))[0]),
  }
}

interface RunOptions extends DatabaseOptions {
  hasTenantRole: () => Promise<boolean>
  askIsDistributed: AskDistribution
  signals: Signals
}

const hotPool = (options: RunOptions): { db: Db; run: Runner; close: () => Promise<void> } => {
  const slots: (Promise<DatabaseClient> | undefined)[] = Array.from({ length: options.hotConnections })
  let next = 0
  let closed = false
  const connect = async (slot: number): Promise<DatabaseClient> => {
    const client = new DatabaseClient({ ...options.connection, pipeline: true })
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
    return client.query(config).catch((error: unknown) => {
      if (client.isLost(error)) client.drop(error as Error)
      throw error
    })
  }
  const close = async (): Promise<void> => {
    closed = true
    const open = slots.filter((slot) => slot !== undefined)
    await Promise.allSettled(open.map(async (slot) => (await slot).end()))
  }
  return { db: dbOver(run, options.askIsDistributed, batchLookUps), run, close }
}

const runTransaction = async <T>(
  pool: pg.Pool,
  scope: TransactionScope,
  work: (db: Transaction) => Promise<T>,
  options: RunOptions,
): Promise<T> => {
  const begin = beginning(scope, scope !== 'all orgs' && (await options.hasTenantRole()))
  const client = await connectOf(pool)
  const after: (() => void | Promise<void>)[] = []
  const undo: (() => void)[] = []
  const signals = new Map<string, Set<string>>()
  const deferred = createDeferredRows()
  let broken: Error | undefined
  let result: T
  try {
    await client.query(begin + client.localSettings)
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
      defer: deferred.add,
      signal: (topic, key) => {
        signals.set(topic, (signals.get(topic) ?? new Set()).add(key))
      },
    }
    result = await insideTransaction.run(true, () => work(db))
    await deferred.write(db.execute, () => options.askIsDistributed((config) => client.query(config)))
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    for (const callback of undo) callback()
    if (client.isLost(error)) broken = error as Error
    throw error
  } finally {
    // A connection whose rollback failed is in an unknown state and must not be used again.
    client.release(broken)
  }
  for (const [topic, keys] of signals) for (const key of keys) options.signals.signal(topic, key)
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
  const connection = connectionOf(options.connection)
  const askIsDistributed = askDistribution()
  const signals = createSignals()
  const over = (pool: pg.Pool, guard?: (db: Transaction) => Promise<void>): Database['indexed'] => ({
    ...dbOver((config) => {
      assertNoTransaction()
      return runAlone(pool, config, pool === indexedPool)
    }, askIsDistributed),
    transaction: (scope, work) => {
      if (insideTransaction.getStore()) throw new Error('transactions do not nest: use the open transaction instead')
      const guardedWork = guard
        ? async (db: Transaction) => {
            await guard(db)
            return work(db)
          }
        : work
      return runTransaction(pool, scope, guardedWork, { ...options, hasTenantRole, askIsDistributed, signals })
    },
  })
  const pool = poolOf({ ...connection, max: options.poolSize }, options.onError)
  const hasTenantRole = findsTenantRole(pool)
  const indexedPool = poolOf(
    {
      ...connection,
      settings: { ...connection.settings, enable_seqscan: 'off' },
      max: indexedConnections,
      // A pooler would give the setting of this session to other clients. Without it, plans are made with the values.
      // pg awaits it before the first statement; its types say otherwise.
      // oxlint-disable-next-line typescript/no-misused-promises
      onConnect: async (client) => {
        if ((client as DatabaseClient).server?.isPooler !== true) await preferGenericPlans(client)
      },
    },
    options.onError,
  )
  const hot = hotPool({ ...options, connection, hasTenantRole, askIsDistributed, signals })
  const indexed = over(indexedPool)
  const replica =
    options.replica &&
    openReplica({
      pool: poolOf(
        {
          ...connectionOf(options.replica.connection),
          wants: 'standby',
          connectionTimeoutMillis: 1_000,
          query_timeout: 30_000,
          max: options.replica.poolSize,
        },
        options.onError,
      ),
      waitMs: options.replica.waitMs,
      primary: hot.run,
      runOnPrimary: (config) => runAlone(pool, config),
      onError: options.onError,
    })
  const replicaDb = replica && dbOver((config) => (assertNoTransaction(), replica.run(config)), askIsDistributed)
  const open = (guard?: (db: Transaction) => Promise<void>): Database => {
    const main = over(pool, guard)
    return {
      ...main,
      ...signals,
      hot: hot.db,
      indexed,
      replica: replicaDb ?? main,
      isDistributed: () => askIsDistributed((config) => runAlone(pool, config)),
      hasTenantPolicies: hasTenantRole,
      guarded: (next) => open(next),
      poolUse: () => ({ inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount }),
      close: async () => {
        await Promise.all([pool.end(), indexedPool.end(), hot.close(), replica?.close()])
      },
    }
  }
  return open()
}
