import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { countsAreExact, create, createFolder, pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'

const app = await startTestApp()
const { objects } = app.deps

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, `/api/v1${path}`, { as, ...(json ? { json } : {}) })
const done = async (as: TestActor, method: string, path: string, json?: object): Promise<Json> => {
  const { status, body, text } = await call(as, method, path, json)
  assert.equal(status, 200, `${method} ${path}: ${text}`)
  return body.data
}
const trashOf = async (as: TestActor): Promise<Json[]> => (await done(as, 'GET', '/files?trashed=true')).items
const idsIn = async (as: TestActor, parentId?: string): Promise<string[]> => {
  const { items } = await done(as, 'GET', `/files${parentId === undefined ? '' : `?parentId=${parentId}`}`)
  return items.map(({ id }: Json) => id)
}
const bytesOf = async (as: TestActor, id: string): Promise<string> => {
  const { status, text } = await call(as, 'GET', `/files/${id}?download=true&inline=true`)
  assert.equal(status, 200, text)
  return text
}
const usageOf = async (as: TestActor) => {
  const { items } = await done(as, 'GET', '/quotas')
  const of = (name: string) => items.find((one: Json) => one.name === name)
  return [of('files').used, of('files').trashed, of('storedBytes').used, of('storedBytes').trashed]
}
const isStored = async (key: string): Promise<boolean> => (await objects.head(key)) !== undefined
const isDeleted = (key: string) => until(`${key} is deleted`, async () => !(await isStored(key)))
const codeOf = ({ status, body }: Answer): string => body.error?.code ?? String(status)

describe('the trash', () => {
  test('lists each deletion once, the latest first, with its time, its author and the time of its purge', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'admin')
    const [folder, file] = [await createFolder(app, owner, 'Reports'), await upload(app, owner, 'one')]
    await upload(app, owner, 'inside', { parentId: folder.id })
    await done(owner, 'DELETE', `/files/${folder.id}`)
    await done(other, 'DELETE', `/files/${file.id}`)
    const items = await trashOf(owner)
    assert.deepEqual(
      items.map(({ id, deletedBy }) => [id, deletedBy]),
      [
        [file.id, other.userId],
        [folder.id, owner.userId],
      ],
    )
    const [{ deletedAt, purgeAt, name, storageUrl }] = items
    assert.equal(Date.parse(purgeAt) - Date.parse(deletedAt), 30 * 86_400_000)
    assert.deepEqual([name, storageUrl], ['file.txt', null])
    assert.deepEqual(await idsIn(owner), [])
    const live = await done(owner, 'GET', `/files/${(await upload(app, owner, 'live')).id}`)
    assert.equal('deletedAt' in live, false)
  })

  test('is listed in pages by number and by cursor, and with no other filter', async () => {
    const owner = await app.createOrg()
    const deleted: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const { id } = await upload(app, owner, name, { name })
      await done(owner, 'DELETE', `/files/${id}`)
      deleted.unshift(id)
    }
    const first = await done(owner, 'GET', '/files?trashed=true&limit=2')
    assert.deepEqual([first.total, first.hasMore, first.items.length], [3, true, 2])
    const rest = [`cursor=${first.nextCursor}`, 'page=2']
    for (const query of rest) {
      const second = await done(owner, 'GET', `/files?trashed=true&limit=2&${query}`)
      assert.deepEqual(
        [...first.items, ...second.items].map(({ id }: Json) => id),
        deleted,
      )
      assert.equal(second.nextCursor, null)
    }
    const folder = await createFolder(app, owner, 'f')
    const filters = [
      'type=image',
      'tag=a',
      `createdBy=${owner.userId}`,
      'updatedSince=2026-01-01T00:00:00Z',
      'favorite=true',
    ]
    const folders = [`parentId=${folder.id}`, `projectId=${folder.id}`]
    for (const filter of [...folders, ...filters, 'search=a', 'recursive=true', 'sort=name', 'order=asc']) {
      assert.equal(codeOf(await call(owner, 'GET', `/files?trashed=true&${filter}`)), 'BAD_REQUEST', filter)
    }
  })

  test('keeps the bytes, counts towards the quotas, and is shown in the usage as a part of it', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, '12345', { parentId: folder.id })
    assert.deepEqual(await usageOf(owner), [2, 0, 5, 0])
    await done(owner, 'DELETE', `/files/${folder.id}`)
    assert.deepEqual(await usageOf(owner), [2, 2, 5, 5])
    await app.settled()
    assert.ok(await isStored(file.storageKey))
    await countsAreExact(app, owner.orgId)
    await done(owner, 'DELETE', `/files/${folder.id}?permanent=true`)
    assert.deepEqual(await usageOf(owner), [0, 0, 0, 0])
    await countsAreExact(app, owner.orgId)
  })

  test('does not keep uploads that are pending', async () => {
    const owner = await app.createOrg()
    const { file, uploadUrl } = await create(app, owner, { name: 'p', mimeType: 'text/plain', size: 5 })
    await done(owner, 'DELETE', `/files/${file.id}`)
    assert.deepEqual(await trashOf(owner), [])
    assert.deepEqual(await usageOf(owner), [0, 0, 0, 0])
    assert.equal((await app.call('PUT', pathOf(app, uploadUrl), { body: 'hello' })).status, 404)
  })

  test('a pending upload in a deleted folder is deleted at once, and does not return with the folder', async () => {
    const owner = await app.createOrg()
    const top = await createFolder(app, owner, 'top')
    const inner = await createFolder(app, owner, 'inner', top.id)
    const ready = await upload(app, owner, 'ready', { parentId: inner.id })
    const pending = { name: 'p', mimeType: 'text/plain', size: 7, parentId: inner.id }
    const { file, uploadUrl } = await create(app, owner, pending)
    assert.deepEqual(await usageOf(owner), [4, 0, 12, 0])
    await done(owner, 'DELETE', `/files/${top.id}`)
    assert.deepEqual(await usageOf(owner), [3, 3, 5, 5], 'what the upload had reserved is free')
    const isGone = async (): Promise<void> => {
      assert.equal((await app.call('PUT', pathOf(app, uploadUrl), { body: '1234567' })).status, 404)
      assert.equal(codeOf(await call(owner, 'GET', `/files/${file.id}`)), 'NOT_FOUND')
      assert.equal(codeOf(await call(owner, 'POST', `/files/${file.id}/restore`)), 'NOT_FOUND')
    }
    await isGone()
    await done(owner, 'POST', `/files/${top.id}/restore`)
    await isGone()
    assert.deepEqual(await idsIn(owner, inner.id), [ready.id])
    assert.deepEqual(await usageOf(owner), [3, 0, 5, 0])
    await countsAreExact(app, owner.orgId)
  })

  test('does not exist when TRASH_DAYS is 0: files are deleted at once', async () => {
    const second = await app.secondServer({ TRASH_DAYS: '0' })
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'at once')
    assert.equal((await second.call('DELETE', `/api/v1/files/${file.id}`, { as: owner })).status, 200)
    assert.deepEqual(await trashOf(owner), [])
    await isDeleted(file.storageKey)
    assert.equal(codeOf(await call(owner, 'POST', `/files/${file.id}/restore`)), 'NOT_FOUND')
  })
})

