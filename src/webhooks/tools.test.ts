import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { onOneServer } from '../../test/support/database/distributed.ts'
import { createEndpoint } from '../../test/support/event-endpoints.ts'
import { bindLinear } from '../../test/support/endpoints.ts'
import { until } from '../../test/support/until.ts'
import { accept, createWebhook, deliver, eventsOf, openLoopback, read, signed } from '../../test/support/webhooks.ts'
import { applyRetention } from './job-kinds.ts'

const linearSecret = 'lin_wh_test'
const app = await startTestApp({ ...openLoopback, LINEAR_WEBHOOK_SECRET: linearSecret })
const owner = await app.createOrg()
const path = '/api/v1/webhooks'

describe('a test event', () => {
  const send = (json: object) => app.call('POST', `${path}/test`, { as: owner, json })

  test('records and forwards a test event like a received one', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url, events: ['order.*'] })
    const response = await send({ webhookId: webhook.id, type: 'Order.Created', payload: { a: 1 } })
    assert.equal(response.status, 201)
    const { data } = response.body
    assert.equal(data.type, 'order.created')
    assert.deepEqual(data.payload, { a: 1 })
    assert.equal(data.status, 'recorded')
    assert.equal(data.webhookName, 'Orders')
    assert.deepEqual(await eventsOf(app, owner, webhook), [data])
    await until('it arrives', () => endpoint.arrivals.length === 1)
    assert.equal(endpoint.arrivals[0]?.headers['webhook-id'], data.id)
    assert.equal(endpoint.arrivals[0]?.body.toString(), '{"a":1}')
    assert.equal((await send({ webhookId: webhook.id, type: 'other' })).body.data.status, 'filtered')
  })

  test('uses the type webhook.test for a test event without a type, and accepts any JSON', async () => {
    const webhook = await createWebhook(app, owner)
    assert.equal((await send({ webhookId: webhook.id })).body.data.type, 'webhook.test')
    assert.equal((await send({ webhookId: webhook.id, payload: { type: 'Mine' } })).body.data.type, 'mine')
    for (const payload of [[], 'text', 7, false, null]) {
      const { data } = (await send({ webhookId: webhook.id, payload })).body
      assert.deepEqual(data.payload, payload)
      assert.equal(data.type, 'webhook.test')
    }
    assert.equal((await eventsOf(app, owner, webhook)).length, 7)
  })

  test('rejects a test event without a webhook, for a missing one and for a disabled one', async () => {
    const webhook = await createWebhook(app, owner)
    await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { status: 'disabled' } })
    assert.equal((await send({})).status, 400)
    assert.equal((await send({ webhookId: 'x' })).status, 400)
    assert.equal((await send({ webhookId: newId() })).status, 404)
    assert.equal((await send({ webhookId: webhook.id })).status, 422)
  })
})

/** A process that dies before it has stored the response of a request: the change of the key to `done` has no effect. */
const dying = async (run: () => Promise<void>): Promise<void> => {
  await app.db.execute(sql`
    create or replace function die() returns trigger language plpgsql as $$
    begin
      return case when new.state = 'done' then null else new end;
    end $$`)
  await app.db.execute(sql`
    create trigger die before update on idempotency_keys for each row execute function die()`)
  try {
    await run()
  } finally {
    await app.db.execute(sql`drop trigger die on idempotency_keys`)
  }
}

test('a test event is sent once for an idempotency key, also when the process dies after it is stored', async () => {
  if (!(await onOneServer(app.db, 'a test event of a dying process', 'they have no triggers'))) return
  const org = await app.createOrg()
  const webhook = await createWebhook(app, org)
  const endpoint = await createEndpoint(app, org, {})
  for (const [path, json] of [
    ['/api/v1/webhooks/test', { webhookId: webhook.id }],
    [`/api/v1/event-endpoints/${endpoint.id}/test`, {}],
  ] as const) {
    const options = { as: org, json, headers: { 'idempotency-key': `once ${path}` } }
    const events = async () =>
      (await app.db.rows(sql`select id from webhook_events where org_id = ${org.orgId}`)).length
    const before = await events()
    await dying(async () => void (await app.call('POST', path, options)))
    await app.db.execute(sql`
      update idempotency_keys set claimed_until = now() - interval '1 second' where org_id = ${org.orgId}`)
    const again = await app.call('POST', path, options)
    assert.equal(again.status, 409, again.text)
    assert.equal(await events(), before + 1, path)
  }
})

