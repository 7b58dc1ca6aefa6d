import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sql } from '../../platform/database/database.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import type { Arrival } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import {
  accept,
  createWebhook,
  deliver,
  deliveriesOf,
  eventsOf,
  openLoopback,
  read,
  signed,
} from '../../../test/support/webhooks.ts'
import type { MadeWebhook } from '../../../test/support/webhooks.ts'

// Three attempts: at once, after 0 s and after a day.
const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,86400' })
const owner = await app.createOrg()
const path = '/api/v1/webhooks'

interface Seen {
  status: string
  attempts: unknown[]
  error: string | null
}

const only = async (webhook: MadeWebhook) => {
  const [delivery, ...others] = await deliveriesOf(app, owner, webhook)
  assert.ok(delivery, 'there is a delivery')
  assert.equal(others.length, 0)
  return delivery
}

const whenOnly = async (webhook: MadeWebhook, what: string, isIt: (delivery: Seen) => boolean) => {
  await until(what, async () => {
    const [delivery] = await deliveriesOf(app, owner, webhook)
    return delivery !== undefined && isIt(delivery)
  })
  return only(webhook)
}
const whenStatus = (webhook: MadeWebhook, status: string) =>
  whenOnly(webhook, `the delivery is ${status}`, (delivery) => delivery.status === status)

const setStatus = async (webhook: MadeWebhook, status: string) => {
  const response = await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { status } })
  assert.equal(response.status, 200, response.text)
}
const record = (webhook: MadeWebhook) => read(app, owner, `/${webhook.id}`)
const post = (rest: string, json: object = {}) => app.call('POST', path + rest, { as: owner, json })

/** The audit entries of the server's disabling of a webhook. */
const disabledEntries = async ({ id }: MadeWebhook) => {
  const { body } = await app.call('GET', '/api/v1/audit-log?action=webhook.disabled', { as: owner })
  return (body.data.items as { actor: { name: string }; resource: { id: string }; details: { reason: string } }[])
    .filter(({ resource }) => resource.id === id)
    .map(({ actor, details }) => ({ name: actor.name, reason: details.reason }))
}

const verified = (webhook: MadeWebhook, { body, headers }: Arrival) =>
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>)

// First: the servers of other tests would send the delivery as well.
test('an outcome that the database rejects is logged and sent again later, and the deliveries of other orgs are recorded', async () => {
  const other = await app.createOrg()
  const receiver = await startReceiver()
  const old = await createWebhook(app, owner, { url: receiver.url })
  const webhook = await createWebhook(app, other, { url: receiver.url })
  // Of a day whose partition was dropped.
  await app.db.execute(sql`
    insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
    values (${owner.orgId}, uuid_at(now() - interval '60 days'), ${old.id}, uuid_at(now() - interval '61 days'), 'a')`)
  await until('the outcome is rejected', () =>
    app.logLines.some((line) => line.includes('the outcome of a delivery cannot be recorded')),
  )
  await accept(app, webhook, { type: 'a' })
  await until('the delivery of the other org is recorded', async () => {
    const [delivery] = await deliveriesOf(app, other, webhook)
    return delivery?.status === 'succeeded'
  })
  await until('the rejected one waits', async () => {
    const row = await app.db.row<{ isPostponed: boolean }>(sql`
      select lease_token is null and due_at > now() + interval '50 minutes' as is_postponed from webhook_queue
      where org_id = ${owner.orgId} and webhook_id = ${old.id}`)
    return row?.isPostponed === true
  })
})

