// Kills a worker while it purges a large folder of the trash.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { purgeDue, purgeTrash } from '../../src/files/trash/purge.ts'
import { releaseUnused } from '../../src/files/blobs/blobs.ts'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'
import { countsAreExact, createFolder, upload } from '../support/files.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'

const app = await startTestApp({}, { work: false })
const { db, connection, config } = app
const { objects, jobs } = app.deps
const { host, port, user, database } = connection
const databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`

const files = 30_000

test('a purge whose worker is killed leaves exact counts, purges nothing twice, and is completed by another process', async () => {
  const owner = await app.createOrg()
  const { orgId } = owner
  const folder = await createFolder(app, owner, 'large')
  const inside = await upload(app, owner, 'inside', { parentId: folder.id })
  const kept = await upload(app, owner, 'kept')
  await db.execute(sql`
    insert into files (org_id, id, source, parent_id, name, name_key, created_by, mime_type, size_bytes, blob_id, sha256)
    select org_id, gen_random_uuid(), source, parent_id, name, name_key, created_by, mime_type, size_bytes, blob_id, sha256
    from files, generate_series(1, ${files}::int) where org_id = ${orgId} and id = ${inside.id}`)
  await db.execute(sql`
    insert into folder_counts (org_id, folder_id, slot, children) values (${orgId}, ${folder.id}, 99, ${files})`)
  await db.execute(sql`
    insert into org_file_usage (org_id, slot, files, stored_bytes)
    values (${orgId}, 99, ${files}, ${files * inside.size})`)
  for (const { id } of [folder, kept]) {
    assert.equal((await app.call('DELETE', `/api/v1/files/${id}`, { as: owner })).status, 200)
  }
  await countsAreExact(app, orgId)

  const left = async (): Promise<number> =>
    (await db.row<{ count: number }>(sql`
      select count(*)::int as count from files where org_id = ${orgId} and trash_id is not null`))!.count
  const worker = await startServerProcess({ DATABASE_URL: databaseUrl, DATA_DIR: config.dataDir }, 'worker')
  after(() => (worker.child.exitCode === null && worker.child.signalCode === null ? worker.kill() : undefined))
  await db.transaction({ orgId }, async (db) => {
    await db.execute(sql`update trash set purge_at = now() where org_id = ${orgId} and file_id = ${folder.id}`)
    await jobs.enqueue(db, purgeTrash, { orgId })
  })
  await until(left, (count) => count < files)
  await worker.kill()
  const interrupted = await left()
  assert.ok(interrupted > 1, `killed in the middle: ${interrupted} are left`)
  await until('its transaction is rolled back', async () => {
    const row = await db.row<{ count: number }>(sql`
      select count(*)::int as count from pg_locks where relation = 'trash'::regclass and pid <> pg_backend_pid()`)
    return row?.count === 0
  })
  await countsAreExact(app, orgId)
  assert.equal((await app.call('POST', `/api/v1/files/${folder.id}/restore`, { as: owner })).status, 404)

  await purgeDue({ db, jobs }, orgId)
  await releaseUnused(db, objects, orgId)
  assert.equal(await left(), 1)
  await countsAreExact(app, orgId)
  assert.equal(await objects.head(inside.storageKey), undefined)
  const restored = await app.call('POST', `/api/v1/files/${kept.id}/restore`, { as: owner })
  assert.equal(restored.status, 200, restored.text)
  assert.ok(await objects.head(kept.storageKey))
})
