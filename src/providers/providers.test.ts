import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../platform/http/errors.ts'
import type { ChatAdapter, Credentials, InboundRequest } from './provider.ts'
import { adapterOfSource, createChatAdapters, usesStandardWebhooks } from './providers.ts'

const adapters = createChatAdapters({ fetchDocument: () => Promise.reject(new Error('must not be called')) })

/** Field names and values of the providers, so that generated payloads cover more branches. */
const words = [
  'action',
  'actor',
  'application_id',
  'authorizations',
  'bot_id',
  'challenge',
  'channel',
  'channel_id',
  'chat',
  'comment',
  'data',
  'event',
  'event_id',
  'event_callback',
  'fields',
  'from',
  'id',
  'is_bot',
  'issue',
  'message',
  'message_id',
  'messageId',
  'name',
  'number',
  'object',
  'options',
  'organization',
  'payload',
  'pull_request',
  'repository',
  'response_url',
  'sender',
  'slash_command',
  'text',
  'thread_ts',
  'token',
  'trigger_id',
  'ts',
  'type',
  'update_id',
  'url_verification',
  'user',
  'value',
  'webhookEvent',
]
const word = fc.constantFrom(...words)
const leaf = fc.oneof(
  word,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.string(),
  fc.constant('1.000001'),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(word, tie('value'), { maxKeys: 8 }),
}))
const body = fc.dictionary(word, value, { maxKeys: 12 })
const headers = fc.dictionary(
  fc.constantFrom('x-github-event', 'x-github-delivery', 'linear-delivery', 'x-atlassian-webhook-identifier'),
  fc.string(),
)

const url = 'https://hooks.example.com/x'
const credentials: Credentials = { secret: 'secret' }

/** Does everything that is done with a verified request. An adapter may throw BAD_REQUEST and nothing else. */
const handle = (adapter: ChatAdapter, request: InboundRequest): void => {
  try {
    const payload = adapter.parse(request)
    if (adapter.isPing?.(request) === true || adapter.handshake?.(payload)) return
    if (adapter.isOf) assert.equal(typeof adapter.isOf(payload, 'account'), 'boolean')
    const id = adapter.eventId(payload, request)
    assert.ok(id === undefined || typeof id === 'string')
    assert.equal(typeof adapter.eventType(payload, request), 'string')
    const message = adapter.toMessage(payload, request, [])
    if (message) {
      for (const text of [message.chat, message.title, message.sender, message.text]) {
        assert.ok(typeof text === 'string' && text !== '', JSON.stringify(message))
      }
    }
    adapter.acknowledge?.(payload)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'BAD_REQUEST', String(error))
  }
}

for (const [provider, adapter] of adapters) {
  test(`the ${provider} adapter handles any verified JSON without an unexpected error`, () => {
    fc.assert(
      fc.property(body, headers, (json, given) => {
        handle(adapter, { body: Buffer.from(JSON.stringify(json)), headers: given, url, nowMs: 0 })
      }),
      { numRuns: 500 },
    )
  })

  test(`the ${provider} adapter handles any verified form and any verified bytes without an unexpected error`, () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.dictionary(word, fc.string()), (bytes, fields) => {
        const request = { headers: form, url, nowMs: 0 }
        handle(adapter, { ...request, body: Buffer.from(bytes) })
        handle(adapter, { ...request, headers: {}, body: Buffer.from(bytes) })
        handle(adapter, { ...request, body: Buffer.from(new URLSearchParams(fields).toString()) })
      }),
    )
  })

  test(`the ${provider} adapter rejects a request if no credentials are configured`, async () => {
    const request = { body: Buffer.from('{}'), headers: {}, url, nowMs: Date.now() }
    const verdict = await adapter.verify(request, { ...credentials, secret: '' })
    assert.equal(verdict.valid, false)
  })
}

/** Payloads of any JSON type, as webhooks parse them without checks: integers beyond 2^53 are bigints. */
const anyPayload = fc.oneof(value, fc.constant(undefined), fc.bigInt())

