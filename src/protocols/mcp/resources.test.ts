import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createAgent } from '../../../test/support/chat.ts'
import { upload } from '../../../test/support/files.ts'
import { startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
const url = new URL(`${app.url}/mcp`)
const info = { name: 'test', version: '1' }
const missing = '01a1fc7d-9fd0-79dc-a335-45f9cc19b81e'

const opened: { close(): Promise<void> }[] = []
after(async () => {
  for (const client of opened) await client.close()
})

const optionsOf = (as: TestActor) => ({ requestInit: { headers: { authorization: `Bearer ${as.key}` } } })

const connectLegacy = async (as: TestActor): Promise<Client> => {
  const client = new Client(info)
  opened.push(client)
  await client.connect(new StreamableHTTPClientTransport(url, optionsOf(as)))
  return client
}

const connectModern = async (as: TestActor): Promise<ModernClient> => {
  const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } })
  opened.push(client)
  await client.connect(new ModernTransport(url, optionsOf(as)))
  return client
}

const makeFolder = async (as: TestActor, name: string): Promise<string> =>
  (await app.call('POST', '/api/v1/files', { as, json: { source: 'folder', name } })).body.data.file.id

const send = (as: TestActor, method: string, params: object = {}) =>
  app.call('POST', '/mcp', { as, json: { jsonrpc: '2.0', id: 1, method, params } })

const errorOf = async (
  as: TestActor,
  method: string,
  params: object = {},
): Promise<{ code: number; message: string }> => (await send(as, method, params)).body.error

const clients: [string, (as: TestActor) => Promise<Client | ModernClient>][] = [
  ['of the legacy revisions', connectLegacy],
  ['of the modern revision', connectModern],
]

for (const [how, connect] of clients) {
  describe(`the official client ${how}`, () => {
    test('lists files and folders, and reads text, bytes and the entries of a folder', async () => {
      const owner = await app.createOrg()
      const folder = await makeFolder(owner, 'Reports')
      const text = await upload(app, owner, 'Grüße', { name: 'a.md', type: 'text/markdown' })
      const bytes = Buffer.from('89504e470d0a1a0a00ff', 'hex')
      const image = await upload(app, owner, bytes, { name: 'b.png', type: 'image/png', parentId: folder })
      const client = await connect(owner)
      const { resources } = await client.listResources()
      assert.deepEqual(
        resources.map(({ name, uri, mimeType }) => [name, uri, mimeType]),
        [
          ['Reports', `atrium://files/${folder}`, 'application/json'],
          ['a.md', `atrium://files/${text.id}`, 'text/markdown'],
        ],
      )
      const readOne = async (id: string) => (await client.readResource({ uri: `atrium://files/${id}` })).contents[0]
      assert.deepEqual(await readOne(text.id), {
        uri: `atrium://files/${text.id}`,
        mimeType: 'text/markdown',
        text: 'Grüße',
      })
      assert.deepEqual(await readOne(image.id), {
        uri: `atrium://files/${image.id}`,
        mimeType: 'image/png',
        blob: bytes.toString('base64'),
      })
      const entries = JSON.parse(((await readOne(folder)) as { text: string }).text)
      assert.deepEqual(
        entries.resources.map(({ uri }: { uri: string }) => uri),
        [`atrium://files/${image.id}`],
      )
    })

    test('gets a prompt for each active agent, which asks that agent and reveals no system prompt', async () => {
      const owner = await app.createOrg()
      await createAgent(app, owner, { name: 'Numbers', description: 'Counts', systemPrompt: 'secret words' })
      const asleep = await createAgent(app, owner, { name: 'Asleep' })
      await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: false } })
      const client = await connect(owner)
      const { prompts } = await client.listPrompts()
      assert.deepEqual(prompts.map(({ name }) => name).toSorted(), ['assistant', 'numbers'])
      const prompt = await client.getPrompt({ name: 'numbers', arguments: { text: 'How many?' } })
      assert.match(JSON.stringify(prompt.messages), /agents_ask with the agent \\"numbers\\".*How many\?/)
      assert.doesNotMatch(JSON.stringify([prompts, prompt]), /secret words/)
      await assert.rejects(client.getPrompt({ name: 'asleep', arguments: { text: 'Hi' } }), /prompt does not exist/)
      await assert.rejects(client.getPrompt({ name: 'numbers', arguments: {} }), /text must have/)
    })

    test('completes slugs of agents and ids of files by their names, of its own org only', async () => {
      const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
      const { id } = await upload(app, owner, 'x', { name: 'quarterly.txt' })
      await upload(app, stranger, 'x', { name: 'quarterly.txt' })
      await createAgent(app, owner, { name: 'Numbers' })
      await createAgent(app, stranger, { name: 'Number two' })
      const client = await connect(owner)
      const complete = async (uri: string, name: string, value: string) =>
        (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values
      assert.deepEqual(await complete('atrium://agents/{slug}', 'slug', 'num'), ['numbers'])
      assert.deepEqual(await complete('atrium://files/{id}', 'id', 'QUARTER'), [id])
      assert.deepEqual(await complete('atrium://files/{id}', 'id', 'nothing like it'), [])
      assert.deepEqual(await complete('file:///{path}', 'path', 'etc'), [])
    })

    test('accepts the structured result of each tool against its output schema', async () => {
      const client = await connect(await app.createOrg())
      const { tools } = await client.listTools()
      for (const { name, outputSchema, title } of tools) assert.ok(outputSchema !== undefined && title, name)
      const call = (name: string, input: object): Promise<unknown> => {
        const params = { name, arguments: { ...input } }
        return client instanceof Client ? client.callTool(params) : client.callTool(params)
      }
      const written = (await call('files_write', { name: 'a.txt', text: 'a' })) as {
        structuredContent: { fileId: string }
      }
      // The client rejects a result that its tool's schema does not permit.
      await call('files_search', { query: 'a.txt' })
      await call('files_read', { fileId: written.structuredContent.fileId })
      await call('agents_list', {})
      await call('agents_ask', { text: 'Hi' })
    })
  })
}

