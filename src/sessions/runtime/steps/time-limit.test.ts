import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { Tool } from '../../../tool.ts'

const env = { TURN_LIMIT_SECONDS: '3' }
const app = await startTestApp(env, { work: false })
const tool = (name: string, run: Tool['run']): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  isReadOnly: true,
  readsUntrusted: true,
  permission: 'files:read',
  run,
})
const tools = [
  tool('test.read', () => Promise.resolve({ page: 'found' })),
  tool('test.wait', () => new Promise(() => undefined)),
]
const { toolbox } = app.deps
await app.secondServer(env, { replace: { toolbox: { ...toolbox, offered: () => Promise.resolve(tools) } } })

test('a turn that reaches its time limit during a tool call stores the results of parallel calls and marks them as untrusted', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper' })
  const session = await openSession(app, owner, { agentId: 'helper' })
  const { turn } = await ask(app, owner, session.id, { text: '/tool test.read {}\n/tool test.wait {}' })
  assert.deepEqual([turn.status, turn.stopReason], ['incomplete', 'max_time'])
  assert.deepEqual(
    turn.toolCalls.map(({ status }: { status: string }) => status),
    ['done', 'unknown'],
  )
  assert.deepEqual(turn.toolCalls[0].output, { page: 'found' })
  assert.equal(turn.untrustedFrom, 'test.read')
})
