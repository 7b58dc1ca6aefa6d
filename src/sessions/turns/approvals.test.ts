// Approvals of tool calls. A worker that died inside a tool is simulated by the rows that it leaves;
// test/crash/turns.test.ts kills real workers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DefaultChatTransport, readUIMessageStream } from 'ai'
import type { UIMessage } from 'ai'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import {
  streamEventsOf,
  getTurn,
  openSession,
  say,
  sayWithHeaders,
  textOf,
  until,
  untilStatus,
} from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { createStreamLog } from '../streams/stream-log.ts'
import { appendFrames } from '../runtime/queries.ts'

const app = await startTestApp({}, { work: false })

interface WaitingTurn {
  sessionId: string
  turnId: string
  approvalIds: string[]
}

const call = (n: number) => ({ callId: `call${n}`, toolName: 'files.write', input: { name: `${n}.txt`, text: 'x' } })

/** Writes the rows of a worker that died during `count` calls of files.write. */
const dieInTools = async (as: TestActor, sessionId: string, turnId: string, count: number): Promise<void> => {
  const calls = Array.from({ length: count }, (_, n) => call(n))
  const parts = calls.map(({ callId, ...rest }) => ({ type: 'tool-call', toolCallId: callId, ...rest }))
  const token = newId()
  await app.db.execute(sql`
    update turns set status = 'running', attempts = 1, started_at = now(), lease_token = ${token},
      lease_until = now() - interval '1 second'
    where org_id = ${as.orgId} and id = ${turnId}`)
  await app.db.execute(sql`
    insert into turn_steps (org_id, turn_id, step, attempt, status, finish_reason, parts, input_tokens, is_estimate)
    values (${as.orgId}, ${turnId}, 1, 1, 'completed', 'tool-calls', ${JSON.stringify(parts)}, 10, false)`)
  for (const [place, { callId, toolName, input }] of calls.entries()) {
    await app.db.execute(sql`
      insert into tool_calls (org_id, turn_id, step, place, call_id, tool_name, input, status, attempts, started_at)
      values (${as.orgId}, ${turnId}, 1, ${place}, ${callId}, ${toolName}, ${JSON.stringify(input)}, 'started', 1, now())`)
  }
  const log = createStreamLog({
    lastSeq: 0,
    append: (lines) => appendFrames(app.db, { orgId: as.orgId, turnId, token }, lines),
    publish: () => undefined,
    isRead: () => false,
    onFailure: (reason) => assert.fail(reason),
  })
  const { replyId } = await getTurn(app, as, turnId)
  log.push({ type: 'start', messageId: replyId, messageMetadata: { turnId, sessionId } })
  log.push({ type: 'start-step' })
  for (const { callId: toolCallId, toolName, input } of calls)
    log.push({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true })
  await log.write((lines) => appendFrames(app.db, { orgId: as.orgId, turnId, token }, lines!))
}

const pending: { as: TestActor; sessionId: string; turnId: string }[] = []
const prepare = async (count = 1): Promise<{ as: TestActor; sessionId: string; turnId: string }> => {
  const as = await app.createOrg()
  const { id: sessionId } = await openSession(app, as)
  const { body } = await say(app, as, sessionId, {
    text: '/tool files.write {"name":"0.txt","text":"x"}',
    background: true,
  })
  const turnId = body.data.turn.id as string
  await dieInTools(as, sessionId, turnId, count)
  const one = { as, sessionId, turnId }
  pending.push(one)
  return one
}

// All turns are prepared before the worker starts, because it claims them immediately.
const [approved, denied, both, allOrNone, otherwise, cancelled, byChat, foreign] = [
  await prepare(),
  await prepare(),
  await prepare(2),
  await prepare(2),
  await prepare(),
  await prepare(),
  await prepare(),
  await prepare(),
]
// Approved once, and interrupted again by the death of its worker.
const twice = await prepare()
const oldApproval = newId()
await app.db.execute(sql`
  update tool_calls set approval_id = ${oldApproval}, approved = true, attempts = 2
  where org_id = ${twice.as.orgId} and turn_id = ${twice.turnId}`)
