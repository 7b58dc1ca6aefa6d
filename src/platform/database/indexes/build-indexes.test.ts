import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { createEmptyDatabase, sharedServer } from '../../../../test/database.ts'
import { until } from '../../../../test/support/until.ts'
import { migrate, migrationsFolder } from '../migrate.ts'
import { splitStatements } from '../split-statements.ts'
import { indexesOf } from './build-indexes.ts'

const server = await sharedServer()
const temporary = await mkdtemp(join(tmpdir(), 'atrium-indexes-'))
after(async () => {
  await server.stop()
  await rm(temporary, { recursive: true, force: true })
})

const always = { largeTableBytes: 0 }

const tables = `
  create table notes (id integer, body text);
  insert into notes select n, 'note ' || n from generate_series(1, 100) n;
  create table months (at integer, body text) partition by range (at);
  create table months_202601 partition of months for values from (1) to (50);
  create table months_202602 partition of months for values from (50) to (101);
  insert into months select n, 'month ' || n from generate_series(1, 100) n;
  create function protect_tenant_tables() returns void language sql as '';`

/** A folder with a migration that creates tables with rows and, if given, one with this text. */
const folderWith = async (text?: string): Promise<URL> => {
  const folder = await mkdtemp(join(temporary, 'migrations-'))
  await writeFile(join(folder, '0001-tables.sql'), tables)
  if (text !== undefined) await writeFile(join(folder, '0003-indexes.sql'), text)
  return pathToFileURL(`${folder}/`)
}

interface Prepared {
  connection: pg.ClientConfig
  open: () => Promise<pg.Client>
}

/** A database of its own and connections to it, which end with the test. */
const prepare = async (): Promise<Prepared> => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  const clients: pg.Client[] = []
  after(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await drop()
  })
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client(connection)
    await client.connect()
    clients.push(client)
    return client
  }
  return { connection, open }
}

const indexes = async (client: pg.Client): Promise<Record<string, boolean>> => {
  const { rows } = await client.query<{ name: string; valid: boolean }>(
    `select i.relname as name, x.indisvalid as valid from pg_index x join pg_class i on i.oid = x.indexrelid
     join pg_class t on t.oid = x.indrelid where t.relname in ('notes', 'months', 'months_202601', 'months_202602')
     order by 1`,
  )
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]))
}

test('only a migration that creates nothing but indexes is built without blocking', () => {
  const parse = (text: string) => indexesOf(splitStatements(text))
  assert.deepEqual(parse('-- Why.\ncreate unique index a on b (c);\ncreate index d on e using gin (f);'), [
    { name: 'a', table: 'b', isUnique: true, definition: ' (c)' },
    { name: 'd', table: 'e', isUnique: false, definition: ' using gin (f)' },
  ])
  assert.equal(parse('create index a on b (c); alter table b add column d text;'), undefined)
  assert.equal(parse('-- Nothing.'), undefined)
})

test('since 0063, an index on a table of an earlier migration is in a file with nothing but indexes', async () => {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql') && name > '0063')
  assert.notEqual(names.length, 0)
  for (const name of names) {
    const statements = splitStatements(await readFile(new URL(name, migrationsFolder), 'utf8'))
    if (indexesOf(statements)) continue
    const created = new Set(statements.map((one) => /^create table (\w+)/i.exec(one)?.[1]))
    for (const statement of statements) {
      const table = /^create (?:unique )?index (?:if not exists )?\w+ on (?:only )?(\w+)/i.exec(statement)?.[1]
      assert.ok(table === undefined || created.has(table), `${name}: ${statement}`)
    }
  }
})

for (const [what, table] of [
  ['a table', 'notes'],
  ['a partitioned table', 'months'],
] as const) {
  test(`others write to ${what} while a migration waits to index it`, async () => {
    const { connection, open } = await prepare()
    const column = table === 'notes' ? 'id' : 'at'
    const folder = await folderWith(`create index added on ${table} (body);`)
    const [slow, other] = [await open(), await open()]
    await migrate(connection, await folderWith())
    await slow.query('begin')
    await slow.query(`insert into ${table} values (7, 'open')`)
    const migrated = migrate(connection, folder, always)
    // A plain index would wait for a lock of the table here, and all writers behind it.
    await until('the migration waits for the open transaction', async () => {
      const { rows } = await other.query(
        `select from pg_stat_activity where query like 'create index%' and wait_event_type = 'Lock'
         and datname = current_database()`,
      )
      return rows.length > 0
    })
    await other.query(`set lock_timeout = '2s'; insert into ${table} (${column}, body) values (8, 'meanwhile')`)
    await slow.query('commit')
    assert.deepEqual((await migrated).applied, ['0003-indexes.sql'])
    const expected = table === 'notes' ? { added: true } : { added: true, added_202601: true, added_202602: true }
    assert.deepEqual(await indexes(other), expected)
    await other.query('set enable_seqscan = off')
    const { rows } = await other.query(`select body from ${table} where body in ('open', 'meanwhile') order by 1`)
    assert.deepEqual(rows, [{ body: 'meanwhile' }, { body: 'open' }])
  })
}

test('what an interrupted process left of an index is replaced', async () => {
  const { connection, open } = await prepare()
  const client = await open()
  const folder = await folderWith('create unique index one on notes (id); create index two on months (body);')
  await migrate(connection, await folderWith())
  // A unique index that finds equal values fails at the end and stays, invalid.
  await client.query("insert into notes values (1, 'again')")
  await assert.rejects(client.query('create unique index concurrently one on notes (id)'))
  await client.query("delete from notes where body = 'again'")
  await client.query('create index two on only months (body)')
  await client.query('create index two_202601 on months_202601 (body)')
  assert.deepEqual(await indexes(client), { one: false, two: false, two_202601: true })

  // Also when the tables are small now.
  assert.deepEqual((await migrate(connection, folder)).applied, ['0003-indexes.sql'])
  assert.deepEqual(await indexes(client), { one: true, two: true, two_202601: true, two_202602: true })
})

test('two processes that start at the same time build an index once', async () => {
  const { connection, open } = await prepare()
  const folder = await folderWith('create index added on notes (body); create index more on months (body);')
  const results = await Promise.all([1, 2, 3].map(() => migrate(connection, folder, always)))
  assert.deepEqual(results.flatMap(({ applied }) => applied).toSorted(), ['0001-tables.sql', '0003-indexes.sql'])
  const expected = { added: true, more: true, more_202601: true, more_202602: true }
  assert.deepEqual(await indexes(await open()), expected)
})

test('an index that cannot be built stops the start with its name and reason', async () => {
  const { connection } = await prepare()
  const folder = await folderWith('create unique index one on notes ((id % 10));')
  await assert.rejects(
    migrate(connection, folder, always),
    /Indexes could not be built \(one\): could not create unique index/,
  )
})
