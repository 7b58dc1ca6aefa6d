// A file in the trash is not found by any route or tool, except those of the trash itself.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import type { Answer, TestActor } from '../harness.ts'
import { ask, createAgent, openSession } from '../support/chat.ts'
import { create, createFolder, pathOf as pathOfUrl, sendForm, upload } from '../support/files.ts'
import { bodies, factoryOf } from './resources.ts'
import { bodySchemaOf, pathOf, querySchemaOf, routesOf, sampleOf, takesFiles } from './route-list.ts'

const app = await startTestApp()
const routes = routesOf(app.app)
const api = '/api/v1'

/** What the sweep asks about: a file, a folder with a file in it, all in the trash, and a link to the file. */
interface Trashed {
  owner: TestActor
  fileId: string
  folderId: string
  /** In the folder, so it was deleted with it. */
  insideId: string
  linkId: string
}

const words = 'quarterly zebra report'

const trashSome = async (): Promise<Trashed> => {
  const owner = await app.createOrg()
  const file = await upload(app, owner, words, { name: 'zebra.txt' })
  const folder = await createFolder(app, owner, 'zebra folder')
  const inside = await upload(app, owner, words, { name: 'zebra inside.txt', parentId: folder.id })
  const link = (await create(app, owner, { source: 'link', targetFileId: file.id, name: 'a link' })).file
  for (const { id } of [file, folder]) {
    assert.equal((await app.call('DELETE', `${api}/files/${id}`, { as: owner })).status, 200)
  }
  return { owner, fileId: file.id, folderId: folder.id, insideId: inside.id, linkId: link.id }
}

const restoreAll = async ({ owner, fileId, folderId }: Trashed): Promise<void> => {
  for (const id of [fileId, folderId]) {
    const { status, text } = await app.call('POST', `${api}/files/${id}/restore`, { as: owner })
    assert.equal(status, 200, text)
  }
}

const visible = ({ status, text, headers }: Answer) => ({
  status,
  text,
  fields: JSON.stringify([...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))),
})

const withFileId = [
  `${api}/files/:id`,
  `${api}/files/:id/access`,
  `${api}/files/:id/versions/:version`,
  `${api}/files/:id/shares/:shareId`,
  '/api/openai/v1/files/:id',
]

/** Routes of the trash, and public routes, whose signed URLs are tested below. */
const ofTrash = [
  'POST /api/v1/files/:id/restore',
  // The shares of a file in the trash can be listed and revoked.
  'GET /api/v1/files/:id/shares',
  'DELETE /api/v1/files/:id/shares/:shareId',
]
const byId = routes.filter(
  ({ url, name, access }) =>
    withFileId.includes(factoryOf(url) ?? '') && access !== 'public' && !ofTrash.includes(name),
)

describe('routes with the id of a file', () => {
  test('the sweep covers more than 5 routes', () => assert.ok(byId.length > 5))

  for (const route of byId) {
    test(`${route.name} answers for files and folders in the trash as for a missing one`, async () => {
      const trashed = await trashSome()
      const schema = bodySchemaOf(route)
      const json = bodies[route.name] ?? (schema === undefined ? undefined : sampleOf(schema))
      const queries = ['']
      if (route.method === 'GET' && 'download' in (querySchemaOf(route)?.properties ?? {})) {
        queries.push('?download=true', '?download=true&inline=true')
      }
      for (const query of queries) {
        const request = async (id: string) =>
          visible(
            await app.call(route.method, pathOf(route.url, { id, version: '1', shareId: newId() }) + query, {
              as: trashed.owner,
              ...(json === undefined ? {} : { json }),
            }),
          )
        const missing = await request(newId())
        assert.equal(missing.status, 404, missing.text)
        for (const id of [trashed.fileId, trashed.folderId, trashed.insideId]) {
          assert.deepEqual(await request(id), missing, query)
        }
      }
      await restoreAll(trashed)
    })
  }
})

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, path, { as, ...(json === undefined ? {} : { json }) })
const mcp = async (as: TestActor, method: string, params: object): Promise<string> =>
  (await call(as, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })).text

const rejects = async (code: string, asked: Promise<Answer>): Promise<void> => {
  const { body, text } = await asked
  assert.equal(body.error?.code, code, text)
}
/** A link keeps the id of its target. */
const hides = (answer: string, trashed: Trashed): void => {
  const text = answer.replace(`"targetFileId":"${trashed.fileId}"`, '')
  for (const id of [trashed.fileId, trashed.folderId, trashed.insideId]) assert.ok(!text.includes(id), text)
}
const hiddenIn = async (trashed: Trashed, path: string): Promise<void> => {
  const { status, text } = await call(trashed.owner, 'GET', path)
  assert.equal(status, 200, text)
  hides(text, trashed)
}
const textForm = (parentId: string) => [
  { name: 'file', filename: 'a.txt', type: 'text/plain', value: 'a' },
  { name: 'parentId', value: parentId },
]

