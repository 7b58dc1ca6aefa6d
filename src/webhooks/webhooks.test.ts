import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../platform/database/database.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import {
  accept,
  createWebhook,
  deliver,
  deliveriesOf,
  eventsOf,
  openLoopback,
  read,
  signed,
} from '../../test/support/webhooks.ts'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { newId } from '../platform/ids.ts'
import { ensureBuiltin } from './webhooks.ts'

const app = await startTestApp(openLoopback)
const owner = await app.createOrg()
const path = '/api/v1/webhooks'

const patch = (as: TestActor, id: string, json: object, headers: Record<string, string> = {}) =>
  app.call('PATCH', `${path}/${id}`, { as, json, headers })

describe('creating a webhook', () => {
  test('creating a webhook returns all of its fields, and the secret in this response only', async () => {
    const response = await app.call('POST', path, { as: owner, json: { name: 'Orders' } })
    assert.equal(response.status, 201)
    const { data } = response.body
    assert.deepEqual(Object.keys(data).toSorted(), [
      'createdAt',
      'deliveryCount',
      'description',
      'enabled',
      'events',
      'id',
      'lastDeliveryAt',
      'name',
      'receiveUrl',
      'secret',
      'source',
      'status',
      'statusReason',
      'updatedAt',
      'url',
    ])
    assert.equal(data.receiveUrl, `${app.url}/api/v1/webhooks/receive/${data.id}`)
    assert.equal(data.url, data.receiveUrl)
    assert.equal(data.source, 'custom')
    assert.equal(data.status, 'active')
    assert.equal(data.enabled, true)
    assert.equal(data.deliveryCount, 0)
    assert.deepEqual(data.events, [])
    assert.match(data.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    for (const other of [`/${data.id}`, '', '/events', `/${data.id}/events`, `/${data.id}/deliveries`]) {
      const { text } = await app.call('GET', path + other, { as: owner })
      assert.ok(!text.includes(data.secret.slice(6)), other)
      assert.doesNotMatch(text, /"secret/)
    }
    const stored = await app.db.row<{ row: string }>(sql`select w::text as row from webhooks w where id = ${data.id}`)
    assert.ok(!stored?.row.includes(data.secret.slice(6)))
    assert.ok(!app.logLines.join('').includes(data.secret.slice(6)))
  })

  test('creating a webhook again with the same Idempotency-Key returns the same response without the secret', async () => {
    const options = { as: owner, json: { name: 'Once' }, headers: { 'idempotency-key': 'webhook-once' } }
    const first = await app.call('POST', path, options)
    const second = await app.call('POST', path, options)
    const { secret, ...rest } = first.body.data
    assert.equal(typeof secret, 'string')
    assert.equal(second.status, 201)
    assert.deepEqual(second.body.data, rest)
  })

  test('creating a webhook normalizes its fields', async () => {
    const { record } = await createWebhook(app, owner, {
      name: '  Orders  ',
      source: ' GitHub ',
      events: [' Invoice.Paid ', 'invoice.paid', '', 'push'],
      description: 'All orders',
      url: ' https://hooks.example.com/in?a=1 ',
    })
    assert.equal(record.name, 'Orders')
    assert.equal(record.source, 'GitHub')
    assert.deepEqual(record.events, ['invoice.paid', 'push'])
    assert.equal(record.description, 'All orders')
    assert.equal(record.url, 'https://hooks.example.com/in?a=1')
    for (const url of [null, '', '  ']) {
      const { record } = await createWebhook(app, owner, { url })
      assert.equal(record.url, record.receiveUrl)
    }
  })

  const bad: [string, object][] = [
    ['without a name', { name: undefined }],
    ['with an empty name', { name: '' }],
    ['with a blank name', { name: '   ' }],
    ['with a name of 121 characters', { name: 'x'.repeat(121) }],
    ['with a name that is a number', { name: 7 }],
    ['with a source of 101 characters', { source: 'x'.repeat(101) }],
    ['with a description of 2,001 characters', { description: 'x'.repeat(2_001) }],
    ['with events that are not a list', { events: 'push' }],
    ['with 101 events', { events: Array.from({ length: 101 }, String) }],
    ['with a string that is not a URL', { url: 'hooks' }],
    ['with an ftp URL', { url: 'ftp://example.com/' }],
    ['with a URL with a password in it', { url: 'https://a:b@example.com/' }],
    ['with a URL whose port belongs to another protocol', { url: 'https://example.com:22/' }],
    ['with a private URL', { url: 'http://10.0.0.1/' }],
    ['with a link-local URL', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['with a private IPv6 URL', { url: 'http://[fd00::1]/' }],
    ['with a secret of 7 characters', { source: 'stripe', secret: 'x'.repeat(7) }],
    ['with a secret of 257 characters', { source: 'stripe', secret: 'x'.repeat(257) }],
    ['with a secret that Standard Webhooks cannot use', { secret: 'not-a-standard-secret' }],
    ['with a secret that Telegram cannot send', { source: 'telegram', secret: 'with spaces in it' }],
    ['for Discord without a public key', { source: 'discord' }],
    ['for Discord with an invalid public key', { source: 'discord', publicKey: 'xyz' }],
  ]
  for (const [what, body] of bad) {
    test(`creating a webhook ${what} is BAD_REQUEST`, async () => {
      const response = await app.call('POST', path, { as: owner, json: { name: 'Orders', ...body } })
      assert.equal(response.status, 400, response.text)
      assert.equal(response.body.error.code, 'BAD_REQUEST')
    })
  }

  test('accepts names, sources and descriptions up to their limits, counted in characters', async () => {
    const { record } = await createWebhook(app, owner, {
      name: '🎉'.repeat(120),
      source: 's'.repeat(100),
      description: '🎉'.repeat(2_000),
    })
    assert.equal([...record.name].length, 120)
  })

  test('creating a webhook rejects a loopback URL unless the operator allows it', async () => {
    const closed = await app.secondServer({ OUTBOUND_ALLOW_CIDRS: '' }, { work: false })
    for (const url of ['http://127.0.0.1:9000/', 'http://localhost:9000/', 'http://[::1]/', 'http://2130706433/']) {
      const response = await closed.call('POST', path, { as: owner, json: { name: 'Orders', url } })
      assert.equal(response.status, 400, url)
    }
  })
})

describe('the list of webhooks', () => {
  test('lists webhooks newest first: all without a limit, pages with one', async () => {
    const lister = await app.createOrg()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await createWebhook(app, lister, { name: `${n}` })).id)
    const all = await read(app, lister, '')
    assert.deepEqual(
      all.items.map(({ id }: { id: string }) => id),
      ids,
    )
    assert.equal(all.nextCursor, null)
    const first = await read(app, lister, '?limit=3')
    const second = await read(app, lister, `?limit=3&cursor=${first.nextCursor}`)
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }: { id: string }) => id),
      ids,
    )
    assert.equal(second.nextCursor, null)
    assert.deepEqual(
      (await read(app, owner, '')).items.filter(({ id }: { id: string }) => ids.includes(id)),
      [],
    )
  })
})

