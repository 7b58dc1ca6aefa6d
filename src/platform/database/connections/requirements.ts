import type pg from 'pg'
import { DatabaseClient } from './client.ts'
import type { ConnectionConfig } from './client.ts'
import { StartError } from '../../process/start-error.ts'

/** Throws a StartError with the host and the reason when the database of a variable cannot be reached. */
export const requireReachable = async (connection: pg.ClientConfig, variable: string): Promise<void> => {
  const client = new DatabaseClient({ ...connection, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    await client.end()
  } catch (error) {
    const reason =
      error instanceof Error && error.message !== '' ? error.message : String((error as { code?: string }).code)
    throw new StartError(
      `The database of ${variable} cannot be reached: ${reason}.`,
      'Check that the database is running, and its host, port, user, password and name.',
      { cause: error },
    )
  }
}

/** Names the database and the running server, also behind a pooler. */
const identityText = `
  select current_database() as name, pg_postmaster_start_time()::text as server,
    (select oid from pg_database where datname = current_database())::text as oid`

/** Names the database and its cluster, which a standby shares with its primary. */
const clusterText = `
  select current_database() as name, c.system_identifier::text as server,
    (select oid from pg_database where datname = current_database())::text as oid
  from pg_control_system() c`

interface Identity {
  name: string
  text: string
}

const identify = async (connection: ConnectionConfig, by = identityText): Promise<Identity> => {
  const client = new DatabaseClient({ ...connection, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; server: string; oid: string }>(by)
    const { name = '', server, oid } = rows[0] ?? {}
    return { name, text: `${oid} ${server}` }
  } finally {
    await client.end()
  }
}

/** Throws a StartError when DATABASE_DIRECT_URL names another database than DATABASE_URL: it would be migrated instead. */
export const requireSameDatabase = async (connection: pg.ClientConfig, direct: pg.ClientConfig): Promise<void> => {
  const [one, other] = await Promise.all([identify(connection), identify(direct)])
  if (one.text === other.text) return
  throw new StartError(
    `DATABASE_DIRECT_URL leads to another database (${other.name}) than DATABASE_URL (${one.name}).`,
    'Name the same database in both; only the way to it may differ.',
  )
}

/** Throws a StartError when DATABASE_REPLICA_URL names no copy of the database of DATABASE_URL. */
export const requireReplica = async (connection: pg.ClientConfig, replica: pg.ClientConfig): Promise<void> => {
  const [one, other] = await Promise.all([
    identify(connection, clusterText),
    identify({ ...replica, wants: 'standby' }, clusterText),
  ])
  if (one.text === other.text) return
  throw new StartError(
    `DATABASE_REPLICA_URL leads to ${other.name}, which is no replica of the database of DATABASE_URL (${one.name}).`,
    'Name the same database on a standby of its server.',
  )
}

/** Throws a StartError for a connection through a pooler, which keeps session locks and settings for other clients. */
export const refusePooler = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // A pooler gives its clients process ids of its own.
  if ((client as pg.Client & { processID: number }).processID === rows[0]?.pid) return
  throw new StartError(
    'DATABASE_URL leads to a pooler.',
    'Run this command with the URL of the database itself in DATABASE_URL, or in DATABASE_DIRECT_URL.',
  )
}
