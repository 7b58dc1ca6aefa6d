// Durable jobs: cost of an enqueue in a transaction, delay from commit to start, throughput, and statements of an idle
// worker. This process runs on the server's core; PostgreSQL, with production settings, on the other.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase, sql } from '../src/platform/database/database.ts'
import type { Database } from '../src/platform/database/database.ts'
import { createJobs, defineJob } from '../src/platform/jobs/jobs.ts'
import type { Jobs } from '../src/platform/jobs/jobs.ts'
import { createLog } from '../src/platform/process/log.ts'
import { printMachine, printTable, quantile, serverCore, startDatabase } from './harness.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const batch = 10_000
const transactions = 2_000
const idleSeconds = 60
const idleKinds = 20

const log = createLog('warn')

interface Payload {
  n: number
  orgId: string
}

const kind = defineJob<Payload>('bench.noop')
const fairKind = defineJob<Payload>('bench.fair', { fairBy: 'orgId' })
const orgs = Array.from({ length: 20 }, () => randomUUID())
const payloadOf = (n: number): Payload => ({ n, orgId: orgs[n % orgs.length] ?? '' })

/** A worker on noop jobs, and a way to wait for the next `count` of them. */
const startWorker = async (connection: pg.ClientConfig, concurrency: number, kindOfJobs = kind) => {
  const jobs = createJobs({ connection, log })
  let left = 0
  let done = Promise.withResolvers<number>()
  jobs.work(
    kindOfJobs,
    async () => {
      left -= 1
      if (left === 0) done.resolve(performance.now())
    },
    { concurrency },
  )
  await jobs.start({ work: true })
  const next = (count: number): Promise<number> => {
    left = count
    done = Promise.withResolvers()
    return done.promise
  }
  return { jobs, next }
}

const secondsPerTransaction = async (db: Database, jobs?: Jobs): Promise<number> => {
  const began = performance.now()
  for (let n = 0; n < transactions; n++) {
    await db.transaction('all orgs', async (db) => {
      await db.execute(sql`insert into written (n) values (${n})`)
      await jobs?.enqueue(db, kind, payloadOf(n))
    })
  }
  return (performance.now() - began) / 1_000 / transactions
}

const enqueueCost = async (connection: pg.ClientConfig, db: Database): Promise<[string, string, string][]> => {
  const jobs = createJobs({ connection, log })
  await jobs.start({ work: false })
  const bare: number[] = []
  const enqueuing: number[] = []
  for (let round = 0; round < rounds; round++) {
    bare.push(await secondsPerTransaction(db))
    enqueuing.push(await secondsPerTransaction(db, jobs))
  }
  await jobs.stop({ deadlineMs: 0 })
  await db.execute(sql`truncate pgboss.job_common`)
  const [without, together] = [quantile(bare, 0.5) * 1_000, quantile(enqueuing, 0.5) * 1_000]
  return [
    ['a transaction with one insert, ms', without.toFixed(2), ''],
    ['the same with an enqueue, ms', together.toFixed(2), ''],
  ]
}

const jobsPerSecond = async (
  connection: pg.ClientConfig,
  db: Database,
  { concurrency, of = kind }: { concurrency: number; of?: typeof kind },
): Promise<number> => {
  const { jobs, next } = await startWorker(connection, concurrency, of)
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const payloads = Array.from({ length: batch }, (_, n) => payloadOf(n))
    const all = next(batch)
    await db.transaction('all orgs', (db) => jobs.enqueueAll(db, of, payloads))
    const began = performance.now()
    rates.push((batch / ((await all) - began)) * 1_000)
  }
  await jobs.stop({ deadlineMs: 10_000 })
  return quantile(rates, 0.5)
}

const delaysToStart = async (connection: pg.ClientConfig, db: Database): Promise<number[]> => {
  const { jobs, next } = await startWorker(connection, 5)
  const delays: number[] = []
  for (let n = 0; n < 500; n++) {
    const started = next(1)
    await db.transaction('all orgs', (db) => jobs.enqueue(db, kind, payloadOf(n)))
    const committed = performance.now()
    delays.push((await started) - committed)
  }
  await jobs.stop({ deadlineMs: 10_000 })
  return delays
}

const idleStatementsPerSecond = async (connection: pg.ClientConfig): Promise<number> => {
  const jobs = createJobs({ connection, log })
  for (let n = 0; n < idleKinds; n++) jobs.work(defineJob(`bench.idle-${n}`), async () => undefined)
  await jobs.start({ work: true })
  const client = new pg.Client({ ...connection, database: 'postgres' })
  await client.connect()
  const count = async (): Promise<number> => {
    const { rows } = await client.query<{ n: string }>(
      'select xact_commit + xact_rollback as n from pg_stat_database where datname = $1',
      [connection.database],
    )
    return Number(rows[0]?.n)
  }
  // The counters arrive up to 10 s late.
  await sleep(12_000)
  const before = await count()
  await sleep(idleSeconds * 1_000)
  const after = await count()
  await client.end()
  await jobs.stop({ deadlineMs: 0 })
  return (after - before) / idleSeconds
}

const measure = async (connection: pg.ClientConfig): Promise<void> => {
  const db = openDatabase({ connection, poolSize: 5, hotConnections: 1, onError: (error) => log.warn({ err: error }) })
  await db.execute(sql`create table written (n integer)`)
  const cost = await enqueueCost(connection, db)
  const delays = await delaysToStart(connection, db)
  const rate5 = await jobsPerSecond(connection, db, { concurrency: 5 })
  const rate50 = await jobsPerSecond(connection, db, { concurrency: 50 })
  const fairRate = await jobsPerSecond(connection, db, { concurrency: 50, of: fairKind })
  const idle = await idleStatementsPerSecond(connection)
  printMachine('Jobs')
  printTable(
    ['what', 'figure', 'target'],
    [
      ...cost,
      ['from commit to start, same process, p50 ms', quantile(delays, 0.5).toFixed(2), ''],
      ['from commit to start, same process, p99 ms', quantile(delays, 0.99).toFixed(2), '≤ 20'],
      ['empty jobs/s, concurrency 5', Math.round(rate5), '≥ 500'],
      ['empty jobs/s, concurrency 50', Math.round(rate50), '≥ 2000'],
      [`empty jobs/s of ${orgs.length} orgs in turn, concurrency 50`, Math.round(fairRate), ''],
      [`statements/s of an idle worker with ${idleKinds} kinds`, idle.toFixed(1), '≤ 5'],
    ],
  )
  await db.close()
}

const benchJobs = async (): Promise<void> => {
  const { connection, stop } = await startDatabase()
  const child = spawn(
    'taskset',
    ['-c', serverCore, process.execPath, import.meta.filename, JSON.stringify(connection)],
    { stdio: 'inherit' },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  await stop()
  if (code !== 0) process.exit(1)
}

const [given] = process.argv.slice(2)
if (given === undefined) await benchJobs()
else await measure(JSON.parse(given) as pg.ClientConfig)
