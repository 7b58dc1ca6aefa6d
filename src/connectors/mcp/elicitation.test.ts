// Questions of MCP servers to the person of a turn (MCP, elicitation).
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { trustAgent } from '../../../test/support/authority.ts'
import { createAgent, getTurn, openSession, say, untilStatus } from '../../../test/support/chat.ts'
import { sql } from '../../platform/database/database.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
const api = '/api/v1'

const schema = {
  type: 'object',
  properties: {
    people: { type: 'integer', title: 'People', minimum: 1, maximum: 20 },
    room: { type: 'string', oneOf: [{ const: 'a', title: 'Room A' }, { const: 'b' }], default: 'b' },
    note: { type: 'string', maxLength: 10 },
    quiet: { type: 'boolean' },
    extras: { type: 'array', items: { type: 'string', enum: ['tea', 'cake'] } },
  },
  required: ['people'],
}
const question = (requestedSchema: object = schema, message = 'How many people?') => ({
  method: 'elicitation/create',
  params: { message, requestedSchema },
})

beforeEach(() => {
  mcp.tools = [{ name: 'book', description: 'Books a table.', inputSchema: { type: 'object' } }]
  mcp.asks = question()
  mcp.asksIn = 'tools/call'
  mcp.name = 'Fake'
  mcp.answers.length = 0
  mcp.calls.length = 0
  mcp.onCall = () => ({ content: [{ type: 'text', text: JSON.stringify(mcp.answers.at(-1)) }] })
})

/** A turn whose call of the tool waits for the answer to the server's question. */
const asked = async (as?: TestActor) => {
  const owner = as ?? (await app.createOrg())
  const begun = await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: 'mcp' } })
  const path = `${api}/connections/${begun.body.data.connection.id}/credentials`
  const { status, text } = await app.call('POST', path, {
    as: owner,
    json: { credentials: { url: `${provider.url}/mcp` } },
  })
  assert.equal(status, 200, text)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  await trustAgent(app, owner, 'helper', 'mcp')
  const session = await openSession(app, owner, { agentId: 'helper' })
  // 202 while the turn waits.
  const { body } = await say(app, owner, session.id, { text: '/tool mcp__book {}' })
  const { turn } = body.data
  return { owner, session, turn }
}

const decide = (as: TestActor, turnId: string, json: object) =>
  app.call('POST', `${api}/turns/${turnId}/approvals`, { as, json })

const resultOf = (answer: object): object => ({
  jsonrpc: '2.0',
  id: (mcp.answers.at(-1) as { id: number }).id,
  result: answer,
})

