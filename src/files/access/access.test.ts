import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  create,
  createFolder,
  grantTo,
  guardsAreExact,
  putAccess,
  restrict,
  upload,
} from '../../../test/support/files.ts'
import type { Grant } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

const app = await startTestApp({ RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_UPLOADS: '0' })
const api = '/api/v1'

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, api + path, { as, ...(json === undefined ? {} : { json }) })
const get = (as: TestActor, id: string) => call(as, 'GET', `/files/${id}`)
const statusOf = async (as: TestActor, id: string): Promise<number> => (await get(as, id)).status
const done = async (asked: Promise<Answer>) => {
  const { status, body, text } = await asked
  assert.ok(status < 300, text)
  return body?.data
}
const rejects = async (code: string, asked: Promise<Answer>): Promise<string> => {
  const { body, text } = await asked
  assert.equal(body.error?.code, code, text)
  return body.error.message
}

const owner = await app.createOrg()
const [member, other] = [await app.createUser(owner), await app.createUser(owner)]
const admin = await app.createUser(owner, 'admin')
const folderOf = (as: TestActor, parentId?: string) => createFolder(app, as, `folder ${newId()}`, parentId)

describe('the access of a folder', () => {
  test('lists grants with names, those of the folders that contain it, and what the caller may do', async () => {
    const outer = await folderOf(owner)
    const inner = await folderOf(owner, outer.id)
    const file = await upload(app, owner, 'x', { parentId: inner.id })
    const role: Grant = { kind: 'role', subject: 'admin', access: 'write' }
    await restrict(app, owner, outer.id, [role, grantTo(member, 'read')])
    const access = await restrict(app, owner, inner.id, [grantTo(member, 'write')])
    const grants = [{ ...grantTo(member, 'write'), name: 'User' }]
    const inherited = [
      {
        folderId: outer.id,
        name: outer.name,
        grants: [
          { ...role, name: 'Admins' },
          { ...grantTo(member, 'read'), name: 'User' },
        ],
      },
    ]
    assert.deepEqual(
      {
        ...access,
        inherited: access.inherited.map((one: { grants: Grant[] }) => ({
          ...one,
          grants: one.grants.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
        })),
      },
      { restricted: true, grants, inherited, access: 'write', canManage: true },
    )
    const ofFile = await done(call(member, 'GET', `/files/${file.id}/access`))
    assert.deepEqual(
      [ofFile.restricted, ofFile.grants, ofFile.inherited.map(({ folderId }: { folderId: string }) => folderId)],
      [false, [], [outer.id, inner.id]],
    )
    // Read of the outer folder and write of the inner one: the least of both.
    assert.deepEqual([ofFile.access, ofFile.canManage], ['read', false])
    assert.equal(await statusOf(admin, inner.id), 404)
    assert.equal(await statusOf(admin, outer.id), 200)
    await guardsAreExact(app, owner.orgId)
  })

  test('is shown by `restricted` of the record, which changes its ETag, and obeys If-Match', async () => {
    const folder = await folderOf(owner)
    const before = await get(owner, folder.id)
    assert.equal(before.body.data.restricted, false)
    const etag = before.headers.get('etag') ?? ''
    await restrict(app, owner, folder.id)
    const after = await get(owner, folder.id)
    assert.equal(after.body.data.restricted, true)
    assert.notEqual(after.headers.get('etag'), etag)
    const { items } = await done(call(owner, 'GET', `/files?search=${encodeURIComponent(folder.name)}`))
    assert.equal(items[0].restricted, true)
    const path = `${api}/files/${folder.id}/access`
    const stale = await app.call('PUT', path, { as: owner, json: { restricted: false }, headers: { 'if-match': etag } })
    assert.equal(stale.status, 409)
    const file = await upload(app, owner, 'x')
    assert.equal('restricted' in (await get(owner, file.id)).body.data, false)
  })

  test('is changed by owners, admins and the creator, as long as they keep write access', async () => {
    const folder = await folderOf(member)
    await rejects(
      'FORBIDDEN',
      putAccess(app, other, folder.id, { restricted: true, grants: [grantTo(other, 'write')] }),
    )
    for (const grants of [[], [grantTo(member, 'read')], [grantTo(other, 'write')]]) {
      assert.match(
        await rejects('BAD_REQUEST', putAccess(app, member, folder.id, { restricted: true, grants })),
        /keep your own access/,
      )
    }
    assert.equal((await get(other, folder.id)).body.data.restricted, false, 'nothing was changed')
    await restrict(app, member, folder.id, [grantTo(member, 'write'), grantTo(other, 'write')])
    await rejects('FORBIDDEN', putAccess(app, other, folder.id, { restricted: false }))
    await rejects('NOT_FOUND', putAccess(app, admin, folder.id, { restricted: false }))
    // Nobody is locked out for good.
    await restrict(app, owner, folder.id, [{ kind: 'role', subject: 'admin', access: 'write' }])
    assert.equal(await statusOf(member, folder.id), 404)
    await done(putAccess(app, admin, folder.id, { restricted: false }))
    assert.equal(await statusOf(other, folder.id), 200)
  })

  test('rejects grants that are not possible, and what is not a folder', async () => {
    const folder = await folderOf(owner)
    const stranger = await app.createOrg()
    const grant = (kind: Grant['kind'], subject: string): Grant => ({ kind, subject, access: 'read' })
    const wrong: Grant[][] = [
      [grant('user', stranger.userId)],
      [grant('user', 'nobody')],
      [grant('workspace', stranger.workspaceId)],
      [grant('role', 'owner')],
      [grant('role', 'constructor')],
      [grant('role', 'member'), grant('role', 'member')],
    ]
    for (const grants of wrong)
      await rejects('BAD_REQUEST', putAccess(app, owner, folder.id, { restricted: true, grants }))
    const many = Array.from({ length: 101 }, () => grant('user', newId()))
    const tooMany = await putAccess(app, owner, folder.id, { restricted: true, grants: many })
    assert.equal(tooMany.status, 400, tooMany.text)
    await rejects(
      'BAD_REQUEST',
      putAccess(app, owner, folder.id, { restricted: false, grants: [grant('role', 'admin')] }),
    )
    const file = await upload(app, owner, 'x')
    await rejects('BAD_REQUEST', putAccess(app, owner, file.id, { restricted: true }))
    const workspace = await done(call(owner, 'POST', '/workspaces', { name: newId() }))
    const mine = await folderOf(member)
    const grants = [grantTo(member, 'write'), grant('workspace', workspace.id)]
    await rejects('BAD_REQUEST', putAccess(app, member, mine.id, { restricted: true, grants }))
    assert.equal((await get(owner, folder.id)).body.data.restricted, false)
  })

  test('is recorded in the audit log and as an event', async () => {
    const folder = await folderOf(owner)
    await restrict(app, owner, folder.id, [grantTo(member, 'read')])
    const { items } = await done(call(owner, 'GET', '/audit-log?limit=5'))
    const entry = items.find(({ action }: { action: string }) => action === 'folder.access-changed')
    assert.deepEqual([entry.resource.id, entry.details.restricted], [folder.id, true])
    const [event] = await app.db.rows<{ data: { restricted: boolean } }>(sql`
      select data from event_outbox where org_id = ${owner.orgId} and type = 'folder.access_changed' and subject_id = ${folder.id}
      union all
      select data from events where org_id = ${owner.orgId} and type = 'folder.access_changed' and subject_id = ${folder.id}`)
    assert.equal(event?.data.restricted, true)
  })
})

