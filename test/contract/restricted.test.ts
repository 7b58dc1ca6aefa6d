// No route, tool, protocol or reader of events shows a restricted folder, or anything in it, to a person without access.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'
import { sql } from '../../src/platform/database/database.ts'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import type { Answer, CallOptions, TestActor } from '../harness.ts'
import { ask, createAgent, openSession } from '../support/chat.ts'
import { createEndpoint, endpointDeliveries } from '../support/event-endpoints.ts'
import { create, createFolder, grantTo, pathOf as pathOfUrl, restrict, sendForm, upload } from '../support/files.ts'
import { until } from '../support/until.ts'
import { bodies, factoryOf } from './resources.ts'
import { bodySchemaOf, pathOf, querySchemaOf, routesOf, sampleOf, takesFiles } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp({ RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_UPLOADS: '0' })
const routes = routesOf(app.app)
const api = '/api/v1'

/** In every name and in all bytes of the restricted tree. */
const marker = 'planted'

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, path, { as, ...(json === undefined ? {} : { json }) })

const done = async (asked: Promise<Answer>) => {
  const { status, body, text } = await asked
  assert.ok(status < 300, text)
  return body?.data
}

const restrictedTree = async (owner: TestActor) => {
  const folder = await createFolder(app, owner, `${marker} salaries`)
  const file = await upload(app, owner, `${marker} words`, { name: `${marker}.txt`, parentId: folder.id })
  const inner = await createFolder(app, owner, `${marker} inner`, folder.id)
  const deep = await upload(app, owner, `${marker} deep`, { name: `${marker} deep.md`, parentId: inner.id })
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const picture = await upload(app, owner, png, { name: `${marker}.png`, type: 'image/png', parentId: folder.id })
  await done(app.call('PUT', `${api}/files/${file.id}/content`, { as: owner, body: `${marker} new words` }))
  const trashed = await upload(app, owner, `${marker} gone`, { name: `${marker} gone.txt`, parentId: folder.id })
  const trashedFolder = await createFolder(app, owner, `${marker} gone`, folder.id)
  const trashedInside = await upload(app, owner, 'x', { name: `${marker} x.txt`, parentId: trashedFolder.id })
  for (const { id } of [trashed, trashedFolder]) await done(call(owner, 'DELETE', `${api}/files/${id}`))
  const pending = await create(app, owner, {
    name: `${marker} pending.txt`,
    mimeType: 'text/plain',
    size: 5,
    parentId: folder.id,
  })
  return { folder, file, inner, deep, picture, trashed, trashedFolder, trashedInside, pending: pending.file }
}

const build = async () => {
  const owner = await app.createOrg()
  const people = {
    outsider: await app.createUser(owner),
    // Roles and permissions of admins do not open a folder.
    admin: await app.createUser(owner, 'admin'),
    reader: await app.createUser(owner),
    writer: await app.createUser(owner),
  }
  const tree = await restrictedTree(owner)
  const { folder, file } = tree
  const project = await done(call(owner, 'POST', `${api}/projects`, { name: `${marker} project` }))
  const outside = await upload(app, owner, 'Everybody reads this.', { name: 'open.txt' })
  const shortcut = (await create(app, owner, { source: 'link', targetFileId: file.id, name: 'a shortcut' })).file
  const inside = await create(app, owner, {
    source: 'link',
    targetFileId: outside.id,
    name: `${marker} link`,
    parentId: folder.id,
  })
  const grants = [grantTo(people.reader, 'read'), grantTo(people.writer, 'write')]
  await restrict(app, owner, folder.id, grants)
  await restrict(app, owner, project.folderId, grants)
  const share = await done(call(owner, 'POST', `${api}/files/${folder.id}/shares`, {}))
  // Cached by their bytes.
  await done(call(owner, 'GET', `${api}/files/${file.id}/preview`))
  await until(
    async () => (await call(owner, 'GET', `${api}/events?subjectId=${project.id}`)).body.data.items,
    (items: unknown[]) => items.length > 0,
  )
  const files = Object.values(tree).map(({ id }: { id: string }) => id)
  files.push(inside.file.id, project.folderId)
  return { owner, ...people, ...tree, project, outside, shortcut, share, files }
}

const world = await build()
const { owner, outsider, admin, reader, writer, folder, file, project, shortcut, share, files } = world