/** Each of the other routes that take or return files, by the fields of its schemas. */
const swept: Record<string, (trashed: Trashed) => Promise<void>> = {
  'GET /api/v1/files': async (trashed) => {
    for (const query of ['', '?search=zebra', '?search=zebra&recursive=true', '?search=z&recursive=true']) {
      await hiddenIn(trashed, `${api}/files${query}`)
    }
    await rejects('BAD_REQUEST', call(trashed.owner, 'GET', `${api}/files?parentId=${trashed.folderId}`))
  },
  'POST /api/v1/files': async ({ owner, fileId, folderId }) => {
    const post = (json: object) => call(owner, 'POST', `${api}/files`, json)
    await rejects('NOT_FOUND', post({ source: 'link', targetFileId: fileId }))
    await rejects('BAD_REQUEST', post({ source: 'folder', name: 'f', parentId: folderId }))
    await rejects('BAD_REQUEST', post({ name: 'f', mimeType: 'text/plain', size: 1, parentId: folderId }))
    await rejects('BAD_REQUEST', sendForm(app, owner, textForm(folderId)))
  },
  'PATCH /api/v1/files/:id': async ({ owner, linkId, folderId }) =>
    rejects('BAD_REQUEST', call(owner, 'PATCH', `${api}/files/${linkId}`, { parentId: folderId })),
  'GET /api/v1/files/:id': async ({ owner, linkId }) =>
    rejects('NOT_FOUND', call(owner, 'GET', `${api}/files/${linkId}?download=true`)),
  'GET /api/v1/files/:id/preview': async ({ owner, linkId }) =>
    rejects('NOT_FOUND', call(owner, 'GET', `${api}/files/${linkId}/preview`)),
  'GET /api/openai/v1/files': (trashed) => hiddenIn(trashed, '/api/openai/v1/files'),
  'POST /api/v1/sessions/:id/messages': async ({ owner, fileId }) => {
    const { id } = await openSession(app, owner)
    await rejects('NOT_FOUND', call(owner, 'POST', `${api}/sessions/${id}/messages`, { text: 'Hi', fileIds: [fileId] }))
  },
  'POST /api/openai/v1/chat/completions': async ({ owner, fileId }) => {
    const ask = async (file_id: string) => {
      const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }]
      const { status, text } = await call(owner, 'POST', '/api/openai/v1/chat/completions', {
        model: 'agent/assistant',
        messages,
      })
      return { status, text: text.replaceAll(file_id, '') }
    }
    const missing = await ask(newId())
    assert.ok(missing.status >= 400, missing.text)
    assert.deepEqual(await ask(fileId), missing)
  },
  'POST /mcp': async (trashed) => {
    const { owner, fileId, insideId, folderId } = trashed
    hides(await mcp(owner, 'resources/list', {}), trashed)
    for (const id of [fileId, insideId, folderId]) {
      assert.match(await mcp(owner, 'resources/read', { uri: `atrium://files/${id}` }), /Resource not found/)
    }
    const ref = { type: 'ref/resource', uri: 'atrium://files/{id}' }
    hides(await mcp(owner, 'completion/complete', { ref, argument: { name: 'id', value: 'zebra' } }), trashed)
    hides(await mcp(owner, 'tools/call', { name: 'files_search', arguments: { query: 'zebra' } }), trashed)
    const read = await mcp(owner, 'tools/call', { name: 'files_read', arguments: { fileId } })
    assert.match(read, /not found/)
    assert.ok(!read.includes(words))
    const folder = { name: 'a.txt', text: 'a', folderId }
    assert.match(await mcp(owner, 'tools/call', { name: 'files_write', arguments: folder }), /folder/)
    const over = { name: 'a.txt', text: 'a', fileId }
    assert.match(await mcp(owner, 'tools/call', { name: 'files_write', arguments: over }), /not found/)
  },
}

