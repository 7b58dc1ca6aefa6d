// What unhandled errors and blocking code end, and what they must not end. Runs real processes.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { createAgent, openSession, say, until, untilStatus } from '../support/chat.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import type { Options } from './stray-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const app = await startTestApp({}, { work: false })

const startWorker = async (plan: Pick<Options, 'watchdogSeconds' | 'breaks'> = {}) => {
  const options = { connection: app.connection, dataDir: app.config.dataDir, ...plan }
  const child = fork(new URL('stray-process.ts', import.meta.url), [JSON.stringify(options)], { silent: true })
  children.add(child)
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const exited = once(child, 'close') as Promise<[number | null, string | null]>
  void exited.then(() => children.delete(child))
  const [message] = (await once(child, 'message')) as [string]
  assert.equal(message, 'ready')
  return {
    child,
    exited,
    lines: () =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

const ask = async (text: string): Promise<{ owner: TestActor; turnId: string }> => {
  const owner = await app.createOrg()
  const allowedTools = ['test.reject', 'test.throw', 'test.freeze']
  await createAgent(app, owner, { name: 'Helper', allowedTools })
  const session = await openSession(app, owner, { agentId: 'helper' })
  const { body } = await say(app, owner, session.id, { text, background: true })
  return { owner, turnId: body.data.turn.id }
}

test('an unhandled rejection or exception in a tool fails that call only, and the process continues the turns of all orgs', async () => {
  const worker = await startWorker()
  for (const [tool, origin, message] of [
    ['test.reject', 'unhandledRejection', 'planted rejection'],
    ['test.throw', 'uncaughtException', 'planted exception'],
  ] as const) {
    const { owner, turnId } = await ask(`/tool ${tool} {}`)
    const turn = await untilStatus(app, owner, turnId, 'completed', 'failed')
    assert.equal(turn.status, 'completed')
    assert.deepEqual([turn.toolCalls[0].status, turn.toolCalls[0].output.error], ['failed', 'The tool failed.'])
    const line = worker.lines().find((one) => one['origin'] === origin)
    assert.ok(line)
    assert.deepEqual([line['unit'], line['unitId'], line['orgId']], ['tool', turnId, owner.orgId])
    assert.equal((line['err'] as { message: string }).message, message)
  }
  const { owner, turnId } = await ask('Hello')
  await untilStatus(app, owner, turnId, 'completed')
  worker.child.send('counts')
  const [counts] = (await once(worker.child, 'message')) as [unknown]
  assert.deepEqual(counts, { tool: 2 })
  assert.equal(worker.child.exitCode, null)
  worker.child.kill('SIGKILL')
  await worker.exited
})

test('an unhandled rejection outside of every unit of work is logged and does not end the process', async () => {
  const worker = await startWorker({ breaks: 'rejection' })
  await until(
    async () => worker.lines(),
    (lines) => lines.length > 0,
  )
  assert.deepEqual([worker.lines()[0]?.['unit'], worker.lines()[0]?.['origin']], ['unknown', 'unhandledRejection'])
  const { owner, turnId } = await ask('Hello')
  await untilStatus(app, owner, turnId, 'completed')
  worker.child.kill('SIGKILL')
  await worker.exited
})

test('an uncaught exception outside of every unit of work is logged and stops the process with exit code 70', async () => {
  const worker = await startWorker({ breaks: 'exception' })
  const [code] = await worker.exited
  assert.equal(code, 70)
  assert.deepEqual([worker.lines()[0]?.['unit'], worker.lines()[0]?.['origin']], ['unknown', 'uncaughtException'])
})

test('a worker whose event loop is blocked logs the turn and ends by SIGALRM, and the turn fails after the second time', async () => {
  const { owner, turnId } = await ask('/tool test.freeze {}')
  for (let death = 1; death <= 2; death++) {
    const worker = await startWorker({ watchdogSeconds: 2 })
    const [, signal] = await worker.exited
    assert.equal(signal, 'SIGALRM')
    const line = worker.lines().find(({ level }) => level === 'fatal')
    assert.equal(line?.['stalledSeconds'], 2)
    const units = line?.['units'] as { kind: string; id: string; orgId: string }[]
    assert.equal(units.length, line?.['unitCount'])
    for (const kind of ['turn', 'tool']) {
      assert.ok(units.some((unit) => unit.kind === kind && unit.id === turnId && unit.orgId === owner.orgId))
    }
  }
  // Longer, because nothing blocks this worker but a busy machine.
  const worker = await startWorker({ watchdogSeconds: 60 })
  const turn = await untilStatus(app, owner, turnId, 'failed', 'completed')
  assert.deepEqual([turn.status, turn.error.code], ['failed', 'worker_died'])
  assert.equal(worker.child.exitCode, null)
  worker.child.kill('SIGKILL')
  await worker.exited
})

test('a process that was suspended for longer than the watchdog allows goes on when it is resumed', async () => {
  const worker = await startWorker({ watchdogSeconds: 5 })
  worker.child.kill('SIGSTOP')
  // A fixed time is what this test is about: the watchdog must not count the time of a suspended process.
  await new Promise((resolve) => setTimeout(resolve, 7_000))
  worker.child.kill('SIGCONT')
  const { owner, turnId } = await ask('Hello')
  await untilStatus(app, owner, turnId, 'completed')
  assert.equal(worker.child.exitCode, null)
  worker.child.kill('SIGKILL')
  await worker.exited
})
