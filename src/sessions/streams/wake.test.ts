import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { createRedis, hasRedis } from '../../../test/fakes/redis.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { ask, createAgent, openSession, say, sayWithHeaders, streamEventsOf } from '../../../test/support/chat.ts'
import { until } from '../../../test/support/until.ts'
import { accept, createWebhook, openLoopback } from '../../../test/support/webhooks.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { createLog } from '../../platform/process/log.ts'
import { createNotifyTransport } from '../../platform/wake/notify-transport.ts'
import { createWakeups } from '../../platform/wake/wakeups.ts'
import { createRecent } from './recent.ts'
import { createTurnNotifier } from './turn-notifier.ts'
import type { TurnNotifier } from './turn-notifier.ts'
import { createTurnStreams } from './turn-streams.ts'

const fake = await startFakeModel()
// Any value: the connection is that of the test, and the variable tells that other processes can share it.
const env = { ...fake.env, ...openLoopback, DATABASE_URL: 'postgres://localhost/shared' }
const worker = await startTestApp(env)
worker.deps.wakeups.start()
const log = createLog('silent')

/** What a process without a worker has: its notifier never hears lines except through wake-ups. */
const openProcess = () => {
  const wakeups = createWakeups({ transport: createNotifyTransport(worker.connection), log })
  const notifier = createTurnNotifier(wakeups)
  wakeups.start()
  after(() => wakeups.close())
  return { wakeups, notifier }
}

const other = openProcess()

/** Resolves when hints of the one arrive at the other. */
const introduce = async (from: TurnNotifier, to: TurnNotifier): Promise<void> => {
  const turnId = crypto.randomUUID()
  let heard = false
  const leave = to.subscribe(turnId, { onUpdate: () => undefined, onHint: () => (heard = true), readsLines: false })
  await until('they know each other', () => {
    from.publish(turnId, { firstSeq: 1, lines: [], isEnd: true })
    return heard
  })
  leave()
}
await introduce(other.notifier, worker.deps.notifier)
await introduce(worker.deps.notifier, other.notifier)

const beginHeld = async (as: TestActor) => {
  await createAgent(worker, as, { name: 'Slow', model: 'fake/m1' })
  const session = await openSession(worker, as, { agentId: 'slow' })
  const { script, asked, release } = held(reply(['Hello ', 'yourself.']))
  fake.play(script)
  const { body } = await say(worker, as, session.id, { text: 'Hello', background: true })
  await asked
  return { session, turnId: body.data.turn.id as string, release }
}

describe('a turn that another process runs', () => {
  test('its lines and its end are read when the other process announces them, without a poll', async () => {
    const as = await worker.createOrg()
    const { turnId, release } = await beginHeld(as)
    const streams = createTurnStreams({
      db: worker.db,
      notifier: other.notifier,
      log,
      timing: { pollMs: 3_600_000, safetyPollMs: 3_600_000 },
    })
    const text: string[] = []
    const ended = Promise.withResolvers<void>()
    const reader = { write: (_: number, lines: string[]) => text.push(...lines) > 0, end: () => ended.resolve() }
    const subscription = streams.subscribe({ orgId: as.orgId, turnId }, reader, { after: 0 })
    const waiting = streams.waitForEnd(
      { orgId: as.orgId, turnId },
      { timeoutMs: 60_000, signal: new AbortController().signal, isFresh: true },
    )
    await until('the worker knows that the turn is read', () => worker.deps.notifier.isRead(turnId))
    release()
    await ended.promise
    assert.equal(await waiting, true)
    subscription.close()
    const deltas = text.map((line) => JSON.parse(line)).filter(({ type }) => type === 'text-delta')
    assert.equal(deltas.map(({ delta }) => delta).join(''), 'Hello yourself.')
  })

  test('a cancellation in another process makes the worker check its lease at once', async () => {
    const turnId = crypto.randomUUID()
    let checks = 0
    let stops = 0
    const leave = worker.deps.notifier.work(turnId, { stop: () => (stops += 1), check: () => (checks += 1) })
    other.notifier.stop(turnId)
    await until('it checks', () => checks > 0)
    assert.equal(stops, 0, 'a hint has no authority to end a turn')
    leave()
  })

  test('a hint of a turn that nobody reads here is ignored, and a turn of this process is not read again', async () => {
    const turnId = crypto.randomUUID()
    const hints: boolean[] = []
    const leave = other.notifier.subscribe(turnId, {
      onUpdate: () => undefined,
      onHint: (isEnd) => hints.push(isEnd),
      readsLines: true,
    })
    const stopWorking = other.notifier.work(turnId, { stop: () => undefined, check: () => undefined })
    worker.deps.notifier.publish(turnId, { firstSeq: 1, lines: ['{}'], isEnd: true })
    await introduce(worker.deps.notifier, other.notifier)
    assert.deepEqual(hints, [])
    stopWorking()
    leave()
  })
})

