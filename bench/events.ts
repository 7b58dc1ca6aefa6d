// Events of Atrium itself: writes with and without the outbox, 1,000 open streams in one process and with separate
// processes, and pages of a log of millions.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { updateAgent } from '../src/agents/agents.ts'
import type { Actor } from '../src/identity/actor.ts'
import { createPublisher } from '../src/outbox/publisher.ts'
import { openDatabase } from '../src/platform/database/database.ts'
import type { Database } from '../src/platform/database/database.ts'
import { createLog } from '../src/platform/process/log.ts'
import {
  atSteadyRate,
  collectGarbage,
  median,
  printMachine,
  printTable,
  quantile,
  residentBytes,
  startServer,
  startDatabase,
} from './harness.ts'
import type { Server } from './harness.ts'

const parts = (process.env['BENCH_ONLY'] ?? 'writes,streams,log').split(',')
const records = Number(process.env['BENCH_EVENTS'] ?? 5_000_000)
const streams = Number(process.env['BENCH_STREAMS'] ?? 1_000)
const changesPerSecond = 5
const seconds = Number(process.env['BENCH_SECONDS'] ?? 20)
const pages = 500
const writers = 16
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const rowsPerInsert = 250_000

const { connection, key, env: ofDatabase, stop } = await startDatabase()
const env = {
  ...ofDatabase,
  RATE_LIMIT_READS: '1000000',
  RATE_LIMIT_WRITES: '0',
  MAX_CONNECTIONS_PER_ADDRESS: '5000',
}
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

const call = async <T>(url: string, method: string, path: string, body?: object): Promise<T> => {
  const response = await fetch(`${url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return ((await response.json()) as { data: T }).data
}

interface Me {
  org: { id: string }
  user: { id: string }
}

/** The same handle, whose transactions leave out the insert into the outbox. */
const withoutOutbox = (db: Database): Database => ({
  ...db,
  transaction: (scope, work) =>
    db.transaction(scope, (transaction) =>
      work({
        ...transaction,
        signal: () => undefined,
        defer: (target, row) => {
          if (!('subjectType' in row)) transaction.defer(target, row)
        },
      }),
    ),
})

/** Changes of agents per second, with their audit entries, by the rules of the platform without HTTP. */
const benchWrites = async (): Promise<void> => {
  const server = await startServer('src/main.ts', env)
  const { org, user: person } = await call<Me>(server.url, 'GET', '/me')
  const agents: { id: string }[] = []
  for (let n = 0; n < writers; n += 1) {
    agents.push(await call(server.url, 'POST', '/agents', { name: `Writer ${n}` }))
  }
  const { items } = await call<{ items: { id: string }[] }>(server.url, 'GET', '/workspaces')
  await server.stop()
  const db = openDatabase({
    connection,
    poolSize: writers + 4,
    hotConnections: 2,
    onError: (error) => console.error(error),
  })
  const publisher = createPublisher({ db, log: createLog('warn') })
  publisher.start()
  const actor = {
    orgId: org.id,
    userId: person.id,
    userName: 'Bench',
    role: 'owner',
    permissions: new Set(),
    workspaceId: items[0]?.id ?? null,
    apiKey: null,
    origin: null,
  } as unknown as Actor
  const rules = { catalog: { find: () => undefined }, knownTools: { names: [], connectors: [] } } as never
  const round = async (handle: Database): Promise<number> => {
    const until = performance.now() + 3_000
    let count = 0
    const write = async ({ id }: { id: string }): Promise<void> => {
      while (performance.now() < until) {
        const patch = { description: `Description ${(count += 1)}` }
        await updateAgent(handle, actor, rules, { idOrSlug: id, patch, ifMatch: undefined })
      }
    }
    await Promise.all(agents.map(write))
    return count / 3
  }
  const plain = withoutOutbox(db)
  await round(db)
  const figures: { with: number; without: number }[] = []
  for (let n = 0; n < rounds; n += 1) {
    const first = n % 2 === 0 ? { without: await round(plain) } : { with: await round(db) }
    figures.push({ ...first, ...(n % 2 === 0 ? { with: await round(db) } : { without: await round(plain) }) } as never)
  }
  await publisher.stop()
  await db.close()
  const without = median(figures.map((one) => one.without))
  const ratio = median(figures.map((one) => one.with / one.without))
  printTable(
    ['changes of agents', 'per second', 'ratio', 'target'],
    [
      ['without the outbox', Math.round(without), '1.00', ''],
      ['with the outbox and its publisher', Math.round(without * ratio), ratio.toFixed(2), '≥ 0.90'],
    ],
  )
}

interface Reader {
  client: ClientRequest
  /** The number of the change and the time in milliseconds at which it arrived. */
  seen: Map<string, number>
}

/** Opens a stream that notes when the name of an agent arrives. Names are `Change <n>`. */
const openStream = (url: string): Promise<Reader> =>
  new Promise((resolve, reject) => {
    const seen = new Map<string, number>()
    const client = request(`${url}/api/v1/events/stream?types=agent.updated`, { headers, agent: false })
    client.once('error', reject)
    client.once('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was rejected: ${response.statusCode}`))
      let isOpen = false
      response.setEncoding('latin1').on('data', (text: string) => {
        const at = performance.now()
        for (const [, name] of text.matchAll(/"name":"(Change \d+)"/g)) seen.set(name as string, at)
        if (!isOpen) resolve({ client, seen })
        isOpen = true
      })
    })
    client.end()
  })