describe('grants', () => {
  test('to a workspace and to a role follow who is in them, at once', async () => {
    const workspace = await done(call(owner, 'POST', '/workspaces', { name: newId() }))
    const folder = await folderOf(owner)
    await restrict(app, owner, folder.id, [{ kind: 'workspace', subject: workspace.id, access: 'write' }])
    assert.equal(await statusOf(member, folder.id), 404)
    await done(call(owner, 'POST', `/workspaces/${workspace.id}/members`, { userId: member.userId }))
    assert.equal(await statusOf(member, folder.id), 200)
    await done(call(member, 'PATCH', `/files/${folder.id}`, { tags: ['a'] }))
    await done(call(owner, 'DELETE', `/workspaces/${workspace.id}/members/${member.userId}`))
    assert.equal(await statusOf(member, folder.id), 404)

    const person = await app.createUser(owner)
    await restrict(app, owner, folder.id, [{ kind: 'role', subject: 'billing_manager', access: 'read' }])
    assert.equal(await statusOf(person, folder.id), 404)
    const { items } = await done(call(owner, 'GET', '/members?limit=100'))
    const { id } = items.find(({ userId }: { userId: string }) => userId === person.userId)
    const setRole = async (role: string) =>
      done(app.call('PATCH', `${api}/members/${id}`, { as: owner, json: { role }, headers: await app.stepUp(owner) }))
    await setRole('billing_manager')
    assert.equal(await statusOf(person, folder.id), 200)
    await setRole('member')
    assert.equal(await statusOf(person, folder.id), 404)
  })

  test('vanish with the workspace, and with a person who leaves the org and comes back', async () => {
    const workspace = await done(call(owner, 'POST', '/workspaces', { name: newId() }))
    const person = await app.createUser(owner)
    await done(call(owner, 'POST', `/workspaces/${workspace.id}/members`, { userId: person.userId }))
    const folder = await folderOf(owner)
    await restrict(app, owner, folder.id, [
      { kind: 'workspace', subject: workspace.id, access: 'read' },
      grantTo(person, 'read'),
      grantTo(other, 'read'),
    ])
    const path = `${api}/workspaces/${workspace.id}`
    await done(app.call('DELETE', path, { as: owner, headers: await app.stepUp(owner) }))
    const { items } = await done(call(owner, 'GET', '/members?limit=100'))
    const { id } = items.find(({ userId }: { userId: string }) => userId === person.userId)
    await done(call(owner, 'DELETE', `/members/${id}`))
    const { grants } = await done(call(owner, 'GET', `/files/${folder.id}/access`))
    assert.deepEqual(
      grants.map(({ subject }: Grant) => subject),
      [other.userId],
    )
    const left = await app.db.rows(
      sql`select id from folder_grants where org_id = ${owner.orgId} and folder_id = ${folder.id}`,
    )
    assert.equal(left.length, 1)
  })
})

