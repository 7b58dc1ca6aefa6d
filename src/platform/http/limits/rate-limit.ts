import type { Log } from '../../process/log.ts'
import { createRedisClient } from '../../redis/redis.ts'
import type { RedisClient } from '../../redis/redis.ts'

/** Requests a minute for one key or address; 0 turns the limit off. */
export interface RateLimits {
  reads: number
  writes: number
  uploads: number
  turns: number
  keyMinting: number
  deposits: number
  receive: number
  signIn: number
}

export type LimitName = keyof RateLimits

/** The result of counting a request. */
export interface RateLimitVerdict {
  allowed: boolean
  /** Requests per minute, which is also the size of the bucket; 0 when there is no limit. */
  limit: number
  /** The number of further requests that are allowed now. */
  remaining: number
  /** Milliseconds until the bucket is full again without further requests. */
  fullInMs: number
  /** Milliseconds until a rejected request would be allowed; 0 for an allowed one. */
  retryAfterMs: number
}

/** Counts requests against the configured limits. Never throws: an unavailable limiter must not fail requests. */
export interface RateLimiter {
  /** Takes `cost` tokens from the bucket of `key`, or none when there are fewer. A promise only for shared counts. */
  take(limit: LimitName, key: string, cost?: number): RateLimitVerdict | Promise<RateLimitVerdict>
  close(): void
}

export interface RateLimiterOptions {
  rateLimits: RateLimits
  redisUrl?: string | undefined
  log: Log
  /**
   * A monotonic clock in milliseconds, for tests. Default: the clock of this process for counts in memory, and the clock
   * of Redis for shared counts.
   */
  now?: () => number
  /** How long a request waits for Redis before it is counted in memory. Default: 250 ms. */
  redisTimeoutMs?: number
  /** The number of buckets per limit and minute in memory; beyond it, the oldest are dropped. */
  maxBuckets?: number
}

const windowMs = 60_000

// Intervals such as 60,000 / 7 are inexact, and seven of them must still fit into a minute.
const slackMs = 0.01

const unlimited: RateLimitVerdict = { allowed: true, limit: 0, remaining: 0, fullInMs: 0, retryAfterMs: 0 }

const verdictOf = (allowed: boolean, fullInMs: number, limit: number, cost: number): RateLimitVerdict => {
  const intervalMs = windowMs / limit
  return {
    allowed,
    limit,
    remaining: Math.max(0, Math.floor((windowMs - fullInMs + slackMs) / intervalMs)),
    fullInMs,
    retryAfterMs: allowed ? 0 : Math.max(0, fullInMs + intervalMs * cost - windowMs),
  }
}

interface Bucket {
  fullAtMs: number
}

/**
 * The buckets of one limit. A bucket without requests for a minute is full and need not be kept, so there are two maps,
 * of which the older is dropped. At most 2 × maxBuckets are kept, of about 200 bytes each.
 */
const createBuckets = (maxBuckets: number): ((key: string, nowMs: number) => Bucket) => {
  let current = new Map<string, Bucket>()
  let previous = new Map<string, Bucket>()
  let sinceMs = Number.NEGATIVE_INFINITY
  return (key, nowMs) => {
    if (nowMs - sinceMs >= windowMs || current.size >= maxBuckets) {
      previous = current
      current = new Map()
      sinceMs = nowMs
    }
    let bucket = current.get(key)
    if (bucket === undefined) {
      bucket = previous.get(key) ?? { fullAtMs: 0 }
      current.set(key, bucket)
    }
    return bucket
  }
}

type TakeHere = (limit: LimitName, key: string, cost: number) => RateLimitVerdict

/** Token buckets by the generic cell rate algorithm, which stores only the time when a bucket is full. */
const createMemoryLimiter = (options: RateLimiterOptions): TakeHere => {
  const { rateLimits, now = () => performance.now(), maxBuckets = 100_000 } = options
  const bucketsOf = Object.fromEntries(
    Object.keys(rateLimits).map((limit) => [limit, createBuckets(maxBuckets)]),
  ) as Record<LimitName, ReturnType<typeof createBuckets>>
  return (limit, key, cost) => {
    const perMinute = rateLimits[limit]
    const nowMs = now()
    const bucket = bucketsOf[limit](key, nowMs)
    const fullInMs = Math.max(bucket.fullAtMs - nowMs, 0)
    const nextMs = fullInMs + (windowMs / perMinute) * cost
    if (nextMs > windowMs + slackMs) return verdictOf(false, fullInMs, perMinute, cost)
    bucket.fullAtMs = nowMs + nextMs
    return verdictOf(true, nextMs, perMinute, cost)
  }
}

