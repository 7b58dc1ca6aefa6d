import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, createAgent, getTurn, openSession, say, textOf, until, untilStatus } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { startFakeModel, callTools, held, reply } from '../../../test/fakes/model.ts'
import { timed } from '../../../test/support/stopwatch.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { isDeadlocked } from './queries.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into records of every shape
type Json = any

/** An org whose agents may all write to each other. */
const createTeam = async (...names: string[]): Promise<TestActor> => {
  const owner = await app.createOrg()
  for (const name of names) {
    await createAgent(app, owner, { name, allowedPeers: names.filter((other) => other !== name) })
  }
  return owner
}

const get = async (as: TestActor, path: string): Promise<Json> =>
  (await app.call('GET', `/api/v1${path}`, { as })).body.data

const peerSession = async (as: TestActor, agent = 'ann'): Promise<Json> =>
  (await get(as, `/agents/${agent}/sessions`)).items.find((one: Json) => one.metadata.relationship === 'peer')

const askAgent = async (as: TestActor, agentId: string, text: string): Promise<Json> => {
  const session = await openSession(app, as, { agentId })
  return ask(app, as, session.id, { text })
}

/** The outcome of the only call of a turn. */
const callOf = ({ turn }: Json): Json => {
  assert.equal(turn.toolCalls.length, 1)
  return turn.toolCalls[0]
}

const chainTurns = (as: TestActor): Promise<{ id: string; hop: number; chainId: string | null; status: string }[]> =>
  app.db.rows(sql`select id, hop, chain_id, status from turns where org_id = ${as.orgId} order by hop, created_at`)

