import { randomUUID } from 'node:crypto'
import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'
import type { Command, Output } from './command.ts'
import { directOf, withConnection } from './database.ts'
import {
  checkClock,
  checkConnections,
  checkEncryption,
  checkRights,
  checkStoredFiles,
  checkTenantPolicies,
} from './doctor-database.ts'
import { ConfigError } from '../config/config.ts'
import type { Config } from '../config/config.ts'
import { findMisspelled } from '../config/misspelled.ts'
import { findRunning, prepareDataDir } from '../platform/postgres/data-dir.ts'
import { createDiskSpace } from '../platform/process/disk-space.ts'
import { requireReplica, requireSameDatabase } from '../platform/database/connections/requirements.ts'
import { openDatabase } from '../platform/database/database.ts'
import type { Database } from '../platform/database/database.ts'
import { sqlState } from '../platform/database/errors.ts'
import { pendingMigrations } from '../platform/database/migrate.ts'
import { openObjectStore } from '../platform/object-store/open.ts'
import { StartError } from '../platform/process/start-error.ts'
import { createRedisClient } from '../platform/redis/redis.ts'
import { readConfig } from '../read-config.ts'

interface Check {
  name: string
  ok: boolean
  detail: string
}

const minNode = 26
// A first start uses 60 MB, and PostgreSQL stops when the disk is full.
const minFreeBytes = 500_000_000

const exists = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

/** The messages of an error and of its causes. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const own = error.message === '' ? ((error as { code?: string }).code ?? error.name) : error.message
  if (error instanceof StartError) return error.hint === undefined ? own : `${own} ${error.hint}`
  return error.cause === undefined ? own : `${own} (${reasonOf(error.cause)})`
}

const check = async (name: string, run: () => Promise<string>): Promise<Check> => {
  try {
    return { name, ok: true, detail: await run() }
  } catch (error) {
    return { name, ok: false, detail: reasonOf(error) }
  }
}

const checkNode = async (): Promise<string> => {
  if (Number.parseInt(process.versions.node, 10) < minNode) {
    throw new Error(`${process.versions.node}; Atrium requires ${minNode} or newer`)
  }
  return process.versions.node
}

const checkDataDir = async ({ dataDir, diskReserveBytes }: Config): Promise<string> => {
  if (!(await exists(dataDir))) return `${dataDir} does not exist; the first start creates it`
  const path = await prepareDataDir(dataDir)
  const { freeBytes, reserveBytes } = await createDiskSpace({ path, reserveBytes: diskReserveBytes }).read()
  if (freeBytes < reserveBytes) {
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
    throw new Error(
      `${path} has only ${megabytes(freeBytes)} free; uploads are rejected until ${megabytes(reserveBytes)} are free`,
    )
  }
  const free = `${(freeBytes / 1e9).toFixed(1)} GB free`
  if (freeBytes < minFreeBytes) throw new Error(`${path} has only ${free}`)
  return `${path} is writable, ${free}`
}

/** The pool, two for point reads, two for queues and three for jobs. */
const connectionsOf = ({ databasePoolSize }: Config): number => databasePoolSize + 7

const isPermissionDenied = (error: unknown): boolean => sqlState(error) === '42501'

interface SchemaCheck {
  result: Check
  /** Also when this role may not read the history of migrations. */
  isReachable: boolean
  isCurrent: boolean
}

const checkSchema = async (connection: pg.ClientConfig): Promise<SchemaCheck> => {
  let isReachable = false
  let isCurrent = false
  const result = await check('database', async () => {
    const { serverVersion, pending } = await pendingMigrations(connection).catch((error: unknown) => {
      isReachable = isPermissionDenied(error)
      throw error
    })
    isReachable = true
    isCurrent = pending.length === 0
    const schema = isCurrent ? 'schema up to date' : `the next start applies the migrations ${pending.join(', ')}`
    return `PostgreSQL ${serverVersion}, ${schema}`
  })
  return { result, isReachable, isCurrent }
}

/** What needs the schema of this version. */
const checkContents = async (config: Config, db: Database): Promise<Check[]> => [
  await check('row-level security', () => checkTenantPolicies(db)),
  await check('encryption keys', () => checkEncryption(db, config)),
  await check('stored files', async () => checkStoredFiles(db, config, await exists(config.dataDir))),
]

/** Whether the other URLs lead to the database of DATABASE_URL. */
const checkOtherServers = async (config: Config, connection: pg.ClientConfig): Promise<Check[]> => {
  const direct = directOf(config)
  const { databaseReplicaUrl: replicaUrl } = config
  const checks: Check[] = []
  if (direct) {
    const compare = async (): Promise<string> => {
      await requireSameDatabase(connection, direct)
      return 'DATABASE_DIRECT_URL leads to the same database'
    }
    checks.push(await check('direct connection', compare))
  }
  if (replicaUrl !== undefined) {
    const compare = async (): Promise<string> => {
      await requireReplica(connection, { connectionString: replicaUrl })
      return 'DATABASE_REPLICA_URL leads to a replica of the same database'
    }
    checks.push(await check('replica', compare))
  }
  return checks
}

