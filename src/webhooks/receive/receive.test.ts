import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Webhook as SvixWebhook } from 'svix'
import { Pool } from 'undici'
import { newId } from '../../platform/ids.ts'
import { startTestApp } from '../../../test/harness.ts'
import { fixedBodies, malformedBody } from '../../../test/support/malformed-bodies.ts'
import { openSocket } from '../../../test/support/raw-http.ts'
import { until } from '../../../test/support/until.ts'
import { accept, createWebhook, deliver, eventsOf, freshId, read, signed } from '../../../test/support/webhooks.ts'
import type { MadeWebhook } from '../../../test/support/webhooks.ts'

const app = await startTestApp()
const owner = await app.createOrg()

const hex = (secret: string, ...parts: (string | Buffer)[]): string => {
  const mac = createHmac('sha256', secret)
  for (const part of parts) mac.update(part)
  return mac.digest('hex')
}
const send = (webhook: MadeWebhook, body: string | Buffer, headers: Record<string, string>, query = '') =>
  app.call('POST', webhook.receivePath + query, { body, headers })

describe('receiving', () => {
  test('records a signed event with its payload before the response', async () => {
    const webhook = await createWebhook(app, owner)
    const payload = { type: 'Invoice.Paid', amount: 4200, note: 'für Zoë 🎉', nested: [{ a: null }] }
    const response = await deliver(app, webhook, payload, {
      id: 'msg_1',
      headers: { 'user-agent': 'Sender/1', cookie: 'a=b' },
    })
    assert.equal(response.status, 200)
    const { eventId } = response.body.data
    assert.deepEqual(response.body, { success: true, data: { received: true, eventId, duplicate: false } })
    const [event] = await eventsOf(app, owner, webhook)
    const { receivedAt, headers, ...rest } = event
    assert.deepEqual(rest, {
      id: eventId,
      webhookId: webhook.id,
      webhookName: 'Orders',
      type: 'invoice.paid',
      externalId: 'msg_1',
      payload,
      sizeBytes: Buffer.byteLength(JSON.stringify(payload)),
      status: 'recorded',
    })
    assert.ok(Math.abs(Date.parse(receivedAt) - Date.now()) < 60_000)
    assert.equal(headers['user-agent'], 'Sender/1')
    assert.equal(headers['webhook-id'], 'msg_1')
    assert.ok(!('webhook-signature' in headers) && !('cookie' in headers))
    assert.deepEqual(await read(app, owner, `/${webhook.id}/events/${eventId}`), event)
    assert.deepEqual((await read(app, owner, '/events?limit=1')).items, [event])
  })

  test('rejects an event whose signature is missing, wrong, stale or of another body, and records nothing', async () => {
    const webhook = await createWebhook(app, owner)
    const other = await createWebhook(app, owner)
    const body = '{"type":"a"}'
    const right = signed(webhook.secret, body)
    const texts = new Set<string>()
    for (const headers of [
      {},
      { ...right, 'webhook-signature': '' },
      { ...right, 'webhook-id': 'another' },
      { ...right, 'webhook-signature': 'v1,é' },
      { ...right, 'webhook-signature': 'v1,' + Buffer.alloc(32).toString('base64') },
      signed(other.secret, body),
      signed(webhook.secret, `${body} `),
      signed(webhook.secret, body, 'a', Date.now() - 301_000),
      signed(webhook.secret, body, 'a', Date.now() + 360_000),
    ]) {
      const response = await send(webhook, body, headers)
      assert.equal(response.status, 401)
      assert.equal(response.body.error.code, 'UNAUTHORIZED')
      texts.add(response.text)
    }
    assert.equal(texts.size, 1, 'the responses are equal')
    assert.deepEqual(await eventsOf(app, owner, webhook), [])
  })

  test('an event for a missing, malformed, disabled or deleted webhook is NOT_FOUND, with or without a valid signature', async () => {
    const webhook = await createWebhook(app, owner)
    await app.call('PATCH', `/api/v1/webhooks/${webhook.id}`, { as: owner, json: { status: 'disabled' } })
    const texts = new Set<string>()
    for (const id of [webhook.id, '01890000-0000-7000-8000-000000000000', 'x', '%ff']) {
      for (const headers of [signed(webhook.secret, '{}'), {}]) {
        const response = await app.call('POST', `/api/v1/webhooks/receive/${id}`, { body: '{}', headers })
        assert.equal(response.status, 404, id)
        texts.add(response.text)
      }
    }
    assert.equal(texts.size, 1)
    assert.deepEqual(await eventsOf(app, owner, webhook), [])
  })

  test('records any body up to 1 MB', async () => {
    const webhook = await createWebhook(app, owner)
    const bodies: [string | Buffer, unknown, string][] = [
      ['', null, 'unknown'],
      ['[1,2]', [1, 2], 'unknown'],
      ['"text"', 'text', 'unknown'],
      ['null', null, 'unknown'],
      ['not JSON', 'not JSON', 'unknown'],
      ['{"type":7}', { type: 7 }, '7'],
      ['{"type":{"a":1},"event":"Made"}', { type: { a: 1 }, event: 'Made' }, 'made'],
      ['{"type":"a\\u0000b"}', '{"type":"a\\u0000b"}', 'a\uFFFDb'],
      ['{"type":"\\ud800"}', '{"type":"\\ud800"}', '\uFFFD'],
      [`{"type":"${'x'.repeat(300)}"}`, { type: 'x'.repeat(300) }, 'x'.repeat(255)],
      [Buffer.from([0x7b, 0xff, 0x7d]), '{\uFFFD}', 'unknown'],
      ['['.repeat(10_000), '['.repeat(10_000), 'unknown'],
      ['['.repeat(200) + ']'.repeat(200), '['.repeat(200) + ']'.repeat(200), 'unknown'],
    ]
    for (const [body, payload, type] of bodies) {
      const { 'content-type': _, ...headers } = signed(webhook.secret, body)
      const response = await send(webhook, body, headers)
      assert.equal(response.status, 200, response.text)
      const event = await read(app, owner, `/${webhook.id}/events/${response.body.data.eventId}`)
      assert.deepEqual(event.payload, payload)
      assert.equal(event.type, type)
      assert.equal(event.sizeBytes, Buffer.from(body).length)
    }
  })

  test('accepts a body of exactly 1 MB, and rejects one byte more with BAD_REQUEST', async () => {
    const webhook = await createWebhook(app, owner)
    const body = JSON.stringify({ type: 'large', text: 'x'.repeat(1_048_576 - 26) })
    assert.equal(body.length, 1_048_576)
    const eventId = await accept(app, webhook, body)
    const response = await deliver(app, webhook, `${body} `)
    assert.equal(response.status, 400)
    assert.equal(response.body.error.code, 'BAD_REQUEST')
    const [listed, ...others] = await eventsOf(app, owner, webhook)
    assert.equal(others.length, 0)
    assert.equal(listed.payload, null, 'lists leave out what is large')
    assert.equal((await read(app, owner, `/${webhook.id}/events/${eventId}`)).payload.type, 'large')
  })

  test('verifies the bytes of a body of any content type', async () => {
    const webhook = await createWebhook(app, owner)
    const body = 'type=Form.Sent&a=1&b=%C3%A9'
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/xml; charset=latin1',
      'application/json',
      'x/y',
      'foo',
      'a b/c',
    ]) {
      const response = await send(webhook, body, { ...signed(webhook.secret, body), 'content-type': type })
      assert.equal(response.status, 200, type)
    }
    const types = (await eventsOf(app, owner, webhook)).map(({ type }: { type: string }) => type)
    assert.deepEqual(types, ['unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'form.sent'])
    const unsigned = await app.call('POST', webhook.receivePath, { body, headers: { 'content-type': 'foo' } })
    assert.equal(unsigned.status, 401)
    const [event] = await eventsOf(app, owner, webhook)
    assert.equal(event.headers['content-type'], 'a b/c')
  })

  test('receiving an event needs no API key, and ignores an API key and an Idempotency-Key', async () => {
    const webhook = await createWebhook(app, owner)
    const headers = { authorization: 'Bearer nonsense', 'idempotency-key': 'same' }
    const first = await deliver(app, webhook, { type: 'a' }, { headers })
    const second = await deliver(app, webhook, { type: 'a' }, { headers })
    assert.notEqual(first.body.data.eventId, second.body.data.eventId)
  })
})