/** Why a route with such fields has no check above. */
const exempt: Record<string, string> = {
  ...Object.fromEntries(byId.map(({ name }) => [name, 'swept by id above'])),
  ...Object.fromEntries(ofTrash.map((name) => [name, 'of the trash'])),
  'GET /api/v1/files/:id/content': 'signed URL, tested below',
  'PUT /api/v1/files/:id/content': 'tested below',
  'DELETE /api/v1/files/trash': 'of the trash',
  'POST /api/openai/v1/files': 'takes bytes only',
  'POST /api/v1/uploads': 'takes a folder in Upload-Metadata, like POST /api/v1/files; tested in src/files/resumable',
  'GET /s/:token/files/:id': 'of a share; src/files/shares tests it',
  'GET /s/:token/files/:id/image': 'of a share; src/files/shares tests it',
  'GET /api/v1/files/shares': 'without files of the trash; src/files/shares tests it',
  'GET /api/v1/files/archive': 'reads like GET /api/v1/files/:id/archive; src/files/archive tests it',
  'GET /api/v1/files/usage': 'sums of live folders; src/files/listing tests it',
  'GET /api/v1/files/retention': 'names no file',
  'PATCH /api/v1/files/retention': 'names no file',
  'GET /api/v1/projects': 'the folder of a project is protected; the trash does not have that of a live project',
  'POST /api/v1/projects': 'makes a folder',
  'GET /api/v1/projects/:id': 'the folder of a project is protected',
  'PATCH /api/v1/projects/:id': 'the folder of a project is protected',
  'GET /api/v1/agents/:id/messages': 'messages keep the ids of their files; their content is read by the routes above',
  'GET /api/v1/sessions/:id/messages': 'messages keep the ids of their files',
  'POST /api/v1/turns/:id/approvals': 'messages keep the ids of their files',
  'POST /api/v1/turns/:id/tool-outputs': 'messages keep the ids of their files',
}

describe('other routes and tools', () => {
  test('every route that takes or returns files is swept or has a reason why not', () => {
    const missing = routes.filter(takesFiles).map(({ name }) => name)
    const unknown = missing.filter((name) => !Object.hasOwn(swept, name) && !Object.hasOwn(exempt, name))
    assert.deepEqual(unknown, [])
    const gone = [...Object.keys(swept), ...Object.keys(exempt)].filter((name) => !missing.includes(name))
    assert.deepEqual(gone, [])
  })

  for (const [name, check] of Object.entries(swept)) {
    test(`${name} neither finds nor uses what is in the trash`, async () => check(await trashSome()))
  }

  test('every file tool of agents answers for a file in the trash as for a missing one', async () => {
    const trashed = await trashSome()
    const { owner, fileId, folderId } = trashed
    const inputs: Record<string, object[]> = {
      'files.search': [{ query: 'zebra' }, { query: '' }],
      'files.read': [{ fileId }, { fileId: trashed.insideId }, { fileId: trashed.linkId }],
      'files.write': [
        { name: 'a.txt', text: 'a', folderId },
        { name: 'a.txt', text: 'a', fileId },
      ],
    }
    assert.deepEqual(fileTools.map(({ name }) => name).toSorted(), Object.keys(inputs).toSorted())
    await createAgent(app, owner, { name: 'Helper', allowedTools: Object.keys(inputs) })
    for (const [name, values] of Object.entries(inputs)) {
      for (const input of values) {
        const { id } = await openSession(app, owner, { agentId: 'helper' })
        const { turn } = await ask(app, owner, id, { text: `/tool ${name} ${JSON.stringify(input)}` })
        const [made] = turn.toolCalls
        assert.equal(made.toolName, name)
        hides(JSON.stringify(made.output), trashed)
        assert.ok(!JSON.stringify(made.output).includes(words))
        if (name !== 'files.search') assert.equal(made.status, 'failed', JSON.stringify(made))
      }
    }
  })

  test('the bytes of a file in the trash cannot be replaced', async () => {
    const { owner, fileId, insideId, folderId } = await trashSome()
    for (const id of [fileId, insideId, folderId, newId()]) {
      await rejects('NOT_FOUND', app.call('PUT', `${api}/files/${id}/content`, { as: owner, body: 'a' }))
    }
  })

  test('a signed URL stops working in the trash and works again after a restore', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, words)
    const redirect = await app.call('GET', `${api}/files/${file.id}?download=true`, { as: owner })
    const path = pathOfUrl(app, redirect.headers.get('location') ?? '')
    assert.equal((await app.call('GET', path)).text, words)
    await call(owner, 'DELETE', `${api}/files/${file.id}`)
    assert.equal((await app.call('GET', path)).status, 404)
    await call(owner, 'POST', `${api}/files/${file.id}/restore`)
    assert.equal((await app.call('GET', path)).text, words)
  })

  test('the upload URL of a pending file in a deleted folder stores nothing, also when the folder is restored', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const { file, uploadUrl } = await create(app, owner, {
      name: 'a.txt',
      mimeType: 'text/plain',
      size: 5,
      parentId: folder.id,
    })
    await call(owner, 'DELETE', `${api}/files/${folder.id}`)
    assert.equal((await app.call('PUT', pathOfUrl(app, uploadUrl), { body: 'hello' })).status, 404)
    await call(owner, 'POST', `${api}/files/${folder.id}/restore`)
    assert.equal((await app.call('PUT', pathOfUrl(app, uploadUrl), { body: 'hello' })).status, 404)
    assert.equal((await call(owner, 'GET', `${api}/files/${file.id}`)).status, 404)
  })
})
