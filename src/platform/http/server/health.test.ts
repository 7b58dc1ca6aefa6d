import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'
import { registerHealth } from './health.ts'
import type { HealthOptions } from './health.ts'
import { createHttp } from '../http.ts'
import { expireKeys } from '../idempotency/idempotency.ts'
import { sql } from '../../database/database.ts'
import { until } from '../../../../test/support/until.ts'
import { createLog } from '../../process/log.ts'

// At the beginning: without tests to run, the runner would end the server while it starts.
const server = await startTestApp()

const startServer = async (options: HealthOptions) => {
  const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
  registerHealth(app, options)
  await app.ready()
  after(() => app.close())
  return app
}

describe('health', () => {
  test('GET /healthz runs no checks', async () => {
    const app = await startServer({ checks: [{ name: 'database', check: () => Promise.reject(new Error('down')) }] })
    const { statusCode, body } = await app.inject('/healthz')
    assert.equal(statusCode, 200)
    assert.deepEqual(JSON.parse(body), { success: true, data: { status: 'ok' } })
  })

  test('GET /readyz names failed dependencies without their errors', async () => {
    const app = await startServer({
      checks: [
        { name: 'database', check: () => Promise.reject(new Error('password of atrium')) },
        { name: 'worker', check: () => Promise.resolve() },
        {
          name: 'object store',
          check: () => {
            throw new Error('synchronously')
          },
        },
      ],
    })
    const { statusCode, body } = await app.inject('/readyz')
    assert.equal(statusCode, 503)
    assert.deepEqual(JSON.parse(body), {
      success: false,
      error: { code: 'SERVICE_UNAVAILABLE', message: 'Not ready: database, object store' },
    })
  })

  test('a hanging check counts as failed', async () => {
    const app = await startServer({
      timeoutMs: 20,
      checks: [{ name: 'database', check: () => new Promise(() => undefined) }],
    })
    assert.equal((await app.inject('/readyz')).statusCode, 503)
  })

  test('the result of the checks is cached for its time and no longer', async () => {
    let looks = 0
    const check = async (): Promise<void> => void looks++
    const kept = await startServer({ cacheMs: 60_000, checks: [{ name: 'database', check }] })
    await Promise.all(Array.from({ length: 20 }, () => kept.inject('/readyz')))
    assert.equal(looks, 1)
    const asked = await startServer({ cacheMs: 0, checks: [{ name: 'database', check }] })
    await asked.inject('/readyz')
    await asked.inject('/readyz')
    assert.equal(looks, 3)
  })
})

describe('health of the whole server', () => {
  test('GET /readyz of the server is public, not rate-limited, and succeeds with database and object store', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, body, headers } = await server.call('GET', path)
      assert.equal(status, 200)
      assert.deepEqual(body, { success: true, data: { status: 'ok' } })
      assert.equal(headers.get('ratelimit'), null)
    }
  })

  test('GET /readyz fails when jobs wait and no worker runs any, not because jobs of an org wait for its share', async () => {
    const api = await startTestApp({}, { work: false })
    const statusOf = async (): Promise<number> => (await api.call('GET', '/readyz')).status
    const late = { startAfterSeconds: 0 }
    for (const id of ['one', 'two']) {
      await api.db.transaction('all orgs', (db) => api.deps.jobs.enqueue(db, expireKeys, { id } as never, late))
    }
    await api.db.execute(sql`update pgboss.job set start_after = now() - interval '1 hour' where state = 'created'`)
    await until('it is not ready', async () => (await statusOf()) === 503)
    await api.db.execute(sql`
      update pgboss.job set state = 'active', heartbeat_on = now() where name = ${expireKeys.name} and data ->> 'id' = 'one'`)
    await until('it is ready', async () => (await statusOf()) === 200)
    await api.db.execute(sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`)
    await until('it is not ready again', async () => (await statusOf()) === 503)
  })
})
