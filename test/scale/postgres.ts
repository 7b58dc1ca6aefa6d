// A PostgreSQL primary with a synchronous standby, each behind a PgBouncer of its own.
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { findInstalled, freePort } from '../fakes/programs.ts'
import { until } from '../support/until.ts'
import { giveToAccount, postgresPrograms, runUnprivileged, startDaemon } from './daemons.ts'
import type { Daemon } from './daemons.ts'

const user = 'atrium'
const database = 'atrium'

interface Node {
  dataDir: string
  logFile: string
  port: number
  poolerPort: number
  poolerConfig: string
  server: Daemon | undefined
  pooler: Daemon | undefined
}

export interface PostgresCluster {
  /** The poolers, for DATABASE_URL. */
  poolerUrl: string
  /** The servers, for DATABASE_DIRECT_URL. */
  directUrl: string
  /** Runs a statement on the primary. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Kills the primary, promotes the standby, and replaces the old primary by a new standby. */
  failOver(): Promise<void>
  /** Kills the pooler of the primary and starts it again. */
  restartPooler(): Promise<void>
  stop(): Promise<void>
}

// Processes are killed, not machines: what PostgreSQL wrote stays in the page cache.
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
shared_buffers = 64MB
max_connections = 100
wal_level = replica
max_wal_senders = 4
wal_keep_size = 256MB
hot_standby = on
`

const poolerSettings = (node: Node, users: string): string => `[databases]
* = host=127.0.0.1 port=${node.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${node.poolerPort}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
max_client_conn = 300
default_pool_size = 20
server_login_retry = 0.2
query_wait_timeout = 5
`

const connect = async (port: number, name = database): Promise<pg.Client> => {
  const client = new pg.Client({ host: '127.0.0.1', port, user, database: name, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

const once = async (port: number, text: string, name = database): Promise<Record<string, unknown>[]> => {
  const client = await connect(port, name)
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const responds = (port: number, name: string): Promise<boolean> =>
  once(port, 'select 1', name).then(
    () => true,
    () => false,
  )

export const startPostgresCluster = async (folder: string): Promise<PostgresCluster> => {
  const bin = (await postgresPrograms()) ?? ''
  const pgbouncer = (await findInstalled('pgbouncer')) ?? ''
  const home = join(folder, 'postgres')
  await mkdir(home)
  await giveToAccount(home)
  const users = join(folder, 'users.txt')
  await writeFile(users, `"${user}" ""\n`)

  const newNode = async (name: string): Promise<Node> => ({
    dataDir: join(home, name),
    logFile: join(folder, `${name}.log`),
    port: await freePort(),
    poolerPort: await freePort(),
    poolerConfig: join(folder, `pgbouncer-${name}.ini`),
    server: undefined,
    pooler: undefined,
  })
  let [primary, standby] = [await newNode('one'), await newNode('two')]
  const urlOf = (ports: number[]): string =>
    `postgres://${user}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database}`
  const urls = {
    poolerUrl: urlOf([primary.poolerPort, standby.poolerPort]),
    directUrl: urlOf([primary.port, standby.port]),
  }

  const startServer = async (node: Node): Promise<void> => {
    node.server = startDaemon([join(bin, 'postgres'), '-D', node.dataDir, '-p', `${node.port}`], node)
    await until('PostgreSQL accepts connections', () => responds(node.port, 'postgres'))
  }
  const startPooler = async (node: Node): Promise<void> => {
    await writeFile(node.poolerConfig, poolerSettings(node, users))
    node.pooler = startDaemon([pgbouncer, node.poolerConfig], { logFile: `${node.poolerConfig}.log` })
    await until('PgBouncer accepts connections', () => responds(node.poolerPort, database))
  }
  /** Makes the standby a copy of the primary, which then waits for it at each commit. */
  const follow = async (): Promise<void> => {
    const { dataDir, port } = standby
    await rm(dataDir, { recursive: true, force: true })
    const source = ['-h', '127.0.0.1', '-p', `${primary.port}`, '-U', user]
    await runUnprivileged(
      join(bin, 'pg_basebackup'),
      ...source,
      '-D',
      dataDir,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-N',
    )
    await startServer(standby)
    await until('the standby streams', async () => {
      const rows = await once(primary.port, `select from pg_stat_replication where state = 'streaming'`)
      return rows.length > 0
    })
    await once(primary.port, `alter system set synchronous_standby_names = '*'`)
    await once(primary.port, 'select pg_reload_conf()')
    await until(`the standby on port ${port} is synchronous`, async () => {
      const rows = await once(primary.port, `select from pg_stat_replication where sync_state = 'sync'`)
      return rows.length > 0
    })
  }

  await runUnprivileged(join(bin, 'initdb'), '-D', primary.dataDir, '-U', user, '-A', 'trust', '-E', 'UTF8', '-N')
  const conf = join(primary.dataDir, 'postgresql.conf')
  await appendFile(conf, settings)
  await startServer(primary)
  await once(primary.port, `create database ${database}`, 'postgres')
  await follow()
  await Promise.all([startPooler(primary), startPooler(standby)])

  return {
    ...urls,
    query: async (text, values = []) => {
      const client = await connect(primary.port)
      try {
        return (await client.query<Record<string, unknown>>(text, values)).rows
      } finally {
        await client.end()
      }
    },
    failOver: async () => {
      await primary.server?.kill()
      await once(standby.port, 'select pg_promote()')
      ;[primary, standby] = [standby, primary]
      await follow()
    },
    restartPooler: async () => {
      await primary.pooler?.kill()
      await startPooler(primary)
    },
    stop: async () => {
      for (const node of [primary, standby]) {
        await node.pooler?.kill()
        await node.server?.kill()
      }
    },
  }
}
