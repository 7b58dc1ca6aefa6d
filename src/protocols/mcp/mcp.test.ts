import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createAgent, until } from '../../../test/support/chat.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { CallOptions, TestActor, TestApp } from '../../../test/harness.ts'
import { generateKey } from '../../platform/key-format.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
const path = '/mcp'
const info = { name: 'test', version: '1' }

const opened: { close(): Promise<void> }[] = []
after(async () => {
  for (const client of opened) await client.close()
})

const transportOptions = (as: TestActor | string, headers: Record<string, string> = {}) => ({
  requestInit: { headers: { authorization: `Bearer ${typeof as === 'string' ? as : as.key}`, ...headers } },
})

/** The official client of the legacy revisions. */
const connect = async (as: TestActor | string, at: TestApp = app): Promise<Client> => {
  const client = new Client(info)
  opened.push(client)
  // Its types are incompatible with exactOptionalPropertyTypes.
  const transport = new StreamableHTTPClientTransport(new URL(at.url + path), transportOptions(as)) as Transport
  await client.connect(transport)
  return client
}

/** The official client of the modern revision, which falls back to a legacy one only when necessary. */
const connectModern = async (as: TestActor | string, at: TestApp = app): Promise<ModernClient> => {
  const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } })
  opened.push(client)
  await client.connect(new ModernTransport(new URL(at.url + path), transportOptions(as)))
  return client
}

const clients: [string, (as: TestActor | string, at?: TestApp) => Promise<Client | ModernClient>][] = [
  ['of the legacy revisions', connect],
  ['of the modern revision', connectModern],
]

interface Result {
  content: { type: string; text: string }[]
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into results of every shape
  structuredContent?: any
  isError?: boolean
}

const callTool = async (
  client: Client | ModernClient,
  name: string,
  input: Record<string, unknown> = {},
  options: object = {},
): Promise<Result> => {
  const params = { name, arguments: input }
  const result =
    client instanceof Client
      ? await client.callTool(params, undefined, options)
      : await client.callTool(params, options)
  return result as Result
}

const namesOf = async (client: Client | ModernClient): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

const sessionsOf = async (as: TestActor): Promise<{ id: string; status: string; activeTurnId: string | null }[]> =>
  (await app.call('GET', '/api/v1/sessions', { as })).body.data.items

const untilSession = (as: TestActor) =>
  until(
    async () => (await sessionsOf(as))[0],
    (session) => session?.activeTurnId != null,
  )

const turnsOf = (as: TestActor) =>
  app.db.rows<{ status: string }>({
    text: 'select status from turns where org_id = $1 order by created_at',
    values: [as.orgId],
  })