const hashes = await app.db.rows<{ hash: string; blobId: string }>(sql`
  select distinct encode(sha256, 'hex') as hash, blob_id from files
  where org_id = ${owner.orgId} and guards is not null and blob_id is not null`)
/** What nobody without access may see in a response: names and bytes, ids of files, hashes and keys of objects. */
const secrets: string[] = [
  marker,
  ...files,
  project.id,
  share.id,
  ...hashes.flatMap(({ hash, blobId }) => [hash, blobId]),
]

/** The response without what the request itself has in it. */
const assertHidden = (text: string, sent = ''): void => {
  for (const secret of secrets) {
    if (!sent.includes(secret)) assert.ok(!text.includes(secret), `${secret} in ${text.slice(0, 3_000)}`)
  }
}

/** All rows of the tree, to find that nothing was changed. */
const snapshot = async (): Promise<string> => {
  const rows = await app.db.rows(sql`
    select f.id, f.name, f.parent_id, f.revision, f.deleted_at, f.trash_id, f.guards, f.tags, f.version,
      (select count(*) from file_shares s where s.org_id = f.org_id and s.file_id = f.id) as shares,
      (select count(*) from file_versions v where v.org_id = f.org_id and v.file_id = f.id) as versions,
      (select purge_at from trash t where t.org_id = f.org_id and t.id = f.trash_id) as purge_at
    from files f where f.org_id = ${owner.orgId} and f.guards is not null order by f.id`)
  const projects = await app.db.rows(sql`select name, revision, deleted_at from projects where org_id = ${owner.orgId}`)
  return JSON.stringify([rows, projects], (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

const visible = ({ status, text, headers }: Answer, id: string) => ({
  status,
  text: text.replaceAll(id, '…'),
  fields: JSON.stringify([...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))),
})

const byId = routes.filter(
  ({ url, access }) =>
    access !== 'public' &&
    (/^\/api\/(v1|openai\/v1)\/files\/:id/.test(url) || factoryOf(url) === `${api}/projects/:id`),
)

const queriesOf = (route: Route): string[] =>
  route.method === 'GET' && 'download' in (querySchemaOf(route)?.properties ?? {})
    ? ['', '?download=true', '?download=true&inline=true']
    : route.method === 'DELETE' && 'permanent' in (querySchemaOf(route)?.properties ?? {})
      ? ['', '?permanent=true']
      : ['']

/** Required fields that depend on others, so that no invalid request hides a missing check. */
const bodyOf = (route: Route): CallOptions => {
  const schema = bodySchemaOf(route)
  const json = bodies[route.name] ?? (schema === undefined ? undefined : sampleOf(schema))
  if (json !== undefined) return { json }
  return route.name === `PUT ${api}/files/:id/content` ? { body: 'other words' } : {}
}

const request = (route: Route, as: TestActor, id: string, query = ''): Promise<Answer> => {
  const params = { id, version: '1', shareId: share.id as string }
  return app.call(route.method, pathOf(route.url, params) + query, { as, ...bodyOf(route) })
}

// The signed URL of a file is public and has no permission of its own.
const overwrite = routes.filter(({ name }) => name === `PUT ${api}/files/:id/content`)

describe('a person without access, by the id of a file or project', () => {
  test('the sweep covers more than 20 routes', () => assert.ok(byId.length > 20, `${byId.length}`))

  for (const route of [...byId, ...overwrite]) {
    test(`${route.name} answers for a restricted file as for a missing one, and changes nothing`, async () => {
      const before = await snapshot()
      const ids = route.url.includes('/projects/') ? [project.id] : [...files]
      for (const query of queriesOf(route)) {
        const missingId = newId()
        const missing = visible(await request(route, outsider, missingId, query), missingId)
        assert.equal(missing.status, 404, missing.text)
        for (const id of ids) {
          assert.deepEqual(visible(await request(route, outsider, id, query), id), missing, `${id} ${query}`)
        }
        assert.deepEqual(visible(await request(route, admin, ids[0] as string, query), ids[0] as string), missing)
      }
      assert.equal(await snapshot(), before)
    })
  }
})

const lists = routes.filter(
  ({ method, url, access }) =>
    method === 'GET' && access !== 'public' && !url.includes(':') && !url.endsWith('/stream'),
)

/** The audit log is for admins and has names of everything that was done. */
const ofAdmins = new Set([`${api}/audit-log`, `${api}/audit-log/export`])

describe('a person without access, by lists', () => {
  for (const route of lists) {
    test(`${route.name} shows nothing of a restricted folder`, async () => {
      const known = Object.keys(querySchemaOf(route)?.properties ?? {})
      const wanted = [
        '',
        'limit=100',
        `search=${marker}`,
        `search=${marker}&recursive=true`,
        'search=pl&recursive=true',
        `q=${marker}`,
        `query=${marker}`,
        'recursive=true&search=a',
        'sort=updatedAt&order=desc',
        'sort=size',
        'sort=mimeType&order=desc',
        'trashed=true',
        `parentId=${folder.id}`,
        `ids=${file.id}`,
        `ids=${world.outside.id},${folder.id}`,
        `parentId=${shortcut.id}`,
        `projectId=${project.id}`,
        `subjectId=${file.id}`,
        'order=asc&limit=100',
      ].filter((query) => query === '' || query.split('&').every((part) => known.includes(part.split('=')[0] ?? '')))
      for (const query of wanted) {
        for (const as of ofAdmins.has(route.url) ? [outsider] : [outsider, admin]) {
          const { text } = await call(as, 'GET', `${route.url}${query === '' ? '' : `?${query}`}`)
          assertHidden(text, query)
        }
      }
    })
  }

  test('counts and pages leave out what is not open', async () => {
    const seen = (await call(outsider, 'GET', `${api}/files?limit=100`)).body.data
    assert.equal(seen.total, seen.items.length)
    const all = (await call(owner, 'GET', `${api}/files?limit=100`)).body.data
    // The folder and that of the project.
    assert.equal(all.total, seen.total + 2)
    const pages: string[] = []
    for (let cursor = ''; ;) {
      const page = (await call(outsider, 'GET', `${api}/files?limit=1${cursor}`)).body.data
      assert.equal(page.total, seen.total)
      pages.push(...page.items.map(({ id }: { id: string }) => id))
      if (!page.hasMore) break
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
    }
    assert.deepEqual(
      pages,
      seen.items.map(({ id }: { id: string }) => id),
    )
    const trash = (await call(outsider, 'GET', `${api}/files?trashed=true`)).body.data
    assert.equal(trash.total, 0)
    assert.equal((await call(owner, 'GET', `${api}/files?trashed=true`)).body.data.total, 2)
    const found = (await call(outsider, 'GET', `${api}/files?search=${marker}&recursive=true`)).body.data
    assert.deepEqual([found.total, found.items], [0, []])
    const paths = (await call(reader, 'GET', `${api}/files?search=${marker}&recursive=true&limit=100`)).body.data
    assert.ok(paths.items.some(({ path }: { path: string[] }) => path.join() === `${marker} salaries,${marker} inner`))
  })
})

const mcp = async (as: TestActor, method: string, params: object): Promise<string> =>
  (await call(as, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })).text

const rejects = async (code: string, asked: Promise<Answer>): Promise<void> => {
  const { body, text } = await asked
  assert.equal(body.error?.code ?? body.error?.type, code, text)
}

const formInto = (parentId: string) => [
  { name: 'file', filename: 'a.txt', type: 'text/plain', value: 'a' },
  { name: 'parentId', value: parentId },
]

/** Inputs of agents' file tools that name what is hidden. */
const toolInputs: Record<string, object[]> = {
  'files.search': [{ query: marker }, { query: '' }, { query: 'a' }],
  'files.read': [{ fileId: file.id }, { fileId: world.deep.id }, { fileId: shortcut.id }, { fileId: world.picture.id }],
  'files.write': [
    { name: 'a.txt', text: 'a', folderId: folder.id },
    { name: 'a.txt', text: 'a', fileId: file.id },
  ],
}

/** Each of the other routes that take or return files, by the fields of its schemas. */
const swept: Record<string, () => Promise<void>> = {
  'POST /api/v1/files': async () => {
    const post = (json: object) => call(outsider, 'POST', `${api}/files`, json)
    await rejects('NOT_FOUND', post({ source: 'link', targetFileId: file.id }))
    await rejects('NOT_FOUND', post({ source: 'link', targetFileId: shortcut.id }))
    for (const parentId of [folder.id, world.inner.id, project.folderId]) {
      await rejects('BAD_REQUEST', post({ source: 'folder', name: 'f', parentId }))
      await rejects('BAD_REQUEST', post({ name: 'f', mimeType: 'text/plain', size: 1, parentId }))
      await rejects('BAD_REQUEST', sendForm(app, outsider, formInto(parentId)))
    }
    await rejects('NOT_FOUND', post({ source: 'folder', name: 'f', projectId: project.id }))
  },
  'PATCH /api/v1/files/:id': async () => {
    const { id } = await upload(app, outsider, 'mine')
    await rejects('BAD_REQUEST', call(outsider, 'PATCH', `${api}/files/${id}`, { parentId: folder.id }))
    const renamed = await call(outsider, 'PATCH', `${api}/files/${shortcut.id}`, { name: 'shortcut' })
    assert.equal(renamed.body.data.targetFileId, null)
    assertHidden(renamed.text)
  },
  'GET /api/v1/files/:id': async () => {
    const { body, text } = await call(outsider, 'GET', `${api}/files/${shortcut.id}`)
    assert.equal(body.data.targetFileId, null)
    assertHidden(text)
    assert.equal((await call(reader, 'GET', `${api}/files/${shortcut.id}`)).body.data.targetFileId, file.id)
    for (const query of ['?download=true', '?download=true&inline=true']) {
      await rejects('NOT_FOUND', call(outsider, 'GET', `${api}/files/${shortcut.id}${query}`))
    }
  },
  'GET /api/v1/files/:id/preview': () =>
    rejects('NOT_FOUND', call(outsider, 'GET', `${api}/files/${shortcut.id}/preview`)),
  'POST /api/v1/uploads': async () => {
    const begin = async (as: TestActor, parentId: string) => {
      const values = { filename: 'a.txt', filetype: 'text/plain', parentId }
      const metadata = Object.entries(values).map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
      const headers = { 'tus-resumable': '1.0.0', 'upload-length': '1', 'upload-metadata': metadata.join(',') }
      const { status, text } = await app.call('POST', `${api}/uploads`, { as, headers })
      return { status, text: text.replaceAll(parentId, '') }
    }
    const missing = await begin(outsider, newId())
    assert.equal(missing.status, 400, missing.text)
    assert.deepEqual(await begin(outsider, folder.id), missing)
    assert.equal((await begin(reader, folder.id)).status, 403)
    assert.equal((await begin(writer, folder.id)).status, 201)
  },
  'POST /api/v1/sessions/:id/messages': async () => {
    const { id } = await openSession(app, outsider)
    for (const fileId of [file.id, shortcut.id, world.picture.id]) {
      const json = { text: 'Hi', fileIds: [fileId] }
      await rejects('NOT_FOUND', call(outsider, 'POST', `${api}/sessions/${id}/messages`, json))
    }
  },
  'POST /api/openai/v1/chat/completions': async () => {
    const asked = async (file_id: string) => {
      const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }]
      const json = { model: 'agent/assistant', messages }
      const { status, text } = await call(outsider, 'POST', '/api/openai/v1/chat/completions', json)
      return { status, text: text.replaceAll(file_id, '') }
    }
    const missing = await asked(newId())
    assert.ok(missing.status >= 400, missing.text)
    assert.deepEqual(await asked(file.id), missing)
  },
  'POST /mcp': async () => {
    assertHidden(await mcp(outsider, 'resources/list', {}))
    const missingId = newId()
    const read = async (id: string) =>
      (await mcp(outsider, 'resources/read', { uri: `atrium://files/${id}` })).replaceAll(id, '…')
    const missing = await read(missingId)
    assert.match(missing, /Resource not found/)
    for (const id of [file.id, folder.id, world.deep.id, shortcut.id]) assert.equal(await read(id), missing)
    const ref = { type: 'ref/resource', uri: 'atrium://files/{id}' }
    for (const value of [marker, '', 'a']) {
      assertHidden(await mcp(outsider, 'completion/complete', { ref, argument: { name: 'id', value } }), value)
    }
    for (const [name, inputs] of Object.entries(toolInputs)) {
      for (const input of inputs) {
        const text = await mcp(outsider, 'tools/call', { name: name.replace('.', '_'), arguments: input })
        assertHidden(text, JSON.stringify(input))
        if (name !== 'files.search') assert.match(text, /"isError":true/)
      }
    }
  },
}

