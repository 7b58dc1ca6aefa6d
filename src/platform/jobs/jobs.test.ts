import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { raw, sql } from '../database/database.ts'
import { createJobs, defineJob, jobTiming } from './jobs.ts'
import type { JobKind, Jobs } from './jobs.ts'
import type { JobTiming } from './runner.ts'

const app = await startTestApp({}, { work: false })
const { db, connection } = app
const { log } = app.deps

const opened: Jobs[] = []
after(() => Promise.all(opened.map((jobs) => jobs.stop({ deadlineMs: 0 }))))

/** Jobs with connections and handlers of their own, like those of one process. */
const open = (timing: Partial<JobTiming> = {}): Jobs => {
  const jobs = createJobs({ connection, log, timing })
  opened.push(jobs)
  return jobs
}

let kinds = 0
const newKind = <P extends object>(options = {}): JobKind<P> => defineJob<P>(`test.kind-${(kinds += 1)}`, options)

const enqueue = <P extends object>(jobs: Jobs, kind: JobKind<P>, payload: P, options = {}) =>
  db.transaction('all orgs', (db) => jobs.enqueue(db, kind, payload, options))

interface Row {
  id: string
  state: string
  retryCount: number
  output: { message?: string } | null
}
const rowsOf = (kind: { name: string }) =>
  db.rows<Row>(sql`select id, state::text, retry_count, output from pgboss.job where name = ${kind.name}`)

/** Resolves when the signal of the job is aborted. */
const untilAborted = (signal: AbortSignal) => (signal.aborted ? undefined : once(signal, 'abort'))

/** Calls a function outside of the async context of an open transaction. */
const outside = AsyncLocalStorage.snapshot()

// Without a poll, so that only a wake can start a job.
const noPoll = { pollMs: 3_600_000 }

const producer = open()
await producer.start({ work: false })

describe('enqueueing in a transaction', () => {
  test('a job runs once at the commit of its transaction, at once in the same process, and never after a rollback', async () => {
    const kind = newKind<{ n: number }>()
    const seen: number[] = []
    const jobs = open(noPoll)
    jobs.work(kind, async ({ n }) => void seen.push(n))
    await jobs.start({ work: true })
    await assert.rejects(
      db.transaction('all orgs', async (db) => {
        await jobs.enqueue(db, kind, { n: 1 })
        throw new Error('rolled back')
      }),
    )
    await enqueue(jobs, kind, { n: 2 })
    await until('the second job runs and is gone', async () => seen.length > 0 && (await rowsOf(kind)).length === 0)
    assert.deepEqual(seen, [2])
  })

  test('a worker of another process finds the job by polling', async () => {
    const kind = newKind<{ text: string }>()
    const seen: string[] = []
    const jobs = open()
    jobs.work(kind, async ({ text }) => void seen.push(text))
    await jobs.start({ work: true })
    await enqueue(producer, kind, { text: 'Grüße, 世界' })
    await until('it runs', () => seen.length === 1)
    assert.deepEqual(seen, ['Grüße, 世界'])
  })

  test('a job sees everything that its transaction wrote', async () => {
    await db.execute(sql`create table written (n integer primary key)`)
    const kind = newKind<{ n: number }>()
    const missing: number[] = []
    let ran = 0
    const jobs = open({ pollMs: 1 })
    jobs.work(
      kind,
      async ({ n }) => {
        if (!(await db.row(sql`select from written where n = ${n}`))) missing.push(n)
        ran += 1
      },
      { concurrency: 10 },
    )
    await jobs.start({ work: true })
    for (let n = 0; n < 50; n++) {
      await db.transaction('all orgs', async (db) => {
        await jobs.enqueue(db, kind, { n })
        await db.execute(sql`insert into written values (${n})`)
      })
    }
    await until('all have run', () => ran === 50)
    assert.deepEqual(missing, [])
  })

  test('enqueueAll enqueues many jobs in one statement', async () => {
    const kind = newKind<{ n: number }>()
    const seen = new Set<number>()
    const jobs = open(noPoll)
    jobs.work(kind, async ({ n }) => void seen.add(n), { concurrency: 50 })
    await jobs.start({ work: true })
    await db.transaction('all orgs', (db) =>
      jobs.enqueueAll(
        db,
        kind,
        Array.from({ length: 500 }, (_, n) => ({ n })),
      ),
    )
    await until('all have run', () => seen.size === 500)
  })

  test('a job waits until its start time and starts in the order of priorities', async () => {
    const kind = newKind<{ name: string }>()
    await enqueue(producer, kind, { name: 'later' }, { startAfterSeconds: 3_600 })
    await enqueue(producer, kind, { name: 'usual' })
    await enqueue(producer, kind, { name: 'urgent' }, { priority: 10 })
    const seen: string[] = []
    const jobs = open()
    jobs.work(kind, async ({ name }) => void seen.push(name), { concurrency: 1 })
    await jobs.start({ work: true })
    await until('two have run', async () => (await rowsOf(kind)).length === 1)
    assert.deepEqual(seen, ['urgent', 'usual'])
    assert.deepEqual(await jobs.lag(), {
      oldestSeconds: 0,
      queued: 0,
      deferred: 1,
      active: 0,
      isWorking: false,
      failed: 0,
    })
    await db.execute(sql`update pgboss.job set start_after = now() where name = ${kind.name}`)
    await until('the third has run', () => seen.length === 3)
  })

  test('a job does not inherit the async context of the request that enqueued it', async () => {
    const context = new AsyncLocalStorage<string>()
    const kind = newKind()
    const seen: unknown[] = []
    const jobs = open(noPoll)
    jobs.work(kind, async () => void seen.push(context.getStore()))
    await jobs.start({ work: true })
    await context.run('of the request', () => enqueue(jobs, kind, {}))
    await until('it runs', () => seen.length === 1)
    assert.deepEqual(seen, [undefined])
  })
})

