import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callTools, held, rejectWith, reply, startFakeModel } from '../../test/fakes/model.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { ask, createAgent, openSession, say, until, untilStatus } from '../../test/support/chat.ts'
import { addEndpoint, deliver } from '../../test/support/endpoints.ts'
import { eventsOf, typesOf } from '../../test/support/events.ts'
import { sql } from '../platform/database/database.ts'

const fake = await startFakeModel()
const app = await startTestApp({ ...fake.env, RATE_LIMIT_READS: '0' })

/** An org with an agent on the fake model, and a session with it. */
const open = async (more: object = {}): Promise<{ owner: TestActor; sessionId: string; agentId: string }> => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Ann', model: 'fake/m1', ...more })
  const session = await openSession(app, owner, { agentId: agent.id })
  return { owner, sessionId: session.id, agentId: agent.id }
}

const turnOf = ['message.created', 'turn.started', 'message.created', 'turn.completed']

describe('the events of a session', () => {
  test('a turn records its request, its start, its reply and its end once each and in this order', async () => {
    const { owner, sessionId, agentId } = await open()
    fake.play(reply(['Hello ', 'you.']))
    const { turn, message } = await ask(app, owner, sessionId, { text: 'Hi' })
    const events = await eventsOf(app, owner, sessionId, 'turn.completed')
    assert.deepEqual(typesOf(events), ['session.created', ...turnOf])
    const [created, request, started, answer, ended] = events
    assert.equal(created?.data.relationship, 'user')
    assert.deepEqual([request?.data.role, request?.data.text, request?.actor.id], ['user', 'Hi', owner.userId])
    assert.deepEqual(started?.data, { turnId: turn.id, sessionId, agentId })
    assert.deepEqual(answer?.data, {
      messageId: message.id,
      sessionId,
      turnId: turn.id,
      role: 'assistant',
      text: 'Hello you.',
      isTruncated: false,
    })
    assert.deepEqual([answer?.actor.type, answer?.actor.name], ['system', 'Ann'])
    assert.deepEqual(ended?.data, { turnId: turn.id, sessionId, agentId, stopReason: 'stop' })
    assert.ok(events.every(({ workspaceId }) => workspaceId === owner.workspaceId))
  })

  test('the text of a message is cut at 1,024 bytes and never within a character', async () => {
    const { owner, sessionId } = await open()
    fake.play(reply(['Short.']))
    await ask(app, owner, sessionId, { text: `x${'😀'.repeat(400)}` })
    const [, request] = await eventsOf(app, owner, sessionId, 'turn.completed')
    assert.deepEqual(request?.data, { ...request?.data, text: `x${'😀'.repeat(255)}`, isTruncated: true })
  })

  test('a queued turn starts after the end of the turn before it, and a turn that is cancelled while queued never starts', async () => {
    const { owner, sessionId } = await open()
    const first = held(reply(['One.']))
    fake.play(first.script, reply(['Two.']))
    const one = await say(app, owner, sessionId, { text: 'One', background: true })
    await first.asked
    const two = await say(app, owner, sessionId, { text: 'Two', background: true })
    const three = await say(app, owner, sessionId, { text: 'Three', background: true })
    const [oneId, twoId, threeId] = [one, two, three].map(({ body }) => body.data.turn.id)
    await app.call('POST', `/api/v1/turns/${threeId}/cancel`, { as: owner })
    first.release()
    await untilStatus(app, owner, twoId, 'completed')
    const events = await eventsOf(app, owner, sessionId, (all) => all.length === 11)
    const turns = events.flatMap(({ type, data }) => (type.startsWith('turn.') ? [`${type} ${data.turnId}`] : []))
    assert.deepEqual(turns, [
      `turn.started ${oneId}`,
      `turn.cancelled ${threeId}`,
      `turn.completed ${oneId}`,
      `turn.started ${twoId}`,
      `turn.completed ${twoId}`,
    ])
  })

  test('a failed turn records the code of its error, and an incomplete one its stop reason', async () => {
    const { owner, sessionId } = await open()
    fake.play(rejectWith(400))
    const { turn } = await ask(app, owner, sessionId, { text: 'Fail' })
    assert.equal(turn.status, 'failed')
    const failed = (await eventsOf(app, owner, sessionId, 'turn.failed')).at(-1)
    assert.equal(failed?.data.errorCode, turn.error.code)
    fake.play(callTools({ id: 'c1', name: 'files.search', args: '{"query":"x"}' }))
    const limited = await ask(app, owner, sessionId, { text: 'Search', maxSteps: 1 })
    assert.equal(limited.turn.status, 'incomplete')
    const incomplete = (await eventsOf(app, owner, sessionId, 'turn.incomplete')).at(-1)
    assert.equal(incomplete?.data.stopReason, 'max_steps')
  })

  test('cancelling a turn records who cancelled it once, also when it is cancelled twice', async () => {
    const { owner, sessionId } = await open()
    const never = held(reply(['Never.']))
    fake.play(never.script)
    const { body } = await say(app, owner, sessionId, { text: 'Wait', background: true })
    await never.asked
    const cancel = () => app.call('POST', `/api/v1/turns/${body.data.turn.id}/cancel`, { as: owner })
    await Promise.all([cancel(), cancel(), app.call('POST', `/api/v1/sessions/${sessionId}/cancel`, { as: owner })])
    never.release()
    await app.call('DELETE', `/api/v1/sessions/${sessionId}`, { as: owner })
    const events = await eventsOf(app, owner, sessionId, 'session.deleted')
    assert.deepEqual(typesOf(events), [
      'session.created',
      'message.created',
      'turn.started',
      'turn.cancelled',
      'session.deleted',
    ])
    assert.equal(events.at(-2)?.actor.id, owner.userId)
  })

  test('a changed session records the changed fields, and rejected requests record nothing', async () => {
    const { owner, sessionId } = await open()
    const call = (method: string, path: string, json?: object, headers = {}) =>
      app.call(method, `/api/v1/sessions/${path}`, { as: owner, headers, ...(json && { json }) })
    assert.equal((await call('PATCH', sessionId, {})).status, 400)
    assert.equal((await call('PATCH', sessionId, { title: 'A' }, { 'if-match': '"999"' })).status, 409)
    assert.equal((await call('POST', `${sessionId}/messages`, { text: 'Hi', agentId: 'nobody' })).status, 404)
    assert.equal((await call('POST', `${sessionId}/messages`, {})).status, 400)
    assert.equal((await call('POST', '', { agentId: 'nobody' })).status, 404)
    assert.equal((await call('PATCH', sessionId, { title: 'B', metadata: { a: 1 } })).status, 200)
    const events = await eventsOf(app, owner, sessionId, 'session.updated')
    assert.deepEqual(typesOf(events), ['session.created', 'session.updated'])
    assert.deepEqual(events[1]?.data.changed.toSorted(), ['metadata', 'title'])
  })
})

