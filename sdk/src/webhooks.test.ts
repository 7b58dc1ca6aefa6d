import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { createClient, verifyEvent, verifyWebhook } from './index.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const body = JSON.stringify({ id: 'evt-1', type: 'agent.created', data: { name: 'Ünïcode' } })
const atMs = Date.UTC(2026, 10, 24)

const signed = (by: string, id = 'evt-1', ms = atMs): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(ms / 1_000),
  'webhook-signature': new StandardWebhook(by).sign(id, new Date(ms), body),
})

const rejects = (headers: Record<string, string>, message: RegExp, text = body, nowMs = atMs): Promise<void> =>
  assert.rejects(verifyWebhook({ body: text, headers }, secret, { nowMs }), {
    name: 'WebhookVerificationError',
    message,
  })

describe('verifyWebhook', () => {
  test('accepts a signature of the official library, with headers and bodies of all kinds', async () => {
    const headers = signed(secret)
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    for (const given of [headers, upper, new Headers(headers)]) {
      for (const content of [body, new TextEncoder().encode(body)]) {
        const { id, timestamp } = await verifyWebhook({ body: content, headers: given }, secret, { nowMs: atMs })
        assert.deepEqual([id, timestamp], ['evt-1', atMs / 1_000])
      }
    }
  })

  test('accepts the old and the new secret during a rotation, by the receiver and by the sender', async () => {
    await verifyWebhook({ body, headers: signed(other) }, [secret, other], { nowMs: atMs })
    const both = { ...signed(secret) }
    both['webhook-signature'] = `v1a,AAAA ${signed(other)['webhook-signature']} ${both['webhook-signature']}`
    await verifyWebhook({ body, headers: both }, secret, { nowMs: atMs })
    await rejects(signed(other), /does not match/)
  })

  test('rejects a changed body, ID, timestamp and signature', async () => {
    await rejects(signed(secret), /does not match/, body.replace('created', 'deleted'))
    await rejects({ ...signed(secret), 'webhook-id': 'evt-2' }, /does not match/)
    await rejects({ ...signed(secret), 'webhook-timestamp': String(atMs / 1_000 + 1) }, /does not match/)
    for (const signature of ['v1,', 'v1,%%%', 'v1,AAAA', 'AAAA', 'v2,AAAA']) {
      await rejects({ ...signed(secret), 'webhook-signature': signature }, /does not match/)
    }
  })

  test('rejects requests beyond the tolerance in both directions', async () => {
    for (const seconds of [300, -300]) {
      await verifyWebhook({ body, headers: signed(secret) }, secret, { nowMs: atMs + seconds * 1_000 })
    }
    await rejects(signed(secret), /is 301 s old/, body, atMs + 301_000)
    await rejects(signed(secret), /is -301 s old/, body, atMs - 301_000)
    await verifyWebhook({ body, headers: signed(secret) }, secret, { nowMs: atMs + 900_000, toleranceSeconds: 900 })
  })

  test('rejects missing and malformed headers, and an empty secret', async () => {
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      await rejects({ ...signed(secret), [name]: '' }, new RegExp(`The header ${name} is missing`))
    }
    await rejects({ ...signed(secret), 'webhook-timestamp': '2026-11-24' }, /seconds since 1970/)
    await assert.rejects(verifyWebhook({ body, headers: signed(secret) }, ['']), TypeError)
  })
})

test('deliveries of the server are verified, before and after the secret is rotated', async () => {
  const receiver = await startReceiver()
  const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  const owner = await app.createOrg()
  const client = createClient({ baseUrl: app.url, apiKey: owner.key })
  const endpoint = await client.call('POST /event-endpoints', {
    body: { name: 'Tests', url: receiver.url, types: ['agent.*'] },
  })
  const params = { id: endpoint.id }
  const verifyNext = async (secrets: string | string[]) => {
    const count = receiver.arrivals.length
    const agent = await client.call('POST /agents', { body: { name: 'Helper' } })
    await until('the delivery arrives', () => receiver.arrivals.length > count)
    const request = receiver.arrivals.at(-1)
    assert.ok(request)
    const event = await verifyEvent(request, secrets)
    assert.ok(event.type === 'agent.created')
    assert.equal(event.data.agentId, agent.id)
    return event
  }
  await verifyNext(endpoint.secret)
  const rotated = await client.call('POST /event-endpoints/:id/rotate', { params })
  await verifyNext([endpoint.secret, rotated.secret])
  await assert.rejects(verifyNext(endpoint.secret), { name: 'WebhookVerificationError' })
})
