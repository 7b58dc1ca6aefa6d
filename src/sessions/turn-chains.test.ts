// The chain of events of a request continues in the turn that it creates, wherever the turn runs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startChatProviders } from '../../test/fakes/chat-providers.ts'
import { held, reply, startFakeModel } from '../../test/fakes/model.ts'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor, TestApp } from '../../test/harness.ts'
import { createAgent, getTurn, openSession, say, sayWithHeaders, until, untilStatus } from '../../test/support/chat.ts'
import { addEndpoint, deliver, senders } from '../../test/support/endpoints.ts'
import { createEndpoint } from '../../test/support/event-endpoints.ts'
import type { SeenEvent } from '../../test/support/event-endpoints.ts'
import { openLoopback } from '../../test/support/webhooks.ts'
import { postCharges } from '../billing/ledger/ledger.ts'
import { chainHeader, maxDepth } from '../outbox/chain.ts'
import type { EventChain } from '../outbox/chain.ts'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

const fake = await startFakeModel()
const providers = await startChatProviders()
const env = { ...providers.env, ...fake.env, ...openLoopback }
const app = await startTestApp(env)
/** Turns that it creates run in the other process. */
const apiOnly = await app.secondServer(env, { work: false })

/** All events of an org, in the order of the log, when everything has ended. */
const logOf = async (as: TestActor): Promise<SeenEvent[]> => {
  await app.settled()
  await until('everything is published', async () => {
    const rows = await app.db.rows(sql`select from event_outbox where org_id = ${as.orgId}`)
    return rows.length === 0
  })
  return (await app.call('GET', '/api/v1/events?limit=100', { as })).body.data.items
}

const newChain = (depth: number): EventChain => ({ id: newId(), depth })
const headerOf = (as: TestActor, chain: EventChain) => ({ [chainHeader]: app.deps.chains.format(as.orgId, chain) })

/** The events without those of the preparation, as types with their chain. */
const chained = (events: readonly SeenEvent[], from: EventChain): string[] =>
  events.map(({ type, chain }) => `${type} ${chain.id === from.id ? chain.depth : 'other chain'}`)

/** An org with an agent whose turns each write a file. */
const writer = async (settings: object = {}) => {
  const as = await app.createOrg()
  const agent = await createAgent(app, as, { name: 'Writer', allowedTools: ['files.write'], settings })
  const { id: sessionId } = await openSession(app, as, { agentId: agent.id })
  return { as, agent, sessionId }
}

let files = 0
const writeFile = () => `/tool files.write ${JSON.stringify({ name: `${(files += 1)}.txt`, text: 'x' })}`

const eventsOfTurn = ['message.created', 'turn.started', 'file.created', 'message.created', 'turn.completed']

