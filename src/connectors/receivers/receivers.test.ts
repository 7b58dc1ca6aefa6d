import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../platform/http/errors.ts'
import type { Credential, Inbound, Receiver } from './receiver.ts'
import { createReceivers } from './receivers.ts'

const receivers = createReceivers({ fetchDocument: () => Promise.reject(new Error('nobody is asked')) })

/** Words that providers use, so that what is made up looks a little like theirs. */
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

const credential: Credential = { url: 'https://hooks.example.com/x', secret: 'secret', settings: {} }

/** Everything that is done with a verified request; what it may answer is checked, and BAD_REQUEST is all it may throw. */
const handle = (receiver: Receiver, inbound: Inbound): void => {
  try {
    const payload = receiver.parse(inbound)
    if (receiver.handshake?.(payload, inbound)) return
    const id = receiver.eventId(payload, inbound)
    assert.ok(id === undefined || typeof id === 'string')
    assert.equal(typeof receiver.eventType(payload, inbound), 'string')
    const message = receiver.normalise(payload, inbound, credential)
    if (message) {
      for (const text of [message.chat, message.title, message.sender, message.text]) {
        assert.ok(typeof text === 'string' && text !== '', JSON.stringify(message))
      }
    }
    receiver.acknowledge?.(payload)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'BAD_REQUEST', String(error))
  }
}

for (const [provider, receiver] of receivers) {
  describe(provider, () => {
    test('takes any JSON that is signed without failing', () => {
      fc.assert(
        fc.property(body, headers, (json, given) => {
          handle(receiver, { body: Buffer.from(JSON.stringify(json)), headers: given, url: credential.url, nowMs: 0 })
        }),
        { numRuns: 500 },
      )
    })

    test('takes any form and any bytes that are signed without failing', () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), fc.dictionary(word, fc.string()), (bytes, fields) => {
          const inbound = { headers: form, url: credential.url, nowMs: 0 }
          handle(receiver, { ...inbound, body: Buffer.from(bytes) })
          handle(receiver, { ...inbound, headers: {}, body: Buffer.from(bytes) })
          handle(receiver, { ...inbound, body: Buffer.from(new URLSearchParams(fields).toString()) })
        }),
      )
    })

    test('is not genuine without what it is verified by', async () => {
      const inbound = { body: Buffer.from('{}'), headers: {}, url: credential.url, nowMs: Date.now() }
      const verdict = await receiver.verify(inbound, { ...credential, secret: '' })
      assert.equal(verdict.valid, false)
    })
  })
}
