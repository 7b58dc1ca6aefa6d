import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import {
  ask,
  createAgent,
  getTurn,
  openSession,
  say,
  sayWithHeaders,
  textOf,
  until,
  untilStatus,
} from '../../../test/support/chat.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
/** Does not work on turns: they run in the process of `app`. */
const frontOnly = await app.secondServer(fake.env, { work: false })

const assertError = async (status: number, code: string, call: Promise<Answer>): Promise<void> => {
  const answer = await call
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.equal(answer.body.error.code, code)
}
const upload = async (as: TestActor, name: string, text: string, type = 'text/plain'): Promise<string> => {
  const form = new FormData()
  form.set('file', new File([text], name, { type }))
  const { status, body } = await app.call('POST', '/api/v1/files', { as, body: form })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data.file.id
}
const begin = async (as: TestActor, sessionId: string, json: object): Promise<string> => {
  const { status, body } = await say(app, as, sessionId, { background: true, ...json })
  assert.equal(status, 202, JSON.stringify(body))
  return body.data.turn.id
}

/** A session whose first turn is in progress until `release`. */
const beginHeld = async (as: TestActor) => {
  await createAgent(app, as, { name: 'Slow', model: 'fake/m1' })
  const session = await openSession(app, as)
  const { script, asked, release } = held(reply(['Done.']))
  fake.play(script)
  const first = await begin(as, session.id, { text: 'Hello', agentId: 'slow' })
  await asked
  return { session, first, release }
}

