import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'

// A bucket of one request refills in a minute.
const app = await startTestApp({ RATE_LIMIT_READS: '1', RATE_LIMIT_TURNS: '1' })

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })

type Send = (as: TestActor) => Promise<{ status: number; headers: Headers; text: string }>

const post =
  (path: string, json: unknown, headers: Record<string, string> = {}): Send =>
  (as) =>
    app.call('POST', path, { as, json, headers })
const postText =
  (path: string, body: string): Send =>
  (as) =>
    app.call('POST', path, { as, body, headers: { 'content-type': 'application/json' } })

const a2a = (json: unknown, headers: Record<string, string> = { 'a2a-version': '1.0' }) =>
  post('/a2a/assistant', json, headers)
const mcp = (json: unknown, headers: Record<string, string> = {}) => post('/mcp', json, headers)

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hi' }] }

const rejected: [what: string, send: Send][] = [
  ['A2A: an unknown agent', post('/a2a/nobody', rpc('GetTask', { id: 'x' }))],
  ['A2A: an unknown revision', a2a(rpc('GetTask', { id: 'x' }), { 'a2a-version': '7.0' })],
  ['A2A: an unknown method', a2a(rpc('Nothing', {}))],
  ['A2A: an unknown method of 0.3', a2a(rpc('nothing', {}), {})],
  ['A2A: a parameter of a wrong type', a2a(rpc('GetTask', { id: 5 }))],
  [
    'A2A: several authentication schemes',
    a2a(
      rpc('tasks/pushNotificationConfig/set', {
        pushNotificationConfig: { url: 'https://example.com', authentication: { schemes: ['a', 'b'] } },
      }),
      {},
    ),
  ],
  ['A2A: a list without a method', a2a([])],
  ['A2A: the extended card', a2a(rpc('GetExtendedAgentCard', {}))],
  ['A2A: a body that is not JSON', postText('/a2a/assistant', '{')],
  ['MCP: an unknown method', mcp(rpc('nothing', {}))],
  ['MCP: a body that is no message', mcp({})],
  ['MCP: a response', mcp({ jsonrpc: '2.0', id: 1, result: {} })],
  ['MCP: a tool call without a name', mcp(rpc('tools/call', {}))],
  ['MCP: a batch of garbage', mcp([{}, 5], { 'mcp-protocol-version': '2025-03-26' })],
  ['MCP: a batch that is too long', mcp(Array.from({ length: 21 }, () => ({})))],
  ['MCP: a body that is not JSON', postText('/mcp', '{')],
]

describe('a request that a protocol rejects', () => {
  for (const [what, send] of rejected) {
    test(`counts against the limit of reads (${what})`, async () => {
      const owner = await app.createOrg()
      const first = await send(owner)
      assert.notEqual(first.status, 429, first.text)
      assert.equal(first.headers.get('ratelimit'), '"reads";r=0;t=60', first.text)
      const second = await send(owner)
      assert.equal(second.status, 429, second.text)
      assert.ok(second.headers.get('retry-after'))
    })
  }

  test('counts against the limit of turns in the OpenAI protocol', async () => {
    for (const path of ['chat/completions', 'responses', 'embeddings']) {
      const owner = await app.createOrg()
      const send = postText(`/api/openai/v1/${path}`, '{')
      assert.equal((await send(owner)).status, 400)
      assert.equal((await send(owner)).status, 429)
    }
  })
})

test('a valid request of A2A or MCP counts against its own limit only, and once', async () => {
  const owner = await app.createOrg()
  const invalid = a2a(rpc('Nothing', {}))
  await invalid(owner)
  assert.equal((await invalid(owner)).status, 429)
  const sent = await a2a(rpc('SendMessage', { message }))(owner)
  assert.deepEqual([sent.status, sent.headers.get('ratelimit-policy')], [200, '"turns";q=1;w=60'], sent.text)
  const reader = await app.createOrg()
  const listed = await mcp(rpc('tools/list', {}))(reader)
  assert.deepEqual([listed.status, listed.headers.get('ratelimit')], [200, '"reads";r=0;t=60'], listed.text)
})
