import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countsAreExact, create, createFolder, leavesNothing, restrict, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { newId } from '../../platform/ids.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stranger = await app.createOrg()

const call = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
  app.call(method, `/api/v1${path}`, { as: owner, headers, ...(json === undefined ? {} : { json }) })
const project = async (name: string, more: Record<string, unknown> = {}) => {
  const { status, body, text } = await call('POST', '/projects', { name, ...more })
  assert.equal(status, 201, text)
  return body.data
}
const codeOf = ({ status, body }: Answer): string => body.error?.code ?? String(status)

describe('projects', () => {
  test('creating a project creates a protected folder of the same name in the root folder', async () => {
    const made = await project('Mars Émile', { description: 'd', instructions: 'i' })
    assert.deepEqual(
      { ...made, id: '', folderId: '', createdAt: '', updatedAt: '' },
      {
        id: '',
        name: 'Mars Émile',
        slug: 'mars-emile',
        description: 'd',
        instructions: 'i',
        folderId: '',
        createdAt: '',
        updatedAt: '',
      },
    )
    const folder = (await call('GET', `/files/${made.folderId}`)).body.data
    assert.deepEqual(
      [folder.name, folder.source, folder.isProtected, folder.parentId, folder.projectId],
      ['Mars Émile', 'folder', true, null, made.id],
    )
    assert.deepEqual((await call('GET', `/projects/${made.id}`)).body.data, made)
  })

  test('projects of the same name get different slugs, even when they are created at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => project('Same name')))
    assert.deepEqual(made.map(({ slug }): string => slug).toSorted(), [
      'same-name',
      'same-name-2',
      'same-name-3',
      'same-name-4',
      'same-name-5',
      'same-name-6',
    ])
  })

  test('the slug of a project does not tell whether a project that is closed to its creator has the same name', async () => {
    const org = await app.createOrg()
    const member = await app.createUser(org)
    const make = async (as: TestActor, name: string) => {
      const { body, text } = await app.call('POST', '/api/v1/projects', { as, json: { name } })
      assert.ok(body.success, text)
      return body.data
    }
    const hidden = await make(org, 'Merger')
    await restrict(app, org, hidden.folderId)
    assert.match((await make(member, 'Merger')).slug, /^merger-[0-9a-f]{6}$/)
    assert.match((await make(member, 'Picnic')).slug, /^picnic-[0-9a-f]{6}$/)
    assert.equal((await make(org, 'Merger')).slug, 'merger-2')
  })

  test('projects are listed oldest first and paged by cursor', async () => {
    const org = await app.createOrg()
    const made: string[] = []
    for (const name of ['one', 'two', 'three']) {
      made.push((await app.call('POST', '/api/v1/projects', { as: org, json: { name } })).body.data.id)
    }
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body }: Answer = await app.call('GET', `/api/v1/projects?limit=2${cursor && `&cursor=${cursor}`}`, {
        as: org,
      })
      seen.push(...body.data.items.map(({ id }: { id: string }) => id))
      cursor = body.data.nextCursor
    }
    assert.deepEqual(seen, made)
  })

  for (const [what, json] of [
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['LF in the name', { name: 'a\nb' }],
    ['a description of 5,001 characters', { name: 'x', description: 'x'.repeat(5_001) }],
    ['instructions of 20,001 characters', { name: 'x', instructions: 'x'.repeat(20_001) }],
  ] as const) {
    test(`creating a project rejects ${what} and leaves no folder behind`, async () => {
      await leavesNothing(app, 'BAD_REQUEST', () => call('POST', '/projects', json))
    })
  }

  test('renaming a project renames its folder, keeps its slug and changes its ETag', async () => {
    const made = await project('Before')
    const etag = (await call('GET', `/projects/${made.id}`)).headers.get('etag') ?? ''
    const renamed = await call('PATCH', `/projects/${made.id}`, { name: 'After' }, { 'if-match': etag })
    assert.deepEqual([renamed.body.data.name, renamed.body.data.slug], ['After', 'before'])
    assert.equal((await call('GET', `/files/${made.folderId}`)).body.data.name, 'After')
    assert.equal(codeOf(await call('PATCH', `/projects/${made.id}`, { name: 'x' }, { 'if-match': etag })), 'CONFLICT')
    assert.equal(codeOf(await call('DELETE', `/projects/${made.id}`, undefined, { 'if-match': etag })), 'CONFLICT')
    const cleared = await call('PATCH', `/projects/${made.id}`, { description: 'x', instructions: null })
    assert.deepEqual([cleared.body.data.description, cleared.body.data.name], ['x', 'After'])
    const before = (await call('GET', `/projects/${made.id}`)).headers.get('etag')
    for (const json of [{}, { colour: 'red' }, { name: '   ' }]) {
      assert.equal(codeOf(await call('PATCH', `/projects/${made.id}`, json)), 'BAD_REQUEST', JSON.stringify(json))
    }
    assert.equal((await call('GET', `/projects/${made.id}`)).headers.get('etag'), before)
    assert.equal(codeOf(await call('POST', '/projects', { name: ' \t ' })), 'BAD_REQUEST')
  })

  test('deleting a project deletes its files', async () => {
    const made = await project('Doomed')
    const file = await upload(app, owner, 'x', { projectId: made.id })
    const { status, body } = await call('DELETE', `/projects/${made.id}`)
    assert.deepEqual([status, body.data], [200, { deleted: true }])
    for (const path of [`/projects/${made.id}`, `/files/${made.folderId}`, `/files/${file.id}`]) {
      assert.equal(codeOf(await call('GET', path)), 'NOT_FOUND')
    }
    assert.equal(codeOf(await call('GET', `/files?projectId=${made.id}`)), 'NOT_FOUND')
    await countsAreExact(app, owner.orgId)
  })

  test('projects of other orgs, deleted, missing and malformed ids get byte-identical responses', async () => {
    const foreign = (await app.call('POST', '/api/v1/projects', { as: stranger, json: { name: 'x' } })).body.data
    const deleted = await project('deleted')
    await call('DELETE', `/projects/${deleted.id}`)
    const texts = new Set<string>()
    for (const id of [foreign.id, deleted.id, newId(), 'nonsense']) {
      for (const [method, json] of [
        ['GET', undefined],
        ['PATCH', { name: 'mine' }],
        ['DELETE', undefined],
      ] as const) {
        const response = await call(method, `/projects/${id}`, json)
        assert.equal(response.status, 404)
        texts.add(response.text)
      }
    }
    assert.deepEqual([...texts], ['{"success":false,"error":{"code":"NOT_FOUND","message":"Project not found"}}'])
  })

  test('projects require the permissions projects:read and projects:write', async () => {
    const reader = await app.createUser(owner, 'member', { scopes: ['projects:read'] })
    assert.equal((await app.call('GET', '/api/v1/projects', { as: reader })).status, 200)
    assert.equal(codeOf(await app.call('POST', '/api/v1/projects', { as: reader, json: { name: 'x' } })), 'FORBIDDEN')
    assert.equal(codeOf(await app.call('GET', '/api/v1/files', { as: reader })), 'FORBIDDEN')
  })
})

