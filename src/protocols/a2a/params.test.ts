import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { createAgent } from '../../../test/support/chat.ts'

const app = await startTestApp()
const owner = await app.createOrg()
await createAgent(app, owner, { name: 'Helper' })

const message = (part: unknown, more: object = {}) => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts: [part], ...more },
})
const file = (fields: object) => ({ kind: 'file', file: { bytes: 'eA==', ...fields } })

const mistakes: [method: string, params: unknown, where: RegExp][] = [
  ['message/send', message(file({ name: 5 })), /^params\.message\.parts\[0\]\.file\.name must be a text/],
  ['message/send', message(file({ mimeType: {} })), /parts\[0\]\.file\.mimeType must be a text/],
  ['message/send', message(file({ bytes: '!!!' })), /parts\[0\]\.file\.bytes must be base64/],
  ['message/stream', message({ kind: 'text', text: { toString: 1 } }), /parts\[0\]\.text must be a text/],
  ['message/send', message({ kind: 'text', text: 5 }), /parts\[0\]\.text must be a text/],
  ['message/send', message(null), /parts\[0\] must be an object/],
  ['message/send', message({ text: 'a' }, { parts: 'x' }), /parts must be a list/],
  ['message/send', { ...message({ kind: 'text', text: 'a' }), configuration: 5 }, /configuration must be an object/],
  ['message/send', { ...message({ kind: 'text', text: 'a' }), configuration: { blocking: 'x' } }, /blocking must be/],
  ['message/send', { ...message({ kind: 'text', text: 'a' }), configuration: { historyLength: -1 } }, /historyLength/],
  ['SendMessage', message({ raw: '!!' }), /parts\[0\]\.raw must be base64/],
  ['SendMessage', message({ text: 'a', url: 'https://example.com' }), /parts\[0\] must have one content/],
  ['tasks/get', { id: { toString: 1 } }, /^params\.id must be a text/],
  ['tasks/resubscribe', { id: 5 }, /^params\.id must be a text/],
  ['GetTask', { id: [], historyLength: 1.5 }, /^params\.id must be a text/],
  ['tasks/get', 'x', /^params must be an object/],
]

test('parameters of a wrong type are named, and nothing is created', async () => {
  for (const [method, params, where] of mistakes) {
    const headers = /^[A-Z]/.test(method) ? { 'a2a-version': '1.0' } : {}
    const json = { jsonrpc: '2.0', id: 1, method, params }
    const { status, body } = await app.call('POST', '/a2a/helper', { as: owner, json, headers })
    const { error } = body as unknown as { error: { code: number; message: string } }
    assert.deepEqual([status, error.code], [200, -32_602], method)
    assert.match(error.message, where)
  }
  assert.deepEqual((await app.call('GET', '/api/v1/sessions', { as: owner })).body.data.items, [])
  assert.deepEqual((await app.call('GET', '/api/v1/files', { as: owner })).body.data.items, [])
})