describe('the tree', () => {
  test('a folder that is moved into, within and out of restricted folders has their restrictions', async () => {
    const [hidden, nested, open] = [await folderOf(owner), await folderOf(owner), await folderOf(owner)]
    await restrict(app, owner, hidden.id, [grantTo(other, 'write')])
    const inside = await folderOf(owner, nested.id)
    const file = await upload(app, owner, 'x', { parentId: inside.id })
    await restrict(app, owner, inside.id, [grantTo(member, 'read'), grantTo(other, 'read')])
    const move = (parentId: string | null) => done(call(owner, 'PATCH', `/files/${nested.id}`, { parentId }))
    const seen = async () => [
      await statusOf(member, nested.id),
      await statusOf(member, file.id),
      await statusOf(other, file.id),
    ]
    assert.deepEqual(await seen(), [200, 200, 200])
    await move(hidden.id)
    assert.deepEqual(await seen(), [404, 404, 200])
    await guardsAreExact(app, owner.orgId)
    await move(open.id)
    assert.deepEqual(await seen(), [200, 200, 200])
    await done(putAccess(app, owner, inside.id, { restricted: false }))
    await move(hidden.id)
    await done(putAccess(app, owner, hidden.id, { restricted: false }))
    assert.deepEqual(await seen(), [200, 200, 200])
    await guardsAreExact(app, owner.orgId)
    const [left] = await app.db.rows(
      sql`select 1 from files where org_id = ${owner.orgId} and id = ${file.id} and guards is not null`,
    )
    assert.equal(left, undefined)
  })

  test('what was deleted out of a folder is hidden in the trash when the folder is restricted later', async () => {
    const folder = await folderOf(owner)
    const inner = await folderOf(owner, folder.id)
    const file = await upload(app, owner, 'x', { name: `${newId()}.txt`, parentId: inner.id })
    const sub = await folderOf(owner, inner.id)
    await upload(app, owner, 'x', { parentId: sub.id })
    for (const id of [file.id, sub.id, inner.id]) await done(call(owner, 'DELETE', `/files/${id}`))
    const trash = async (as: TestActor): Promise<string[]> =>
      (await done(call(as, 'GET', '/files?trashed=true&limit=100'))).items.map(({ id }: { id: string }) => id)
    assert.ok((await trash(member)).includes(file.id))
    await restrict(app, owner, folder.id, [grantTo(other, 'write')])
    const hidden = await trash(member)
    assert.deepEqual(
      hidden.filter((id) => [file.id, sub.id, inner.id].includes(id)),
      [],
    )
    await rejects('NOT_FOUND', call(member, 'POST', `/files/${file.id}/restore`))
    await guardsAreExact(app, owner.orgId)

    // Its folder is in the trash, so it would return to the root, where everybody sees it.
    await rejects('CONFLICT', call(other, 'POST', `/files/${file.id}/restore`))
    await done(call(other, 'POST', `/files/${inner.id}/restore`))
    await done(call(other, 'POST', `/files/${file.id}/restore`))
    assert.equal(await statusOf(member, file.id), 404)
    assert.equal(await statusOf(other, file.id), 200)
    await done(call(owner, 'DELETE', `/files/${folder.id}`))
    const restored = await done(call(owner, 'POST', `/files/${sub.id}/restore`))
    assert.equal(restored.parentId, null)
    assert.equal(await statusOf(member, sub.id), 200, 'an owner restored it to the root')
    await guardsAreExact(app, owner.orgId)
  })

  test('a restricted folder stays restricted in the trash and when it returns', async () => {
    const folder = await folderOf(owner)
    const file = await upload(app, owner, 'x', { parentId: folder.id })
    await restrict(app, owner, folder.id, [grantTo(other, 'write')])
    await done(call(other, 'DELETE', `/files/${folder.id}`))
    await rejects('NOT_FOUND', call(member, 'POST', `/files/${folder.id}/restore`))
    await done(call(other, 'POST', `/files/${folder.id}/restore`))
    assert.deepEqual([await statusOf(member, file.id), await statusOf(other, file.id)], [404, 200])
  })

  test('files of requests go to another folder when that for attachments is not open to the sender', async () => {
    const org = await app.createOrg()
    const person = await app.createUser(org)
    const bytes = Buffer.from('hello').toString('base64')
    const send = (as: TestActor) =>
      app.call('POST', '/api/openai/v1/chat/completions', {
        as,
        json: {
          model: 'agent/assistant',
          messages: [
            {
              role: 'user',
              content: [{ type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${bytes}` } }],
            },
          ],
        },
      })
    assert.equal((await send(org)).status, 200)
    const folders = async () => (await done(call(org, 'GET', '/files?search=attachments'))).items as { id: string }[]
    const [first] = await folders()
    await restrict(app, org, first?.id ?? '')
    assert.equal((await send(person)).status, 200)
    assert.equal((await folders()).length, 2)
  })

  test('a link shows its target to those with access to it only', async () => {
    const folder = await folderOf(owner)
    const target = await upload(app, owner, 'words', { parentId: folder.id })
    const { file: link } = await create(app, owner, { source: 'link', targetFileId: target.id, name: 'link' })
    await restrict(app, owner, folder.id, [grantTo(other, 'read')])
    assert.equal((await get(member, link.id)).body.data.targetFileId, null)
    assert.equal((await get(other, link.id)).body.data.targetFileId, target.id)
    const content = (as: TestActor) => call(as, 'GET', `/files/${link.id}?download=true&inline=true`)
    assert.deepEqual([(await content(member)).status, (await content(other)).text], [404, 'words'])
  })
})

test('a point read of a file outside of restricted folders sends as many statements as before restrictions', async () => {
  const folder = await folderOf(owner)
  await restrict(app, owner, folder.id)
  const file = await upload(app, owner, 'x')
  await get(member, file.id)
  const sent: string[] = []
  const { lookUp, row, rows } = app.db.hot
  const hot = app.db.hot as { lookUp: typeof lookUp; row: typeof row; rows: typeof rows }
  hot.lookUp = (...given) => (sent.push('lookUp'), lookUp(...given))
  hot.row = (statement) => (sent.push(statement.text), row(statement))
  try {
    assert.equal(await statusOf(member, file.id), 200)
  } finally {
    Object.assign(hot, { lookUp, row, rows })
  }
  assert.equal(sent.filter((text) => text === 'lookUp').length, 1)
  assert.deepEqual(
    sent.filter((text) => /folder_grants|restricted_folders/.test(text)),
    [],
  )
})