describe('verify', () => {
  const verify = async (webhookId: string, payload: string, headers: Record<string, string>) => {
    const response = await app.call('POST', `${path}/verify`, { as: owner, json: { webhookId, payload, headers } })
    assert.equal(response.status, 200, response.text)
    return response.body.data
  }

  test('verify returns whether a signature is valid, or the reason why not, and records nothing', async () => {
    const webhook = await createWebhook(app, owner)
    const body = '{"type":"a","note":"für Zoë"}'
    const right = signed(webhook.secret, body)
    assert.deepEqual(await verify(webhook.id, body, right), { valid: true, reason: null })
    const upper = Object.fromEntries(Object.entries(right).map(([name, value]) => [name.toUpperCase(), value]))
    assert.equal((await verify(webhook.id, body, upper)).valid, true)
    const without = { ...right, 'webhook-signature': '' }
    const stale = signed(webhook.secret, body, 'a', Date.now() - 400_000)
    const other = await createWebhook(app, owner)
    const wrong: [string, Record<string, string>, RegExp][] = [
      [body, {}, /webhook-id is missing/],
      [body, without, /webhook-signature is missing/],
      [body, stale, /stale.*40\d s old, more than 300 s/],
      [body, signed(other.secret, body), /another secret, or the body was altered/],
      [body.replace('Zoë', 'Zoe'), right, /another secret, or the body was altered/],
      [`${body} `, right, /body was altered: .* without spaces/],
      [JSON.stringify(JSON.parse(body), undefined, 2), right, /body was altered: .* without spaces/],
      [body, signed(webhook.secret, `${body}\n`), /body was altered: .* line break/],
      [body, { ...right, 'webhook-signature': 'sha256=00' }, /not of the form v1,/],
    ]
    for (const [payload, headers, reason] of wrong) {
      const verdict = await verify(webhook.id, payload, headers)
      assert.equal(verdict.valid, false)
      assert.match(verdict.reason, reason)
      assert.ok(!verdict.reason.includes(webhook.secret.slice(6)))
    }
    assert.deepEqual(await eventsOf(app, owner, webhook), [])
  })

  test('verify does not serialize a deeply nested body again to explain a wrong signature', async () => {
    const webhook = await createWebhook(app, owner)
    for (const [depth, reason] of [
      [64, /body was altered: .* without spaces/],
      [65, /another secret, or the body was altered/],
    ] as const) {
      const body = `${'['.repeat(depth)}1, 2${']'.repeat(depth)}`
      const headers = signed(webhook.secret, body.replace(' ', ''))
      assert.match((await verify(webhook.id, body, headers)).reason, reason)
    }
  })

  test('verify accepts every body that can be received', async () => {
    const webhook = await createWebhook(app, owner)
    for (const body of ['a\0b', '']) {
      assert.equal((await verify(webhook.id, body, signed(webhook.secret, body))).valid, true)
    }
  })

  test('verify supports the native schemes and works for a disabled webhook', async () => {
    const webhook = await createWebhook(app, owner, { source: 'github' })
    await app.call('PATCH', `${path}/${webhook.id}`, { as: owner, json: { status: 'disabled' } })
    const signature = createHmac('sha256', webhook.secret).update('{}').digest('hex')
    assert.equal((await verify(webhook.id, '{}', { 'X-Hub-Signature-256': `sha256=${signature}` })).valid, true)
    assert.match((await verify(webhook.id, '{}', {})).reason, /X-Hub-Signature-256 is missing/)
  })

  test('verify rejects a request body of another shape', async () => {
    const { id: webhookId } = await createWebhook(app, owner)
    for (const json of [
      {},
      { webhookId },
      { webhookId, payload: {}, headers: {} },
      { webhookId, payload: '', headers: { a: 1 } },
    ]) {
      assert.equal((await app.call('POST', `${path}/verify`, { as: owner, json })).status, 400)
    }
  })
})