for (const source of [
  'custom',
  'GitHub',
  'gitlab',
  'jira',
  'stripe',
  'slack',
  'linear',
  'shopify',
  'telegram',
  'twilio',
  'discord',
  'hmac',
  'token',
]) {
  test(`the adapter of the webhook source ${source} reads the id and the handshake of any payload`, () => {
    const { eventId, handshake } = adapterOfSource(source)
    fc.assert(
      fc.property(anyPayload, headers, (payload, given) => {
        const id = eventId(payload, { body: Buffer.alloc(0), headers: given, url, nowMs: 0 })
        assert.ok(id === undefined || typeof id === 'string')
        const response = handshake?.(payload)
        assert.ok(response === undefined || response.status === 200 || response.status === 204)
      }),
      { numRuns: 300 },
    )
  })
}

test('an unknown webhook source uses Standard Webhooks', () => {
  for (const source of ['custom', 'gmail', 'constructor', '']) assert.equal(usesStandardWebhooks(source), true, source)
  for (const source of ['github', 'GitHub', 'hmac']) assert.equal(usesStandardWebhooks(source), false, source)
})

const request: InboundRequest = { body: Buffer.alloc(0), headers: {}, url, nowMs: 0 }

test('events without the usual id are identified by another one of the provider', () => {
  const idOf = (source: string, payload: object) => adapterOfSource(source).eventId(payload, request)
  const adapters = createChatAdapters({ fetchDocument: () => Promise.reject(new Error('not used')) })
  const connectorIdOf = (provider: string, payload: object) => adapters.get(provider)?.eventId(payload, request)
  assert.equal(idOf('slack', { type: 'slash_command', trigger_id: 't1' }), 't1')
  const data = { id: 'i1', updatedAt: '2026-11-22T00:00:00.000Z' }
  const version = 'issue.update:i1:2026-11-22T00:00:00.000Z'
  assert.equal(connectorIdOf('linear', { type: 'Issue', action: 'update', data }), version)
  // A webhook stores what a relay sends: two changes of one version are two events.
  assert.equal(idOf('linear', { type: 'Issue', action: 'update', data }), undefined)
  assert.equal(connectorIdOf('twilio', { Sid: 'RE1' }), 'RE1')
  assert.equal(idOf('twilio', { Sid: 'RE1' }), undefined)
  assert.equal(idOf('twilio', { SmsSid: 'SM1', SmsStatus: 'received' }), 'SM1:received')
  assert.equal(idOf('telegram', { update_id: 9_007_199_254_740_993n }), '9007199254740993')
})

test('the providers that fetch links in messages are asked not to, for every part of a reply', () => {
  const withoutPreviews: [string, object[], object][] = [
    ['slack', [{ channel: 'C1' }, { url: 'https://hooks.slack.com/x' }], { unfurl_links: false, unfurl_media: false }],
    ['telegram', [{ chat: 7 }], { link_preview_options: { is_disabled: true } }],
    ['discord', [{ application: '1', token: 't' }], { flags: 4 }],
  ]
  for (const [provider, places, expected] of withoutPreviews) {
    for (const replyTo of places) {
      for (const part of [0, 1]) {
        const sent = adapters
          .get(provider)
          ?.reply?.request({ text: 'https://example.com/?x', part, replyTo: { ...replyTo } })
        assert.partialDeepStrictEqual(sent, { json: expected }, provider)
      }
    }
  }
})

test('only the pings of Discord are handshakes', () => {
  const handshakeOf = (payload: unknown) => adapterOfSource('discord').handshake?.(payload)
  assert.deepEqual(handshakeOf({ type: 1, id: '1', token: 't' })?.body, '{"type":1}')
  assert.equal(handshakeOf({ type: 0 })?.status, 204)
  for (const payload of [{ type: 1, event: { type: 'x' } }, { type: 2 }, { type: null }, { type: '' }, {}, null, []]) {
    assert.equal(handshakeOf(payload), undefined, JSON.stringify(payload))
  }
})
