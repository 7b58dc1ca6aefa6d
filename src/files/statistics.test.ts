import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createFolder, upload } from '../../test/support/files.ts'
import { startTestApp } from '../../test/harness.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Sql } from '../platform/database/database.ts'
import { listArchived, listInFolder, measureTrees } from './archive/queries.ts'
import { listTree } from './copies/queries.ts'
import { orderOf } from './listing/order-queries.ts'
import { countMatching } from './listing/queries.ts'
import { listUsage } from './usage/queries.ts'

const app = await startTestApp({}, { work: false })
/** The statement that a query sends. */
const statementOf = async (query: (db: never) => Promise<unknown>): Promise<Sql> => {
  let sent: Sql | undefined
  const keep = async (statement: Sql): Promise<unknown[]> => ((sent = statement), [])
  await query({ row: keep, rows: keep } as unknown as Db as never)
  assert.ok(sent)
  return sent
}

const rowsRead = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ read: number }>(`
    select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'files'`)
  return rows[0]?.read ?? 0
}

test('trees of new files are read by indexes before the database has statistics of them', async () => {
  const client = new pg.Client(app.connection)
  await client.connect()
  await client.query('alter table files set (autovacuum_enabled = false)')
  await client.query('set plan_cache_mode = force_generic_plan')
  const owner = await app.createOrg()
  const folder = await createFolder(app, owner, 'f')
  const file = await upload(app, owner, 'x', { name: 'a', parentId: folder.id })
  const reader = { ...owner, role: 'owner', workspaceIds: [] } as const
  const actor = reader as never
  const search = {
    pattern: '%x%',
    filter: undefined,
    containerId: folder.id,
    recursive: true,
    order: orderOf('name', 'asc'),
    isFiltered: false,
  }
  const queries: Record<string, (db: never) => Promise<unknown>> = {
    'the size of an archive': (db) => measureTrees(db, { reader }, [folder.id], 100_001),
    'files of an archive': (db) => listArchived(db, { reader }, [folder.id]),
    'a folder of an archive': (db) => listInFolder(db, { reader }, folder.id, { after: undefined, limit: 1_000 }),
    'a copy': (db) => listTree(db, actor, folder.id, 10_001),
    'the storage of folders': (db) =>
      listUsage(
        db,
        actor,
        { containerId: owner.orgId, maxFolders: 100_001 },
        { limit: 10, offset: 0, after: undefined },
      ),
    'a search of names': (db) => countMatching(db, actor, search),
  }
  const statements = await Promise.all(Object.values(queries).map(statementOf))
  const run = async (index: number): Promise<void> => {
    const { text, values } = statements[index] as Sql
    await client.query({ name: `tree ${index}`, text, values })
  }
  // Makes the plans, which are kept, while there are a few files.
  for (const index of statements.keys()) await run(index)
  await app.db.execute(sql`
    with folders as (
      insert into files (org_id, id, source, name, name_key, parent_id, created_by)
      select ${owner.orgId}, gen_random_uuid(), 'folder', n::text, n::text, ${folder.id}, ${owner.userId}
      from generate_series(1, 500) n returning id
    )
    insert into files (org_id, id, source, name, name_key, parent_id, target_id, created_by)
    select ${owner.orgId}, gen_random_uuid(), 'link', n::text, n::text, folders.id, ${file.id}, ${owner.userId}
    from folders, generate_series(1, 5) n`)
  for (const [index, name] of Object.keys(queries).entries()) {
    await client.query('begin')
    await run(index)
    const read = await rowsRead(client)
    await client.query('commit')
    // Reading all of the org for each of them would be more than a million.
    assert.ok(read < 40_000, `${name}: ${read} rows are read for 3,002 files`)
  }
  await client.end()
})