describe('message_peer', () => {
  test('message_peer creates the session of the two agents, in which the peer replies, and returns the reply', async () => {
    const owner = await createTeam('ann', 'bob')
    const { turn, message } = await askAgent(owner, 'ann', '/peer bob How are you?')
    const { status, output, toolName } = callOf({ turn })
    assert.equal(toolName, 'message_peer')
    assert.equal(status, 'done')
    assert.match(output.reply, /You wrote: “How are you\?”/)
    assert.match(textOf(message), /^bob answered: You wrote: “How are you\?”/)
    const session = await peerSession(owner)
    assert.equal(session.id, output.sessionId)
    assert.deepEqual(session.participants.map((one: Json) => [one.type, one.slug]).toSorted(), [
      ['agent', 'ann'],
      ['agent', 'bob'],
    ])
    const asked = await getTurn(app, owner, output.turnId)
    assert.deepEqual([asked.chainId, asked.hop, asked.userId], [turn.id, 1, owner.userId])
    assert.deepEqual([turn.chainId, turn.hop], [turn.id, 0])
  })

  test('messages between two agents are in one session in both directions', async () => {
    const owner = await createTeam('ann', 'bob')
    await askAgent(owner, 'ann', '/peer bob One')
    await askAgent(owner, 'bob', '/peer ann Two')
    const sessions = (await get(owner, '/sessions')).items.filter((one: Json) => one.metadata.relationship === 'peer')
    assert.equal(sessions.length, 1)
    assert.equal(sessions[0].messageCount, 4)
    const { items } = await get(owner, '/agents/ann/messages')
    assert.deepEqual(
      items.map((one: Json) => [one.fromAgentSlug, one.isSelf, one.text.slice(0, 17)]),
      [
        ['ann', true, 'You wrote: “Two”\n'],
        ['bob', false, 'Two'],
        ['bob', false, 'You wrote: “One”\n'],
        ['ann', true, 'One'],
      ],
    )
  })

  test('GET /agents/:id/messages lists each message between agents once, page by page', async () => {
    const owner = await createTeam('ann', 'bob', 'carl')
    await askAgent(owner, 'ann', '/peer bob One\n/peer carl Two\n/peer bob Three')
    const whole = (await get(owner, '/agents/ann/messages')).items.map(({ id }: Json) => id)
    assert.equal(whole.length, 6)
    const paged: string[] = []
    for (let cursor = ''; ;) {
      const page = await get(owner, `/agents/ann/messages?limit=2${cursor}`)
      paged.push(...page.items.map(({ id }: Json) => id))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    assert.deepEqual(paged, whole)
  })

  test('two agents that write to each other at the same time share one session', async () => {
    const owner = await createTeam('ann', 'bob')
    const turns = await Promise.all(
      [0, 1, 2, 3].map((i) =>
        askAgent(owner, i % 2 === 0 ? 'ann' : 'bob', `/peer ${i % 2 === 0 ? 'bob' : 'ann'} Hello`),
      ),
    )
    assert.equal(new Set(turns.map((one) => callOf(one).output.sessionId)).size, 1)
  })

  test("each agent is shown the other agent's messages as those of its user", async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'ann', allowedPeers: ['eve'] })
    await createAgent(app, owner, { name: 'eve', allowedPeers: ['ann'], model: 'fake/m1', systemPrompt: 'Be Eve.' })
    fake.play(reply(['I am Eve.']))
    await askAgent(owner, 'ann', '/peer eve Who are you?')
    const [first] = fake.requests
    assert.match(String(first?.messages[0]?.content), /You are talking with ann \(ann\), another agent/)
    fake.play(
      callTools({ id: 'c1', name: 'message_peer', args: '{"to":"ann","text":"And who are you?"}' }),
      reply(['Done.']),
    )
    await askAgent(owner, 'eve', 'Ask ann who she is.')
    fake.play(reply(['As I said.']))
    await askAgent(owner, 'ann', '/peer eve What did we say?')
    const told = fake.requests
      .at(-1)
      ?.messages.slice(1)
      .map(({ role, content }) => [role, String(content).slice(0, 16)])
    assert.deepEqual(told, [
      ['user', 'Who are you?'],
      ['assistant', 'I am Eve.'],
      ['assistant', 'And who are you?'],
      ['user', 'You wrote: “And '],
      ['user', 'What did we say?'],
    ])
  })

  test('message_peer with waitForReply false returns immediately, and the peer still replies', async () => {
    const owner = await createTeam('ann', 'bob')
    const args = JSON.stringify({ to: 'bob', text: '/slow 1500', waitForReply: false })
    const { output } = callOf(await askAgent(owner, 'ann', `/tool message_peer ${args}`))
    assert.equal(output.reply, null)
    assert.match(output.note, /has not replied yet/)
    await untilStatus(app, owner, output.turnId, 'completed')
  })

  test('a peer can write back to the agent that waits for it, which reads the message after its turn', async () => {
    const owner = await createTeam('ann', 'bob')
    await askAgent(owner, 'ann', '/peer bob /peer ann Thanks')
    const turns = await until(
      () => chainTurns(owner),
      (all) => all.length === 3 && all.every(({ status }) => status === 'completed'),
    )
    assert.deepEqual(
      turns.map(({ hop }) => hop),
      [0, 1, 2],
    )
  })

  test('the turn of a peer has no more authority than the API key of the first turn', async () => {
    const owner = await createTeam('ann', 'bob')
    await app.call('PATCH', '/api/v1/agents/bob', { as: owner, json: { allowedTools: ['files.search'] } })
    const chatOnly = await app.createUser(owner, 'owner', { scopes: ['sessions:*', 'agents:read'] })
    const { output } = callOf(await askAgent(chatOnly, 'ann', '/peer bob /tool files.search {"query":""}'))
    const asked = await getTurn(app, owner, output.turnId)
    assert.match(asked.toolCalls[0].output.error, /no tool files\.search/)
  })
})

