import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { createRedis, hasRedis } from '../../../test/fakes/redis.ts'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../database/database.ts'
import { createLog } from '../process/log.ts'
import { createNotifyTransport } from './notify-transport.ts'
import { createRedisTransport } from './redis-transport.ts'
import { findInstallation } from './queries.ts'
import type { WakeMessage, WakeTransport } from './transport.ts'
import { createWakeups } from './wakeups.ts'
import type { Wakeups } from './wakeups.ts'

const app = await startTestApp({}, { work: false })
const lines: string[] = []
const log = createLog('info', { write: (line) => void lines.push(line) })
const logged = (text: string): number => lines.filter((line) => line.includes(text)).length

interface Process {
  wakeups: Wakeups
  /** Messages that it has sent. */
  sent: WakeMessage[]
  jobs: string[]
}

const closers: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closers.toReversed()) await close()
})

const open = (transport: WakeTransport, { listens = true, announceEveryMs = 60_000 } = {}): Process => {
  const sent: WakeMessage[] = []
  const send: WakeTransport['send'] = (messages) => {
    sent.push(...messages)
    return transport.send(messages)
  }
  const wakeups = createWakeups({ transport: { ...transport, send }, log, announceEveryMs })
  const jobs: string[] = []
  if (listens) wakeups.subscribe('jobs', (hint) => jobs.push(hint))
  wakeups.start()
  closers.push(() => wakeups.close())
  return { wakeups, sent, jobs }
}

const jobsSentBy = ({ sent }: Process) => sent.filter(({ channel }) => channel === 'atrium_jobs')

let probes = 0
/** Resolves when a hint of one has arrived at the other: until both know each other, hints are dropped. */
const untilHeard = async (from: Process, to: Process): Promise<void> => {
  const probe = `probe-${(probes += 1)}`
  await until('a hint arrives', () => {
    from.wakeups.publish('jobs', probe)
    return to.jobs.includes(probe)
  })
}

