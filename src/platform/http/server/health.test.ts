import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'
import { registerHealth } from './health.ts'
import type { HealthOptions } from './health.ts'
import { createHttp } from '../http.ts'
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
})