describe('the allowlist', () => {
  test('the allowlist matches exact types and prefixes, and other events are recorded as filtered', async () => {
    const webhook = await createWebhook(app, owner, { events: ['Order.Created', 'invoice.*'] })
    for (const type of ['order.created', 'ORDER.CREATED', 'order.created.late', 'invoice.paid', 'invoice', 'refund']) {
      await accept(app, webhook, { type })
    }
    const events = (await eventsOf(app, owner, webhook)).toReversed()
    assert.deepEqual(
      events.map(({ type, status }: { type: string; status: string }) => [type, status]),
      [
        ['order.created', 'recorded'],
        ['order.created', 'recorded'],
        ['order.created.late', 'filtered'],
        ['invoice.paid', 'recorded'],
        ['invoice', 'filtered'],
        ['refund', 'filtered'],
      ],
    )
  })
})

describe('duplicates', () => {
  test('a repeated id is recorded once, and the response names the first event', async () => {
    const webhook = await createWebhook(app, owner)
    const other = await createWebhook(app, owner)
    const eventId = await accept(app, webhook, { type: 'a' }, 'msg_same')
    for (const payload of [{ type: 'a' }, { type: 'b' }]) {
      const response = await deliver(app, webhook, payload, { id: 'msg_same' })
      assert.deepEqual(response.body.data, { received: true, eventId, duplicate: true })
    }
    assert.equal((await deliver(app, other, { type: 'a' }, { id: 'msg_same' })).body.data.duplicate, false)
    assert.equal((await eventsOf(app, owner, webhook)).length, 1)
  })

  test('an id that arrives ten thousand times at once at two processes is recorded once', async () => {
    const webhook = await createWebhook(app, owner)
    const other = await app.secondServer({}, { work: false })
    const body = JSON.stringify({ type: 'storm' })
    const pools = [app, other].map(({ url }) => new Pool(url, { connections: 50 }))
    const seen = new Set<string>()
    let firsts = 0
    const ask = async (pool: Pool, headers: ReturnType<typeof signed>) => {
      const response = await pool.request({ method: 'POST', path: webhook.receivePath, body, headers })
      const { data } = (await response.body.json()) as { data: { eventId: string; duplicate: boolean } }
      assert.equal(response.statusCode, 200)
      seen.add(data.eventId)
      if (!data.duplicate) firsts += 1
    }
    for (let round = 0; round < 10; round++) {
      // Signed again, because a signature is valid for five minutes, which all requests exceed on a busy machine.
      const headers = signed(webhook.secret, body, 'msg_storm')
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask(pools[n % 2]!, headers)))
    }
    await Promise.all(pools.map((pool) => pool.close()))
    assert.equal(seen.size, 1)
    assert.equal(firsts, 1)
    assert.equal((await eventsOf(app, owner, webhook)).length, 1)
  })

  test('numeric ids of any size stay distinct', async () => {
    const webhook = await createWebhook(app, owner, { source: 'telegram' })
    const headers = { 'x-telegram-bot-api-secret-token': webhook.secret }
    const ids = ['9007199254740992', '9007199254740993', '9007199254740993', '123456789012345678901234567890']
    const responses = []
    for (const id of ids) responses.push(await send(webhook, `{"update_id": ${id}, "n": 1e400}`, headers))
    assert.deepEqual(
      responses.map(({ body }) => body.data.duplicate),
      [false, false, true, false],
    )
    const [last] = await eventsOf(app, owner, webhook)
    assert.equal(last.externalId, ids[3])
  })

  test('ids of any length stay distinct', async () => {
    const webhook = await createWebhook(app, owner)
    const long = 'x'.repeat(2_000)
    assert.equal((await deliver(app, webhook, {}, { id: `${long}a` })).body.data.duplicate, false)
    assert.equal((await deliver(app, webhook, {}, { id: `${long}b` })).body.data.duplicate, false)
    assert.equal((await deliver(app, webhook, {}, { id: `${long}a` })).body.data.duplicate, true)
  })
})

