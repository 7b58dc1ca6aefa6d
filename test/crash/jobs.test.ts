// Kills workers and producers of jobs with SIGKILL.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { on, once } from 'node:events'
import { after, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { createJobs, jobTiming } from '../../src/platform/jobs/jobs.ts'
import { startTestApp } from '../harness.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { until } from '../support/until.ts'
import { countKind, stuckKind } from './jobs-process.ts'
import type { Command, Options, Report } from './jobs-process.ts'

const app = await startTestApp({}, { work: false })
const { db, connection } = app
await db.execute(sql`create table runs (n integer not null, pid integer not null)`)

const producer = createJobs({ connection, log: app.deps.log })
await producer.start({ work: false })

const children = new Set<ChildProcess>()
after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await producer.stop({ deadlineMs: 0 })
})

const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  children.delete(child)
}

const heard = async (child: ChildProcess, wanted: (said: Report) => boolean): Promise<void> => {
  for await (const [said] of on(child, 'message')) {
    if (wanted(said as Report)) return
  }
}

const start = async (options: Omit<Options, 'connection'>): Promise<ChildProcess> => {
  const child = fork(new URL('jobs-process.ts', import.meta.url), [JSON.stringify({ connection, ...options })])
  children.add(child)
  await heard(child, (said) => said === 'ready')
  return child
}

const tell = async (child: ChildProcess, command: Command): Promise<void> => {
  const done = heard(child, (said) => said === 'enqueued')
  child.send(command)
  await done
}

const runsOf = async (n: number): Promise<number> =>
  (await db.row<{ count: number }>(sql`select count(*)::int as count from runs where n = ${n}`))!.count

const isSecond = (said: Report): boolean => typeof said === 'object' && said.attempt === 2

/** Kills the worker of a job that never ends. Returns the seconds until another worker starts it. */
const secondsToPickUp = async (isHeirThere: boolean, timing?: Options['timing']): Promise<number> => {
  const options = { work: true, ...(timing && { timing }) }
  const first = await start(options)
  const begun = heard(first, (said) => typeof said === 'object' && said.attempt === 1)
  await db.transaction('all orgs', (db) => producer.enqueue(db, stuckKind, { name: 'stuck' }))
  await begun
  let heir = isHeirThere ? await start(options) : undefined
  // Listens before the kill: on a slow machine the report can arrive before the kill has ended.
  const early = heir && heard(heir, isSecond)
  await kill(first)
  const stopwatch = startStopwatch(db)
  heir ??= await start(options)
  await (early ?? heard(heir, isSecond))
  const seconds = stopwatch.ms() / 1_000
  stopwatch.stop()
  await kill(heir)
  await db.execute(sql`delete from pgboss.job where name = ${stuckKind.name}`)
  return seconds
}

test('a single worker that is killed during a job and restarted resumes the job within 30 s', async (t) => {
  const seconds = await secondsToPickUp(false)
  t.diagnostic(`picked up ${seconds.toFixed(1)} s after the kill`)
  assert.ok(seconds < 30, `${seconds} s`)
})

test('another running worker takes over the job of a killed worker within the configured intervals', async (t) => {
  const seconds = await secondsToPickUp(true, { heartbeatMs: 300, silentMs: 1_500, reapMs: 500 })
  t.diagnostic(`picked up ${seconds.toFixed(1)} s after the kill, with a tenth of production's silence`)
  assert.ok(seconds < 15, `${seconds} s`)
  assert.ok(jobTiming.silentMs + 2 * jobTiming.reapMs + jobTiming.pollMs < 30_000)
})

test('a committed job runs although its producer is killed at once, and an uncommitted one never does', async () => {
  const committing = await start({ work: false })
  await tell(committing, { enqueue: -1, commit: true })
  await kill(committing)
  const hesitating = await start({ work: false })
  await tell(hesitating, { enqueue: -2, commit: false })
  await kill(hesitating)
  const worker = await start({ work: true })
  await until('the committed one runs', async () => (await runsOf(-1)) === 1)
  // Enqueued last and run last: until then the uncommitted job would have run.
  await tell(worker, { enqueue: -3, commit: true })
  await until('the last one runs', async () => (await runsOf(-3)) === 1)
  assert.equal(await runsOf(-2), 0)
  await kill(worker)
})

test('200 or more jobs on two workers run exactly once each without crashes', async () => {
  const workers = await Promise.all([start({ work: true }), start({ work: true })])
  const pids = async () =>
    (await db.row<{ n: number }>(sql`select count(distinct pid)::int as n from runs where n >= 0`))!.n
  let enqueued = 0
  // Continues until both workers have run some, because on a slow machine one may start late.
  for (; enqueued < 200 || (enqueued < 20_000 && (await pids()) < 2); enqueued += 10) {
    const first = enqueued
    await db.transaction('all orgs', (db) =>
      producer.enqueueAll(
        db,
        countKind,
        Array.from({ length: 10 }, (_, i) => ({ n: first + i })),
      ),
    )
  }
  const count = async () => (await db.row<{ n: number }>(sql`select count(*)::int as n from runs where n >= 0`))!.n
  const waiting = async () =>
    (await db.row<{ n: number }>(sql`select count(*)::int as n from pgboss.job where name = ${countKind.name}`))!.n
  await until('all have run', async () => (await count()) >= enqueued && (await waiting()) === 0)
  assert.equal(await count(), enqueued)
  const distinct = await db.row<{ jobs: number; pids: number }>(
    sql`select count(distinct n)::int as jobs, count(distinct pid)::int as pids from runs where n >= 0`,
  )
  assert.deepEqual(distinct, { jobs: enqueued, pids: 2 })
  await Promise.all(workers.map(kill))
})