describe('restoring', () => {
  test('returns a file to its folder with its id, name, tags and bytes', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'kept', { name: 'a.txt', parentId: folder.id })
    await done(owner, 'PATCH', `/files/${file.id}`, { tags: ['q3'] })
    await done(owner, 'DELETE', `/files/${file.id}`)
    await upload(app, owner, 'another', { name: 'a.txt', parentId: folder.id })
    const restored = await done(owner, 'POST', `/files/${file.id}/restore`)
    assert.deepEqual(
      [restored.id, restored.name, restored.parentId, restored.tags],
      [file.id, 'a.txt', folder.id, ['q3']],
    )
    assert.equal((await idsIn(owner, folder.id)).length, 2)
    assert.equal(await bytesOf(owner, file.id), 'kept')
    assert.deepEqual(await trashOf(owner), [])
    assert.equal(codeOf(await call(owner, 'POST', `/files/${file.id}/restore`)), 'NOT_FOUND')
    await countsAreExact(app, owner.orgId)
  })

  test('a folder returns with everything that was deleted with it, and not with what was deleted before', async () => {
    const owner = await app.createOrg()
    const top = await createFolder(app, owner, 'top')
    const inner = await createFolder(app, owner, 'inner', top.id)
    const [before, kept] = [
      await upload(app, owner, 'before', { parentId: inner.id }),
      await upload(app, owner, 'kept', { parentId: inner.id }),
    ]
    const link = (await create(app, owner, { source: 'link', targetFileId: kept.id })).file
    await done(owner, 'DELETE', `/files/${before.id}`)
    await done(owner, 'DELETE', `/files/${top.id}`)
    assert.equal(codeOf(await call(owner, 'GET', `/files/${link.id}?download=true`)), 'NOT_FOUND')
    assert.equal(codeOf(await call(owner, 'POST', `/files/${kept.id}/restore`)), 'NOT_FOUND', 'not an entry')
    await done(owner, 'POST', `/files/${top.id}/restore`)
    assert.deepEqual(await idsIn(owner, top.id), [inner.id])
    assert.deepEqual(await idsIn(owner, inner.id), [kept.id])
    assert.equal(await bytesOf(owner, link.id), 'kept')
    assert.deepEqual(
      (await trashOf(owner)).map(({ id }) => id),
      [before.id],
    )
    await done(owner, 'POST', `/files/${before.id}/restore`)
    assert.equal((await idsIn(owner, inner.id)).length, 2)
    await countsAreExact(app, owner.orgId)
  })

  test('a file whose folder is gone returns to the root, also while the folder is in the trash', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const [one, two] = [
      await upload(app, owner, 'one', { parentId: folder.id }),
      await upload(app, owner, 'two', { parentId: folder.id }),
    ]
    for (const { id } of [one, two, folder]) await done(owner, 'DELETE', `/files/${id}`)
    assert.equal((await done(owner, 'POST', `/files/${one.id}/restore`)).parentId, null)
    await done(owner, 'DELETE', `/files/${folder.id}?permanent=true`)
    assert.equal((await done(owner, 'POST', `/files/${two.id}/restore`)).parentId, null)
    await countsAreExact(app, owner.orgId)
  })

  test('a folder returns to the root when its old folder has become too deep for it', async () => {
    const owner = await app.createOrg()
    const [parent, other] = [await createFolder(app, owner, 'parent'), await createFolder(app, owner, 'other')]
    const child = await createFolder(app, owner, 'child', parent.id)
    await createFolder(app, owner, 'grandchild', child.id)
    await done(owner, 'DELETE', `/files/${child.id}`)
    let deepest = other.id
    for (let depth = 2; depth <= 98; depth += 1) deepest = (await createFolder(app, owner, 'd', deepest)).id
    await done(owner, 'PATCH', `/files/${parent.id}`, { parentId: deepest })
    assert.equal((await done(owner, 'POST', `/files/${child.id}/restore`)).parentId, null)
  })

  test('restored files join the project of their folder, and the folder of a deleted project returns as a plain one', async () => {
    const owner = await app.createOrg()
    const project = (await call(owner, 'POST', '/projects', { name: 'Launch' })).body.data
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'x', { parentId: folder.id })
    await done(owner, 'DELETE', `/files/${file.id}`)
    await done(owner, 'PATCH', `/files/${folder.id}`, { parentId: project.folderId })
    assert.equal((await done(owner, 'POST', `/files/${file.id}/restore`)).projectId, project.id)
    await done(owner, 'DELETE', `/projects/${project.id}`)
    const restored = await done(owner, 'POST', `/files/${project.folderId}/restore`)
    assert.deepEqual([restored.isProtected, restored.projectId, restored.name], [false, null, 'Launch'])
    assert.equal((await done(owner, 'GET', `/files/${file.id}`)).projectId, null)
    await done(owner, 'PATCH', `/files/${project.folderId}`, { name: 'Archive' })
    await countsAreExact(app, owner.orgId)
  })

  test('needs files:write, and hides the trash of other orgs', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    const file = await upload(app, owner, 'x')
    await done(owner, 'DELETE', `/files/${file.id}`)
    assert.equal(codeOf(await call(reader, 'POST', `/files/${file.id}/restore`)), 'FORBIDDEN')
    assert.equal(codeOf(await call(reader, 'DELETE', '/files/trash')), 'FORBIDDEN')
    assert.equal(codeOf(await call(stranger, 'POST', `/files/${file.id}/restore`)), 'NOT_FOUND')
    assert.equal(codeOf(await call(stranger, 'DELETE', `/files/${file.id}?permanent=true`)), 'NOT_FOUND')
    await done(stranger, 'DELETE', '/files/trash')
    assert.deepEqual(await trashOf(stranger), [])
    assert.equal((await trashOf(owner)).length, 1)
  })

  test('succeeds when the quota is used up, because the trash counts', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, '12345')
    await done(owner, 'DELETE', `/files/${file.id}`)
    const second = await app.secondServer({ QUOTA_FILES: '1', QUOTA_STORED_BYTES: '5' })
    const folder = { source: 'folder', name: 'f' }
    const { body } = await second.call('POST', '/api/v1/files', { as: owner, json: folder })
    assert.match(
      body.error.message,
      /1 used, 1 more requested\. Empty the trash, which has 1 of them, or ask the operator/,
    )
    const restored = await second.call('POST', `/api/v1/files/${file.id}/restore`, { as: owner })
    assert.equal(restored.status, 200, restored.text)
    assert.deepEqual(await usageOf(owner), [1, 0, 5, 0])
  })

  test('is recorded as an event and in the audit log, as are purges', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'x', { parentId: folder.id })
    await done(owner, 'DELETE', `/files/${folder.id}`)
    await done(owner, 'POST', `/files/${folder.id}/restore`)
    await done(owner, 'DELETE', `/files/${file.id}`)
    await done(owner, 'POST', `/files/${file.id}/restore`)
    await done(owner, 'DELETE', `/files/${file.id}`)
    await done(owner, 'DELETE', `/files/${file.id}?permanent=true`)
    await done(owner, 'DELETE', `/files/${folder.id}`)
    await done(owner, 'DELETE', '/files/trash')
    const restored = (await recordedEvents(app.db, owner.orgId)).filter(({ type }) => type.endsWith('.restored'))
    assert.deepEqual(
      restored.map(({ type, subjectId, data }) => [type, subjectId, data['restored']]),
      [
        ['folder.restored', folder.id, 1],
        ['file.restored', file.id, undefined],
      ],
    )
    const { items } = await done(owner, 'GET', '/audit-log')
    assert.deepEqual(
      items.map(({ action }: Json) => action).toReversed(),
      'folder.deleted folder.restored file.deleted file.restored file.deleted file.purged folder.deleted trash.emptied'.split(
        ' ',
      ),
    )
  })
})