/** Bytes of one open stream, and the milliseconds from the response to a change until its event has arrived. */
const measureStreams = async (apis: Server[]) => {
  const [first] = apis as [Server]
  const agent = await call<{ id: string }>(first.url, 'POST', '/agents', {
    name: `Bench ${randomBytes(4).toString('hex')}`,
  })
  const memory = async (): Promise<number> => {
    let sum = 0
    for (const { pid } of apis) {
      // The inspector, which collects the garbage, has one port for all processes.
      if (apis.length === 1) await collectGarbage(pid)
      sum += await residentBytes(pid)
    }
    return sum
  }
  const warmUp = await Promise.all(
    Array.from({ length: 50 }, (_, n) => openStream((apis[n % apis.length] as Server).url)),
  )
  for (const { client } of warmUp) client.destroy()
  await sleep(1_000)
  const before = await memory()
  const readers: Reader[] = []
  while (readers.length < streams) {
    readers.push(
      ...(await Promise.all(Array.from({ length: 50 }, (_, n) => openStream((apis[n % apis.length] as Server).url)))),
    )
  }
  await sleep(2_000)
  const after = await memory()
  const changed = new Map<string, number>()
  let change = 0
  await atSteadyRate(changesPerSecond, seconds, async () => {
    const name = `Change ${(change += 1)}`
    await call(first.url, 'PATCH', `/agents/${agent.id}`, { name })
    changed.set(name, performance.now())
  })
  await sleep(2_000)
  const delays: number[] = []
  for (const { client, seen } of readers) {
    for (const [name, at] of changed) {
      const arrived = seen.get(name)
      if (arrived === undefined) throw new Error(`${name} did not arrive at a stream`)
      delays.push(Math.max(0, arrived - at))
    }
    client.destroy()
  }
  return {
    bytes: (after - before) / readers.length,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    frames: delays.length,
  }
}

const benchStreams = async (): Promise<void> => {
  const rows: (string | number)[][] = []
  const add = async (name: string, apis: Server[], others: Server[]): Promise<void> => {
    const { bytes, p50, p99, frames } = await measureStreams(apis)
    rows.push([
      name,
      streams,
      frames,
      apis.length === 1 ? (bytes / 1_024).toFixed(1) : '',
      p50.toFixed(1),
      p99.toFixed(1),
    ])
    for (const server of [...apis, ...others]) await server.stop()
  }
  await add('one process', [await startServer('src/main.ts', env)], [])
  const start = (role: string) => startServer('src/main.ts', { ...env, WORKER_PORT: '0' }, ['--role', role])
  await add('two API processes and a worker', [await start('api'), await start('api')], [await start('worker')])
  printTable(
    [
      'streams of events',
      'streams',
      'events received',
      'KiB for each (≤ 40)',
      'change to client, p50 ms',
      'p99 ms (≤ 250)',
    ],
    rows,
  )
}

const benchLog = async (): Promise<void> => {
  const server = await startServer('src/main.ts', env)
  const { id: orgId } = (await call<Me>(server.url, 'GET', '/me')).org
  const client = new pg.Client(connection)
  await client.connect()
  const fill = async (from: number, to: number): Promise<void> => {
    for (let first = from; first < to; first += rowsPerInsert) {
      await client.query(
        `insert into events (org_id, id, position, type, actor, subject_type, subject_id, sequence, data, chain_id, depth, occurred_at)
         select $1, (left(uuid_at(now())::text, 18) || right(gen_random_uuid()::text, 18))::uuid, n, 'agent.updated',
           '{"type":"system","id":null,"name":"Bench","apiKeyId":null}', 'agent', gen_random_uuid(), 1,
           '{"agentId":"01a1fc7d-9fd0-79dc-a335-45f9cc19b81e","name":"Helper","slug":"helper","changed":["model"]}',
           gen_random_uuid(), 0, now()
         from generate_series($2::bigint + 1, $3::bigint) n`,
        [orgId, first, Math.min(first + rowsPerInsert, to)],
      )
    }
    await client.query(
      `insert into event_heads (org_id, position) values ($1, $2) on conflict (org_id) do update set position = $2`,
      [orgId, to],
    )
    await client.query('vacuum analyze events')
  }
  const time = async (total: number): Promise<Record<'first' | 'middle' | 'last', number>> => {
    const read = async (after: number): Promise<number> => {
      const times: number[] = []
      for (let n = 0; n < pages; n += 1) {
        const began = performance.now()
        await call(server.url, 'GET', `/events?limit=100&after=${after + (n % 100)}`)
        times.push(performance.now() - began)
      }
      return median(times)
    }
    await read(0)
    return { first: await read(0), middle: await read(Math.floor(total / 2)), last: await read(total - 300) }
  }
  await client.query('delete from events')
  await fill(0, 5_000)
  const small = await time(5_000)
  await fill(5_000, records)
  const large = await time(records)
  await client.end()
  await server.stop()
  printTable(
    ['page of 100 events, p50 ms', '5,000 events', `${records.toLocaleString('en')} events`, 'ratio (≤ 1.50)'],
    (['first', 'middle', 'last'] as const).map((which) => [
      which,
      small[which].toFixed(2),
      large[which].toFixed(2),
      (large[which] / small[which]).toFixed(2),
    ]),
  )
}

printMachine('Events')
if (parts.includes('writes')) await benchWrites()
if (parts.includes('streams')) await benchStreams()
if (parts.includes('log')) await benchLog()
await stop()
