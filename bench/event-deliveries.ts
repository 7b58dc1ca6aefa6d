// Delivery of events: CPU of server and PostgreSQL for each delivery to one endpoint and to ten endpoints that receive the
// same events, and the time from a change, and from a received webhook event, to its first delivery.
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
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

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const deliveriesPerRound = Number(process.env['BENCH_DELIVERIES'] ?? 5_000)
const changesPerSecond = Number(process.env['BENCH_CHANGES_PER_SECOND'] ?? 50)
const receivedPerSecond = Number(process.env['BENCH_RECEIVED_PER_SECOND'] ?? 500)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)

const { folder, connection, key, env, stop } = await startDatabase('development')
const server = await startServer('src/main.ts', {
  ...env,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  RATE_LIMIT_WRITES: '0',
  RATE_LIMIT_RECEIVE: '0',
  LOG_LEVEL: 'silent',
})
const client = new pg.Client(connection)
await client.connect()

let arrived = 0
let onArrival = (_body: Buffer): void => undefined
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    arrived += 1
    onArrival(Buffer.concat(chunks))
    response.writeHead(204).end()
  })
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

const call = async <T>(method: string, path: string, json: object): Promise<T> => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return ((await response.json()) as { data: T }).data
}

/** CPU time of all processes of PostgreSQL, in microseconds. The processes of the connections remain. */
const cpuOfPostgres = async (): Promise<number> => {
  let sum = 0
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.startsWith('postgres') || command.includes(folder)) {
      sum += await cpuMicroseconds(Number(pid)).catch(() => 0)
    }
  }
  return sum
}

/** Puts events into the outbox, as processes do that die after the commit: the server finds them within a second. */
const recordEvents = (orgId: string, count: number) =>
  client.query(
    `insert into event_outbox (org_id, id, type, actor, subject_type, subject_id, data)
    select $1, (lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
        substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid, 'agent.updated',
      '{"type":"system","id":null,"name":"Bench","apiKeyId":null}', 'agent', gen_random_uuid(),
      jsonb_build_object('agentId', gen_random_uuid(), 'name', 'Helper', 'slug', 'helper', 'changed', '["model"]'::jsonb)
    from generate_series(1, $2)`,
    [orgId, count],
  )

interface Cost {
  server: number
  postgres: number
  perSecond: number
}

const publishedEvents = async (): Promise<number> =>
  Number(
    (await client.query<{ position: string }>('select max(position) as position from event_heads')).rows[0]?.position,
  )

/** The cost of each delivery; without deliveries, of each published event. */
const deliverAll = async (orgId: string, events: number, deliveries: number): Promise<Cost> => {
  const target = (await publishedEvents()) + events
  arrived = 0
  const before = { server: await cpuMicroseconds(server.pid), postgres: await cpuOfPostgres() }
  const began = performance.now()
  await recordEvents(orgId, events)
  while (arrived < deliveries || (await publishedEvents()) < target) await sleep(20)
  const took = (performance.now() - began) / 1_000
  // The outcomes of the last deliveries.
  await sleep(500)
  return {
    server: ((await cpuMicroseconds(server.pid)) - before.server) / (deliveries || events),
    postgres: ((await cpuOfPostgres()) - before.postgres) / (deliveries || events),
    perSecond: (deliveries || events) / took,
  }
}

const orgIdOf = async (): Promise<string> => {
  const { rows } = await client.query<{ id: string }>('select id from orgs limit 1')
  return rows[0]?.id ?? ''
}

const endpoint = (n: number, ordering: string) =>
  call<{ id: string }>('POST', '/event-endpoints', { name: `Bench ${n}`, url, types: ['agent.updated'], ordering })