describe('changing a webhook', () => {
  test('an update of a webhook keeps status and enabled in sync', async () => {
    const { id } = await createWebhook(app, owner)
    const steps: [object, string, boolean][] = [
      [{ status: 'paused' }, 'paused', false],
      [{ status: 'active' }, 'active', true],
      [{ status: 'disabled' }, 'disabled', false],
      [{ enabled: true }, 'active', true],
      [{ enabled: false }, 'paused', false],
      [{ enabled: true, status: 'disabled' }, 'disabled', false],
      [{ enabled: false }, 'paused', false],
    ]
    for (const [change, status, enabled] of steps) {
      const { data } = (await patch(owner, id, change)).body
      assert.equal(data.status, status, JSON.stringify(change))
      assert.equal(data.enabled, enabled, JSON.stringify(change))
    }
  })

  test('an update resets the URL of a webhook for null, an empty string and its own receive URL under any host name', async () => {
    const { id, record, receivePath } = await createWebhook(app, owner, { url: 'https://hooks.example.com/' })
    const own = [record.receiveUrl, `${record.receiveUrl}/`, `${record.receiveUrl}?a=1#b`]
    const aliases = ['http://localhost:3000', 'https://atrium.example.com'].map((origin) => origin + receivePath)
    for (const url of [null, '', ...own, ...aliases, aliases[0]!.replace(id, id.toUpperCase())]) {
      await patch(owner, id, { url: 'https://hooks.example.com/' })
      const { data } = (await patch(owner, id, { url })).body
      assert.equal(data.url, record.receiveUrl, String(url))
    }
  })

  test('an update of a webhook changes only the fields that are sent', async () => {
    const { id, record } = await createWebhook(app, owner, { description: 'a', events: ['push'] })
    const changed = (await patch(owner, id, { name: 'New', events: [' A ', 'a'], description: null })).body.data
    const { updatedAt, ...rest } = changed
    const { secret: _, updatedAt: before, ...known } = record
    assert.deepEqual(rest, { ...known, name: 'New', events: ['a'], description: null })
    assert.ok(updatedAt >= before)
  })

  test('an update of a webhook rejects the same values as its creation, an empty body and unknown statuses', async () => {
    const { id } = await createWebhook(app, owner)
    for (const body of [
      {},
      { status: 'off' },
      { name: ' ' },
      { url: 'http://10.0.0.1/' },
      { enabled: 'yes' },
      { name: null },
    ]) {
      const response = await patch(owner, id, body)
      assert.equal(response.status, 400, JSON.stringify(body))
    }
  })

  test('deliveries change the ETag of a webhook for If-None-Match and do not make an update with If-Match conflict', async () => {
    const endpoint = await startReceiver()
    const { id, ...webhook } = await createWebhook(app, owner, { url: endpoint.url })
    const get = (etag = '') => app.call('GET', `${path}/${id}`, { as: owner, headers: { 'if-none-match': etag } })
    const before = (await get()).headers.get('etag')!
    assert.equal((await get(before)).status, 304)
    await accept(app, { id, ...webhook }, { type: 'a' })
    await until('it is counted', async () => (await get()).body.data.deliveryCount === 1)
    const now = await get(before)
    assert.deepEqual([now.status, now.body.data.deliveryCount], [200, 1])
    assert.equal((await get(now.headers.get('etag')!)).status, 304)
    assert.equal((await patch(owner, id, { name: 'A' }, { 'if-match': before })).status, 200)
    assert.equal((await patch(owner, id, { name: 'B' }, { 'if-match': '"2"' })).status, 200)
  })

  test('an update of a webhook with an outdated If-Match is rejected', async () => {
    const { id } = await createWebhook(app, owner)
    const etag = (await app.call('GET', `${path}/${id}`, { as: owner })).headers.get('etag')!
    assert.equal((await patch(owner, id, { name: 'A' }, { 'if-match': etag })).status, 200)
    assert.equal((await patch(owner, id, { name: 'B' }, { 'if-match': etag })).status, 409)
    const deleted = await app.call('DELETE', `${path}/${id}`, { as: owner, headers: { 'if-match': etag } })
    assert.equal(deleted.status, 409)
  })
})