type DavRequest = [method: string, path: string, headers?: Record<string, string>, body?: string]

const dav = (as: TestActor, ...[method, path, headers = {}, body]: DavRequest) =>
  app.call(method, `/dav/${path.split('/').map(encodeURIComponent).join('/')}`, {
    as,
    headers,
    ...(body === undefined ? {} : { body }),
  })

const lockInfo = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
const setProperty = '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="x:">1</x></prop></set></propertyupdate>'

describe('WebDAV', () => {
  const inside = `${marker} salaries/${marker}.txt`

  test('paths in a restricted folder are missing for those without access, and nothing shows or changes them', async () => {
    const before = await snapshot()
    for (const depth of ['0', '1']) assertHidden((await dav(outsider, 'PROPFIND', '', { depth })).text)
    const mine = await upload(app, outsider, 'mine', { name: 'dav-mine.txt' })
    const into = { destination: `${app.url}/dav/${encodeURIComponent(`${marker} salaries`)}/x.txt` }
    for (const [method, path, headers, body] of [
      ['GET', inside],
      ['GET', 'a shortcut'],
      ['GET', `x [${file.id}].txt`],
      ['PROPFIND', inside, { depth: '0' }],
      ['PROPFIND', `${marker} salaries`, { depth: '1' }],
      ['DELETE', inside],
      ['DELETE', `${marker} salaries`],
      ['PROPPATCH', inside, {}, setProperty],
      ['COPY', inside, { destination: `${app.url}/dav/stolen.txt` }],
      ['MOVE', inside, { destination: `${app.url}/dav/stolen.txt` }],
      ['MKCOL', `${marker} salaries/new`],
      ['PUT', `${marker} salaries/new.txt`, {}, 'x'],
      ['LOCK', `${marker} salaries/new.txt`, {}, lockInfo],
      ['COPY', 'dav-mine.txt', into],
      ['MOVE', 'dav-mine.txt', into],
    ] as DavRequest[]) {
      const { status, text } = await dav(outsider, method, path, headers, body)
      assert.ok([404, 409].includes(status), `${method} ${path}: ${status} ${text}`)
      assertHidden(text, `${path} ${JSON.stringify(headers)} ${encodeURIComponent(path)}`)
    }
    assert.equal(await snapshot(), before)
    assert.equal((await call(outsider, 'GET', `${api}/files/${mine.id}`)).status, 200)
  })

  test('those who may only read can read, and not change, lock or publish', async () => {
    const before = await snapshot()
    assert.match((await dav(reader, 'GET', inside)).text, /planted new words/)
    for (const [method, headers, body] of [
      ['DELETE'],
      ['PUT', {}, 'other words'],
      ['PROPPATCH', {}, setProperty],
      ['LOCK', {}, lockInfo],
      ['MOVE', { destination: `${app.url}/dav/published.txt` }],
      ['COPY', { destination: `${app.url}/dav/published.txt` }],
    ] as [string, Record<string, string>?, string?][]) {
      const { status, text } = await dav(reader, method, inside, headers, body)
      assert.equal(status, 403, `${method}: ${text}`)
    }
    assert.equal(await snapshot(), before)
  })
})