describe('singleton keys', () => {
  test('only one job waits with a key, however often it is enqueued', async () => {
    const kind = newKind<{ n: number }>()
    for (let n = 0; n < 8; n++) await enqueue(producer, kind, { n }, { singletonKey: 'a' })
    await enqueue(producer, kind, { n: 100 }, { singletonKey: 'b' })
    assert.equal((await rowsOf(kind)).length, 2)
  })

  test('concurrent transactions can enqueue with the same key without failing or waiting for one another', async () => {
    const kind = newKind<{ n: number }>()
    await enqueue(producer, kind, { n: 0 }, { singletonKey: 'key' })
    await db.transaction('all orgs', async (db) => {
      await producer.enqueue(db, kind, { n: 1 }, { singletonKey: 'key' })
      await outside(() => enqueue(producer, kind, { n: 2 }, { singletonKey: 'key' }))
      // The lock of this transaction does not block the other one.
      const seen: number[] = []
      const jobs = open({ pollMs: 1 })
      jobs.work(kind, async ({ n }) => void seen.push(n))
      await outside(() => jobs.start({ work: true }))
      await until('the job of the one that committed runs', () => seen.length === 1)
      assert.deepEqual(seen, [2])
      await jobs.stop({ deadlineMs: 20_000 })
    })
    await Promise.all(Array.from({ length: 8 }, (_, n) => enqueue(producer, kind, { n }, { singletonKey: 'new' })))
    const { length } = await rowsOf(kind)
    assert.ok(length >= 2 && length <= 9, String(length))
  })

  test('a waiting job with a key does not start before the commit of a transaction that enqueued it again', async () => {
    await db.execute(sql`create table news (text text)`)
    const kind = newKind()
    const other = newKind()
    await enqueue(producer, kind, {}, { singletonKey: 'key' })
    const seen: string[][] = []
    let others = 0
    const jobs = open({ pollMs: 1 })
    jobs.work(
      kind,
      async () => void seen.push((await db.rows<{ text: string }>(sql`select text from news`)).map((row) => row.text)),
    )
    jobs.work(other, async () => {
      others += 1
    })
    await db.transaction('all orgs', async (db) => {
      await db.execute(sql`insert into news values ('written')`)
      await producer.enqueue(db, kind, {}, { singletonKey: 'key' })
      await outside(() => jobs.start({ work: true }))
      await outside(() => enqueue(jobs, other, {}))
      await until('the worker looks for jobs', () => others === 1)
      assert.deepEqual(seen, [], 'it must not run yet')
    })
    await until('it runs', () => seen.length > 0)
    assert.deepEqual(seen, [['written']])
  })

  test('a job with a key is enqueued again while one is running', async () => {
    const kind = newKind()
    const gate = Promise.withResolvers<void>()
    let begun = 0
    const jobs = open()
    jobs.work(kind, async () => {
      begun += 1
      await gate.promise
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {}, { singletonKey: 'key' })
    await until('it runs', () => begun === 1)
    await enqueue(jobs, kind, {}, { singletonKey: 'key' })
    await until('the second one runs', () => begun === 2)
    gate.resolve()
  })

  test('a job with a key starts at the earliest of the requested times', async () => {
    const kind = newKind()
    await enqueue(producer, kind, {}, { singletonKey: 'key', startAfterSeconds: 3_600 })
    await enqueue(producer, kind, {}, { singletonKey: 'key', startAfterSeconds: 7_200 })
    const dueIn = async () =>
      (await db.row<{ seconds: number }>(
        sql`select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where name = ${kind.name}`,
      ))!.seconds
    assert.ok((await dueIn()) <= 3_600)
    await enqueue(producer, kind, {}, { singletonKey: 'key' })
    assert.ok((await dueIn()) <= 0)
  })
})

describe('retries', () => {
  test('a failed job is retried until it succeeds, and the handler gets the number of the attempt', async () => {
    const kind = newKind({ retryLimit: 2 })
    const attempts: [number, boolean][] = []
    const jobs = open({ pollMs: 10 })
    jobs.work(kind, async (_payload, { attempt, isLastAttempt }) => {
      attempts.push([attempt, isLastAttempt])
      if (attempt < 3) throw new Error('not yet')
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {})
    await until('it succeeds', async () => {
      await db.execute(sql`update pgboss.job set start_after = now() where name = ${kind.name}`)
      return (await rowsOf(kind)).length === 0
    })
    assert.deepEqual(attempts, [
      [1, false],
      [2, false],
      [3, true],
    ])
  })

  test('a job that fails its last retry is kept as failed and counted, and its error is stored without secrets', async () => {
    const kind = newKind({ retryLimit: 0 })
    const jobs = open()
    jobs.work(kind, async () => {
      throw new Error(`rejected whsec_${'A'.repeat(32)}`)
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {})
    await until('it is given up', async () => (await jobs.lag()).failed === 1)
    const [row] = await rowsOf(kind)
    assert.equal(row?.state, 'failed')
    assert.equal(row?.output?.message, 'rejected [redacted]')
  })

  test('the delay grows from retry to retry', async () => {
    const kind = newKind({ retryDelaySeconds: 100, retryDelayMaxSeconds: 1_000 })
    const jobs = open()
    jobs.work(kind, async () => {
      throw new Error('down')
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {})
    const delays: number[] = []
    for (let retry = 1; retry <= 5; retry++) {
      await until('it waits for its retry', async () => (await rowsOf(kind))[0]?.state === 'retry')
      const row = await db.row<{ seconds: number }>(
        sql`select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where name = ${kind.name}`,
      )
      delays.push(row!.seconds)
      if (retry < 5) await db.execute(sql`update pgboss.job set start_after = now() where name = ${kind.name}`)
      await until('it is taken', async () => retry === 5 || (await rowsOf(kind))[0]?.retryCount === retry)
    }
    assert.ok(delays[0]! > 40 && delays[0]! <= 200, String(delays))
    assert.ok(delays[2]! > delays[0]!, String(delays))
    assert.ok(
      delays.every((delay) => delay <= 1_000),
      String(delays),
    )
  })

  test('the signal of a job that exceeds its time limit is aborted', async () => {
    const kind = newKind({ timeoutSeconds: 0.05, retryLimit: 0 })
    const jobs = open()
    jobs.work(kind, async (_payload, { signal }) => {
      await untilAborted(signal)
      signal.throwIfAborted()
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {})
    await until('it failed', async () => (await rowsOf(kind))[0]?.state === 'failed')
    assert.match(String((await rowsOf(kind))[0]?.output?.message), /took longer than 0.05 s/)
  })
})

describe('workers', () => {
  test('a worker that lost a job is told so, and cannot change the outcome of the job', async () => {
    const kind = newKind()
    const jobs = open({ heartbeatMs: 20 })
    const ended = Promise.withResolvers<void>()
    jobs.work(kind, async (_payload, { signal }) => {
      await untilAborted(signal)
      ended.resolve()
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, {})
    await until('it runs', async () => (await rowsOf(kind))[0]?.state === 'active')
    // Simulates a takeover by another worker, which is another attempt.
    await db.execute(sql`update pgboss.job set retry_count = 7 where name = ${kind.name}`)
    await ended.promise
    await jobs.stop({ deadlineMs: 5_000 })
    const [row] = await rowsOf(kind)
    assert.deepEqual([row?.state, row?.retryCount], ['active', 7])
  })

  test('a worker takes over the jobs of a worker without heartbeats, but not after an outage of the database', async () => {
    const kind = newKind<{ name: string }>({ retryDelaySeconds: 600 })
    const gate = Promise.withResolvers<void>()
    const seen: string[] = []
    const alive = open({ heartbeatMs: 200 })
    alive.work(kind, async ({ name }, { attempt }) => {
      seen.push(`${name} ${attempt}`)
      await gate.promise
    })
    await alive.start({ work: true })
    await enqueue(alive, kind, { name: 'alive' })
    await until('it runs', () => seen.length === 1)
    await enqueue(producer, kind, { name: 'dead' }, { startAfterSeconds: 3_600 })
    const beat = () =>
      db.row<{ at: string }>(sql`select max(heartbeat_on) as at from pgboss.job where name = ${kind.name}`)
    const before = (await beat())!.at
    await until('its heart beats', async () => (await beat())!.at !== before)
    // Simulates an outage of an hour, after which all heartbeats are old; one worker is really dead.
    await db.execute(sql`
      update pgboss.job set state = 'active', started_on = now(), heartbeat_on = now() - interval '1 hour'
      where name = ${kind.name}`)
    const heir = open({ silentMs: 4_000, reapMs: 2_000, pollMs: 10 })
    heir.work(kind, async ({ name }, { attempt }) => void seen.push(`${name} ${attempt}`))
    await heir.start({ work: true })
    await until('the dead one is taken over', () => seen.length === 2)
    gate.resolve()
    await until('both are done', async () => (await rowsOf(kind)).length === 0)
    assert.deepEqual(seen, ['alive 1', 'dead 2'])
  })

  test('a stopping worker waits for its jobs and fetches no more', async () => {
    const kind = newKind<{ n: number }>()
    const gate = Promise.withResolvers<void>()
    const seen: number[] = []
    const jobs = open()
    jobs.work(
      kind,
      async ({ n }, { signal }) => {
        seen.push(n)
        await gate.promise
        assert.equal(signal.aborted, false)
      },
      { concurrency: 1 },
    )
    await jobs.start({ work: true })
    await enqueue(jobs, kind, { n: 1 })
    await enqueue(jobs, kind, { n: 2 })
    await until('the first runs', () => seen.length === 1)
    const stopped = jobs.stop({ deadlineMs: 20_000 })
    gate.resolve()
    await stopped
    await jobs.stop({ deadlineMs: 0 })
    assert.equal(seen.length, 1)
    assert.deepEqual(
      (await rowsOf(kind)).map((row) => row.state),
      ['created'],
    )
  })

  const endings: Record<string, () => Promise<unknown>> = {
    'do not end': () => new Promise(() => undefined),
    'reject when they are aborted': () => Promise.reject(new Error('aborted')),
  }
  for (const [what, end] of Object.entries(endings)) {
    test(`a worker that stops at the deadline releases jobs that ${what}, and another worker starts them at once`, async () => {
      const kind = newKind({ retryDelaySeconds: 600 })
      const jobs = open()
      const reasons: string[] = []
      jobs.work(kind, async (_payload, { signal }) => {
        await untilAborted(signal)
        reasons.push(String(signal.reason))
        await end()
      })
      await jobs.start({ work: true })
      await enqueue(jobs, kind, {})
      await until('it runs', async () => (await rowsOf(kind))[0]?.state === 'active')
      await jobs.stop({ deadlineMs: 10 })
      assert.match(reasons[0]!, /the process is stopping/)
      const attempts: number[] = []
      const next = open()
      next.work(kind, async (_payload, { attempt }) => void attempts.push(attempt))
      await next.start({ work: true })
      await until('it runs again', () => attempts.length === 1)
      assert.deepEqual(attempts, [2])
    })
  }

  test('a worker whose connections are cut continues: no job is lost and none runs twice', async () => {
    const kind = newKind<{ n: number }>()
    const gate = Promise.withResolvers<void>()
    const seen: number[] = []
    const jobs = open({ pollMs: 10, heartbeatMs: 10 })
    jobs.work(kind, async ({ n }) => {
      seen.push(n)
      if (n === 1) await gate.promise
    })
    await jobs.start({ work: true })
    await enqueue(jobs, kind, { n: 1 })
    await until('the first runs', () => seen.length === 1)
    const cut = () =>
      db.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'atrium-jobs' and datname = current_database() and pid <> pg_backend_pid()`)
    for (let times = 0; times < 5; times++) {
      await cut()
      gate.resolve()
    }
    await enqueue(producer, kind, { n: 2 })
    await until('all is done', async () => seen.length >= 2 && (await rowsOf(kind)).length === 0)
    assert.deepEqual(seen, [1, 2])
  })

  test('the timing constants replace a killed worker within 30 s, and never one that runs a job of 15 minutes', () => {
    const { heartbeatMs, silentMs, reapMs, pollMs } = jobTiming
    assert.ok(silentMs + reapMs * 2 + pollMs <= 30_000)
    assert.ok(silentMs >= heartbeatMs * 3, 'a lost heartbeat or two is no death')
    assert.ok(newKind().timeoutSeconds > 15 * 60)
  })
})

describe('schedules', () => {
  test('a schedule runs once for all processes, and is removed when no process registers it any more', async () => {
    const time = await db.row<{ m: number; h: number }>(
      sql`select extract(minute from now())::int as m, extract(hour from now())::int as h`,
    )
    const kind = newKind<Record<string, never>>()
    let ran = 0
    const openScheduled = (): Jobs => {
      const jobs = open({ pollMs: 10 })
      jobs.schedule(kind, `${time!.m} ${time!.h} * * *`)
      jobs.work(kind, async () => {
        ran += 1
      })
      return jobs
    }
    const first = openScheduled()
    await first.start({ work: true })
    await first.stop({ deadlineMs: 20_000 })
    // Makes the schedules due again, because the workers of the other tests have just processed them. If the minute ends
    // before these workers poll, it counts as missed and also runs once.
    await db.execute(sql`update pgboss.version set cron_on = now() - interval '10 minutes'`)
    await db.execute(sql`update pgboss.schedule set created_on = now() - interval '1 day' where name = ${kind.name}`)
    const workers = Array.from({ length: 3 }, openScheduled)
    await Promise.all(workers.map((jobs) => jobs.start({ work: true })))
    await until('it runs', () => ran > 0)
    await until('it is done', async () => (await rowsOf(kind)).every((row) => row.state === 'completed'))
    assert.equal(ran, 1)
    assert.equal((await rowsOf(kind)).length, 1)
    await Promise.all(workers.map((jobs) => jobs.stop({ deadlineMs: 0 })))
    await open().start({ work: true })
    assert.deepEqual(await db.rows(sql`select name from pgboss.schedule where name = ${kind.name}`), [])
  })
})

test('maintenance expires jobs beyond their time limit and deletes old failed jobs, without warnings', async () => {
  const kind = newKind<{ name: string }>()
  await enqueue(producer, kind, { name: 'old' })
  await enqueue(producer, kind, { name: 'hung' })
  await db.execute(sql`
    update pgboss.job set state = 'failed', completed_on = now() - interval '14 days 1 minute'
    where name = ${kind.name} and data->>'name' = 'old'`)
  await db.execute(sql`
    update pgboss.job set state = 'active', started_on = now() - interval '1 day', heartbeat_on = now() + interval '1 day'
    where name = ${kind.name} and data->>'name' = 'hung'`)
  const lines = app.logLines.length
  await db.execute(sql`update pgboss.queue set monitor_on = null, monitor_claim_on = null, maintain_on = null`)
  const jobs = open({ upkeepMs: 1_000 })
  await jobs.start({ work: true })
  await until('upkeep was done', async () => {
    const rows = await rowsOf(kind)
    return rows.length === 1 && rows[0]?.state === 'retry'
  })
  await jobs.stop({ deadlineMs: 0 })
  assert.deepEqual(app.logLines.slice(lines), [])
})

describe('fairness', () => {
  test('a fair kind gives one group half of the slots, and starts a job of the next group at once', async () => {
    const kind = newKind<{ who: string }>({ fairBy: 'who' })
    const jobs = open(noPoll)
    const running: string[] = []
    let done = 0
    const hold = Promise.withResolvers<void>()
    jobs.work(
      kind,
      async ({ who }) => {
        running.push(who)
        await hold.promise
        done += 1
      },
      { concurrency: 12 },
    )
    await jobs.start({ work: true })
    const all = (who: string, count: number) =>
      db.transaction('all orgs', (db) =>
        jobs.enqueueAll(
          db,
          kind,
          Array.from({ length: count }, () => ({ who })),
        ),
      )
    const countOf = (who: string): number => running.filter((one) => one === who).length
    await all('busy', 30)
    await until('half of the places are taken', () => countOf('busy') === 6)
    await enqueue(jobs, kind, { who: 'other' })
    await until('the next one has a place', () => countOf('other') === 1)
    await all('third', 30)
    await until('and the one after it', () => countOf('third') > 0)
    assert.equal(countOf('busy'), 6)
    assert.ok(running.length < 12, 'one place is always left')
    hold.resolve()
    await until('all are done', () => done === 61)
  })

  test('a second member of a group gets a place at once, and the next free place, while hundreds of jobs of another member wait', async () => {
    const kind = newKind<{ who: string; n: number }>({ fairBy: 'who' })
    const jobs = open(noPoll)
    const started: string[] = []
    const held = new Map<string, () => void>()
    const ended: string[] = []
    jobs.work(
      kind,
      async ({ n }, { jobId }) => {
        const name = n < 1_000 ? 'first' : n < 2_000 ? 'second' : 'other'
        started.push(name)
        await new Promise<void>((resolve) => held.set(`${name} ${jobId}`, resolve))
        ended.push(name)
      },
      { concurrency: 12 },
    )
    await jobs.start({ work: true })
    const add = (who: string, from: number, count: number) =>
      db.transaction('all orgs', (db) =>
        jobs.enqueueAll(
          db,
          kind,
          Array.from({ length: count }, (_, n) => ({ who, n: from + n })),
          { memberOf: ({ n }) => String(Math.floor(n / 1_000)) },
        ),
      )
    const countOf = (name: string): number => started.filter((one) => one === name).length
    const end = (name: string): void => {
      const [key, release] = [...held].find(([one]) => one.startsWith(name)) ?? []
      held.delete(key ?? '')
      release?.()
    }
    await add('org', 0, 300)
    await until('the first member has the places of the group', () => countOf('first') === 6)
    await add('org', 1_000, 3)
    await until('the second member has a place', () => countOf('second') === 1)
    assert.equal(jobs.occupy(kind, { group: 'org', member: '0' }), undefined, 'work without a job waits behind jobs')
    end('first')
    end('first')
    await until('two jobs have ended', () => ended.length === 2)
    await until('the second member has the free place', () => countOf('second') === 2)
    assert.equal(countOf('first'), 6)
    await add('another org', 2_000, 1)
    await until('another group has a place', () => countOf('other') === 1)
    await until('all are done', () => {
      for (const [key, release] of held) {
        held.delete(key)
        release()
      }
      return ended.length === 304
    })
  })

  test('a member with many jobs delays none of the others, although they are more than one claim considers', async () => {
    const kind = newKind<{ who: string; n: number }>({ fairBy: 'who' })
    const [many, others] = [300, 150]
    const payloads = Array.from({ length: many + others }, (_, n) => ({ who: 'org', n }))
    const memberOf = ({ n }: { n: number }) => (n < many ? 'many' : `member ${n}`)
    await db.transaction('all orgs', (db) => producer.enqueueAll(db, kind, payloads, { memberOf }))
    const ended: number[] = []
    const jobs = open()
    jobs.work(kind, ({ n }) => Promise.resolve(void ended.push(n)), { concurrency: 4 })
    await jobs.start({ work: true })
    await until('all are done', () => ended.length === many + others)
    const last = ended.findLastIndex((n) => n >= many)
    const before = ended.slice(0, last).filter((n) => n < many).length
    assert.ok(before < many - 50, `${before} jobs of one member ran before the last of another one`)
    assert.equal(new Set(ended).size, many + others)
  })
})

test('unattended returns the payloads for which no job is waiting, running or to be retried', async () => {
  const kind = newKind<{ n: number }>({ retryLimit: 1, retryDelaySeconds: 60 })
  const jobs = open()
  const hold = Promise.withResolvers<void>()
  jobs.work(kind, async ({ n }) => {
    if (n === 1) await hold.promise
    if (n === 2) throw new Error('not now')
  })
  await jobs.start({ work: true })
  for (const n of [1, 2, 3]) await enqueue(jobs, kind, { n })
  await enqueue(jobs, kind, { n: 4 }, { startAfterSeconds: 100 })
  const states = async () => (await rowsOf(kind)).map(({ state }) => state).toSorted()
  await until('each job is where it is to be', async () => (await states()).join() === 'active,created,retry')
  const asked = [1, 2, 3, 4, 5].map((n) => ({ n }))
  assert.deepEqual(await jobs.unattended(kind, asked), [{ n: 3 }, { n: 5 }])
  hold.resolve()
})

test('lag reports the backlog of the workers', async () => {
  const kind = newKind()
  const jobs = open()
  jobs.work(kind, async () => undefined)
  await jobs.start({ work: false })
  assert.deepEqual(await jobs.lag(), {
    oldestSeconds: 0,
    queued: 0,
    deferred: 0,
    active: 0,
    isWorking: false,
    failed: 0,
  })
  await enqueue(jobs, kind, {})
  await enqueue(jobs, kind, {}, { startAfterSeconds: 100 })
  await db.execute(sql`
    update pgboss.job set start_after = now() - interval '90 seconds' where name = ${kind.name} and start_after <= now()`)
  const lag = await jobs.lag()
  assert.ok(lag.oldestSeconds >= 90 && lag.oldestSeconds < 200, String(lag.oldestSeconds))
  assert.deepEqual(
    { ...lag, oldestSeconds: 0 },
    { oldestSeconds: 0, queued: 1, deferred: 1, active: 0, isWorking: false, failed: 0 },
  )
})

test('processes that start together on an empty database install the schema once', async () => {
  await db.execute(sql`create database empty`)
  const empty = { ...connection, database: 'empty' }
  const processes = Array.from({ length: 5 }, () => createJobs({ connection: empty, log }))
  await Promise.all(processes.map((jobs) => jobs.start({ work: true })))
  await Promise.all(processes.map((jobs) => jobs.stop({ deadlineMs: 0 })))
  await db.execute(raw('drop database empty with (force)'))
})
