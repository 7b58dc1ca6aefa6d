import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import type { Actor } from '../../identity/actor.ts'
import { effectivePermissions } from '../../identity/permissions.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { storeInlineFile } from '../files.ts'

const app = await startTestApp()

const actorOf = ({ orgId, userId, email, workspaceId }: TestActor, scopes: string[] = []): Actor => ({
  orgId,
  orgName: 'Org',
  timeZone: null,
  workspaceIds: [],
  userId,
  userName: 'User',
  email,
  role: 'owner',
  permissions: effectivePermissions('owner', scopes),
  workspaceId,
  apiKey: null,
  origin: null,
})

// The signature is enough: the bytes are not decoded when they are stored.
const png = Buffer.from('\x89PNG\r\n\x1A\n and more', 'latin1')

const listed = async (as: TestActor, parentId?: string) => {
  const query = parentId === undefined ? '' : `?parentId=${parentId}`
  return (await app.call('GET', `/api/v1/files${query}`, { as })).body.data.items
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'no error'
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    return error.code
  }
}

describe('storeInlineFile', () => {
  test('stores the bytes as a file of the user in the folder Chat attachments', async () => {
    const owner = await app.createOrg()
    const stored = await storeInlineFile(app.deps, actorOf(owner), { bytes: png, mimeType: 'image/png', name: 'a.png' })
    const [folder, ...others] = await listed(owner)
    assert.deepEqual([folder.name, folder.source, others], ['Chat attachments', 'folder', []])
    const [file, ...more] = await listed(owner, folder.id)
    assert.deepEqual(more, [])
    assert.deepEqual([file.id, file.createdBy, file.parentId], [stored.fileId, owner.userId, folder.id])
    const expected = { type: 'file', fileId: file.id, name: 'a.png', mimeType: 'image/png', sizeBytes: png.length }
    assert.deepEqual(stored, expected)
    const content = await fetch(`${app.url}/api/v1/files/${file.id}?download=true&inline=true`, {
      headers: { authorization: `Bearer ${owner.key}` },
    })
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), png)
  })

  test('stores the type that the bytes have when the declared type is another one', async () => {
    const actor = actorOf(await app.createOrg())
    const stored = await storeInlineFile(app.deps, actor, { bytes: png, mimeType: 'image/jpeg', name: 'a' })
    assert.equal(stored.mimeType, 'image/png')
  })

  test('creates one folder for requests at the same time, and one file for the same bytes of the same user', async () => {
    const owner = await app.createOrg()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const store = (name: string) =>
      storeInlineFile(app.deps, actorOf(owner), { bytes: png, mimeType: 'image/png', name })
    const first = await Promise.all(names.map(store))
    const again = await Promise.all(names.map(store))
    assert.deepEqual(again, first)
    const folders = await listed(owner)
    assert.equal(folders.length, 1)
    assert.equal((await listed(owner, folders[0].id)).length, names.length)
  })

  test('does not use the file of another user again, nor one that was deleted', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner)
    const file = { bytes: png, mimeType: 'image/png', name: 'a.png' }
    const own = await storeInlineFile(app.deps, actorOf(owner), file)
    const theirs = await storeInlineFile(app.deps, actorOf(other), file)
    assert.notEqual(theirs.fileId, own.fileId)
    assert.equal((await app.call('DELETE', `/api/v1/files/${own.fileId}`, { as: owner })).status, 200)
    const again = await storeInlineFile(app.deps, actorOf(owner), file)
    assert.ok(![own.fileId, theirs.fileId].includes(again.fileId))
  })

  test('stores nothing without the permission files:write, with a bad name, or with bytes of another type', async () => {
    const owner = await app.createOrg()
    const actor = actorOf(owner)
    const reader = actorOf(owner, ['files:read', 'sessions:write'])
    const file = { bytes: png, mimeType: 'image/png', name: 'a.png' }
    const text = Buffer.from('text')
    const store = (as: Actor, changes: Partial<typeof file>) =>
      codeOf(storeInlineFile(app.deps, as, { ...file, ...changes }))
    assert.equal(await store(reader, {}), 'FORBIDDEN')
    assert.equal(await store(actor, { name: '' }), 'BAD_REQUEST')
    assert.equal(await store(actor, { bytes: text, mimeType: 'application/x-msdownload' }), 'BAD_REQUEST')
    assert.deepEqual(await listed(owner), [])
    assert.equal(await store(actor, { bytes: text }), 'BAD_REQUEST')
    const [folder] = await listed(owner)
    assert.deepEqual(await listed(owner, folder.id), [])
  })

  test('stores nothing when the quota of stored bytes is used up', async () => {
    const small = await app.secondServer({ QUOTA_STORED_BYTES: '10' })
    const owner = await app.createOrg()
    const file = { bytes: png, mimeType: 'image/png', name: 'a.png' }
    assert.notEqual(await codeOf(storeInlineFile(small.deps, actorOf(owner), file)), 'no error')
    const [folder] = await listed(owner)
    assert.deepEqual(await listed(owner, folder.id), [])
  })
})
