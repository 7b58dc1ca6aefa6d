import type { Cluster, Redis } from 'ioredis'
import { parseRedisUrl } from './address.ts'

export { parseRedisUrl } from './address.ts'
export type { RedisAddress } from './address.ts'

/** One server, the primary that Sentinel names, or a cluster: all take the same commands and emit the same events. */
export type RedisClient = Redis | Cluster

export interface RedisSettings {
  connectionName: string
  /** Milliseconds after which a command without a response rejects. Default: never. */
  commandTimeout?: number
  /** Default: true. False: `connect()` rejects after one attempt. */
  reconnects?: boolean
  /** Commands to define, each with one key. */
  scripts?: Record<string, { lua: string; numberOfKeys: 1 }>
}

/** 100 ms to 2 s. */
const reconnectMs = (attempt: number): number => Math.min(attempt * 100, 2_000)

/**
 * Creates a client that connects at `connect()` and then reconnects until `disconnect()`. While it is not connected, its
 * commands reject at once. The caller must listen to its `error` events. On a cluster every command and every script must
 * use one key, or several with the same hash tag.
 */
export const createRedisClient = async (
  url: string,
  { connectionName, commandTimeout, reconnects = true, scripts }: RedisSettings,
): Promise<RedisClient> => {
  const address = parseRedisUrl(url)
  if (!address) throw new Error('REDIS_URL is not a URL of Redis')
  const { Redis, Cluster } = await import('ioredis')
  const retry = reconnects ? reconnectMs : () => null
  const common = { lazyConnect: true, enableOfflineQueue: false, ...(scripts ? { scripts } : {}) }
  const connection = {
    connectionName,
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    ...(commandTimeout === undefined ? {} : { commandTimeout }),
  }
  if (address.kind === 'cluster') {
    return new Cluster(address.nodes, {
      ...common,
      clusterRetryStrategy: retry,
      slotsRefreshTimeout: 2_000,
      // A change of the cluster that no MOVED response announces is noticed after this time.
      slotsRefreshInterval: 10_000,
      ...(address.dnsLookup ? { dnsLookup: address.dnsLookup } : {}),
      redisOptions: { ...connection, ...address.options },
    })
  }
  const options = {
    ...common,
    ...connection,
    retryStrategy: retry,
    sentinelRetryStrategy: retry,
  }
  return address.kind === 'single' ? new Redis(address.url, options) : new Redis({ ...options, ...address.options })
}