describe('cancelling a turn', () => {
  test('cancelling a turn cancels the turns that its messages started, at every depth', async () => {
    const owner = await createTeam('ann', 'bob', 'carl')
    const session = await openSession(app, owner, { agentId: 'ann' })
    const text = '/peer bob /peer carl /slow 60000'
    const asked = await say(app, owner, session.id, { text, background: true })
    await until(
      () => chainTurns(owner),
      (all) => all.length === 3 && all.every(({ status }) => status === 'running'),
    )
    const tookMs = await timed(app.db, async () => {
      await app.call('POST', `/api/v1/turns/${asked.body.data.turn.id}/cancel`, { as: owner })
      const turns = await until(
        () => chainTurns(owner),
        (all) => all.every(({ status }) => status === 'cancelled'),
      )
      assert.equal(turns.length, 3)
    })
    assert.ok(tookMs < 2_000, `within two seconds, not ${tookMs} ms`)
    assert.equal((await peerSession(owner)).status, 'idle')
  })

  test('cancelling a turn at any time leaves none of the turns running that its messages started', async () => {
    const owner = await createTeam('ann', 'bob')
    const write = async (): Promise<void> => {
      const session = await openSession(app, owner, { agentId: 'ann' })
      const asked = await say(app, owner, session.id, { text: '/peer bob /slow 60000', background: true })
      await app.call('POST', `/api/v1/turns/${asked.body.data.turn.id}/cancel`, { as: owner })
    }
    await Promise.all(Array.from({ length: 8 }, write))
    await until(
      () => chainTurns(owner),
      (all) => all.every(({ status }) => status === 'cancelled'),
    )
  })

  test('cancelling a turn cancels the turns that its messages started through a turn that has ended', async () => {
    const owner = await createTeam('ann', 'bob', 'carl')
    await app.call('PATCH', '/api/v1/agents/ann', { as: owner, json: { model: 'fake/m1' } })
    const toCarl = JSON.stringify({ to: 'carl', text: '/slow 60000', waitForReply: false })
    const toBob = JSON.stringify({ to: 'bob', text: `/tool message_peer ${toCarl}` })
    const last = held(reply(['Done.']))
    fake.play(callTools({ id: 'c1', name: 'message_peer', args: toBob }), last.script)
    const session = await openSession(app, owner, { agentId: 'ann' })
    const asked = await say(app, owner, session.id, { text: 'Hello', background: true })
    await last.asked
    const statuses = async (): Promise<string> => (await chainTurns(owner)).map(({ status }) => status).join(' ')
    await until(statuses, (all) => all === 'running completed running')
    await app.call('POST', `/api/v1/turns/${asked.body.data.turn.id}/cancel`, { as: owner })
    await until(statuses, (all) => all === 'cancelled completed cancelled')
    last.release()
  })

  test('cancelling another turn does not cancel the turns that a message started', async () => {
    const owner = await createTeam('ann', 'bob')
    const { output } = callOf(
      await askAgent(owner, 'ann', '/tool message_peer {"to":"bob","text":"/slow 1000","waitForReply":false}'),
    )
    const session = await openSession(app, owner, { agentId: 'ann' })
    const other = await say(app, owner, session.id, { text: '/slow 60000', background: true })
    await app.call('POST', `/api/v1/turns/${other.body.data.turn.id}/cancel`, { as: owner })
    await untilStatus(app, owner, output.turnId, 'completed')
  })
})

