import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { installJobs } from '../src/platform/jobs/store.ts'
import { createLog } from '../src/platform/process/log.ts'
import { migrate } from '../src/platform/database/migrate.ts'
import {
  cloneClusterDatabase,
  clusterOf,
  clusterTemplate,
  createClusterDatabase,
  distributeTemplate,
  dropClusterDatabase,
  findCluster,
} from './citus.ts'

/** The template of the databases of all test files. */
export const templateDatabase = 'atrium_template'

/** A PostgreSQL server for tests. `npm test` passes it to the test files in ATRIUM_TEST_POSTGRES. */
export interface TestServer {
  connection: pg.ClientConfig
  stop(): Promise<void>
}

const adminOf = (connection: pg.ClientConfig): pg.ClientConfig => ({ ...connection, database: 'postgres' })

const run = async (connection: pg.ClientConfig, text: string): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** Prepares the template on the Citus cluster that `ATRIUM_TEST_CITUS_URL` names. */
const useCluster = async (url: string): Promise<TestServer> => {
  const cluster = await findCluster(url)
  process.env['ATRIUM_TEST_CITUS_NODES'] = JSON.stringify(cluster.nodes)
  await prepareTemplate(cluster.coordinator)
  return { connection: cluster.coordinator, stop: () => dropClusterDatabase(cluster, clusterTemplate()) }
}

/** What the server's log says about backends that crashed: the signal, and the statement in the lines after it. */
const crashesIn = async (dataDir: string): Promise<string[]> => {
  const log = await readFile(join(dataDir, 'postgres/postgres.log'), 'utf8').catch(() => '')
  const lines = log.split('\n')
  return lines.flatMap((line, at) => (line.includes('was terminated by signal') ? lines.slice(at, at + 30) : []))
}

/**
 * Starts an embedded PostgreSQL of its own in a temporary folder, unless `ATRIUM_TEST_CITUS_URL` names a Citus cluster,
 * and migrates the template database.
 */
export const startTestServer = async (): Promise<TestServer> => {
  const citusUrl = process.env['ATRIUM_TEST_CITUS_URL']
  if (citusUrl !== undefined) return useCluster(citusUrl)
  const { startEmbeddedPostgres } = await import('../src/platform/postgres/embedded-postgres.ts')
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-test-'))
  const server = await startEmbeddedPostgres({
    dataDir,
    // These databases need no durability. The crash tests start their own servers with production settings.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '1000' },
  })
  const connection = { host: server.socketDir, port: server.port, user: server.user, database: server.database }
  await prepareTemplate(connection)
  return {
    connection,
    stop: async () => {
      await server.stop()
      for (const line of await crashesIn(dataDir)) console.error(line)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Creates the template database on a server, and replaces an existing one. */
export const prepareTemplate = async (connection: pg.ClientConfig): Promise<void> => {
  const cluster = clusterOf(connection)
  if (cluster) {
    await dropClusterDatabase(cluster, clusterTemplate())
    await createClusterDatabase(cluster, clusterTemplate())
  } else {
    await run(adminOf(connection), `drop database if exists ${templateDatabase}`)
    await run(adminOf(connection), `create database ${templateDatabase}`)
  }
  const template = { ...connection, database: cluster ? clusterTemplate() : templateDatabase }
  await migrate(template)
  await installJobs(template, createLog('warn'))
  // The triggers write what older versions do not. Without them, tests fail when this version does not write it.
  await run(template, 'drop function directory_entry cascade')
  // Marks the schedules as processed for a day, because a scheduled job could process the rows of a test before the test
  // does.
  await run(template, `update pgboss.version set cron_on = now() + interval '1 day'`)
  if (cluster) await distributeTemplate(cluster, clusterTemplate())
}

const newName = (): string => `test_${randomBytes(8).toString('hex')}`

/** A new database with a unique name, and a function that drops it. */
const createDatabase = async (
  connection: pg.ClientConfig,
  options = '',
): Promise<{ connection: pg.ClientConfig; drop: () => Promise<void> }> => {
  const database = newName()
  await run(adminOf(connection), `create database ${database} ${options}`)
  return {
    connection: { ...connection, database },
    drop: () => run(adminOf(connection), `drop database if exists ${database} with (force)`),
  }
}

/** A database without any schema. */
export const createEmptyDatabase = (connection: pg.ClientConfig) => createDatabase(connection)

/** A copy of the migrated template database. */
export const cloneDatabase = async (connection: pg.ClientConfig): ReturnType<typeof createDatabase> => {
  // Copying the files takes a third of the time of writing each block to the WAL.
  const cluster = clusterOf(connection)
  if (!cluster) return createDatabase(connection, `template ${templateDatabase} strategy file_copy`)
  const database = newName()
  await cloneClusterDatabase(cluster, clusterTemplate(), database)
  return { connection: { ...connection, database }, drop: () => dropClusterDatabase(cluster, database) }
}

/** The server that `npm test` started for all files, else a new one for this file. */
export const sharedServer = async (): Promise<TestServer> => {
  const given = process.env['ATRIUM_TEST_POSTGRES']
  if (given === undefined) return startTestServer()
  return { connection: JSON.parse(given) as pg.ClientConfig, stop: async () => undefined }
}

/** The connection as a URL, for DATABASE_URL. */
export const urlOf = ({ host, port, user, database }: pg.ClientConfig): string =>
  `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`
