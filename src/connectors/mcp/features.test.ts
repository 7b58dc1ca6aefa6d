import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { decided, trustAgent, turnIn } from '../../../test/support/authority.ts'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const token = 'planted-mcp-token'
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
const api = '/api/v1'

beforeEach(() => {
  mcp.token = token
  mcp.tools = [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }]
  mcp.capabilities = { resources: {}, prompts: {} }
  mcp.asks = undefined
  mcp.error = undefined
  mcp.answers = []
  mcp.onRequest = {
    'resources/list': ({ cursor }) =>
      cursor === undefined
        ? { resources: [{ uri: 'file:///a', name: 'A', size: 3, secret: 'x', title: 7 }, null], nextCursor: '2' }
        : {
            resources: [
              { uri: `file:///${'b'.repeat(3_000)}`, name: 'too long' },
              { uri: 'file:///c', name: 'C' },
            ],
          },
    'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'file:///{path}', name: 'Files' }] }),
    'resources/read': ({ uri }) => ({
      contents: [
        { uri, mimeType: 'text/plain', text: `the token is ${token}` },
        { uri, mimeType: 'image/png', blob: 'AAAA' },
        null,
      ],
    }),
    'prompts/list': () => ({
      prompts: [{ name: 'greet', description: 'x'.repeat(5_000), arguments: [{ name: 'who', required: true }, null] }],
    }),
    'prompts/get': ({ name, arguments: given }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `${String(name)} ${JSON.stringify(given)}` } }, null],
    }),
  }
})

const connect = async (as: TestActor): Promise<string> => {
  const json = { connectorSlug: 'mcp' }
  const { id } = (await app.call('POST', `${api}/connections`, { as, json })).body.data.connection
  const credentials = { url: `${provider.url}/mcp`, token }
  const { status, text } = await app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })
  assert.equal(status, 200, text)
  return id
}

const namesOf = async (as: TestActor, id: string): Promise<string[]> => {
  const { items } = (await app.call('GET', `${api}/connections/${id}/tools`, { as })).body.data
  return items.map(({ name }: { name: string }) => name)
}

const start = async (isTrusted = true): Promise<{ owner: TestActor; id: string; session: string }> => {
  const owner = await app.createOrg()
  const id = await connect(owner)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  if (isTrusted) await trustAgent(app, owner, 'helper', 'mcp')
  return { owner, id, session: (await openSession(app, owner, { agentId: 'helper' })).id }
}

