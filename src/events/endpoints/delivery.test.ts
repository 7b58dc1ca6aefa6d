import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { systemActor } from '../../identity/actor.ts'
import { eventTypes } from '../../outbox/catalog.ts'
import { recordEvent } from '../../outbox/record.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import type { Arrival, Receiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import {
  createAgent,
  createEndpoint,
  endpointDeliveries,
  endpointsPath,
  eventsAbout,
  patchEndpoint,
  readEndpoint,
  renameAgent,
} from '../../../test/support/event-endpoints.ts'
import type { MadeEndpoint, SeenDelivery, SeenEvent } from '../../../test/support/event-endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { createWebhook, deliver, openLoopback } from '../../../test/support/webhooks.ts'

// Three attempts: at once, after 0 s and after a day.
const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,86400' })

const parsed = ({ body }: Arrival) => JSON.parse(body.toString())
const typesOf = (receiver: Receiver): string[] => receiver.arrivals.map((arrival) => parsed(arrival).type)
const untilArrivals = (receiver: Receiver, count: number): Promise<void> =>
  until(`${count} deliveries have arrived`, () => receiver.arrivals.length >= count)

/** Resolves when everything that was recorded so far is published, and all due deliveries have ended. */
const settled = async (as: TestActor): Promise<void> => {
  const id = await createAgent(app, as, `Last ${newId()}`)
  await eventsAbout(app, as, id, 1)
  await app.settled()
}

const recordAgentDeleted = (orgId: string, workspaceId: string | null, subjectId = newId()): Promise<void> =>
  app.db.transaction({ orgId }, (db) =>
    recordEvent(db, systemActor(orgId, 'Test'), 'agent.deleted', {
      subjectId,
      workspaceId,
      data: { agentId: subjectId, name: 'N', slug: 'n' },
    }),
  )

