// A turn that kills its workers must not kill one after another. Runs real processes.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openSession, say, untilStatus } from '../support/chat.ts'
import { startTestApp } from '../harness.ts'
import type { Options } from './turns-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const app = await startTestApp({}, { work: false })
const callsFile = join(app.config.dataDir, 'model-calls')

const startWorker = async (plan: Pick<Options, 'dieAt'>): Promise<ChildProcess> => {
  const options = { connection: app.connection, dataDir: app.config.dataDir, callsFile, ...plan }
  const child = fork(new URL('turns-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  await once(child, 'message')
  return child
}

test('a turn that killed two workers fails with worker_died, is charged for its model calls, and its session goes on', async () => {
  const owner = await app.createOrg()
  const session = await openSession(app, owner, {})
  const { body } = await say(app, owner, session.id, { text: 'Hello', background: true })
  const turnId: string = body.data.turn.id
  for (let death = 1; death <= 2; death++) {
    const worker = await startWorker({ dieAt: 'before-model-call' })
    const [, signal] = (await once(worker, 'exit', { signal: AbortSignal.timeout(60_000) })) as [unknown, string]
    assert.equal(signal, 'SIGKILL')
  }
  await startWorker({})
  const turn = await untilStatus(app, owner, turnId, 'failed', 'completed')
  assert.deepEqual([turn.status, turn.error.code], ['failed', 'worker_died'])
  const calls = (await readFile(callsFile, 'utf8')).split('\n').filter((line) => line === turnId).length
  assert.equal(calls, 2, 'the third worker calls no model for it')
  assert.deepEqual(
    turn.steps.map(({ status }: { status: string }) => status),
    ['lost', 'lost'],
  )
  const { items } = (await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })).body.data
  assert.deepEqual(
    items.map(({ role }: { role: string }) => role),
    ['assistant', 'user'],
    'one reply, which states the reason',
  )
  const next = await say(app, owner, session.id, { text: 'Still there?' })
  assert.equal(next.body.data.turn.status, 'completed')
})
