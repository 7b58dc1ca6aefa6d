// Servers of the revision 2026-07-28, which has no sessions.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { addStatelessMcp } from '../../../test/fakes/mcp-stateless.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { trustAgent } from '../../../test/support/authority.ts'
import { ask, createAgent, openSession, say, untilStatus } from '../../../test/support/chat.ts'

const provider = await startProvider()
const mcp = addStatelessMcp(provider, '/mcp')
const token = 'planted-mcp-token'
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
const api = '/api/v1'

const tool = (name: string, properties: object = {}) => ({
  name,
  description: 'Does something.',
  inputSchema: { type: 'object', properties },
})

beforeEach(() => {
  mcp.token = token
  mcp.tools = [tool('search', { q: { type: 'string' } })]
  mcp.onCall = ({ arguments: input }) => ({ content: [{ type: 'text', text: JSON.stringify(input) }] })
  mcp.calls.length = 0
  mcp.methods.length = 0
})

const submit = async (as: TestActor, credentials: object) => {
  const json = { connectorSlug: 'mcp' }
  const { id } = (await app.call('POST', `${api}/connections`, { as, json })).body.data.connection
  return app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })
}

const newPerson = async (url = `${provider.url}/mcp`): Promise<{ owner: TestActor; session: string; id: string }> => {
  const owner = await app.createOrg()
  const { status, body, text } = await submit(owner, { url, token })
  assert.equal(status, 200, text)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  await trustAgent(app, owner, 'helper', 'mcp')
  return { owner, session: (await openSession(app, owner, { agentId: 'helper' })).id, id: body.data.id }
}