const stamp = () => Math.floor(Date.now() / 1_000)
const pair = generateKeyPairSync('ed25519')
const publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')

interface Native {
  /** Additional fields for creating the webhook. */
  given?: object
  type: string
  id: string | null
  body: (n: number) => string
  headers: (webhook: MadeWebhook, body: string, n: number) => Record<string, string>
  /** The same body with another id is a duplicate. */
  sameBody?: boolean
}

const natives: Record<string, Native> = {
  github: {
    type: 'push',
    id: 'delivery-1',
    body: (n) => `{"ref":"refs/heads/main","n":${n}}`,
    headers: ({ secret }, body, n) => ({
      'x-hub-signature-256': `sha256=${hex(secret, body)}`,
      'x-github-event': 'Push',
      'x-github-delivery': `delivery-${n}`,
    }),
    sameBody: true,
  },
  gitlab: {
    given: { secret: 'gitlab-token' },
    type: 'push hook',
    id: 'uuid-1',
    body: (n) => `{"object_kind":"push","n":${n}}`,
    headers: ({ secret }, _body, n) => ({
      'x-gitlab-token': secret,
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-event-uuid': `uuid-${n}`,
    }),
    sameBody: true,
  },
  jira: {
    type: 'unknown',
    id: 'jira-1',
    body: (n) => `{"webhookEvent":"jira:issue_created","n":${n}}`,
    headers: ({ secret }, body, n) => ({
      'x-hub-signature': `sha256=${hex(secret, body)}`,
      'x-atlassian-webhook-identifier': `jira-${n}`,
    }),
    sameBody: true,
  },
  stripe: {
    given: { secret: 'whsec_issued-by-stripe' },
    type: 'invoice.paid',
    id: 'evt_1',
    body: (n) => `{"id":"evt_${n}","type":"invoice.paid"}`,
    headers: ({ secret }, body) => ({ 'stripe-signature': `t=${stamp()},v1=${hex(secret, `${stamp()}.`, body)}` }),
  },
  slack: {
    given: { secret: '8f742231b10e8888abcd99yyyzzz85a5' },
    type: 'event_callback',
    id: 'Ev1',
    body: (n) => `{"type":"event_callback","event_id":"Ev${n}","event":{"type":"message"}}`,
    headers: ({ secret }, body) => ({
      'x-slack-request-timestamp': String(stamp()),
      'x-slack-signature': `v0=${hex(secret, `v0:${stamp()}:`, body)}`,
    }),
  },
  linear: {
    given: { secret: 'lin_wh_secret' },
    type: 'issue',
    id: 'linear-1',
    body: (n) => `{"type":"Issue","action":"create","n":${n},"webhookTimestamp":${Date.now()}}`,
    headers: ({ secret }, body, n) => ({ 'linear-signature': hex(secret, body), 'linear-delivery': `linear-${n}` }),
    sameBody: true,
  },
  shopify: {
    given: { secret: 'shopify-secret' },
    type: 'orders/create',
    id: 'shopify-1',
    body: (n) => `{"order":${n}}`,
    headers: ({ secret }, body, n) => ({
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
      'x-shopify-topic': 'orders/create',
      'x-shopify-webhook-id': `shopify-${n}`,
    }),
    sameBody: true,
  },
  telegram: {
    type: 'unknown',
    id: '1',
    body: (n) => `{"update_id":${n},"message":{"text":"hi"}}`,
    headers: ({ secret }) => ({ 'x-telegram-bot-api-secret-token': secret }),
  },
  twilio: {
    given: { secret: 'twilio-auth-token' },
    type: 'unknown',
    id: 'SM1:received',
    body: (n) => `Body=Hi&MessageSid=SM${n}&SmsStatus=received`,
    headers: ({ secret, receivePath }, body) => {
      const params = [...new URLSearchParams(body)].toSorted(([a], [b]) => (a < b ? -1 : 1)).flat()
      const signed = app.url + receivePath + params.join('')
      return {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': createHmac('sha1', secret).update(signed).digest('base64'),
      }
    },
  },
  discord: {
    given: { publicKey },
    type: '2',
    id: 'interaction-1',
    body: (n) => `{"id":"interaction-${n}","type":2,"application_id":"1"}`,
    headers: (_webhook, body) => ({
      'x-signature-timestamp': String(stamp()),
      'x-signature-ed25519': sign(null, Buffer.from(`${stamp()}${body}`), pair.privateKey).toString('hex'),
    }),
  },
  hmac: {
    given: { secret: 'my-own-secret' },
    type: 'made',
    id: null,
    body: (n) => `{"event":"Made","n":${n}}`,
    headers: ({ secret }, body) => ({ 'x-signature-256': `sha256=${hex(secret, body)}` }),
  },
  token: {
    given: { secret: 'my-own-token' },
    type: 'made',
    id: null,
    body: (n) => `{"event":"Made","n":${n}}`,
    headers: ({ secret }) => ({ 'x-webhook-token': secret }),
  },
}

