import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'
import { startCluster } from '../../../../test/fakes/replication.ts'
import { until } from '../../../../test/support/until.ts'
import { installJobs } from '../../jobs/store.ts'
import { createLog } from '../../process/log.ts'
import { sql } from '../database.ts'
import { migrate } from '../migrate.ts'
import { requireReplica } from './requirements.ts'

// Commits must not wait for a standby that the tests stop.
const cluster = await startCluster({ isSynchronous: false })
after(() => cluster.stop())
const { primary, standby } = cluster
const app = await startTestApp(
  { DATABASE_URL: cluster.url(primary), DATABASE_REPLICA_URL: cluster.url(standby) },
  {
    createDatabase: async () => {
      const connection = { connectionString: cluster.url(primary) }
      await migrate(connection)
      await installJobs(connection, createLog('silent'))
      return { connection, drop: async () => undefined }
    },
  },
)
const owner = await app.createOrg()

/** The port of the server that answers a read of `db.replica`. */
const portOfReads = async (): Promise<number> =>
  (await app.db.replica.row<{ port: number }>(sql`select inet_server_port() as port`))!.port

const write = () => app.call('POST', '/api/v1/agents', { as: owner, json: { name: 'Agent' } })
const untilReadsUse = ({ port }: { port: number }): Promise<unknown> =>
  until(
    async () => {
      await write()
      return portOfReads()
    },
    (found) => found === port,
  )

const listedIds = async (): Promise<string[]> => {
  const { body } = await app.call('GET', '/api/v1/agents?limit=100', { as: owner })
  return body.data.items.map(({ id }: { id: string }) => id)
}

test('a standby is recognised as a replica of its primary, and another database of it is not', async () => {
  const [one, other] = [primary, standby].map((server) => cluster.url(server)) as [string, string]
  await requireReplica({ connectionString: one }, { connectionString: other })
  const wrong = new URL(other)
  wrong.pathname = '/postgres'
  await assert.rejects(
    requireReplica({ connectionString: one }, { connectionString: wrong.href }),
    /DATABASE_REPLICA_URL leads to postgres, which is no replica/,
  )
})

test('lists are read from the standby when it has caught up', async () => {
  await untilReadsUse(standby)
})

test('every list contains what was created before it, whichever server answers', async () => {
  await untilReadsUse(standby)
  const other = await app.secondServer(
    { DATABASE_URL: cluster.url(primary), DATABASE_REPLICA_URL: cluster.url(standby) },
    { work: false },
  )
  for (let n = 0; n < 30; n++) {
    const { body } = await (n % 2 ? app : other).call('POST', '/api/v1/agents', { as: owner, json: { name: `${n}` } })
    assert.ok((await listedIds()).includes(body.data.id), `agent ${n}`)
  }
})

test('lists are read from the primary while the standby is behind, and show what was just written', async () => {
  await untilReadsUse(standby)
  await standby.query('select pg_wal_replay_pause()')
  const { body } = await write()
  assert.ok((await listedIds()).includes(body.data.id))
  assert.equal(await portOfReads(), primary.port)
  await standby.query('select pg_wal_replay_resume()')
  await untilReadsUse(standby)
})

test('authority never comes from the standby: a revoked key is rejected at once', async () => {
  await untilReadsUse(standby)
  const member = await app.createUser(owner, 'member')
  assert.equal((await app.call('GET', '/api/v1/agents', { as: member })).status, 200)
  await standby.query('select pg_wal_replay_pause()')
  const revoked = await app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: member })
  assert.ok(revoked.status < 300, revoked.text)
  assert.equal((await app.call('GET', '/api/v1/agents', { as: member })).status, 401)
  await standby.query('select pg_wal_replay_resume()')
})

test('lists are read from the primary when the standby is gone', async () => {
  await untilReadsUse(standby)
  await standby.kill()
  const { body } = await write()
  for (let n = 0; n < 5; n++) assert.ok((await listedIds()).includes(body.data.id))
  assert.equal(await portOfReads(), primary.port)
})