/** Why a route with such fields has no check of its own. */
const exempt: Record<string, string> = {
  ...Object.fromEntries([...byId, ...lists].map(({ name }) => [name, 'swept above'])),
  'GET /api/v1/files/:id/content': 'a signed URL is issued to those with access',
  'PUT /api/v1/files/:id/content': 'swept by id above; a signed URL is issued to those with access',
  'POST /api/openai/v1/files': 'takes bytes only',
  'GET /s/:token/files/:id': 'of a share; tested below',
  'GET /s/:token/files/:id/image': 'of a share; as for its bytes',
  'DELETE /api/v1/files/trash': 'tested below',
  'PATCH /api/v1/files/retention': 'names no file',
  'POST /api/v1/projects': 'makes a folder',
  'GET /api/v1/agents/:id/messages': 'a transcript keeps the names that people gave it',
  'GET /api/v1/sessions/:id/messages': 'a transcript keeps the names that people gave it; tested below',
  'POST /api/v1/turns/:id/approvals': 'a transcript keeps the names that people gave it',
  'POST /api/v1/turns/:id/tool-outputs': 'a transcript keeps the names that people gave it',
}

describe('a person without access, by other routes and tools', () => {
  test('every route that takes or returns files is swept or has a reason why not', () => {
    const found = routes.filter(takesFiles).map(({ name }) => name)
    assert.deepEqual(
      found.filter((name) => !Object.hasOwn(swept, name) && !Object.hasOwn(exempt, name)),
      [],
    )
    const all = new Set(routes.map(({ name }) => name))
    assert.deepEqual(
      [...Object.keys(swept), ...Object.keys(exempt)].filter((name) => !all.has(name)),
      [],
    )
  })

  for (const [name, check] of Object.entries(swept)) {
    test(`${name} neither shows nor uses a restricted folder`, async () => {
      const before = await snapshot()
      await check()
      assert.equal(await snapshot(), before)
    })
  }

  test('the file tools of an agent have the access of the person for whom it works', async () => {
    assert.deepEqual(fileTools.map(({ name }) => name).toSorted(), Object.keys(toolInputs).toSorted())
    await createAgent(app, owner, { name: 'Helper', allowedTools: Object.keys(toolInputs) })
    const before = await snapshot()
    for (const [name, inputs] of Object.entries(toolInputs)) {
      for (const input of inputs) {
        const { id } = await openSession(app, outsider, { agentId: 'helper' })
        const { turn } = await ask(app, outsider, id, { text: `/tool ${name} ${JSON.stringify(input)}` })
        const [made] = turn.toolCalls
        assertHidden(JSON.stringify(made.output ?? null), JSON.stringify(input))
        if (name !== 'files.search') assert.equal(made.status, 'failed', JSON.stringify(made))
      }
    }
    assert.equal(await snapshot(), before)
    const { id } = await openSession(app, reader, { agentId: 'helper' })
    const { turn } = await ask(app, reader, id, { text: `/tool files.read ${JSON.stringify({ fileId: file.id })}` })
    assert.match(JSON.stringify(turn.toolCalls[0].output), /planted new words/)
  })

  test('an attachment of a conversation that others can read keeps its name and opens the file to nobody', async () => {
    const { id } = await openSession(app, owner)
    await done(call(owner, 'POST', `${api}/sessions/${id}/messages`, { text: 'Read', fileIds: [file.id] }))
    assert.match((await call(outsider, 'GET', `${api}/sessions/${id}/messages`)).text, /planted\.txt/)
    const again = { text: 'Read it again', fileIds: [file.id] }
    await rejects('NOT_FOUND', call(outsider, 'POST', `${api}/sessions/${id}/messages`, again))
    await rejects('NOT_FOUND', call(outsider, 'GET', `${api}/files/${file.id}?download=true`))
  })

  test('emptying the trash leaves what the person may not change', async () => {
    const before = await snapshot()
    const mine = await upload(app, outsider, 'mine')
    await done(call(outsider, 'DELETE', `${api}/files/${mine.id}`))
    await done(call(outsider, 'DELETE', `${api}/files/trash`))
    await done(call(reader, 'DELETE', `${api}/files/trash`))
    assert.equal(await snapshot(), before)
    assert.equal((await call(outsider, 'GET', `${api}/files?trashed=true`)).body.data.total, 0)
  })

  test('a folder with a restricted folder in it is neither deleted nor moved below other restrictions by those without access to it', async () => {
    const outer = await createFolder(app, owner, 'Outer')
    const hidden = await createFolder(app, owner, `${marker} hidden`, outer.id)
    await restrict(app, owner, hidden.id)
    const mine = await createFolder(app, outsider, 'Mine')
    await restrict(app, outsider, mine.id, [grantTo(outsider, 'write')])
    for (const asked of [
      call(outsider, 'DELETE', `${api}/files/${outer.id}`),
      call(outsider, 'DELETE', `${api}/files/${outer.id}?permanent=true`),
      call(outsider, 'PATCH', `${api}/files/${outer.id}`, { parentId: mine.id }),
    ]) {
      const { text } = await asked
      await rejects('FORBIDDEN', asked)
      assert.ok(!text.includes(marker) && !text.includes(hidden.id), text)
    }
    const elsewhere = await createFolder(app, owner, 'Elsewhere')
    await done(call(outsider, 'PATCH', `${api}/files/${outer.id}`, { parentId: elsewhere.id }))
  })
})

