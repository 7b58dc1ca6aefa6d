import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { openSocket, sendRaw } from '../../../../test/support/raw-http.ts'
import { createHttp } from '../http.ts'
import { createLog } from '../../process/log.ts'
import { registerMetrics } from './metrics.ts'

const startServer = async (token?: string, logging: { level: string; slowMs?: number } = { level: 'info' }) => {
  const logLines: string[] = []
  const log = createLog(logging.level, { write: (line) => void logLines.push(line) })
  const app = createHttp({ log: createLog('silent'), production: true, trustProxy: true })
  let waiting = 2
  registerMetrics(app, {
    token,
    log,
    slowMs: logging.slowMs ?? 60_000,
    gauges: [
      { name: 'waiting_things', help: 'Things that wait.', read: () => waiting },
      { name: 'things_by_color', help: 'By color.', label: 'color', read: async () => new Map([['red', 1]]) },
    ],
  })
  const held: (() => void)[] = []
  app.get('/things/:id', (request, reply) => {
    const { id } = request.params as { id: string }
    if (id === 'bad') throw new Error('broken')
    if (id === 'held') return new Promise((resolve) => void held.push(() => resolve({ success: true })))
    if (id === 'moved') return reply.redirect('/elsewhere')
    return { success: true }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const url = `http://127.0.0.1:${address.port}`
  const scrape = async (): Promise<Map<string, number>> => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
    return new Map(
      lines
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    )
  }
  return { app, url, scrape, held, logLines, setWaiting: (count: number) => void (waiting = count) }
}

const count = (method: string, route: string, status: string): string =>
  `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`

describe('the log of requests', () => {
  test('a slow request is logged with its route pattern, and others are not logged', async () => {
    const slow = await startServer(undefined, { level: 'info', slowMs: 0 })
    await fetch(`${slow.url}/things/secret-id?token=secret`)
    await slow.app.close()
    const line = JSON.parse(slow.logLines[0] ?? '{}') as Record<string, unknown>
    assert.deepEqual([line['level'], line['route'], line['status']], ['warn', '/things/:id', 200])
    assert.ok(!slow.logLines.join('').includes('secret'))

    const quick = await startServer()
    await fetch(`${quick.url}/things/a`)
    await quick.app.close()
    assert.deepEqual(quick.logLines, [])
  })

  test('every request is logged with the level debug', async () => {
    const { app, url, logLines } = await startServer(undefined, { level: 'debug' })
    await fetch(`${url}/things/a`)
    await app.close()
    assert.equal(logLines.length, 1)
  })
})

describe('GET /metrics', () => {
  test('metrics count and time requests by route pattern and status class', async () => {
    const { url, scrape } = await startServer()
    for (const id of ['a', 'b', 'bad', 'moved']) await fetch(`${url}/things/${id}`, { redirect: 'manual' })
    await fetch(`${url}/things/a`, { method: 'HEAD' })
    const metrics = await scrape()
    assert.equal(metrics.get(count('GET', '/things/:id', '2xx')), 2)
    assert.equal(metrics.get(count('GET', '/things/:id', '3xx')), 1)
    assert.equal(metrics.get(count('GET', '/things/:id', '5xx')), 1)
    assert.equal(metrics.get(count('HEAD', '/things/:id', '2xx')), 1)
    const labels = 'method="GET",route="/things/:id",status="2xx"'
    const buckets = [...metrics].filter(([name]) => name.startsWith(`http_request_duration_seconds_bucket{${labels}`))
    assert.ok(buckets.length > 10)
    assert.equal(metrics.get(`http_request_duration_seconds_bucket{${labels},le="+Inf"}`), 2)
    assert.deepEqual(
      buckets.map(([, value]) => value),
      buckets.map(([, value]) => value).toSorted((a, b) => a - b),
      'cumulative',
    )
    const seconds = metrics.get(`http_request_duration_seconds_sum{${labels}}`) ?? 0
    assert.ok(seconds > 0 && seconds < 60)
  })

  test('metrics use one name for all unknown paths', async () => {
    const { url, scrape } = await startServer()
    for (let i = 0; i < 50; i++) await fetch(`${url}/scan-${i}.php`)
    await fetch(`${url}/things/a`, { method: 'DELETE' })
    const metrics = await scrape()
    assert.equal(metrics.get(count('*', 'unknown', '4xx')), 51)
    assert.ok(![...metrics.keys()].some((name) => name.includes('scan-')))
  })

  test('metrics count closed connections as aborted, and running requests', async () => {
    const { url, scrape, held } = await startServer()
    const socket = await openSocket(url)
    socket.write('GET /things/held HTTP/1.1\r\nhost: a\r\n\r\n')
    // The one that scrapes is under way as well.
    while ((await scrape()).get('http_requests_in_flight') !== 2);
    socket.destroy()
    await once(socket, 'close')
    while ((await scrape()).get('http_requests_in_flight') !== 1);
    assert.equal((await scrape()).get(count('GET', '/things/:id', 'aborted')), 1)
    held.forEach((release) => release())
  })

  test('metrics contain gauges and the memory, CPU and event loop of the process', async () => {
    const { scrape, setWaiting } = await startServer()
    assert.equal((await scrape()).get('waiting_things'), 2)
    setWaiting(0)
    const metrics = await scrape()
    assert.equal(metrics.get('waiting_things'), 0)
    assert.equal(metrics.get('things_by_color{color="red"}'), 1)
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      assert.ok(metrics.has(name), name)
    }
  })

  test('metrics are in the Prometheus format with one HELP and TYPE for each name', async () => {
    const { url } = await startServer()
    const response = await fetch(`${url}/metrics`)
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const types = (await response.text()).split('\n').filter((line) => line.startsWith('# TYPE'))
    assert.ok(types.includes('# TYPE http_request_duration_seconds histogram'))
    assert.equal(new Set(types).size, types.length)
  })

  for (const field of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
    test(`GET /metrics rejects requests forwarded by a local proxy (${field}) without the token`, async () => {
      const { url } = await startServer('letmein')
      const from = (headers: Record<string, string>) =>
        fetch(`${url}/metrics`, { headers: { [field]: '127.0.0.1', ...headers } })
      const refused = await from({})
      assert.equal(refused.status, 401)
      assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'UNAUTHORIZED')
      assert.equal((await from({ authorization: 'Bearer letmeout' })).status, 401)
      assert.equal((await from({ authorization: 'Basic letmein' })).status, 401)
      assert.equal((await from({ authorization: 'Bearer letmein' })).status, 200)
    })
  }

  test('GET /metrics rejects a page of another site whose name leads to this machine', async () => {
    const { url } = await startServer()
    const { port } = new URL(url)
    const statusFor = async (host: string): Promise<number | undefined> => {
      const request = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      return (await sendRaw(url, request))[0]?.status
    }
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example']) {
      assert.equal(await statusFor(host), 401, host)
    }
    for (const host of ['localhost', `127.0.0.1:${port}`, `[::1]:${port}`, 'server']) {
      assert.equal(await statusFor(host), 200, host)
    }
  })

  test('GET /metrics rejects other machines when no token is configured', async () => {
    const { url } = await startServer()
    const headers = { 'x-forwarded-for': '198.51.100.1', authorization: 'Bearer undefined' }
    assert.equal((await fetch(`${url}/metrics`, { headers })).status, 401)
  })
})
