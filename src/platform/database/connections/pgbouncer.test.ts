import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase, createEmptyDatabase, sharedServer } from '../../../../test/database.ts'
import { hasPgbouncer, startPgbouncer } from '../../../../test/fakes/pgbouncer.ts'
import { startReceiver } from '../../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../../test/harness.ts'
import { ask, openSession, textOf } from '../../../../test/support/chat.ts'
import { until } from '../../../../test/support/until.ts'
import { accept, createWebhook, deliveriesOf, openLoopback } from '../../../../test/support/webhooks.ts'
import { installJobs } from '../../jobs/store.ts'
import { createLog } from '../../process/log.ts'
import { openDatabase, sql } from '../database.ts'
import { advisoryLock } from '../advisory-lock.ts'
import { distribute } from '../distribute.ts'
import { migrate } from '../migrate.ts'

const poolSize = 4

const isCluster = process.env['ATRIUM_TEST_CITUS_NODES'] !== undefined
if (isCluster) console.log('left out: PgBouncer in front of distributed tables (its test starts one for one server)')

if (!isCluster && (await hasPgbouncer())) {
  const server = await sharedServer()
  const pgbouncer = await startPgbouncer(server.connection, { poolSize })
  after(async () => {
    await pgbouncer.stop()
    await server.stop()
  })
  const viaPgbouncer = (database: { connection: pg.ClientConfig; drop: () => Promise<void> }) => ({
    ...database,
    connection: { connectionString: pgbouncer.url(database.connection.database as string) },
  })
  const app = await startTestApp(openLoopback, {
    createDatabase: async (connection) => viaPgbouncer(await cloneDatabase(connection)),
  })
  const name = new URL(app.connection.connectionString as string).pathname.slice(1)
  const direct = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ ...server.connection, database: name })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  test('distribution through PgBouncer is refused, and leaves no lock on its connections', async () => {
    await assert.rejects(distribute(app.connection), /leads to a pooler/)
    const locks = await direct<{ count: number }>(
      // Other tests migrate databases of the same server.
      `select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = ${advisoryLock}
        and database = (select oid from pg_database where datname = current_database())`,
    )
    assert.deepEqual(locks, [{ count: 0 }])
  })

  test('12 concurrent clients chat and change records through PgBouncer in transaction mode without an error', async () => {
    const owner = await app.createOrg()
    const replies = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const agent = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: `Agent ${n}` } })
        assert.equal(agent.status, 201, agent.text)
        const read = await app.call('GET', `/api/v1/agents/${agent.body.data.id}`, { as: owner })
        assert.deepEqual([read.status, read.body.data.name], [200, `Agent ${n}`])
        const session = await openSession(app, owner)
        const turn = await ask(app, owner, session.id, { text: `Hello ${n}` })
        return textOf(turn.message)
      }),
    )
    assert.ok(replies.every((reply) => reply !== ''))
    const [used] = await direct<{ count: number }>(
      `select count(*)::int from pg_stat_activity where datname = '${name}' and application_name <> ''`,
    )
    assert.ok((used?.count ?? 0) <= poolSize, `${used?.count} server connections`)
  })

  test('events are received, delivered and recorded through PgBouncer', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const webhook = await createWebhook(app, owner, { url: receiver.url })
    for (let n = 0; n < 5; n++) await accept(app, webhook, { n })
    await until(
      () => deliveriesOf(app, owner, webhook),
      (deliveries) => deliveries.filter(({ status }: { status: string }) => status === 'succeeded').length === 5,
    )
    await receiver.close()
  })

  test('neither locks nor settings of a session stay on the connections behind PgBouncer', async () => {
    assert.deepEqual(
      await direct(`
      select objid from pg_locks l join pg_database d on d.oid = l.database
      where locktype = 'advisory' and datname = current_database()`),
      [],
    )
    const state = await Promise.all(
      Array.from({ length: 2 * poolSize }, () =>
        app.db.transaction('all orgs', (db) =>
          db.row<Record<string, unknown>>(sql`
            select current_setting('enable_seqscan') as seqscan, current_setting('plan_cache_mode') as plans,
              current_setting('statement_timeout') as statement_timeout, current_setting('TimeZone') as zone,
              current_setting('idle_in_transaction_session_timeout') as idle, pg_sleep(0.02)::text as slept`),
        ),
      ),
    )
    const expected = { seqscan: 'on', plans: 'auto', statementTimeout: '30s', zone: 'UTC', idle: '1min', slept: '' }
    for (const one of state) assert.deepEqual(one, expected)
    const indexed = await app.db.indexed.row(sql`select current_setting('enable_seqscan') as seqscan`)
    assert.deepEqual(indexed, { seqscan: 'off' })
  })

  test('a statement that runs too long is canceled through PgBouncer', async () => {
    await assert.rejects(
      app.db.transaction('all orgs', async (db) => {
        await db.execute(sql`set local statement_timeout = 20`)
        await db.execute(sql`select pg_sleep(60) as slow`)
      }),
      { code: '57014' },
    )
  })

  test('processes that migrate an empty database together through PgBouncer apply each migration once', async () => {
    const empty = viaPgbouncer(await createEmptyDatabase(server.connection))
    after(empty.drop)
    const results = await Promise.all(Array.from({ length: 2 }, () => migrate(empty.connection)))
    const applied = results.flatMap((result) => result.applied)
    assert.ok(applied.length > 0)
    assert.equal(new Set(applied).size, applied.length)
    await Promise.all(Array.from({ length: 2 }, () => installJobs(empty.connection, createLog('silent'))))
    // A lock that a session had left would make this wait for ever.
    assert.deepEqual(await migrate(empty.connection), { applied: [] })
    const db = openDatabase({
      connection: empty.connection,
      poolSize: 2,
      hotConnections: 1,
      onError: () => undefined,
    })
    assert.equal(await db.hasTenantPolicies(), true)
    await db.close()
  })
}
