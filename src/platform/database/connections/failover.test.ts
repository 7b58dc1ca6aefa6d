import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestApp } from '../../../../test/harness.ts'
import { startCluster } from '../../../../test/fakes/replication.ts'
import { timed } from '../../../../test/support/stopwatch.ts'
import { until } from '../../../../test/support/until.ts'
import { installJobs } from '../../jobs/store.ts'
import { createLog } from '../../process/log.ts'
import { sql } from '../database.ts'
import { migrate } from '../migrate.ts'
import { DatabaseClient } from './client.ts'

const cluster = await startCluster()
after(() => cluster.stop())
const { primary, standby } = cluster
const app = await startTestApp(
  {},
  {
    createDatabase: async () => {
      // The standby is named first: the order must not matter.
      const connection = { connectionString: `${cluster.url(standby, primary)}?target_session_attrs=read-write` }
      await migrate(connection)
      await installJobs(connection, createLog('silent'))
      return { connection, drop: async () => undefined }
    },
  },
)

test('connections go to the primary, in whichever order the hosts are named', async () => {
  for (const db of [app.db, app.db.hot, app.db.indexed]) {
    assert.deepEqual(await db.row(sql`select inet_server_port() as port`), { port: primary.port })
  }
})

/** Creates agents until it is stopped, and checks that everything but success is a 503 with `Retry-After`. */
const startLoad = async () => {
  const owner = await app.createOrg()
  const created: string[] = []
  let stopped = false
  let failures = 0
  const client = async (n: number): Promise<void> => {
    for (let i = 0; !stopped; i++) {
      const name = `Agent ${n}-${i}`
      const answer = await app.call('POST', '/api/v1/agents', { as: owner, json: { name } })
      if (answer.status === 201) created.push(answer.body.data.id)
      else {
        failures += 1
        assert.equal(answer.status, 503, answer.text)
        assert.ok(Number(answer.headers.get('retry-after')) >= 1)
        await sleep(20)
      }
    }
  }
  const clients = Array.from({ length: 4 }, (_, n) => client(n))
  return {
    owner,
    created,
    failures: () => failures,
    stop: async () => {
      stopped = true
      await Promise.all(clients)
    },
  }
}

test('after the primary is killed and the standby promoted, nothing acknowledged is lost and clients see only 503 for less than 10 s', async () => {
  const load = await startLoad()
  await until('agents are created', () => load.created.length > 20)
  await primary.kill()
  await until('requests fail', () => load.failures() > 0)
  const acknowledged = load.created.length
  const tookMs = await timed(undefined, async () => {
    await standby.query('select pg_promote()')
    await until('agents are created again', () => load.created.length > acknowledged + 20)
  })
  await load.stop()
  assert.ok(tookMs < 10_000, `${tookMs} ms`)
  const rows = await standby.query<{ id: string }>(`select id from agents where org_id = '${load.owner.orgId}'`)
  const stored = new Set(rows.map(({ id }) => id))
  assert.deepEqual(
    load.created.filter((id) => !stored.has(id)),
    [],
  )
  for (const db of [app.db, app.db.hot, app.db.indexed]) {
    assert.deepEqual(await db.row(sql`select inet_server_port() as port`), { port: standby.port })
  }
})

test('connections that a pooler keeps open to a former primary are closed as soon as another server is the primary', async () => {
  const second = await startCluster()
  after(() => second.stop())
  const config = { connectionString: second.url(second.primary, second.standby) }
  const [lost, kept, next] = [new DatabaseClient(config), new DatabaseClient(config), new DatabaseClient(config)]
  await lost.connect()
  await kept.connect()
  let isClosed = false
  kept.once('end', () => (isClosed = true))
  await second.standby.query('select pg_promote()')
  assert.ok(lost.isLost(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })))
  await next.connect()
  await until('the connection to the former primary is closed', () => isClosed)
  assert.deepEqual((await next.query('select inet_server_port() as port')).rows, [{ port: second.standby.port }])
  lost.drop(new Error('the end of the test'))
  await next.end()
})