describe('forwarding', () => {
  test('forwards a recorded event byte for byte, with a signature that the official library verifies', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const body = '{ "type": "order.created",\n  "note" : "für Zoë 🎉", "big": 12345678901234567890 }'
    const received = await app.call('POST', webhook.receivePath, {
      body,
      headers: { ...signed(webhook.secret, body), 'content-type': 'application/json; charset=UTF-8' },
    })
    const { eventId } = received.body.data
    await until('it arrives', () => endpoint.arrivals.length === 1)
    const [arrival] = endpoint.arrivals as [Arrival]
    assert.equal(arrival.body.toString(), body)
    assert.equal(arrival.headers['webhook-id'], eventId)
    assert.equal(arrival.headers['content-type'], 'application/json; charset=UTF-8')
    assert.deepEqual(verified(webhook, arrival), JSON.parse(body))
    assert.throws(() =>
      new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(body, arrival.headers as never),
    )
    const delivery = await whenStatus(webhook, 'succeeded')
    const { id, createdAt, updatedAt, attempts, response, ...rest } = delivery
    assert.deepEqual(rest, {
      webhookId: webhook.id,
      eventId,
      eventType: 'order.created',
      url: endpoint.url,
      status: 'succeeded',
      statusReason: null,
      retryCount: 0,
      nextAttemptAt: null,
      error: null,
    })
    assert.equal(response.status, 200)
    assert.equal(response.body, 'ok')
    assert.equal(attempts.length, 1)
    assert.equal(attempts[0].responseStatus, 200)
    assert.deepEqual(await read(app, owner, `/${webhook.id}/deliveries/${id}`), delivery)
    const { deliveryCount, lastDeliveryAt } = await record(webhook)
    assert.equal(deliveryCount, 1)
    assert.ok(lastDeliveryAt >= createdAt && updatedAt >= createdAt)
  })

  test("forwards a provider's event with the webhook's signature and the provider's event headers", async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url, source: 'token', secret: 'a-plain-token' })
    const headers = { 'x-webhook-token': 'a-plain-token', 'x-github-event': 'push', 'x-secret-thing': 'x' }
    assert.equal((await app.call('POST', webhook.receivePath, { body: '[1]', headers })).status, 200)
    await until('it arrives', () => endpoint.arrivals.length === 1)
    const [arrival] = endpoint.arrivals as [Arrival]
    assert.equal(arrival.headers['x-github-event'], 'push')
    assert.ok(!('x-secret-thing' in arrival.headers) && !('x-webhook-token' in arrival.headers))
    const secret = `whsec_${Buffer.from(webhook.secret).toString('base64')}`
    assert.deepEqual(new Webhook(secret).verify('[1]', arrival.headers as Record<string, string>), [1])
  })

  test('does not forward filtered events, duplicates, and events of a webhook without a destination', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url, events: ['wanted'] })
    const silent = await createWebhook(app, owner)
    await accept(app, webhook, { type: 'unwanted' })
    await accept(app, silent, { type: 'wanted' })
    await accept(app, webhook, { type: 'wanted' }, 'msg_once')
    await accept(app, webhook, { type: 'wanted' }, 'msg_once')
    await whenStatus(webhook, 'succeeded')
    assert.equal(endpoint.arrivals.length, 1)
    assert.deepEqual(await deliveriesOf(app, owner, silent), [])
  })
})

describe('loop guard', () => {
  test('fails a delivery of an event that has passed through five webhooks, and states the reason', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const first = await createWebhook(app, owner, { secret })
    const second = await createWebhook(app, owner, { secret, url: first.record.receiveUrl })
    await app.call('PATCH', `${path}/${first.id}`, { as: owner, json: { url: second.record.receiveUrl } })
    await accept(app, first, { type: 'a' })
    const all = async () => [...(await deliveriesOf(app, owner, first)), ...(await deliveriesOf(app, owner, second))]
    await until('it ends', async () => (await all()).some(({ status }) => status === 'failed'))
    const [failed, ...others] = (await all()).filter(({ status }) => status !== 'succeeded')
    assert.deepEqual(others, [])
    assert.match(failed.statusReason, /Loop detected/)
    assert.deepEqual(failed.attempts, [])
    const events = [...(await eventsOf(app, owner, first)), ...(await eventsOf(app, owner, second))]
    assert.deepEqual(
      events.map(({ headers }) => Number(headers['x-atrium-hops'] ?? 0)).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    )
  })
})

