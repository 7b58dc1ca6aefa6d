import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'
import type { Command, Output } from './command.ts'
import { withConnection } from './database.ts'
import { ConfigError } from '../config/config.ts'
import type { Config } from '../config/config.ts'
import { findRunning, prepareDataDir } from '../platform/postgres/data-dir.ts'
import { createDiskSpace } from '../platform/process/disk-space.ts'
import { openDatabase } from '../platform/database/database.ts'
import { checkSecrets } from '../platform/encryption/keys.ts'
import { pendingMigrations } from '../platform/database/migrate.ts'
import { openObjectStore } from '../platform/object-store/open.ts'
import { StartError } from '../platform/process/start-error.ts'
import { readConfig } from '../read-config.ts'
import { tenantRole } from '../platform/database/tenant-role.ts'

interface Finding {
  name: string
  ok: boolean
  detail: string
}

const oldestNode = 26
// A first start takes 60 MB; PostgreSQL stops writing when nothing is left.
const leastFreeBytes = 500_000_000

const exists = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

/** The reasons of an error and of what caused it, for a person. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const own = error.message === '' ? ((error as { code?: string }).code ?? error.name) : error.message
  if (error instanceof StartError) return error.hint === undefined ? own : `${own} ${error.hint}`
  return error.cause === undefined ? own : `${own} (${reasonOf(error.cause)})`
}

const find = async (name: string, look: () => Promise<string>): Promise<Finding> => {
  try {
    return { name, ok: true, detail: await look() }
  } catch (error) {
    return { name, ok: false, detail: reasonOf(error) }
  }
}

const checkNode = async (): Promise<string> => {
  if (Number.parseInt(process.versions.node, 10) < oldestNode) {
    throw new Error(`${process.versions.node}; Atrium needs ${oldestNode} or newer`)
  }
  return process.versions.node
}

const checkDataDir = async ({ dataDir, diskReserveBytes }: Config): Promise<string> => {
  if (!(await exists(dataDir))) return `${dataDir} is not there yet: the first start makes it`
  const path = await prepareDataDir(dataDir)
  const { freeBytes, reserveBytes } = await createDiskSpace({ path, reserveBytes: diskReserveBytes }).read()
  if (freeBytes < reserveBytes) {
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
    throw new Error(
      `${path} has only ${megabytes(freeBytes)} free: uploads are rejected until ${megabytes(reserveBytes)} are free`,
    )
  }
  const free = `${(freeBytes / 1e9).toFixed(1)} GB free`
  if (freeBytes < leastFreeBytes) throw new Error(`${path} has only ${free}`)
  return `${path} can be written to, ${free}`
}

const checkSchema = async (connection: pg.ClientConfig): Promise<[Finding, boolean]> => {
  let isCurrent = false
  const finding = await find('database', async () => {
    const { serverVersion, pending } = await pendingMigrations(connection)
    isCurrent = pending.length === 0
    const schema = isCurrent ? 'its schema is up to date' : `the next start applies ${pending.join(', ')}`
    return `PostgreSQL ${serverVersion}, ${schema}`
  })
  return [finding, isCurrent]
}

const checkEncryption = async (config: Config, connection: pg.ClientConfig): Promise<string> => {
  const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
  try {
    const sealer = await checkSecrets(db, config)
    return sealer ? `the key ${sealer.currentKeyId} fits` : 'there are none yet: the first start makes one'
  } finally {
    await db.close()
  }
}

/** Without the role, isolation rests on the statements alone: worth knowing, and no reason to stop. */
const checkTenantPolicies = async (connection: pg.ClientConfig): Promise<string> => {
  const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
  try {
    return (await db.hasTenantPolicies())
      ? 'transactions of an org are limited to its rows'
      : `not in use: this database user may not act as the role ${tenantRole}`
  } finally {
    await db.close()
  }
}

/** What is wrong with the database, and whether the encryption keys are those that it was written with. */
const checkDatabase = async (config: Config): Promise<Finding[]> => {
  const cluster = join(config.dataDir, 'postgres', 'data', 'PG_VERSION')
  if (config.databaseUrl === undefined && !(await exists(cluster))) {
    return [{ name: 'database', ok: true, detail: 'is not there yet: the first start makes it' }]
  }
  try {
    return await withConnection(
      config,
      () => undefined,
      async (connection) => {
        const [schema, isCurrent] = await checkSchema(connection)
        if (!isCurrent) return [schema]
        return [
          schema,
          await find('row-level security', () => checkTenantPolicies(connection)),
          await find('encryption keys', () => checkEncryption(config, connection)),
        ]
      },
    )
  } catch (error) {
    return [{ name: 'database', ok: false, detail: reasonOf(error) }]
  }
}

const checkObjects = async (config: Config): Promise<string> => {
  const where = config.s3 === undefined ? config.dataDir : `bucket ${config.s3.bucket}`
  if (config.s3 === undefined && !(await exists(config.dataDir))) return 'is not there yet: the first start makes it'
  const objects = await openObjectStore(config)
  await objects.check()
  return `${where} can be written to and read from`
}

/** Whether what listens there answers as Atrium does: one beside an external database leaves no trace in DATA_DIR. */
const isAtrium = async (host: string, port: number): Promise<boolean> => {
  const local = ({ '0.0.0.0': '127.0.0.1', '::': '::1' } as Record<string, string>)[host] ?? host
  try {
    const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/healthz`
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2_000) })
    const text = await answer.text()
    return answer.headers.has('x-request-id') && text === '{"success":true,"data":{"status":"ok"}}'
  } catch {
    return false
  }
}

const checkPort = async (config: Config): Promise<string> => {
  const { host, port } = config
  const address = `${host}:${port}`
  try {
    await new Promise<void>((resolve, reject) => {
      const server = createServer()
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const running = await findRunning(config.dataDir)
    if (running?.url !== undefined) return `${address} is taken by the running Atrium (process ${running.pid})`
    if (await isAtrium(host, port)) return `${address} is taken by a running Atrium`
    throw new StartError(`${address} is taken by another program.`, 'Stop it, or choose another PORT.', {
      cause: error,
    })
  }
  return `${address} is free`
}

const findAll = async (env: NodeJS.ProcessEnv): Promise<Finding[]> => {
  const node = await find('Node.js', checkNode)
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    const detail = error instanceof ConfigError ? error.mistakes.join('; ') : reasonOf(error)
    return [node, { name: 'environment', ok: false, detail }]
  }
  return [
    node,
    { name: 'environment', ok: true, detail: config.environment },
    await find('data directory', () => checkDataDir(config)),
    ...(await checkDatabase(config)),
    await find('object store', () => checkObjects(config)),
    await find('port', () => checkPort(config)),
  ]
}

const doctor = async (env: NodeJS.ProcessEnv): Promise<Output> => {
  const checks = await findAll(env)
  const ok = checks.every((check) => check.ok)
  const width = Math.max(...checks.map(({ name }) => name.length))
  return {
    json: { ok, checks },
    lines: checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name.padEnd(width)}  ${detail}`),
    ok,
  }
}

export const doctorCommand: Command = {
  words: 'doctor',
  summary: 'Check everything that the server needs',
  options: {},
  details: 'One line a check; exit code 1 when one fails. Works before the first start and beside a running server.',
  needs: 'environment',
  run: doctor,
}
