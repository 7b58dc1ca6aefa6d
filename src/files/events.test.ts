import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { create, createFolder, pathOf, upload } from '../../test/support/files.ts'
import { recordedEvents } from '../../test/support/database/recorded-events.ts'
import type { RecordedEvent } from '../../test/support/database/recorded-events.ts'
import { until } from '../../test/support/until.ts'
import { sql } from '../platform/database/database.ts'
import { removeUnfinished } from './blobs/reconciliation.ts'

const app = await startTestApp()

const eventsOf = ({ orgId }: TestActor): Promise<RecordedEvent[]> => recordedEvents(app.db, orgId)
const typesOf = async (as: TestActor): Promise<string[]> => (await eventsOf(as)).map(({ type }) => type)
const last = async (as: TestActor): Promise<RecordedEvent> => (await eventsOf(as)).at(-1) as RecordedEvent
const change = async (as: TestActor, method: string, path: string, json?: object): Promise<void> => {
  const { status, text } = await app.call(method, `/api/v1${path}`, { as, ...(json ? { json } : {}) })
  assert.equal(status, 200, text)
}

describe('events of files', () => {
  test('reports an upload by its author with the name, type and size of the file, in the log that consumers read', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'Inbox')
    const file = await upload(app, owner, 'hello', { name: 'a.txt', parentId: folder.id })
    const events = await until(
      async () => (await app.call('GET', '/api/v1/events', { as: owner })).body.data.items,
      (items) => items.length === 2,
    )
    const [, created] = events
    assert.deepEqual([created.type, created.subject.id, created.actor.id], ['file.created', file.id, owner.userId])
    assert.deepEqual(created.data, {
      fileId: file.id,
      name: 'a.txt',
      mimeType: 'text/plain',
      sizeBytes: 5,
      parentId: folder.id,
      projectId: null,
      source: 'upload',
      status: 'ready',
    })
  })

  test('reports every one of many uploads at the same time', async () => {
    const owner = await app.createOrg()
    const files = await Promise.all(Array.from({ length: 40 }, (_, i) => upload(app, owner, `text ${i % 5}`)))
    const reported = (await eventsOf(owner)).map(({ subjectId }) => subjectId)
    assert.deepEqual(new Set(reported), new Set(files.map(({ id }) => id)))
    assert.equal(reported.length, files.length)
  })

  test('reports the bytes of a pending file when they are uploaded, once, also when two uploads race', async () => {
    const owner = await app.createOrg()
    const { file, uploadUrl } = await create(app, owner, { name: 'a.txt', mimeType: 'text/plain', size: 5 })
    assert.equal((await last(owner)).data['status'], 'pending')
    const put = () => app.call('PUT', pathOf(app, uploadUrl), { body: 'hello' })
    const answers = await Promise.all([put(), put(), put()])
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409],
    )
    assert.deepEqual(await typesOf(owner), ['file.created', 'file.updated'])
    const updated = await last(owner)
    assert.deepEqual([updated.subjectId, updated.data['changed']], [file.id, ['content']])
    assert.deepEqual([updated.actor.type, updated.actor.name], ['system', 'Upload URL'])
  })

  test('reports the deletion of pending files whose bytes never arrived', async () => {
    const owner = await app.createOrg()
    const pending = await Promise.all(
      ['a.txt', 'b.txt'].map(async (name) => {
        const { file } = await create(app, owner, { name, mimeType: 'text/plain', size: 5 })
        return file.id as string
      }),
    )
    await app.db.execute(sql`
      update files set created_at = now() - interval '3 days' where org_id = ${owner.orgId}`)
    await Promise.all([removeUnfinished(app.db), removeUnfinished(app.db)])
    const deleted = (await eventsOf(owner)).filter(({ type }) => type === 'file.deleted')
    assert.deepEqual(deleted.map(({ subjectId }) => subjectId).toSorted(), pending.toSorted())
  })

  test('reports a deleted folder by one event with the number of its descendants', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'A')
    const inner = await createFolder(app, owner, 'B', folder.id)
    for (let i = 0; i < 3; i += 1) await upload(app, owner, 'x', { parentId: inner.id })
    await change(owner, 'DELETE', `/files/${folder.id}`)
    const events = await eventsOf(owner)
    const deleted = events.filter(({ type }) => type.endsWith('.deleted'))
    assert.deepEqual(
      deleted.map(({ type, subjectId, data }) => [type, subjectId, data['deleted']]),
      [['folder.deleted', folder.id, 4]],
    )
  })

  test('reports one event for a deleted folder with 20,000 descendants', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'A')
    const target = await upload(app, owner, 'x')
    await app.db.execute(sql`
      insert into files (org_id, id, source, target_id, parent_id, name, name_key, created_by)
      select ${owner.orgId}, gen_random_uuid(), 'link', ${target.id}, ${folder.id}, 'f', 'f', ${owner.userId}
      from generate_series(1, 20000)`)
    await change(owner, 'DELETE', `/files/${folder.id}`)
    assert.deepEqual(await typesOf(owner), ['folder.created', 'file.created', 'folder.deleted'])
    assert.equal((await last(owner)).data['deleted'], 20_000)
  })

  test('reports a move with both folders, and a move to the same folder not at all', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'A')
    const file = await upload(app, owner, 'x')
    await change(owner, 'PATCH', `/files/${file.id}`, { parentId: folder.id, name: 'b.txt' })
    const [moved, updated] = (await eventsOf(owner)).slice(-2)
    assert.deepEqual(
      [moved?.type, moved?.data['previousParentId'], moved?.data['parentId'], moved?.data['name']],
      ['file.moved', null, folder.id, 'b.txt'],
    )
    assert.deepEqual([updated?.type, updated?.data['changed']], ['file.updated', ['name']])
    await change(owner, 'PATCH', `/files/${file.id}`, { parentId: folder.id })
    assert.equal((await eventsOf(owner)).length, 4)
  })

  test('reports a project with its folder when it is created, renamed and deleted', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'Launch' } })
    const { id, folderId } = body.data
    await change(owner, 'PATCH', `/projects/${id}`, { instructions: 'Be brief' })
    await change(owner, 'PATCH', `/projects/${id}`, { name: 'Start' })
    await change(owner, 'DELETE', `/projects/${id}`)
    const events = await eventsOf(owner)
    assert.deepEqual(
      events.map(({ type, subjectId }) => [type, subjectId === id ? 'project' : subjectId === folderId && 'folder']),
      [
        ['folder.created', 'folder'],
        ['project.created', 'project'],
        ['project.updated', 'project'],
        ['folder.updated', 'folder'],
        ['project.updated', 'project'],
        ['folder.deleted', 'folder'],
        ['project.deleted', 'project'],
      ],
    )
    assert.ok(!JSON.stringify(events.map(({ data }) => data)).includes('Be brief'), 'without the instructions')
  })
})