describe("a project's folder", () => {
  test("renaming, moving or deleting a project's folder is FORBIDDEN and changes nothing", async () => {
    const made = await project('Protected')
    const other = await createFolder(app, owner, 'other')
    const before = (await call('GET', `/files/${made.folderId}`)).body.data
    for (const json of [
      { name: 'x' },
      { name: 'Protected' },
      { parentId: other.id },
      { parentId: null },
      { parentId: newId() },
      { name: 'x', tags: [] },
    ]) {
      assert.equal(codeOf(await call('PATCH', `/files/${made.folderId}`, json)), 'FORBIDDEN')
    }
    assert.equal(codeOf(await call('DELETE', `/files/${made.folderId}`)), 'FORBIDDEN')
    assert.deepEqual((await call('GET', `/files/${made.folderId}`)).body.data, before)
    assert.equal((await call('PATCH', `/files/${made.folderId}`, { tags: ['may be tagged'] })).status, 200)
  })

  test("every kind of upload with a projectId goes into the project's folder", async () => {
    const made = await project('Target')
    const sent = [
      await upload(app, owner, 'x', { projectId: made.id }),
      (await create(app, owner, { name: 'a', mimeType: 'text/plain', size: 1, projectId: made.id })).file,
      (await create(app, owner, { source: 'folder', name: 'sub', projectId: made.id })).file,
    ]
    sent.push((await create(app, owner, { source: 'link', targetFileId: sent[0].id, projectId: made.id })).file)
    const inner = await upload(app, owner, 'y', { projectId: made.id, parentId: sent[2].id })
    assert.deepEqual([inner.parentId, inner.projectId], [sent[2].id, made.id])
    for (const file of sent) assert.deepEqual([file.parentId, file.projectId], [made.folderId, made.id])
    const { body } = await call('GET', `/files?projectId=${made.id}`)
    assert.equal(body.data.total, 4)
    assert.equal(
      (await call('GET', `/files?projectId=${made.id}&parentId=${sent[2].id}`)).body.data.items[0].id,
      inner.id,
    )
    assert.equal((await call('GET', `/files?projectId=${made.id}&parentId=${made.folderId}`)).body.data.total, 4)
  })

  test("parentId must lie in the project's folder when both are sent", async () => {
    const [made, other] = [await project('One'), await project('Two')]
    const outside = await createFolder(app, owner, 'outside')
    const json = { name: 'a', mimeType: 'text/plain', size: 1, projectId: made.id }
    for (const parentId of [outside.id, other.folderId]) {
      await leavesNothing(app, 'BAD_REQUEST', () => call('POST', '/files', { ...json, parentId }))
      assert.equal(codeOf(await call('GET', `/files?projectId=${made.id}&parentId=${parentId}`)), 'BAD_REQUEST')
    }
  })

  test('a project and its folder are found by ids in any case', async () => {
    const made = await project('Any case')
    const [projectId, parentId] = [made.id.toUpperCase(), made.folderId.toUpperCase()]
    const folder = await call('POST', '/files', { source: 'folder', name: 'inside', projectId, parentId })
    assert.equal(folder.body.data?.file.projectId, made.id)
    const pending = await call('POST', '/files', { name: 'a', mimeType: 'text/plain', size: 1, projectId })
    assert.equal(pending.body.data?.file.parentId, made.folderId)
    const { body } = await call('GET', `/files?projectId=${projectId}&parentId=${parentId}`)
    assert.equal(body.data?.total, 2)
  })

  test("files moved into a project's folder join the project, and those moved out leave it, with all contents of folders", async () => {
    const made = await project('Belonging')
    const sub = await createFolder(app, owner, 'sub', made.folderId)
    const file = await upload(app, owner, 'z', { parentId: sub.id })
    assert.equal(file.projectId, made.id)
    const projectOf = async (id: string) => (await call('GET', `/files/${id}`)).body.data.projectId
    await call('PATCH', `/files/${sub.id}`, { parentId: null })
    assert.deepEqual([await projectOf(sub.id), await projectOf(file.id)], [null, null])
    const other = await project('Other')
    await call('PATCH', `/files/${sub.id}`, { parentId: other.folderId })
    assert.deepEqual([await projectOf(sub.id), await projectOf(file.id)], [other.id, other.id])
    await call('PATCH', `/files/${file.id}`, { parentId: made.folderId })
    assert.equal(await projectOf(file.id), made.id)
  })

  test('a file that is added while its folder moves to another project ends up in that project', async () => {
    const made = await project('Racing')
    for (let round = 0; round < 10; round += 1) {
      const sub = await createFolder(app, owner, 'sub')
      const deep = await createFolder(app, owner, 'deep', sub.id)
      const [, ...files] = await Promise.all([
        call('PATCH', `/files/${sub.id}`, { parentId: made.folderId }),
        upload(app, owner, `a${round}`, { parentId: deep.id }),
        upload(app, owner, `b${round}`, { parentId: sub.id }),
      ])
      for (const { id } of files) {
        assert.equal((await call('GET', `/files/${id}`)).body.data.projectId, made.id)
      }
    }
  })

  test('no file that is uploaded while its project is deleted survives', async () => {
    for (let round = 0; round < 6; round += 1) {
      const made = await project(`Racing ${round}`)
      const [deleted, ...uploads] = await Promise.all([
        call('DELETE', `/projects/${made.id}`),
        ...Array.from({ length: 4 }, (_, index) =>
          call('POST', '/files', { name: `f${index}`, mimeType: 'text/plain', size: 1, projectId: made.id }),
        ),
      ])
      assert.equal(deleted.status, 200)
      for (const response of uploads) {
        assert.ok(['201', 'NOT_FOUND'].includes(codeOf(response)), response.text)
        if (response.status === 201)
          assert.equal((await call('GET', `/files/${response.body.data.file.id}`)).status, 404)
      }
    }
    await countsAreExact(app, owner.orgId)
  })
})
