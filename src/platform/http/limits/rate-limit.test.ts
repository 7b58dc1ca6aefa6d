import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { createRedis, hasRedis } from '../../../../test/fakes/redis.ts'
import { until } from '../../../../test/support/until.ts'
import { parseConfig } from '../../../config/config.ts'
import { createLog } from '../../process/log.ts'
import { openRateLimiter } from './rate-limit.ts'
import type { RateLimiter, RateLimiterOptions } from './rate-limit.ts'

const limits = (readsAMinute: number) => ({ ...parseConfig({}).rateLimits, reads: readsAMinute })

const silent = createLog('silent')

/** A limiter in memory whose clock stands still until it is moved. */
const withClock = async (readsAMinute: number, maxBuckets?: number) => {
  const clock = { ms: 1_000_000 }
  const limiter = await openRateLimiter({
    rateLimits: limits(readsAMinute),
    log: silent,
    now: () => clock.ms,
    ...(maxBuckets === undefined ? {} : { maxBuckets }),
  })
  const take = (key = 'key', cost = 1) => {
    const verdict = limiter.take('reads', key, cost)
    if (verdict instanceof Promise) throw new Error('counting in memory must not wait')
    return verdict
  }
  return { clock, take }
}

const allowedOf = async (limiter: RateLimiter, key: string, times: number): Promise<number> => {
  const verdicts = await Promise.all(Array.from({ length: times }, async () => limiter.take('reads', key)))
  return verdicts.filter(({ allowed }) => allowed).length
}

describe('token buckets in memory', () => {
  for (const limit of [1, 7, 13, 600, 999_983]) {
    test(`a full bucket of ${limit} per minute allows exactly ${limit} requests at once`, async () => {
      const { take } = await withClock(limit)
      for (let i = 1; i <= limit; i++) assert.equal(take().allowed, true, `request ${i}`)
      assert.equal(take().allowed, false)
    })
  }

  test('a further request is allowed after a minute divided by the limit, as Retry-After says', async () => {
    const { clock, take } = await withClock(60)
    for (let i = 0; i < 60; i++) take()
    const refused = take()
    assert.deepEqual(refused, { allowed: false, limit: 60, remaining: 0, fullInMs: 60_000, retryAfterMs: 1_000 })
    clock.ms += 999
    assert.equal(take().allowed, false)
    clock.ms += 1
    assert.equal(take().allowed, true)
    assert.equal(take().allowed, false)
  })

  test('a verdict contains the remaining requests and the time until the bucket is full', async () => {
    const { clock, take } = await withClock(600)
    assert.deepEqual(take(), { allowed: true, limit: 600, remaining: 599, fullInMs: 100, retryAfterMs: 0 })
    assert.equal(take('key', 99).remaining, 500)
    clock.ms += 10_000
    assert.equal(take().remaining, 599)
  })

  test('a rejected request takes no tokens, and a request that costs more than remains is rejected', async () => {
    const { take } = await withClock(10)
    take('key', 8)
    const refused = take('key', 3)
    assert.equal(refused.allowed, false)
    assert.equal(refused.retryAfterMs, 6_000)
    assert.equal(take('key', 2).allowed, true)
  })

  test('every key and every limit has its own bucket', async () => {
    const limiter = await openRateLimiter({ rateLimits: { ...limits(1), writes: 1 }, log: silent, now: () => 0 })
    assert.equal(await allowedOf(limiter, 'one', 3), 1)
    assert.equal(await allowedOf(limiter, 'two', 3), 1)
    assert.equal((await limiter.take('writes', 'one')).allowed, true)
  })

  test('a limit of 0 allows every request', async () => {
    const { take } = await withClock(0)
    for (let i = 0; i < 10_000; i++) assert.equal(take().allowed, true)
    assert.equal(take().limit, 0)
  })

  test('no interval allows more than a full bucket plus its refill', async () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), arrivals, async (limit, pauses) => {
        const { clock, take } = await withClock(limit)
        const allowedAt: number[] = []
        for (const pause of pauses) {
          // Bursts: most requests come together, as clients in a loop send them.
          clock.ms += pause % 3 === 0 ? pause : 0
          if (take().allowed) allowedAt.push(clock.ms)
        }
        for (let first = 0; first < allowedAt.length; first++) {
          for (let last = first; last < allowedAt.length; last++) {
            const spanMs = (allowedAt[last] as number) - (allowedAt[first] as number)
            assert.ok(last - first + 1 <= limit + (limit * spanMs) / 60_000 + 0.001)
          }
        }
      }),
    )
  })

  test('an empty bucket is kept for a minute, whatever the number of other keys', async () => {
    const { clock, take } = await withClock(2)
    take('used')
    take('used')
    for (let second = 0; second < 29; second++) {
      clock.ms += 1_000
      for (let i = 0; i < 100; i++) take(`other-${second}-${i}`)
      assert.equal(take('used').allowed, false, `after ${second + 1} s`)
    }
    clock.ms += 1_000
    assert.equal(take('used').allowed, true)
  })

  test('at most twice the configured number of buckets is kept, and the least recently used are dropped', async () => {
    const { take } = await withClock(1, 100)
    take('first')
    for (let i = 0; i < 150; i++) take(`other-${i}`)
    assert.equal(take('first').allowed, false, 'still known')
    for (let i = 0; i < 300; i++) take(`more-${i}`)
    assert.equal(take('first').allowed, true, 'forgotten')
  })
})