describe('rotating the secret', () => {
  test('rotating the secret invalidates old signatures at once in every process', async () => {
    const webhook = await createWebhook(app, owner)
    const other = await app.secondServer({}, { work: false })
    await accept(app, webhook, { type: 'a' })
    assert.equal((await deliver(other, webhook, { type: 'a' })).status, 200)
    const response = await app.call('POST', `${path}/${webhook.id}/rotate`, { as: owner })
    assert.equal(response.status, 200)
    const { secret } = response.body.data
    assert.match(secret, /^whsec_/)
    assert.notEqual(secret, webhook.secret)
    for (const server of [app, other]) {
      assert.equal((await deliver(server, webhook, { type: 'a' })).status, 401)
      assert.equal((await deliver(server, { ...webhook, secret }, { type: 'a' })).status, 200)
    }
    assert.equal((await eventsOf(app, owner, webhook)).length, 4)
  })

  test('rotating accepts a secret that the provider issued', async () => {
    const webhook = await createWebhook(app, owner, { source: 'stripe', secret: 'whsec_of-stripe' })
    assert.equal(webhook.secret, 'whsec_of-stripe')
    const response = await app.call('POST', `${path}/${webhook.id}/rotate`, {
      as: owner,
      json: { secret: 'whsec_another' },
    })
    assert.equal(response.body.data.secret, 'whsec_another')
    const bad = await app.call('POST', `${path}/${webhook.id}/rotate`, { as: owner, json: { secret: 'short' } })
    assert.equal(bad.status, 400)
  })

  test('rotating keeps the public key of Discord unless another one is given', async () => {
    const publicKey = 'a'.repeat(64)
    const { id } = await createWebhook(app, owner, { source: 'discord', publicKey })
    const keyOf = async () =>
      (await app.db.row<{ key: string }>(sql`select public_key as key from webhooks where id = ${id}`))?.key
    assert.equal((await app.call('POST', `${path}/${id}/rotate`, { as: owner, json: {} })).status, 200)
    assert.equal(await keyOf(), publicKey)
    await app.call('POST', `${path}/${id}/rotate`, { as: owner, json: { publicKey: 'b'.repeat(64) } })
    assert.equal(await keyOf(), 'b'.repeat(64))
  })

  test('generates a secret for Telegram from the characters that it allows', async () => {
    const { secret } = await createWebhook(app, owner, { source: 'telegram' })
    assert.match(secret, /^[A-Za-z0-9_-]{1,256}$/)
  })
})