await app.secondServer()

const waitForApprovals = async ({ as, sessionId, turnId }: (typeof pending)[number]): Promise<WaitingTurn> => {
  const turn = await untilStatus(app, as, turnId, 'requires_action')
  const approvalIds = turn.approvals.map((approval: { approvalId: string }) => approval.approvalId)
  return { sessionId, turnId, approvalIds }
}
const decide = (as: TestActor, turnId: string, approvalId: string, isApproved: unknown) =>
  app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json: { approvalId, approved: isApproved } })
const filesOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/files', { as })).body.data.items.map((file: { name: string }) => file.name)

describe('a call whose outcome is unknown', () => {
  test('requires approval to repeat a call whose outcome is unknown', async () => {
    const { as } = approved
    const { sessionId, turnId, approvalIds } = await waitForApprovals(approved)
    const turn = await getTurn(app, as, turnId)
    assert.equal(turn.approvals.length, 1)
    assert.partialDeepStrictEqual(turn.approvals[0], {
      approvalId: approvalIds[0],
      toolCallId: 'call0',
      toolName: 'files.write',
      input: { name: '0.txt', text: 'x' },
      isRepeated: true,
      kind: 'repeat',
      canDecide: true,
    })
    assert.deepEqual([turn.stopReason, turn.endedAt, turn.toolCalls[0].status], [null, null, 'unknown'])
    const session = (await app.call('GET', `/api/v1/sessions/${sessionId}`, { as })).body.data
    assert.deepEqual([session.status, session.activeTurnId], ['requires_action', turnId])
    const { events, isDone } = streamEventsOf((await app.call('GET', `/api/v1/turns/${turnId}/stream`, { as })).text)
    assert.ok(isDone)
    assert.equal(events.at(-1)?.data.type, 'tool-approval-request')
    const again = await app.call('GET', `/api/v1/turns/${turnId}/stream?after=${events.length}`, { as })
    assert.equal(again.status, 204)
    const busy = await say(app, as, sessionId, { text: 'Hello', onBusy: 'reject' })
    assert.equal(busy.status, 409)
  })

  test('repeats an approved call once and completes the turn', async () => {
    const { as } = approved
    const { turnId, approvalIds } = await waitForApprovals(approved)
    const { status, body } = await decide(as, turnId, approvalIds[0]!, true)
    assert.equal(status, 200)
    assert.deepEqual(
      [body.data.turn.approvals, ['queued', 'running', 'completed'].includes(body.data.turn.status)],
      [[], true],
    )
    const turn = await untilStatus(app, as, turnId, 'completed')
    assert.deepEqual([turn.toolCalls[0].status, turn.toolCalls[0].attempts], ['done', 2])
    assert.deepEqual(await filesOf(as), ['0.txt'])
    assert.equal((await decide(as, turnId, approvalIds[0]!, true)).status, 200, 'the same again changes nothing')
    assert.equal((await decide(as, turnId, approvalIds[0]!, false)).status, 409)
  })

  test('does not repeat a denied call, and tells the model that its outcome is unknown', async () => {
    const { as } = denied
    const { sessionId, turnId, approvalIds } = await waitForApprovals(denied)
    await decide(as, turnId, approvalIds[0]!, false)
    const turn = await untilStatus(app, as, turnId, 'completed')
    assert.equal(turn.toolCalls[0].status, 'denied')
    assert.deepEqual(await filesOf(as), [])
    const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
    assert.match(textOf(body.data.items[0]), /not known whether its first run took effect/)
  })

  test('requires approval again when the repeated call was interrupted as well', async () => {
    const { turnId, approvalIds } = await waitForApprovals(twice)
    const [approvalId = ''] = approvalIds
    assert.notEqual(approvalId, oldApproval)
    assert.equal((await decide(twice.as, turnId, oldApproval, true)).status, 404)
    await decide(twice.as, turnId, approvalId, true)
    const { toolCalls } = await untilStatus(app, twice.as, turnId, 'completed')
    assert.deepEqual([toolCalls[0].status, toolCalls[0].attempts], ['done', 3])
  })

  test('continues the turn after the last of several decisions', async () => {
    const { as } = both
    const { turnId, approvalIds } = await waitForApprovals(both)
    assert.equal(approvalIds.length, 2)
    const { body } = await decide(as, turnId, approvalIds[1]!, true)
    assert.deepEqual([body.data.turn.status, body.data.turn.approvals.length], ['requires_action', 1])
    await decide(as, turnId, approvalIds[0]!, false)
    const turn = await untilStatus(app, as, turnId, 'completed')
    assert.deepEqual(
      turn.toolCalls.map((one: { status: string }) => one.status),
      ['denied', 'done'],
    )
    assert.deepEqual(await filesOf(as), ['1.txt'])
  })

  test('stores one of ten concurrent decisions and rejects the opposite ones with CONFLICT', async () => {
    const { as } = otherwise
    const { turnId, approvalIds } = await waitForApprovals(otherwise)
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, i) => decide(as, turnId, approvalIds[0]!, i % 2 === 0)),
    )
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 409]))
    assert.equal(responses.filter(({ status }) => status === 200).length, 5)
    await untilStatus(app, as, turnId, 'completed')
    assert.ok((await filesOf(as)).length <= 1)
  })

  test('rejects decisions after the turn was cancelled', async () => {
    const { as } = cancelled
    const { sessionId, turnId, approvalIds } = await waitForApprovals(cancelled)
    const { body } = await app.call('POST', `/api/v1/turns/${turnId}/cancel`, { as })
    assert.deepEqual(body.data, { cancelled: true })
    assert.equal((await decide(as, turnId, approvalIds[0]!, true)).status, 409)
    assert.deepEqual((await getTurn(app, as, turnId)).approvals, [])
    const next = await say(app, as, sessionId, { text: 'Hello' })
    assert.equal(next.body.data.turn.status, 'completed')
    assert.deepEqual(await filesOf(as), [])
  })

  test('accepts a decision in the AI SDK’s message format and streams the rest of the turn', async () => {
    const { as } = byChat
    const { sessionId } = await waitForApprovals(byChat)
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${app.url}/api/v1/sessions/${sessionId}/messages`,
      headers: { authorization: `Bearer ${as.key}` },
    })
    const chunks = await transport.reconnectToStream({ chatId: sessionId })
    let message: UIMessage | undefined
    for await (const state of readUIMessageStream({ stream: chunks! })) message = state
    const [part] = message!.parts.filter((one) => one.type === 'dynamic-tool')
    assert.ok(part?.state === 'approval-requested')
    Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved: true } })
    const rest = await transport.sendMessages({
      chatId: sessionId,
      messages: [message!],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    })
    for await (const state of readUIMessageStream({ stream: rest, message: message! })) message = state
    const [done] = message!.parts.filter((one) => one.type === 'dynamic-tool')
    assert.equal(done?.state, 'output-available')
    assert.match(message!.parts.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join(''), /0\.txt/)
    const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
    assert.equal(body.data.items.length, 2, 'a decision is no message')
  })

  test('stores no decision of an AI SDK message when one of them is rejected', async () => {
    const { as } = allOrNone
    const { sessionId, turnId, approvalIds } = await waitForApprovals(allOrNone)
    const [one, other] = approvalIds as [string, string]
    const decideAll = (...decisions: [string, boolean][]) => {
      const parts = decisions.map(([id, isApproved]) => ({
        type: 'dynamic-tool',
        state: 'approval-responded',
        approval: { id, approved: isApproved },
      }))
      return sayWithHeaders(app, as, sessionId, {
        json: { messages: [{ role: 'assistant', parts }] },
        headers: { accept: 'application/json' },
      })
    }
    assert.equal((await decideAll([one, true], [newId(), true])).status, 404)
    assert.equal((await decideAll([one, true], [one, false])).status, 409)
    const { approvals } = await getTurn(app, as, turnId)
    assert.deepEqual(
      approvals.map(({ approvalId }: { approvalId: string }) => approvalId),
      approvalIds,
    )
    assert.equal((await decideAll([one, true], [other, false], [one, true])).status, 200)
    assert.deepEqual(await filesOf(as), ['0.txt'])
  })

  test('rejects a malformed decision with BAD_REQUEST, and an unknown one or one of another org with NOT_FOUND', async () => {
    const { as } = foreign
    const { turnId, approvalIds } = await waitForApprovals(foreign)
    const stranger = await app.createOrg()
    assert.equal((await decide(as, turnId, approvalIds[0]!, 'yes')).status, 400)
    assert.equal((await decide(as, turnId, 'x', true)).status, 400)
    assert.equal((await decide(as, turnId, newId(), true)).status, 404)
    assert.equal((await decide(stranger, turnId, approvalIds[0]!, true)).status, 404)
  })
})

describe('a short database outage', () => {
  test('completes a running turn with one reply after a short database outage', async () => {
    const as = await app.createOrg()
    const { id: sessionId } = await openSession(app, as)
    const { body } = await say(app, as, sessionId, { text: '/slow 1500\nHello', background: true })
    const { id: turnId } = await untilStatus(app, as, body.data.turn.id, 'running')
    await app.db.rows(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    const turn = await until(
      () => getTurn(app, as, turnId).catch(() => undefined),
      (one) => one !== undefined && one.endedAt !== null,
    )
    assert.equal(turn.status, 'completed')
    const list = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
    assert.deepEqual(
      list.body.data.items.map((message: { role: string }) => message.role),
      ['assistant', 'user'],
    )
  })
})

describe('a tool that a person approves', () => {
  const write = (name: string): string => `/tool files.write {"name":"${name}.txt","text":"x"}`
  const look = '/tool files.search {"query":""}'

  /** Starts a turn with these calls and returns it when it waits for approval. */
  const askedBy = async (as: TestActor, text: string, approvals: unknown = ['files.write']) => {
    const allowedTools = ['files.write', 'files.search']
    await app.call('POST', '/api/v1/agents', { as, json: { name: 'Careful', allowedTools, settings: { approvals } } })
    const { id: sessionId } = await openSession(app, as, { agentId: 'careful' })
    const { status, body } = await say(app, as, sessionId, { text })
    return { sessionId, status, turn: body.data.turn }
  }

  test('runs no call of a step before the approval, and streams the approval request', async () => {
    const as = await app.createOrg()
    const { status, turn, sessionId } = await askedBy(as, `${look}\n${write('a')}`)
    assert.deepEqual([status, turn.status], [202, 'requires_action'])
    assert.deepEqual(
      turn.toolCalls.map((call: { status: string; attempts: number }) => [call.status, call.attempts]),
      [
        ['waiting', 0],
        ['waiting', 0],
      ],
    )
    const [{ approvalId, ...asked }] = turn.approvals
    assert.equal(turn.approvals.length, 1)
    assert.partialDeepStrictEqual(asked, {
      toolCallId: turn.toolCalls[1].id,
      toolName: 'files.write',
      input: { name: 'a.txt', text: 'x' },
      isRepeated: false,
      kind: 'approval',
      canDecide: true,
    })
    assert.deepEqual(await filesOf(as), [])
    assert.equal((await decide(as, turn.id, approvalId, true)).status, 200)
    const { toolCalls } = await untilStatus(app, as, turn.id, 'completed')
    assert.deepEqual(
      toolCalls.map((call: { status: string; attempts: number }) => [call.status, call.attempts]),
      [
        ['done', 1],
        ['done', 1],
      ],
    )
    assert.deepEqual(await filesOf(as), ['a.txt'])
    const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
    assert.equal(body.data.items.length, 2)
  })

  test('runs no call without approval that came to need one while its turn waited', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, `${look}\n${write('a')}`, ['files.search'])
    assert.equal(turn.approvals.length, 1)
    const settings = { approvals: ['files.search', 'files.write'] }
    assert.equal((await app.call('PATCH', '/api/v1/agents/careful', { as, json: { settings } })).status, 200)
    await decide(as, turn.id, turn.approvals[0].approvalId, true)
    const done = await untilStatus(app, as, turn.id, 'completed')
    assert.deepEqual(
      done.toolCalls.map((call: { status: string }) => call.status),
      ['done', 'failed'],
    )
    assert.match(done.toolCalls[1].output.error, /files\.write needs a person’s approval/)
    assert.deepEqual(await filesOf(as), [])
  })

  test('does not run a denied call, and tells the model', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, `${write('a')}\n${write('b')}`, ['*'])
    const [first, second] = turn.approvals.map((one: { approvalId: string }) => one.approvalId)
    await decide(as, turn.id, first, false)
    assert.equal((await getTurn(app, as, turn.id)).status, 'requires_action')
    await decide(as, turn.id, second, true)
    const done = await untilStatus(app, as, turn.id, 'completed')
    assert.deepEqual(
      done.toolCalls.map((call: { status: string }) => call.status),
      ['denied', 'done'],
    )
    assert.deepEqual(await filesOf(as), ['b.txt'])
    const { body } = await app.call('GET', `/api/v1/sessions/${done.sessionId}/messages`, { as })
    assert.match(JSON.stringify(body.data.items[0].parts), /A person denied this call\. It was not run\./)
  })

  test('requires approval for every call of the tool', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, `${write('a')}\n\n${write('b')}`)
    await decide(as, turn.id, turn.approvals[0].approvalId, true)
    const next = await until(
      () => getTurn(app, as, turn.id),
      ({ status, approvals }) =>
        status === 'requires_action' && approvals[0].approvalId !== turn.approvals[0].approvalId,
    )
    assert.equal(next.approvals.length, 1)
    await decide(as, turn.id, next.approvals[0].approvalId, true)
    await untilStatus(app, as, turn.id, 'completed')
    assert.deepEqual(await filesOf(as), ['a.txt', 'b.txt'])
  })

  test('does not require approval for read-only tools with `*`, or for any tool with an empty list', async () => {
    const as = await app.createOrg()
    assert.equal((await askedBy(as, look, ['*'])).turn.status, 'completed')
    const other = await app.createOrg()
    assert.equal((await askedBy(other, write('a'), [])).turn.status, 'completed')
  })

  test('does not run an approved call when the agent has lost the tool in the meantime', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, write('a'))
    await app.call('PATCH', '/api/v1/agents/careful', { as, json: { allowedTools: [] } })
    await decide(as, turn.id, turn.approvals[0].approvalId, true)
    const { toolCalls } = await untilStatus(app, as, turn.id, 'completed')
    assert.match(toolCalls[0].output.error, /may no longer use files\.write/)
    assert.deepEqual(await filesOf(as), [])
  })

  test('cancels a waiting call with its turn', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, write('a'))
    await app.call('POST', `/api/v1/turns/${turn.id}/cancel`, { as })
    assert.equal((await decide(as, turn.id, turn.approvals[0].approvalId, true)).status, 409)
    assert.deepEqual(await filesOf(as), [])
  })
})

describe('a model that repeats itself', () => {
  test('rejects the fourth identical call with identical results, and tells the model', async () => {
    const as = await app.createOrg()
    const { id } = await openSession(app, as)
    const same = Array.from({ length: 5 }, () => '/tool files.search {"query":"x"}').join('\n\n')
    const { body } = await say(app, as, id, { text: same })
    assert.deepEqual(
      body.data.turn.toolCalls.map((call: { status: string }) => call.status),
      ['done', 'done', 'done', 'failed', 'done'],
    )
    assert.match(body.data.turn.toolCalls[3].output.error, /3 times in a row/)
  })

  test('allows identical calls while their results differ', async () => {
    const as = await app.createOrg()
    const { id } = await openSession(app, as)
    const same = Array.from({ length: 5 }, () => '/tool files.write {"name":"a.txt","text":"x"}').join('\n\n')
    const { body } = await say(app, as, id, { text: same })
    assert.ok(body.data.turn.toolCalls.every((call: { status: string }) => call.status === 'done'))
  })
})