describe('a delivery', () => {
  test('and the log have the version of the event when it was recorded, not that of the catalog when they are read', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    await createEndpoint(app, owner, { url: receiver.url })
    const definition = eventTypes['agent.deleted']
    const id = newId()
    definition.version += 6
    await recordAgentDeleted(owner.orgId, null, id).finally(() => {
      definition.version -= 6
    })
    const [logged] = await eventsAbout(app, owner, id, 1)
    await untilArrivals(receiver, 1)
    const { version } = parsed(receiver.arrivals[0] as Arrival)
    assert.deepEqual([logged?.version, version], [definition.version + 6, definition.version + 6])
  })

  test('is verified unchanged by standardwebhooks, svix and openai, and has the fields of the event in the log', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const { id, secret } = await createEndpoint(app, owner, { url: receiver.url })
    const agentId = await createAgent(app, owner, 'Zoë 🎉')
    await untilArrivals(receiver, 1)
    const [arrival] = receiver.arrivals as [Arrival]
    const headers = arrival.headers as Record<string, string>
    const text = arrival.body.toString()
    const [logged] = (await eventsAbout(app, owner, agentId, 1)) as [SeenEvent]
    const { occurredAt, isDelivered: _, ...same } = logged
    assert.deepEqual(JSON.parse(text), { ...same, timestamp: occurredAt })
    assert.equal(headers['webhook-id'], logged.id)
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual(new Webhook(secret).verify(text, headers), JSON.parse(text))
    assert.doesNotThrow(() => new SvixWebhook(secret).verify(text, headers))
    const client = new OpenAI({ apiKey: 'unused', webhookSecret: secret })
    assert.equal((await client.webhooks.unwrap(text, headers)).type, 'agent.created')
    await assert.rejects(client.webhooks.unwrap(`${text} `, headers))
    assert.throws(() => new SvixWebhook(secret).verify(`${text} `, headers))
    const chain = app.deps.chains.parse(owner.orgId, headers['atrium-event-chain'] as string)
    assert.deepEqual(chain, { id: logged.chain.id, depth: 1 })
    const [delivery] = (await until(
      () => endpointDeliveries(app, owner, { id }),
      (items) => items[0]?.status === 'succeeded',
    )) as [SeenDelivery]
    assert.equal(delivery.eventId, logged.id)
    assert.equal(delivery.endpointId, id)
    assert.equal('webhookId' in delivery, false)
  })

  test('has the same bytes and the same id on every attempt', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(receiver.arrivals.length < 2 ? 500 : 204).end()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url })
    await createAgent(app, owner, 'Twice')
    await untilArrivals(receiver, 2)
    const [first, second] = receiver.arrivals as [Arrival, Arrival]
    assert.equal(second.body.equals(first.body), true)
    assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
    const [delivery] = (await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items[0]?.status === 'succeeded',
    )) as [SeenDelivery]
    assert.equal(delivery.attempts.length, 2)
    assert.equal((await readEndpoint(app, owner, endpoint)).deliveryCount, 1)
  })

  test('is made for each endpoint that wants the type, once', async () => {
    const owner = await app.createOrg()
    const receivers = [await startReceiver(), await startReceiver(), await startReceiver()] as const
    const [all, some, others] = receivers
    await createEndpoint(app, owner, { url: all.url, types: ['*'] })
    await createEndpoint(app, owner, { url: some.url, types: ['agent.updated'] })
    await createEndpoint(app, owner, { url: others.url, types: ['event_endpoint.*'] })
    const id = await createAgent(app, owner, 'Fan')
    await renameAgent(app, owner, id, 'Out')
    await settled(owner)
    assert.deepEqual(typesOf(some), ['agent.updated'])
    assert.deepEqual(
      typesOf(all)
        .filter((type) => type.startsWith('agent.'))
        .toSorted(),
      ['agent.created', 'agent.created', 'agent.updated'],
    )
    assert.equal(
      typesOf(others).every((type) => type === 'event_endpoint.created'),
      true,
    )
  })

  test('is not made for events of other workspaces, nor for events that do not pass the filter', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Second' } })
    const receiver = await startReceiver()
    await createEndpoint(app, owner, {
      url: receiver.url,
      types: ['agent.deleted'],
      workspaceIds: [owner.workspaceId],
      filter: { not: { path: 'subject.id', equals: '01a1fc7d-9fd0-79dc-a335-45f9cc19b81e' } },
    })
    const [mine, ofOrg] = [newId(), newId()]
    await recordAgentDeleted(owner.orgId, body.data.id)
    await recordAgentDeleted(owner.orgId, owner.workspaceId, '01a1fc7d-9fd0-79dc-a335-45f9cc19b81e')
    await recordAgentDeleted(owner.orgId, owner.workspaceId, mine)
    await recordAgentDeleted(owner.orgId, null, ofOrg)
    await settled(owner)
    assert.deepEqual(
      receiver.arrivals.map((arrival): string => parsed(arrival).subject.id).toSorted(),
      [mine, ofOrg].toSorted(),
    )
  })

  test('is held while the endpoint is paused, and is not made while it is disabled', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url })
    await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    const held = await createAgent(app, owner, 'Held')
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items[0]?.status === 'held',
    )
    await patchEndpoint(app, owner, endpoint, { status: 'disabled' })
    await settled(owner)
    await patchEndpoint(app, owner, endpoint, { status: 'active' })
    await untilArrivals(receiver, 1)
    await settled(owner)
    assert.deepEqual(
      receiver.arrivals.map((arrival) => parsed(arrival).data.name.split(' ')[0]),
      ['Held', 'Last'],
    )
    assert.equal(parsed(receiver.arrivals[0]!).subject.id, held)
  })

  test('to an address that is not public fails without a request', async () => {
    const guarded = await app.secondServer({ OUTBOUND_ALLOW_CIDRS: '' }, { work: false })
    const owner = await app.createOrg()
    const answer = await guarded.call('POST', endpointsPath, {
      as: owner,
      json: { name: 'Inside', url: 'http://127.0.0.1:9999/', types: ['*'] },
    })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.body.error.message, /not on the public Internet/)
  })
})

