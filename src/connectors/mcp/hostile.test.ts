// Responses of hostile MCP servers are bounded data: stored and passed on, never compiled.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import type { Seen } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { longestBlockMs, measureBlocks } from '../../../test/support/processes/longest-block.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
const api = '/api/v1'

const rejections: unknown[] = []
process.on('unhandledRejection', (error) => rejections.push(error))

const nested = (levels: number, wrap: (inner: object) => object): object => {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

beforeEach(() => {
  mcp.tools = [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }]
  mcp.onCall = (name, input) => ({ content: [{ type: 'text', text: `${name} ${JSON.stringify(input)}` }] })
})

const submit = async (as: TestActor, path = '/mcp') => {
  const json = { connectorSlug: 'mcp' }
  const { id } = (await app.call('POST', `${api}/connections`, { as, json })).body.data.connection
  const credentials = { url: provider.url + path }
  const response = await app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })
  return { id: id as string, ...response }
}

const connect = async (as: TestActor): Promise<string> => {
  const { id, status, text } = await submit(as)
  assert.equal(status, 200, text)
  return id
}

const statusOf = async (as: TestActor, id: string): Promise<string> =>
  (await app.call('GET', `${api}/connections/${id}`, { as })).body.data.status

const callByProtocol = async (as: TestActor, name: string, input: unknown) =>
  app.call('POST', '/mcp', {
    as,
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
    headers: { accept: 'application/json', 'mcp-protocol-version': '2025-06-18' },
  })

/** Each definition refers twice to the next one, so 30 definitions expand to 2^30 schemas. */
const branching = Object.fromEntries(
  Array.from({ length: 30 }, (_, n) => {
    const next = n === 29 ? { type: 'object' } : { $ref: `#/$defs/d${n + 1}` }
    return [`d${n}`, { allOf: [next, next] }]
  }),
)

const hostileSchemas: [string, object, object][] = [
  ['that is asynchronous', { $async: true, type: 'object', required: ['x'] }, {}],
  [
    'with a pattern that needs exponential time',
    { type: 'object', properties: { q: { type: 'string', pattern: '^(a|a)+$' } } },
    { q: `${'a'.repeat(45)}!` },
  ],
  ['with 2^30 branches', { type: 'object', allOf: [{ $ref: '#/$defs/d0' }], $defs: branching }, {}],
  ['that refers to itself', { $ref: '#' }, {}],
  ['with unknown formats and keywords', { type: 'object', format: 'no-such-format', nullable: 1 }, {}],
]