for (const [source, native] of Object.entries(natives)) {
  describe(`the source ${source}`, () => {
    test(`the source ${source} verifies its native scheme and reads the type and the id`, async () => {
      const webhook = await createWebhook(app, owner, { source: source.toUpperCase(), ...native.given })
      const body = native.body(1)
      const response = await send(webhook, body, native.headers(webhook, body, 1))
      assert.equal(response.status, 200, response.text)
      const [event] = await eventsOf(app, owner, webhook)
      assert.equal(event.type, native.type)
      assert.equal(event.externalId, native.id)
      assert.ok(!JSON.stringify(event.headers).includes(webhook.secret))
      const again = await send(webhook, body, native.headers(webhook, body, 1))
      assert.equal(again.body.data.duplicate, native.id !== null)
      const renamed = await send(webhook, body, native.headers(webhook, body, 2))
      if (native.sameBody) assert.deepEqual(renamed.body.data, { received: true, eventId: event.id, duplicate: true })
      const next = native.body(3)
      assert.equal((await send(webhook, next, native.headers(webhook, next, 3))).body.data.duplicate, false)
    })

    test(`the source ${source} never responds with 5xx to a signed body`, async () => {
      const webhook = await createWebhook(app, owner, { source, ...native.given })
      const check = async (body: string): Promise<void> => {
        const response = await send(webhook, body, native.headers(webhook, body, 1))
        assert.ok(response.status < 500, `${response.status} ${response.text} for ${body.slice(0, 500)}`)
      }
      for (const body of fixedBodies) await check(body)
      await fc.assert(fc.asyncProperty(malformedBody, check), { numRuns: 60 })
      await eventsOf(app, owner, webhook)
      const genuine = native.body(9)
      assert.equal((await send(webhook, genuine, native.headers(webhook, genuine, 9))).status, 200)
    })

    test(`the source ${source} rejects other schemes, other secrets and altered headers`, async () => {
      const webhook = await createWebhook(app, owner, { source, ...native.given })
      const body = native.body(1)
      assert.equal((await send(webhook, body, {})).status, 401)
      const right = native.headers(webhook, body, 1)
      for (const [name, value] of Object.entries(right)) {
        if (/content-type|event|delivery|topic|webhook-id|identifier/.test(name)) continue
        const headers = { ...right, [name]: `${value}0` }
        assert.equal((await send(webhook, body, headers)).status, 401, name)
      }
      const other = { ...webhook, secret: 'another-secret' }
      if (source !== 'discord') assert.equal((await send(webhook, body, native.headers(other, body, 1))).status, 401)
      const standard = await createWebhook(app, owner)
      assert.equal((await send(webhook, body, signed(standard.secret, body))).status, 401)
      assert.deepEqual(await eventsOf(app, owner, webhook), [])
    })
  })
}