describe('the rights of the owner', () => {
  const lastError = async (as: TestActor, endpoint: MadeEndpoint): Promise<string> => {
    const [delivery] = await until(
      () => endpointDeliveries(app, as, endpoint),
      (items) => items[0]?.status === 'failed',
    )
    return delivery?.error ?? ''
  }

  test('limit the events: of their workspaces, and of the types that they may read', async () => {
    const owner = await app.createOrg()
    const outsider = await app.createUser(owner, 'member', { inWorkspace: false })
    const narrow = await app.createUser(owner, 'member', { scopes: ['webhooks:*'] })
    const [outside, few] = [await startReceiver(), await startReceiver()]
    const ofOutsider = await createEndpoint(app, outsider, { url: outside.url, types: ['*'] })
    await createEndpoint(app, narrow, { url: few.url, types: ['*'] })
    await createAgent(app, owner, 'Secret')
    await settled(owner)
    assert.equal(typesOf(outside).includes('agent.created'), false)
    assert.equal(typesOf(few).includes('agent.created'), false)
    assert.equal(typesOf(few).includes('event_endpoint.created'), true)
    assert.equal(
      (await endpointDeliveries(app, owner, ofOutsider)).some((one) => one.eventType === 'agent.created'),
      false,
    )
  })

  test('are checked again at the time of delivery: nothing is sent after the key was revoked', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, member, { url: receiver.url })
    await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    await createAgent(app, owner, 'Too late')
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items[0]?.status === 'held',
    )
    await app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
    assert.match((await patchEndpoint(app, owner, endpoint, { status: 'active' })).statusReason, /revoked/)
    assert.match(await lastError(owner, endpoint), /API key was revoked/)
    await createAgent(app, owner, 'Later')
    await settled(owner)
    assert.equal(receiver.arrivals.length, 0)
    assert.equal((await endpointDeliveries(app, owner, endpoint)).length, 1, 'later events are not even queued')
  })

  test('are checked again at the time of delivery: nothing of a workspace is sent after the person left it', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, member, { url: receiver.url })
    await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    await createAgent(app, owner, 'Private')
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items[0]?.status === 'held',
    )
    await app.db.execute(sql`
      delete from workspace_members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    await patchEndpoint(app, owner, endpoint, { status: 'active' })
    assert.match(await lastError(owner, endpoint), /may not read this event any more/)
    assert.equal(receiver.arrivals.length, 0)
  })

  test('belong to whoever set the URL last, so that a member cannot direct events of others to a URL of their own', async () => {
    const owner = await app.createOrg()
    const outsider = await app.createUser(owner, 'member', { inWorkspace: false })
    const [original, stolen] = [await startReceiver(), await startReceiver()]
    const endpoint = await createEndpoint(app, owner, { url: original.url })
    await patchEndpoint(app, outsider, endpoint, { name: 'Renamed' })
    await createAgent(app, owner, 'First')
    await untilArrivals(original, 1)
    const changed = await patchEndpoint(app, outsider, endpoint, { url: stolen.url })
    assert.equal(changed.owner.userId, outsider.userId)
    await createAgent(app, owner, 'Second')
    await settled(owner)
    assert.equal(stolen.arrivals.length, 0)
    const back = await patchEndpoint(app, owner, endpoint, { url: original.url })
    assert.deepEqual(back.owner, { userId: owner.userId, apiKeyId: owner.apiKeyId })
    await createAgent(app, owner, 'Third')
    await untilArrivals(original, 2)
  })
})

test('a member who may not read an event learns nothing of it by a filter or by the response of the receiver', async () => {
  const owner = await app.createOrg()
  const outsider = await app.createUser(owner, 'member', { inWorkspace: false })
  const echo = await startReceiver()
  echo.answer = (response, { body }) => response.end(body)
  const endpoint = await createEndpoint(app, owner, { url: echo.url, types: ['agent.*'] })
  await createAgent(app, owner, 'Secret plan')
  await untilArrivals(echo, 1)
  const bodyFor = async (as: TestActor): Promise<string> => {
    const [delivery] = await until(
      () => endpointDeliveries(app, as, endpoint),
      (items) => items[0]?.status === 'succeeded',
    )
    const path = `${endpointsPath}/${endpoint.id}/deliveries/${delivery?.id}`
    const one = (await app.call('GET', path, { as })).body.data
    assert.deepEqual(one.response, (delivery as unknown as { response: object }).response)
    return one.response.body
  }
  assert.match(await bodyFor(owner), /Secret plan/)
  assert.equal(await bodyFor(outsider), '')
  const changed = await patchEndpoint(app, outsider, endpoint, { filter: { path: 'data.name', prefix: 'Secret' } })
  assert.equal(changed.owner.userId, outsider.userId)
  assert.equal(await bodyFor(outsider), '', 'the new owner reads no response to an event of the one before')
  await createAgent(app, owner, 'Secret plan B')
  await settled(owner)
  assert.equal(echo.arrivals.length, 1)
  assert.equal((await endpointDeliveries(app, outsider, endpoint)).length, 1)
})

describe('the loop guard', () => {
  test('ends a loop between a receiver that repeats the header and the API after five further events', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    receiver.answer = (response, arrival) => {
      const { subject } = parsed(arrival)
      const header = arrival.headers['atrium-event-chain'] as string
      void app
        .call('PATCH', `/api/v1/agents/${subject.id}`, {
          as: owner,
          json: { name: `Round ${receiver.arrivals.length}` },
          headers: { 'atrium-event-chain': header },
        })
        .then(() => response.end())
    }
    const endpoint = await createEndpoint(app, owner, { url: receiver.url })
    const id = await createAgent(app, owner, 'Round 0')
    const events = await eventsAbout(app, owner, id, 7)
    await app.settled()
    assert.deepEqual(
      events.map((event) => [event.chain.depth, event.isDelivered]),
      [0, 1, 2, 3, 4, 5, 6].map((depth) => [depth, depth <= 5]),
    )
    assert.equal(receiver.arrivals.length, 6)
    assert.equal((await eventsAbout(app, owner, id, 7)).length, 7, 'the last event caused none')
    assert.equal((await endpointDeliveries(app, owner, endpoint)).length, 6)
  })

  test('continues through webhooks: the header of a received event is forwarded with it', async () => {
    const owner = await app.createOrg()
    const [receiver, behind] = [await startReceiver(), await startReceiver()]
    await createEndpoint(app, owner, { url: receiver.url })
    await createAgent(app, owner, 'Chained')
    await untilArrivals(receiver, 1)
    const header = receiver.arrivals[0]!.headers['atrium-event-chain'] as string
    const webhook = await createWebhook(app, owner, { url: behind.url })
    await deliver(app, webhook, { type: 'a' }, { headers: { 'atrium-event-chain': header } })
    await untilArrivals(behind, 1)
    assert.equal(behind.arrivals[0]!.headers['atrium-event-chain'], header)
    assert.equal(app.deps.chains.parse(newId(), header), undefined, 'the header is of one org')
  })

  test('ends a loop between endpoints and webhooks of two orgs', async () => {
    const owners = [await app.createOrg(), await app.createOrg()]
    const sides = await Promise.all(
      owners.map(async (owner) => {
        const endpoint = await createEndpoint(app, owner, { types: ['webhook.event.received'] })
        return { owner, endpoint }
      }),
    )
    // The webhook of each org accepts the deliveries of the other one's endpoint.
    const webhooks = await Promise.all(
      owners.map((owner, at) => createWebhook(app, owner, { secret: sides[1 - at]!.endpoint.secret })),
    )
    for (const [at, { owner, endpoint }] of sides.entries()) {
      await patchEndpoint(app, owner, endpoint, { url: `${app.url}/api/v1/webhooks/receive/${webhooks[1 - at]!.id}` })
    }
    const readEvents = async (owner: TestActor): Promise<SeenEvent[]> => {
      const { body } = await app.call('GET', '/api/v1/events?types=webhook.event.received&limit=100', { as: owner })
      return body.data.items
    }
    await deliver(app, webhooks[0]!, { type: 'a' })
    await until('an event was not delivered', async () => {
      const events = (await Promise.all(owners.map(readEvents))).flat()
      return events.some(({ isDelivered }) => !isDelivered)
    })
    await app.settled()
    const events = (await Promise.all(owners.map(readEvents))).flat()
    assert.deepEqual(
      events.toSorted((a, b) => a.chain.depth - b.chain.depth).map((event) => [event.chain.depth, event.isDelivered]),
      [0, 1, 2, 3, 4, 5, 6].map((depth) => [depth, depth <= 5]),
    )
  })

  test('ends a chain whose events cause more than 10,000 deliveries', async () => {
    const owner = await app.createOrg()
    const receivers = [await startReceiver(), await startReceiver()]
    for (const { url } of receivers) await createEndpoint(app, owner, { url })
    const chain = { id: newId(), depth: 1 }
    const headers = { 'atrium-event-chain': app.deps.chains.format(owner.orgId, chain) }
    const create = async (name: string): Promise<string> => {
      const { body } = await app.call('POST', '/api/v1/agents', { as: owner, json: { name }, headers })
      return body.data.id
    }
    const isDelivered = async (id: string): Promise<boolean> => (await eventsAbout(app, owner, id, 1))[0]!.isDelivered
    assert.equal(await isDelivered(await create('First')), true)
    const { rowCount } = (await app.db.row<{ rowCount: number }>(sql`
      with changed as (
        update event_chains set deliveries = deliveries + 9995
        where org_id = ${owner.orgId} and id = ${chain.id} and deliveries = 2 returning id)
      select count(*)::integer as row_count from changed`)) as { rowCount: number }
    assert.equal(rowCount, 1)
    assert.equal(await isDelivered(await create('Within the limit')), true)
    assert.equal(await isDelivered(await create('Beyond the limit')), false)
    const outside = await createAgent(app, owner, 'Of another chain')
    assert.equal(await isDelivered(outside), true)
    await app.settled()
    const names = receivers.map(({ arrivals }) => new Set(arrivals.map((arrival) => parsed(arrival).data.name)))
    const all = new Set(['First', 'Of another chain', 'Within the limit'])
    assert.deepEqual(names, [all, all])
  })
})
