import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { builderLock } from '../advisory-lock.ts'
import { sqlState } from '../errors.ts'

/** A `create index` statement of a migration. */
export interface IndexStatement {
  name: string
  table: string
  isUnique: boolean
  /** What follows the name of the table. */
  definition: string
}

const createIndex = /^create (?<unique>unique )?index (?<name>\w+) on (?<table>\w+)\b(?<definition>[\s\S]*)$/i

/**
 * The indexes of a migration that creates nothing else, or undefined. Only such a migration can be interrupted between its
 * statements, which building an index without a lock requires.
 */
export const indexesOf = (statements: readonly string[]): IndexStatement[] | undefined => {
  const found: IndexStatement[] = []
  for (const statement of statements) {
    const groups = createIndex.exec(statement)?.groups
    if (!groups) return undefined
    const { name = '', table = '', definition = '' } = groups
    found.push({ name, table, isUnique: groups.unique !== undefined, definition })
  }
  return found.length === 0 ? undefined : found
}

/** A smaller table is indexed within the lock timeout of other statements. */
export const largeTableBytes = 64 * 1024 * 1024

/** Others wait for at most this time behind a step that needs a lock. Then the step is begun again, after a pause. */
const lockTimeoutMs = 500
const lockPauseMs = 300
const maxAttempts = 750
const lockNotAvailable = '55P03'

const exists = async (client: pg.ClientBase, name: string): Promise<boolean> => {
  const { rows } = await client.query<{ exists: boolean }>(`select to_regclass($1) is not null as exists`, [name])
  return rows[0]?.exists === true
}

const isLarge = async (client: pg.ClientBase, table: string, minBytes: number): Promise<boolean> => {
  const { rows } = await client.query<{ bytes: string | null }>(
    `select coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(to_regclass($1))),
       pg_relation_size(to_regclass($1))) as bytes`,
    [table],
  )
  return Number(rows[0]?.bytes ?? 0) >= minBytes
}

/** Whether an index exists and is complete. */
export const isBuilt = async (client: pg.ClientBase, name: string): Promise<boolean> => {
  const { rows } = await client.query(`select from pg_index where indexrelid = to_regclass($1) and indisvalid`, [name])
  return rows.length > 0
}

/** Runs a statement that must not wait for a lock for long. Rejects with `lock_not_available` after about ten minutes. */
const runShortly = async (client: pg.ClientBase, statement: string): Promise<void> => {
  await client.query(`set lock_timeout = '${lockTimeoutMs}ms'`)
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(statement)
      break
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || attempt === maxAttempts) throw error
      await delay(lockPauseMs * (0.5 + Math.random()))
    }
  }
  await client.query('set lock_timeout = 0')
}

/** Builds an index of a table without partitions. What an interrupted run left is removed first. */
const buildOn = async (client: pg.ClientBase, index: IndexStatement): Promise<void> => {
  if (await isBuilt(client, index.name)) return
  await client.query(`drop index concurrently if exists ${index.name}`)
  const what = index.isUnique ? 'unique index' : 'index'
  await client.query(`create ${what} concurrently ${index.name} on ${index.table}${index.definition}`)
}

/** The limit of PostgreSQL on names. */
const maxNameLength = 63

const partitionsWithout = async (client: pg.ClientBase, { name, table }: IndexStatement): Promise<string[]> => {
  const { rows } = await client.query<{ partition: string }>(
    `select c.relname as partition from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1) and not exists (
       select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
       where x.indrelid = c.oid and a.inhparent = to_regclass($2))
     order by c.relname`,
    [table, name],
  )
  return rows.map(({ partition }) => partition)
}

/**
 * PostgreSQL cannot index a partitioned table concurrently, but its partitions. The index of the table is complete once
 * all of them have theirs; partitions created meanwhile are created with it.
 */
const buildOnPartitions = async (client: pg.ClientBase, index: IndexStatement): Promise<void> => {
  const { name, table, definition, isUnique } = index
  const what = isUnique ? 'unique index' : 'index'
  if (!(await exists(client, name))) await runShortly(client, `create ${what} ${name} on only ${table}${definition}`)
  for (const partition of await partitionsWithout(client, index)) {
    const suffix = partition.startsWith(table) ? partition.slice(table.length) : `_${partition}`
    const own = `${name.slice(0, maxNameLength - suffix.length)}${suffix}`
    await buildOn(client, { ...index, name: own, table: partition })
    await runShortly(client, `alter index ${name} attach partition ${own}`)
  }
}

/**
 * Those of the indexes that must be built before the migration that creates them: of large tables, and those that an
 * interrupted process has begun.
 */
export const toBuild = async (
  client: pg.ClientBase,
  indexes: readonly IndexStatement[],
  minBytes: number,
): Promise<IndexStatement[]> => {
  const found: IndexStatement[] = []
  for (const index of indexes) {
    if (await isBuilt(client, index.name)) continue
    if ((await exists(client, index.name)) || (await isLarge(client, index.table, minBytes))) found.push(index)
  }
  return found
}

const builderPauseMs = 1_000

/**
 * Builds indexes while others read and write the tables. Can be interrupted and repeated at any point. The connection must
 * be one to the server, not to a pooler, and must be closed afterwards. Building waits for all transactions of the
 * database that hold a snapshot, so nobody may wait for the caller in a statement.
 */
export const buildIndexes = async (client: pg.ClientBase, indexes: readonly IndexStatement[]): Promise<void> => {
  await client.query('set statement_timeout = 0; set lock_timeout = 0')
  for (;;) {
    // Whoever waited for the lock would hold a snapshot, for which the process that builds would wait.
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [builderLock])
    if (rows[0]?.locked) break
    await delay(builderPauseMs * (0.5 + Math.random()))
  }
  for (const index of indexes) {
    const { rows } = await client.query(`select from pg_partitioned_table where partrelid = to_regclass($1)`, [
      index.table,
    ])
    if (rows.length > 0) await buildOnPartitions(client, index)
    else await buildOn(client, index)
    if (!(await isBuilt(client, index.name))) throw new Error(`The index ${index.name} is not complete.`)
  }
}