describe('a signing token of GitLab', () => {
  test('a GitLab signing token signs the id, so the same body with another id is another event', async () => {
    const webhook = await createWebhook(app, owner, { source: 'gitlab' })
    const body = '{"object_kind":"push"}'
    const byId = (id: string) => send(webhook, body, signed(webhook.secret, body, id))
    const responses = [await byId('push-1'), await byId('push-2'), await byId('push-3'), await byId('push-1')]
    assert.deepEqual(
      responses.map(({ body }) => body.data.duplicate),
      [false, false, false, true],
    )
    assert.equal((await eventsOf(app, owner, webhook)).length, 3)
  })

  test('a GitLab signing token that is sent as the secret token does not sign the id', async () => {
    const webhook = await createWebhook(app, owner, { source: 'gitlab' })
    const byToken = (id: string) =>
      send(webhook, '{}', { ...signed('whsec_' + 'A'.repeat(32), '{}', id), 'x-gitlab-token': webhook.secret })
    assert.equal((await byToken('push-1')).body.data.duplicate, false)
    assert.equal((await byToken('push-2')).body.data.duplicate, true)
  })
})

describe('the header names of Svix', () => {
  const svixHeaders = ({ secret }: MadeWebhook, id: string, body: string): Record<string, string> => {
    const now = new Date()
    const signature = new SvixWebhook(secret).sign(id, now, body)
    return { 'svix-id': id, 'svix-timestamp': String(Math.floor(now.getTime() / 1_000)), 'svix-signature': signature }
  }

  test('are accepted, and the signed svix-id recognizes a repeated request', async () => {
    const webhook = await createWebhook(app, owner)
    const body = '{"type":"user.created"}'
    const first = await send(webhook, body, svixHeaders(webhook, 'msg_1', body))
    assert.equal(first.status, 200, first.text)
    // An unsigned webhook-id must not turn a replayed request into a new event.
    const replayed = { ...svixHeaders(webhook, 'msg_1', body), 'webhook-id': 'msg_2' }
    const second = await send(webhook, body, replayed)
    assert.deepEqual(second.body.data, { received: true, eventId: first.body.data.eventId, duplicate: true })
    const [event] = await eventsOf(app, owner, webhook)
    assert.equal(event.externalId, 'msg_1')
    assert.equal(event.headers['svix-id'], 'msg_1')
    assert.equal(event.headers['svix-signature'], undefined)
  })

  test('are rejected in one request with those of Standard Webhooks that do not match', async () => {
    const webhook = await createWebhook(app, owner)
    const headers = { ...svixHeaders(webhook, 'msg_1', '{}'), 'webhook-signature': `v1,${'A'.repeat(43)}=` }
    assert.equal((await send(webhook, '{}', headers)).status, 401)
  })
})

