import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
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
} from '../../../test/support/event-endpoints.ts'
import type { MadeEndpoint, SeenDelivery } from '../../../test/support/event-endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { createWebhook, openLoopback } from '../../../test/support/webhooks.ts'
import { Webhook } from 'standardwebhooks'

// Two attempts.
const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0', QUOTA_WEBHOOKS: '40' })
const owner = await app.createOrg()
const valid = { name: 'Warehouse', url: 'https://hooks.example.com/', types: ['agent.*'] }

const post = (rest: string, json: object = {}, as: TestActor = owner) =>
  app.call('POST', endpointsPath + rest, { as, json })

const auditOf = async (id: string): Promise<string[]> => {
  const { body } = await app.call('GET', '/api/v1/audit-log?limit=100', { as: owner })
  return body.data.items
    .filter((entry: { resource: { id: string } }) => entry.resource.id === id)
    .map((entry: { action: string }) => entry.action)
    .toReversed()
}

const whenFirst = async (endpoint: MadeEndpoint, status: string): Promise<SeenDelivery> => {
  const [delivery] = await until(
    () => endpointDeliveries(app, owner, endpoint),
    (items) => items[0]?.status === status,
  )
  return delivery as SeenDelivery
}

describe('event endpoints', () => {
  test('are created, listed, changed, rotated and deleted, with audit entries and events', async () => {
    const made = await createEndpoint(app, owner, {
      types: ['agent.*', 'agent.*', ' event_endpoint.disabled '],
      workspaceIds: [owner.workspaceId],
      filter: { path: 'data.name', prefix: 'A' },
      ordering: 'subject',
    })
    const { secret, ...record } = made.record
    assert.match(secret, /^whsec_/)
    assert.deepEqual(record, {
      id: made.id,
      name: 'Warehouse',
      url: 'https://hooks.example.com/',
      types: ['agent.*', 'event_endpoint.disabled'],
      workspaceIds: [owner.workspaceId],
      filter: { path: 'data.name', prefix: 'A' },
      ordering: 'subject',
      expand: false,
      transform: null,
      status: 'active',
      statusReason: null,
      owner: { userId: owner.userId, apiKeyId: owner.apiKeyId },
      deliveryCount: 0,
      lastDeliveryAt: null,
      failingSince: null,
      recentResults: [],
      createdAt: record.createdAt,
      updatedAt: record.updatedAt,
    })
    assert.deepEqual(await readEndpoint(app, owner, made), record)
    const list = await app.call('GET', endpointsPath, { as: owner })
    assert.deepEqual(
      list.body.data.items.find((item: { id: string }) => item.id === made.id),
      record,
    )
    const changed = await patchEndpoint(app, owner, made, { filter: null, workspaceIds: null, ordering: 'none' })
    assert.deepEqual([changed.filter, changed.workspaceIds, changed.ordering], [null, null, 'none'])
    const rotated = await post(`/${made.id}/rotate`)
    assert.notEqual(rotated.body.data.secret, secret)
    const removed = await app.call('DELETE', `${endpointsPath}/${made.id}`, { as: owner })
    assert.equal(removed.status, 200)
    assert.equal((await app.call('GET', `${endpointsPath}/${made.id}`, { as: owner })).status, 404)
    assert.deepEqual(await auditOf(made.id), [
      'event-endpoint.created',
      'event-endpoint.updated',
      'event-endpoint.secret-rotated',
      'event-endpoint.deleted',
    ])
    const events = await eventsAbout(app, owner, made.id, 4)
    assert.deepEqual(
      events.map(({ type, subject, data }) => [type, subject.type, data['changed']]),
      [
        ['event_endpoint.created', 'event_endpoint', undefined],
        ['event_endpoint.updated', 'event_endpoint', ['filter', 'workspaceIds', 'ordering']],
        ['event_endpoint.updated', 'event_endpoint', ['secret']],
        ['event_endpoint.deleted', 'event_endpoint', undefined],
      ],
    )
    assert.equal(JSON.stringify(events).includes('whsec_'), false)
  })

  test('have their URL as it is requested, without characters that parsers of URLs read differently', async () => {
    const made = await createEndpoint(app, owner, { url: 'https://hooks.example.com\\@other.example.com/\r\nx: y' })
    assert.equal(made.record.url, 'https://hooks.example.com/@other.example.com/x:%20y')
    assert.equal(
      (await patchEndpoint(app, owner, made, { url: 'https://hooks.example.com' })).url,
      'https://hooks.example.com',
    )
  })

  test('keep their secret encrypted', async () => {
    const { id, secret } = await createEndpoint(app, owner, {})
    const row = await app.db.row<{ text: string }>(sql`
      select e::text as text from event_endpoints e where org_id = ${owner.orgId} and id = ${id}`)
    assert.equal(row?.text.includes(secret.slice(6)), false)
  })

  test('are not webhooks: neither has the routes of the other, and no list contains both', async () => {
    const endpoint = await createEndpoint(app, owner, {})
    const webhook = await createWebhook(app, owner)
    for (const [method, rest] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['GET', '/deliveries'],
      ['POST', '/recover'],
    ] as const) {
      const json = { PATCH: { name: 'N' }, POST: { since: '2026-01-01T00:00:00Z' }, GET: undefined, DELETE: undefined }[
        method
      ]
      for (const path of [`/api/v1/webhooks/${endpoint.id}${rest}`, `${endpointsPath}/${webhook.id}${rest}`]) {
        const answer = await app.call(method, path, { as: owner, ...(json && { json }) })
        assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`)
      }
    }
    assert.equal((await post(`/${webhook.id}/test`)).status, 404)
    const test = await app.call('POST', '/api/v1/webhooks/test', { as: owner, json: { webhookId: endpoint.id } })
    assert.equal(test.status, 404)
    const received = await app.call('POST', `/api/v1/webhooks/receive/${endpoint.id}`, { body: '{}' })
    assert.equal(received.status, 404)
    const [endpoints, webhooks] = [
      await app.call('GET', endpointsPath, { as: owner }),
      await app.call('GET', '/api/v1/webhooks', { as: owner }),
    ]
    assert.equal(endpoints.text.includes(webhook.id), false)
    assert.equal(webhooks.text.includes(endpoint.id), false)
  })

  for (const [what, json, status, message] of [
    ['a URL that is not public', { url: 'http://10.0.0.1/' }, 400, /not on the public Internet/],
    ['a URL of another scheme', { url: 'ftp://example.com/' }, 400, /not a valid http or https URL/],
    ['a type that does not exist', { types: ['agent.exploded'] }, 400, /matches no event type/],
    ['no types', { types: [] }, 400, /types/],
    [
      'a filter with a mistake',
      { filter: { all: [{ path: 'data.a', like: 1 }] } },
      400,
      /filter\.all\[0\] must have path/,
    ],
    ['a workspace that does not exist', { workspaceIds: [newId()] }, 404, /Workspace/],
    ['an empty name', { name: '  ' }, 400, /name must be/],
    ['an unknown ordering', { ordering: 'global' }, 400, /ordering/],
  ] as [string, object, number, RegExp][]) {
    test(`are rejected with ${what}, when they are created and when they are changed`, async () => {
      const created = await post('', { ...valid, ...json })
      assert.equal(created.status, status, created.text)
      assert.match(created.text, message)
      const { id } = await createEndpoint(app, owner, {})
      const changed = await app.call('PATCH', `${endpointsPath}/${id}`, { as: owner, json })
      assert.equal(changed.status, status, changed.text)
      assert.match(changed.text, message)
    })
  }

  test('need webhooks:write and the permission to read the types', async () => {
    const reader = await app.createUser(owner, 'member', { scopes: ['webhooks:read', 'agents:read'] })
    assert.equal((await post('', valid, reader)).status, 403)
    const narrow = await app.createUser(owner, 'member', { scopes: ['webhooks:*'] })
    const refused = await post('', valid, narrow)
    assert.equal(refused.status, 403)
    assert.match(refused.body.error.message, /may not read events of the type agent\.\*/)
    const { id } = await createEndpoint(app, narrow, { types: ['event_endpoint.*'] })
    const widened = await app.call('PATCH', `${endpointsPath}/${id}`, {
      as: narrow,
      json: { types: ['agent.created'] },
    })
    assert.equal(widened.status, 403)
    const tested = await post(`/${id}/test`, { type: 'agent.created' }, narrow)
    assert.equal(tested.status, 403)
  })

  test('count as webhooks in the quota of the org', async () => {
    const limited = await app.secondServer({ ...openLoopback, QUOTA_WEBHOOKS: '2' }, { work: false })
    const other = await app.createOrg()
    await createWebhook(limited, other)
    await createEndpoint(limited, other, {})
    for (const [path, json] of [
      [endpointsPath, valid],
      ['/api/v1/webhooks', { name: 'One more' }],
    ] as const) {
      const answer = await limited.call('POST', path, { as: other, json })
      assert.ok(answer.status === 403 || answer.status === 402, answer.text)
      assert.match(answer.text, /webhooks/)
    }
  })
})

describe('deliveries of an endpoint', () => {
  test('of a test event have example data and the mark isTest, and are not in the log', async () => {
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url })
    const answer = await post(`/${endpoint.id}/test`, { type: 'agent.updated' })
    assert.equal(answer.status, 202, answer.text)
    assert.equal(answer.body.data.eventType, 'agent.updated')
    const delivery = await whenFirst(endpoint, 'succeeded')
    assert.equal(delivery.id, answer.body.data.id)
    assert.deepEqual([answer.body.data.isTest, delivery.isTest], [true, true])
    const [{ body, headers }] = receiver.arrivals as [(typeof receiver.arrivals)[0]]
    const event = new Webhook(endpoint.secret).verify(body, headers as Record<string, string>) as {
      id: string
      isTest: boolean
      data: object
    }
    const { body: catalog } = await app.call('GET', '/api/v1/event-types', { as: owner })
    const { exampleData } = catalog.data.items.find((item: { type: string }) => item.type === 'agent.updated')
    assert.deepEqual(event.data, exampleData)
    assert.equal(event.isTest, true)
    assert.equal((await app.call('GET', `/api/v1/events/${event.id}`, { as: owner })).status, 404)
    assert.equal((await post(`/${endpoint.id}/test`, { type: 'agent.exploded' })).status, 400)
    await patchEndpoint(app, owner, endpoint, { status: 'disabled' })
    assert.equal((await post(`/${endpoint.id}/test`)).status, 422)
  })

  test('that failed are retried one by one and all since a time', async () => {
    const receiver = await startReceiver()
    let status = 500
    receiver.answer = (response) => response.writeHead(status).end()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    const since = new Date(Date.now() - 60_000).toISOString()
    await createAgent(app, owner, 'One')
    const failed = await whenFirst(endpoint, 'failed')
    assert.equal(failed.attempts.length, 2)
    assert.equal(failed.isTest, false)
    status = 204
    const retried = await post(`/${endpoint.id}/deliveries/${failed.id}/retry`)
    assert.equal(retried.status, 202, retried.text)
    assert.equal((await whenFirst(endpoint, 'succeeded')).attempts[2]?.trigger, 'manual')
    status = 500
    await createAgent(app, owner, 'Two')
    await whenFirst(endpoint, 'failed')
    await createAgent(app, owner, 'Three')
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items.filter((one) => one.status === 'failed').length === 2,
    )
    status = 204
    const recovered = await post(`/${endpoint.id}/recover`, { since })
    assert.deepEqual(recovered.body.data, { queued: 2 })
    await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) => items.every((one) => one.status === 'succeeded'),
    )
    const [first, last] = [receiver.arrivals[2], receiver.arrivals.at(-1)]
    assert.ok(first && last)
    assert.equal(receiver.arrivals[0]?.body.equals(first.body), true, 'a retry sends the same bytes')
  })

  test('disable the endpoint when it responds with 410, with an audit entry and an event', async () => {
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(410).end()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    const agentId = await createAgent(app, owner, 'Gone')
    const disabled = await until(
      () => readEndpoint(app, owner, endpoint),
      ({ status }) => status === 'disabled',
    )
    assert.equal(disabled.statusReason, 'The endpoint responded with 410 Gone.')
    assert.deepEqual(await auditOf(endpoint.id), ['event-endpoint.created', 'event-endpoint.disabled'])
    const [, event] = await eventsAbout(app, owner, endpoint.id, 2)
    assert.equal(event?.type, 'event_endpoint.disabled')
    assert.deepEqual(event.actor, { type: 'system', id: null, name: 'Deliveries', apiKeyId: null })
    assert.equal(event.data['reason'], disabled.statusReason)
    const [cause] = await eventsAbout(app, owner, agentId, 1)
    assert.deepEqual(event.chain, { id: cause?.chain.id, depth: 1 }, 'it continues the chain of the event that failed')
    assert.equal((await patchEndpoint(app, owner, endpoint, { status: 'active' })).statusReason, null)
  })

  test('disable the endpoint when all attempts have failed for five days', async () => {
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(500).end()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    await app.db.execute(sql`
      update event_endpoints set failing_since = now() - interval '6 days'
      where org_id = ${owner.orgId} and id = ${endpoint.id}`)
    await createAgent(app, owner, 'Down')
    const disabled = await until(
      () => readEndpoint(app, owner, endpoint),
      ({ status }) => status === 'disabled',
    )
    assert.equal(disabled.statusReason, 'All attempts have failed for five days.')
  })

  test('show in the endpoint how the latest 20 ended and since when it fails, and are listed by status', async () => {
    const receiver = await startReceiver()
    let status = 204
    receiver.answer = (response) => response.writeHead(status).end()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    const other = await createEndpoint(app, owner, { url: receiver.url, types: ['api_key.revoked'] })
    const list = async (query: string): Promise<SeenDelivery[]> =>
      (await app.call('GET', `${endpointsPath}/${endpoint.id}/deliveries?${query}`, { as: owner })).body.data.items
    const sendTests = async (count: number, result: string): Promise<void> => {
      for (let sent = 1; sent <= count; sent += 1) {
        await post(`/${endpoint.id}/test`)
        await whenFirst(endpoint, result)
      }
    }
    await sendTests(20, 'succeeded')
    assert.equal((await readEndpoint(app, owner, endpoint)).failingSince, null)
    status = 500
    await sendTests(2, 'failed')
    const read = await readEndpoint(app, owner, endpoint)
    const results = [...Array<string>(2).fill('failed'), ...Array<string>(18).fill('succeeded')]
    assert.deepEqual(read.recentResults, results)
    const [, failed] = await list('status=failed')
    const [first, second] = failed?.attempts.map(({ at }) => at) ?? []
    assert.ok(first && first <= read.failingSince, 'after the first failed attempt')
    assert.ok(second && read.failingSince <= second, 'before the second one')
    const paused = await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    assert.equal(paused.failingSince, null, 'a change of status restarts the count of failing days')
    await post(`/${endpoint.id}/test`)
    const listed: { id: string; recentResults: string[] }[] = (await app.call('GET', endpointsPath, { as: owner })).body
      .data.items
    assert.deepEqual(
      [endpoint, other].map(({ id }) => listed.find((item) => item.id === id)?.recentResults),
      [results, []],
      'each endpoint has its own results',
    )
    const statusesOf = async (query: string) => (await list(query)).map((one) => one.status)
    assert.deepEqual(await statusesOf('limit=4'), ['held', 'failed', 'failed', 'succeeded'])
    assert.deepEqual(await statusesOf('status=unfinished'), ['held'])
    assert.deepEqual(await statusesOf('status=failed'), ['failed', 'failed'])
    assert.deepEqual(await statusesOf('status=succeeded&limit=100'), Array<string>(20).fill('succeeded'))
    assert.equal(
      (await app.call('GET', `${endpointsPath}/${endpoint.id}/deliveries?status=lost`, { as: owner })).status,
      400,
    )
    status = 204
    await patchEndpoint(app, owner, endpoint, { status: 'active' })
    await whenFirst(endpoint, 'succeeded')
    const recovered = await readEndpoint(app, owner, endpoint)
    assert.deepEqual([recovered.failingSince, recovered.recentResults[0]], [null, 'succeeded'])
  })

  test('that succeeded are found behind pages of failed ones', async () => {
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    await post(`/${endpoint.id}/test`)
    await whenFirst(endpoint, 'succeeded')
    receiver.answer = (response) => response.writeHead(500).end()
    for (let sent = 1; sent <= 3; sent += 1) {
      await post(`/${endpoint.id}/test`)
      await whenFirst(endpoint, 'failed')
    }
    const pages: string[][] = []
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const path = `${endpointsPath}/${endpoint.id}/deliveries?status=succeeded&limit=2${after}`
      const { items, nextCursor } = (await app.call('GET', path, { as: owner })).body.data
      pages.push(items.map((item: SeenDelivery) => item.status))
      cursor = nextCursor
    } while (cursor !== null)
    assert.deepEqual(pages, [[], ['succeeded']])
  })

  test('are removed with the endpoint', async () => {
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
    await post(`/${endpoint.id}/test`)
    await whenFirst(endpoint, 'succeeded')
    await patchEndpoint(app, owner, endpoint, { status: 'paused' })
    await post(`/${endpoint.id}/test`)
    await app.call('DELETE', `${endpointsPath}/${endpoint.id}`, { as: owner })
    await until(
      'nothing is left',
      async () =>
        (
          await app.db.row<{ count: number }>(sql`
            -- all orgs: a test
            select ((select count(*) from webhook_queue where webhook_id = ${endpoint.id})
              + (select count(*) from webhook_deliveries where webhook_id = ${endpoint.id})
              + (select count(*) from webhook_events where webhook_id = ${endpoint.id}))::int as count`)
        )?.count === 0,
    )
  })
})
