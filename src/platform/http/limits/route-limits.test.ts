import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Type } from 'typebox'
import { createRedis, hasRedis } from '../../../../test/fakes/redis.ts'
import { startTestApp } from '../../../../test/harness.ts'
import { parseConfig } from '../../../config/config.ts'
import { createHttp } from '../http.ts'
import type { App } from '../http.ts'
import { createLog } from '../../process/log.ts'
import { openRateLimiter } from './rate-limit.ts'
import { registerRouteLimits } from './route-limits.ts'

// At the beginning: without tests to run, the runner would end the server while it starts.
const withoutRedis = !(await hasRedis()) && 'redis-server is not installed'
const server = await startTestApp({ RATE_LIMIT_READS: '3' })

const answer = () => ({ success: true })

/** Routes of every kind on a server of its own; who calls is what the header says. */
const startRoutes = async (env: Record<string, string>): Promise<App> => {
  const log = createLog('silent')
  const app = createHttp({ log, production: false, trustProxy: true })
  // A clock that stands still: no bucket refills between two requests.
  const limiter = await openRateLimiter({ rateLimits: parseConfig(env).rateLimits, log, now: () => 0 })
  registerRouteLimits(app, {
    limiter,
    callerOf: ({ headers }) => (typeof headers['x-caller'] === 'string' ? headers['x-caller'] : undefined),
  })
  app.get('/things', answer)
  app.post('/things', answer)
  app.post('/keys', { config: { rateLimit: 'keyMinting', rateLimitCode: 'BAD_REQUEST' } }, answer)
  app.post('/receive/:hookId', { config: { access: 'public', rateLimit: 'receive' } }, answer)
  app.post('/sign-in', { config: { access: 'public', rateLimit: 'signIn' } }, answer)
  app.get('/health', { config: { access: 'public' } }, answer)
  app.route({
    method: 'POST',
    url: '/files',
    config: { rateLimit: 'none' },
    schema: { body: Type.Object({ kind: Type.String() }) },
    handler: async (request) => {
      await request.takeRateLimit(request.body.kind === 'folder' ? 'writes' : 'uploads')
      return answer()
    },
  })
  await app.ready()
  after(() => app.close())
  return app
}

const post = (app: App, url: string, more: { headers?: Record<string, string>; body?: object } = {}) =>
  app.inject({ method: 'POST', url, headers: more.headers ?? {}, body: more.body ?? {} })

