import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { countsAreExact, create, createFolder, upload } from '../../../test/support/files.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { until } from '../../../test/support/until.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { releaseUnused } from '../blobs/blobs.ts'
import { isOwnContent } from '../files.ts'
import { deleteDueVersions } from './retention.ts'

const app = await startTestApp()
const { db } = app
const { objects } = app.deps

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, `/api/v1/files${path}`, { as, ...(json ? { json } : {}) })
const put = (as: TestActor, id: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  app.call('PUT', `/api/v1/files/${id}/content`, { as, body, headers })
const overwrite = async (as: TestActor, id: string, body: string | Buffer, headers: Record<string, string> = {}) => {
  const answer = await put(as, id, body, headers)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.file
}
const versionsOf = async (as: TestActor, id: string, query = '') =>
  (await call(as, 'GET', `/${id}/versions${query}`)).body.data
const numbersOf = async (as: TestActor, id: string): Promise<number[]> =>
  (await versionsOf(as, id)).items.map(({ version }: { version: number }) => version)
const bytesOf = async (as: TestActor, id: string): Promise<string> =>
  (await call(as, 'GET', `/${id}?download=true&inline=true`)).text
const versionBytes = (as: TestActor, id: string, version: number) =>
  call(as, 'GET', `/${id}/versions/${version}/content`)
const storedBytes = async (as: TestActor): Promise<number> => {
  const { body } = await app.call('GET', '/api/v1/quotas', { as })
  return body.data.items.find(({ name }: { name: string }) => name === 'storedBytes').used
}
const rejects = async (code: string, asked: Promise<Answer>, message?: RegExp): Promise<void> => {
  const { body, text } = await asked
  assert.equal(body.error?.code, code, text)
  if (message) assert.match(body.error.message, message)
}

describe('overwriting', () => {
  test('replaces the bytes of a file, keeps the former ones as a version, and counts both', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'first', { name: 'notes.txt' })
    const before = await storedBytes(owner)
    const changed = await overwrite(owner, file.id, 'the second', { 'content-type': 'text/markdown' })
    assert.deepEqual(
      [changed.id, changed.name, changed.mimeType, changed.size, changed.version],
      [file.id, 'notes.txt', 'text/markdown', 10, 2],
    )
    assert.notEqual(changed.contentHash, file.contentHash)
    assert.equal(await bytesOf(owner, file.id), 'the second')
    const { body } = await call(owner, 'GET', `/${file.id}/preview`)
    assert.equal(body.data.text, 'the second', 'the preview shows the current version')
    const { items, nextCursor } = await versionsOf(owner, file.id)
    assert.equal(nextCursor, null)
    assert.deepEqual(
      items.map((item: object) => ({ ...item, createdAt: undefined })),
      [
        {
          version: 2,
          isCurrent: true,
          label: null,
          mimeType: 'text/markdown',
          size: 10,
          contentHash: changed.contentHash,
          createdBy: owner.userId,
          createdAt: undefined,
        },
        {
          version: 1,
          isCurrent: false,
          label: null,
          mimeType: 'text/plain',
          size: 5,
          contentHash: file.contentHash,
          createdBy: owner.userId,
          createdAt: undefined,
        },
      ],
    )
    assert.ok(items[0].createdAt > items[1].createdAt)
    const first = await versionBytes(owner, file.id, 1)
    assert.equal(first.text, 'first')
    assert.match(first.headers.get('content-disposition') ?? '', /^attachment; filename="notes.txt"/)
    assert.match(first.headers.get('content-security-policy') ?? '', /sandbox/)
    assert.equal((await versionBytes(owner, file.id, 2)).text, 'the second')
    assert.equal(await storedBytes(owner), before + 10)
    await countsAreExact(app, owner.orgId)
    const types = (await recordedEvents(db, owner.orgId)).map(({ type }) => type)
    assert.deepEqual(types, ['file.created', 'file.updated', 'file.version_created'])
  })

  test('with the same bytes changes nothing, so that a request can be repeated', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'same')
    await overwrite(owner, file.id, 'new')
    const again = await overwrite(owner, file.id, 'new')
    assert.equal(again.version, 2)
    assert.deepEqual(await numbersOf(owner, file.id), [2, 1])
  })

  test('with an outdated If-Match is a CONFLICT that changes nothing, and the ETag of the response is the new one', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'first')
    const tag = (await call(owner, 'GET', `/${file.id}`)).headers.get('etag') ?? ''
    const answer = await put(owner, file.id, 'second', { 'if-match': tag })
    assert.equal(answer.status, 200, answer.text)
    await rejects('CONFLICT', put(owner, file.id, 'third', { 'if-match': tag }))
    assert.equal(await bytesOf(owner, file.id), 'second')
    assert.equal((await call(owner, 'GET', `/${file.id}`)).headers.get('etag'), answer.headers.get('etag'))
    await rejects('CONFLICT', put(owner, file.id, 'third', { 'if-match': '"99"' }))
    await overwrite(owner, file.id, 'third', { 'if-match': answer.headers.get('etag') ?? '' })
  })

  test('at the same time loses nothing: all bytes are versions, and only one request with the same If-Match succeeds', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'v0')
    const contents = Array.from({ length: 8 }, (_, place) => `content ${place}`)
    await Promise.all(contents.map((content) => overwrite(owner, file.id, content)))
    const numbers = await numbersOf(owner, file.id)
    assert.deepEqual(numbers, [9, 8, 7, 6, 5, 4, 3, 2, 1])
    const kept = await Promise.all(numbers.map(async (version) => (await versionBytes(owner, file.id, version)).text))
    assert.deepEqual(kept.toSorted(), ['v0', ...contents].toSorted())
    const tag = (await call(owner, 'GET', `/${file.id}`)).headers.get('etag') ?? ''
    const guarded = await Promise.all(contents.map((content) => put(owner, file.id, content, { 'if-match': tag })))
    // One of them has the current content, and so changes nothing.
    assert.ok(guarded.filter(({ status }) => status === 409).length >= contents.length - 2)
    assert.ok((await numbersOf(owner, file.id)).length <= 10)
    await countsAreExact(app, owner.orgId)
  })

  test('is rejected for folders, links, pending files, other types and sizes, other orgs and keys that may only read', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'text')
    const folder = await createFolder(app, owner, 'f')
    const { file: link } = await create(app, owner, { source: 'link', targetFileId: file.id })
    const pending = await create(app, owner, { name: 'a.txt', mimeType: 'text/plain', size: 1 })
    await rejects('BAD_REQUEST', put(owner, folder.id, 'x'), /A folder has no content/)
    await rejects('BAD_REQUEST', put(owner, link.id, 'x'), /A link has no content/)
    await rejects('CONFLICT', put(owner, pending.file.id, 'x'), /upload URL/)
    await rejects('BAD_REQUEST', put(owner, file.id, 'x', { 'content-type': 'application/x-sh' }))
    await rejects('BAD_REQUEST', put(owner, file.id, 'not a picture', { 'content-type': 'image/png' }))
    await rejects('NOT_FOUND', put(await app.createOrg(), file.id, 'x'))
    await rejects('NOT_FOUND', put(owner, newId(), 'x'))
    await rejects('FORBIDDEN', put(await app.createUser(owner, 'owner', { scopes: ['files:read'] }), file.id, 'x'))
    const anonymous = await app.call('PUT', `/api/v1/files/${file.id}/content`, { body: 'x' })
    assert.equal(anonymous.status, 401, anonymous.text)
    await rejects('FORBIDDEN', app.call('PUT', `/api/v1/files/${file.id}/content?token=`, { as: owner, body: 'x' }))
    assert.deepEqual(await numbersOf(owner, file.id), [1])
    assert.equal(await bytesOf(owner, file.id), 'text')
  })

  test('counts towards the quota of stored bytes, and an overwrite beyond it changes nothing', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'x'.repeat(600))
    await db.execute(sql`
      insert into org_quotas (org_id, name, value) values (${owner.orgId}, 'storedBytes', 1000)`)
    const limited = await app.secondServer({})
    const answer = await limited.call('PUT', `/api/v1/files/${file.id}/content`, { as: owner, body: 'y'.repeat(500) })
    assert.equal(answer.body.error?.code, 'FORBIDDEN', answer.text)
    await limited.call('PUT', `/api/v1/files/${file.id}/content`, { as: owner, body: 'z'.repeat(400) })
    assert.deepEqual(await numbersOf(owner, file.id), [2, 1])
    const restored = await limited.call('POST', `/api/v1/files/${file.id}/versions/1/restore`, { as: owner })
    assert.equal(restored.body.error?.code, 'FORBIDDEN', restored.text)
    await countsAreExact(app, owner.orgId)
  })
})

