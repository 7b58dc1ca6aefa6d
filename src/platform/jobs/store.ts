import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { ConstructorOptions, Db as BossDb } from 'pg-boss'
import { DatabaseClient } from '../database/connections/client.ts'
import { completeSchema, grantToTenants } from './queries.ts'
import type { Log } from '../process/log.ts'

// Shared by half a dozen loops whose statements take about a millisecond.
const poolSize = 2

export interface JobStore {
  boss: PgBoss
  db: BossDb
  close(): Promise<void>
}

const bossOver = (db: BossDb, log: Log, options: ConstructorOptions): PgBoss => {
  // Flows are not used. Once an hour is the longest interval of their poll.
  const boss = new PgBoss({ db, schema: 'pgboss', flowIntervalSeconds: 3_600, ...options })
  boss.on('error', (error) => log.warn({ err: error }, 'jobs: maintenance failed and will be repeated'))
  boss.on('warning', ({ message, data }) => log.warn({ data }, `jobs: ${message}`))
  return boss
}

const connect = async (connection: pg.ClientConfig, log: Log): Promise<DatabaseClient> => {
  const client = new DatabaseClient({ ...connection, application_name: 'atrium-jobs-install' })
  client.on('error', (error) => log.warn({ err: error }, 'jobs: connection lost while installing'))
  await client.connect()
  return client
}

/**
 * Creates or updates the schema `pgboss`, under an advisory lock for processes that start together. The lock belongs to a
 * transaction of a second connection, because pg-boss commits transactions of its own, and because a lock of a session
 * would stay on the server's connection when the client has a pooler.
 */
export const installJobs = async (connection: pg.ClientConfig, log: Log): Promise<void> => {
  const lock = await connect(connection, log)
  try {
    await lock.query(`begin; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
      select pg_advisory_xact_lock(hashtext('atrium-jobs-install'))`)
    const client = await connect(connection, log)
    try {
      const db: BossDb = { executeSql: (text, values) => client.query(text, values) }
      const boss = bossOver(db, log, { migrate: true, supervise: false, schedule: false })
      await boss.start()
      await boss.stop({ graceful: false })
      await completeSchema(db)
      await grantToTenants(db)
    } finally {
      await client.end()
    }
    await lock.query('commit')
  } finally {
    await lock.end()
  }
}

const openPool = (connection: pg.ClientConfig, log: Log): pg.Pool => {
  const pool = new pg.Pool({
    connectionTimeoutMillis: 5_000,
    // The client-side timeout applies if the network loses the response.
    query_timeout: 20_000,
    keepAlive: true,
    ...connection,
    application_name: 'atrium-jobs',
    settings: { statement_timeout: '15000', timezone: 'UTC', datestyle: 'ISO' },
    max: poolSize,
    Client: DatabaseClient,
  } as unknown as pg.PoolConfig)
  pool.on('error', (error) => log.warn({ err: error }, 'jobs: idle connection lost'))
  return pool
}

// Planning takes as long as execution here. The limit is for statements whose text varies.
const maxPreparedStatements = 200

const preparing = (pool: pg.Pool): BossDb => {
  const names = new Map<string, string>()
  return {
    executeSql: (text, values) => {
      // Maintenance sends several statements at once, which cannot be prepared.
      if (text.includes(';')) return pool.query(text, values)
      if (!names.has(text) && names.size < maxPreparedStatements) names.set(text, `j${names.size}`)
      const name = names.get(text)
      return pool.query(name === undefined ? { text, values: values ?? [] } : { name, text, values: values ?? [] })
    },
  }
}

/** Opens pg-boss with connections of its own; the schema must be installed. With `work` it also runs maintenance. */
export const openJobStore = async (
  connection: pg.ClientConfig,
  log: Log,
  { work, upkeepMs }: { work: boolean; upkeepMs: number },
): Promise<JobStore> => {
  const pool = openPool(connection, log)
  const db = preparing(pool)
  const upkeepSeconds = upkeepMs / 1_000
  const boss = bossOver(db, log, {
    migrate: work,
    supervise: work,
    schedule: work,
    superviseIntervalSeconds: upkeepSeconds,
    monitorIntervalSeconds: upkeepSeconds,
  })
  try {
    await boss.start()
  } catch (error) {
    await pool.end()
    throw error
  }
  return {
    boss,
    db,
    close: async () => {
      await boss.stop({ graceful: false })
      await pool.end()
    },
  }
}
