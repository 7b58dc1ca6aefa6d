import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { accept, createWebhook, deliveriesOf, openLoopback } from '../../test/support/webhooks.ts'

const app = await startTestApp(openLoopback)
const receiver = await startReceiver()
const path = '/api/v1/webhooks/health'

const healthOf = async (as: TestActor, query = '') => {
  const { status, body } = await app.call('GET', path + query, { as })
  assert.equal(status, 200)
  return body.data
}

describe('GET /webhooks/health', () => {
  test('lists the latest results and the begin of failures of every webhook of the org, and of no other org', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const good = await createWebhook(app, owner, { url: receiver.url })
    const silent = await createWebhook(app, owner)
    receiver.answer = (response) => response.end()
    await accept(app, good, { type: 'a.b' })
    await accept(app, good, { type: 'a.c' })
    await until('both deliveries have ended', async () => (await healthOf(owner)).items[1].recentResults.length === 2)
    const [none, { lastResultAt, ...ofGood }] = (await healthOf(owner)).items
    const noResult = { recentResults: [], lastResult: null, lastResultAt: null, successRate: null }
    assert.deepEqual(none, { id: silent.id, failingSince: null, ...noResult })
    assert.deepEqual(ofGood, {
      id: good.id,
      failingSince: null,
      recentResults: ['succeeded', 'succeeded'],
      lastResult: 'succeeded',
      successRate: 1,
    })
    assert.ok(Math.abs(Date.now() - Date.parse(lastResultAt)) < 60_000)
    receiver.answer = (response) => response.writeHead(500).end()
    await accept(app, good, { type: 'a.d' })
    await until('the first attempt has failed', async () => (await healthOf(owner)).items[1].failingSince !== null)
    const waiting = (await deliveriesOf(app, owner, good))[0]
    assert.equal(waiting.status, 'pending')
    const { failingSince, recentResults } = (await healthOf(owner)).items[1]
    assert.ok(failingSince >= waiting.createdAt)
    assert.equal(recentResults.length, 2, 'a delivery that waits for an attempt has no result')
    assert.deepEqual((await healthOf(stranger)).items, [])
  })

  test('has the pages of the list of webhooks', async () => {
    const owner = await app.createOrg()
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) ids.unshift((await createWebhook(app, owner)).id)
    const first = await healthOf(owner, '?limit=2')
    const second = await healthOf(owner, `?limit=2&cursor=${first.nextCursor}`)
    const listed: { id: string }[] = [...first.items, ...second.items]
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids,
    )
    assert.equal(second.nextCursor, null)
  })
})

describe('filters of events and deliveries', () => {
  const list = async (as: TestActor, path: string) => {
    const { status, body, text } = await app.call('GET', `/api/v1/webhooks${path}`, { as })
    assert.equal(status, 200, text)
    return body.data
  }
  type Named = { id: string; type: string; eventType: string }

  test('lists the events of a type, status and time, and the deliveries of an event, of this org only', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const webhook = await createWebhook(app, owner, { url: receiver.url, events: ['order.*'] })
    // 410 disables the webhook, which then accepts no more events.
    const accepted = Promise.withResolvers<void>()
    receiver.answer = (response, { body }) =>
      void accepted.promise.then(() => response.writeHead(body.includes('order.paid') ? 410 : 200).end())
    const ids: Record<string, string> = {}
    for (const type of ['order.paid', 'order.created', 'stock.changed'])
      ids[type] = await accept(app, webhook, { type })
    accepted.resolve()
    const deliveries = `/${webhook.id}/deliveries`
    await until('both deliveries have an attempt', async () =>
      (await list(owner, deliveries)).items.every(({ attempts }: { attempts: unknown[] }) => attempts.length > 0),
    )
    const replay = `/api/v1/webhooks/${webhook.id}/events/${ids['order.created']}/replay`
    const replayed = (await app.call('POST', replay, { as: owner })).body.data.id
    const typesIn = async (path: string) =>
      (await list(owner, path)).items.map((one: Named) => one.type ?? one.eventType)
    for (const base of ['/events', `/${webhook.id}/events`]) {
      assert.deepEqual(await typesIn(`${base}?type=Order.*`), ['order.created', 'order.paid'])
      assert.deepEqual(await typesIn(`${base}?type=order.paid&status=recorded`), ['order.paid'])
      assert.deepEqual(await typesIn(`${base}?status=filtered`), ['stock.changed'])
      assert.deepEqual(await typesIn(`${base}?until=2020-01-01T00:00:00Z`), [])
      const since = new Date(Date.now() - 60_000).toISOString()
      assert.equal((await typesIn(`${base}?since=${since}`)).length, 3)
      const first = await list(owner, `${base}?type=order.*&limit=1`)
      const second = await list(owner, `${base}?type=order.*&limit=1&cursor=${first.nextCursor}`)
      assert.deepEqual([first.items[0].type, second.items[0].type], ['order.created', 'order.paid'])
    }
    const ofEvent = (await list(owner, `${deliveries}?eventId=${ids['order.created']}`)).items
    assert.equal(ofEvent.length, 2)
    assert.equal(ofEvent[1].id, replayed, 'the oldest is first')
    assert.deepEqual(await typesIn(`${deliveries}?eventId=${ids['stock.changed']}`), [])
    assert.deepEqual(await typesIn(`${deliveries}?type=order.paid`), ['order.paid'])
    assert.deepEqual(await typesIn(`${deliveries}?type=order.paid&status=succeeded`), [])
    assert.deepEqual((await list(stranger, '/events?type=order.*')).items, [])
    assert.equal((await app.call('GET', `/api/v1/webhooks${deliveries}?type=a`, { as: stranger })).status, 404)
    assert.equal((await app.call('GET', '/api/v1/webhooks/events?since=yesterday', { as: owner })).status, 400)
  })
})