/** Checks the database, and the encryption keys and the object store against it. */
const checkDatabase = async (config: Config): Promise<Check[]> => {
  const cluster = join(config.dataDir, 'postgres', 'data', 'PG_VERSION')
  if (config.databaseUrl === undefined && !(await exists(cluster))) {
    return [{ name: 'database', ok: true, detail: 'does not exist; the first start creates it' }]
  }
  try {
    return await withConnection(
      config,
      () => undefined,
      async (connection) => {
        const { result, isReachable, isCurrent } = await checkSchema(connection)
        if (!isReachable) return [result]
        const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
        try {
          const rights = await check('permissions', () => checkRights(db))
          return [
            result,
            ...(await checkOtherServers(config, connection)),
            rights,
            await check('connections', () => checkConnections(db, connectionsOf(config))),
            await check('clock', () => checkClock(db)),
            ...(isCurrent && rights.ok ? await checkContents(config, db) : []),
          ]
        } finally {
          await db.close()
        }
      },
    )
  } catch (error) {
    return [{ name: 'database', ok: false, detail: reasonOf(error) }]
  }
}

const checkObjects = async (config: Config): Promise<string> => {
  const where = config.s3 === undefined ? config.dataDir : `bucket ${config.s3.bucket}`
  if (config.s3 === undefined && !(await exists(config.dataDir))) return 'does not exist; the first start creates it'
  const objects = await openObjectStore(config)
  await objects.check()
  return `${where} is readable and writable`
}

const checkRedis = async (url: string): Promise<string> => {
  const redis = await createRedisClient(url, {
    connectionName: 'atrium-doctor',
    commandTimeout: 2_000,
    reconnects: false,
  })
  // The command rejects with the same reason.
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    const probe = randomUUID()
    // A write, because a replica and a full Redis respond to pings as well.
    await redis.set(`atrium:doctor:${probe}`, probe, 'PX', 1_000)
    return 'is writable'
  } finally {
    redis.disconnect()
  }
}

/** Whether the program on the port is Atrium. With an external database, a server leaves no record in DATA_DIR. */
const isAtrium = async (host: string, port: number): Promise<boolean> => {
  const local = ({ '0.0.0.0': '127.0.0.1', '::': '::1' } as Record<string, string>)[host] ?? host
  try {
    const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/healthz`
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2_000) })
    const text = await response.text()
    return response.headers.has('x-request-id') && text === '{"success":true,"data":{"status":"ok"}}'
  } catch {
    return false
  }
}

const checkPort = async (config: Config): Promise<string> => {
  const { host, port, dataDir } = config
  const address = `${host}:${port}`
  const running = await findRunning(dataDir)
  // It may have been started with another PORT.
  if (running?.url !== undefined) {
    return `the server of this data directory is running at ${running.url} (process ${running.pid})`
  }
  try {
    await new Promise<void>((resolve, reject) => {
      const server = createServer()
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (await isAtrium(host, port)) return `${address} is in use by a running Atrium`
    throw new StartError(`${address} is in use by another program.`, 'Stop that program or choose another PORT.', {
      cause: error,
    })
  }
  return `${address} is free`
}

const checkEnvironment = (env: NodeJS.ProcessEnv, { environment }: Config): Check => {
  const misspelled = findMisspelled(env).map(({ name, known }) => `${name} is not a variable of Atrium: ${known}?`)
  return { name: 'environment', ok: misspelled.length === 0, detail: misspelled.join('; ') || environment }
}

const runChecks = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const node = await check('Node.js', checkNode)
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    const detail = error instanceof ConfigError ? error.mistakes.join('; ') : reasonOf(error)
    return [node, { name: 'environment', ok: false, detail }]
  }
  const { redisUrl } = config
  return [
    node,
    checkEnvironment(env, config),
    await check('data directory', () => checkDataDir(config)),
    ...(await checkDatabase(config)),
    await check('object store', () => checkObjects(config)),
    ...(redisUrl === undefined ? [] : [await check('Redis', () => checkRedis(redisUrl))]),
    await check('port', () => checkPort(config)),
  ]
}

const doctor = async (env: NodeJS.ProcessEnv): Promise<Output> => {
  const checks = await runChecks(env)
  const ok = checks.every(({ ok }) => ok)
  const width = Math.max(...checks.map(({ name }) => name.length))
  return {
    json: { ok, checks },
    lines: checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name.padEnd(width)}  ${detail}`),
    ok,
  }
}

export const doctorCommand: Command = {
  words: 'doctor',
  summary: 'Check the environment, database, keys, object store, Redis and port',
  options: {},
  details: 'Exit code 1 when a check fails. Works before the first start and while a server is running.',
  needs: 'environment',
  run: doctor,
}