describe('counts shared through Redis', { skip: !(await hasRedis()) && 'redis-server is not installed' }, async () => {
  const redis = await createRedis()
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const open: RateLimiter[] = []
  // It stands still, so that no bucket refills between two requests on a slow machine.
  const clock = { ms: 1_000_000 }
  const shared = (readsAMinute: number): RateLimiterOptions => ({
    rateLimits: limits(readsAMinute),
    redisUrl: redis.url,
    redisTimeoutMs: 60_000,
    log,
  })
  const openOne = async (readsAMinute: number, options: Partial<RateLimiterOptions> = {}): Promise<RateLimiter> => {
    const limiter = await openRateLimiter({ ...shared(readsAMinute), now: () => clock.ms, ...options })
    open.push(limiter)
    return limiter
  }
  const logged = (message: string): number => lines.filter((line) => line.includes(message)).length
  afterEach(() => {
    for (const limiter of open.splice(0)) limiter.close()
  })
  after(async () => {
    redis.thaw()
    await redis.kill()
  })

  test('two processes share one bucket through Redis', { timeout: 120_000 }, async () => {
    await redis.start()
    const [one, two] = await Promise.all([openOne(20), openOne(20)])
    const allowed = await Promise.all([allowedOf(one, 'shared', 30), allowedOf(two, 'shared', 30)])
    assert.equal((allowed[0] ?? 0) + (allowed[1] ?? 0), 20)
    const refused = await one.take('reads', 'shared')
    assert.equal(refused.remaining, 0)
    assert.ok(refused.retryAfterMs > 0 && refused.retryAfterMs <= 3_000)
  })

  test('processes that share Redis refill buckets by a common clock', async () => {
    const [one, two] = await Promise.all([openOne(60), openOne(60)])
    assert.equal(await allowedOf(one, 'turning', 60), 60)
    const refused = await two.take('reads', 'turning')
    assert.deepEqual([refused.allowed, refused.retryAfterMs], [false, 1_000])
    clock.ms += 999
    assert.equal((await two.take('reads', 'turning')).allowed, false)
    clock.ms += 1
    assert.equal((await one.take('reads', 'turning')).allowed, true)
    assert.equal((await two.take('reads', 'turning')).allowed, false)
  })

  test('a shared bucket refills by the clock of Redis, and its key expires when it is full', async () => {
    const limiter = await openRateLimiter(shared(600))
    open.push(limiter)
    while ((await limiter.take('reads', 'refill')).allowed);
    await until('it refills', async () => (await limiter.take('reads', 'refill')).allowed)
    assert.equal((await limiter.take('reads', 'once')).remaining, 599)
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    await until('the key is gone', async () => (await client.exists('atrium:rate:reads:once')) === 0)
    client.disconnect()
  })

  test('a shared limit of seven per minute allows exactly seven requests', async () => {
    assert.equal(await allowedOf(await openOne(7), 'seven', 20), 7)
  })

  test('a key of the wrong type in Redis does not fail a request', async () => {
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    await client.lpush('atrium:rate:reads:list', 'x')
    client.disconnect()
    assert.equal((await (await openOne(5)).take('reads', 'list')).allowed, true)
  })

  test(
    'without Redis each process counts in memory, logs it once, and shares counts again later',
    { timeout: 120_000 },
    async () => {
      const [one, two] = await Promise.all([openOne(5), openOne(5)])
      assert.equal(await allowedOf(one, 'killed', 5), 5)
      lines.length = 0
      await redis.kill()
      assert.equal(await allowedOf(one, 'killed', 20), 5, 'a bucket of its own, and nothing rejected')
      assert.equal(await allowedOf(two, 'killed', 20), 5)
      await until('both processes have logged it', () => logged('counts rate limits in memory') >= 2)
      await redis.start()
      await until('both share again', () => logged('shared again') === 2)
      assert.equal(logged('counts rate limits in memory'), 2, 'once for each process')
      await allowedOf(one, 'back', 3)
      assert.equal(await allowedOf(two, 'back', 20), 2)
    },
  )

  test(
    'a hanging Redis delays the first request briefly and later requests not at all',
    { timeout: 120_000 },
    async () => {
      const limiter = await openOne(5, { redisTimeoutMs: 250 })
      lines.length = 0
      redis.freeze()
      assert.equal(await allowedOf(limiter, 'frozen', 20), 5)
      assert.equal(logged('counts rate limits in memory'), 1)
      assert.ok(!(limiter.take('reads', 'frozen') instanceof Promise), 'counted at once, without asking')
      redis.thaw()
      await until('it shares again', () => logged('shared again') === 1)
    },
  )

  test('a server starts without Redis and shares counts when Redis is available', { timeout: 120_000 }, async () => {
    await redis.kill()
    lines.length = 0
    const limiter = await openOne(5)
    assert.equal(await allowedOf(limiter, 'early', 20), 5)
    await redis.start()
    await until('it shares', () => limiter.take('reads', 'late') instanceof Promise)
  })
})