describe('retries', () => {
  test('retries a failed delivery by the schedule with the same id and a new signature, then fails it', async () => {
    const endpoint = await startReceiver()
    endpoint.answer = (response) => response.writeHead(503, { 'set-cookie': 'a=b', 'x-why': 'busy' }).end('come back')
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const eventId = await accept(app, webhook, { type: 'a' })
    const waiting = await whenOnly(webhook, 'two attempts failed', (one) => one.attempts.length === 2)
    assert.equal(endpoint.arrivals.length, 2)
    for (const arrival of endpoint.arrivals) {
      assert.equal(arrival.headers['webhook-id'], eventId)
      verified(webhook, arrival)
    }
    assert.equal(waiting.status, 'pending')
    assert.equal(waiting.retryCount, 1)
    assert.equal(waiting.error, 'The endpoint responded with 503.')
    assert.match(waiting.statusReason, /attempt 3/)
    assert.equal(waiting.response.headers['x-why'], 'busy')
    assert.ok(!('set-cookie' in waiting.response.headers))
    const inHours = (Date.parse(waiting.nextAttemptAt) - Date.now()) / 3_600_000
    assert.ok(inHours > 21 && inHours < 26.5, `${inHours} h, a day within a tenth`)
    await app.db.execute(sql`update webhook_queue set due_at = now() where id = ${waiting.id}`)
    const failed = await whenStatus(webhook, 'failed')
    assert.equal(failed.retryCount, 2)
    assert.equal(failed.nextAttemptAt, null)
    assert.deepEqual(
      failed.attempts.map(({ number, trigger }: { number: number; trigger: string }) => [number, trigger]),
      [1, 2, 3].map((number) => [number, 'automatic']),
    )
    assert.equal((await record(webhook)).deliveryCount, 1)
  })

  const failures: [string, (endpoint: Awaited<ReturnType<typeof startReceiver>>) => void, RegExp][] = [
    [
      'a redirect',
      (it) => (it.answer = (response) => response.writeHead(302, { location: it.url }).end()),
      /responded with 302/,
    ],
    ['a client error', (it) => (it.answer = (response) => response.writeHead(404).end()), /responded with 404/],
    ['a closed connection', (it) => (it.answer = (response) => response.socket?.destroy()), /closed/],
  ]
  for (const [what, prepare, error] of failures) {
    test(`treats ${what} as a failed attempt`, async () => {
      const endpoint = await startReceiver()
      prepare(endpoint)
      const webhook = await createWebhook(app, owner, { url: endpoint.url })
      await accept(app, webhook, { type: 'a' })
      const delivery = await whenOnly(webhook, 'an attempt failed', (one) => one.error !== null)
      assert.match(delivery.error, error)
      assert.notEqual(delivery.status, 'succeeded')
    })
  }

  test('respects the Retry-After of the endpoint up to the next step of the schedule', async () => {
    const endpoint = await startReceiver()
    endpoint.answer = (response) => response.writeHead(429, { 'retry-after': '3600' }).end()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await accept(app, webhook, { type: 'a' })
    const delivery = await whenOnly(webhook, 'an attempt failed', (one) => one.error !== null)
    const seconds = (Date.parse(delivery.nextAttemptAt) - Date.now()) / 1_000
    assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds} s`)
    assert.equal(endpoint.arrivals.length, 1)
  })

  test('stores at most 4 KB of a response, without characters that text columns cannot store', async () => {
    const endpoint = await startReceiver()
    endpoint.answer = (response) => response.end(Buffer.concat([Buffer.from([0, 0xff]), Buffer.alloc(20_000, 'é')]))
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await accept(app, webhook, { type: 'a' })
    const { response } = await whenStatus(webhook, 'succeeded')
    assert.equal(response.truncated, true)
    assert.equal(response.body, `\uFFFD\uFFFD${'é'.repeat((4_096 - 6) / 2)}`)
  })
})

describe('410 Gone', () => {
  test('disables a webhook whose endpoint responds with 410, holds its deliveries, and sends them when it is active again', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await setStatus(webhook, 'paused')
    await accept(app, webhook, { type: 'a' })
    await setStatus(webhook, 'active')
    await whenStatus(webhook, 'succeeded')
    endpoint.answer = (response) => response.writeHead(410).end()
    await accept(app, webhook, { type: 'b' })
    await until('it is disabled', async () => (await record(webhook)).status === 'disabled')
    const { enabled, statusReason } = await record(webhook)
    assert.equal(enabled, false)
    assert.match(statusReason, /410/)
    assert.deepEqual(await disabledEntries(webhook), [{ name: 'Deliveries', reason: statusReason }])
    assert.equal((await deliver(app, webhook, { type: 'c' })).status, 404)
    const [failed] = await deliveriesOf(app, owner, webhook)
    assert.equal(failed.status, 'failed')
    endpoint.answer = (response) => response.end()
    assert.equal((await post(`/${webhook.id}/deliveries/${failed.id}/retry`)).body.data.status, 'held')
    await setStatus(webhook, 'active')
    await until('it is delivered', async () => (await deliveriesOf(app, owner, webhook))[0].status === 'succeeded')
    assert.equal((await record(webhook)).statusReason, null)
  })
})

describe('failing for five days', () => {
  test('disables a webhook whose attempts have all failed for five days; a success restarts the count', async () => {
    const endpoint = await startReceiver()
    endpoint.answer = (response) => response.writeHead(500).end()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const failing = async () =>
      (await app.db.row<{ since: string | null }>(
        sql`select failing_since as since from webhooks where id = ${webhook.id}`,
      ))!.since
    await accept(app, webhook, { type: 'a' })
    await until('it is failing', async () => (await failing()) !== null)
    endpoint.answer = (response) => response.end()
    await accept(app, webhook, { type: 'b' })
    await until('it is no longer failing', async () => (await failing()) === null)
    endpoint.answer = (response) => response.writeHead(500).end()
    await app.db.execute(sql`update webhooks set failing_since = now() - interval '4.9 days' where id = ${webhook.id}`)
    await accept(app, webhook, { type: 'c' })
    await until('it was attempted', async () => (await deliveriesOf(app, owner, webhook))[0].attempts.length === 2)
    assert.equal((await record(webhook)).status, 'active')
    await app.db.execute(sql`update webhooks set failing_since = now() - interval '5.1 days' where id = ${webhook.id}`)
    await accept(app, webhook, { type: 'd' })
    await until('it is disabled', async () => (await record(webhook)).status === 'disabled')
    const { statusReason } = await record(webhook)
    assert.match(statusReason, /five days/)
    // Attempts in flight when it was disabled do not disable it again.
    assert.deepEqual(await disabledEntries(webhook), [{ name: 'Deliveries', reason: statusReason }])
  })
})

describe('a paused webhook', () => {
  test('holds the deliveries of a paused webhook and sends them when it is active again', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await setStatus(webhook, 'paused')
    await accept(app, webhook, { type: 'a' })
    const held = await whenStatus(webhook, 'held')
    assert.equal(held.nextAttemptAt, null)
    assert.match(held.statusReason, /paused/)
    assert.equal((await eventsOf(app, owner, webhook))[0].status, 'recorded')
    const { id } = held
    const retried = await post(`/${webhook.id}/deliveries/${id}/retry`)
    assert.equal(retried.status, 202)
    assert.equal(retried.body.data.status, 'held')
    assert.equal(endpoint.arrivals.length, 0)
    await setStatus(webhook, 'active')
    await whenStatus(webhook, 'succeeded')
    assert.equal(endpoint.arrivals.length, 1)
  })

  test('fails the waiting deliveries of a webhook that no longer has a destination', async () => {
    const webhook = await createWebhook(app, owner, { url: 'http://127.0.0.1:9/' })
    await setStatus(webhook, 'paused')
    await accept(app, webhook, { type: 'a' })
    await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { url: null, status: 'active' } })
    const failed = await whenStatus(webhook, 'failed')
    assert.match(failed.error, /no longer has a destination/)
    assert.deepEqual(failed.attempts, [])
  })
})

describe('retry, replay and recover', () => {
  test('retries a failed delivery again, and a waiting one at once, on request', async () => {
    const endpoint = await startReceiver()
    endpoint.answer = (response) => response.writeHead(500).end()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const eventId = await accept(app, webhook, { type: 'a' })
    const { id } = await whenOnly(webhook, 'two attempts', (one) => one.attempts.length === 2)
    const retried = await post(`/${webhook.id}/deliveries/${id}/retry`)
    assert.equal(retried.status, 202)
    assert.equal(retried.body.data.id, id)
    await whenStatus(webhook, 'failed')
    endpoint.answer = (response) => response.end()
    assert.equal((await post(`/${webhook.id}/deliveries/${id}/retry`)).status, 202)
    const succeeded = await whenStatus(webhook, 'succeeded')
    assert.deepEqual(
      succeeded.attempts.map(({ trigger }: { trigger: string }) => trigger),
      ['automatic', 'automatic', 'manual', 'manual'],
    )
    assert.equal(succeeded.retryCount, 3)
    assert.ok(endpoint.arrivals.every(({ headers }) => headers['webhook-id'] === eventId))
    const again = await post(`/${webhook.id}/deliveries/${id}/retry`)
    assert.equal(again.status, 422)
    assert.equal(again.body.error.code, 'VALIDATION_ERROR')
  })

  test('replays an event, also a filtered one, with the id of the event', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url, events: ['other'] })
    const eventId = await accept(app, webhook, { type: 'a' })
    const response = await post(`/${webhook.id}/events/${eventId}/replay`)
    assert.equal(response.status, 202)
    assert.equal(response.body.data.eventId, eventId)
    const delivery = await whenStatus(webhook, 'succeeded')
    assert.equal(delivery.id, response.body.data.id)
    assert.equal(delivery.attempts[0].trigger, 'manual')
    assert.equal(endpoint.arrivals[0]?.headers['webhook-id'], eventId)
    const silent = await createWebhook(app, owner)
    const other = await accept(app, silent, { type: 'a' })
    const rejected = await post(`/${silent.id}/events/${other}/replay`)
    assert.equal(rejected.status, 422)
    assert.equal(rejected.body.error.code, 'VALIDATION_ERROR')
    assert.equal((await post(`/${silent.id}/recover`, { since: '2026-01-01T00:00:00Z' })).status, 422)
    assert.equal((await post(`/${silent.id}/events/${eventId}/replay`)).status, 404)
  })

  test('recovers each delivery that has failed since a time once, and none that succeeded', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await accept(app, webhook, { type: 'good' })
    await whenStatus(webhook, 'succeeded')
    // Several batches; the first delivery was created before `since`, which is read from the same clock.
    const row = await app.db.row<{ since: string }>(sql`
      with made as (insert into webhook_deliveries (org_id, id, webhook_id, event_id, event_type, status, attempt_count, attempts, error,
        created_at)
      select ${owner.orgId}, (left(uuid_at(now() - (1202 - n) * interval '1 second')::text, 14) || right(gen_random_uuid()::text, 22))::uuid,
        ${webhook.id}, (select event_id from webhook_deliveries where webhook_id = ${webhook.id}), 'bad', 'failed', 3, '[]',
        'The endpoint responded with 500.', now() - (1202 - n) * interval '1 second'
      from generate_series(0, 1200) n)
      select now() - interval '1201.5 seconds' as since`)
    const since = new Date(row!.since).toISOString()
    const response = await post(`/${webhook.id}/recover`, { since })
    assert.equal(response.status, 202)
    assert.deepEqual(response.body.data, { queued: 1_200 })
    await until('all are forwarded', () => endpoint.arrivals.length === 1_201)
    assert.equal((await post(`/${webhook.id}/recover`, { since })).body.data.queued, 0)
    for (const bad of [{}, { since: 'yesterday' }, { since: 7 }, { since: '2026-12-31T23:59:60Z' }]) {
      assert.equal((await post(`/${webhook.id}/recover`, bad)).status, 400)
    }
  })
})

describe('recover', () => {
  test('recovers a delivery that was created at the given time, and none that was created before', async () => {
    const webhook = await createWebhook(app, owner, { url: 'http://127.0.0.1:9/' })
    await setStatus(webhook, 'paused')
    await accept(app, webhook, { type: 'a' })
    await accept(app, webhook, { type: 'b' })
    await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { url: null, status: 'active' } })
    const list = () => deliveriesOf(app, owner, webhook)
    await until('both deliveries fail', async () => (await list()).every(({ status }: Seen) => status === 'failed'))
    await setStatus(webhook, 'paused')
    await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { url: 'http://127.0.0.1:9/' } })
    const [{ id, createdAt }] = await list()
    assert.deepEqual((await post(`/${webhook.id}/recover`, { since: createdAt })).body.data, { queued: 1 })
    const [recovered, before] = await list()
    assert.deepEqual([recovered.id, recovered.status, before.status], [id, 'held', 'failed'])
  })
})

describe('isolation', () => {
  test('an endpoint that hangs delays no other webhook, and a stopping worker releases its deliveries without an attempt', async () => {
    const hanging = await startReceiver()
    hanging.answer = () => undefined
    const endpoint = await startReceiver()
    const stuck = await createWebhook(app, owner, { url: hanging.url })
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    // Sent concurrently, so that no hanging attempt times out before the last event is sent.
    await Promise.all(Array.from({ length: 40 }, (_, n) => accept(app, stuck, { type: 'a', n })))
    await until('it has what it may have', () => hanging.arrivals.length === 16)
    await Promise.all(Array.from({ length: 10 }, (_, n) => accept(app, webhook, { type: 'a', n })))
    await until('the other one has all', () => endpoint.arrivals.length === 10)
    assert.equal(hanging.arrivals.length, 16)
    const states = async () =>
      (await deliveriesOf(app, owner, stuck)).map(({ status }: { status: string }) => status).toSorted()
    const count = async (status: string) => (await states()).filter((one: string) => one === status).length
    assert.equal(await count('sending'), 16)
    await app.deps.jobs.stop({ deadlineMs: 50 })
    assert.equal(await count('pending'), 40)
    assert.ok((await deliveriesOf(app, owner, stuck)).every(({ attempts }: { attempts: [] }) => attempts.length === 0))
  })

  test('an org with many endpoints that hang leaves half of the attempts of a worker to others', async () => {
    const server = await app.secondServer(openLoopback, { work: true })
    const hanging = await startReceiver()
    hanging.answer = () => undefined
    const [flooding, other] = [await app.createOrg(), await app.createOrg()]
    const stuck = await Promise.all(
      Array.from({ length: 40 }, () => createWebhook(server, flooding, { url: hanging.url })),
    )
    await Promise.all(
      stuck.flatMap((webhook) => Array.from({ length: 14 }, (_, n) => accept(server, webhook, { type: 'a', n }))),
    )
    const endpoint = await startReceiver()
    const webhook = await createWebhook(server, other, { url: endpoint.url })
    // Arrivals, not open requests: on a busy machine the first ones time out before the last ones arrive.
    await until('many attempts have arrived', () => hanging.arrivals.length >= 200)
    await accept(server, webhook, { type: 'a' })
    await until('the other org has its event', () => endpoint.arrivals.length === 1)
    assert.ok(hanging.open <= 256, `${hanging.open} of 512 attempts`)
    await server.deps.jobs.stop({ deadlineMs: 50 })
  })

  test('an org whose endpoints hang with large events does not stop the deliveries of others', async () => {
    const server = await app.secondServer(openLoopback, { work: true })
    const hanging = await startReceiver()
    hanging.answer = () => undefined
    const [flooding, other] = [await app.createOrg(), await app.createOrg()]
    const stuck = await Promise.all([1, 2, 3].map(() => createWebhook(server, flooding, { url: hanging.url })))
    const setAll = async (status: string) => {
      for (const { id } of stuck) await server.call('PATCH', `${path}/${id}`, { as: flooding, json: { status } })
    }
    await setAll('paused')
    for (const webhook of stuck) await accept(server, webhook, { type: 'a', note: 'x'.repeat(1_000_000) })
    await app.db.execute(sql`
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
      select org_id, uuid_at(now() + row_number() over () * interval '1 ms'), webhook_id, event_id, event_type
      from webhook_queue, generate_series(1, 15) where org_id = ${flooding.orgId}`)
    const endpoint = await startReceiver()
    const webhook = await createWebhook(server, other, { url: endpoint.url })
    await setAll('active')
    await until('the org has what it may have', () => hanging.arrivals.length >= 20)
    await accept(server, webhook, { type: 'a' })
    await until('the other org has its event', () => endpoint.arrivals.length === 1)
    assert.equal(hanging.open, hanging.arrivals.length, 'no attempt of the first org has ended before')
    assert.ok(hanging.open <= 30, `${hanging.open} attempts with a body of 1 MB`)
    await server.deps.jobs.stop({ deadlineMs: 50 })
  })
})

describe('SSRF guard', () => {
  test('rejects a delivery to a host name that resolves to a private address since it was stored', async () => {
    const inside = await startReceiver()
    const responses = ['93.184.215.14', '127.0.0.1']
    let asked = 0
    const guarded = await app.secondServer(
      {},
      {
        work: true,
        replace: {
          outbound: createOutbound({
            resolve: async () => [{ address: responses[asked++] ?? '127.0.0.1', family: 4 }],
          }),
        },
      },
    )
    const other = await app.createOrg()
    const url = `http://rebind.example.com:${new URL(inside.url).port}/`
    const webhook = await createWebhook(guarded, other, { url })
    await accept(guarded, webhook, { type: 'a' })
    await until('the delivery fails', async () => (await deliveriesOf(guarded, other, webhook))[0]?.status === 'failed')
    const [delivery] = await deliveriesOf(guarded, other, webhook)
    assert.match(delivery.error, /not on the public Internet/)
    assert.ok(!JSON.stringify(delivery).includes('127.0.0.1'), 'the delivery reveals nothing about the private network')
    assert.equal(inside.arrivals.length, 0)
  })
})