/** The text that an event stream has sent until it has this text in it. */
const streamed = async (as: TestActor, end: string, act: () => Promise<void>): Promise<string> => {
  const abort = new AbortController()
  const response = await fetch(`${app.url}${api}/events/stream`, {
    headers: { authorization: `Bearer ${as.key}` },
    signal: abort.signal,
  })
  let text = ''
  const decoder = new TextDecoder()
  let isActing: Promise<void> | undefined
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    isActing ??= act()
    if (text.includes(end)) break
  }
  abort.abort()
  await isActing
  return text
}

describe('events', () => {
  test('a stream sends events about restricted files to those with access only, also when it was open before', async () => {
    const late = await createFolder(app, owner, 'late')
    const act = async (): Promise<void> => {
      await upload(app, owner, 'x', { name: `${marker} event.txt`, parentId: folder.id })
      await restrict(app, owner, late.id, [grantTo(reader, 'read')])
      await upload(app, owner, 'x', { name: `${marker} late.txt`, parentId: late.id })
      await done(call(owner, 'PATCH', `${api}/projects/${project.id}`, { description: 'x' }))
      await upload(app, owner, 'x', { name: 'the-end.txt' })
    }
    const [hidden, shown] = await Promise.all([
      streamed(outsider, 'the-end.txt', act),
      streamed(reader, 'the-end.txt', async () => {}),
    ])
    assertHidden(hidden)
    assert.ok(!hidden.includes('access_changed'), hidden)
    assert.match(shown, /planted event.txt[^]*planted late.txt/)
    assert.match(shown, /project\.updated/)
  })

  test('an event of a file that was open before is hidden with it, by its id as well', async () => {
    const moved = await upload(app, owner, 'x', { name: 'moved.txt' })
    const list = async (as: TestActor) =>
      (await call(as, 'GET', `${api}/events?subjectId=${moved.id}`)).body.data.items as { id: string }[]
    const [event] = await until(
      () => list(outsider),
      (items) => items.length > 0,
    )
    await done(call(owner, 'PATCH', `${api}/files/${moved.id}`, { parentId: folder.id }))
    assert.deepEqual(await list(outsider), [])
    const missing = await call(outsider, 'GET', `${api}/events/${newId()}`)
    const asked = await call(outsider, 'GET', `${api}/events/${event?.id}`)
    assert.deepEqual([asked.status, asked.text], [missing.status, missing.text])
    assert.equal((await call(reader, 'GET', `${api}/events/${event?.id}`)).status, 200)
  })

  test('an event endpoint receives what the person who set its URL may see', async () => {
    const json = { types: ['file.created'] }
    const [ofOutsider, ofReader] = [await createEndpoint(app, outsider, json), await createEndpoint(app, reader, json)]
    const inside = await upload(app, owner, 'x', { name: 'inside.txt', parentId: folder.id })
    const open = await upload(app, owner, 'x', { name: 'open.txt' })
    const eventOf = async (id: string): Promise<string> => {
      const [event] = await until<{ id: string }[]>(
        async () => (await call(owner, 'GET', `${api}/events?subjectId=${id}`)).body.data.items,
        (items) => items.length > 0,
      )
      return event?.id ?? ''
    }
    const [hidden, shown] = [await eventOf(inside.id), await eventOf(open.id)]
    const received = async (as: TestActor, endpoint: { id: string }) =>
      (await endpointDeliveries(app, as, endpoint)).map(({ eventId }) => eventId)
    await until(
      () => received(outsider, ofOutsider),
      (ids) => ids.includes(shown),
    )
    assert.deepEqual((await received(reader, ofReader)).toSorted(), [hidden, shown].toSorted())
    assert.ok(!(await received(outsider, ofOutsider)).includes(hidden))
  })
})

