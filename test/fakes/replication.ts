import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { chooseIdentity, findBinaries } from '../../src/platform/postgres/binaries.ts'
import type { PostgresUser } from '../../src/platform/postgres/binaries.ts'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { launchPostmaster, stopPostmaster } from '../../src/platform/postgres/process.ts'
import type { Postmaster } from '../../src/platform/postgres/process.ts'
import { freePort } from './programs.ts'
import { until } from '../support/until.ts'

/** One PostgreSQL server on 127.0.0.1. */
export interface ClusterServer {
  port: number
  /** Runs a statement on this server, as a superuser in the database `atrium`. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>
  /** SIGKILL: no connection is closed in order, and nothing is written. */
  kill(): Promise<void>
}

/** A primary and a standby that replicates it. */
export interface TestCluster {
  primary: ClusterServer
  standby: ClusterServer
  /** `postgres://…@127.0.0.1:<port>,127.0.0.1:<port>/atrium` */
  url(...servers: ClusterServer[]): string
  stop(): Promise<void>
}

const run = promisify(execFile)

const settings = (port: number, name: string): Record<string, string> => ({
  listen_addresses: '127.0.0.1',
  port: String(port),
  cluster_name: name,
  wal_level: 'replica',
  max_wal_senders: '4',
  hot_standby: 'on',
  max_connections: '60',
  shared_buffers: '32MB',
})

const launch = async (
  home: string,
  identity: PostgresUser,
  { name, port, ...more }: { name: string; port: number; [setting: string]: string | number },
): Promise<Postmaster> => {
  const address = { socketDir: join(home, 'run'), port, database: 'atrium', user: 'atrium' }
  return launchPostmaster({
    binaries: await findBinaries(),
    identity,
    home,
    address,
    settings: { ...settings(port, name), ...(more as Record<string, string>) },
    log: () => undefined,
  })
}

const serverOf = (postmaster: Postmaster, port: number): ClusterServer => ({
  port,
  query: async (text) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'atrium', database: 'atrium' })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  },
  kill: async () => {
    postmaster.child.kill('SIGKILL')
    await postmaster.exit
  },
})

/** Starts both servers and resolves when the standby replicates. A commit waits for a synchronous standby. The standby is a copy of a stopped server. */
export const startCluster = async ({ isSynchronous = true } = {}): Promise<TestCluster> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-cluster-'))
  const [first, second] = [join(folder, 'a'), join(folder, 'b')]
  await mkdir(first)
  const created = await startEmbeddedPostgres({
    dataDir: first,
    settings: { wal_level: 'replica', max_wal_senders: '4' },
  })
  await created.stop()
  const homes = [join(first, 'postgres'), join(second, 'postgres')] as const
  const data = join(homes[0], 'data')
  await appendFile(
    join(data, 'pg_hba.conf'),
    '\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n',
  )
  // The last line of each kind would never be read behind a rule that rejects everything.
  await run('sed', ['-i', '/reject$/d', join(data, 'pg_hba.conf')])
  await run('cp', ['-a', first, second])
  await writeFile(join(homes[1], 'data', 'standby.signal'), '')
  const { identity } = await chooseIdentity(await findBinaries(), folder, undefined)
  const ports = [await freePort(), await freePort()] as const
  const conninfo = `host=127.0.0.1 port=${ports[0]} user=atrium application_name=b`
  const primary = await launch(homes[0], identity, {
    name: 'a',
    port: ports[0],
    synchronous_standby_names: isSynchronous ? 'b' : '',
  })
  const standby = await launch(homes[1], identity, { name: 'b', port: ports[1], primary_conninfo: conninfo })
  const servers = [serverOf(primary, ports[0]), serverOf(standby, ports[1])] as const
  await until('the standby replicates', async () => {
    const rows = await servers[0].query<{ state: string }>('select state from pg_stat_replication')
    return rows[0]?.state === 'streaming'
  })
  return {
    primary: servers[0],
    standby: servers[1],
    url: (...of) => `postgres://atrium@${of.map(({ port }) => `127.0.0.1:${port}`).join(',')}/atrium`,
    stop: async () => {
      await Promise.all([stopPostmaster(primary), stopPostmaster(standby)])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