describe('deleting permanently', () => {
  test('with trashed, a file that was restored meanwhile stays', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'kept', { name: 'kept.txt' })
    await done(owner, 'DELETE', `/files/${file.id}`)
    await done(owner, 'POST', `/files/${file.id}/restore`)
    const path = `/files/${file.id}?permanent=true&trashed=true`
    assert.equal(codeOf(await call(owner, 'DELETE', path)), 'NOT_FOUND')
    assert.equal((await call(owner, 'GET', `/files/${file.id}`)).status, 200)
    assert.equal(codeOf(await call(owner, 'DELETE', `/files/${file.id}?trashed=true`)), 'BAD_REQUEST')
    await done(owner, 'DELETE', `/files/${file.id}`)
    await done(owner, 'DELETE', path)
    assert.equal(codeOf(await call(owner, 'POST', `/files/${file.id}/restore`)), 'NOT_FOUND')
  })

  test('deletes live files without the trash, and trashed ones with their contents, and releases their bytes', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const inside = await upload(app, owner, 'inside', { parentId: folder.id })
    const live = await upload(app, owner, 'live')
    await done(owner, 'DELETE', `/files/${live.id}?permanent=true`)
    await isDeleted(live.storageKey)
    await done(owner, 'DELETE', `/files/${folder.id}`)
    assert.equal(codeOf(await call(owner, 'DELETE', `/files/${folder.id}`)), 'NOT_FOUND')
    assert.equal(codeOf(await call(owner, 'DELETE', `/files/${inside.id}?permanent=true`)), 'NOT_FOUND')
    const answer = await app.call('DELETE', `/api/v1/files/${folder.id}?permanent=true`, {
      as: owner,
      headers: { 'if-match': '"99"' },
    })
    assert.equal(codeOf(answer), 'CONFLICT')
    await done(owner, 'DELETE', `/files/${folder.id}?permanent=true`)
    await isDeleted(inside.storageKey)
    assert.deepEqual(await trashOf(owner), [])
    assert.equal(codeOf(await call(owner, 'DELETE', `/files/${folder.id}?permanent=true`)), 'NOT_FOUND')
  })

  test('keeps bytes while a file in the trash has them, and deletes them with the last one', async () => {
    const owner = await app.createOrg()
    const [one, two] = [await upload(app, owner, 'shared'), await upload(app, owner, 'shared')]
    await done(owner, 'DELETE', `/files/${one.id}`)
    await done(owner, 'DELETE', `/files/${two.id}?permanent=true`)
    await app.settled()
    assert.ok(await isStored(one.storageKey))
    const fresh = await upload(app, owner, 'shared')
    assert.equal(fresh.storageKey, one.storageKey, 'the trash shares its bytes with uploads')
    await done(owner, 'DELETE', `/files/${fresh.id}?permanent=true`)
    await done(owner, 'POST', `/files/${one.id}/restore`)
    await app.settled()
    assert.equal(await bytesOf(owner, one.id), 'shared')
    await done(owner, 'DELETE', `/files/${one.id}?permanent=true`)
    await isDeleted(one.storageKey)
  })

  test('emptying the trash deletes all of it and nothing else', async () => {
    const owner = await app.createOrg()
    const files = [await upload(app, owner, 'a'), await upload(app, owner, 'b')]
    const live = await upload(app, owner, 'c')
    for (const { id } of files) await done(owner, 'DELETE', `/files/${id}`)
    await done(owner, 'DELETE', '/files/trash')
    assert.deepEqual(await trashOf(owner), [])
    assert.deepEqual(await usageOf(owner), [1, 0, 1, 0])
    for (const { storageKey } of files) await isDeleted(storageKey)
    assert.equal(await bytesOf(owner, live.id), 'c')
    await countsAreExact(app, owner.orgId)
  })
})
