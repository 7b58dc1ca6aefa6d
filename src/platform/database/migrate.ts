import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { DatabaseClient } from './connections/client.ts'
import { StartError } from '../process/start-error.ts'
import { advisoryLock } from './advisory-lock.ts'
import { distributeNewTables, isDistributed } from './distribute.ts'
import { sqlState } from './errors.ts'
import { buildIndexes, indexesOf, isBuilt, largeTableBytes, toBuild } from './indexes/build-indexes.ts'
import type { IndexStatement } from './indexes/build-indexes.ts'
import { splitStatements } from './split-statements.ts'

export interface MigrationResult {
  /** Names of the migrations applied by this call, in order. */
  applied: string[]
}

interface Migration {
  name: string
  text: string
  checksum: string
  isExpansion: boolean
}

interface Applied {
  name: string
  checksum: string
  isExpansion: boolean
}

export const migrationsFolder = new URL('../../../migrations/', import.meta.url)
const oldestServer = 150_000

// Only development versions before 0.1 had it. Later migrations must not use this name.
const developmentMigration = '0002-idempotency.sql'

/** How a migration begins that older versions cannot run on, because it removes or restricts what they use. */
const contraction = '-- contract:'

/** `is_expansion` is missing in databases of version 0.1. */
const selectApplied = `
  select name, checksum, coalesce((to_jsonb(m) ->> 'is_expansion')::boolean, false) as "isExpansion"
  from schema_migrations m order by name`

const readMigrations = async (folder: URL): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { name, text, checksum, isExpansion: !text.startsWith(contraction) }
    }),
  )
}

/**
 * Throws when this version cannot run on a database with these migrations. Migrations of a newer version that are
 * expansions are accepted: during a rolling upgrade, a process of the older version may restart.
 */
const checkHistory = (known: Migration[], applied: Applied[]): void => {
  if (applied.some(({ name }) => name === developmentMigration)) {
    throw new StartError(
      'The database was created by a development version of Atrium before 0.1 and cannot be upgraded.',
      'Start with an empty database: another DATABASE_URL, or another DATA_DIR.',
    )
  }
  const byName = new Map(known.map((migration) => [migration.name, migration]))
  for (const { name, checksum, isExpansion } of applied) {
    const migration = byName.get(name)
    if (!migration) {
      if (isExpansion) continue
      throw new StartError(
        `The database is newer than this Atrium: it has the migration ${name}, which this version does not know.`,
        'Start the version that created it, or a newer one.',
      )
    }
    if (migration.checksum !== checksum) {
      throw new StartError(
        `The migration ${name} was changed after this database applied it.`,
        'Migrations only go forward: restore the file and put the change into a new one.',
      )
    }
  }
}

/** Version 0.1 created the table without the column. Checked first, because `alter table` waits for a running pg_dump. */
const upgradeHistory = async (client: pg.ClientBase): Promise<void> => {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'is_expansion'`,
  )
  if (rowCount === 0) {
    await client.query('alter table schema_migrations add column is_expansion boolean not null default false')
  }
}

const lockNotAvailable = '55P03'

/**
 * Less than `deadlock_timeout`: a migration locks several tables, which running servers lock in another order. When both
 * wait for each other, the migration gives up and begins again, instead of a request that PostgreSQL would choose.
 */
const lockTimeoutMs = 500
const lockPauseMs = 300
const lockPatienceMs = 600_000

const connect = async (connection: pg.ClientConfig): Promise<DatabaseClient> => {
  const client = new DatabaseClient({ ...connection, application_name: 'atrium-migrate' })
  await client.connect()
  return client
}

interface Step {
  /** The migration that was applied, if any. */
  applied?: string
  /** Indexes of the next migration that must be built before it, because their tables are large. */
  toBuild?: IndexStatement[]
}

/**
 * The indexes of a migration that must be built before. None on Citus and through a pooler, which gives each statement
 * another session: writers wait there until an index is complete.
 */
const indexesToBuild = async (client: DatabaseClient, { text }: Migration, options: MigrateOptions) => {
  const indexes = indexesOf(splitStatements(text))
  if (!indexes || client.server?.isPooler === true || (await isDistributed(client))) return []
  return toBuild(client, indexes, options.largeTableBytes)
}

/** Executes the statements of a migration, one by one, because Citus rejects some next to others of the same message. */
const execute = async (client: pg.ClientBase, { text }: Migration): Promise<void> => {
  const statements = splitStatements(text)
  const indexes = indexesOf(statements)
  for (const [at, statement] of statements.entries()) {
    const index = indexes?.[at]
    if (!index || !(await isBuilt(client, index.name))) await client.query(statement)
  }
}

/**
 * Applies the first pending migration. The lock belongs to the transaction: a lock of the session would stay on the
 * server's connection when the client has a pooler.
 */
const applyNext = async (client: DatabaseClient, known: Migration[], options: MigrateOptions): Promise<Step> => {
  let next: Migration | undefined
  try {
    // A large table needs more time than a request may take, and the others wait for the lock as long.
    await client.query('begin; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_xact_lock($1)', [advisoryLock])
    await client.query(`set local lock_timeout = '${lockTimeoutMs}ms'`)
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now(),
      is_expansion boolean not null default false)`)
    const { rows: applied } = await client.query<Applied>(selectApplied)
    checkHistory(known, applied)
    await upgradeHistory(client)
    const done = new Set(applied.map((row) => row.name))
    next = known.find((migration) => !done.has(migration.name))
    if (next) {
      const unbuilt = await indexesToBuild(client, next, options)
      if (unbuilt.length > 0) {
        await client.query('rollback')
        return { toBuild: unbuilt }
      }
      await execute(client, next)
      await client.query('insert into schema_migrations (name, checksum, is_expansion) values ($1, $2, $3)', [
        next.name,
        next.checksum,
        next.isExpansion,
      ])
      // A distributed schema has no policies; see dropPolicies.
    } else if (!(await isDistributed(client))) await client.query('select protect_tenant_tables()')
    await client.query('commit')
    return next ? { applied: next.name } : {}
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    if (next === undefined || sqlState(error) === lockNotAvailable) throw error
    throw new StartError(
      `The migration ${next.name} failed and was rolled back: ${(error as Error).message}`,
      undefined,
      { cause: error },
    )
  }
}