const run = async (as: TestActor, sessionId: string, name: string, input: object = {}) => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${name} ${JSON.stringify(input)}` })
  return turn.toolCalls[0]
}

describe('a server without a handshake', () => {
  test('is connected, and its tools are called without a session', async () => {
    const { owner, session, id } = await newPerson()
    const connection = (await app.call('GET', `${api}/connections/${id}`, { as: owner })).body.data
    assert.equal(connection.accountName, 'Stateless')
    mcp.methods.length = 0
    const { status, output } = await run(owner, session, 'mcp__search', { q: 'a' })
    assert.deepEqual([status, output], ['done', { content: [{ type: 'text', text: '{"q":"a"}' }] }])
    assert.deepEqual(mcp.methods, ['server/discover', 'tools/list', 'tools/call'])
  })

  test('gets arguments as headers, in base64 when they are not plain ASCII', async () => {
    const region = { type: 'string', 'x-mcp-header': 'Region' }
    mcp.tools = [
      tool('query', {
        region,
        nested: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
      }),
    ]
    const { owner, session } = await newPerson()
    const seenWith = async (input: object) => {
      assert.equal((await run(owner, session, 'mcp__query', input)).status, 'done')
      const { headers } = provider.seen.findLast(({ headers }) => headers['mcp-method'] === 'tools/call') ?? {}
      return [headers?.['mcp-param-region'], headers?.['mcp-param-n']]
    }
    assert.deepEqual(await seenWith({ region: 'eu-1', nested: { n: 7 } }), ['eu-1', '7'])
    assert.deepEqual(await seenWith({ region: 'Zürich\nX: y' }), ['=?base64?WsO8cmljaApYOiB5?=', undefined])
    assert.deepEqual(await seenWith({ region: null }), [undefined, undefined])
  })

  const misplaced: [string, object][] = [
    ['on a number', { n: { type: 'number', 'x-mcp-header': 'N' } }],
    ['with a line break', { n: { type: 'string', 'x-mcp-header': 'N\r\nX' } }],
    ['twice with one name', { a: { type: 'string', 'x-mcp-header': 'N' }, b: { type: 'string', 'x-mcp-header': 'n' } }],
    ['within items', { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'N' } } }],
  ]
  for (const [what, properties] of misplaced) {
    test(`has no tool whose schema names a header ${what}`, async () => {
      mcp.tools = [tool('bad', properties), tool('good', { 'x-mcp-header': { type: 'string' } })]
      const { owner, id } = await newPerson()
      const { items } = (await app.call('GET', `${api}/connections/${id}/tools`, { as: owner })).body.data
      assert.deepEqual(
        items.map(({ name }: { name: string }) => name),
        ['mcp__good'],
      )
    })
  }

  test('asks the person, and gets the answer with its state in a new request', async () => {
    const { owner, session } = await newPerson()
    const question = {
      method: 'elicitation/create',
      params: {
        message: 'How many people?',
        requestedSchema: { type: 'object', properties: { people: { type: 'integer' } }, required: ['people'] },
      },
    }
    mcp.onCall = ({ inputResponses, requestState }) =>
      inputResponses
        ? { content: [{ type: 'text', text: JSON.stringify({ inputResponses, requestState }) }] }
        : { resultType: 'input_required', inputRequests: { people: question }, requestState: 'opaque' }
    const { body } = await say(app, owner, session, { text: '/tool mcp__search {"q":"a"}' })
    const { turn } = body.data
    assert.equal(turn.status, 'requires_action')
    assert.equal(mcp.calls.length, 1)
    const [{ approvalId, form }] = turn.approvals
    assert.equal(form.message, 'How many people?')
    const json = { approvalId, approved: true, answer: { people: 4 } }
    const decided = await app.call('POST', `${api}/turns/${turn.id}/approvals`, { as: owner, json })
    assert.equal(decided.status, 200, decided.text)
    const done = await untilStatus(app, owner, turn.id, 'completed')
    assert.deepEqual(JSON.parse(done.toolCalls[0].output.content[0].text), {
      inputResponses: { people: { action: 'accept', content: { people: 4 } } },
      requestState: 'opaque',
    })
    assert.deepEqual(
      mcp.calls.map(({ arguments: input }) => input),
      [{ q: 'a' }, { q: 'a' }, { q: 'a' }],
    )
  })

  const rejections: [string, Record<string, unknown>, RegExp, number][] = [
    ['asks without end', { resultType: 'input_required', requestState: 'x' }, /more than 8 times/, 9],
    ['asks nothing', { resultType: 'input_required' }, /without a question/, 1],
    ['sends a long state', { resultType: 'input_required', requestState: 'x'.repeat(70_000) }, /64 KB/, 1],
    [
      'asks for a model',
      { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage', params: {} } } },
      /something else than input/,
      1,
    ],
    [
      'asks 17 questions',
      {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, { method: 'elicitation/create' }])),
      },
      /more than 16 questions/,
      1,
    ],
    ['sends a result of another type', { resultType: 'later' }, /unknown type/, 1],
  ]
  for (const [what, result, message, calls] of rejections) {
    test(`fails the call when it ${what}`, async () => {
      const { owner, session } = await newPerson()
      mcp.onCall = () => result
      const { status, output } = await run(owner, session, 'mcp__search')
      assert.equal(status, 'failed')
      assert.match(output.error, message)
      assert.equal(mcp.calls.length, calls)
    })
  }

  test('that does not accept the token is rejected, and its error is shown without the token', async () => {
    const { status } = await submit(await app.createOrg(), { url: `${provider.url}/mcp`, token: 'planted-wrong' })
    assert.equal(status, 400)
    const { owner, session } = await newPerson()
    mcp.onCall = () => {
      mcp.tools = []
      return { isError: true, content: [{ type: 'text', text: `no: ${token}` }] }
    }
    assert.deepEqual((await run(owner, session, 'mcp__search')).output, { error: 'no: [redacted]' })
  })
})

test('a server with a handshake that is replaced by one without stays usable', async () => {
  const old = addMcp(provider, '/replaced')
  old.tools = [tool('search')]
  const { owner, session } = await newPerson(`${provider.url}/replaced`)
  assert.equal((await run(owner, session, 'mcp__search')).status, 'done')
  const discoveries = provider.seen.filter(({ headers }) => headers['mcp-method'] === 'server/discover').length
  assert.equal((await run(owner, session, 'mcp__search')).status, 'done')
  const after = provider.seen.filter(({ headers }) => headers['mcp-method'] === 'server/discover').length
  assert.equal(after, discoveries, 'a server with a handshake is not asked again for each call')
  const replaced = addStatelessMcp(provider, '/replaced')
  replaced.tools = [tool('search')]
  assert.equal((await run(owner, session, 'mcp__search')).status, 'done')
  assert.deepEqual(replaced.methods, ['initialize', 'server/discover', 'tools/list', 'tools/call'])
})

test('this server, which has all revisions, is used without a handshake', async () => {
  const [owner, other] = [await app.createOrg(), await app.createOrg()]
  const { status, text } = await submit(owner, { url: `${app.url}/mcp`, token: other.key })
  assert.equal(status, 200, text)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  await trustAgent(app, owner, 'helper', 'mcp')
  const session = await openSession(app, owner, { agentId: 'helper' })
  const call = await run(owner, session.id, 'mcp__files_search', { query: 'none' })
  assert.equal(call.status, 'done', JSON.stringify(call.output))
})