describe('sessions that other programs and agents create', () => {
  test('a chat completion records the session, the imported history and the turn', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Ann', model: 'fake/m1' })
    fake.play(reply(['Third.']))
    const messages = [
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'Second' },
      { role: 'user', content: 'And now?' },
    ]
    const answer = await app.call('POST', '/api/openai/v1/chat/completions', {
      as: owner,
      json: { model: 'agent/ann', messages },
    })
    assert.equal(answer.status, 200, answer.text)
    const sessionId = answer.headers.get('x-session-id') ?? ''
    const events = await eventsOf(app, owner, sessionId, 'turn.completed')
    assert.deepEqual(typesOf(events), ['session.created', 'message.created', 'message.created', ...turnOf])
    assert.deepEqual(
      events.flatMap(({ type, data }) => (type === 'message.created' ? [data.text] : [])),
      ['First', 'Second', 'And now?', 'Third.'],
    )
  })

  test('a message between agents records the session of the two once, with their names as authors', async () => {
    const owner = await app.createOrg()
    for (const [name, peer] of [
      ['ann', 'bob'],
      ['bob', 'ann'],
    ] as const) {
      await createAgent(app, owner, { name, allowedPeers: [peer] })
    }
    const session = await openSession(app, owner, { agentId: 'ann' })
    for (const text of ['/peer bob One', '/peer bob Two']) await ask(app, owner, session.id, { text })
    const { body } = await app.call('GET', '/api/v1/agents/ann/sessions', { as: owner })
    const peer = body.data.items.find(
      (one: { metadata: object }) => 'relationship' in one.metadata && one.metadata.relationship === 'peer',
    )
    const events = await eventsOf(app, owner, peer.id, (all) => all.length === 9)
    assert.deepEqual(typesOf(events), ['session.created', ...turnOf, ...turnOf])
    assert.deepEqual(
      events.slice(0, 4).map(({ actor }) => actor.name),
      ['ann', 'ann', 'bob', 'bob'],
    )
  })

  test('a message in a chat of a provider records the event of its endpoint, the session and the turn', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Ann' })
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: agent.id })
    const update = {
      update_id: 1,
      message: {
        message_id: 1,
        from: { id: 7, is_bot: false, first_name: 'Ada' },
        chat: { id: 7, type: 'private' },
        date: 1,
        text: 'Secret text',
      },
    }
    for (let n = 0; n < 2; n++) assert.equal((await deliver(app, endpoint, update)).status, 200)
    const [received, ...others] = await eventsOf(app, owner, endpoint.id, 'connector.event.received')
    assert.equal(others.length, 0, 'a duplicate is not reported')
    assert.deepEqual(received?.data, { endpointId: endpoint.id, eventType: 'message', externalId: '1' })
    assert.equal(received?.workspaceId, owner.workspaceId)
    const row = await until(
      () => app.db.row<{ id: string }>(sql`select id from sessions where org_id = ${owner.orgId}`),
      (found) => found !== undefined,
    )
    const events = await eventsOf(app, owner, row!.id, 'turn.completed')
    assert.deepEqual(typesOf(events), ['session.created', ...turnOf])
    assert.equal(events[0]?.data.relationship, 'connector')
  })
})