describe('a rejected message', () => {
  const assertRejected = async (as: TestActor, text: string, why: RegExp): Promise<void> => {
    const { turn, message } = await askAgent(as, 'ann', text)
    const { status, output } = callOf({ turn })
    assert.equal(status, 'failed')
    assert.match(output.error, why)
    assert.equal(turn.status, 'completed')
    assert.match(textOf(message), /message_peer failed/)
    assert.equal(await peerSession(as), undefined)
  }

  test('a message to an agent that is not an allowed peer is rejected the same way whether the agent exists or not', async () => {
    const owner = await createTeam('ann', 'bob')
    await createAgent(app, owner, { name: 'carl' })
    await assertRejected(owner, '/peer carl Hi', /may not write to carl\. It may write to: bob/)
    await assertRejected(owner, '/peer missing Hi', /may not write to missing\. It may write to: bob/)
    const stranger = await createTeam('dora', 'zoe')
    assert.equal((await get(stranger, '/sessions')).items.length, 0)
    await assertRejected(owner, '/peer dora Hi', /may not write to dora/)
  })

  test('a message to an inactive agent, to a deleted agent or to the writer itself is rejected', async () => {
    const owner = await createTeam('ann', 'bob', 'carl')
    await app.call('PATCH', '/api/v1/agents/bob', { as: owner, json: { isActive: false } })
    await app.call('DELETE', '/api/v1/agents/carl', { as: owner })
    await assertRejected(owner, '/peer bob Hi', /bob is inactive/)
    await assertRejected(owner, '/peer carl Hi', /no agent carl/)
    await assertRejected(owner, '/peer ann Hi', /cannot write to itself/)
  })

  test('a message to a peer that was removed from the list during the model call is rejected', async () => {
    const owner = await createTeam('ann', 'bob')
    await app.call('PATCH', '/api/v1/agents/ann', { as: owner, json: { model: 'fake/m1' } })
    const session = await openSession(app, owner, { agentId: 'ann' })
    const write = callTools({ id: 'c1', name: 'message_peer', args: '{"to":"bob","text":"Hi"}' })
    const { script, asked, release } = held(write)
    fake.play(script, reply(['Done.']))
    const { body } = await say(app, owner, session.id, { text: 'Write to bob', background: true })
    await asked
    await app.call('PATCH', '/api/v1/agents/ann', { as: owner, json: { allowedPeers: ['someone'] } })
    release()
    const turn = await untilStatus(app, owner, body.data.turn.id, 'completed')
    assert.match(turn.toolCalls[0].output.error, /may not write to bob/)
  })

  test('a message to an agent of another workspace is rejected', async () => {
    const owner = await createTeam('ann')
    const { body } = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Other' } })
    const inOther = { as: owner, headers: { 'x-workspace-id': body.data.id } }
    await app.call('POST', '/api/v1/agents', { ...inOther, json: { name: 'bob' } })
    await app.call('PATCH', '/api/v1/agents/ann', { as: owner, json: { allowedPeers: ['bob'] } })
    await assertRejected(owner, '/peer bob Hi', /no agent bob/)
  })

  test('an agent without peers has the tool message_peer only when its allowedTools names it', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'ann' })
    await assertRejected(owner, '/peer bob Hi', /no tool message_peer/)
    await app.call('PATCH', '/api/v1/agents/ann', { as: owner, json: { allowedTools: ['message_peer'] } })
    await assertRejected(owner, '/peer bob Hi', /may write to: no agents/)
  })
})

