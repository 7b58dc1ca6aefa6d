// After `kill -9` of a worker, clients of other protocols see a pause in one response.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { getTurn } from '../support/chat.ts'
import { startTestApp } from '../harness.ts'
import type { Options } from './turns-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const app = await startTestApp({}, { work: false })

const startWorker = async (plan: Pick<Options, 'dieAt' | 'nth'> = {}): Promise<ChildProcess> => {
  const { connection, config } = app
  const options = { connection, dataDir: config.dataDir, callsFile: join(config.dataDir, 'calls'), ...plan }
  const child = fork(new URL('turns-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  await once(child, 'message')
  return child
}

test('completes an OpenAI stream and an MCP call with another worker after their worker was killed mid-stream', async () => {
  const owner = await app.createOrg()
  const openAi = new OpenAI({ apiKey: owner.key, baseURL: `${app.url}/api/openai/v1` })
  const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${owner.key}` } }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit }))

  const dying = await startWorker({ dieAt: 'mid-stream', nth: 12 })
  const died = once(dying, 'exit')
  const streaming = (async () => {
    const messages = [{ role: 'user' as const, content: '/slow 2000\nOne' }]
    const stream = await openAi.chat.completions.create({ model: 'agent/assistant', messages, stream: true })
    let text = ''
    let turnId = ''
    let finish: string | null | undefined
    for await (const { id, choices } of stream) {
      turnId = id.replace('chatcmpl-', '')
      text += choices[0]?.delta.content ?? ''
      finish = choices[0]?.finish_reason
    }
    return { text, turnId, finish }
  })()
  const asking = mcp.callTool({ name: 'agents_ask', arguments: { text: '/slow 2000\nTwo' } }, { timeout: 120_000 })
  await died
  await startWorker()

  const { text, turnId, finish } = await streaming
  assert.equal(finish, 'stop')
  const turn = await getTurn(app, owner, turnId)
  assert.equal(turn.status, 'completed')
  assert.equal(turn.attempts, 2)
  // The text before the crash is not repeated.
  assert.match(text, /^You wrote: “One”[^]*provider\.$/)
  assert.equal(text.split('You wrote').length, 2)
  const { structuredContent, isError } = await asking
  assert.equal(isError, false)
  assert.match((structuredContent as { reply: string }).reply, /^You wrote: “Two”[^]*provider\.$/)
  const { items } = (await app.call('GET', '/api/v1/sessions', { as: owner })).body.data
  assert.deepEqual(
    items.map(({ messageCount }: { messageCount: number }) => messageCount),
    [2, 2],
  )
  await mcp.close()
})
