import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { createLog } from '../process/log.ts'
import { createNotifyTransport } from '../wake/notify-transport.ts'
import { createWakeups } from '../wake/wakeups.ts'
import type { Wakeups } from '../wake/wakeups.ts'
import { createJobs, defineJob } from './jobs.ts'
import type { JobKind, Jobs } from './jobs.ts'

const app = await startTestApp({}, { work: false })
const { db, connection } = app
const log = createLog('silent')

const closers: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closers.toReversed()) await close()
})

const openWakeups = (): Wakeups => {
  const wakeups = createWakeups({ transport: createNotifyTransport(connection), log })
  closers.push(() => wakeups.close())
  return wakeups
}

/** Jobs of one process that never polls, so that only a wake-up can start a job of another process. */
const open = async (
  wakeups: Wakeups,
  work?: { kind: JobKind<object>; handler: () => Promise<void>; concurrency: number },
): Promise<Jobs> => {
  const jobs = createJobs({ connection, log, wakeups, timing: { pollMs: 3_600_000 } })
  if (work) jobs.work(work.kind, work.handler, { concurrency: work.concurrency })
  await jobs.start({ work: work !== undefined })
  closers.push(() => jobs.stop({ deadlineMs: 0 }))
  wakeups.start()
  return jobs
}

/** Resolves when hints of one process arrive at the other. */
const introduce = async (from: Wakeups, heard: () => boolean, kind: string): Promise<void> => {
  await until('the processes know each other', () => {
    from.publish('jobs', kind)
    return heard()
  })
}

const enqueue = (jobs: Jobs, kind: JobKind<object>) => db.transaction('all orgs', (db) => jobs.enqueue(db, kind, {}))

/** Wake-ups that also tell whether a hint of the kind has arrived. */
const listening = (kind: string): { wakeups: Wakeups; heard: () => boolean } => {
  const wakeups = openWakeups()
  let isHeard = false
  wakeups.subscribe('jobs', (hint) => {
    isHeard ||= hint === kind
  })
  return { wakeups, heard: () => isHeard }
}

describe('jobs of several processes that never poll', () => {
  test('a worker starts a job that a process without a worker has enqueued', async () => {
    const kind = defineJob('wake.remote')
    let ran = 0
    const { wakeups, heard } = listening('wake.probe')
    await open(wakeups, { kind, handler: async () => void (ran += 1), concurrency: 1 })
    const api = openWakeups()
    const jobs = await open(api)
    await introduce(api, heard, 'wake.probe')
    await enqueue(jobs, kind)
    await until('it runs', () => ran === 1)
  })

  test('a worker whose slots are all in use wakes another one', async () => {
    const kind = defineJob('wake.full')
    const begun = { busy: 0, idle: 0 }
    const blocked = Promise.withResolvers<void>()
    const busyWakeups = openWakeups()
    const busy = await open(busyWakeups, {
      kind,
      handler: () => {
        begun.busy += 1
        return blocked.promise
      },
      concurrency: 1,
    })
    await enqueue(busy, kind)
    await until('its only slot is in use', () => begun.busy === 1)
    const { wakeups, heard } = listening('wake.probe')
    await open(wakeups, { kind, handler: async () => void (begun.idle += 1), concurrency: 1 })
    await introduce(busyWakeups, heard, 'wake.probe')
    await enqueue(busy, kind)
    await until('the other one runs it', () => begun.idle === 1)
    assert.equal(begun.busy, 1)
    blocked.resolve()
  })
})

test('a poll that fails waits longer each time, and finds the jobs when the database accepts connections again', async () => {
  const kind = defineJob('wake.refused')
  const failedAt: number[] = []
  const noted = createLog('warn', {
    write: (line) => {
      if (line.includes('the poll for jobs failed')) failedAt.push(performance.now())
    },
  })
  let ran = 0
  const jobs = createJobs({ connection, log: noted, timing: { pollMs: 20 } })
  jobs.work(kind, async () => void (ran += 1), { concurrency: 1 })
  await jobs.start({ work: true })
  closers.push(() => jobs.stop({ deadlineMs: 0 }))
  const producer = await open(openWakeups())
  const admin = new pg.Client({ ...connection, database: 'postgres' })
  await admin.connect()
  const name = admin.escapeIdentifier(connection.database as string)
  try {
    await admin.query(`alter database ${name} allow_connections false`)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      connection.database,
    ])
    await until('several polls have failed', () => failedAt.length >= 7)
  } finally {
    await admin.query(`alter database ${name} allow_connections true`)
    await admin.end()
  }
  // The delays are at least 10, 20, 40, 80, 160 and 320 ms; without a backoff they are 20 ms each.
  assert.ok((failedAt[6] as number) - (failedAt[0] as number) >= 600)
  await until('it can be enqueued', () =>
    enqueue(producer, kind).then(
      () => true,
      () => false,
    ),
  )
  await until('it runs', () => ran > 0)
})
