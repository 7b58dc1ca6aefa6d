import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { until } from '../../../test/support/until.ts'
import { countsAreExact, createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import { releaseUnused } from '../blobs/blobs.ts'
import { lockMoves } from '../tree/queries.ts'
import { purgeDue } from './purge.ts'
import { restoreFile } from './trash.ts'

// Without a worker, so that the tests decide when jobs run.
const app = await startTestApp({}, { work: false })
const { db } = app
const { objects, jobs } = app.deps

const call = (as: TestActor, method: string, path: string, json?: object) =>
  app.call(method, `/api/v1/files${path}`, { as, ...(json ? { json } : {}) })
const remove = (as: TestActor, id: string) => call(as, 'DELETE', `/${id}`)
const restore = (as: TestActor, id: string) => call(as, 'POST', `/${id}/restore`)
const bytesOf = async (as: TestActor, id: string): Promise<string> =>
  (await call(as, 'GET', `/${id}?download=true&inline=true`)).text
const expireAll = (orgId: string) => db.execute(sql`update trash set purge_at = now() where org_id = ${orgId}`)
const rowOf = (orgId: string, id: string) =>
  db.row<{ deleted: boolean; trashed: boolean }>(sql`
    select deleted_at is not null as deleted, trash_id is not null as trashed from files
    where org_id = ${orgId} and id = ${id}`)

/** Every blob that a live or trashed file uses has its object, and no other blob and no other object is left. */
const storeIsExact = async (orgId: string): Promise<void> => {
  await releaseUnused(db, objects, orgId)
  const used = await db.rows<{ key: string }>(sql`
    select org_id || '/' || blob_id as key from files
    where org_id = ${orgId} and blob_id is not null and (deleted_at is null or trash_id is not null)
    union
    select v.org_id || '/' || v.blob_id from file_versions v join files f on f.org_id = v.org_id and f.id = v.file_id
    where v.org_id = ${orgId} and v.deleted_at is null and (f.deleted_at is null or f.trash_id is not null)`)
  const blobs = await db.rows<{ key: string }>(sql`
    select org_id || '/' || id as key from blobs where org_id = ${orgId}`)
  const stored: string[] = []
  for await (const { key } of objects.list(`${orgId}/`)) stored.push(key)
  const keys = (rows: { key: string }[]): string[] => rows.map(({ key }) => key).toSorted()
  assert.deepEqual(keys(blobs), keys(used))
  assert.deepEqual(stored.toSorted(), keys(used))
}

/** Files of a folder, written straight into the table. */
const fill = async (owner: TestActor, folderId: string, count: number): Promise<void> => {
  await db.execute(sql`
    insert into files (org_id, id, source, parent_id, name, name_key, created_by)
    select ${owner.orgId}, gen_random_uuid(), 'folder', ${folderId}, 'f', 'f', ${owner.userId}
    from generate_series(1, ${count}::int)`)
  await db.execute(sql`
    insert into folder_counts (org_id, folder_id, slot, children) values (${owner.orgId}, ${folderId}, 0, ${count})
    on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + excluded.children`)
  await db.execute(sql`
    insert into org_file_usage (org_id, slot, files, stored_bytes) values (${owner.orgId}, 0, ${count}, 0)
    on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files`)
}

describe('purging', () => {
  test('purges only what is due, in bounded batches, and continues where an interruption stopped it', async () => {
    const owner = await app.createOrg()
    const [folder, kept] = [await createFolder(app, owner, 'large'), await upload(app, owner, 'kept')]
    await fill(owner, folder.id, 2_500)
    const due = await upload(app, owner, 'due')
    await remove(owner, folder.id)
    await remove(owner, due.id)
    await expireAll(owner.orgId)
    await remove(owner, kept.id)
    assert.equal((await restore(owner, folder.id)).status, 404, 'due entries cannot be restored')
    const listed = await call(owner, 'GET', '?trashed=true')
    assert.deepEqual(
      listed.body.data.items.map(({ id }: { id: string }) => id),
      [kept.id],
    )

    let enqueued = 0
    const crashing = {
      enqueue: async () => {
        enqueued += 1
        if (enqueued === 2) throw new Error('killed')
      },
    }
    await assert.rejects(purgeDue({ db, jobs: crashing }, owner.orgId), /killed/)
    const left = await db.row<{ count: number }>(sql`
      select count(*)::int as count from files where org_id = ${owner.orgId} and trash_id is not null`)
    assert.equal(left?.count, 2_503 - 1_000, 'the batch that was interrupted was rolled back')
    await countsAreExact(app, owner.orgId)
    await Promise.all([purgeDue({ db, jobs }, owner.orgId), purgeDue({ db, jobs }, owner.orgId)])
    await purgeDue({ db, jobs }, owner.orgId)
    await countsAreExact(app, owner.orgId)
    await storeIsExact(owner.orgId)
    assert.equal((await restore(owner, kept.id)).status, 200)
    assert.equal(await bytesOf(owner, kept.id), 'kept')
  })

  test('deletes and restores a folder of 10,000 files at once, with exact counts', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'large')
    await fill(owner, folder.id, 10_000)
    assert.equal((await remove(owner, folder.id)).status, 200)
    await countsAreExact(app, owner.orgId)
    assert.equal((await restore(owner, folder.id)).status, 200)
    const { body } = await call(owner, 'GET', `?parentId=${folder.id}`)
    assert.equal(body.data.total, 10_000)
    await countsAreExact(app, owner.orgId)
  })
})