const benchCost = async (orgId: string): Promise<void> => {
  const rows: (string | number)[][] = []
  let one: number | undefined
  for (const [name, count, ordering] of [
    ['none: published only', 0, 'none'],
    ['one endpoint', 1, 'none'],
    ['ten endpoints', 10, 'none'],
    ['one endpoint, ordering by subject', 1, 'subject'],
  ] as const) {
    const ids: string[] = []
    for (let n = 0; n < count; n += 1) ids.push((await endpoint(n, ordering)).id)
    const events = Math.ceil(deliveriesPerRound / Math.max(1, count))
    await deliverAll(orgId, 200, 200 * count)
    // As autovacuum does within a minute.
    await client.query('analyze')
    const costs: Cost[] = []
    for (let round = 0; round < rounds; round += 1) costs.push(await deliverAll(orgId, events, events * count))
    for (const id of ids) await call('PATCH', `/event-endpoints/${id}`, { status: 'disabled' })
    const [ofServer, ofPostgres] = [
      median(costs.map((cost) => cost.server)),
      median(costs.map((cost) => cost.postgres)),
    ]
    if (count === 1) one ??= ofServer + ofPostgres
    rows.push([
      name,
      Math.round(ofServer),
      Math.round(ofPostgres),
      one === undefined ? '' : ((ofServer + ofPostgres) / one).toFixed(2),
      Math.round(median(costs.map((cost) => cost.perSecond))),
      count === 10 ? '≤ 2.00' : '',
    ])
  }
  printTable(
    ['deliveries of an event', 'server CPU µs', 'PostgreSQL CPU µs', 'of one endpoint', 'per second', 'target'],
    rows,
  )
}

const printLatency = (what: string, latencies: number[]): void => {
  console.log('')
  printTable(
    [`${what}, to its delivery`, 'ms', 'target'],
    [
      ['p50', quantile(latencies, 0.5).toFixed(0), ''],
      ['p99', quantile(latencies, 0.99).toFixed(0), '≤ 1000'],
    ],
  )
}

/** From a request to the arrival of its event, in milliseconds. `send` returns what `keyOf` finds in the event. */
const measureLatency = async (
  perSecond: number,
  send: (n: number) => Promise<string>,
  keyOf: (data: Record<string, string>) => string | undefined,
): Promise<number[]> => {
  const sentAt = new Map<string, number>()
  const arrivedAt = new Map<string, number>()
  onArrival = (body) => {
    const at = performance.now()
    const found = keyOf((JSON.parse(body.toString()) as { data: Record<string, string> }).data)
    if (found !== undefined && !arrivedAt.has(found)) arrivedAt.set(found, at)
  }
  await atSteadyRate(perSecond, seconds, async (n) => {
    const at = performance.now()
    sentAt.set(await send(n), at)
  })
  while (![...sentAt.keys()].every((sent) => arrivedAt.has(sent))) await sleep(20)
  onArrival = () => undefined
  return [...sentAt].map(([sent, at]) => (arrivedAt.get(sent) as number) - at)
}

const benchChanges = async (): Promise<void> => {
  const agents: string[] = []
  for (let n = 0; n < 20; n += 1) agents.push((await call<{ id: string }>('POST', '/agents', { name: 'Bench' })).id)
  await endpoint(0, 'none')
  const change = async (n: number): Promise<string> => {
    const name = `Bench ${n}`
    await call('PATCH', `/agents/${agents[n % agents.length]}`, { name })
    return name
  }
  const latencies = await measureLatency(changesPerSecond, change, ({ name }) => name)
  printLatency(`a change by the API, ${changesPerSecond}/s`, latencies)
}

const benchReceived = async (): Promise<void> => {
  const webhook = await call<{ id: string; secret: string }>('POST', '/webhooks', { name: 'Bench' })
  const secret = standardKey(webhook.secret) as Buffer
  await call('POST', '/event-endpoints', { name: 'Bench', url, types: ['webhook.event.received'] })
  const send = async (n: number): Promise<string> => {
    const body = JSON.stringify({ type: 'order.created', number: n })
    const response = await fetch(`${server.url}/api/v1/webhooks/receive/${webhook.id}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signStandardWebhook(secret, `msg_${n}`, Buffer.from(body), Date.now()),
      },
      body,
    })
    if (!response.ok) throw new Error(await response.text())
    return ((await response.json()) as { data: { eventId: string } }).data.eventId
  }
  const latencies = await measureLatency(receivedPerSecond, send, ({ eventId }) => eventId)
  printLatency(`a received webhook event, ${receivedPerSecond}/s`, latencies)
}

try {
  printMachine('Events')
  await benchCost(await orgIdOf())
  await benchChanges()
  await benchReceived()
} finally {
  await client.end()
  await server.stop()
  receiver.closeAllConnections()
  receiver.close()
  await stop()
}