const terminateListeners = () =>
  app.db.execute(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'atrium-wake'`)

/** The guarantees of both transports. */
const describeWakeups = (
  create: () => WakeTransport,
  interrupt: () => Promise<unknown>,
  forge: (payload: string) => Promise<unknown>,
) => {
  test('a hint reaches every other process that listens, and never the one that sent it', async () => {
    const [one, two, three] = [open(create()), open(create()), open(create())]
    for (const [from, to] of [
      [one, two],
      [two, three],
      [three, one],
      [one, three],
    ] as const)
      await untilHeard(from, to)
    one.wakeups.publish('jobs', 'mail')
    await until('both have it', () => [two, three].every(({ jobs }) => jobs.includes('mail')))
    await untilHeard(two, one)
    assert.ok(!one.jobs.includes('mail'))
  })

  test('hints of one step share a message, and repeated ones are sent once', async () => {
    const [one, two] = [open(create()), open(create())]
    await untilHeard(one, two)
    const before = jobsSentBy(one).length
    for (let i = 0; i < 1_000; i++) one.wakeups.publish('jobs', `kind-${i % 50}`)
    await until('all have arrived', () => two.jobs.includes('kind-49'))
    const payloads = jobsSentBy(one).slice(before)
    assert.equal(payloads.length, 1)
    assert.equal(two.jobs.filter((hint) => hint === 'kind-7').length, 1)
  })

  test('messages of other programs on the channel are ignored', async () => {
    const [one, two] = [open(create()), open(create())]
    await untilHeard(one, two)
    for (const payload of ['', '{', '[1]', '{"a":1}', '["x",null]', `["x","${'y'.repeat(500)}"]`]) await forge(payload)
    await forge('["stranger","a kind that does not exist"]')
    await until('the well-formed one arrives', () => two.jobs.includes('a kind that does not exist'))
    assert.deepEqual(
      two.jobs.filter((hint) => !hint.startsWith('probe-')),
      ['a kind that does not exist'],
    )
    await untilHeard(one, two)
  })

  test('after an interruption hints arrive again, and the log says so once', async () => {
    const [one, two] = [open(create(), { announceEveryMs: 100 }), open(create(), { announceEveryMs: 100 })]
    await untilHeard(one, two)
    lines.length = 0
    await interrupt()
    await until('both have noticed', () => logged('found by polling') >= 2)
    await until('both are healthy', () => one.wakeups.isHealthy() && two.wakeups.isHealthy())
    await untilHeard(one, two)
    await untilHeard(two, one)
  })
}

describe('wake-ups through PostgreSQL', () => {
  describeWakeups(
    () => createNotifyTransport(app.connection),
    terminateListeners,
    (payload) => app.db.execute(sql`select pg_notify('atrium_jobs', ${payload})`),
  )

  test('a process that is alone sends no hints, however much it publishes', async () => {
    await terminateListeners()
    for (const close of closers.splice(0)) await close()
    const one = open(createNotifyTransport(app.connection))
    await until('it is connected', () => one.wakeups.isHealthy())
    for (let i = 0; i < 100; i++) one.wakeups.publish('jobs', `kind-${i}`)
    const two = open(createNotifyTransport(app.connection))
    await untilHeard(two, one)
    assert.ok(!two.jobs.includes('kind-99'))
    assert.deepEqual(
      jobsSentBy(one).filter(({ payload }) => payload.includes('kind-')),
      [],
    )
  })

  test('nothing is sent for a topic to which no other process listens, or after the last one has left', async () => {
    for (const close of closers.splice(0)) await close()
    const one = open(createNotifyTransport(app.connection))
    const deaf = open(createNotifyTransport(app.connection), { listens: false })
    await untilHeard(deaf, one)
    one.wakeups.publish('jobs', 'nobody listens')
    const two = open(createNotifyTransport(app.connection))
    await untilHeard(one, two)
    assert.ok(!one.sent.some(({ payload }) => payload.includes('nobody listens')))
    await two.wakeups.close()
    // Each attempt publishes another hint, until one is not sent.
    await until('one knows that it is alone', async () => {
      const hint = `after-${one.sent.length}`
      one.wakeups.publish('jobs', hint)
      await new Promise(setImmediate)
      return !one.sent.some(({ payload }) => payload.includes(hint))
    })
  })

  test('only the connection for wake-ups notifies, so no commit of data waits for the lock of NOTIFY', async () => {
    const files = (await readdir('src', { recursive: true })).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    )
    const notifying: string[] = []
    for (const file of files) {
      if (/pg_notify\(|\bnotify "/i.test(await readFile(`src/${file}`, 'utf8'))) notifying.push(file)
    }
    assert.deepEqual(notifying, ['platform/wake/queries.ts'])
  })

  test('a process whose database refuses connections tries again with increasing delays, not in a loop', async () => {
    let attempts = 0
    const transport = createNotifyTransport({ ...app.connection, database: 'refused' })
    transport.open({
      channels: ['atrium_jobs'],
      onMessage: () => undefined,
      onConnected: () => undefined,
      onError: () => (attempts += 1),
    })
    const beganAt = performance.now()
    await until('several attempts were made', () => attempts >= 4)
    // At least 50 + 100 + 200 ms of delays, half of which are random.
    assert.ok(performance.now() - beganAt >= 340)
    await transport.close()
  })
})

describe('wake-ups through Redis', { skip: !(await hasRedis()) && 'redis-server is not installed' }, async () => {
  if (!(await hasRedis())) return
  const redis = await createRedis()
  await redis.start()
  after(() => redis.kill())
  const { Redis } = await import('ioredis')
  const client = new Redis(redis.url)
  client.on('error', () => undefined)
  after(() => client.disconnect())
  const installation = await findInstallation(app.db)
  describeWakeups(
    () => createRedisTransport(redis.url, () => findInstallation(app.db)),
    async () => {
      await redis.kill()
      await until('both have noticed', () => logged('found by polling') >= 2)
      await redis.start()
    },
    (payload) => client.publish(`atrium:wake:${installation}:atrium_jobs`, payload),
  )

  test('processes of another database on the same Redis are not woken', async () => {
    assert.match(installation, /^\d+\.\d+$/)
    const [one, two] = [0, 1].map(() => open(createRedisTransport(redis.url, () => findInstallation(app.db)))) as [
      Process,
      Process,
    ]
    const other = open(createRedisTransport(redis.url, () => Promise.resolve('1.1')))
    await until('the other is connected', () => other.wakeups.isHealthy())
    await untilHeard(one, two)
    assert.deepEqual(other.jobs, [])
  })

  test('a Redis that hangs is noticed, and used again when it responds', { timeout: 120_000 }, async () => {
    const [one, two] = [0, 1].map(() =>
      open(
        createRedisTransport(redis.url, () => Promise.resolve('hang')),
        { announceEveryMs: 300 },
      ),
    ) as [Process, Process]
    await untilHeard(one, two)
    redis.freeze()
    await until('both notice', () => !one.wakeups.isHealthy() && !two.wakeups.isHealthy())
    redis.thaw()
    await untilHeard(one, two)
    await untilHeard(two, one)
  })
})
