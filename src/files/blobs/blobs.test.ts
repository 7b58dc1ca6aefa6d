import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Readable } from 'node:stream'
import { countsAreExact, create, createFolder, pathOf, traces, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { releaseUnused } from './blobs.ts'
import { reconcile, removeUnfinished } from './reconciliation.ts'

const app = await startTestApp()
const { db } = app
const { objects } = app.deps
const owner = await app.createOrg()
const stranger = await app.createOrg()

const remove = async (id: string, as: TestActor = owner): Promise<void> => {
  const { status, text } = await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as })
  assert.equal(status, 200, text)
}
const bytesOf = async (id: string): Promise<string> => {
  const { status, text } = await app.call('GET', `/api/v1/files/${id}?download=true&inline=true`, { as: owner })
  assert.equal(status, 200, text)
  return text
}
const isStored = async (key: string): Promise<boolean> => (await objects.head(key)) !== undefined
const isDeleted = (key: string) => until(`${key} is deleted`, async () => !(await isStored(key)))
/** Every blob is live, has its object and is used by a live file; no object is without a blob. */
const isConsistent = async (): Promise<boolean> => {
  const blobs = await db.rows<{ key: string; state: string; used: boolean }>(sql`
    select b.org_id || '/' || b.id as key, b.state, exists (
      select from files f where f.org_id = b.org_id and f.blob_id = b.id and f.deleted_at is null) as used
    from blobs b order by 1`)
  const { objects: stored } = await traces(app)
  return (
    blobs.every(({ state, used }) => state === 'live' && used) &&
    JSON.stringify(blobs.map(({ key }) => key)) === JSON.stringify(stored)
  )
}
const settles = () => until('store and rows agree', isConsistent)

describe('the same bytes', () => {
  test('the same bytes are stored once per org, under one storageKey, for all names and types', async () => {
    const before = await traces(app)
    const first = await upload(app, owner, 'same bytes', { name: 'a' })
    const second = await upload(app, owner, 'same bytes', { name: 'b', type: 'text/csv' })
    const theirs = await upload(app, stranger, 'same bytes')
    assert.equal(second.storageKey, first.storageKey)
    assert.notEqual(theirs.storageKey, first.storageKey)
    const after = await traces(app)
    assert.equal(after.objects.length, before.objects.length + 2)
    assert.equal(after.blobs, (before.blobs ?? 0n) + 2n)
  })

  test('the same bytes uploaded thirty times at the same time are stored once', async () => {
    const before = await traces(app)
    const bytes = randomBytes(50_000)
    const files = await Promise.all(
      Array.from({ length: 30 }, () => upload(app, owner, bytes, { type: 'application/octet-stream' })),
    )
    assert.equal(new Set(files.map(({ storageKey }) => storageKey)).size, 1)
    const after = await traces(app)
    assert.equal(after.objects.length, before.objects.length + 1)
    assert.equal(after.blobs, (before.blobs ?? 0n) + 1n)
    assert.ok(await isConsistent())
  })

  test('a blob is kept while one live file uses it and deleted with the last one', async () => {
    const files = [await upload(app, owner, 'until the last'), await upload(app, owner, 'until the last')]
    const { storageKey } = files[0]
    await remove(files[0].id)
    await settles()
    assert.ok(await isStored(storageKey))
    assert.equal(await bytesOf(files[1].id), 'until the last')
    await remove(files[1].id)
    await isDeleted(storageKey)
    await settles()
  })

  test('a blob is deleted when its last two files are deleted at the same time', async () => {
    for (let round = 0; round < 15; round += 1) {
      const bytes = `two deletes ${round}`
      const files = await Promise.all([upload(app, owner, bytes), upload(app, owner, bytes)])
      await Promise.all(files.map(({ id }) => remove(id)))
      await isDeleted(files[0].storageKey)
    }
    await settles()
  })

  test('a blob survives when its bytes are uploaded again while its last file is deleted', async () => {
    for (let round = 0; round < 15; round += 1) {
      const bytes = `delete against upload ${round}`
      const old = await upload(app, owner, bytes)
      const [, fresh] = await Promise.all([remove(old.id), upload(app, owner, bytes)])
      await settles()
      assert.equal(await bytesOf(fresh.id), bytes)
    }
  })

  test('blobs stay consistent while several processes upload and delete the same few contents', async () => {
    const second = await app.secondServer()
    const work = async (worker: number): Promise<string[]> => {
      const kept: string[] = []
      for (let step = 0; step < 12; step += 1) {
        const bytes = `storm ${(worker + step) % 3}`
        const file = await upload(step % 2 === 0 ? app : second, owner, bytes)
        if (step % 3 === 2) kept.push(file.id)
        else await remove(file.id)
      }
      return kept
    }
    const kept = (await Promise.all(Array.from({ length: 6 }, (_, worker) => work(worker)))).flat()
    await settles()
    for (const id of kept) assert.match(await bytesOf(id), /^storm [012]$/)
    await Promise.all(kept.map((id) => remove(id)))
    await settles()
    await countsAreExact(app, owner.orgId)
  })

  test('a link uses the blob of its target, which stays when the link is deleted', async () => {
    const file = await upload(app, owner, 'linked')
    const link = (await create(app, owner, { source: 'link', targetFileId: file.id })).file
    await remove(link.id)
    await settles()
    assert.equal(await bytesOf(file.id), 'linked')
  })

  test('deleting a folder deletes its blobs, except those that a file outside uses', async () => {
    const folder = await createFolder(app, owner, 'f')
    const inside = await Promise.all(
      Array.from({ length: 12 }, (_, index) => upload(app, owner, `in folder ${index % 6}`, { parentId: folder.id })),
    )
    const outside = await upload(app, owner, 'in folder 0')
    await remove(folder.id)
    for (const { storageKey } of inside) if (storageKey !== outside.storageKey) await isDeleted(storageKey)
    await settles()
    assert.equal(await bytesOf(outside.id), 'in folder 0')
  })
})