describe('an unknown source', () => {
  test('an unknown source is verified by Standard Webhooks', async () => {
    const webhook = await createWebhook(app, owner, { source: '__proto__' })
    await accept(app, webhook, { type: 'a' })
    assert.equal((await send(webhook, '{}', {})).status, 401)
  })
})

describe('a handshake', () => {
  test('responds to the URL verification of Slack with its challenge after verification, and records no event', async () => {
    const { given, headers } = natives['slack']!
    const webhook = await createWebhook(app, owner, { source: 'slack', ...given })
    const body = '{"type":"url_verification","challenge":"abc","token":"x"}'
    const response = await send(webhook, body, headers(webhook, body, 1))
    assert.equal(response.status, 200)
    assert.deepEqual(response.body, { challenge: 'abc' })
    assert.equal((await send(webhook, body, {})).status, 401)
    assert.deepEqual(await eventsOf(app, owner, webhook), [])
  })

  test('responds to the PING of Discord after verification, and records no event', async () => {
    const { headers } = natives['discord']!
    const webhook = await createWebhook(app, owner, { source: 'discord', publicKey })
    const ping = '{"id":"1","application_id":"2","type":1}'
    assert.deepEqual((await send(webhook, ping, headers(webhook, ping, 1))).body, { type: 1 })
    const probe = '{"version":1,"application_id":"2","type":0}'
    const response = await send(webhook, probe, headers(webhook, probe, 1))
    assert.equal(response.status, 204)
    assert.equal(response.text, '')
    assert.equal((await send(webhook, ping, { ...headers(webhook, ping, 1), 'x-signature-ed25519': '00' })).status, 401)
    const event = '{"version":1,"application_id":"2","type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}'
    assert.equal((await send(webhook, event, headers(webhook, event, 1))).body.data.received, true)
    assert.equal((await eventsOf(app, owner, webhook)).length, 1)
  })
})