test('a poll of streams whose database refuses connections waits longer each time', async () => {
  const db = openDatabase({
    connection: { ...worker.connection, database: 'refused' },
    poolSize: 2,
    hotConnections: 1,
    onError: () => undefined,
  })
  const failedAt: number[] = []
  const noted = createLog('warn', { write: () => void failedAt.push(performance.now()) })
  const notifier = createTurnNotifier()
  const streams = createTurnStreams({ db, notifier, log: noted, timing: { pollMs: 20, safetyPollMs: 20 } })
  const key = { orgId: crypto.randomUUID(), turnId: crypto.randomUUID() }
  const subscription = streams.subscribe(key, { write: () => true, end: () => undefined }, { after: 0 })
  await until('several polls have failed', () => failedAt.length >= 7)
  subscription.close()
  await db.close()
  // The delays are at least 10, 20, 40, 80, 160 and 320 ms.
  assert.ok((failedAt[6] as number) - (failedAt[0] as number) >= 600)
})

test('a set of recent items forgets the oldest when it is full', () => {
  const recent = createRecent({ keepMs: 3_600_000, maxItems: 10 })
  for (let i = 0; i < 25; i++) recent.add(`${i}`)
  assert.ok(recent.has('24') && recent.has('15'))
  assert.ok(!recent.has('0'))
})

const skip = !(await hasRedis()) && 'redis-server is not installed'
describe('API and worker as separate processes with Redis', { skip, timeout: 180_000 }, async () => {
  if (skip !== false) return
  const redis = await createRedis()
  await redis.start()
  after(() => redis.kill())
  const api: TestApp = await worker.secondServer({ ...env, REDIS_URL: redis.url }, { work: false })
  const runner: TestApp = await worker.secondServer({ ...env, REDIS_URL: redis.url }, { work: true })
  for (const { deps } of [api, runner]) deps.wakeups.start()
  const receiver = await startReceiver()
  after(() => receiver.close())

  /** A streamed turn, a turn that is awaited, and an event: each must arrive completely. */
  const everything = async (as: TestActor): Promise<void> => {
    const session = await openSession(api, as)
    const headers = { accept: 'text/event-stream' }
    const streamed = await sayWithHeaders(api, as, session.id, { json: { text: 'Hello' }, headers })
    const { events, isDone } = streamEventsOf(streamed.text)
    assert.ok(isDone)
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, i) => i + 1),
      'every line arrives once, in order',
    )
    const answered = await ask(api, as, session.id, { text: 'Once more' })
    assert.equal(answered.message.role, 'assistant')
    const webhook = await createWebhook(api, as, { url: receiver.url })
    const before = receiver.arrivals.length
    await accept(api, webhook, { type: 'order.created' })
    await until('the event is forwarded', () => receiver.arrivals.length > before)
  }

  test('everything arrives while Redis works, after it was killed, and after it has returned', async () => {
    const as = await api.createOrg()
    await introduce(api.deps.notifier, runner.deps.notifier)
    await everything(as)
    await redis.kill()
    await until('both have noticed', () => [api, runner].every(({ deps }) => !deps.wakeups.isHealthy()))
    await everything(as)
    await redis.start()
    await introduce(api.deps.notifier, runner.deps.notifier)
    await everything(as)
  })
})