describe('the shared budget of a conversation between agents', () => {
  const deepest = async (as: TestActor): Promise<Json> => {
    const turns = await until(
      () => chainTurns(as),
      (all) => all.every(({ status }) => ['completed', 'incomplete', 'failed', 'cancelled'].includes(status)),
    )
    return turns.at(-1)
  }

  test('messages between agents reach a depth of four, in a cycle or not; the fifth is rejected and all turns end', async () => {
    for (const path of [
      ['bob', 'carl', 'dora', 'eve', 'fay'],
      ['bob', 'ann', 'bob', 'ann', 'bob'],
      ['bob', 'carl', 'ann', 'bob', 'carl'],
    ]) {
      const owner = await createTeam('ann', 'bob', 'carl', 'dora', 'eve', 'fay')
      const { turn } = await askAgent(owner, 'ann', `${path.map((to) => `/peer ${to}`).join(' ')} Hi`)
      assert.equal(turn.status, 'completed')
      const last = await deepest(owner)
      assert.equal(last.hop, 4, path.join())
      assert.equal(last.chainId, turn.id)
      const { toolCalls } = await getTurn(app, owner, last.id)
      assert.match(toolCalls[0].output.error, /at most 4 agents deep/)
    }
  })

  test('the check for a deadlock reads each turn of a long queue once', async () => {
    const owner = await createTeam('ann', 'bob')
    const { turn } = await askAgent(owner, 'ann', '/peer bob Hello')
    const { turnId, sessionId } = callOf({ turn }).output
    const ids = Array.from({ length: 1_500 }, () => newId())
    await app.db.execute(sql`
      insert into turns
      select (jsonb_populate_record(t, jsonb_build_object('id', queued.id, 'number', queued.place + 1, 'status', 'queued',
        'reply_id', queued.id, 'ended_at', null, 'parent_call', null, 'parent_turn_id', null))).*
      from turns t, unnest(${ids}::uuid[]) with ordinality as queued (id, place)
      where t.org_id = ${owner.orgId} and t.id = ${turnId}`)
    await app.db.execute(sql`
      update sessions set active_turn_id = ${ids[0]} where org_id = ${owner.orgId} and id = ${sessionId}`)
    const [last, middle] = [ids.at(-1) ?? '', ids[700] ?? '']
    const ms = await timed(app.db, async () => {
      assert.equal(await isDeadlocked(app.db, owner.orgId, last, turn.id), false)
    })
    // It takes 3 s when all turns before each turn are read.
    assert.ok(ms < 2_000, `${Math.round(ms)} ms`)
    assert.equal(await isDeadlocked(app.db, owner.orgId, last, middle), true)
    assert.equal(await isDeadlocked(app.db, owner.orgId, middle, last), false)
  })

  test('many cyclic conversations at the same time all end without a deadlock', async () => {
    const owner = await createTeam('ann', 'bob', 'carl')
    const ways = [
      ['ann', 'bob', 'carl', 'ann'],
      ['bob', 'carl', 'ann', 'bob'],
      ['carl', 'ann', 'bob', 'carl'],
      ['ann', 'carl', 'bob', 'ann'],
    ]
    const turns = await Promise.all(
      ways.map(([first = '', ...path]) => askAgent(owner, first, `${path.map((to) => `/peer ${to}`).join(' ')} Hi`)),
    )
    assert.ok(turns.every(({ turn }) => turn.status === 'completed'))
    const all = await until(
      () => chainTurns(owner),
      (found) => found.every(({ status }) => status === 'completed'),
    )
    assert.equal(all.length, 16)
    assert.ok(!app.logLines.some((line) => line.includes('deadlock')))
  })

  const write = (to: string): string => `/tool message_peer ${JSON.stringify({ to, text: 'Hi' })}`
  const statusesOf = ({ turn }: Json): string[] => turn.toolCalls.map(({ status }: Json) => status)

  test('a conversation between agents has at most twenty messages', async () => {
    const owner = await createTeam('ann', 'bob', 'carl', 'dora')
    const lines = Array.from({ length: 21 }, (_, i) => write(['bob', 'carl', 'dora'][i % 3] ?? ''))
    const answer = await askAgent(owner, 'ann', lines.join('\n'))
    assert.deepEqual(statusesOf(answer), [...Array.from({ length: 20 }, () => 'done'), 'failed'])
    assert.match(answer.turn.toolCalls[20].output.error, /20 messages/)
  })

  test('two agents exchange at most ten messages a minute', async () => {
    const owner = await createTeam('ann', 'bob')
    const answer = await askAgent(owner, 'ann', Array.from({ length: 11 }, (_, i) => `/peer bob ${i}`).join('\n'))
    assert.deepEqual(statusesOf(answer), [...Array.from({ length: 10 }, () => 'done'), 'failed'])
    assert.match(answer.turn.toolCalls[10].output.error, /at most 10 messages a minute/)
  })

  test('all turns of a conversation make at most four times as many model calls as the first turn may', async () => {
    const owner = await createTeam('ann', 'bob')
    const session = await openSession(app, owner, { agentId: 'ann' })
    const text = Array.from({ length: 7 }, () => write('bob')).join('\n')
    const answer = await ask(app, owner, session.id, { text, maxSteps: 2 })
    assert.ok(statusesOf(answer).every((status) => status === 'done'))
    // Seven calls of bob's model and one of ann's use up the shared budget.
    const { turn } = answer
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_steps', 1])
  })

  test('all turns of a conversation share the cost limit of the first turn', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'ann', allowedPeers: ['bob'] })
    await createAgent(app, owner, { name: 'bob', model: 'atrium/demo-paid' })
    const session = await openSession(app, owner, { agentId: 'ann' })
    const text = `/peer bob ${'costly '.repeat(8_000)}`
    const { turn } = await ask(app, owner, session.id, { text, maxCostCents: 1 })
    const asked = await getTurn(app, owner, callOf({ turn }).output.turnId)
    assert.ok(asked.costMicrocents > 10_000)
    // Ann's model calls are free, but bob's count towards the limit.
    assert.deepEqual([turn.costMicrocents, turn.status, turn.stopReason], [0, 'incomplete', 'max_cost'])
  })

  test('all turns of a conversation share the time limit of the first turn', async () => {
    const hurried = await app.secondServer({ TURN_LIMIT_SECONDS: '5' }, { work: true })
    const owner = await createTeam('ann', 'bob')
    await app.deps.jobs.stop({ deadlineMs: 1_000 })
    const session = await openSession(hurried, owner, { agentId: 'ann' })
    const { turn } = await ask(hurried, owner, session.id, { text: '/slow 2500\n/peer bob /slow 60000' })
    assert.deepEqual([turn.status, turn.stopReason], ['incomplete', 'max_time'])
    const [, asked] = await until(
      () => chainTurns(owner),
      (all) => all.length === 2 && all.every(({ status }) => status === 'incomplete'),
    )
    const receipt = await getTurn(hurried, owner, asked?.id ?? '')
    assert.equal(receipt.stopReason, 'max_time')
    // With a separate time limit, the turn would have run for five seconds.
    const worked = Date.parse(receipt.endedAt) - Date.parse(receipt.startedAt)
    assert.ok(worked < 5_000, `it worked for ${worked} ms`)
  })
})