// The same algorithm in microseconds by the clock of Redis, so that the clocks of servers need not agree. A key expires
// when its bucket is full; with the clock of a test (ARGV[2]) it does not expire, because that clock may stand still.
const takeScript = `
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') - now, 0)
local next = full + tonumber(ARGV[1])
if next > ${(windowMs + slackMs) * 1_000} then return { 0, full } end
redis.call('SET', KEYS[1], string.format('%.0f', now + next), 'PX', math.ceil(next / 1000))
if ARGV[2] then redis.call('PERSIST', KEYS[1]) end
return { 1, next }`

const probeEveryMs = 1_000

/**
 * Counts in Redis, shared by all API processes. While Redis is unavailable, each process counts in memory from full
 * buckets, so that limits are multiplied by the number of processes and no request fails.
 */
const openSharedLimiter = async (url: string, options: RateLimiterOptions): Promise<RateLimiter> => {
  const { log, rateLimits, now, redisTimeoutMs = 250 } = options
  const takeHere = createMemoryLimiter(options)
  const redis = (await createRedisClient(url, {
    connectionName: 'atrium-limits',
    commandTimeout: redisTimeoutMs,
    scripts: { takeTokens: { lua: takeScript, numberOfKeys: 1 } },
  })) as RedisClient & {
    takeTokens(key: string, costMicros: number, ...nowMicros: number[]): Promise<[number, number]>
  }
  const nowMicros = now ? () => [now() * 1_000] : () => []

  let here = false
  let closed = false
  let probe: NodeJS.Timeout | undefined
  let probeKey = 'atrium:rate:probe'

  const countHere = (error: unknown, failedKey?: string): void => {
    if (here || closed) return
    here = true
    // On a cluster, the probe asks the server that failed: the part in braces decides where a key is.
    probeKey = failedKey === undefined ? 'atrium:rate:probe' : `atrium:rate:probe:{${failedKey}}`
    log.warn({ err: error }, 'Redis is unavailable: this process counts rate limits in memory')
    // One probe per second in the background, so that no request waits for a hanging Redis. It counts a request, because
    // a full Redis or a replica responds to pings as well.
    probe = setInterval(() => void tryThere(), probeEveryMs).unref()
  }
  const tryThere = async (): Promise<void> => {
    try {
      await redis.takeTokens(probeKey, 1)
    } catch {
      return
    }
    if (!here || closed) return
    here = false
    clearInterval(probe)
    log.info('Redis is available: rate limits are shared again')
  }

  redis.on('error', (error: unknown) => countHere(error))
  redis.on('close', () => countHere(new Error('the connection to Redis was closed')))
  // Without the limit, a client of Sentinel or of a cluster would wait until one of many servers responds.
  const timeout = AbortSignal.timeout(2_000)
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('Redis did not respond within 2 s')), { once: true })
  })
  await Promise.race([redis.connect(), late]).catch((error: unknown) => countHere(error))

  return {
    take: (limit, key, cost = 1) => {
      const perMinute = rateLimits[limit]
      if (perMinute === 0) return unlimited
      if (here) return takeHere(limit, key, cost)
      const costMicros = ((windowMs * 1_000) / perMinute) * cost
      const redisKey = `atrium:rate:${limit}:${key}`
      return redis.takeTokens(redisKey, costMicros, ...nowMicros()).then(
        ([allowed, fullInMicros]) => verdictOf(allowed === 1, fullInMicros / 1_000, perMinute, cost),
        (error: unknown) => {
          countHere(error, redisKey)
          return takeHere(limit, key, cost)
        },
      )
    },
    close: () => {
      closed = true
      clearInterval(probe)
      redis.disconnect()
    },
  }
}

/** Opens a limiter in Redis with `redisUrl`, otherwise in memory. Resolves within two seconds when Redis is unavailable. */
export const openRateLimiter = async (options: RateLimiterOptions): Promise<RateLimiter> => {
  if (options.redisUrl !== undefined) return openSharedLimiter(options.redisUrl, options)
  const take = createMemoryLimiter(options)
  return {
    take: (limit, key, cost = 1) => (options.rateLimits[limit] === 0 ? unlimited : take(limit, key, cost)),
    close: () => undefined,
  }
}