describe('the built-in Linear webhook', () => {
  /** A connection that proves administration of the Linear organization. */
  const connect = (actor: TestActor, organizationId: string) => bindLinear(app, actor, organizationId)
  let count = 0
  const send = (payload: object, options: { secret?: string; id?: string; stampMs?: number } = {}) => {
    const body = JSON.stringify({
      type: 'Issue',
      action: 'create',
      webhookTimestamp: options.stampMs ?? Date.now(),
      ...payload,
    })
    const signature = createHmac('sha256', options.secret ?? linearSecret)
      .update(body)
      .digest('hex')
    return app.call('POST', `${path}/linear`, {
      body,
      headers: {
        'content-type': 'application/json',
        'linear-signature': signature,
        'linear-delivery': options.id ?? `linear-${(count += 1)}`,
        'linear-event': 'Issue',
      },
    })
  }
  const builtIn = async (actor: TestActor) =>
    (await read(app, actor, '')).items.filter(({ source }: { source: string }) => source === 'linear')

  test('records a Linear event in the org that has bound the Linear organization, under the webhook Linear', async () => {
    const organizationId = newId()
    const [first, second] = [await app.createOrg(), await app.createOrg()]
    await connect(first, organizationId)
    await connect(second, newId())
    const responses = await Promise.all([1, 2, 3].map((n) => send({ organizationId, n })))
    for (const { status, text } of responses) assert.equal(status, 200, text)
    const [webhook, ...others] = await builtIn(first)
    assert.equal(others.length, 0)
    assert.equal(webhook.name, 'Linear')
    const events = (await read(app, first, `/${webhook.id}/events`)).items
    assert.equal(events.length, 3)
    assert.equal(events[0].type, 'issue')
    assert.deepEqual(await builtIn(second), [])
    const again = await send({ organizationId, n: 9 }, { id: 'linear-same' })
    const repeated = await send({ organizationId, n: 9, more: 1 }, { id: 'linear-same' })
    assert.deepEqual(repeated.body.data, { ...again.body.data, duplicate: true })
  })

  test('recognizes a duplicate Linear event, for any source that the org has set for the webhook', async () => {
    const organizationId = newId()
    const org = await app.createOrg()
    await connect(org, organizationId)
    await send({ organizationId })
    const [webhook] = await builtIn(org)
    await app.call('PATCH', `${path}/${webhook.id}`, { as: org, json: { source: 'custom' } })
    const first = await send({ organizationId }, { id: 'linear-renamed' })
    const second = await send({ organizationId }, { id: 'linear-renamed' })
    assert.deepEqual(second.body.data, { ...first.body.data, duplicate: true })
  })

  test('rejects Linear events with another secret, a stale timestamp or an unknown organization', async () => {
    const organizationId = newId()
    const org = await app.createOrg()
    await connect(org, organizationId)
    assert.equal((await send({ organizationId }, { secret: 'wrong' })).status, 401)
    assert.equal((await send({ organizationId }, { stampMs: Date.now() - 62_000 })).status, 401)
    assert.equal((await app.call('POST', `${path}/linear`, { body: '{}' })).status, 401)
    assert.equal((await send({ organizationId: newId() })).status, 404)
    assert.equal((await send({})).status, 404)
    assert.deepEqual(await builtIn(org), [])
  })

  test('the Linear route is NOT_FOUND if the org has disabled its webhook, and SERVICE_UNAVAILABLE if the server has no secret', async () => {
    const organizationId = newId()
    const org = await app.createOrg()
    await connect(org, organizationId)
    await send({ organizationId })
    const [webhook] = await builtIn(org)
    await app.call('PATCH', `${path}/${webhook.id}`, { as: org, json: { enabled: false, status: 'disabled' } })
    assert.equal((await send({ organizationId })).status, 404)
    const plain = await app.secondServer({ LINEAR_WEBHOOK_SECRET: '' }, { work: false })
    const response = await plain.call('POST', `${path}/linear`, { body: '{}' })
    assert.equal(response.status, 503)
    assert.equal(response.body.error.code, 'SERVICE_UNAVAILABLE')
  })
})

describe('retention', () => {
  const partitions = async (): Promise<string[]> =>
    (
      await app.db.rows<{ name: string }>(sql`
        select inhrelid::regclass::text as name from pg_inherits
        where inhparent in ('webhook_events'::regclass, 'webhook_deliveries'::regclass) order by 1`)
    ).map(({ name }) => name)

  test('drops the partitions of days beyond the retention, keeps the others, and creates those of the next days', async () => {
    const webhook = await createWebhook(app, owner)
    await accept(app, webhook, { type: 'new' }, 'msg_new')
    await app.db.execute(sql`select ensure_webhook_partitions(current_date - 40, current_date - 29)`)
    await app.db.execute(sql`
      insert into webhook_events (org_id, id, webhook_id, type, status, headers, body, received_at)
      select ${owner.orgId}, uuid_at(now() - n * interval '1 day'), ${webhook.id}, 'old', 'recorded', '{}', '', now() - n * interval '1 day'
      from unnest(array[29, 35]) n`)
    await app.db.execute(sql`
      update webhook_event_keys set seen_at = now() - interval '31 days' where webhook_id = ${webhook.id}`)
    const oldest = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
    await app.db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, applyRetention, {}))
    await until('old partitions are dropped', async () =>
      (await partitions()).every((name) => name.slice(-8) >= oldest),
    )
    const types = (await eventsOf(app, owner, webhook)).map(({ type }: { type: string }) => type)
    assert.deepEqual(types, ['new', 'old'])
    await until(
      'old keys are deleted',
      async () => !(await deliver(app, webhook, { type: 'new' }, { id: 'msg_new' })).body.data.duplicate,
    )
    const left = await partitions()
    const newest = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
    for (const table of ['webhook_events', 'webhook_deliveries']) assert.ok(left.includes(`${table}_${newest}`))
  })

  test('receives events even if no worker has created partitions for weeks', async () => {
    const webhook = await createWebhook(app, owner)
    for (const name of await partitions()) await app.db.execute({ text: `drop table ${name}`, values: [] })
    await accept(app, webhook, { type: 'a' })
    assert.equal((await eventsOf(app, owner, webhook)).length, 1)
  })
})