// Favorites and recent files are those of the person who reads.
const changes = byId.filter(
  ({ method, url, access }) => method !== 'GET' && access !== 'files:read' && !url.includes('/restore'),
)

describe('a person who may only read', () => {
  for (const route of [...changes, ...overwrite]) {
    test(`${route.name} is FORBIDDEN for a file that the person may only read`, async () => {
      const before = await snapshot()
      const id = route.url.includes('/projects/') ? project.id : route.url.endsWith('/access') ? folder.id : file.id
      for (const query of queriesOf(route)) {
        const { status, text } = await request(route, reader, id, query)
        assert.equal(status, 403, text)
      }
      assert.equal(await snapshot(), before)
    })
  }

  test('reading works: records, content, previews, versions, shares, lists, the trash', async () => {
    const get = (path: string) => call(reader, 'GET', `${api}/files${path}`)
    for (const path of ['', '/preview', '/versions', '/shares', '/access', '?download=true&inline=true']) {
      assert.equal((await get(`/${file.id}${path}`)).status, 200, path)
    }
    assert.ok((await get(`?parentId=${folder.id}`)).body.data.total > 3)
    assert.equal((await get('?trashed=true')).body.data.total, 2)
    assert.equal((await call(reader, 'GET', `${api}/projects/${project.id}`)).status, 200)
  })

  test('nothing can be put into the folder, restored into it or deleted out of the trash', async () => {
    await rejects('FORBIDDEN', sendForm(app, reader, formInto(folder.id)))
    await rejects(
      'FORBIDDEN',
      call(reader, 'POST', `${api}/files`, { source: 'folder', name: 'f', parentId: folder.id }),
    )
    await rejects('FORBIDDEN', call(reader, 'POST', `${api}/files/${world.trashed.id}/restore`))
    await rejects('FORBIDDEN', call(reader, 'DELETE', `${api}/files/${world.trashed.id}?permanent=true`))
    const mine = await upload(app, reader, 'mine')
    await rejects('FORBIDDEN', call(reader, 'PATCH', `${api}/files/${mine.id}`, { parentId: folder.id }))
  })
})