test('lists resources in pages without a gap and without a repetition', async () => {
  const owner = await app.createOrg()
  for (let n = 0; n < 103; n += 1) await makeFolder(owner, `Folder ${n}`)
  const client = await connectLegacy(owner)
  const first = await client.listResources()
  assert.equal(first.resources.length, 100)
  const second = await client.listResources({ cursor: first.nextCursor })
  assert.equal(second.nextCursor, undefined)
  assert.equal(new Set([...first.resources, ...second.resources].map(({ uri }) => uri)).size, 103)
})

test('rejects unknown, foreign, deleted and malformed URIs with the same error', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  const [foreign, deleted] = [await upload(app, stranger, 'secret'), await upload(app, owner, 'gone')]
  await app.call('DELETE', `/api/v1/files/${deleted.id}`, { as: owner })
  await createAgent(app, stranger, { name: 'Foreign' })
  const uris = [
    `atrium://files/${missing}`,
    `atrium://files/${foreign.id}`,
    `atrium://files/${deleted.id}`,
    `atrium://files/../${foreign.id}`,
    'atrium://files/',
    'atrium://agents/foreign',
    'atrium://agents/%00',
    'file:///etc/passwd',
    '',
  ]
  for (const uri of uris) {
    const { code, message } = await errorOf(owner, 'resources/read', { uri })
    assert.deepEqual([code, message], [-32_002, 'Resource not found.'], uri)
  }
  for (const uri of [undefined, 7, 'x'.repeat(513)]) {
    assert.equal((await errorOf(owner, 'resources/read', { uri })).code, -32_602)
  }
})