describe('races', () => {
  test('a restore and a purge of the same file end in one of both, never in a file without bytes', async () => {
    const owner = await app.createOrg()
    for (let round = 0; round < 15; round += 1) {
      const file = await upload(app, owner, `round ${round}`)
      await remove(owner, file.id)
      const [restored, purged] = await Promise.all([
        restore(owner, file.id),
        call(owner, 'DELETE', `/${file.id}?permanent=true`),
        releaseUnused(db, objects, owner.orgId),
      ])
      // The request leaves to the job what another request had locked.
      await purgeDue({ db, jobs }, owner.orgId)
      const row = await rowOf(owner.orgId, file.id)
      assert.ok(restored.status === 200 || purged.status === 200)
      if (row?.deleted) assert.equal(row.trashed, false)
      else assert.equal(await bytesOf(owner, file.id), `round ${round}`)
    }
    await countsAreExact(app, owner.orgId)
    await storeIsExact(owner.orgId)
  })

  test('restores into a folder that is deleted, moved or filled at the same time lose nothing and do not deadlock', async () => {
    const owner = await app.createOrg()
    for (let round = 0; round < 12; round += 1) {
      const [folder, other] = [await createFolder(app, owner, 'f'), await createFolder(app, owner, 'o')]
      const inner = await createFolder(app, owner, 'inner', folder.id)
      const file = await upload(app, owner, `deep ${round}`, { parentId: inner.id })
      await remove(owner, inner.id)
      const answers = await Promise.all([
        restore(owner, inner.id),
        remove(owner, folder.id),
        call(owner, 'PATCH', `/${other.id}`, { parentId: folder.id }),
        call(owner, 'POST', '', { source: 'folder', name: 'new', parentId: folder.id }),
      ])
      for (const { status, text } of answers) assert.ok([200, 201, 400, 404].includes(status), text)
      assert.equal(answers[0].status, 200)
      // Either it was restored before the deletion of its folder and went back to the trash with it, or to the root.
      if ((await rowOf(owner.orgId, inner.id))?.deleted) assert.equal((await restore(owner, folder.id)).status, 200)
      assert.equal(await bytesOf(owner, file.id), `deep ${round}`)
      await countsAreExact(app, owner.orgId)
    }
    assert.ok(!app.logLines.some((line) => line.includes('deadlock')))
  })

  for (const how of ['by a request', 'because its time was over'] as const) {
    test(`a folder that is being purged ${how} cannot be restored by a request that began before`, async () => {
      const owner = await app.createOrg()
      const folder = await createFolder(app, owner, 'large')
      await fill(owner, folder.id, 3_000)
      await remove(owner, folder.id)
      const actor = { orgId: owner.orgId, userId: owner.userId, userName: 'O', role: 'owner', workspaceIds: [] }
      const begun = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const guarded = db.guarded(async () => {
        begun.resolve()
        await gate.promise
      })
      const restoring = restoreFile(guarded, actor as unknown as Parameters<typeof restoreFile>[1], folder.id)
      const rejected = assert.rejects(restoring, { status: 404 })
      await begun.promise
      if (how === 'by a request') {
        assert.equal((await call(owner, 'DELETE', `/${folder.id}?permanent=true`)).status, 200)
      } else {
        await expireAll(owner.orgId)
        await purgeDue({ db, jobs }, owner.orgId, { maxBatches: 1 })
      }
      gate.resolve()
      await rejected
      await purgeDue({ db, jobs }, owner.orgId)
      await countsAreExact(app, owner.orgId)
    })
  }

  test('the restriction of a file that is restored to the root is read when no folder can change it any more', async () => {
    const owner = await app.createOrg()
    const admin = await app.createUser(owner, 'admin')
    const folder = await createFolder(app, owner, 'F')
    const file = await upload(app, owner, 'secret', { parentId: folder.id })
    await remove(owner, file.id)
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    // What a request does that restricts the folder, and then one that deletes it.
    const restricting = db.transaction({ orgId: owner.orgId }, async (db) => {
      await lockMoves(db, { orgId: owner.orgId } as Parameters<typeof lockMoves>[1])
      begun.resolve()
      await gate.promise
      await db.execute(sql`
        update files set guards = array[${folder.id}]::uuid[] where org_id = ${owner.orgId} and id = ${file.id}`)
      await db.execute(sql`
        update files set deleted_at = now(), guards = array[${folder.id}]::uuid[]
        where org_id = ${owner.orgId} and id = ${folder.id}`)
    })
    await begun.promise
    const restoring = restore(admin, file.id)
    await until('the restore waits', async () => (await waitingForLocks(db)) >= 1)
    gate.resolve()
    await restricting
    const { status, text } = await restoring
    assert.notEqual(status, 200, text)
    assert.equal((await rowOf(owner.orgId, file.id))?.deleted, true)
  })

  test('two restores of a file make it live once', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'once')
    await remove(owner, file.id)
    const answers = await Promise.all([restore(owner, file.id), restore(owner, file.id), restore(owner, file.id)])
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 404, 404],
    )
    await countsAreExact(app, owner.orgId)
  })
})

