import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import type { Arrival, Receiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import { createAgent, openSession } from '../../../test/support/chat.ts'
import {
  createEndpoint,
  endpointDeliveries,
  endpointsPath,
  eventsAbout,
  patchEndpoint,
} from '../../../test/support/event-endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { createWebhook, deliver, openLoopback } from '../../../test/support/webhooks.ts'

const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,86400' })

const parsed = ({ body }: Arrival) => JSON.parse(body.toString())
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of any type
type Body = any
const arrivalOf = (receiver: Receiver, type: string, isWanted: (event: Body) => boolean = () => true): Promise<Body> =>
  until(
    () => receiver.arrivals.map(parsed).find((event) => event.type === type && isWanted(event)),
    (event) => event !== undefined,
  )
const isFrom =
  (role: string) =>
  ({ data }: Body): boolean =>
    data.role === role
const expandPath = (id: string): string => `/api/v1/events/${id}?expand=true`

describe('an endpoint with `expand`', () => {
  test('receives the whole text of a message, of which other endpoints receive 1 KB', async () => {
    const owner = await app.createOrg()
    const [whole, cut] = [await startReceiver(), await startReceiver()]
    await createEndpoint(app, owner, { url: whole.url, types: ['message.created'], expand: true })
    await createEndpoint(app, owner, { url: cut.url, types: ['message.created'] })
    const agent = await createAgent(app, owner, { name: 'Listener', model: 'atrium/demo' })
    const session = await openSession(app, owner, { agentId: agent.id })
    const text = 'ä'.repeat(3_000)
    await app.call('POST', `/api/v1/sessions/${session.id}/messages`, { as: owner, json: { text, background: true } })
    const event = await arrivalOf(whole, 'message.created', isFrom('user'))
    assert.deepEqual(event.expanded, { text })
    assert.equal(event.data.text, 'ä'.repeat(512))
    const same = await arrivalOf(cut, 'message.created', isFrom('user'))
    assert.equal('expanded' in same, false)
    assert.deepEqual(same.data, event.data)
  })

  test('receives the events of webhooks with payload and headers, so that several destinations get them', async () => {
    const owner = await app.createOrg()
    const receivers = [await startReceiver(), await startReceiver()]
    for (const { url } of receivers) {
      await createEndpoint(app, owner, { url, types: ['webhook.event.received'], expand: true })
    }
    const webhook = await createWebhook(app, owner)
    await deliver(app, webhook, { type: 'order.created', order: 42 }, { id: 'msg_1' })
    for (const receiver of receivers) {
      const { data, expanded } = await arrivalOf(receiver, 'webhook.event.received')
      const path = `/api/v1/webhooks/${webhook.id}/events/${data.eventId}`
      const { headers, payload, externalId } = (await app.call('GET', path, { as: owner })).body.data
      assert.deepEqual(expanded, { externalId, headers, contentType: 'application/json', payload })
      assert.deepEqual(payload, { type: 'order.created', order: 42 })
    }
  })

  test('receives null for contents that were deleted before the attempt, and no `expanded` for other types', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, {
      url: receiver.url,
      types: ['message.created', 'agent.created'],
      expand: true,
    })
    await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    const agent = await createAgent(app, owner, { name: 'Listener', model: 'atrium/demo' })
    const session = await openSession(app, owner, { agentId: agent.id })
    const path = `/api/v1/sessions/${session.id}`
    await app.call('POST', `${path}/messages`, { as: owner, json: { text: 'Forget this' } })
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items.length === 3,
    )
    assert.equal((await app.call('DELETE', path, { as: owner })).status, 200)
    await patchEndpoint(app, owner, endpoint, { status: 'active' })
    for (const role of ['user', 'assistant']) {
      assert.equal((await arrivalOf(receiver, 'message.created', isFrom(role))).expanded, null)
    }
    assert.equal('expanded' in (await arrivalOf(receiver, 'agent.created')), false)
  })

  test('is changed by PATCH, and shown', async () => {
    const owner = await app.createOrg()
    const endpoint = await createEndpoint(app, owner, {})
    assert.equal(endpoint.record.expand, false)
    assert.equal((await patchEndpoint(app, owner, endpoint, { expand: true })).expand, true)
    assert.equal((await patchEndpoint(app, owner, endpoint, { name: 'Other' })).expand, true)
    const invalid = await app.call('PATCH', `${endpointsPath}/${endpoint.id}`, { as: owner, json: { expand: 'all' } })
    assert.equal(invalid.status, 400, invalid.text)
  })
})

test('an event is returned with its contents on request, to those who may read it', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Listener', model: 'atrium/demo' })
  const session = await openSession(app, owner, { agentId: agent.id })
  const text = 'x'.repeat(2_000)
  await app.call('POST', `/api/v1/sessions/${session.id}/messages`, { as: owner, json: { text } })
  const events = await eventsAbout(app, owner, session.id, 2)
  const { id } = events.find((event) => event.type === 'message.created' && isFrom('user')(event)) as { id: string }
  assert.deepEqual((await app.call('GET', expandPath(id), { as: owner })).body.data.expanded, { text })
  const plain = (await app.call('GET', `/api/v1/events/${id}`, { as: owner })).body.data
  assert.equal('expanded' in plain, false)
  const created = events.find(({ type }) => type === 'session.created') as { id: string }
  assert.equal('expanded' in (await app.call('GET', expandPath(created.id), { as: owner })).body.data, false)
  const stranger = await app.createOrg()
  assert.equal((await app.call('GET', expandPath(id), { as: stranger })).status, 404)
})
