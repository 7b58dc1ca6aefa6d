import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startRedisCluster, startRedisSentinel } from '../../../test/fakes/redis-groups.ts'
import { hasRedis } from '../../../test/fakes/redis.ts'
import { until } from '../../../test/support/until.ts'
import { parseConfig } from '../../config/config.ts'
import { openRateLimiter } from '../http/limits/rate-limit.ts'
import type { RateLimiter } from '../http/limits/rate-limit.ts'
import { createLog } from '../process/log.ts'
import { createRedisTransport } from '../wake/redis-transport.ts'
import { createWakeups } from '../wake/wakeups.ts'
import type { Wakeups } from '../wake/wakeups.ts'

const lines: string[] = []
const log = createLog('info', { write: (line) => void lines.push(line) })
const skip = !(await hasRedis()) && 'redis-server is not installed'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.toReversed()) await close()
})

const openLimiter = async (redisUrl: string, reads: number): Promise<RateLimiter> => {
  const rateLimits = { ...parseConfig({}).rateLimits, reads }
  // A clock that stands still, so that no bucket refills on a slow machine.
  const limiter = await openRateLimiter({ rateLimits, redisUrl, redisTimeoutMs: 60_000, log, now: () => 1_000_000 })
  closers.push(() => limiter.close())
  return limiter
}

const allowedOf = async (limiters: RateLimiter[], key: string, times: number): Promise<number> => {
  const verdicts = await Promise.all(
    Array.from({ length: times }, async (_, i) => limiters[i % limiters.length]?.take('reads', key)),
  )
  return verdicts.filter((verdict) => verdict?.allowed).length
}

const openWakeups = (url: string): { wakeups: Wakeups; seen: string[] } => {
  const transport = createRedisTransport(url, () => Promise.resolve('test'))
  const wakeups = createWakeups({ transport, log, announceEveryMs: 200 })
  const seen: string[] = []
  wakeups.subscribe('jobs', (hint) => seen.push(hint))
  wakeups.start()
  closers.push(() => wakeups.close())
  return { wakeups, seen }
}

/** Resolves when a hint of one process has arrived at the other. */
const exchange = async (from: Wakeups, seen: string[]): Promise<void> => {
  const before = seen.length
  await until('a hint arrives', () => {
    from.publish('jobs', 'mail')
    return seen.length > before
  })
}

describe('a cluster of three servers', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const cluster = await startRedisCluster()
  after(() => cluster.stop())

  test('limits are exact for every key, on whichever server it is', async () => {
    const limiters = await Promise.all([openLimiter(cluster.url, 10), openLimiter(cluster.url, 10)])
    const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`)
    for (const key of keys) assert.equal(await allowedOf(limiters, key, 25), 10, key)
    const nodes = await Promise.all(keys.map((key) => cluster.nodeOf(`atrium:rate:reads:${key}`)))
    assert.equal(new Set(nodes).size, 3, 'the keys are on all servers')
    assert.ok(!lines.some((line) => line.includes('counts rate limits in memory')))
  })

  test('a limit stays exact when its key moves to another server', async () => {
    const limiter = await openLimiter(cluster.url, 10)
    const key = 'atrium:rate:reads:moving'
    assert.equal(await allowedOf([limiter], 'moving', 4), 4)
    const before = await cluster.nodeOf(key)
    await cluster.moveSlotOf(key)
    assert.notEqual(await cluster.nodeOf(key), before)
    assert.equal(await allowedOf([limiter], 'moving', 20), 6, 'MOVED is followed')
    assert.ok(!lines.some((line) => line.includes('counts rate limits in memory')))
  })

  test('a hint reaches a process that is connected to another server of the cluster', async () => {
    const [one, two] = [openWakeups(cluster.url), openWakeups(cluster.url)]
    await exchange(one.wakeups, two.seen)
    await exchange(two.wakeups, one.seen)
  })
})

describe('a primary that Sentinel names', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const sentinel = await startRedisSentinel()
  after(() => sentinel.stop())

  test('limits are shared and hints arrive, before and after a failover', async () => {
    const limiters = await Promise.all([openLimiter(sentinel.url, 10), openLimiter(sentinel.url, 10)])
    const [one, two] = [openWakeups(sentinel.url), openWakeups(sentinel.url)]
    assert.equal(await allowedOf(limiters, 'before', 30), 10)
    await exchange(one.wakeups, two.seen)
    await sentinel.failOver()
    const isShared = (limiter: RateLimiter): boolean => limiter.take('writes', 'probe') instanceof Promise
    await until('both share counts again', () => limiters.every(isShared))
    assert.equal(await allowedOf(limiters, 'after', 30), 10)
    await exchange(one.wakeups, two.seen)
    await exchange(two.wakeups, one.seen)
  })
})
