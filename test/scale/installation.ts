// Atrium on all of its services: two API processes behind nginx and two workers, on PostgreSQL with a synchronous standby,
// PgBouncer, Redis and Ceph.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateKey } from '../../src/platform/key-format.ts'
import { isCephInstalled, cephInstallHint, createBucket, startCeph } from '../fakes/ceph.ts'
import type { Ceph } from '../fakes/ceph.ts'
import { hasProxy, startProxy } from '../fakes/proxy.ts'
import { createRedis, hasRedis } from '../fakes/redis.ts'
import type { TestRedis } from '../fakes/redis.ts'
import { findInstalled, freePort } from '../fakes/programs.ts'
import { childEnv } from '../support/child-processes.ts'
import { available } from '../support/require.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { postgresPrograms } from './daemons.ts'
import { startPostgresCluster } from './postgres.ts'
import type { PostgresCluster } from './postgres.ts'

const run = promisify(execFile)

export const apiNames = ['api-1', 'api-2'] as const
export const processNames = [...apiNames, 'worker-1', 'worker-2'] as const
export type ProcessName = (typeof processNames)[number]

const packages = 'apt-get install --no-install-recommends postgresql pgbouncer'

/** Whether every program is installed. If not, the summary names the test and the packages. */
export const canInstall = async (): Promise<boolean> => {
  const programs = async (): Promise<boolean> =>
    (await Promise.all([postgresPrograms(), findInstalled('pgbouncer')])).every((path) => path !== undefined)
  return (
    (await available('scale', programs, packages)) &&
    (await hasProxy('nginx')) &&
    (await available('s3', isCephInstalled, cephInstallHint)) &&
    (await hasRedis())
  )
}

export interface Installation {
  key: string
  /** The URL of nginx. */
  url: string
  postgres: PostgresCluster
  redis: TestRedis
  /** Starts a process, or starts it again. */
  start(name: ProcessName): Promise<void>
  kill(name: ProcessName): Promise<void>
  /** Sends SIGTERM to all processes and returns their exit codes. */
  stopProcesses(): Promise<(number | null)[]>
  /** Runs an `atrium` command and returns its JSON. */
  atrium(...words: string[]): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

const environment = async (
  { postgres, ceph, redis }: { postgres: PostgresCluster; ceph: Ceph; redis: TestRedis },
  key: string,
): Promise<Record<string, string>> => ({
  DATABASE_URL: postgres.poolerUrl,
  DATABASE_DIRECT_URL: postgres.directUrl,
  REDIS_URL: redis.url,
  S3_BUCKET: await createBucket(ceph),
  S3_ENDPOINT: ceph.endpoint,
  S3_FORCE_PATH_STYLE: '1',
  AWS_ACCESS_KEY_ID: ceph.accessKeyId,
  AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
  ENCRYPTION_KEYS: `scale:${randomBytes(32).toString('base64')}`,
  BOOTSTRAP_API_KEY: key,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  TRUST_PROXY: '1',
  BILLING_ENFORCED: '1',
  PLATFORM_FEE_WAIVER_CENTS: '0',
  PLATFORM_FEE_BPS: '777',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,1,1',
  // High enough that no request is rejected, so that the limiter still runs.
  ...Object.fromEntries(
    ['READS', 'WRITES', 'UPLOADS', 'TURNS', 'RECEIVE'].map((what) => [`RATE_LIMIT_${what}`, '1000000']),
  ),
  LOG_LEVEL: process.env['SCALE_LOG_LEVEL'] ?? 'silent',
})

export const install = async (): Promise<Installation> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-scale-'))
  // PostgreSQL and PgBouncer run as another user.
  await chmod(folder, 0o755)
  const [postgres, ceph, redis] = await Promise.all([startPostgresCluster(folder), startCeph(), createRedis()])
  await redis.start()
  const key = generateKey('dev')
  const env = await environment({ postgres, ceph, redis }, key)
  const ports = new Map<ProcessName, number>()
  for (const name of apiNames) ports.set(name, await freePort())
  const servers = new Map<ProcessName, ServerProcess>()

  const start = async (name: ProcessName): Promise<void> => {
    const port = ports.get(name)
    // Each process has a data directory of its own; they share only the services.
    const own = { DATA_DIR: join(folder, name), ...(port === undefined ? {} : { PORT: `${port}` }) }
    servers.set(name, await startServerProcess({ ...env, ...own }, port === undefined ? 'worker' : 'api'))
  }
  // Started alone, because the first start migrates the database.
  for (const name of processNames) await start(name)
  const [first, second] = [...ports.values()].map((port) => `127.0.0.1:${port}`) as [string, string]
  const port = await startProxy('nginx', [first, second])
  return {
    key,
    url: `http://127.0.0.1:${port}`,
    postgres,
    redis,
    start,
    kill: async (name) => {
      const server = servers.get(name)
      servers.delete(name)
      await server?.kill()
      if (process.env['SCALE_LOG_LEVEL'] !== undefined) console.log(name, server?.output().slice(-4_000))
    },
    stopProcesses: async () => {
      const codes = await Promise.all([...servers.values()].map((server) => server.stop()))
      if (process.env['SCALE_LOG_LEVEL'] !== undefined) {
        for (const [name, server] of servers) console.log(name, server.output().slice(-4_000))
      }
      servers.clear()
      return codes
    },
    atrium: async (...words) => {
      const cli = new URL('../../src/cli/cli.ts', import.meta.url).pathname
      const options = { env: { ...childEnv, ...env, DATA_DIR: join(folder, 'cli') } }
      const { stdout } = await run(process.execPath, [cli, ...words, '--json'], options)
      return JSON.parse(stdout) as Record<string, unknown>
    },
    stop: async () => {
      for (const server of servers.values()) await server.kill()
      await redis.kill()
      await Promise.all([ceph.stop(), postgres.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