describe('the rate limit', () => {
  test('the rate limit applies to one webhook, counts duplicates, and cannot be used up by unverified requests', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_RECEIVE: '3' }, { work: false })
    const webhook = await createWebhook(app, owner)
    const other = await createWebhook(app, owner)
    for (let n = 0; n < 5; n++) {
      const { status } = await limited.call('POST', webhook.receivePath, { body: '{}' })
      // Unverified requests have a limit of their own.
      assert.equal(status, n < 3 ? 401 : 429)
    }
    const id = freshId()
    for (let n = 0; n < 3; n++) assert.equal((await deliver(limited, webhook, {}, { id })).status, 200)
    const response = await deliver(limited, webhook, {})
    assert.equal(response.status, 429)
    assert.equal(response.body.error.code, 'TOO_MANY_REQUESTS')
    assert.ok(Number(response.headers.get('retry-after')) > 0)
    assert.equal((await deliver(limited, other, {})).status, 200)
  })
})

describe('slow bodies', () => {
  /**
   * Sends most of a body of 1 MB and never the rest; resolves to the response when the server closes the connection.
   */
  const holdBack = async (path: string) => {
    const socket = await openSocket(app.url)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    socket.on('error', () => undefined)
    const response = new Promise<string>((resolve) => {
      socket.once('close', () => resolve(Buffer.concat(chunks).toString()))
    })
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n`)
    socket.write(Buffer.alloc(990_000, 'x'))
    return { socket, response }
  }

  test('the secret and the state of a webhook count when the body has arrived, however slowly', async () => {
    const webhook = await createWebhook(app, owner)
    const body = JSON.stringify({ type: 'a' })
    /** Sends the request without the end of its body. Resolves when the server has read the webhook. */
    const begin = async () => {
      const headers = { ...signed(webhook.secret, body, freshId()), Host: 'localhost', Connection: 'close' }
      const socket = await openSocket(app.url)
      const lines = Object.entries({ ...headers, 'Content-Length': String(body.length) })
      const response = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
      const head = [`POST ${webhook.receivePath} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)]
      socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
      await until('the body is awaited', () => app.app.bodyIntake.publicBytes() > 0)
      return async (): Promise<number> => {
        socket.write(body.slice(5))
        return Number((await response).split(' ')[1])
      }
    }
    assert.equal(await (await begin())(), 200)
    const first = await begin()
    assert.equal((await app.call('POST', `/api/v1/webhooks/${webhook.id}/rotate`, { as: owner, json: {} })).status, 200)
    assert.equal(await first(), 401)
    const second = await begin()
    assert.equal((await app.call('DELETE', `/api/v1/webhooks/${webhook.id}`, { as: owner })).status, 200)
    assert.equal(await second(), 404)
  })

  test('unverified bodies that arrive slowly use a limited part of the memory, and the provider still gets responses', async () => {
    const webhook = await createWebhook(app, owner)
    const slow = await Promise.all(Array.from({ length: 60 }, () => holdBack(webhook.receivePath)))
    let rejected = 0
    for (const { response } of slow)
      void response.then((text) => (rejected += text.includes('SERVICE_UNAVAILABLE') ? 1 : 0))
    // The limit is 16 MB per address; requests beyond it get a response and are closed.
    await until('the rest is rejected', () => rejected >= 40)
    const bytes = app.app.bodyIntake.publicBytes()
    assert.ok(bytes > 1_000_000 && bytes <= 16_777_216, `${bytes} bytes`)
    await until('the provider is served', async () => (await deliver(app, webhook, { type: 'a' })).status === 200)
    for (const { socket } of slow) socket.destroy()
    await until('nothing is counted any more', () => app.app.bodyIntake.publicBytes() === 0)
    assert.equal((await eventsOf(app, owner, webhook)).length, 1)
  })

  test('does not wait for the body of a request to a webhook that does not exist', async () => {
    const { response } = await holdBack(`/api/v1/webhooks/receive/${newId()}`)
    assert.match(await response, /^HTTP\/1\.1 404 /)
    assert.equal(app.app.bodyIntake.publicBytes(), 0)
  })
})