describe('a question of an MCP server during a call', () => {
  test('lets the turn wait, and the answer of the person reaches the server in a new run of the call', async () => {
    const { owner, turn } = await asked()
    assert.equal(turn.status, 'requires_action')
    assert.equal(turn.approvals.length, 1)
    const [{ approvalId, kind, reason, form }] = turn.approvals
    const server = `${new URL(provider.url).host} (“Fake”)`
    assert.deepEqual([kind, form.server, form.message], ['input', server, 'How many people?'])
    assert.ok(reason.startsWith(`${server} asks you for input`))
    assert.deepEqual(
      form.fields.map((field: { key: string; kind: string; required: boolean }) => [
        field.key,
        field.kind,
        field.required,
      ]),
      [
        ['people', 'integer', true],
        ['room', 'choice', false],
        ['note', 'text', false],
        ['quiet', 'boolean', false],
        ['extras', 'choices', false],
      ],
    )
    assert.deepEqual(form.fields[1].options, [
      { value: 'a', label: 'Room A' },
      { value: 'b', label: 'b' },
    ])
    // The server is not left waiting for a person.
    assert.deepEqual(mcp.answers, [resultOf({ action: 'cancel' })])
    const answer = { people: 4, note: 'window', extras: ['tea'] }
    const { status, text } = await decide(owner, turn.id, { approvalId, approved: true, answer })
    assert.equal(status, 200, text)
    const done = await untilStatus(app, owner, turn.id, 'completed')
    assert.deepEqual(mcp.answers.at(-1), resultOf({ action: 'accept', content: { ...answer, room: 'b' } }))
    assert.equal(done.toolCalls[0].status, 'done')
    assert.match(JSON.stringify(done.toolCalls[0].output), /window/)
    assert.equal(mcp.calls.length, 2)
    const entries = await app.db.rows<{ row: string }>(
      sql`select audit_log::text as row from audit_log where org_id = ${owner.orgId}`,
    )
    assert.ok(entries.length > 0 && entries.every(({ row }) => !row.includes('window')), 'the audit log has no answer')
  })

  test('rejects answers that do not match its form, and waits for another one', async () => {
    const { owner, turn } = await asked()
    const [{ approvalId }] = turn.approvals
    for (const [answer, message] of [
      [undefined, /answer\.people is required/],
      [{ people: 0 }, /at least 1/],
      [{ people: 21 }, /at most 20/],
      [{ people: 1.5 }, /whole number/],
      [{ people: '4' }, /must be a number/],
      [{ people: 4, room: 'c' }, /one of the options/],
      [{ people: 4, note: 'x'.repeat(11) }, /at most 10 characters/],
      [{ people: 4, quiet: 1 }, /true or false/],
      [{ people: 4, extras: ['beer'] }, /list of options/],
      [{ people: 4, admin: true }, /must not have the field admin/],
    ] as const) {
      const { status, body } = await decide(owner, turn.id, { approvalId, approved: true, ...(answer && { answer }) })
      assert.equal(status, 400)
      assert.match(body.error.message, message)
    }
    assert.equal((await decide(owner, turn.id, { approvalId, approved: false, answer: { people: 4 } })).status, 400)
    assert.equal((await getTurn(app, owner, turn.id)).status, 'requires_action')
    assert.equal((await decide(owner, turn.id, { approvalId, approved: true, answer: { people: 4 } })).status, 200)
    // The same decision again changes nothing, and another answer is not lost in silence.
    assert.equal((await decide(owner, turn.id, { approvalId, approved: true, answer: { people: 4 } })).status, 200)
    assert.equal((await decide(owner, turn.id, { approvalId, approved: true, answer: { people: 5 } })).status, 409)
    await untilStatus(app, owner, turn.id, 'completed')
    assert.deepEqual(mcp.answers.at(-1), resultOf({ action: 'accept', content: { people: 4, room: 'b' } }))
  })

  test('that the person does not answer ends the call, and the server is not called again', async () => {
    const { owner, turn } = await asked()
    const [{ approvalId }] = turn.approvals
    await decide(owner, turn.id, { approvalId, approved: false })
    const done = await untilStatus(app, owner, turn.id, 'completed')
    assert.equal(done.toolCalls[0].status, 'denied')
    assert.equal(mcp.calls.length, 1)
  })

  test('can be answered only by the person of the turn', async () => {
    const { owner, session, turn } = await asked()
    const admin = await app.createUser(owner, 'admin')
    const [{ approvalId }] = turn.approvals
    const { status } = await decide(admin, turn.id, { approvalId, approved: true, answer: { people: 4 } })
    assert.ok([403, 404].includes(status), String(status))
    assert.equal((await getTurn(app, owner, turn.id)).status, 'requires_action')
    // An approval in the protocol of useChat has no answer: it must not stand for one that is required.
    const parts = [{ type: 'dynamic-tool', state: 'approval-responded', approval: { id: approvalId, approved: true } }]
    const byChat = await say(app, owner, session.id, { messages: [{ id: 'm', role: 'assistant', parts }] })
    assert.equal(byChat.status, 400)
  })

  test('is asked again with other words as a new question, five times at most', async () => {
    const { owner, turn } = await asked()
    let current = turn
    for (let n = 1; n <= 5; n++) {
      const [{ approvalId, form }] = current.approvals
      assert.equal(form.message, n === 1 ? 'How many people?' : `Question ${n}`)
      mcp.asks = question(schema, `Question ${n + 1}`)
      await decide(owner, turn.id, { approvalId, approved: true, answer: { people: n } })
      current = await untilStatus(app, owner, turn.id, n < 5 ? 'requires_action' : 'completed')
    }
    assert.match(JSON.stringify(current.toolCalls[0].output), /asked the person for input too often/)
  })

  test('is declined when its form is not flat or asks for a page, and the call goes on', async () => {
    const inherited = { type: 'object', properties: { a: { type: 'toString' } } }
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } }
    const many = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`f${n}`, { type: 'string' }])),
    }
    for (const asks of [
      question(nested),
      question(inherited),
      question(many),
      question({ type: 'object', properties: { a: { type: 'string', enum: [1, 2] } } }),
      question({ type: 'object', properties: { a: { type: 'number', enum: [1, 2] } } }),
      question({ type: 'object', properties: { a: { type: 'string', enum: ['x\0'] } } }),
      question({ type: 'object', properties: { 'a\uD800': { type: 'string' } } }),
      question({
        type: 'object',
        properties: { a: { type: 'string', enum: Array.from({ length: 201 }, (_, n) => `${n}`) } },
      }),
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'Open', url: 'https://evil.example', elicitationId: '1' },
      },
    ]) {
      mcp.asks = asks
      const { turn } = await asked()
      assert.equal(turn.status, 'completed')
      assert.deepEqual(mcp.answers.at(-1), resultOf({ action: 'decline' }))
    }
  })

  test('is shown without what a database cannot store, also when a limit cuts a character in two', async () => {
    const title = `${'x'.repeat(199)}😀`
    mcp.asks = question({ type: 'object', properties: { a: { type: 'string', title, description: 'a\0b' } } }, title)
    const { owner, turn } = await asked()
    assert.equal(turn.status, 'requires_action')
    const [{ approvalId, form }] = turn.approvals
    assert.deepEqual([form.fields[0].label, form.fields[0].description], ['x'.repeat(199), 'ab'])
    assert.equal((await decide(owner, turn.id, { approvalId, approved: true, answer: { a: '😀' } })).status, 200)
    await untilStatus(app, owner, turn.id, 'completed')
    assert.deepEqual(mcp.answers.at(-1), resultOf({ action: 'accept', content: { a: '😀' } }))
  })

  test('names the host of the server before the name that it gives itself, which cannot reverse the text', async () => {
    mcp.name = `Google Calendar\u202E\n (calendar.example) ${'x'.repeat(200)}`
    const { turn } = await asked()
    const { server } = turn.approvals[0].form
    assert.ok(server.startsWith(`${new URL(provider.url).host} (“Google Calendar (calendar.example) xxx`), server)
    assert.ok(server.length < 140)
  })

  test('before the call, while the tools are checked, is not shown to the person', async () => {
    mcp.asks = undefined
    const { owner, session } = await asked()
    mcp.asks = question()
    mcp.asksIn = 'tools/list'
    mcp.tools = []
    const { body } = await say(app, owner, session.id, { text: '/tool mcp__book {}' })
    assert.equal(body.data.turn.status, 'completed')
    assert.match(JSON.stringify(body.data.turn.toolCalls), /have changed/)
    assert.deepEqual(mcp.answers.at(-1), resultOf({ action: 'cancel' }))
  })

  test('other than for input, such as sampling, is rejected, and the call goes on', async () => {
    mcp.asks = { method: 'sampling/createMessage', params: {} }
    const { turn } = await asked()
    assert.equal(turn.status, 'completed')
    assert.equal((mcp.answers.at(-1) as { error: { code: number } }).error.code, -32_601)
  })
})
