import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startTestApp } from '../../../test/harness.ts'
import { onOneServer } from '../../../test/support/database/distributed.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from './database.ts'
import { dropExpired, ensurePartitions, keepPartitions } from './partitions.ts'

const app = await startTestApp({}, { work: false })
const { db } = app
const owner = await app.createOrg()

interface Bounds {
  part: string
  startsAt: string | null
  endsAt: string
}

const partitionsOf = (table: string): Promise<Bounds[]> =>
  db.rows<Bounds>(sql`select part, starts_at, ends_at from partition_bounds(${table}) order by ends_at`)

const namesOf = async (table: string): Promise<string[]> => (await partitionsOf(table)).map(({ part }) => part)

const run = (text: string) => db.execute({ text, values: [] })

/** Removes the initial partition, whose past has no beginning, and creates a partition for each of the last months. */
const openPast = async (table: string, months: number): Promise<void> => {
  await run(`alter table ${table} detach partition ${table}_initial`)
  await run(`drop table ${table}_initial`)
  for (let n = months; n >= 0; n--) await run(`select ensure_partitions(now() - ${n} * interval '1 month')`)
}

const insertEntry = (at: string) =>
  run(`insert into audit_log (org_id, id, at, actor_name, action, resource_type)
    values ('${owner.orgId}', gen_random_uuid(), ${at}, 'test', 'test.happened', 'test')`)

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client(app.connection)
  await client.connect()
  return client
}

await openPast('audit_log', 6)
await openPast('usage_records', 6)

test('partitions of all tables follow one another without gaps, from the previous unit to those ahead', async () => {
  const settings = await db.rows<{ name: string; unit: string; ahead: number }>(sql`
    select name, unit, ahead from partitioned_tables`)
  assert.ok(settings.length >= 5)
  for (const { name, unit, ahead } of settings) {
    const bounds = (await partitionsOf(name)).slice(-(ahead + 2))
    assert.ok(bounds.length > ahead, name)
    for (const [i, { startsAt, part }] of bounds.entries()) {
      if (i > 0) assert.equal(startsAt, bounds[i - 1]?.endsAt, part)
    }
    const [row] = await db.rows<{ reaches: boolean }>(sql`
      select ${bounds.at(-1)?.endsAt}::timestamptz
        = (date_trunc(${unit}, now() at time zone 'UTC') + (${ahead}::int + 1) * ('1 ' || ${unit}::text)::interval) at time zone 'UTC'
        as reaches`)
    assert.equal(row?.reaches, true, name)
  }
})

test('creating partitions again changes nothing, and processes that create them at the same time do not fail', async () => {
  const before = await namesOf('audit_log')
  await run(`drop table ${before.at(-1)}`)
  await run(`drop table ${before.at(-2)}`)
  await Promise.all(Array.from({ length: 5 }, () => ensurePartitions(db)))
  assert.deepEqual(await namesOf('audit_log'), before)
})

test('an API process creates the partitions that no worker has created for weeks', async () => {
  for (const name of await namesOf('audit_log')) await run(`drop table ${name}`)
  await assert.rejects(insertEntry('now()'), /no partition/)
  const stop = await keepPartitions(db, app.deps.log, 20)
  await insertEntry('now()')
  for (const name of await namesOf('audit_log')) await run(`drop table ${name}`)
  await until('the timer has created them', async () => (await namesOf('audit_log')).length >= 3)
  stop()
  await insertEntry('now()')
})

test('drops the partitions of which every row is older than the retention, and no others', async () => {
  await run(`select ensure_partitions(now() - interval '3 months')`)
  await run(`select ensure_partitions(now() - interval '2 months')`)
  for (const months of [4, 3, 2, 1, 0]) await insertEntry(`now() - interval '${months} months'`)
  await dropExpired(db, 'audit_log', { days: 75 })
  const [row] = await db.rows<{ oldest: boolean; count: number }>(sql`
    select min(ends_at) > now() - interval '75 days' as oldest,
      (select count(*)::int from audit_log where at > now() - interval '75 days' and action = 'test.happened') as count
    from partition_bounds('audit_log')`)
  assert.equal(row?.oldest, true)
  assert.ok((row?.count ?? 0) >= 3)
  assert.deepEqual(await db.rows(sql`select name from expired_partitions`), [])
  assert.equal(await dropExpired(db, 'audit_log', { days: 75 }), 0)
})

