import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../database/database.ts'
import { createJobs, defineJob } from './jobs.ts'
import type { Jobs } from './jobs.ts'

const app = await startTestApp({}, { work: false })
const { db, connection } = app
const { log } = app.deps

const opened: Jobs[] = []
after(() => Promise.all(opened.map((jobs) => jobs.stop({ deadlineMs: 0 }))))

const open = (): Jobs => {
  const jobs = createJobs({ connection, log, timing: { pollMs: 50 } })
  opened.push(jobs)
  return jobs
}

interface Payload {
  org: string
  n: number
}

const countJobs = async (name: string): Promise<number> => {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from pgboss.job where name = ${name}`)
  return row?.count ?? 0
}

test('work without a job counts as much as jobs do: one group gets half of the places, and the next group still has one', async () => {
  const kind = defineJob<Payload>('test.places-fair', { fairBy: 'org' })
  const jobs = open()
  const held = Promise.withResolvers<void>()
  const started: string[] = []
  const handler = async ({ org, n }: Payload): Promise<void> => {
    started.push(`${org}${n}`)
    await held.promise
  }
  jobs.work(kind, handler, { concurrency: 8 })
  await jobs.start({ work: true })
  let n = 0
  const begin = (org: string): boolean => {
    const place = jobs.occupy(kind, { group: org })
    place?.start({ org, n: (n += 1) }, undefined)
    return place !== undefined
  }
  assert.deepEqual(
    Array.from({ length: 6 }, () => begin('a')),
    [true, true, true, true, false, false],
  )
  await db.transaction('all orgs', (db) => jobs.enqueue(db, kind, { org: 'a', n: 100 }))
  assert.equal(begin('b'), true)
  await db.transaction('all orgs', (db) => jobs.enqueue(db, kind, { org: 'b', n: 200 }))
  await until('the job of the other group runs', () => started.includes('b200'))
  assert.equal(started.includes('a100'), false, 'the group has its share')
  held.resolve()
  await until('the job that waited runs', () => started.includes('a100'))
})

test('a place that is released is free again, and a process that runs no jobs has none', async () => {
  const kind = defineJob<Payload>('test.places-released')
  const [jobs, producer] = [open(), open()]
  jobs.work(kind, () => Promise.resolve(), { concurrency: 1 })
  await jobs.start({ work: true })
  await producer.start({ work: false })
  const place = jobs.occupy(kind, { group: 'a' })
  assert.ok(place)
  assert.equal(jobs.occupy(kind, { group: 'a' }), undefined)
  place.release()
  assert.ok(jobs.occupy(kind, { group: 'a' }))
  assert.equal(producer.occupy(kind, { group: 'a' }), undefined)
})

test('work without a job gets what was handed over, and a job when it fails', async () => {
  const kind = defineJob<Payload>('test.places-failed', { retryDelaySeconds: 0 })
  const jobs = open()
  const handed: unknown[] = []
  jobs.work(kind, async (_payload, context) => {
    handed.push(context.handed)
    if (handed.length === 1) throw new Error('interrupted')
  })
  await jobs.start({ work: true })
  jobs.occupy(kind, { group: 'a' })?.start({ org: 'a', n: 1 }, 'in memory')
  await until('it runs again as a job that ends', async () => handed.length === 2 && (await countJobs(kind.name)) === 0)
  assert.deepEqual(handed, ['in memory', undefined])
})

test('work that does not end before the deadline of a stop is aborted and becomes a job for another process', async () => {
  const kind = defineJob<Payload>('test.places-stopped')
  const jobs = open()
  jobs.work(kind, (_payload, { signal }) => {
    const { promise, reject } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => reject(new Error('aborted')))
    return promise
  })
  await jobs.start({ work: true })
  jobs.occupy(kind, { group: 'a' })?.start({ org: 'a', n: 1 }, undefined)
  await jobs.stop({ deadlineMs: 0 })
  assert.equal(await countJobs(kind.name), 1)
  assert.equal(jobs.occupy(kind, { group: 'a' }), undefined, 'a process that stops begins nothing')
})