describe('messages to agents on paid models', () => {
  test('a message to an agent on a paid model without balance is rejected, and the turn of the writer continues', async () => {
    const enforced = await startTestApp({ BILLING_ENFORCED: '1' })
    const owner = await enforced.createOrg()
    await createAgent(enforced, owner, { name: 'ann', allowedPeers: ['bob'] })
    await createAgent(enforced, owner, { name: 'bob', model: 'atrium/demo-paid' })
    const session = await openSession(enforced, owner, { agentId: 'ann' })
    const write = () => ask(enforced, owner, session.id, { text: '/peer bob Hello' })
    const { turn } = await write()
    assert.deepEqual([turn.status, turn.toolCalls[0].status], ['completed', 'failed'])
    assert.match(turn.toolCalls[0].output.error, /balance/i)
    const { body } = await enforced.call('GET', '/api/v1/agents/ann/messages', { as: owner })
    assert.deepEqual(body.data.items, [])
    const deposit = { as: owner, json: { amountCents: 500, method: 'direct' } }
    assert.equal((await enforced.call('POST', '/api/v1/billing/deposit', deposit)).status, 200)
    const paid = await write()
    assert.equal(paid.turn.toolCalls[0].status, 'done')
    const asked = await getTurn(enforced, owner, paid.turn.toolCalls[0].output.turnId)
    assert.ok(asked.costMicrocents > 0)
    assert.deepEqual([asked.chainId, paid.turn.costMicrocents], [paid.turn.id, 0])
  })
})
