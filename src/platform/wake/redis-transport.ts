import { createRedisClient } from '../redis/redis.ts'
import type { RedisClient } from '../redis/redis.ts'
import type { TransportOptions, WakeTransport } from './transport.ts'

/**
 * Publish and subscribe of Redis, with a connection for each, because a connection that subscribes can do nothing else. On
 * a cluster a message reaches the subscribers of every node: plain publish, which all versions have, and not the sharded
 * one, because a few hundred messages a second need no sharding.
 */
export const createRedisTransport = (url: string, findInstallation: () => Promise<string>): WakeTransport => {
  let publisher: RedisClient | undefined
  let subscriber: RedisClient | undefined
  let prefix = ''
  let opening: Promise<void> = Promise.resolve()
  let closed = false

  const create = async (connectionName: string, onError: (error: unknown) => void): Promise<RedisClient> => {
    const client = await createRedisClient(url, { connectionName, commandTimeout: 2_000 })
    client.on('error', onError)
    return client
  }

  const open = async ({ channels, onMessage, onConnected, onError }: TransportOptions): Promise<void> => {
    // Databases that share a Redis must not wake one another's processes.
    const installation = await findInstallation().catch((error: unknown) => {
      onError(error)
      return 'unknown'
    })
    prefix = `atrium:wake:${installation}:`
    publisher = await create('atrium-wake', onError)
    subscriber = await create('atrium-wake-listen', onError)
    if (closed) return
    const [sends, listens] = [publisher, subscriber]
    let isSubscribed = false
    const announce = (): void => {
      if (isSubscribed && sends.status === 'ready') onConnected()
    }
    listens.on('message', (channel: string, payload: string) => {
      if (channel.startsWith(prefix)) onMessage({ channel: channel.slice(prefix.length), payload })
    })
    listens.on('ready', () => {
      // After a reconnect this repeats what the client itself has restored, and tells when that is done.
      listens.subscribe(...channels.map((channel) => prefix + channel)).then(() => {
        isSubscribed = true
        announce()
      }, onError)
    })
    listens.on('close', () => {
      isSubscribed = false
    })
    sends.on('ready', announce)
    for (const client of [sends, listens]) client.connect().catch(onError)
  }

  return {
    open: (options) => {
      opening = open(options).catch(options.onError)
    },
    send: async (messages) => {
      const client = publisher
      if (!client) throw new Error('not connected')
      await Promise.all(messages.map(({ channel, payload }) => client.publish(prefix + channel, payload)))
    },
    reconnect: () => {
      // A client that is not ready reconnects already, and an interruption would begin that again.
      for (const client of [publisher, subscriber]) if (client?.status === 'ready') client.disconnect(true)
    },
    close: async () => {
      closed = true
      await opening
      publisher?.disconnect()
      subscriber?.disconnect()
    },
  }
}
