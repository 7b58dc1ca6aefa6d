import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import pg from 'pg'
import { createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { migrate } from '../../platform/database/migrate.ts'

const app = await startTestApp()

const run = async (connection: pg.ClientConfig, ...statements: string[]): Promise<pg.QueryResult[]> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const results: pg.QueryResult[] = []
    for (const statement of statements) results.push(await client.query(statement))
    return results
  } finally {
    await client.end()
  }
}

test('a database that does not allow the trigram extensions gets the whole schema except the search index', async () => {
  const name = `limited_${randomBytes(6).toString('hex')}`
  const admin = { ...app.connection, database: 'postgres' }
  await run(admin, `create role ${name} login password 'x'`, `create database ${name}`)
  after(() => run(admin, `drop database ${name} with (force)`, `drop role ${name}`))
  await run({ ...admin, database: name }, `grant all on schema public to ${name}`)
  const connection = { ...app.connection, database: name, user: name, password: 'x' }
  await migrate(connection)
  const [found] = await run(
    connection,
    `select to_regclass('files')::text as files, to_regclass('files_search')::text as index`,
  )
  assert.deepEqual(found?.rows, [{ files: 'files', index: null }])
})

test('search finds the same files without the search index', async () => {
  const org = await app.createOrg()
  const folder = await createFolder(app, org, 'Reports')
  for (const name of ['annual report', 'Report 2', 'other']) await upload(app, org, name, { name, parentId: folder.id })
  const search = async (query: string) => {
    const { body } = await app.call('GET', `/api/v1/files?${query}`, { as: org })
    return [body.data.total, body.data.items.map(({ name }: { name: string }) => name)]
  }
  const queries = [
    'search=report&recursive=true',
    `search=port&recursive=true&parentId=${folder.id}`,
    'search=re&recursive=true',
  ]
  const before = await Promise.all(queries.map(search))
  assert.deepEqual(before[0], [3, ['Reports', 'annual report', 'Report 2']])
  await app.db.execute(sql`drop index files_search`)
  assert.deepEqual(await Promise.all(queries.map(search)), before)
})