describe('POST /sessions/:id/messages', () => {
  test('returns 200 with the turn and its reply', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.stopReason, turn.error, turn.attempts], ['completed', 'stop', null, 1])
    assert.deepEqual([message.id, message.turnId, message.role], [turn.replyId, turn.id, 'assistant'])
    assert.match(textOf(message), /You wrote: “Hello”/)
    assert.deepEqual(await getTurn(app, owner, turn.id), turn)
  })

  test('returns the same reply when another process runs the turn', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const here = await ask(app, owner, session.id, { text: 'Hello' })
    const there = await ask(frontOnly, owner, session.id, { text: 'Hello' })
    assert.equal(textOf(there.message), textOf(here.message))
  })

  test('returns 202 immediately with background, and the turn completes', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { status, body } = await say(app, owner, session.id, { text: '/slow 300', background: true })
    assert.equal(status, 202)
    assert.equal(body.data.message, undefined)
    assert.ok(['queued', 'running'].includes(body.data.turn.status))
    const turn = await untilStatus(app, owner, body.data.turn.id, 'completed')
    const { body: list } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    assert.equal(list.data.items[0].id, turn.replyId)
  })

  const bad: [string, unknown][] = [
    ['no body', undefined],
    ['an empty body', {}],
    ['an empty text', { text: '' }],
    ['a text of white space', { text: ' \n' }],
    ['a text that is a number', { text: 1 }],
    ['a text of 100,001 characters', { text: 'x'.repeat(100_001) }],
    ['a malformed file id', { text: 'x', fileIds: ['x'] }],
    ['21 files', { text: 'x', fileIds: Array.from({ length: 21 }, newId) }],
    ['0 steps', { text: 'x', maxSteps: 0 }],
    ['17 steps', { text: 'x', maxSteps: 17 }],
    ['a cost of nothing', { text: 'x', maxCostCents: 0 }],
    ['an unknown onBusy', { text: 'x', onBusy: 'wait' }],
    ['messages without any', { messages: [] }],
    [
      'a message of 100,001 characters',
      { messages: [{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(100_001) }] }] },
    ],
    [
      'a message of 100,001 characters in two parts and the line between them',
      {
        messages: [
          {
            role: 'user',
            parts: [
              { type: 'text', text: 'x'.repeat(50_000) },
              { type: 'text', text: 'x'.repeat(50_000) },
            ],
          },
        ],
      },
    ],
    [
      "messages that end with the assistant's",
      { messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'x' }] }] },
    ],
    ['a file that was never uploaded', { messages: [{ role: 'user', parts: [{ type: 'file', url: 'data:,x' }] }] }],
  ]
  for (const [what, json] of bad) {
    test(`rejects a message with ${what} with BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      await assertError(400, 'BAD_REQUEST', say(app, owner, session.id, json as object))
      const after = await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })
      assert.deepEqual([after.body.data.messageCount, after.body.data.status], [0, 'idle'])
    })
  }

  test('rejects a message to an inactive or deleted agent, and accepts another agentId', async () => {
    const owner = await app.createOrg()
    const helper = await createAgent(app, owner, { name: 'Helper' })
    const session = await openSession(app, owner, { agentId: 'helper' })
    await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json: { isActive: false } })
    await assertError(422, 'VALIDATION_ERROR', say(app, owner, session.id, { text: 'Hello' }))
    const { message } = await ask(app, owner, session.id, { text: 'Hello', agentId: 'assistant' })
    assert.equal(message.author.slug, 'assistant')
    await app.call('DELETE', `/api/v1/agents/${helper.id}`, { as: owner })
    await assertError(422, 'VALIDATION_ERROR', say(app, owner, session.id, { text: 'Hello' }))
    await assertError(404, 'NOT_FOUND', say(app, owner, session.id, { text: 'Hello', agentId: 'helper' }))
  })

  test('fails a queued turn whose agent was deactivated, and runs the next turn of the session', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Helper' })
    const { session, first, release } = await beginHeld(owner)
    const second = await begin(owner, session.id, { text: 'Hello', agentId: 'helper' })
    const third = await begin(owner, session.id, { text: 'Hello' })
    await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json: { isActive: false } })
    release()
    await untilStatus(app, owner, first, 'completed')
    const failed = await untilStatus(app, owner, second, 'failed')
    assert.deepEqual([failed.stopReason, failed.error.code], ['error', 'agent_unavailable'])
    await untilStatus(app, owner, third, 'completed')
  })

  test('rejects a message to an agent whose model is no longer in the catalog', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Helper' })
    await app.db.execute(sql`
      update agents set model = 'gone/model' where org_id = ${owner.orgId} and slug = 'helper'`)
    const session = await openSession(app, owner, { agentId: 'helper' })
    await assertError(422, 'VALIDATION_ERROR', say(app, owner, session.id, { text: 'Hello' }))
  })

  test('creates one turn and returns the same response for two requests with the same Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const headers = { 'idempotency-key': newId() }
    const first = await sayWithHeaders(app, owner, session.id, { json: { text: 'Once' }, headers })
    const again = await sayWithHeaders(app, owner, session.id, { json: { text: 'Once' }, headers })
    assert.equal(again.status, 200)
    assert.equal(again.text, first.text)
    await assertError(409, 'CONFLICT', sayWithHeaders(app, owner, session.id, { json: { text: 'Twice' }, headers }))
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })
    assert.equal(body.data.messageCount, 2)
  })

  test('returns the turn as JSON when a streamed request is repeated with its Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const headers = { 'idempotency-key': newId(), accept: 'text/event-stream' }
    const first = await sayWithHeaders(app, owner, session.id, { json: { text: 'Once' }, headers })
    assert.match(first.headers.get('content-type') ?? '', /event-stream/)
    const again = await sayWithHeaders(app, owner, session.id, { json: { text: 'Once' }, headers })
    assert.equal(again.status, 202)
    assert.equal((await getTurn(app, owner, again.body.data.turn.id)).status, 'completed')
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })
    assert.equal(body.data.messageCount, 2)
  })

  test('sends the model the earlier messages of the session', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { turn: first } = await ask(app, owner, session.id, { text: 'One' })
    const { turn: second } = await ask(app, owner, session.id, { text: 'One' })
    assert.ok(second.usage.inputTokens > first.usage.inputTokens)
  })

  test('counts messages against the turns rate limit', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_TURNS: '2' })
    const owner = await app.createOrg()
    const session = await openSession(limited, owner)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await say(limited, owner, session.id, { text: 'Hi' })).status)
    assert.deepEqual(statuses, [200, 200, 429])
  })
})

describe('files in a conversation', () => {
  test('answers a question about an attached file from its content', async () => {
    const owner = await app.createOrg()
    const fileId = await upload(owner, 'report.md', '# Quarter\n\nRevenue rose by 7 %.', 'text/markdown')
    const session = await openSession(app, owner)
    const { turn, message } = await ask(app, owner, session.id, { text: 'What does report.md say?', fileIds: [fileId] })
    assert.match(textOf(message), /report\.md says:.*Revenue rose by 7 %\./s)
    assert.deepEqual(
      turn.toolCalls.map((call: { toolName: string; input: object; status: string }) => [
        call.toolName,
        call.input,
        call.status,
      ]),
      [['files.read', { fileId }, 'done']],
    )
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    assert.deepEqual(body.data.items[1].parts[1], {
      type: 'file',
      fileId,
      name: 'report.md',
      mimeType: 'text/markdown',
      sizeBytes: 31,
    })
  })

  test('searches for a file that is only mentioned by name', async () => {
    const owner = await app.createOrg()
    await upload(owner, 'plan-2027.txt', 'We go to the moon.')
    const session = await openSession(app, owner)
    const { turn, message } = await ask(app, owner, session.id, { text: 'Please summarise plan-2027.txt for me.' })
    assert.match(textOf(message), /We go to the moon\./)
    assert.deepEqual(
      turn.toolCalls.map((call: { toolName: string }) => call.toolName),
      ['files.search', 'files.read'],
    )
  })

  test('accepts a message that consists of a file only', async () => {
    const owner = await app.createOrg()
    const fileId = await upload(owner, 'a.txt', 'Alone.')
    const session = await openSession(app, owner)
    assert.match(textOf((await ask(app, owner, session.id, { fileIds: [fileId] })).message), /Alone\./)
  })

  test('stores a file once when fileIds contains its id twice in different case', async () => {
    const owner = await app.createOrg()
    const fileId = await upload(owner, 'a.txt', 'Once.')
    const session = await openSession(app, owner)
    await ask(app, owner, session.id, { text: 'x', fileIds: [fileId.toUpperCase(), fileId] })
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    const files = body.data.items[1].parts.filter(({ type }: { type: string }) => type === 'file')
    assert.deepEqual(
      files.map((part: { fileId: string }) => part.fileId),
      [fileId],
    )
  })

  test('stores no message when a file is missing, of another org or a folder', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const foreign = await upload(stranger, 'a.txt', 'Secret.')
    const session = await openSession(app, owner)
    const folder = await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'F' } })
    await assertError(404, 'NOT_FOUND', say(app, owner, session.id, { text: 'x', fileIds: [newId()] }))
    await assertError(404, 'NOT_FOUND', say(app, owner, session.id, { text: 'x', fileIds: [foreign] }))
    await assertError(
      400,
      'BAD_REQUEST',
      say(app, owner, session.id, { text: 'x', fileIds: [folder.body.data.file.id] }),
    )
    const after = await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })
    assert.equal(after.body.data.messageCount, 0)
  })
})

describe('turns of one session', () => {
  test('runs the turns of a session one after another in order', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const texts = Array.from({ length: 6 }, (_, i) => `/slow 50\nNumber ${i}`)
    const turns: string[] = []
    for (const text of texts) turns.push(await begin(owner, session.id, { text }))
    const ended = await Promise.all(turns.map((id) => untilStatus(app, owner, id, 'completed')))
    for (const [i, turn] of ended.slice(1).entries()) assert.ok(turn.startedAt >= ended[i].endedAt)
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    const replies = body.data.items.filter((message: { role: string }) => message.role === 'assistant').toReversed()
    assert.deepEqual(
      replies.map((message: { turnId: string }) => message.turnId),
      turns,
    )
    replies.forEach((message: object, i: number) => assert.match(textOf(message), new RegExp(`Number ${i}`)))
  })

  test('runs turns that were created on two servers at once one after another', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => say(i % 2 === 0 ? app : frontOnly, owner, session.id, { text: '/slow 20' })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const turns = answers.map(({ body }) => body.data.turn).toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    for (const [i, turn] of turns.slice(1).entries()) assert.ok(turn.startedAt >= turns[i].endedAt)
  })

  test('rejects a second turn with CONFLICT for onBusy reject, until the first has ended', async () => {
    const owner = await app.createOrg()
    const { session, first, release } = await beginHeld(owner)
    await assertError(409, 'CONFLICT', say(app, owner, session.id, { text: 'Hello', onBusy: 'reject' }))
    release()
    await untilStatus(app, owner, first, 'completed')
    assert.equal((await say(app, owner, session.id, { text: 'Hello', onBusy: 'reject' })).status, 200)
  })

  test('cancels the active and queued turns for onBusy interrupt', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const first = await begin(owner, session.id, { text: '/slow 60000' })
    const second = await begin(owner, session.id, { text: 'Waiting' })
    await untilStatus(app, owner, first, 'running')
    const { turn } = await ask(app, owner, session.id, { text: 'Now', onBusy: 'interrupt' })
    assert.equal(turn.status, 'completed')
    assert.equal((await getTurn(app, owner, first)).status, 'cancelled')
    assert.equal((await getTurn(app, owner, second)).status, 'cancelled')
  })

  test('shows status and activeTurnId in the session while a turn is in progress', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const id = await begin(owner, session.id, { text: '/slow 60000' })
    const read = async () => (await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })).body.data
    const busy = await read()
    assert.deepEqual([busy.status, busy.activeTurnId, busy.messageCount], ['running', id, 1])
    await app.call('POST', `/api/v1/turns/${id}/cancel`, { as: owner })
    const idle = await read()
    assert.deepEqual([idle.status, idle.activeTurnId], ['idle', null])
  })
})

describe('cancelling', () => {
  for (const [where, server] of [
    ['the process that runs it', app],
    ['another process', frontOnly],
  ] as const) {
    test(`cancels a turn through ${where}, keeps its text and starts the next turn`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const id = await begin(owner, session.id, { text: 'A long story\n/slow 60000' })
      const next = await begin(owner, session.id, { text: 'Next' })
      await until(
        async () =>
          app.db.row<{ seq: number }>(sql`
          select max(seq) as seq from turn_events where org_id = ${owner.orgId} and turn_id = ${id}`),
        (row) => (row?.seq ?? 0) > 2,
      )
      const { status, body } = await server.call('POST', `/api/v1/turns/${id}/cancel`, { as: owner })
      assert.deepEqual([status, body.data], [200, { cancelled: true }])
      const turn = await getTurn(app, owner, id)
      assert.deepEqual([turn.status, turn.stopReason, turn.error], ['cancelled', 'cancelled', null])
      assert.deepEqual([turn.steps[0].status, turn.steps[0].isEstimate], ['cancelled', true])
      assert.ok(turn.steps[0].inputTokens > 0)
      await untilStatus(app, owner, next, 'completed')
      const { body: list } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
      const cancelled = list.data.items.find((message: { id: string }) => message.id === turn.replyId)
      assert.match(textOf(cancelled), /^You wrote/)
      const again = await app.call('POST', `/api/v1/turns/${id}/cancel`, { as: owner })
      assert.deepEqual(again.body.data, { cancelled: true })
    })
  }

  test('cancels a queued turn before it starts', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const first = await begin(owner, session.id, { text: '/slow 60000' })
    const second = await begin(owner, session.id, { text: 'Never' })
    await app.call('POST', `/api/v1/turns/${second}/cancel`, { as: owner })
    const turn = await getTurn(app, owner, second)
    assert.deepEqual([turn.status, turn.startedAt, turn.steps], ['cancelled', null, []])
    assert.equal((await getTurn(app, owner, first)).endedAt, null)
    await app.call('POST', `/api/v1/sessions/${session.id}/cancel`, { as: owner })
    assert.equal((await getTurn(app, owner, first)).status, 'cancelled')
  })

  test('returns cancelled: false for an ended turn and an idle session', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    for (const path of [`/api/v1/turns/${turn.id}/cancel`, `/api/v1/sessions/${session.id}/cancel`]) {
      const { status, body } = await app.call('POST', path, { as: owner })
      assert.deepEqual([status, body.data], [200, { cancelled: false }])
    }
    assert.equal((await getTurn(app, owner, turn.id)).status, 'completed')
  })

  test('returns the same NOT_FOUND for a missing turn and one of another org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const session = await openSession(app, stranger)
    const { turn } = await ask(app, stranger, session.id, { text: 'Hello' })
    for (const [method, rest, json] of [
      ['GET', '', undefined],
      ['GET', '/stream', undefined],
      ['POST', '/cancel', undefined],
      ['POST', '/approvals', { approvalId: newId(), approved: true }],
    ] as const) {
      const answers = await Promise.all(
        [turn.id, newId(), 'nonsense'].map((id) =>
          app.call(method, `/api/v1/turns/${id}${rest}`, { as: owner, ...(json ? { json } : {}) }),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    }
  })
})

describe('limits of a turn', () => {
  test('ends a turn at maxSteps as incomplete after its tools have run', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const text = Array.from({ length: 4 }, (_, i) => `/tool files.search {"query":"${i}"}`).join('\n\n')
    const { turn, message } = await ask(app, owner, session.id, { text, maxSteps: 2 })
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_steps', 2])
    assert.deepEqual(
      turn.toolCalls.map((call: { status: string }) => call.status),
      ['done', 'done'],
    )
    assert.deepEqual(
      message.parts.map((part: { type: string }) => part.type),
      ['tool-call', 'tool-result', 'tool-call', 'tool-result'],
    )
    assert.equal((await ask(app, owner, session.id, { text: 'Go on' })).turn.status, 'completed')
  })

  test('resumes only an incomplete turn with continue', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Other', allowedTools: ['files.search'] })
    const session = await openSession(app, owner)
    const goOn = (json: object = {}) => say(app, owner, session.id, { continue: true, ...json })
    assert.equal((await goOn()).body.error.code, 'VALIDATION_ERROR')
    const text = '/tool files.search {"query":"a"}'
    const { turn } = await ask(app, owner, session.id, { text, maxSteps: 1, agentId: 'other' })
    assert.equal(turn.status, 'incomplete')
    assert.equal((await goOn({ text: 'And?' })).body.error.code, 'BAD_REQUEST')
    const { status, body } = await goOn()
    assert.equal(status, 200)
    assert.deepEqual([body.data.turn.status, body.data.turn.agentId], ['completed', turn.agentId])
    assert.equal((await goOn()).body.error.code, 'VALIDATION_ERROR')
    const stranger = await app.createOrg()
    const answer = await say(app, stranger, session.id, { continue: true })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND'])
  })

  test('limits a turn to 16 steps by default', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const text = Array.from({ length: 20 }, () => '/tool files.search {"query":""}').join('\n\n')
    const { turn } = await ask(app, owner, session.id, { text })
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_steps', 16])
  })

  test('ends a turn as incomplete before the model call that would exceed maxCostCents', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Paid', model: 'atrium/demo-paid', allowedTools: ['files.search'] })
    const session = await openSession(app, owner, { agentId: 'paid' })
    const text = '/tool files.search {"query":"a"}\n/tokens 20000 0 0 0\n\n/tool files.search {"query":"b"}'
    const { turn } = await ask(app, owner, session.id, { text, maxCostCents: 2 })
    assert.deepEqual([turn.status, turn.stopReason, turn.costMicrocents], ['incomplete', 'max_cost', 20_000])
    assert.equal(turn.steps.length, 1)
  })
})

describe('GET /turns/:id', () => {
  test('returns the tokens and integer microcents of each step at the price of the turn', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Paid', model: 'atrium/demo-paid', allowedTools: ['files.search'] })
    const session = await openSession(app, owner, { agentId: 'paid' })
    const text = '/tokens 1000 50 200 100\n/tool files.search {"query":"a"}'
    const { turn } = await ask(app, owner, session.id, { text })
    // 700 fresh at 1, 200 read at 0.1, 100 written at 1.25, 50 out at 4 microcents a token.
    const each = 700 + 20 + 125 + 200
    assert.deepEqual(
      turn.steps.map((step: Record<string, unknown>) => [
        step['inputTokens'],
        step['outputTokens'],
        step['costMicrocents'],
      ]),
      [
        [1_000, 50, each],
        [1_000, 50, each],
      ],
    )
    assert.deepEqual(turn.usage, {
      inputTokens: 2_000,
      outputTokens: 100,
      cacheReadTokens: 400,
      cacheWriteTokens: 200,
      totalTokens: 2_100,
      isEstimate: false,
    })
    assert.equal(turn.costMicrocents, 2 * each)
    assert.deepEqual(turn.pricing, { input: 1_000_000, output: 4_000_000, cacheRead: 100_000, cacheWrite: 1_250_000 })
    assert.equal(turn.model, 'atrium/demo-paid')
  })
})

describe('the demo model', () => {
  test('ignores /slow, /fail and /tokens in production', async () => {
    const { createModelClient } = await import('../models/models.ts')
    const { createOutbound } = await import('../../platform/outbound/outbound.ts')
    const { createCircuits } = await import('../models/circuits.ts')
    const models = createModelClient({
      providers: [],
      allowsTestCommands: false,
      outbound: createOutbound(),
      circuits: createCircuits([], console),
    })
    const call = { orgId: 'org', modelId: 'atrium/demo', instructions: '', tools: [] }
    const messages = [{ role: 'user' as const, text: '/fail 500\n/slow 60000\n/tokens 1 2 3 4\nHello' }]
    let text = ''
    for await (const event of models.stream({ ...call, messages }, AbortSignal.timeout(50_000))) {
      if (event.type === 'text') text += event.delta
      if (event.type === 'finish') assert.notEqual(event.usage?.inputTokens, 1)
    }
    assert.match(text, /Hello/)
  })

  test('names tools as in allowedTools, and accepts their names for models as well', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { message } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.match(textOf(message), /`files\.search`, `files\.read`, `files\.write`/)
    for (const name of ['files.search', 'files_search']) {
      const { turn } = await ask(app, owner, session.id, { text: `/tool ${name} {"query":""}` })
      assert.deepEqual([turn.toolCalls[0].toolName, turn.toolCalls[0].status], ['files.search', 'done'])
    }
  })

  test('returns the same reply for the same message', async () => {
    const owner = await app.createOrg()
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () =>
        textOf((await ask(app, owner, (await openSession(app, owner)).id, { text: 'Why?' })).message),
      ),
    )
    assert.equal(new Set(answers).size, 1)
  })

  for (const [how, code] of [
    ['429', 'model_rate_limited'],
    ['500', 'model_unavailable'],
  ] as const) {
    test(`fails the turn after three attempts with /fail ${how}, with the error in the reply`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const { turn, message } = await ask(app, owner, session.id, { text: `/fail ${how}` })
      assert.deepEqual([turn.status, turn.stopReason, turn.error.code], ['failed', 'error', code])
      assert.deepEqual(
        turn.steps.map((step: { step: number; attempt: number; status: string }) => [
          step.step,
          step.attempt,
          step.status,
        ]),
        [
          [1, 1, 'failed'],
          [1, 2, 'failed'],
          [1, 3, 'failed'],
        ],
      )
      assert.deepEqual(message.parts, [{ type: 'error', ...turn.error }])
      assert.equal((await ask(app, owner, session.id, { text: 'Hello' })).turn.status, 'completed')
    })
  }

  test('ends the turn as incomplete after two attempts with /fail cut, with the text of the second one', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { turn, message } = await ask(app, owner, session.id, { text: '/fail cut' })
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'stream_truncated', 2])
    assert.equal(turn.usage.isEstimate, true)
    assert.match(textOf(message), /^I am the demo model/)
    assert.equal(textOf(message).match(/I am the demo model/g)?.length, 1)
  })
})