for (const [how, open] of clients) {
  describe(`the official client ${how}`, () => {
    test('connects, and lists the tools that its key may use', async () => {
      const client = await open(await app.createOrg())
      assert.equal(client.getServerVersion()?.name, 'atrium')
      const isModern = client instanceof ModernClient
      assert.deepEqual(client.getServerCapabilities(), {
        tools: { listChanged: isModern },
        resources: { subscribe: isModern, listChanged: isModern },
        prompts: { listChanged: isModern },
        completions: {},
      })
      assert.match(client.getInstructions() ?? '', /agents_ask/)
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['files_search', 'files_read', 'files_write', 'agents_list', 'agents_ask'],
      )
      for (const { description, inputSchema } of tools) {
        assert.ok((description?.length ?? 0) > 20)
        assert.equal(inputSchema.type, 'object')
      }
      assert.deepEqual(
        tools.map(({ title, annotations }) => [
          annotations?.title === title && title,
          annotations?.readOnlyHint,
          annotations?.destructiveHint,
          annotations?.openWorldHint,
        ]),
        [
          ['Search files', true, false, false],
          ['Read a file', true, false, false],
          ['Create a text file', false, false, false],
          ['List agents', true, false, false],
          ['Ask an agent', false, true, true],
        ],
      )
    })

    test('searches, reads and writes files of the org', async () => {
      const client = await open(await app.createOrg())
      const written = await callTool(client, 'files_write', { name: 'note.md', text: '# Hello' })
      assert.equal(written.isError, false)
      const found = await callTool(client, 'files_search', { query: 'NOTE' })
      assert.equal(found.structuredContent.files[0].id, written.structuredContent.fileId)
      assert.deepEqual(JSON.parse(found.content[0]?.text ?? ''), found.structuredContent)
      const { structuredContent } = await callTool(client, 'files_read', { fileId: written.structuredContent.fileId })
      assert.equal(structuredContent.text, '# Hello')
    })

    test('lists connector tools with a title, and those that change something as destructive', async () => {
      const owner = await app.createOrg()
      const started = await app.call('POST', '/api/v1/connections', { as: owner, json: { connectorSlug: 'http' } })
      const json = { credentials: { baseUrl: 'https://api.example.com/v1' } }
      const connected = await app.call('POST', `/api/v1/connections/${started.body.data.connection.id}/credentials`, {
        as: owner,
        json,
      })
      assert.equal(connected.status, 200, connected.text)
      const { tools } = await (await open(owner)).listTools()
      const annotationsOf = (name: string) => tools.find((tool) => tool.name === name)?.annotations
      const reads = { readOnlyHint: true, destructiveHint: false, openWorldHint: true }
      assert.deepEqual(annotationsOf('http__get'), { title: 'http: get', ...reads })
      const changes = { readOnlyHint: false, destructiveHint: true, openWorldHint: true }
      assert.deepEqual(annotationsOf('http__delete'), { title: 'http: delete', ...changes })
    })

    test('lists only the tools that its key may use, and cannot call others', async () => {
      const owner = await app.createOrg()
      const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
      const client = await open(reader)
      assert.deepEqual(await namesOf(client), ['files_search', 'files_read'])
      await assert.rejects(callTool(client, 'files_write', { name: 'a', text: 'b' }), /tool does not exist/)
      await assert.rejects(callTool(client, 'agents_ask', { text: 'Hi' }), /tool does not exist/)
      assert.deepEqual(await sessionsOf(owner), [])
    })

    test('gets the error of a tool as a result with isError, without data of other orgs', async () => {
      const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
      const theirs = await callTool(await open(stranger), 'files_write', { name: 'secret.txt', text: 'secret' })
      const client = await open(owner)
      const { fileId } = theirs.structuredContent
      const foreign = await callTool(client, 'files_read', { fileId })
      assert.deepEqual(foreign, { ...foreign, isError: true, content: [{ type: 'text', text: 'File not found' }] })
      const wrong = await callTool(client, 'files_read', { fileId: 'x' })
      assert.deepEqual([wrong.isError, wrong.content[0]?.text], [true, 'fileId must be a UUID'])
      const missing = await callTool(client, 'files_search', {})
      assert.deepEqual([missing.isError, missing.content[0]?.text], [true, 'query is required'])
      const unknownAgent = await callTool(client, 'agents_ask', { agent: 'missing', text: 'Hi' })
      assert.deepEqual([unknownAgent.isError, unknownAgent.content[0]?.text], [true, 'Agent not found'])
      const empty = await callTool(client, 'agents_ask', { text: ' ' })
      assert.deepEqual([empty.isError, empty.content[0]?.text], [true, 'text must not be empty'])
      await assert.rejects(callTool(client, 'no_such_tool'), /tool does not exist/)
    })

    test('asks an agent and continues the conversation', async () => {
      const owner = await app.createOrg()
      await createAgent(app, owner, { name: 'Numbers', description: 'Counts things' })
      const client = await open(owner)
      const { agents } = (await callTool(client, 'agents_list')).structuredContent
      assert.deepEqual(agents.map(({ slug }: { slug: string }) => slug).toSorted(), ['assistant', 'numbers'])
      const first = await callTool(client, 'agents_ask', { agent: 'numbers', text: 'One' })
      assert.equal(first.isError, false)
      assert.match(first.content[0]?.text ?? '', /You wrote: “One”/)
      const { sessionId, turnId, status } = first.structuredContent
      assert.equal(status, 'completed')
      const { body } = await app.call('GET', `/api/v1/turns/${turnId}`, { as: owner })
      assert.equal(body.data.sessionId, sessionId)
      const second = await callTool(client, 'agents_ask', { text: 'Two', sessionId })
      assert.equal(second.structuredContent.sessionId, sessionId)
      assert.equal((await sessionsOf(owner)).length, 1)
      const other = await callTool(await open(await app.createOrg()), 'agents_ask', { text: 'Two', sessionId })
      assert.deepEqual([other.isError, other.content[0]?.text], [true, 'Session not found'])
    })

    test('gets progress notifications while an agent works', async () => {
      const client = await open(await app.createOrg())
      const updates: { progress: number; message?: string | undefined }[] = []
      const text = '/slow 200\n/tool files.search {"query":"x"}'
      const { isError } = await callTool(
        client,
        'agents_ask',
        { text },
        { onprogress: (one: never) => updates.push(one) },
      )
      assert.equal(isError, false)
      assert.ok(updates.some(({ message }) => message === 'The agent is using files.search'))
      assert.deepEqual(
        updates.map(({ progress }) => progress),
        updates.map((_, at) => at + 1),
      )
    })

    test('gets the reason when an agent fails', async () => {
      const client = await open(await app.createOrg())
      const failed = await callTool(client, 'agents_ask', { text: '/fail 500' })
      assert.equal(failed.isError, true)
      assert.match(failed.content.at(-1)?.text ?? '', /provider failed \(500\)/)
      assert.equal(failed.structuredContent.status, 'failed')
    })

    test('gets an error when the balance is used up', async () => {
      const owner = await app.createOrg()
      await createAgent(app, owner, { name: 'Paid', model: 'atrium/demo-paid' })
      const client = await open(owner, await app.secondServer({ BILLING_ENFORCED: '1' }))
      const { isError, content } = await callTool(client, 'agents_ask', { agent: 'paid', text: 'Hi' })
      assert.equal(isError, true)
      assert.match(content[0]?.text ?? '', /balance/i)
      assert.deepEqual(await turnsOf(owner), [])
    })

    test('is told that a person has to approve a tool call', async () => {
      const owner = await app.createOrg()
      const settings = { approvals: ['files.write'] }
      await createAgent(app, owner, { name: 'Careful', allowedTools: ['files.write'], settings })
      const text = '/tool files.write {"name":"a.txt","text":"a"}'
      const waiting = await callTool(await open(owner), 'agents_ask', { agent: 'careful', text })
      assert.deepEqual([waiting.isError, waiting.structuredContent.status], [true, 'requires_action'])
      assert.match(waiting.content.at(-1)?.text ?? '', /waits for a person to approve a tool call/)
      assert.equal((await app.call('GET', '/api/v1/files', { as: owner })).body.data.total, 0)
    })

    test('cancels its request, which cancels the turn', async () => {
      const owner = await app.createOrg()
      const client = await open(owner)
      const stop = new AbortController()
      const asking = callTool(client, 'agents_ask', { text: '/slow 60000\nHi' }, { signal: stop.signal })
      await untilSession(owner)
      stop.abort()
      await assert.rejects(asking)
      await until(
        () => turnsOf(owner),
        ([turn]) => turn?.status === 'cancelled',
      )
      assert.deepEqual((await callTool(client, 'agents_list')).isError, false)
    })

    test('can send each request to a different process', async () => {
      const owner = await app.createOrg()
      const other = await app.secondServer({}, { work: false })
      const { content } = await callTool(await open(owner, other), 'agents_ask', { text: 'Elsewhere' })
      assert.match(content[0]?.text ?? '', /You wrote: “Elsewhere”/)
    })

    test('is rejected with an invalid key', async () => {
      for (const key of ['nonsense', generateKey('test')]) await assert.rejects(open(key), /401|UNAUTHORIZED|API key/i)
    })
  })
}