/** Begins again while a table is locked by others, for up to ten minutes: a backup may take as long. */
const applyWithPatience = async (
  client: DatabaseClient,
  known: Migration[],
  options: MigrateOptions,
): Promise<Step> => {
  const began = performance.now()
  for (;;) {
    try {
      return await applyNext(client, known, options)
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable) throw error
      if (performance.now() - began > lockPatienceMs) {
        throw new StartError(
          'A migration could not lock its tables for ten minutes, because other transactions use them.',
          'End long transactions, such as a backup by pg_dump, and start again.',
          { cause: error },
        )
      }
      await delay(lockPauseMs * (0.5 + Math.random()))
    }
  }
}

const checkServer = async (client: pg.ClientBase): Promise<string> => {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as text`,
  )
  const server = rows[0]
  if (server && server.number < oldestServer) {
    throw new StartError(`The database is PostgreSQL ${server.text}; Atrium needs 15 or newer.`)
  }
  return server?.text ?? ''
}

/** The server's version and the names of the migrations that a start would apply. Read-only; throws like `migrate`. */
export const pendingMigrations = async (
  connection: pg.ClientConfig,
): Promise<{ serverVersion: string; pending: string[] }> => {
  const client = await connect(connection)
  try {
    const serverVersion = await checkServer(client)
    const { rows: found } = await client.query<{ exists: boolean }>(
      `select to_regclass('schema_migrations') is not null as exists`,
    )
    const known = await readMigrations(migrationsFolder)
    if (!found[0]?.exists) return { serverVersion, pending: known.map((migration) => migration.name) }
    const { rows: applied } = await client.query<Applied>(selectApplied)
    checkHistory(known, applied)
    const done = new Set(applied.map((row) => row.name))
    return { serverVersion, pending: known.map((migration) => migration.name).filter((name) => !done.has(name)) }
  } finally {
    await client.end()
  }
}

/** Builds indexes on a connection of their own. */
const build = async (connection: pg.ClientConfig, indexes: IndexStatement[]): Promise<void> => {
  const client = await connect(connection)
  try {
    await buildIndexes(client, indexes)
  } catch (error) {
    const names = indexes.map(({ name }) => name).join(', ')
    throw new StartError(`Indexes could not be built (${names}): ${(error as Error).message}`, undefined, {
      cause: error,
    })
  } finally {
    await client.end()
  }
}

export interface MigrateOptions {
  /** Indexes of tables of at least this size are built while others write to them. */
  largeTableBytes: number
}

/**
 * Applies the migrations of `folder` that the database lacks, in order of their names, each in a transaction. Processes
 * that start at the same time wait for one another on an advisory lock, so each migration runs once. Throws a StartError
 * when the server is too old, or when the database's history does not match the folder; nothing is changed then.
 */
export const migrate = async (
  connection: pg.ClientConfig,
  folder = migrationsFolder,
  options: MigrateOptions = { largeTableBytes },
): Promise<MigrationResult> => {
  const client = await connect(connection)
  try {
    await checkServer(client)
    const known = await readMigrations(folder)
    const applied: string[] = []
    for (;;) {
      const step = await applyWithPatience(client, known, options)
      if (step.toBuild) {
        await build(connection, step.toBuild)
        continue
      }
      if (step.applied === undefined) break
      applied.push(step.applied)
    }
    if (await isDistributed(client)) await distributeNewTables(client)
    return { applied }
  } finally {
    await client.end()
  }
}
