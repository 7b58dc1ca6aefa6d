// Receiving against a bare route with one durable insert; delivery of 500 events/s to one endpoint with SQL statements per
// event; isolation of nine endpoints from one that hangs; lists of events among millions.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import pg from 'pg'
import { Pool } from 'undici'
import { signStandardWebhook, standardKey } from '../src/platform/signatures/standard-webhooks.ts'
import {
  atSteadyRate,
  cpuMicroseconds,
  median,
  printMachine,
  printTable,
  quantile,
  startServer,
  startDatabase,
} from './harness.ts'
import type { Server } from './harness.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4)
const streamSeconds = Number(process.env['BENCH_STREAM_SECONDS'] ?? 60)
const manyEvents = Number(process.env['BENCH_EVENTS'] ?? 5_000_000)
const fewEvents = 5_000
const eventsPerSecond = 500
const hangMs = 15_000

interface Webhook {
  id: string
  path: string
  secretKey: Buffer
}

interface Bench {
  atrium: Server
  /** Without a worker. */
  api: Server
  baseline: Server
  key: string
  client: pg.Client
}

const call = async <T>(bench: Bench, method: string, path: string, json?: object): Promise<T> => {
  const headers = { authorization: `Bearer ${bench.key}`, ...(json && { 'content-type': 'application/json' }) }
  const response = await fetch(bench.atrium.url + path, {
    method,
    headers,
    ...(json && { body: JSON.stringify(json) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return ((await response.json()) as { data: T }).data
}

const createWebhook = async (bench: Bench, url: string | null): Promise<Webhook> => {
  const made = await call<{ id: string; secret: string }>(bench, 'POST', '/api/v1/webhooks', { name: 'Bench', url })
  return { id: made.id, path: `/api/v1/webhooks/receive/${made.id}`, secretKey: standardKey(made.secret) as Buffer }
}

let count = 0
const filler = 'x'.repeat(1_900)
/** The next signed event of about 2 KB. The body contains its number. */
const nextEvent = (webhook: Webhook): { number: number; body: string; headers: Record<string, string> } => {
  const number = (count += 1)
  const body = JSON.stringify({ id: number, type: 'order.created', customer: { name: 'Ada' }, note: filler })
  return {
    number,
    body,
    headers: {
      'content-type': 'application/json',
      ...signStandardWebhook(webhook.secretKey, `msg_${number}`, Buffer.from(body), Date.now()),
    },
  }
}

interface Figure {
  rate: number
  p50: number
  p99: number
  cpu: number
}

const load = async (server: Server, path: string, webhook: Webhook): Promise<Figure> => {
  const before = await cpuMicroseconds(server.pid)
  const result = await autocannon({
    url: server.url,
    connections: 50,
    duration: seconds,
    requests: [
      { method: 'POST', path, setupRequest: (request) => Object.assign(request, nextEvent(webhook), { path }) },
    ],
  })
  const cpu = (await cpuMicroseconds(server.pid)) - before
  if (result.errors > 0 || result.non2xx > 0) {
    throw new Error(`${path}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`)
  }
  const { total } = result.requests
  return { rate: total / result.duration, p50: result.latency.p50, p99: result.latency.p99, cpu: cpu / total }
}

const benchReceive = async (bench: Bench): Promise<void> => {
  const silent = await createWebhook(bench, null)
  const forwarding = await createWebhook(bench, 'http://127.0.0.1:9/')
  const targets: [string, Server, string, Webhook][] = [
    ['baseline: a route with one durable insert', bench.baseline, '/insert', silent],
    ['received, recorded', bench.api, silent.path, silent],
    ['received, recorded and queued', bench.api, forwarding.path, forwarding],
  ]
  // Pausing the webhook keeps the worker from delivering these events.
  await call(bench, 'PATCH', `/api/v1/webhooks/${forwarding.id}`, { status: 'paused' })
  const figures = new Map<string, Figure[]>(targets.map(([name]) => [name, []]))
  for (const [, server, path, webhook] of targets) await load(server, path, webhook)
  for (let round = 0; round < rounds; round++) {
    for (const [name, server, path, webhook] of targets) figures.get(name)?.push(await load(server, path, webhook))
  }
  const baselineRate = median(
    (figures.get('baseline: a route with one durable insert') as Figure[]).map(({ rate }) => rate),
  )
  printTable(
    ['a signed event of 2 KB', 'requests/s', 'of baseline', 'p50 ms', 'p99 ms', 'server CPU µs', 'target'],
    [...figures].map(([name, list], index) => {
      const rate = median(list.map((one) => one.rate))
      return [
        name,
        Math.round(rate),
        (rate / baselineRate).toFixed(2),
        median(list.map((one) => one.p50)).toFixed(1),
        median(list.map((one) => one.p99)).toFixed(1),
        median(list.map((one) => one.cpu)).toFixed(0),
        index === 0 ? '' : '≥ 0.60',
      ]
    }),
  )
}

/**
 * Times of events by number. The size is fixed, so that garbage collection in the load generator, which also stops the
 * endpoints, stays short for any number of events.
 */
const createTimes = () => {
  const times = new Float64Array(2_000_000)
  return {
    mark: (number: number): void => {
      if (!times[number]) times[number] = performance.now()
    },
    /** Milliseconds; undefined if there is no time yet. */
    at: (number: number): number | undefined => times[number] || undefined,
  }
}

/** Endpoints of one server, by path. */
const startReceivers = async () => {
  const arrived = createTimes()
  const hanging = new Set<string>()
  const server = createServer((request, response) => {
    const isHanging = hanging.has(request.url ?? '')
    request.once('data', (bytes: Buffer) => {
      if (!isHanging) arrived.mark(Number(/^{"id":(\d+),/.exec(bytes.toString('latin1', 0, 30))?.[1]))
    })
    request.resume()
    if (isHanging) setTimeout(() => response.end(), hangMs + 1_000).unref()
    else response.end()
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url, arrived, hanging, close }
}
type Receivers = Awaited<ReturnType<typeof startReceivers>>

const acknowledged = createTimes()

/** Sends events at a steady rate to the webhooks in turn. Returns the numbers of the acknowledged events per webhook. */
const stream = async (bench: Bench, webhooks: Webhook[], forSeconds: number): Promise<number[][]> => {
  const pool = new Pool(bench.atrium.url, { connections: 50 })
  const numbers: number[][] = webhooks.map(() => [])
  const post = async (at: number): Promise<void> => {
    const webhook = webhooks[at] as Webhook
    const { number, body, headers } = nextEvent(webhook)
    const answer = await pool.request({ method: 'POST', path: webhook.path, body, headers })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`receiving returned ${answer.statusCode}`)
    acknowledged.mark(number)
    numbers[at]?.push(number)
  }
  await atSteadyRate(eventsPerSecond, forSeconds, (n) => post(n % webhooks.length))
  await pool.close()
  return numbers
}

/** Waits until all events are delivered. Returns milliseconds from the response to the sender to the delivery. */
const delaysOf = async (numbers: number[], { arrived }: Receivers): Promise<number[]> => {
  const deadline = performance.now() + 60_000
  while (!numbers.every((n) => arrived.at(n) !== undefined) && performance.now() < deadline) await sleep(50)
  return numbers
    .filter((n) => arrived.at(n) !== undefined)
    .map((n) => Math.max(0, (arrived.at(n) as number) - (acknowledged.at(n) as number)))
}

const transactionsSoFar = async ({ client }: Bench): Promise<number> => {
  // PostgreSQL reports counters of busy connections up to 1 s late, of idle ones up to 10 s.
  await sleep(11_000)
  const { rows } = await client.query<{ n: string }>(
    `select xact_commit + xact_rollback as n from pg_stat_database where datname = 'atrium'`,
  )
  return Number(rows[0]?.n)
}

const benchStream = async (bench: Bench): Promise<void> => {
  const receivers = await startReceivers()
  const webhook = await createWebhook(bench, `${receivers.url}/fast`)
  await stream(bench, [webhook], 2)
  const before = await transactionsSoFar(bench)
  const cpuBefore = await cpuMicroseconds(bench.atrium.pid)
  const [numbers] = (await stream(bench, [webhook], streamSeconds)) as [number[]]
  const delays = await delaysOf(numbers, receivers)
  const cpu = (await cpuMicroseconds(bench.atrium.pid)) - cpuBefore
  // Each statement on this path is one transaction. Statements of an idle worker are included.
  const transactions = (await transactionsSoFar(bench)) - before
  printTable(
    [`${eventsPerSecond} events/s for ${streamSeconds} s, one fast endpoint`, 'figure', 'target'],
    [
      ['acknowledged', numbers.length, eventsPerSecond * streamSeconds],
      ['delivered', delays.length, 'all'],
      ['from response to first delivery, p50 ms', quantile(delays, 0.5).toFixed(1), '≤ 50'],
      ['from response to first delivery, p99 ms', quantile(delays, 0.99).toFixed(1), '≤ 1000'],
      ['from response to first delivery, maximum ms', Math.max(...delays).toFixed(0), ''],
      ['server CPU per event (receive and deliver), µs', (cpu / numbers.length).toFixed(0), ''],
      ['SQL statements per event', (transactions / numbers.length).toFixed(2), '≤ 6'],
    ],
  )
  receivers.close()
}

const benchIsolation = async (bench: Bench): Promise<void> => {
  const receivers = await startReceivers()
  const webhooks: Webhook[] = []
  for (let n = 0; n < 10; n++) webhooks.push(await createWebhook(bench, `${receivers.url}/${n}`))
  const [slow] = webhooks as [Webhook]
  const delaysOfNine = async (): Promise<number[]> => {
    const nine = (await stream(bench, webhooks, streamSeconds)).slice(1).flat()
    const delays = await delaysOf(nine, receivers)
    if (delays.length < nine.length) throw new Error(`${nine.length - delays.length} events did not arrive`)
    return delays
  }
  await stream(bench, webhooks, 5)
  // All rounds count together, because a few garbage collections determine the p99 of one minute. The order alternates, so
  // that neither phase gets the fresher server.
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < Math.max(2, rounds - 1); round++) {
    for (const hangs of round % 2 === 0 ? [false, true] : [true, false]) {
      if (hangs) receivers.hanging.add('/0')
      ;(hangs ? beside : alone).push(...(await delaysOfNine()))
      if (!hangs) continue
      // Deletes the backlog of the hanging endpoint, which would otherwise be delivered in the next round.
      receivers.hanging.clear()
      await call(bench, 'DELETE', `/api/v1/webhooks/${slow.id}`)
      Object.assign(slow, await createWebhook(bench, `${receivers.url}/0`))
      await sleep(hangMs)
    }
  }
  const rowOf = (what: string, delays: number[]): (string | number)[] => [
    what,
    delays.length,
    quantile(delays, 0.5).toFixed(1),
    quantile(delays, 0.99).toFixed(1),
  ]
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
  printTable(
    ['first deliveries to nine endpoints', 'events', 'p50 ms', 'p99 ms', 'ratio of p99', 'target'],
    [
      [...rowOf('the tenth is fast', alone), '1.00', ''],
      [...rowOf(`the tenth hangs for ${hangMs / 1_000} s`, beside), ratio.toFixed(2), '≤ 1.20'],
    ],
  )
  receivers.close()
}

/** Inserts events of the last 30 days, newest last. */
const fill = async ({ client }: Bench, webhook: Webhook, from: number, to: number): Promise<void> => {
  const step = 250_000
  for (let first = from; first < to; first += step) {
    await client.query(
      `insert into webhook_events (org_id, id, webhook_id, type, status, headers, content_type, body, received_at)
       select w.org_id, (left(uuid_at(at)::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid, w.id,
         'order.created', 'recorded', '{}', 'application/json', convert_to(jsonb_build_object('type', 'order.created', 'n', n, 'note', repeat('x', 100))::text, 'UTF8'), at
       from generate_series($2::bigint, $3::bigint - 1) n
         cross join lateral (select now() - ((n * 7919) % 2500000) * interval '1 second' as at) t
         join webhooks w on w.id = $1`,
      [webhook.id, first, Math.min(to, first + step)],
    )
  }
  await client.query('vacuum analyze webhook_events')
  // Otherwise PostgreSQL writes these rows to disk while the lists are measured.
  await client.query('checkpoint')
  const areVacuumed = async (): Promise<boolean> => {
    const { rows } = await client.query(`select from pg_stat_activity where backend_type = 'autovacuum worker'`)
    return rows.length === 0
  }
  while (!(await areVacuumed())) await sleep(500)
}

/** Median milliseconds of 1,000 samples of each request, measured in turns; the first turn is a warm-up. */
const timeLists = async (bench: Bench, paths: string[]): Promise<number[]> => {
  const times: number[][] = paths.map(() => [])
  for (let turn = 0; turn < 11; turn++) {
    for (const [index, path] of paths.entries()) {
      for (let n = 0; n < 100; n++) {
        const began = performance.now()
        await call(bench, 'GET', path)
        if (turn > 0) times[index]?.push(performance.now() - began)
      }
    }
  }
  return times.map(median)
}

const benchList = async (bench: Bench): Promise<void> => {
  await bench.client.query('truncate webhook_events')
  await bench.client.query(`select ensure_webhook_partitions(current_date - 31, current_date)`)
  const webhook = await createWebhook(bench, null)
  const middle = async (): Promise<string> => {
    const { rows } = await bench.client.query<{ id: string }>(`select uuid_at(now() - interval '15 days')::text as id`)
    return Buffer.from(JSON.stringify([rows[0]?.id])).toString('base64url')
  }
  const paths: [string, string][] = [
    ['a webhook’s events, 50', `/api/v1/webhooks/${webhook.id}/events?limit=50`],
    ['the same from the middle', `/api/v1/webhooks/${webhook.id}/events?limit=50&cursor=${await middle()}`],
    ["the org's events, 100", '/api/v1/webhooks/events'],
  ]
  const urls = paths.map(([, path]) => path)
  await fill(bench, webhook, 0, fewEvents)
  const few = await timeLists(bench, urls)
  await fill(bench, webhook, fewEvents, manyEvents)
  const many = await timeLists(bench, urls)
  const rows = paths.map(([name], index) => {
    const [before, after] = [few[index] as number, many[index] as number]
    return [name, before.toFixed(2), after.toFixed(2), (after / before).toFixed(2), '≤ 1.50']
  })
  printTable(['list', `p50 ms, ${fewEvents} events`, `p50 ms, ${manyEvents} events`, 'ratio', 'target'], rows)
}

const parts: Record<string, (bench: Bench) => Promise<void>> = {
  receive: benchReceive,
  stream: benchStream,
  isolation: benchIsolation,
  list: benchList,
}

const { connection, key, env: ofDatabase, stop } = await startDatabase()
const client = new pg.Client(connection)
await client.connect()
await client.query(
  'create table baseline_events (id bigint generated always as identity primary key, body jsonb not null)',
)
const env = {
  ...ofDatabase,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  RATE_LIMIT_RECEIVE: '1000000',
  RATE_LIMIT_READS: '1000000',
  RATE_LIMIT_WRITES: '1000000',
  BENCH_CONNECTION: JSON.stringify(connection),
}
const atrium = await startServer('src/main.ts', env)
const api = await startServer('bench/receiver-server.ts', { ...env, BENCH_SERVER: 'atrium' })
const baseline = await startServer('bench/receiver-server.ts', { ...env, BENCH_SERVER: 'baseline' })
const bench: Bench = { atrium, api, baseline, key, client }
const chosen = process.env['BENCH_ONLY']?.split(',') ?? Object.keys(parts)
try {
  printMachine('Webhooks')
  for (const name of chosen) {
    await parts[name]?.(bench)
    console.log('')
  }
} finally {
  await client.end()
  for (const server of [atrium, api, baseline]) await server.stop()
  await stop()
}
