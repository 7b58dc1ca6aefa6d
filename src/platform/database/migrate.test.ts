import assert from 'node:assert/strict'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { createEmptyDatabase, sharedServer } from '../../../test/database.ts'
import { describeSchema } from '../../../test/support/database/schema.ts'
import { StartError } from '../process/start-error.ts'
import { migrate, migrationsFolder, pendingMigrations } from './migrate.ts'

const server = await sharedServer()
const temporary = await mkdtemp(join(tmpdir(), 'atrium-migrate-'))
after(async () => {
  await server.stop()
  await rm(temporary, { recursive: true, force: true })
})

const emptyDatabase = async (): Promise<pg.ClientConfig> => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  after(drop)
  return connection
}

/** A copy of the migrations with further ones, by their names. */
const folderWith = async (more: Record<string, string>): Promise<URL> => {
  const folder = await mkdtemp(join(temporary, 'migrations-'))
  await cp(migrationsFolder, folder, { recursive: true })
  for (const [name, text] of Object.entries(more)) await writeFile(join(folder, name), text)
  return pathToFileURL(`${folder}/`)
}

const query = async (connection: pg.ClientConfig, text: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const names = async (connection: pg.ClientConfig): Promise<unknown[]> =>
  (await query(connection, 'select name from schema_migrations order by name')).map(({ name }) => name)

test('processes that migrate an empty database at the same time apply each migration once', async () => {
  const connection = await emptyDatabase()
  const results = await Promise.all(Array.from({ length: 3 }, () => migrate(connection)))
  assert.deepEqual(
    // Each waits for the lock before each migration, so they take turns.
    results.flatMap(({ applied }) => applied).toSorted(),
    await names(connection),
  )
  assert.deepEqual((await pendingMigrations(connection)).pending, [])
})

test('a second migration of the same database changes nothing', async () => {
  const connection = await emptyDatabase()
  await migrate(connection)
  const before = await describeSchema(connection)
  assert.deepEqual(await migrate(connection), { applied: [] })
  assert.deepEqual(await describeSchema(connection), before)
})

test('a migration that fails is rolled back, and those before it stay applied', async () => {
  const connection = await emptyDatabase()
  await migrate(connection)
  const folder = await folderWith({
    '9998-good.sql': 'create table good (n integer)',
    '9999-bad.sql': 'create table half_done (n integer); select 1 / 0',
  })
  await assert.rejects(migrate(connection, folder), /The migration 9999-bad\.sql failed and was rolled back/)
  assert.equal((await names(connection)).at(-1), '9998-good.sql')
  const tables = await query(connection, `select to_regclass('good') as good, to_regclass('half_done') as half_done`)
  assert.deepEqual(tables, [{ good: 'good', half_done: null }])
})

test('a database whose applied migration was edited since is rejected without a change', async () => {
  const connection = await emptyDatabase()
  await migrate(connection)
  const folder = await folderWith({ '0010-quotas.sql': 'select 1', '9999-next.sql': 'create table next (n integer)' })
  await assert.rejects(
    migrate(connection, folder),
    /The migration 0010-quotas\.sql was changed after this database applied it/,
  )
  assert.deepEqual(await query(connection, `select to_regclass('next') as next`), [{ next: null }])
})

test('a database of a development version before 0.1 is rejected with its reason, and nothing is changed', async () => {
  const connection = await emptyDatabase()
  await query(
    connection,
    `create table schema_migrations (name text primary key, checksum text not null, applied_at timestamptz default now());
    insert into schema_migrations (name, checksum) values ('0001-identity.sql', 'x'), ('0002-idempotency.sql', 'x');
    create table orgs (id uuid primary key)`,
  )
  const before = await describeSchema(connection)
  const rejected = (error: unknown): boolean =>
    error instanceof StartError &&
    error.message.startsWith('The database was created by a development version of Atrium before 0.1')
  await assert.rejects(migrate(connection), rejected)
  await assert.rejects(pendingMigrations(connection), rejected)
  assert.deepEqual(await names(connection), ['0001-identity.sql', '0002-idempotency.sql'])
  assert.deepEqual(await describeSchema(connection), before)
})

test('an older version starts on a schema that a newer version expanded, and not on one that it contracted', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, await folderWith({ '9998-new.sql': 'alter table agents add column shade text' }))
  assert.deepEqual((await migrate(connection)).applied, [], 'a process of the older version restarts')
  assert.deepEqual((await pendingMigrations(connection)).pending, [])
  const contraction = '-- contract: version 0.2 stopped using it\nalter table agents drop column shade'
  await migrate(
    connection,
    await folderWith({
      '9998-new.sql': 'alter table agents add column shade text',
      '9999-contract.sql': contraction,
    }),
  )
  await assert.rejects(
    migrate(connection),
    (error) => error instanceof StartError && /newer than this Atrium: .* 9999-contract\.sql/.test(error.message),
  )
})