test('a server of the previous version cannot free bytes, nor take them from files in the trash', async () => {
  const owner = await app.createOrg()
  const [trashed, shared, own] = [
    await upload(app, owner, 'shared'),
    await upload(app, owner, 'shared'),
    await upload(app, owner, 'own'),
  ]
  await remove(owner, trashed.id)
  await remove(owner, own.id)
  // The statement of version 0.1.
  const release = (blobId: string) =>
    db.execute(sql`
      with released as (
        update files set blob_id = null
        where org_id = ${owner.orgId} and blob_id = ${blobId} and deleted_at is not null
      )
      update blobs b set state = 'condemned'
      where b.org_id = ${owner.orgId} and b.id = ${blobId} and b.state = 'live' and not exists (
        select from files f where f.org_id = b.org_id and f.blob_id = b.id and f.deleted_at is null)`)
  for (const { storageKey } of [shared, own]) {
    await assert.rejects(release(storageKey.split('/')[1]), (error: unknown) => {
      assert.match(String(violatedConstraint(error)), /^(files_trash_check|blobs_state_check)$/)
      return true
    })
  }
  await storeIsExact(owner.orgId)
  for (const { id } of [trashed, own]) assert.equal((await restore(owner, id)).status, 200)
  assert.equal(await bytesOf(owner, trashed.id), 'shared')
})