describe('limits of routes', () => {
  test('limited responses have RateLimit headers, and a request beyond the limit is 429 with Retry-After', async () => {
    const app = await startRoutes({ RATE_LIMIT_WRITES: '2' })
    const first = await post(app, '/things')
    assert.equal(first.statusCode, 200)
    assert.equal(first.headers['ratelimit-policy'], '"writes";q=2;w=60')
    assert.equal(first.headers['ratelimit'], '"writes";r=1;t=30')
    await post(app, '/things')
    const refused = await post(app, '/things')
    assert.equal(refused.statusCode, 429)
    assert.equal(refused.json().error.code, 'TOO_MANY_REQUESTS')
    assert.equal(refused.json().success, false)
    assert.equal(refused.headers['retry-after'], '30')
    assert.equal(refused.headers['ratelimit'], '"writes";r=0;t=60')
    assert.ok(refused.headers['x-request-id'])
  })

  test('GET and HEAD count as reads and other methods as writes, separately', async () => {
    const app = await startRoutes({ RATE_LIMIT_READS: '1', RATE_LIMIT_WRITES: '1' })
    assert.equal((await app.inject('/things')).statusCode, 200)
    assert.equal((await app.inject({ method: 'HEAD', url: '/things' })).statusCode, 429)
    assert.equal((await post(app, '/things')).statusCode, 200)
    assert.equal((await post(app, '/things')).statusCode, 429)
  })

  test('every caller has its own bucket', async () => {
    const app = await startRoutes({ RATE_LIMIT_READS: '1' })
    const statuses = await Promise.all(
      ['a', 'b', 'a'].map(
        async (caller) => (await app.inject({ url: '/things', headers: { 'x-caller': caller } })).statusCode,
      ),
    )
    assert.deepEqual(statuses, [200, 200, 429])
  })

  test('routes with rateLimitCode respond with BAD_REQUEST "Too many requests", with the same headers', async () => {
    const app = await startRoutes({ RATE_LIMIT_KEY_MINTING: '1' })
    assert.equal((await post(app, '/keys')).statusCode, 200)
    const refused = await post(app, '/keys')
    assert.equal(refused.statusCode, 400)
    assert.deepEqual(refused.json(), { success: false, error: { code: 'BAD_REQUEST', message: 'Too many requests' } })
    assert.equal(refused.headers['retry-after'], '60')
    assert.equal(refused.headers['ratelimit-policy'], '"keyMinting";q=1;w=60')
  })

  test('a webhook is limited by its id for all senders', async () => {
    const app = await startRoutes({ RATE_LIMIT_RECEIVE: '1' })
    assert.equal((await post(app, '/receive/one', { headers: { 'x-forwarded-for': '198.51.100.1' } })).statusCode, 200)
    assert.equal((await post(app, '/receive/one', { headers: { 'x-forwarded-for': '198.51.100.2' } })).statusCode, 429)
    assert.equal((await post(app, '/receive/two')).statusCode, 200)
  })

  test('sign-in is limited by address, with an IPv6 /64 as one address', async () => {
    const app = await startRoutes({ RATE_LIMIT_SIGN_IN: '1' })
    const from = async (address: string): Promise<number> =>
      (await post(app, '/sign-in', { headers: { 'x-forwarded-for': address, 'x-caller': address } })).statusCode
    assert.equal(await from('198.51.100.1'), 200)
    assert.equal(await from('198.51.100.1'), 429)
    assert.equal(await from('198.51.100.2'), 200)
    assert.equal(await from('2001:db8::1'), 200)
    assert.equal(await from('2001:db8::2'), 429)
    assert.equal(await from('2001:db8:0:1::1'), 200)
  })

  test('a public route is not limited by default', async () => {
    const app = await startRoutes({ RATE_LIMIT_READS: '1' })
    for (let i = 0; i < 5; i++) {
      const { statusCode, headers } = await app.inject('/health')
      assert.equal(statusCode, 200)
      assert.equal(headers['ratelimit'], undefined)
    }
  })

  test('a handler can choose the limit by the body', async () => {
    const app = await startRoutes({ RATE_LIMIT_WRITES: '1', RATE_LIMIT_UPLOADS: '2' })
    const folder = await post(app, '/files', { body: { kind: 'folder' } })
    assert.equal(folder.headers['ratelimit-policy'], '"writes";q=1;w=60')
    assert.equal((await post(app, '/files', { body: { kind: 'folder' } })).statusCode, 429)
    const upload = await post(app, '/files', { body: { kind: 'upload' } })
    assert.equal(upload.headers['ratelimit-policy'], '"uploads";q=2;w=60')
    assert.equal((await post(app, '/files', { body: { kind: 'upload' } })).statusCode, 200)
    assert.equal((await post(app, '/files', { body: { kind: 'upload' } })).statusCode, 429)
  })

  test('a limit of 0 sends no headers and rejects nothing', async () => {
    const app = await startRoutes({ RATE_LIMIT_READS: '0' })
    const { statusCode, headers } = await app.inject('/things')
    assert.equal(statusCode, 200)
    assert.equal(headers['ratelimit'], undefined)
    assert.equal(headers['ratelimit-policy'], undefined)
  })
})

describe('limits of API keys', () => {
  test('limits are counted per API key, and unauthenticated requests are not counted', async () => {
    const owner = await server.createOrg()
    const other = await server.createUser(owner)
    for (let i = 0; i < 5; i++) assert.equal((await server.call('GET', '/api/v1/me')).status, 401)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await server.call('GET', '/api/v1/me', { as: owner })).status)
    assert.deepEqual(statuses, [200, 200, 200, 429])
    const { status, headers } = await server.call('GET', '/api/v1/me', { as: other })
    assert.equal(status, 200)
    assert.equal(headers.get('ratelimit-policy'), '"reads";q=3;w=60')
  })

  test('two servers with one Redis share their limits', { skip: withoutRedis }, async () => {
    const redis = await createRedis()
    await redis.start()
    try {
      const env = { RATE_LIMIT_READS: '4', REDIS_URL: redis.url }
      const [one, two] = [await server.secondServer(env), await server.secondServer(env)]
      const owner = await server.createOrg()
      const answers = await Promise.all(
        [one, two, one, two, one, two].map((each) => each.call('GET', '/api/v1/me', { as: owner })),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 4)
      assert.equal(answers.filter(({ status }) => status === 429).length, 2)
      await redis.kill()
      assert.equal((await one.call('GET', '/api/v1/me', { as: owner })).status, 200, 'nothing fails without Redis')
    } finally {
      await redis.kill()
    }
  })
})