const run = async (as: TestActor, sessionId: string, name: string, input: object = {}) => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${name} ${JSON.stringify(input)}` })
  return turn.toolCalls[0] as { status: string; output: Record<string, unknown> & { error?: string } }
}

describe('resources and prompts of MCP servers', () => {
  test('agents list and read the resources of a server, bounded and without the token', async () => {
    const { owner, session } = await start()
    const listed = await run(owner, session, 'mcp__list_resources')
    assert.deepEqual(listed.output, {
      resources: [
        { uri: 'file:///a', name: 'A', size: 3 },
        { uri: 'file:///c', name: 'C' },
      ],
      resourceTemplates: [{ uriTemplate: 'file:///{path}', name: 'Files' }],
    })
    const read = await run(owner, session, 'mcp__read_resource', { uri: 'file:///a' })
    assert.deepEqual(read.output, {
      contents: [
        { type: 'resource', uri: 'file:///a', mimeType: 'text/plain', text: 'the token is [redacted]' },
        { type: 'resource', uri: 'file:///a', mimeType: 'image/png', omitted: true },
        { type: 'resource', omitted: true },
      ],
    })
    assert.equal(mcp.openSessions.size, 0)
  })

  test('a server without resource templates still lists its resources', async () => {
    const { owner, session } = await start()
    delete mcp.onRequest['resources/templates/list']
    const { status, output } = await run(owner, session, 'mcp__list_resources')
    assert.deepEqual([status, output['resourceTemplates']], ['done', []])
    assert.equal((output['resources'] as object[]).length, 2)
  })

  test('a server with endless pages of resources gives the first 200, marked as truncated', async () => {
    const { owner, session } = await start()
    const page = Array.from({ length: 70 }, (_, n) => ({ uri: `file:///${n}`, name: 'N' }))
    mcp.onRequest['resources/list'] = () => ({ resources: page, nextCursor: 'again' })
    const { output } = await run(owner, session, 'mcp__list_resources')
    assert.deepEqual([(output['resources'] as object[]).length, output['truncated']], [200, true])
  })

  test('agents list the prompts of a server and get one with its arguments', async () => {
    const { owner, session } = await start()
    const { output } = await run(owner, session, 'mcp__list_prompts')
    assert.deepEqual(output, {
      prompts: [{ name: 'greet', description: 'x'.repeat(1_024), arguments: [{ name: 'who', required: true }, {}] }],
    })
    const got = await run(owner, session, 'mcp__get_prompt', { name: 'greet', arguments: { who: 'Ada' } })
    assert.deepEqual(got.output, {
      messages: [
        { role: 'user', content: { type: 'text', text: 'greet {"who":"Ada"}' } },
        { content: { omitted: true } },
      ],
    })
    const invalid = await run(owner, session, 'mcp__get_prompt', { name: 'greet', arguments: { who: 1 } })
    assert.equal(invalid.status, 'failed')
  })

  test('only what the server declares is offered, and a tool of the server keeps its name', async () => {
    mcp.capabilities = { resources: {}, prompts: true }
    mcp.tools = [{ name: 'read_resource', description: 'Own.', inputSchema: { type: 'object' } }]
    const { owner, id, session } = await start()
    assert.deepEqual(await namesOf(owner, id), ['mcp__read_resource', 'mcp__list_resources'])
    const { output } = await run(owner, session, 'mcp__read_resource')
    assert.deepEqual(output, { content: [{ type: 'text', text: 'read_resource done' }] })
    assert.match((await run(owner, session, 'mcp__list_prompts')).output.error ?? '', /no tool/i)
  })

  test('reading a resource after the list of resources needs approval, because a URI can carry what was read', async () => {
    const { owner, session } = await start(false)
    const reads = () => provider.seen.filter(({ text }) => text.includes('resources/read')).length
    const before = reads()
    const text = '/tool mcp__list_resources {}\n\n/tool mcp__read_resource {"uri":"file:///a"}'
    const turn = await turnIn(app, owner, session, text)
    assert.equal(turn.status, 'requires_action', JSON.stringify(turn))
    assert.equal(turn.approvals[0].untrustedFrom, 'mcp__list_resources')
    assert.equal(reads(), before)
    const allowed = await decided(app, owner, turn, true)
    assert.equal(allowed.status, 'completed')
    assert.equal(reads(), before + 1)
  })

  test('resources of a server whose tools have changed are not read', async () => {
    const { owner, id, session } = await start()
    mcp.tools = [{ name: 'search', description: 'Other.', inputSchema: { type: 'object' } }]
    const { status, output } = await run(owner, session, 'mcp__read_resource', { uri: 'file:///a' })
    assert.deepEqual([status, /have changed/.test(output.error ?? '')], ['failed', true])
    assert.equal((await app.call('GET', `${api}/connections/${id}`, { as: owner })).body.data.status, 'error')
  })

  test('the token is redacted in the JSON-RPC errors of a server', async () => {
    const { owner, session } = await start()
    mcp.error = `you sent ${token}`
    const { status, output } = await run(owner, session, 'mcp__read_resource', { uri: 'file:///a' })
    assert.equal(status, 'failed')
    assert.match(output.error ?? '', /you sent \[redacted\]/)
    assert.ok(!app.logLines.join('').includes(token))
  })

  test('a request of the server during a call is declined at once, even with the ID of the call, and the call continues', async () => {
    const { owner, session } = await start()
    mcp.asks = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } }
    const { status, output } = await run(owner, session, 'mcp__search')
    assert.deepEqual([status, output], ['done', { content: [{ type: 'text', text: 'search done' }] }])
    assert.equal(mcp.answers.length, 1)
    assert.equal((mcp.answers[0] as { error: { code: number } }).error.code, -32_601)
    mcp.asks = { method: 'ping' }
    assert.equal((await run(owner, session, 'mcp__search')).status, 'done')
    assert.deepEqual((mcp.answers[1] as { result: object }).result, {})
  })

  test('a server that asks more than 16 times or breaks off before its response is SERVICE_UNAVAILABLE', async () => {
    const asks = Array.from({ length: 40 }, (_, id) => `data: {"jsonrpc":"2.0","id":${id + 10},"method":"ping"}\n\n`)
    let answers = 0
    let isBreakingOff = false
    provider.on('POST', '/asking', ({ body }, response) => {
      if ((body as { method?: string }).method === undefined) {
        answers += 1
        return { status: 202 }
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (isBreakingOff) response.write('data: {', () => response.destroy())
      else response.write(asks.join(''))
      return {}
    })
    const owner = await app.createOrg()
    const json = { connectorSlug: 'mcp' }
    const { id } = (await app.call('POST', `${api}/connections`, { as: owner, json })).body.data.connection
    const credentials = { url: `${provider.url}/asking` }
    const submit = () => app.call('POST', `${api}/connections/${id}/credentials`, { as: owner, json: { credentials } })
    const asked = await submit()
    assert.deepEqual([asked.status, answers], [503, 16], asked.text)
    assert.match(asked.text, /more than 16 requests/)
    isBreakingOff = true
    const broken = await submit()
    assert.equal(broken.status, 503, broken.text)
    assert.match(broken.text, /did not complete its response/)
  })
})