describe('versions', () => {
  test('a restored version becomes a new one, and the content that the file had stays a version', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'first')
    await overwrite(owner, file.id, 'second')
    const restored = await call(owner, 'POST', `/${file.id}/versions/1/restore`)
    assert.equal(restored.status, 200, restored.text)
    assert.equal(restored.body.data.version, 3)
    assert.equal(await bytesOf(owner, file.id), 'first')
    assert.deepEqual(await numbersOf(owner, file.id), [3, 2, 1])
    assert.equal((await versionBytes(owner, file.id, 2)).text, 'second')
    const [created] = (await recordedEvents(db, owner.orgId))
      .filter(({ type }) => type === 'file.version_created')
      .slice(-1)
    assert.deepEqual([created?.data['version'], created?.data['restoredFrom']], [3, 1])
    await rejects('NOT_FOUND', call(owner, 'POST', `/${file.id}/versions/9/restore`))
    await countsAreExact(app, owner.orgId)
  })

  test('are listed in pages, and a deleted version is gone with its bytes while the file and others stay', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'v1')
    for (const content of ['v2', 'v3', 'v4']) await overwrite(owner, file.id, content)
    const page = await versionsOf(owner, file.id, '?limit=2')
    assert.deepEqual(
      page.items.map(({ version }: { version: number }) => version),
      [4, 3],
    )
    const next = await versionsOf(owner, file.id, `?limit=2&cursor=${page.nextCursor}`)
    assert.deepEqual(
      next.items.map(({ version }: { version: number }) => version),
      [2, 1],
    )
    assert.equal(next.nextCursor, null)
    const before = await storedBytes(owner)
    assert.equal((await call(owner, 'DELETE', `/${file.id}/versions/2`)).status, 200)
    assert.equal(await storedBytes(owner), before - 2)
    await rejects('NOT_FOUND', versionBytes(owner, file.id, 2))
    await rejects('NOT_FOUND', call(owner, 'DELETE', `/${file.id}/versions/2`))
    await rejects('BAD_REQUEST', call(owner, 'DELETE', `/${file.id}/versions/4`), /current version/)
    await releaseUnused(db, objects, owner.orgId)
    let stored = 0
    for await (const _ of objects.list(`${owner.orgId}/`)) stored += 1
    assert.equal(stored, 3)
    await countsAreExact(app, owner.orgId)
  })

  test('go to the trash with their file, return with it, and are deleted with it', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'v1', { parentId: folder.id })
    const lone = await upload(app, owner, 'lone v1')
    await overwrite(owner, file.id, 'v2')
    await overwrite(owner, lone.id, 'lone v2')
    for (const id of [folder.id, lone.id]) await call(owner, 'DELETE', `/${id}`)
    await countsAreExact(app, owner.orgId)
    await releaseUnused(db, objects, owner.orgId)
    for (const id of [folder.id, lone.id]) assert.equal((await call(owner, 'POST', `/${id}/restore`)).status, 200)
    assert.equal((await versionBytes(owner, file.id, 1)).text, 'v1')
    assert.equal((await versionBytes(owner, lone.id, 1)).text, 'lone v1')
    await countsAreExact(app, owner.orgId)
    for (const id of [folder.id, lone.id]) await call(owner, 'DELETE', `/${id}?permanent=true`)
    await countsAreExact(app, owner.orgId)
    assert.equal(await storedBytes(owner), 0)
    await releaseUnused(db, objects, owner.orgId)
    for await (const { key } of objects.list(`${owner.orgId}/`)) assert.fail(`${key} is left`)
    const rows = await db.rows(sql`select 1 from file_versions where org_id = ${owner.orgId}`)
    assert.deepEqual(rows, [])
  })

  test('two concurrent changes of how they are kept, of different fields, are both kept', async () => {
    const owner = await app.createOrg()
    await call(owner, 'PATCH', '/retention', { versionsKept: 5, versionsDays: 5 })
    const locked = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const holding = db.transaction({ orgId: owner.orgId }, async (db) => {
      await db.execute(sql`select from file_retention where org_id = ${owner.orgId} for update`)
      locked.resolve()
      await gate.promise
    })
    await locked.promise
    const changing = [{ versionsKept: 7 }, { versionsDays: 9 }].map((json) => call(owner, 'PATCH', '/retention', json))
    await until('both wait', async () => (await waitingForLocks(db)) >= 2)
    gate.resolve()
    await holding
    for (const { status, text } of await Promise.all(changing)) assert.equal(status, 200, text)
    const { versionsKept, versionsDays } = (await call(owner, 'GET', '/retention')).body.data
    assert.deepEqual({ versionsKept, versionsDays }, { versionsKept: 7, versionsDays: 9 })
  })

  test('beyond the number or the age that an org keeps are deleted, except for those with a label', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'v1')
    const settings = { versionsKept: 2, versionsDays: 10, defaults: { versionsKept: 100, versionsDays: 90 } }
    const changed = await call(owner, 'PATCH', '/retention', { versionsKept: 2, versionsDays: 10 })
    assert.deepEqual(changed.body.data, settings)
    assert.deepEqual((await call(owner, 'GET', '/retention')).body.data, settings)
    await rejects('FORBIDDEN', call(await app.createUser(owner, 'member'), 'PATCH', '/retention', { versionsKept: 9 }))
    const labelled = await call(owner, 'PATCH', `/${file.id}/versions/1`, { label: 'Sent' })
    assert.equal(labelled.body.data.label, 'Sent', labelled.text)
    for (const content of ['v2', 'v3', 'v4', 'v5']) await overwrite(owner, file.id, content)
    assert.deepEqual(await numbersOf(owner, file.id), [5, 4, 3, 1])
    const trashed = await upload(app, owner, 'other')
    await overwrite(owner, trashed.id, 'other 2')
    await call(owner, 'DELETE', `/${trashed.id}`)
    await db.execute(sql`
      update file_versions set replaced_at = now() - interval '11 days'
      where org_id = ${owner.orgId} and number in (1, 3)`)
    await deleteDueVersions(app.deps)
    assert.deepEqual(await numbersOf(owner, file.id), [5, 4, 1], 'the labelled one has no age')
    await call(owner, 'POST', `/${trashed.id}/restore`)
    assert.deepEqual(await numbersOf(owner, trashed.id), [2, 1], 'the trash keeps versions until it lets the file go')
    await deleteDueVersions(app.deps)
    assert.deepEqual(await numbersOf(owner, trashed.id), [2])
    assert.equal((await call(owner, 'PATCH', `/${file.id}/versions/1`, { label: null })).body.data.label, null)
    await deleteDueVersions(app.deps)
    assert.deepEqual(await numbersOf(owner, file.id), [5, 4])
    await countsAreExact(app, owner.orgId)
  })

  test('keep who uploaded them: bytes of another person are not those of the person who named the file', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'member')
    const file = await upload(app, owner, 'mine')
    const actor = { orgId: owner.orgId, userId: owner.userId } as Parameters<typeof isOwnContent>[1]
    assert.equal(await isOwnContent(db, actor, file.id), true)
    await overwrite(other, file.id, 'theirs')
    assert.equal(await isOwnContent(db, actor, file.id), false)
    await overwrite(owner, file.id, 'mine again')
    assert.equal(await isOwnContent(db, actor, file.id), true)
    await call(owner, 'POST', `/${file.id}/versions/2/restore`)
    assert.equal(await bytesOf(owner, file.id), 'theirs')
    assert.equal(await isOwnContent(db, actor, file.id), false, 'restored bytes of another person')
    const { items } = await versionsOf(owner, file.id)
    assert.deepEqual(
      items.map(({ createdBy }: { createdBy: string }) => createdBy === owner.userId),
      [true, true, false, true],
    )
  })

  test('are made by agents that write to a file, and the text that it had stays a version', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'before')
    await createAgent(app, owner, { name: 'Writer', allowedTools: ['files.write'] })
    const session = await openSession(app, owner, { agentId: 'writer' })
    const input = JSON.stringify({ name: 'ignored.txt', text: 'after', fileId: file.id })
    const { turn } = await ask(app, owner, session.id, { text: `/tool files.write ${input}` })
    assert.equal(turn.toolCalls[0].output.version, 2, JSON.stringify(turn.toolCalls[0]))
    assert.equal(await bytesOf(owner, file.id), 'after')
    assert.equal((await versionBytes(owner, file.id, 1)).text, 'before')
    assert.equal((await call(owner, 'GET', `/${file.id}`)).body.data.name, 'file.txt')
  })
})
