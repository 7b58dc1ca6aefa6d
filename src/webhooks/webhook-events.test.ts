import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import { eventsOf, typesOf } from '../../test/support/events.ts'
import { accept, createWebhook, deliver, openLoopback } from '../../test/support/webhooks.ts'
import { chainHeader } from '../outbox/chain.ts'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

const app = await startTestApp({ ...openLoopback, RATE_LIMIT_READS: '0', WEBHOOK_RETRY_SCHEDULE_SECONDS: '0' })
const owner = await app.createOrg()
const api = '/api/v1/webhooks'

describe('the events of a webhook', () => {
  test('every change by a request is recorded once, and rejected requests record nothing', async () => {
    const webhook = await createWebhook(app, owner)
    const patch = (json: object) => app.call('PATCH', `${api}/${webhook.id}`, { as: owner, json })
    assert.equal((await patch({ name: ' ' })).status, 400)
    assert.equal((await patch({ url: 'http://10.0.0.1/' })).status, 400)
    for (const json of [
      { name: 'Renamed' },
      { status: 'disabled' },
      { status: 'disabled' },
      { status: 'active' },
      { status: 'paused' },
      { status: 'active' },
    ]) {
      assert.equal((await patch(json)).status, 200)
    }
    assert.equal((await app.call('POST', `${api}/${webhook.id}/rotate`, { as: owner })).status, 200)
    assert.equal((await app.call('DELETE', `${api}/${webhook.id}`, { as: owner })).status, 200)
    const events = await eventsOf(app, owner, webhook.id, 'webhook.deleted')
    assert.deepEqual(typesOf(events), [
      'webhook.created',
      'webhook.updated',
      'webhook.updated',
      'webhook.disabled',
      'webhook.updated',
      'webhook.updated',
      'webhook.recovered',
      'webhook.updated',
      'webhook.updated',
      'webhook.updated',
      'webhook.deleted',
    ])
    assert.deepEqual(events[1]?.data, { webhookId: webhook.id, name: 'Renamed', changed: ['name'] })
    assert.equal(events[3]?.data.reason, null)
    assert.equal(events[6]?.data.from, 'disabled')
    assert.deepEqual(events[9]?.data.changed, ['secret'])
    assert.ok(!JSON.stringify(events).includes(webhook.secret))
  })

  test('a received event is recorded once with its size and without its payload, and a duplicate is not', async () => {
    const webhook = await createWebhook(app, owner)
    const payload = { type: 'order.created', note: 'planted payload' }
    const eventId = await accept(app, webhook, payload, 'msg_1')
    assert.equal((await deliver(app, webhook, payload, { id: 'msg_1' })).body.data.duplicate, true)
    const unsigned = await app.call('POST', webhook.receivePath, { json: payload })
    assert.equal(unsigned.status, 401)
    const second = await accept(app, webhook, payload, 'msg_2')
    const test = await app.call('POST', `${api}/test`, { as: owner, json: { webhookId: webhook.id } })
    await app.call('PATCH', `${api}/${webhook.id}`, { as: owner, json: { name: 'Last' } })
    const events = await eventsOf(app, owner, webhook.id, 'webhook.updated')
    const received = events.filter(({ type }) => type === 'webhook.event.received')
    assert.deepEqual(
      received.map(({ data }) => data.eventId),
      [eventId, second, test.body.data.id],
    )
    const sizeBytes = JSON.stringify(payload).length
    assert.deepEqual(received[0]?.data, { webhookId: webhook.id, eventId, eventType: 'order.created', sizeBytes })
    assert.ok(!JSON.stringify(events).includes('planted payload'))
  })

  test('events of several orgs that are stored together are recorded in the log of their own org only', async () => {
    const other = await app.createOrg()
    const [mine, theirs] = [await createWebhook(app, owner), await createWebhook(app, other)]
    await Promise.all(
      [mine, theirs].flatMap((webhook) => Array.from({ length: 10 }, () => accept(app, webhook, { type: 'x' }))),
    )
    for (const [as, webhook, hidden] of [
      [owner, mine, theirs],
      [other, theirs, mine],
    ] as const) {
      await app.call('PATCH', `${api}/${webhook.id}`, { as, json: { name: 'Last' } })
      const events = await eventsOf(app, as, webhook.id, 'webhook.updated')
      assert.equal(events.length, 12)
      const { body } = await app.call('GET', `/api/v1/events?subjectId=${hidden.id}`, { as })
      assert.deepEqual(body.data.items, [])
    }
  })

  test('a delivery that is given up records the reason, and a first success after failures records a recovery', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    endpoint.answer = (response) => response.writeHead(500).end()
    const eventId = await accept(app, webhook, { type: 'order.created' })
    const failed = (await eventsOf(app, owner, webhook.id, 'webhook.delivery.failed')).at(-1)
    assert.equal(failed?.data.eventId, eventId)
    assert.equal(failed?.data.reason, 'The endpoint responded with 500.')
    endpoint.answer = (response) => response.end()
    await accept(app, webhook, { type: 'order.created' })
    await app.settled()
    await app.db.execute(sql`update webhooks set failing_since = now() - interval '6 minutes' where id = ${webhook.id}`)
    await accept(app, webhook, { type: 'order.created' })
    const events = await eventsOf(app, owner, webhook.id, 'webhook.recovered')
    assert.deepEqual(typesOf(events), [
      'webhook.created',
      'webhook.event.received',
      'webhook.delivery.failed',
      'webhook.event.received',
      'webhook.event.received',
      'webhook.recovered',
    ])
    assert.equal(events.at(-1)?.data.from, 'failing')
  })

  test('a webhook that the server disables records the failed delivery and the reason', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    endpoint.answer = (response) => response.writeHead(410).end()
    await accept(app, webhook, { type: 'order.created' })
    const events = await eventsOf(app, owner, webhook.id, 'webhook.disabled')
    assert.deepEqual(typesOf(events).slice(2), ['webhook.delivery.failed', 'webhook.disabled'])
    assert.equal(events.at(-1)?.data.reason, 'The endpoint responded with 410 Gone.')
    assert.equal(events.at(-1)?.actor.name, 'Deliveries')
  })

  test('an event that arrives with the chain of another event of the org continues the chain', async () => {
    const webhook = await createWebhook(app, owner)
    const chain = { id: newId(), depth: 3 }
    const headers = { [chainHeader]: app.deps.chains.format(owner.orgId, chain) }
    assert.equal((await deliver(app, webhook, { type: 'x' }, { headers })).status, 200)
    const event = (await eventsOf(app, owner, webhook.id, 'webhook.event.received')).at(-1)
    assert.deepEqual(event?.chain, chain)
  })

  test('a forwarded event whose delivery fails, and one that shows a recovery, continue the chain of the event', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const chain = { id: newId(), depth: 2 }
    const headers = { [chainHeader]: app.deps.chains.format(owner.orgId, chain) }
    endpoint.answer = (response) => response.writeHead(500).end()
    await deliver(app, webhook, { type: 'x' }, { headers })
    await eventsOf(app, owner, webhook.id, 'webhook.delivery.failed')
    await app.db.execute(sql`update webhooks set failing_since = now() - interval '6 minutes' where id = ${webhook.id}`)
    endpoint.answer = (response) => response.end()
    await deliver(app, webhook, { type: 'y' }, { headers })
    const [, ...events] = await eventsOf(app, owner, webhook.id, 'webhook.recovered')
    assert.deepEqual(
      events.map((event) => [event.type, event.chain]),
      ['webhook.event.received', 'webhook.delivery.failed', 'webhook.event.received', 'webhook.recovered'].map(
        (type) => [type, chain],
      ),
    )
  })
})