describe('the events of a turn continue the chain of the request', () => {
  const servers: [string, TestApp][] = [
    ['in the process that received the request', app],
    ['in a worker', apiOnly],
  ]
  for (const [place, server] of servers) {
    test(`so a loop of an event, a receiver and a turn ${place} ends after five further turns`, async () => {
      const { as, sessionId } = await writer()
      const receiver = await startReceiver()
      receiver.answer = (response, arrival) => {
        const headers = { [chainHeader]: arrival.headers[chainHeader] as string }
        const json = { text: writeFile(), background: true }
        void sayWithHeaders(server, as, sessionId, { json, headers }).then(() => response.end())
      }
      await createEndpoint(app, as, { url: receiver.url, types: ['turn.completed'] })
      assert.equal((await say(server, as, sessionId, { text: writeFile(), background: true })).status, 202)
      const ended = await until(
        () => logOf(as),
        (all) => all.filter(({ type }) => type === 'turn.completed').length >= maxDepth + 2,
      )
      const turns = ended.slice(ended.findIndex(({ type }) => type === 'message.created'))
      const first = turns.find(({ type }) => type === 'turn.completed')
      assert.deepEqual(
        turns.slice(eventsOfTurn.length).map(({ type, chain }) => [type, chain]),
        Array.from({ length: maxDepth + 1 }, (_, n) =>
          eventsOfTurn.map((type) => [type, { id: first?.id, depth: n + 1 }]),
        ).flat(),
      )
      assert.deepEqual(
        turns.filter(({ isDelivered }) => !isDelivered).map(({ type }) => type),
        eventsOfTurn,
      )
      assert.equal(receiver.arrivals.length, maxDepth + 1)
      assert.equal((await logOf(as)).length, ended.length, 'the last turn caused nothing')
    })
  }

  test('and without a chain each event of a turn begins its own', async () => {
    const { as, sessionId } = await writer()
    await say(apiOnly, as, sessionId, { text: writeFile() })
    for (const { id, chain } of await logOf(as)) assert.deepEqual(chain, { id, depth: 0 })
  })

  test('also when the turn waits behind another one of its session, which has another chain', async () => {
    const { as } = await writer()
    const agent = await createAgent(app, as, { name: 'Ann', model: 'fake/m1' })
    const { id } = await openSession(app, as, { agentId: agent.id })
    const first = held(reply(['One.']))
    fake.play(first.script, reply(['Two.']))
    const [one, two] = [newChain(1), newChain(3)]
    const send = (chain: EventChain) =>
      sayWithHeaders(app, as, id, { json: { text: 'Hi', background: true }, headers: headerOf(as, chain) })
    await send(one)
    await first.asked
    await send(two)
    first.release()
    const events = (await logOf(as)).filter(({ type }) => type.startsWith('turn.'))
    assert.deepEqual(
      events.map(({ type, chain }) => [type, chain]),
      [one, two].flatMap((chain) => ['turn.started', 'turn.completed'].map((type) => [type, chain])),
    )
  })

  test('and so do the turns of agents to which its agent writes, and their cancellation', async () => {
    const as = await app.createOrg()
    const ann = await createAgent(app, as, { name: 'ann', allowedPeers: ['bob'] })
    await createAgent(app, as, { name: 'bob' })
    const { id } = await openSession(app, as, { agentId: ann.id })
    const before = (await logOf(as)).length
    const chain = newChain(2)
    const json = { text: '/peer bob /slow 60000', background: true }
    const { body } = await sayWithHeaders(app, as, id, { json, headers: headerOf(as, chain) })
    await until('both turns run', async () => {
      const rows = await app.db.rows(sql`select from turns where org_id = ${as.orgId} and status = 'running'`)
      return rows.length === 2
    })
    const cancel = newChain(4)
    await app.call('POST', `/api/v1/turns/${body.data.turn.id}/cancel`, { as, headers: headerOf(as, cancel) })
    await until('both were cancelled', async () => {
      const rows = await app.db.rows(sql`select from turns where org_id = ${as.orgId} and status = 'cancelled'`)
      return rows.length === 2
    })
    // Only a sweep, which no test runs by itself, posts the charges of a turn that a job has cancelled.
    await postCharges({ db: app.db, jobs: app.deps.jobs }, as.orgId)
    // How much of their replies the turns have stored before depends on the time.
    const events = (await logOf(as)).slice(before).filter(({ data }) => data['role'] !== 'assistant')
    const [own, cancelled] = [chained(events, chain), chained(events, cancel)]
    assert.deepEqual(own.filter((one) => !one.endsWith('other chain')).toSorted(), [
      'message.created 2',
      'message.created 2',
      'session.created 2',
      'turn.cancelled 2',
      'turn.started 2',
      'turn.started 2',
    ])
    assert.deepEqual(
      cancelled.filter((one) => !one.endsWith('other chain')),
      ['turn.cancelled 4'],
    )
    assert.equal(events.length, 7)
  })

  test('and a decision of a later event of the chain continues the turn there', async () => {
    const { as, sessionId } = await writer({ approvals: ['files.write'] })
    const before = (await logOf(as)).length
    const chain = newChain(1)
    const json = { text: writeFile(), background: true }
    const { body } = await sayWithHeaders(app, as, sessionId, { json, headers: headerOf(as, chain) })
    const { id } = body.data.turn
    await untilStatus(app, as, id, 'requires_action')
    const [{ approvalId }] = (await getTurn(app, as, id)).approvals
    const decided = await app.call('POST', `/api/v1/turns/${id}/approvals`, {
      as,
      json: { approvalId, approved: true },
      headers: headerOf(as, { ...chain, depth: 2 }),
    })
    assert.equal(decided.status, 200, decided.text)
    await untilStatus(app, as, id, 'completed')
    assert.deepEqual(chained((await logOf(as)).slice(before), chain), [
      'message.created 1',
      'turn.started 1',
      'turn.requires_action 1',
      'turn.approval_decided 2',
      'file.created 2',
      'message.created 2',
      'turn.completed 2',
    ])
  })

  test('also of a request of a chat provider', async () => {
    const { as, agent } = await writer()
    const endpoint = await addEndpoint(app, as, 'telegram', { agentId: agent.id })
    const before = (await logOf(as)).length
    const chain = newChain(3)
    const update = (id: number) => ({
      update_id: id,
      message: {
        message_id: id,
        from: { id: 7, first_name: 'Ada' },
        chat: { id: 7, type: 'private' },
        date: 1,
        text: 'Hi',
      },
    })
    const { headers, body } = senders['telegram']!.sign(JSON.stringify(update(1)), endpoint.url)
    const { status } = await app.call('POST', endpoint.path, { headers: { ...headers, ...headerOf(as, chain) }, body })
    assert.equal(status, 200)
    const types = ['connector.event.received', 'session.created', 'message.created', 'turn.started', 'message.created']
    const events = (await logOf(as)).slice(before)
    assert.deepEqual(
      chained(events, chain),
      [...types, 'turn.completed'].map((type) => `${type} 3`),
    )
    assert.equal((await deliver(app, endpoint, update(2))).status, 200)
    const later = (await logOf(as)).slice(before + events.length)
    assert.equal(later.length, 5)
    for (const { id, chain } of later) assert.deepEqual(chain, { id, depth: 0 })
  })
})