describe('hostile tool schemas', () => {
  for (const [what, inputSchema, input] of hostileSchemas) {
    test(`an MCP tool with a schema ${what} is called without compiling the schema`, async () => {
      mcp.tools = [{ name: 'search', description: 'Searches.', inputSchema }]
      const owner = await app.createOrg()
      const id = await connect(owner)
      await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
      const session = await openSession(app, owner, { agentId: 'helper' })
      const meter = measureBlocks()
      const { turn } = await ask(app, owner, session.id, { text: `/tool mcp__search ${JSON.stringify(input)}` })
      assert.equal(turn.toolCalls[0].status, 'done')
      assert.deepEqual(mcp.calls.at(-1), { name: 'search', input })
      const direct = await callByProtocol(owner, 'mcp__search', input)
      assert.deepEqual([direct.status, direct.body.result?.isError], [200, false], direct.text)
      const shown = (await app.call('GET', `${api}/connections/${id}/tools`, { as: owner })).body.data
      assert.deepEqual(shown.items[0].inputSchema, inputSchema)
      assert.ok(meter.stop() < longestBlockMs)
      assert.deepEqual(rejections, [])
    })
  }

  test('an MCP tool is not called with arguments that are not an object', async () => {
    const owner = await app.createOrg()
    await connect(owner)
    await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
    const session = await openSession(app, owner, { agentId: 'helper' })
    const before = mcp.calls.length
    for (const input of ['[1]', '"text"', '7']) {
      const { turn } = await ask(app, owner, session.id, { text: `/tool mcp__search ${input}` })
      assert.match(turn.toolCalls[0].output.error, /must be an object/)
    }
    const deep = `{"q":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const { turn } = await ask(app, owner, session.id, { text: `/tool mcp__search ${deep.slice(0, 90_000)}` })
    assert.equal(turn.toolCalls[0].status, 'failed')
    assert.equal((await callByProtocol(owner, 'mcp__search', [1])).body.error.code, -32602)
    assert.equal(mcp.calls.length, before)
  })
})

describe('limits of tool lists', () => {
  const tool = (change: object) => ({
    name: 'search',
    description: 'Searches.',
    inputSchema: { type: 'object' },
    ...change,
  })
  const many = (count: number, change: object) =>
    Array.from({ length: count }, (_, n) => tool({ name: `t${n}`, ...change }))
  const cases: [string, object[], RegExp][] = [
    ['129 tools', many(129, {}), /more than 128/],
    [
      'a schema of 17 KB',
      [tool({ inputSchema: { title: 'x'.repeat(17_000) } })],
      /schema of search is larger than 16384/,
    ],
    [
      'a schema of 33 levels',
      [tool({ inputSchema: nested(33, (inner) => ({ not: inner })) })],
      /deeper than 32 levels/,
    ],
    ['a name of 129 characters', [tool({ name: 'n'.repeat(129) })], /longer than 128 characters/],
    [
      '600 KB of schemas',
      many(60, { inputSchema: { title: 'x'.repeat(10_000) } }),
      /together are larger than 524288 bytes/,
    ],
  ]
  for (const [what, tools, message] of cases) {
    test(`connecting an MCP server with ${what} is BAD_REQUEST with the limit and stores nothing`, async () => {
      mcp.tools = tools as typeof mcp.tools
      const owner = await app.createOrg()
      const { id, status, body } = await submit(owner)
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.match(body.error.message, message)
      assert.equal(await statusOf(owner, id), 'pending')
      const { items } = (await app.call('GET', `${api}/connections/${id}/tools`, { as: owner })).body.data
      assert.deepEqual(items, [])
    })
  }

  test('a tool list that later exceeds a limit fails the call and keeps the accepted tools', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
    const session = await openSession(app, owner, { agentId: 'helper' })
    mcp.tools = many(129, {})
    const { turn } = await ask(app, owner, session.id, { text: '/tool mcp__search {}' })
    assert.match(turn.toolCalls[0].output.error, /more than 128/)
    assert.equal(await statusOf(owner, id), 'active')
  })
})

/** Responds to each request with an event stream that the test writes. */
const streamOf = (path: string, write: (response: ServerResponse) => Promise<void>): void => {
  provider.on('POST', path, ({ body }: Seen, response: ServerResponse) => {
    if ((body as { method?: string } | undefined)?.method === 'server/discover') return { status: 404 }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    void write(response)
    return {}
  })
}

const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2024-01-01', capabilities: {}, serverInfo: { name: 'Fake', version: '1' } },
})

describe('texts that a database cannot store', () => {
  test('are cleaned in names, descriptions and schemas, and a changed tool still needs acceptance', async () => {
    const owner = await app.createOrg()
    mcp.name = `${'n'.repeat(99)}😀`
    const inputSchema = { type: 'object', properties: { 'a\0': { type: 'string', description: '\uD800' } } }
    mcp.tools = [{ name: 'search', description: `${'x'.repeat(1_023)}😀`, inputSchema }]
    const id = await connect(owner)
    const read = async () => (await app.call('GET', `${api}/connections/${id}/tools`, { as: owner })).body.data
    const { items } = await read()
    assert.equal(items[0].description, 'x'.repeat(1_023))
    assert.deepEqual(items[0].inputSchema.properties, { a: { type: 'string', description: '\uFFFD' } })
    await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
    const session = await openSession(app, owner, { agentId: 'helper' })
    mcp.tools = [{ name: 'search', description: `Other ${'x'.repeat(1_017)}😀`, inputSchema }]
    const { turn } = await ask(app, owner, session.id, { text: '/tool mcp__search {}' })
    assert.match(turn.toolCalls[0].output.error, /have changed/)
    assert.equal(await statusOf(owner, id), 'error')
    assert.match((await read()).offered.items[0].description, /^Other x/)
    mcp.name = 'Fake'
  })
})

describe('MCP event streams', () => {
  test('an event stream in 200,000 chunks of one byte is aborted without blocking the event loop', async () => {
    streamOf('/chunks', async (response) => {
      response.write('data: ')
      await new Promise((resolve) => setImmediate(resolve))
      // By the socket: Node.js would join what is written within one turn of the event loop into one chunk.
      response.socket?.write('1\r\nx\r\n'.repeat(200_000))
    })
    const owner = await app.createOrg()
    const meter = measureBlocks()
    const { status, body } = await submit(owner, '/chunks')
    assert.equal(status, 503)
    assert.match(body.error.message, /more than 16384 chunks/)
    assert.ok(meter.stop() < longestBlockMs)
  })

  for (const [what, text, message] of [
    ['of more than a megabyte', `data: ${'x'.repeat(1_100_000)}`, /more than 1 MB/],
    ['of 2,000 events', 'data: {}\n\n'.repeat(2_000), /more than 1000 events/],
    ['with JSON of 100,000 levels', `data: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n\n`, /more than 64 levels/],
    ['that ends in the middle of an event', 'data: {}', /without a response/],
  ] as const) {
    test(`an event stream ${what} is SERVICE_UNAVAILABLE with the reason`, async () => {
      streamOf('/odd', async (response) => void response.end(text))
      const { status, body } = await submit(await app.createOrg(), '/odd')
      assert.equal(status, 503)
      assert.match(body.error.message, message)
    })
  }

  test('a response whose stream ends is requested from its last event on', async () => {
    streamOf('/resumed', async (response) => void response.end('id: 1\nretry: 5\ndata:\n\nid: 2\ndata: cut off'))
    const asked: unknown[] = []
    provider.on('GET', '/resumed', ({ headers }, response) => {
      asked.push(headers['last-event-id'])
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(asked.length === 1 ? 'id: 3\ndata:\n\n' : `data: ${hello}\n\n`)
      return {}
    })
    const { status, body } = await submit(await app.createOrg(), '/resumed')
    assert.deepEqual([status, asked], [400, ['1', '3']])
    assert.match(body.error.message, /none of the MCP versions/)
  })

  test('a response whose streams end without end is SERVICE_UNAVAILABLE after ten further requests', async () => {
    const text = 'id: 1\nretry: 0\ndata:\n\n'
    streamOf('/endless', async (response) => void response.end(text))
    provider.on('GET', '/endless', (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(text)
      return {}
    })
    const { status, body } = await submit(await app.createOrg(), '/endless')
    assert.equal(status, 503)
    assert.match(body.error.message, /without a response/)
    assert.equal(provider.count('GET', '/endless'), 10)
  })

  test('an event stream is read the same for all chunk boundaries and line breaks', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }),
      async (lineBreak, sizes) => {
        const half = hello.indexOf('"capabilities"')
        const lines = [
          ': comment',
          'event: message',
          `data: ${hello.slice(0, half)}`,
          `data:${hello.slice(half)}`,
          '',
          '',
        ]
        const bytes = Buffer.from(lines.join(lineBreak))
        streamOf('/cut', async (response) => {
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const size = sizes[n % sizes.length] ?? 1
            response.write(bytes.subarray(at, at + size))
            at += size
            await new Promise((resolve) => setImmediate(resolve))
          }
        })
        // The error about the unsupported version shows that the whole response was read.
        const { status, body } = await submit(owner, '/cut')
        assert.equal(status, 400)
        assert.match(body.error.message, /none of the MCP versions/)
      },
    )
    const owner = await app.createOrg()
    await fc.assert(property, { numRuns: 15 })
  })
})

test('a tool result with 200 levels is an error for the model, and the turn completes', async () => {
  const owner = await app.createOrg()
  await connect(owner)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  const session = await openSession(app, owner, { agentId: 'helper' })
  mcp.onCall = () => ({ content: [], structuredContent: nested(200, (inner) => ({ inner })) })
  const { turn } = await ask(app, owner, session.id, { text: '/tool mcp__search {}' })
  assert.equal(turn.status, 'completed')
  assert.match(turn.toolCalls[0].output.error, /more than 64 levels/)
})