describe('deleting a webhook', () => {
  test('a deleted webhook receives nothing, and its events, deliveries and keys are deleted', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    await accept(app, webhook, { type: 'a' })
    await until('it is forwarded', () => endpoint.arrivals.length === 1)
    await patch(owner, webhook.id, { status: 'paused' })
    await accept(app, webhook, { type: 'b' })
    const response = await app.call('DELETE', `${path}/${webhook.id}`, { as: owner })
    assert.deepEqual(response.body, { success: true, data: { deleted: true } })
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/events'],
      ['GET', '/deliveries'],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      assert.equal((await app.call(method, `${path}/${webhook.id}${rest}`, { as: owner })).status, 404, rest)
    }
    assert.equal((await deliver(app, webhook, { type: 'c' })).status, 404)
    const recent = await read(app, owner, '/events')
    assert.ok(!recent.items.some((event: { webhookId: string }) => event.webhookId === webhook.id))
    const left = async () =>
      (await app.db.row<{ n: number }>(sql`
        select ((select count(*) from webhook_events where webhook_id = ${webhook.id})
          + (select count(*) from webhook_deliveries where webhook_id = ${webhook.id})
          + (select count(*) from webhook_queue where webhook_id = ${webhook.id})
          + (select count(*) from webhook_event_keys where webhook_id = ${webhook.id}))::int as n`))!.n
    await until('nothing is left', async () => (await left()) === 0)
    // An event whose transaction began before the deletion and commits after the job.
    await app.db.execute(sql`
      insert into webhook_event_keys (org_id, webhook_id, key, event_id)
      values (${owner.orgId}, ${webhook.id}, 'id:late', ${newId()})`)
    await app.db.execute(sql`
      update pgboss.job set start_after = now()
      where name = 'webhooks.purge' and data ->> 'webhookId' = ${webhook.id} and state = 'created'`)
    await until('nothing is left of late events', async () => (await left()) === 0)
  })
})

describe('another org', () => {
  test('another org gets the same response for a webhook, its events and its deliveries as for missing ones', async () => {
    const endpoint = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: endpoint.url })
    const eventId = await accept(app, webhook, { type: 'a' })
    await until('it is delivered', async () => (await deliveriesOf(app, owner, webhook))[0]?.status === 'succeeded')
    const [delivery] = await deliveriesOf(app, owner, webhook)
    const outsider = await app.createOrg()
    const missing = '01890000-0000-7000-8000-000000000000'
    const requests: [string, (id: string) => string, object?][] = [
      ['GET', (id) => `/${id}`],
      ['PATCH', (id) => `/${id}`, { name: 'x' }],
      ['DELETE', (id) => `/${id}`],
      ['POST', (id) => `/${id}/rotate`],
      ['GET', (id) => `/${id}/events`],
      ['GET', (id) => `/${id}/events/${eventId}`],
      ['POST', (id) => `/${id}/events/${eventId}/replay`],
      ['GET', (id) => `/${id}/deliveries`],
      ['GET', (id) => `/${id}/deliveries/${delivery.id}`],
      ['POST', (id) => `/${id}/deliveries/${delivery.id}/retry`],
      ['POST', (id) => `/${id}/recover`, { since: '2026-01-01T00:00:00Z' }],
    ]
    for (const [method, rest, json] of requests) {
      const options = { as: outsider, ...(json && { json }) }
      const theirs = await app.call(method, path + rest(webhook.id), options)
      const none = await app.call(method, path + rest(missing), options)
      assert.equal(theirs.status, 404, rest('id'))
      assert.equal(theirs.text, none.text)
    }
    for (const [route, rest] of [
      ['test', {}],
      ['verify', { payload: '{}', headers: signed(webhook.secret, '{}') }],
    ] as const) {
      const theirs = await app.call('POST', `${path}/${route}`, {
        as: outsider,
        json: { webhookId: webhook.id, ...rest },
      })
      const none = await app.call('POST', `${path}/${route}`, { as: outsider, json: { webhookId: missing, ...rest } })
      assert.equal(theirs.status, 404)
      assert.equal(theirs.text, none.text)
    }
    assert.deepEqual((await read(app, outsider, '/events')).items, [])
    assert.equal((await read(app, owner, `/${webhook.id}`)).name, 'Orders')
  })
})

describe('the built-in webhook', () => {
  test('creates the built-in webhook in an org whose quota allows no webhooks, and does not count it', async () => {
    const org = await app.createOrg()
    await app.db.execute(sql`insert into org_quotas (org_id, name, value) values (${org.orgId}, 'webhooks', 0)`)
    const rejected = await app.call('POST', path, { as: org, json: { name: 'Orders' } })
    assert.equal(rejected.body.error.code, 'FORBIDDEN')
    const webhook = await ensureBuiltin(app.db, app.deps, org.orgId, { builtin: 'linear', name: 'Linear' })
    assert.deepEqual(
      (await read(app, org, '')).items.map(({ id }: { id: string }) => id),
      [webhook.id],
    )
    const { body } = await app.call('GET', '/api/v1/quotas', { as: org })
    assert.equal(body.data.items.find(({ name }: { name: string }) => name === 'webhooks').used, 0)
  })
})
