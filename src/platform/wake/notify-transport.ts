import type pg from 'pg'
import { DatabaseClient } from '../database/connections/client.ts'
import { createBackoff } from '../process/backoff.ts'
import * as queries from './queries.ts'
import type { TransportOptions, WakeTransport } from './transport.ts'

const openClient = async (
  connection: pg.ClientConfig,
  options: TransportOptions,
  onLost: (client: pg.Client) => void,
): Promise<pg.Client> => {
  const client = new DatabaseClient({
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    keepAlive: true,
    ...connection,
    application_name: 'atrium-wake',
  })
  client.on('error', options.onError)
  client.on('end', () => onLost(client))
  client.on('notification', ({ channel, payload = '' }) => options.onMessage({ channel, payload }))
  try {
    await client.connect()
    await queries.listen(client, options.channels)
    return client
  } catch (error) {
    // `end` of a client that never connected would wait for the connection.
    void client.end().catch(() => undefined)
    throw error
  }
}

/**
 * LISTEN and NOTIFY of PostgreSQL on one connection of their own, which must reach the server itself and not a pooler in
 * transaction mode. A transaction that notifies holds a lock on all others that notify until its commit, so no transaction
 * with data ever does: here each contains nothing else and does not wait for the disk.
 */
export const createNotifyTransport = (connection: pg.ClientConfig): WakeTransport => {
  const backoff = createBackoff({ firstMs: 100, maxMs: 5_000 })
  let opened: TransportOptions | undefined
  let client: pg.Client | undefined
  let connecting: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const later = (): void => {
    if (closed) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      connecting = connect()
    }, backoff.next()).unref()
  }
  const onLost = (lost: pg.Client): void => {
    if (client !== lost) return
    client = undefined
    later()
  }
  const connect = async (): Promise<void> => {
    if (!opened || closed) return
    try {
      const fresh = await openClient(connection, opened, onLost)
      if (closed) {
        await fresh.end()
        return
      }
      client = fresh
      backoff.reset()
      opened.onConnected()
    } catch (error) {
      opened.onError(error)
      later()
    }
  }

  return {
    open: (options) => {
      opened = options
      connecting = connect()
    },
    send: async (messages) => {
      if (!client) throw new Error('not connected')
      await queries.notify(client, messages)
    },
    reconnect: () => {
      const silent = client
      // Without a client, a connection is being made already.
      if (!silent) return
      client = undefined
      void silent.end().catch(() => undefined)
      later()
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await connecting
      await client?.end().catch(() => undefined)
    },
  }
}