test('negotiates the newest revision that client and server support', async () => {
  const owner = await app.createOrg()
  assert.equal((await connectModern(owner)).getProtocolEra(), 'modern')
  const { body } = await post(owner, { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
  assert.equal(body.result.protocolVersion, '2025-11-25')
})

const accept = 'application/json, text/event-stream'

/** Sends one JSON-RPC message. */
const post = (as: TestActor, message: unknown, headers: Record<string, string> = {}, at: TestApp = app) => {
  const json =
    typeof message === 'object' && message !== null && !Array.isArray(message)
      ? { jsonrpc: '2.0', ...message }
      : message
  return at.call('POST', path, { as, json, headers: { accept, ...headers } })
}

const meta = (version = '2026-07-28', more: object = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  },
})
const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
})

describe('a message', () => {
  test('returns 400 and a JSON-RPC error for a body that is not a JSON-RPC message', async () => {
    const owner = await app.createOrg()
    const json = { 'content-type': 'application/json' }
    const broken: [CallOptions, number][] = [
      [{ body: '{"jsonrpc":', headers: json }, -32_700],
      [{ body: '', headers: json }, -32_700],
      [{ body: 'jsonrpc=2.0', headers: { 'content-type': 'text/plain' } }, -32_700],
      [{ json: null }, -32_600],
      [{ json: 'initialize' }, -32_600],
      [{ json: {} }, -32_600],
      [{ json: { jsonrpc: '1.0', id: 1, method: 'ping' } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: 1 } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: 1, method: 7 } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: null, method: 'ping' } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: 1.5, method: 'ping' } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: {}, method: 'ping' } }, -32_600],
      [{ json: { jsonrpc: '2.0', id: 1, method: 'ping', params: [] } }, -32_600],
    ]
    for (const [options, code] of broken) {
      const { status, body, text } = await app.call('POST', path, { as: owner, ...options })
      assert.equal(status, 400, text)
      assert.equal(body.jsonrpc, '2.0')
      assert.equal(body.error.code, code, JSON.stringify(options))
    }
  })

  test('returns Method not found for an unknown method', async () => {
    const owner = await app.createOrg()
    for (const method of ['resources/subscribe', 'server/discover', 'constructor', '__proto__']) {
      const { status, body } = await post(owner, { id: 'a', method })
      assert.deepEqual([status, body.id, body.error.code], [200, 'a', -32_601], method)
    }
    for (const method of ['ping', 'initialize', 'resources/subscribe']) {
      const { status, body } = await post(owner, { id: 'a', method, params: meta() }, modernHeaders(method))
      assert.deepEqual([status, body.id, body.error.code], [404, 'a', -32_601], method)
    }
  })

  test('returns Invalid params for wrong params of a method', async () => {
    const owner = await app.createOrg()
    const wrong: [string, object][] = [
      ['initialize', {}],
      ['tools/list', { cursor: 'x' }],
      ['tools/call', {}],
      ['tools/call', { name: 'files_search', arguments: [] }],
    ]
    for (const [method, params] of wrong) {
      const { status, body } = await post(owner, { id: 1, method, params })
      assert.deepEqual([status, body.error.code], [200, -32_602], method)
    }
  })

  test('returns 202 without a body for notifications and responses', async () => {
    const owner = await app.createOrg()
    const silent = [
      { method: 'notifications/initialized' },
      { method: 'notifications/cancelled', params: { requestId: 99 } },
      { method: 'notifications/cancelled', params: { requestId: {} } },
      { method: 'notifications/made-up' },
      { id: 1, result: {} },
      { id: 1, error: { code: 1, message: 'x' } },
    ]
    for (const message of silent) {
      const { status, text } = await post(owner, message, { 'mcp-session-id': 'x' })
      assert.deepEqual([status, text], [202, ''], JSON.stringify(message))
    }
  })

  test('returns a batch for a batch in the revision 2025-03-26 and rejects batches in other revisions', async () => {
    const owner = await app.createOrg()
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'agents_ask', arguments: { text: 'Hi' } } },
      { jsonrpc: '2.0', id: 3, method: 'nonsense' },
      'nonsense',
    ]
    const { status, body } = await post(owner, batch)
    assert.equal(status, 200)
    assert.deepEqual(
      body.map(({ id, error }: { id: number; error?: { code: number } }) => [id, error?.code]),
      [
        [1, undefined],
        [2, undefined],
        [3, -32_601],
        [null, -32_600],
      ],
    )
    assert.match(body[1].result.content[0].text, /You wrote: “Hi”/)
    assert.equal((await post(owner, [batch[1]])).status, 202)
    for (const batchOfWrongSize of [[], Array.from({ length: 21 }, () => batch[0])]) {
      assert.equal((await post(owner, batchOfWrongSize)).body.error.code, -32_600)
    }
    assert.equal((await post(owner, batch, { 'mcp-protocol-version': '2025-06-18' })).status, 400)
  })
})

