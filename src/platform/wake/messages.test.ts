import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeHints, encodeHints } from './messages.ts'

test('hints that exceed one notification of PostgreSQL are sent in several', () => {
  const hints = Array.from({ length: 1_000 }, (_, i) => `${crypto.randomUUID()}/${crypto.randomUUID()}${i}`)
  const payloads = encodeHints('sender', hints)
  assert.ok(payloads.length > 1)
  assert.ok(payloads.every((payload) => Buffer.byteLength(payload) < 8_000))
  const decoded = payloads.map((payload) => decodeHints(payload))
  assert.ok(decoded.every((message) => message?.sender === 'sender'))
  assert.deepEqual(
    decoded.flatMap((message) => message?.hints ?? []),
    hints,
  )
})

test('anything but an array of short strings is ignored', () => {
  const payloads = ['', 'x', 'null', '{}', '[]', '[1,2]', '["a",null]', '["a",["b"]]', `["a","${'x'.repeat(201)}"]`]
  for (const payload of payloads) assert.equal(decodeHints(payload), undefined, payload)
  assert.equal(decodeHints(JSON.stringify(Array.from({ length: 2_001 }, () => 'x'))), undefined)
})