describe('objects that cannot be deleted', () => {
  test('an object that cannot be deleted is deleted by a later attempt without an error to the caller', async () => {
    const org = await app.createOrg()
    // Files of an org whose job never ran.
    const file = await upload(app, org, 'removed later')
    await db.execute(sql`update files set deleted_at = now() where org_id = ${org.orgId} and id = ${file.id}`)
    const failing = {
      ...objects,
      delete: () => Promise.reject(new Error('the store is away')),
    }
    await assert.rejects(releaseUnused(db, failing, org.orgId), /the store is away/)
    assert.ok(await isStored(file.storageKey))
    const again = await upload(app, org, 'removed later')
    assert.notEqual(again.storageKey, file.storageKey, 'unused bytes are not used again')
    await releaseUnused(db, objects, org.orgId)
    assert.equal(await isStored(file.storageKey), false)
    assert.ok(await isStored(again.storageKey))
    const states = await db.rows(sql`select state from blobs where org_id = ${org.orgId}`)
    assert.deepEqual(states, [{ state: 'live' }])
  })
})

const old = sql`now() - interval '25 hours'`
const put = (key: string) => objects.put(key, Readable.from([Buffer.from('x')]))
const run = () => reconcile({ db, objects, log: app.deps.log }, { ageHours: 24 })
const runAsIfLater = () => reconcile({ db, objects, log: app.deps.log }, { ageHours: 0 })