if (await onOneServer(db, 'concurrent detachment of partitions', 'Citus detaches under a lock')) {
  test('inserts and reads never wait for a partition that is dropped, although a long transaction holds it up', async () => {
    await run(`select ensure_partitions(now() - interval '4 months')`)
    const reader = await connect()
    await reader.query('begin')
    await reader.query('select count(*) from audit_log')
    const dropping = dropExpired(db, 'audit_log', { days: 60 })
    await until('the partition waits for the reader', async () => {
      const [row] = await db.rows<{ n: number }>(sql`
      select count(*)::int as n from pg_stat_activity
      where query like 'alter table audit_log detach%' and wait_event_type = 'Lock' and datname = current_database()`)
      return row?.n === 1
    })
    const other = await connect()
    await other.query(`set lock_timeout = '100ms'`)
    for (let n = 0; n < 20; n++) {
      await other.query(`insert into audit_log (org_id, id, actor_name, action, resource_type)
      values ('${owner.orgId}', gen_random_uuid(), 'test', 'test.happened', 'test')`)
      await other.query(`select * from audit_log where org_id = '${owner.orgId}' order by at desc, id desc limit 5`)
    }
    await reader.query('commit')
    assert.ok((await dropping) > 0)
    await Promise.all([reader.end(), other.end()])
  })

  test('the next run completes what a killed one has begun: a pending detachment, and a detached table', async () => {
    await run(`select ensure_partitions(now() - interval '4 months')`)
    await insertEntry(`now() - interval '4 months'`)
    const [oldest, next] = await namesOf('audit_log')
    // Killed between the drop's two transactions.
    await run(`insert into expired_partitions (name, parent) values ('${oldest}', 'audit_log')`)
    await run(`alter table audit_log detach partition ${oldest}`)
    // Killed while it waited for a reader.
    const reader = await connect()
    await reader.query('begin')
    await reader.query('select count(*) from audit_log')
    const killed = await connect()
    const { rows } = await killed.query<{ pid: number }>('select pg_backend_pid() as pid')
    const detaching = assert.rejects(killed.query(`alter table audit_log detach partition ${next} concurrently`))
    killed.on('error', () => undefined)
    await until('it is pending', async () => {
      const found = await db.rows(sql`select part from partition_bounds('audit_log') where is_pending`)
      return found.length === 1
    })
    await run(`select pg_terminate_backend(${rows[0]?.pid})`)
    await detaching
    await reader.query('commit')
    await reader.end()
    const dropped: string[] = []
    await dropExpired(db, 'audit_log', {
      days: 60,
      beforeDrop: async (_db, name) => {
        dropped.push(name)
      },
    })
    assert.ok(dropped.includes(oldest ?? '') && dropped.includes(next ?? ''), dropped.join())
    for (const name of dropped) {
      assert.deepEqual(await db.rows(sql`select to_regclass(${name}) as found`), [{ found: null }])
    }
    assert.deepEqual(await db.rows(sql`select name from expired_partitions`), [])
  })

  test('a failure in the transaction of the drop keeps the table, and two runs at the same time drop it once', async () => {
    await run(`select ensure_partitions(now() - interval '4 months')`)
    await assert.rejects(
      dropExpired(db, 'audit_log', { days: 60, beforeDrop: () => Promise.reject(new Error('full')) }),
      /full/,
    )
    const [marked] = await db.rows<{ name: string }>(sql`select name from expired_partitions`)
    const seen: string[] = []
    const again = () =>
      dropExpired(db, 'audit_log', {
        days: 60,
        beforeDrop: async (_db, name) => {
          seen.push(name)
        },
      })
    await Promise.allSettled([again(), again()])
    await again()
    assert.equal(seen.filter((name) => name === marked?.name).length, 1)
    assert.equal(new Set(seen).size, seen.length)
  })
}

test('rows of turns from dropped months are accepted and kept until the next month is dropped', async () => {
  const insert = (months: number, step: number) =>
    run(`insert into usage_records
      select '${owner.orgId}', uuid_at(date_trunc('day', now()) - interval '${months} months'), ${step}, 1, now(), gen_random_uuid(), null, 'm', 'chat',
        1, 1, 0, 0, false, false, 1, 0, 1`)
  await run(`select ensure_partitions(now() - interval '5 months')`)
  await dropExpired(db, 'usage_records', { days: 100, coversPast: true })
  await insert(20, 1)
  assert.equal(await dropExpired(db, 'usage_records', { days: 100, coversPast: true }), 0)
  assert.equal(
    (
      await db.rows(sql`-- all orgs: test
    select from usage_records`)
    ).length,
    1,
  )
  await assert.rejects(insert(20, 1), /duplicate key/)
  await dropExpired(db, 'usage_records', { days: 40, coversPast: true })
  assert.equal(
    (
      await db.rows(sql`-- all orgs: test
    select from usage_records`)
    ).length,
    0,
  )
  await insert(20, 1)
})

test('new partitions have the indexes and the rules of their table, and no privileges of their own', async () => {
  const [, part = ''] = (await namesOf('usage_records')).slice(-2)
  await assert.rejects(run(`truncate usage_records`), /append-only/)
  await assert.rejects(run(`delete from usage_records`), /append-only/)
  const [row] = await db.rows<{ granted: boolean; indexes: number }>(sql`
    select has_table_privilege('atrium_tenant', ${part}, 'select') as granted,
      (select count(*)::int from pg_indexes where tablename = ${part}) as indexes`)
  assert.deepEqual(row, { granted: false, indexes: 1 })
})