test('a person who may write can rename, replace, share, delete and restore', async () => {
  const change = (method: string, path: string, json?: object) =>
    done(call(writer, method, `${api}/files${path}`, json))
  const made = await upload(app, writer, 'mine', { name: `${marker} mine.txt`, parentId: folder.id })
  await change('PATCH', `/${made.id}`, { name: `${marker} renamed.txt`, tags: ['a'] })
  await done(app.call('PUT', `${api}/files/${made.id}/content`, { as: writer, body: 'again' }))
  await change('POST', `/${made.id}/versions/1/restore`)
  const { id } = await change('POST', `/${made.id}/shares`, {})
  await change('DELETE', `/${made.id}/shares/${id}`)
  await change('DELETE', `/${made.id}`)
  await change('POST', `/${made.id}/restore`)
  await change('DELETE', `/${made.id}?permanent=true`)
  await change('POST', `/${world.trashed.id}/restore`)
})

describe('shares', () => {
  const page = (url: string) => app.call('GET', pathOfUrl(app, url))

  test('a share shows what its creator may see, and nothing that was restricted later', async () => {
    const parent = await createFolder(app, owner, 'Shared')
    const open = await upload(app, owner, 'open words', { name: 'open-words.txt', parentId: parent.id })
    const inner = await createFolder(app, owner, 'inner-folder', parent.id)
    const deep = await upload(app, owner, 'deep words', { name: 'deep-words.txt', parentId: inner.id })
    const { url } = await done(call(owner, 'POST', `${api}/files/${parent.id}/shares`, {}))
    const innerShare = await done(call(owner, 'POST', `${api}/files/${inner.id}/shares`, {}))
    const token = pathOfUrl(app, url)
    assert.match((await page(url)).text, /inner-folder/)
    assert.equal((await app.call('GET', `${token}/files/${deep.id}?download=true`)).text, 'deep words')
    await restrict(app, owner, inner.id, [grantTo(writer, 'write')])
    assert.doesNotMatch((await page(url)).text, /inner-folder/)
    assert.equal((await app.call('GET', `${token}?item=${inner.id}`)).status, 404)
    assert.equal((await app.call('GET', `${token}/files/${deep.id}?download=true`)).status, 404)
    assert.equal((await app.call('GET', `${token}/files/${open.id}?download=true`)).text, 'open words')
    assert.equal((await page(innerShare.url)).status, 404)
    // Shared by someone who may change it, when it was restricted already.
    const again = await done(call(writer, 'POST', `${api}/files/${inner.id}/shares`, {}))
    assert.match((await page(again.url)).text, /deep-words/)
    await restrict(app, owner, inner.id, [])
    assert.equal((await page(again.url)).status, 404)
  })

  test('a drop box stops when its creator may not change the folder any more', async () => {
    const box = await createFolder(app, owner, 'Box')
    await restrict(app, owner, box.id, [grantTo(writer, 'write')])
    const { url } = await done(call(writer, 'POST', `${api}/files/${box.id}/shares`, { permission: 'upload' }))
    const send = () => {
      const body = new FormData()
      body.set('file', new File(['dropped'], 'dropped.txt', { type: 'text/plain' }))
      return app.call('POST', `${pathOfUrl(app, url)}/uploads`, { body })
    }
    assert.ok((await send()).status < 400)
    await restrict(app, owner, box.id, [grantTo(writer, 'read')])
    assert.equal((await send()).status, 404)
    const { items } = (await call(owner, 'GET', `${api}/files?parentId=${box.id}`)).body.data
    assert.deepEqual(
      items.map(({ name }: { name: string }) => name),
      ['dropped.txt'],
    )
  })
})