describe('the nightly reconciliation', () => {
  test('the reconciliation changes nothing when store and database agree', async () => {
    await settles()
    const before = await traces(app)
    assert.deepEqual(await run(), { unknownObjects: 0, unusedBlobs: 0, missingObjects: 0 })
    assert.deepEqual(await runAsIfLater(), { unknownObjects: 0, unusedBlobs: 0, missingObjects: 0 })
    assert.deepEqual(await traces(app), before)
  })

  test('the reconciliation deletes old objects without a row, of its own orgs only', async () => {
    const own = `${owner.orgId}/${newId()}`
    const foreign = [`${newId()}/${newId()}`, `other-program/${newId()}`]
    for (const key of [own, ...foreign]) await put(key)
    await run()
    assert.ok(await isStored(own), 'too young')
    const findings = await runAsIfLater()
    assert.equal(findings.unknownObjects, 1)
    assert.equal(await isStored(own), false)
    for (const key of foreign) {
      assert.ok(await isStored(key))
      await objects.delete(key)
    }
  })

  test('the reconciliation cleans up uploads that a crash interrupted before or after their object was stored', async () => {
    const ids = [newId(), newId()]
    for (const id of ids) {
      await db.execute(sql`
        insert into blobs (org_id, id, state, created_at) values (${owner.orgId}, ${id}, 'writing', ${old})`)
    }
    await put(`${owner.orgId}/${ids[1]}`)
    const young = newId()
    await db.execute(sql`insert into blobs (org_id, id, state) values (${owner.orgId}, ${young}, 'writing')`)
    await run()
    assert.equal(await isStored(`${owner.orgId}/${ids[1]}`), false)
    const rows = await db.rows<{ id: string }>(
      sql`select id from blobs where org_id = ${owner.orgId} and state <> 'live'`,
    )
    assert.deepEqual(rows, [{ id: young }])
    await db.execute(sql`delete from blobs where org_id = ${owner.orgId} and id = ${young}`)
  })

  test('the reconciliation deletes blobs that no file uses, also when the deletion job was lost', async () => {
    const org = await app.createOrg()
    const forgotten = await upload(app, org, 'forgotten')
    const leaked = await upload(app, org, 'leaked')
    await db.execute(sql`update files set deleted_at = now() where org_id = ${org.orgId} and id = ${forgotten.id}`)
    await db.execute(sql`
      update files set deleted_at = now(), blob_id = null where org_id = ${org.orgId} and id = ${leaked.id}`)
    await db.execute(sql`update blobs set created_at = ${old} where org_id = ${org.orgId}`)
    const { unusedBlobs } = await run()
    assert.equal(unusedBlobs, 2)
    for (const { storageKey } of [forgotten, leaked]) assert.equal(await isStored(storageKey), false)
  })

  test('the reconciliation reports missing and truncated objects and keeps their rows', async () => {
    const org = await app.createOrg()
    const missing = await upload(app, org, 'missing')
    const cut = await upload(app, org, 'cut short')
    await objects.delete(missing.storageKey)
    await put(cut.storageKey)
    await db.execute(sql`update blobs set created_at = ${old} where org_id = ${org.orgId}`)
    assert.equal((await run()).missingObjects, 2)
    const lines = app.logLines.filter((line) => line.includes('the bytes of a stored file are missing'))
    for (const { storageKey } of [missing, cut]) {
      assert.ok(lines.some((line) => line.includes(storageKey.split('/')[1])))
    }
    for (const { id } of [missing, cut]) {
      assert.equal((await app.call('GET', `/api/v1/files/${id}`, { as: org })).status, 200)
      await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as: org })
    }
  })
})

describe('pending files that are never uploaded', () => {
  test('pending files are deleted after 24 hours, subtracted from their folders, and their URLs stop working', async () => {
    const folder = await createFolder(app, owner, 'f')
    const pending = async (parentId?: string) =>
      create(app, owner, { name: 'p', mimeType: 'text/plain', size: 5, parentId })
    const stale = [await pending(folder.id), await pending(folder.id), await pending()]
    const young = await pending(folder.id)
    const finished = await pending(folder.id)
    await app.call('PUT', pathOf(app, finished.uploadUrl), { body: 'hello' })
    await db.execute(sql`
      update files set created_at = now() - interval '24 hours 1 minute'
      where org_id = ${owner.orgId} and id = any(${[...stale, finished].map(({ file }) => file.id)}::uuid[])`)
    assert.equal(await removeUnfinished(db), 3)
    for (const { file, uploadUrl } of stale) {
      assert.equal((await app.call('GET', `/api/v1/files/${file.id}`, { as: owner })).status, 404)
      assert.equal((await app.call('PUT', pathOf(app, uploadUrl), { body: 'hello' })).status, 404)
    }
    const { body } = await app.call('GET', `/api/v1/files?parentId=${folder.id}`, { as: owner })
    assert.deepEqual(
      new Set(body.data.items.map(({ id }: { id: string }) => id)),
      new Set([young.file.id, finished.file.id]),
    )
    assert.equal(body.data.total, 2)
    await countsAreExact(app, owner.orgId)
    assert.equal(await removeUnfinished(db), 0)
  })
})
