import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { installJobs } from '../src/platform/jobs/store.ts'
import { createLog } from '../src/platform/process/log.ts'
import { migrate } from '../src/platform/database/migrate.ts'

/** Name of the database that every test file's own is cloned from. */
export const templateDatabase = 'atrium_template'

/** A PostgreSQL server for tests, as `npm test` hands it to its files in ATRIUM_TEST_POSTGRES. */
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

/** Starts an embedded PostgreSQL of its own in a temporary folder and migrates the template database. */
export const startTestServer = async (): Promise<TestServer> => {
  const { startEmbeddedPostgres } = await import('../src/platform/postgres/embedded-postgres.ts')
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-test-'))
  const server = await startEmbeddedPostgres({
    dataDir,
    // What is lost here is a test's; the crash tests start their own servers with the settings of production.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  })
  const connection = { host: server.socketDir, port: server.port, user: server.user, database: server.database }
  await prepareTemplate(connection)
  return {
    connection,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Makes the template database on a server, anew. */
export const prepareTemplate = async (connection: pg.ClientConfig): Promise<void> => {
  await run(adminOf(connection), `drop database if exists ${templateDatabase}`)
  await run(adminOf(connection), `create database ${templateDatabase}`)
  const template = { ...connection, database: templateDatabase }
  await migrate(template)
  await installJobs(template, createLog('warn'))
  // As if somebody had just looked at the schedules, for a day: a sweep at the full minute would take from a test what
  // the test left lying for itself.
  await run(template, `update pgboss.version set cron_on = now() + interval '1 day'`)
}

/** A new database with a name that no other test uses, and how to drop it. */
const createDatabase = async (
  connection: pg.ClientConfig,
  options = '',
): Promise<{ connection: pg.ClientConfig; drop: () => Promise<void> }> => {
  const database = `test_${randomBytes(8).toString('hex')}`
  await run(adminOf(connection), `create database ${database} ${options}`)
  return {
    connection: { ...connection, database },
    drop: () => run(adminOf(connection), `drop database if exists ${database} with (force)`),
  }
}

/** A database without any schema. */
export const createEmptyDatabase = (connection: pg.ClientConfig) => createDatabase(connection)

/** A copy of the migrated template database. */
export const cloneDatabase = (connection: pg.ClientConfig) => createDatabase(connection, `template ${templateDatabase}`)

/** The server that `npm test` started for all files, or one of this file's own. */
export const sharedServer = async (): Promise<TestServer> => {
  const given = process.env['ATRIUM_TEST_POSTGRES']
  if (given === undefined) return startTestServer()
  return { connection: JSON.parse(given) as pg.ClientConfig, stop: async () => undefined }
}