describe('a revision', () => {
  test('rejects an unknown revision with the supported ones, or negotiates another one in a handshake', async () => {
    const owner = await app.createOrg()
    const unknown = await post(owner, { id: 1, method: 'tools/list' }, { 'mcp-protocol-version': '1999-01-01' })
    assert.deepEqual([unknown.status, unknown.body.id, unknown.body.error.code], [400, 1, -32_022])
    assert.deepEqual(unknown.body.error.data.requested, '1999-01-01')
    assert.ok(unknown.body.error.data.supported.includes('2026-07-28'))
    const named = await post(
      owner,
      { id: 1, method: 'tools/list', params: meta('2025-11-25') },
      { 'mcp-protocol-version': '2025-11-25' },
    )
    assert.deepEqual([named.status, named.body.error.code], [400, -32_022])
    for (const [requested, agreed] of [
      ['2024-11-05', '2025-11-25'],
      ['2026-07-28', '2025-11-25'],
      ['2025-03-26', '2025-03-26'],
    ]) {
      const { body } = await post(owner, { id: 1, method: 'initialize', params: { protocolVersion: requested } })
      assert.equal(body.result.protocolVersion, agreed)
    }
  })

  test('rejects a modern request when its headers differ from its body', async () => {
    const owner = await app.createOrg()
    const call = { id: 1, method: 'tools/call', params: { name: 'agents_list', ...meta() } }
    const good = modernHeaders('tools/call', 'agents_list')
    const { body } = await post(owner, call, good)
    assert.equal(body.result.resultType, 'complete')
    assert.equal(body.result._meta['io.modelcontextprotocol/serverInfo'].name, 'atrium')
    const encoded = `=?base64?${Buffer.from('agents_list').toString('base64')}?=`
    assert.equal((await post(owner, call, { ...good, 'mcp-name': encoded })).status, 200)
    const { 'mcp-method': _, ...withoutMethod } = good
    const { 'mcp-protocol-version': __, ...withoutVersion } = good
    for (const headers of [
      withoutMethod,
      withoutVersion,
      { ...good, 'mcp-name': 'files_search' },
      { ...good, 'mcp-method': 'tools/list' },
      { ...good, 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const { status, body } = await post(owner, call, headers)
      assert.deepEqual([status, body.id, body.error.code], [400, 1, -32_020], JSON.stringify(headers))
    }
  })

  test('requires version and capabilities in each modern request, and returns cache hints', async () => {
    const owner = await app.createOrg()
    const headers = modernHeaders('tools/list')
    const incomplete = [{}, { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }, meta(7 as never)]
    for (const params of incomplete) {
      const { status, body } = await post(owner, { id: 1, method: 'tools/list', params }, headers)
      assert.deepEqual([status, body.error.code], [400, -32_602], JSON.stringify(params))
    }
    const { body } = await post(owner, { id: 1, method: 'tools/list', params: meta() }, headers)
    assert.equal(body.result.cacheScope, 'private')
    assert.ok(body.result.ttlMs > 0)
    const discovered = await post(
      owner,
      { id: 1, method: 'server/discover', params: meta() },
      modernHeaders('server/discover'),
    )
    assert.ok(discovered.body.result.supportedVersions.includes('2026-07-28'))
    assert.equal(discovered.headers.get('mcp-session-id'), null)
  })
})

describe('over HTTP', () => {
  test('returns 401 with WWW-Authenticate for a missing or invalid key', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer ${generateKey('test')}` },
    ]) {
      const { status, headers: responseHeaders, body } = await app.call('POST', path, { headers, json: {} })
      assert.equal(status, 401)
      assert.match(responseHeaders.get('www-authenticate') ?? '', /^Bearer/)
      assert.equal(body.error.code, -401)
    }
  })

  test('returns 405 for GET and DELETE, because there are no sessions', async () => {
    const owner = await app.createOrg()
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await app.call(method, path, { as: owner, headers: { accept: 'text/event-stream' } })
      assert.deepEqual([status, headers.get('allow')], [405, 'POST'])
    }
    assert.equal((await app.call('POST', `${path}/x`, { as: owner })).status, 404)
  })

  test('returns 403 for the Origin of another site', async () => {
    const owner = await app.createOrg()
    const ping = { id: 1, method: 'ping' }
    assert.equal((await post(owner, ping, { origin: app.url })).status, 200)
    for (const origin of ['https://evil.example', 'null', `${app.url}.evil.example`, 'http://127.0.0.1:1']) {
      const { status, body } = await post(owner, ping, { origin })
      assert.deepEqual([status, body.error.code], [403, -403], origin)
    }
    const named = await app.secondServer({ BASE_URL: 'https://atrium.example' })
    assert.equal((await post(owner, ping, { origin: 'https://atrium.example' }, named)).status, 200)
    assert.equal((await post(owner, ping, { origin: named.url }, named)).status, 403)
  })

  test('returns 403 for DNS rebinding: an Origin that equals the Host header but is a domain name', async () => {
    const owner = await app.createOrg()
    const { statusCode } = await app.app.inject({
      method: 'POST',
      url: path,
      headers: { host: 'rebound.example', origin: 'http://rebound.example', authorization: `Bearer ${owner.key}` },
      payload: { jsonrpc: '2.0', id: 1, method: 'ping' },
    })
    assert.equal(statusCode, 403)
  })

  test('counts each kind of call against its own rate limit, and returns the request id with the error', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_TURNS: '1', RATE_LIMIT_WRITES: '1' })
    const owner = await app.createOrg()
    const call = (name: string, input: object) =>
      post(owner, { id: 7, method: 'tools/call', params: { name, arguments: input } }, {}, limited)
    assert.equal((await call('files_write', { name: 'a.txt', text: 'a' })).status, 200)
    assert.equal((await call('agents_ask', { text: 'Hi' })).status, 200)
    for (const again of [
      await call('files_write', { name: 'a.txt', text: 'a' }),
      await call('agents_ask', { text: 'Hi' }),
    ]) {
      assert.deepEqual([again.status, again.body.id, again.body.error.code], [429, 7, -429])
      assert.ok(Number(again.headers.get('retry-after')) > 0)
    }
    assert.equal((await call('files_search', { query: '' })).status, 200)
  })

  test('returns one JSON object when the client does not accept events', async () => {
    const owner = await app.createOrg()
    const params = { name: 'agents_ask', arguments: { text: 'Hi' }, _meta: { progressToken: 1 } }
    const message = { id: 1, method: 'tools/call', params }
    const plain = await post(owner, message, { accept: 'application/json' })
    assert.match(plain.headers.get('content-type') ?? '', /^application\/json/)
    assert.match(plain.body.result.content[0].text, /You wrote: “Hi”/)
    const events = await post(owner, message)
    assert.match(events.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(events.headers.get('x-accel-buffering'), 'no')
    const last = events.text.trimEnd().split('\n\n').at(-1) ?? ''
    assert.equal(JSON.parse(last.split('\ndata: ')[1] ?? '').id, 1)
  })

  test('continues the turn when the connection of a legacy client closes', async () => {
    const owner = await app.createOrg()
    const stop = new AbortController()
    await createAgent(app, owner, { name: 'Slow', model: 'fake/m1' })
    const { script, asked, release } = held(reply(['Done.']))
    fake.play(script)
    const params = { name: 'agents_ask', arguments: { agent: 'slow', text: 'Hi' } }
    const asking = fetch(app.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: stop.signal,
    })
    await asked
    stop.abort()
    await assert.rejects(asking.then((answer) => answer.text()))
    release()
    await until(
      () => turnsOf(owner),
      ([turn]) => turn?.status === 'completed',
    )
  })

  test('cancels a request only for the client that sent it, and only while it is in progress', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const params = { name: 'agents_ask', arguments: { text: '/slow 60000\nHi' } }
    const asking = post(owner, { id: 5, method: 'tools/call', params }, { 'mcp-session-id': 'mine' })
    await untilSession(owner)
    const cancel = (as: TestActor, session: string) =>
      post(as, { method: 'notifications/cancelled', params: { requestId: 5 } }, { 'mcp-session-id': session })
    await cancel(owner, 'other')
    await cancel(member, 'mine')
    assert.deepEqual(
      (await turnsOf(owner)).map(({ status }) => status),
      ['running'],
    )
    assert.equal((await cancel(owner, 'mine')).status, 202)
    assert.match((await asking).text, /The turn was cancelled/)
    assert.equal((await cancel(owner, 'mine')).status, 202)
  })

  test('returns an error to waiting clients when the server stops', async () => {
    const owner = await app.createOrg()
    const other = await app.secondServer({}, { work: false })
    const params = { name: 'agents_ask', arguments: { text: '/slow 3000\nHi' } }
    const asking = post(owner, { id: 5, method: 'tools/call', params }, {}, other)
    await untilSession(owner)
    await other.app.close()
    assert.match((await asking).text, /"id":5,"error":\{"code":-503/)
    const [turn] = await turnsOf(owner)
    assert.notEqual(turn?.status, 'cancelled')
  })
})
