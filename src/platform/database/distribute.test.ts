import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { createClusterDatabase, dropClusterDatabase, findCluster } from '../../../test/citus.ts'
import { createEmptyDatabase, sharedServer } from '../../../test/database.ts'
import { fixtureEnvironment, fixtureVersions, readRows, restoreFixture } from '../../../test/fixtures/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import { rejectedStatements } from '../../../test/support/database/distributed-ddl.ts'
import { available } from '../../../test/support/require.ts'
import { newId } from '../ids.ts'
import { createLog } from '../process/log.ts'
import { installJobs } from '../jobs/store.ts'
import { openDatabase, sql } from './database.ts'
import { coordinatorTables, distribute, replacedKeys } from './distribute.ts'
import { migrate, migrationsFolder } from './migrate.ts'

const server = await sharedServer()
after(() => server.stop())

const query = async <Row extends pg.QueryResultRow>(connection: pg.ClientConfig, text: string): Promise<Row[]> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

test('every table either has an org_id, by which it is distributed, or is named as one that stays on the coordinator', async () => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  after(drop)
  await migrate(connection)
  const tables = await query<{ name: string; hasOrg: boolean }>(
    connection,
    `select c.relname::text as name, exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped) as "hasOrg"
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const names = new Set(tables.map(({ name }) => name))
  assert.deepEqual(
    tables.filter(({ name, hasOrg }) => !hasOrg && !coordinatorTables.has(name)),
    [],
    'add these tables to coordinatorTables',
  )
  assert.deepEqual(
    [...coordinatorTables].filter((name) => !names.has(name)),
    [],
  )
})

test('every unique key of a distributed table contains org_id', async () => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  after(drop)
  await migrate(connection)
  const keys = await query<{ table: string; name: string }>(
    connection,
    `select c.relname::text as table, i.indexrelid::regclass::text as name from pg_index i
    join pg_class c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
    join pg_attribute o on o.attrelid = c.oid and o.attname = 'org_id' and not o.attisdropped
    where i.indisunique and not o.attnum = any(i.indkey)`,
  )
  assert.deepEqual(
    keys.filter(({ table, name }) => !coordinatorTables.has(table) && !replacedKeys.has(name)),
    [],
  )
})

test('distributing a database without Citus changes nothing and says what is missing', async () => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  after(drop)
  await migrate(connection)
  await assert.rejects(distribute(connection), /has no Citus extension/)
  const [row] = await query<{ count: number }>(
    connection,
    `select count(*)::integer as count from pg_constraint
    where contype = 'f' and conrelid = 'agents'::regclass and confrelid = 'orgs'::regclass`,
  )
  assert.equal(row?.count, 1)
})

describe('the statements of migrations', () => {
  const forbidden: [text: string, why: RegExp][] = [
    ['alter table agents add column size integer check (size > 0)', /CHECK/],
    ['alter table agents add column seq bigint generated always as identity', /identity/],
    ['create unique index agents_name_key on agents (name)', /org_id/],
    ['alter table agents add constraint agents_name unique (name)', /org_id/],
    ['alter table agents alter column name set storage external', /STORAGE/],
    ['create trigger t after insert on agents for each row execute function f()', /trigger/],
    ['alter table agents add foreign key (created_by) references users (id)', /coordinator/],
    ['create table notes (org_id uuid, n integer); create unique index notes_key on notes (n)', /org_id/],
    ['delete from agents where ctid in (select ctid from agents limit 5)', /ctid/],
  ]
  for (const [text, why] of forbidden) {
    test(`a migration is rejected for: ${text}`, () => {
      assert.match(rejectedStatements(`-- a comment; with a semicolon\n${text};`)[0]?.why ?? 'accepted', why)
    })
  }

  test('a migration is accepted when it works on a distributed schema', () => {
    const text = `
      create table notes (org_id uuid not null, id uuid not null, n integer check (n > 0), primary key (org_id, id));
      alter table notes alter column n set storage plain;
      create unique index notes_key on notes (org_id, n);
      alter table agents add column size integer;
      alter table agents add constraint agents_size check (size > 0);
      create unique index agents_name_key on agents (org_id, name);
      create index agents_by_name on agents (name);
      create unique index users_name_key on users (name);
      alter table users add column size integer check (size > 0);`
    assert.deepEqual(rejectedStatements(text), [])
  })

  test('every migration after the first release that distributes works on a distributed schema', () => {
    const names = readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql') && name >= '0019')
    const rejected = names.flatMap((name) => rejectedStatements(readFileSync(new URL(name, migrationsFolder), 'utf8')))
    assert.deepEqual(rejected, [])
  })
})

const citusUrl = process.env['ATRIUM_TEST_CITUS_URL']
const hasCluster = await available(
  'citus',
  () => citusUrl !== undefined,
  'set ATRIUM_TEST_CITUS_URL to the coordinator of a Citus cluster',
)

describe('on a Citus cluster', { skip: !hasCluster }, async () => {
  if (!hasCluster) return
  const cluster = await findCluster(citusUrl as string)
  const temporary = await mkdtemp(join(tmpdir(), 'atrium-distribute-'))
  after(() => rm(temporary, { recursive: true, force: true }))

  const createDatabase = async (): Promise<pg.ClientConfig> => {
    const name = `test_${randomBytes(8).toString('hex')}`
    await createClusterDatabase(cluster, name)
    after(() => dropClusterDatabase(cluster, name))
    return { ...cluster.coordinator, database: name }
  }

  const distributedTables = async (connection: pg.ClientConfig): Promise<string[]> =>
    (
      await query<{ name: string }>(
        connection,
        `select logicalrelid::text as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
        where partmethod = 'h' and not c.relispartition order by 1`,
      )
    ).map(({ name }) => name)

  test('distributes the rows of an older version and keeps each of them, and a second run changes nothing', async () => {
    const version = fixtureVersions()[0] as string
    const connection = await createDatabase()
    await restoreFixture(connection, version)
    await migrate(connection)
    await installJobs(connection, createLog('warn'))
    const foreignKeys = () =>
      query<{ count: number }>(
        connection,
        `select count(*)::integer as count from pg_constraint
        where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`,
      )
    const before = await readRows(connection)
    const [keysBefore] = await foreignKeys()
    const done = await distribute(connection, { shards: 4 })
    assert.deepEqual(await readRows(connection), before)
    assert.deepEqual(await distributedTables(connection), done.tables.toSorted())
    assert.ok(done.tables.includes('files') && !done.tables.includes('orgs'))
    assert.equal((await foreignKeys())[0]?.count, (keysBefore?.count ?? 0) - done.droppedForeignKeys.length)
    const again = await distribute(connection)
    assert.deepEqual(again, { ...done, tables: [], droppedForeignKeys: [] })
    await assert.rejects(distribute(connection, { shards: 8 }), /distributed into 4 shards already/)
  })

  test('a failure leaves the schema as it was', async () => {
    const connection = await createDatabase()
    await migrate(connection)
    // A unique key without org_id cannot be distributed.
    await query(connection, 'create table zebra (org_id uuid not null, id uuid primary key)')
    const keys = 'select count(*)::integer as count from pg_constraint'
    const before = await query(connection, keys)
    await assert.rejects(distribute(connection, { shards: 4 }))
    assert.deepEqual(await query(connection, keys), before)
    assert.deepEqual(await distributedTables(connection), [])
  })

  test('a table that a later migration creates is distributed with its keys, and other forms of DDL reach every machine', async () => {
    const connection = await createDatabase()
    await migrate(connection)
    await distribute(connection, { shards: 4 })
    await cp(migrationsFolder, temporary, { recursive: true })
    await writeFile(
      join(temporary, '9999-next.sql'),
      `create table notes (org_id uuid not null, agent_id uuid not null, n integer check (n > 0),
        primary key (org_id, agent_id), foreign key (org_id, agent_id) references agents (org_id, id));
      alter table agents add column size integer;
      alter table agents add constraint agents_size check (size > 0);
      create unique index agents_name_key on agents (org_id, name, id);`,
    )
    assert.deepEqual((await migrate(connection, pathToFileURL(`${temporary}/`))).applied, ['9999-next.sql'])
    assert.ok((await distributedTables(connection)).includes('notes'))
    const [orgId, id] = [newId(), newId()]
    await assert.rejects(
      query(connection, `insert into notes (org_id, agent_id, n) values ('${orgId}', '${id}', 1)`),
      /violates foreign key constraint/,
    )
  })

  test('a database that a server uses is not distributed', async () => {
    const connection = await createDatabase()
    await migrate(connection)
    const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
    await db.row(sql`select 1`)
    try {
      await assert.rejects(distribute(connection), /Atrium is running on this database/)
    } finally {
      await db.close()
    }
  })

  test('a server works on the distributed rows of an older version', async () => {
    const version = fixtureVersions()[0] as string
    const app = await startTestApp(fixtureEnvironment, {
      createDatabase: async () => {
        const connection = await createDatabase()
        await restoreFixture(connection, version)
        await migrate(connection)
        await installJobs(connection, createLog('warn'))
        await distribute(connection, { shards: 4 })
        return { connection, drop: () => Promise.resolve() }
      },
    })
    assert.equal((await app.call('GET', '/healthz')).status, 200)
    assert.equal(await app.db.hasTenantPolicies(), false)
    const owner = await app.createOrg()
    const created = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: 'Helper' } })
    assert.equal(created.status, 201, created.text)
    const read = await app.call('GET', `/api/v1/agents/${created.body.data.id}`, { as: owner })
    assert.equal(read.status, 200, read.text)
  })
})
