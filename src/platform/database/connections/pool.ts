import pg from 'pg'
import type { QueryArrayConfig } from 'pg'
import { DatabaseClient } from './client.ts'
import type { ConnectionConfig } from './client.ts'

export type PooledClient = DatabaseClient & { release(error?: Error): void }

/** A connection of the pool. All pools create clients of this class. */
export const connectOf = (pool: pg.Pool): Promise<PooledClient> => pool.connect() as unknown as Promise<PooledClient>

/**
 * Runs a statement in a pool. With `needsSettings`, it runs in a transaction when a pooler gives it a session without the
 * settings of the pool.
 */
export const runAlone = async (
  pool: pg.Pool,
  config: QueryArrayConfig,
  needsSettings = false,
): Promise<pg.QueryArrayResult> => {
  const client = await connectOf(pool)
  let broken: Error | undefined
  try {
    const settings = needsSettings ? client.localSettings : ''
    if (settings === '') return await client.query(config)
    await client.query(`begin${settings}`)
    const result = await client.query(config)
    await client.query('commit')
    return result
  } catch (error) {
    client.isLost(error)
    broken = error as Error
    throw error
  } finally {
    // The pool closes a connection after an error, and PgBouncer the transaction with it.
    client.release(broken)
  }
}

/**
 * Options of all pools. Through a pooler, PostgreSQL applies the limits to transactions only; other statements have a limit
 * in this process, and that of the database's role.
 */
export const connectionOf = (given: pg.ClientConfig): ConnectionConfig => ({
  application_name: 'atrium',
  // Also for requests that wait for a connection of the pool, when it is busy.
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  ...given,
  settings: {
    statement_timeout: '30000',
    idle_in_transaction_session_timeout: '60000',
    // The parsers of rows expect ISO dates in UTC.
    timezone: 'UTC',
    datestyle: 'ISO',
  },
})

/** Opens a pool. Nothing connects before the first statement. */
export const poolOf = (
  config: ConnectionConfig & pg.PoolConfig,
  onError: (error: unknown, where: string) => void,
): pg.Pool => {
  const pool = new pg.Pool({ idleTimeoutMillis: 30_000, ...config, Client: DatabaseClient } as unknown as pg.PoolConfig)
  pool.on('error', (error) => {
    onError(error, 'idle connection')
  })
  return pool
}
