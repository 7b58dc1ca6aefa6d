import type pg from 'pg'
import type { Config } from '../config/config.ts'
import { findRunning } from '../platform/postgres/data-dir.ts'
import { openDatabase } from '../platform/database/database.ts'
import type { Database } from '../platform/database/database.ts'
import { borrowEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts'
import { requireReachable, requireSameDatabase } from '../platform/database/connections/requirements.ts'
import { migrate } from '../platform/database/migrate.ts'

/** Runs `work` with a connection to the configured database, and starts the embedded one when no server runs it. */
export const withConnection = async <T>(
  config: Config,
  log: (line: string) => void,
  work: (connection: pg.ClientConfig) => Promise<T>,
): Promise<T> => {
  if (config.databaseUrl !== undefined) {
    const connection = { connectionString: config.databaseUrl }
    await requireReachable(connection, 'DATABASE_URL')
    return work(connection)
  }
  const postgres = await borrowEmbeddedPostgres({ dataDir: config.dataDir, log })
  const { socketDir, port, database, user } = postgres
  try {
    return await work({ host: socketDir, port, database, user })
  } finally {
    await postgres.stop()
  }
}

/** The connection for what a pooler cannot do. Undefined: the connection of everything else. */
export const directOf = ({ databaseDirectUrl: url }: Config): pg.ClientConfig | undefined =>
  url === undefined ? undefined : { connectionString: url }

/** Runs `work` with the configured database after migrating its schema. */
export const withDatabase = <T>(
  config: Config,
  log: (line: string) => void,
  work: (db: Database) => Promise<T>,
): Promise<T> =>
  withConnection(config, log, async (connection) => {
    const direct = directOf(config) ?? connection
    if (direct !== connection) {
      await requireReachable(direct, 'DATABASE_DIRECT_URL')
      await requireSameDatabase(connection, direct)
    }
    await migrate(direct)
    const db = openDatabase({
      connection,
      poolSize: 2,
      hotConnections: 1,
      onError: (error, where) => log(`${where}: ${String(error)}`),
    })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  })

/** The URL of the server with this configuration, whether it is running or not. */
export const serverUrlOf = async (config: Config): Promise<string> => {
  if (config.baseUrl !== undefined) return config.baseUrl
  const running = config.databaseUrl === undefined ? await findRunning(config.dataDir) : undefined
  if (running?.url !== undefined) return running.url
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return `http://${host}:${config.port}`
}