test('rejects a file above 1 MB with its size, and a file without content', async () => {
  const owner = await app.createOrg()
  const large = await upload(app, owner, 'a'.repeat(1_048_577))
  const error = (await send(owner, 'resources/read', { uri: `atrium://files/${large.id}` })).body.error
  assert.equal(error.code, -32_602)
  assert.deepEqual(error.data, { uri: `atrium://files/${large.id}`, sizeBytes: 1_048_577, maxBytes: 1_048_576 })
  const json = { name: 'later.txt', mimeType: 'text/plain', size: 3 }
  const pending = (await app.call('POST', '/api/v1/files', { as: owner, json })).body.data.file.id
  assert.match(
    (await errorOf(owner, 'resources/read', { uri: `atrium://files/${pending}` })).message,
    /not been upload/,
  )
  const listed = (await send(owner, 'resources/list')).body.result.resources
  assert.ok(!listed.some(({ uri }: { uri: string }) => uri.endsWith(pending)))
})

test('returns bytes that are not UTF-8 as a blob, whatever the media type says', async () => {
  const owner = await app.createOrg()
  const { id } = await upload(app, owner, Buffer.from([0x61, 0xff, 0xfe, 0x62]), { type: 'text/plain' })
  const { contents } = (await send(owner, 'resources/read', { uri: `atrium://files/${id}` })).body.result
  assert.deepEqual([contents[0].blob, contents[0].text], ['Yf/+Yg==', undefined])
})

test('shows a key nothing that its scopes do not permit', async () => {
  const owner = await app.createOrg()
  const { id } = await upload(app, owner, 'x', { name: 'quarterly.txt' })
  const keys = {
    files: await app.createUser(owner, 'member', { scopes: ['files:read'] }),
    agents: await app.createUser(owner, 'member', { scopes: ['agents:read'] }),
  }
  const read = (as: TestActor, uri: string) => send(as, 'resources/read', { uri })
  assert.equal((await read(keys.files, `atrium://files/${id}`)).body.result.contents[0].text, 'x')
  assert.equal((await read(keys.agents, `atrium://files/${id}`)).body.error.code, -32_002)
  assert.equal((await read(keys.files, 'atrium://agents/assistant')).body.error.code, -32_002)
  assert.match((await read(keys.agents, 'atrium://agents/assistant')).body.result.contents[0].text, /"assistant"/)
  assert.deepEqual((await send(keys.agents, 'resources/list')).body.result.resources, [])
  const templates = (await send(keys.agents, 'resources/templates/list')).body.result.resourceTemplates
  assert.deepEqual(
    templates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate),
    ['atrium://agents/{slug}'],
  )
  for (const as of Object.values(keys)) {
    assert.deepEqual((await send(as, 'prompts/list')).body.result.prompts, [])
    assert.equal((await errorOf(as, 'prompts/get', { name: 'assistant', arguments: { text: 'x' } })).code, -32_602)
  }
  const ask = (as: TestActor, uri: string, name: string) =>
    send(as, 'completion/complete', { ref: { type: 'ref/resource', uri }, argument: { name, value: '' } })
  assert.deepEqual((await ask(keys.agents, 'atrium://files/{id}', 'id')).body.result.completion.values, [])
  assert.deepEqual((await ask(keys.files, 'atrium://agents/{slug}', 'slug')).body.result.completion.values, [])
})

test('rejects cursors and completions that are malformed or too long as Invalid params', async () => {
  const owner = await app.createOrg()
  const ref = { type: 'ref/resource', uri: 'atrium://files/{id}' }
  const calls: [string, object][] = [
    ['resources/list', { cursor: 'x' }],
    ['resources/list', { cursor: 'x'.repeat(4_097) }],
    ['resources/list', { cursor: 7 }],
    ['prompts/list', { cursor: 'x' }],
    ['resources/templates/list', { cursor: 'x' }],
    ['completion/complete', {}],
    ['completion/complete', { ref, argument: { name: 'id', value: 'x'.repeat(256) } }],
    ['completion/complete', { ref: { type: 'ref/other' }, argument: { name: 'id', value: 'x' } }],
    ['prompts/get', { name: 7 }],
    ['prompts/get', { name: 'assistant', arguments: { text: 'x'.repeat(100_001) } }],
  ]
  for (const [method, params] of calls) {
    assert.equal(
      (await errorOf(owner, method, params)).code,
      -32_602,
      `${method} ${JSON.stringify(params).slice(0, 80)}`,
    )
  }
})
