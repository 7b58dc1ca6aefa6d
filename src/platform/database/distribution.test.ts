import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFile } from '../../files/access/access.ts'
import type { Actor } from '../../identity/actor.ts'
import { startTestApp } from '../../../test/harness.ts'
import { createFolder } from '../../../test/support/files.ts'
import { newId } from '../ids.ts'
import { openDatabase, sql } from './database.ts'
import type { Database } from './database.ts'

const app = await startTestApp({}, { work: false })
const [one, two] = [await app.createOrg(), await app.createOrg()]

/** The same database as one that has the extension, on connections of its own. The statements are right on any schema. */
const openDistributed = async () => {
  if (!(await app.db.isDistributed())) {
    await app.db.execute(sql`update pg_extension set extname = 'citus' where extname = 'plpgsql'`)
  }
  return openDatabase({
    connection: app.connection,
    poolSize: 2,
    hotConnections: 1,
    onError: (error) => assert.fail(String(error)),
  })
}

test('statements on queue tables use generic plans, but not where tables are distributed', async (t) => {
  const modeOf = async (db: Pick<Database, 'indexed'>): Promise<string | undefined> =>
    (await db.indexed.row<{ mode: string }>(sql`select current_setting('plan_cache_mode') as mode`))?.mode
  if (!(await app.db.isDistributed())) assert.equal(await modeOf(app.db), 'force_generic_plan')
  const db = await openDistributed()
  t.after(() => db.close())
  assert.equal(await modeOf(db), 'auto')
})

test('records of several orgs that are looked up at once are read by one statement for each org', async (t) => {
  const folders = [await createFolder(app, one, 'Reports'), await createFolder(app, two, 'Reports')] as const
  const db = await openDistributed()
  t.after(() => db.close())
  assert.equal(await db.isDistributed(), true)
  const asked = [
    [one, folders[0].id],
    [two, folders[1].id],
    [two, folders[0].id],
    [one, newId()],
    [one, folders[0].id],
  ] as const
  const found = await Promise.all(
    asked.map(([{ orgId }, id]) => readFile(db.hot, { orgId, role: 'owner' } as Actor, id)),
  )
  assert.deepEqual(
    found.map((file) => file?.id),
    [folders[0].id, folders[1].id, undefined, undefined, folders[0].id],
  )
})
