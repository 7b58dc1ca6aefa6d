// API processes and workers that are separate, compared with one process that does everything on the same core: the first
// byte of a stream, durable turns, the first delivery of a webhook event, and the age of stream frames.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { signStandardWebhook, standardKey } from '../src/platform/signatures/standard-webhooks.ts'
import { cpuMicroseconds, median, printMachine, printTable, quantile, startServer, startDatabase } from './harness.ts'
import type { Server } from './harness.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 6)
const clients = 32
const firstBytes = 100
const events = 100
const streams = 16
const slowMs = 3_000

interface Processes {
  /** Their URLs are asked in turns. */
  apis: Server[]
  all: Server[]
}

interface Case {
  name: string
  start(env: Record<string, string>): Promise<Processes>
}

interface Figures {
  firstByteMs: number
  turnsPerSecond: number
  cpuPerTurnMs: number
  deliveryMs: number
  frameMs: number
}

const startAll = async (env: Record<string, string>): Promise<Processes> => {
  const server = await startServer('src/main.ts', env)
  return { apis: [server], all: [server] }
}

/** Two API processes and two workers, all on the core of the server. */
const startSplit = async (env: Record<string, string>): Promise<Processes> => {
  const apis = [1, 2].map(() => startServer('src/main.ts', env, ['--role', 'api']))
  const workers = [1, 2].map(() => startServer('src/main.ts', { ...env, WORKER_PORT: '0' }, ['--role', 'worker']))
  const started = await Promise.all(apis)
  return { apis: started, all: [...started, ...(await Promise.all(workers))] }
}

const createClient = ({ apis }: Processes, key: string) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let asked = 0
  const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${apis[(asked += 1) % apis.length]?.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    })
  const data = async <T>(path: string, body: object): Promise<T> => {
    const response = await post(path, body)
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return ((await response.json()) as { data: T }).data
  }
  return {
    openSession: async () => (await data<{ id: string }>('/sessions', { agentId: 'assistant' })).id,
    say: (sessionId: string, text: string) => data<{ message?: unknown }>(`/sessions/${sessionId}/messages`, { text }),
    stream: (sessionId: string, text: string) =>
      post(`/sessions/${sessionId}/messages`, { text }, { accept: 'text/event-stream' }),
    createWebhook: (url: string) => data<{ id: string; secret: string }>('/webhooks', { name: 'Bench', url }),
    send: (path: string, body: string, more: Record<string, string>) =>
      fetch(`${apis[(asked += 1) % apis.length]?.url}/api/v1${path}`, { method: 'POST', headers: more, body }),
  }
}
type Client = ReturnType<typeof createClient>

/** Milliseconds from the request to the first frame, one stream at a time. */
const timeFirstByte = async (client: Client): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < firstBytes; i++) {
    const sessionId = await client.openSession()
    const began = performance.now()
    const response = await client.stream(sessionId, 'Hello')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    times.push(performance.now() - began)
    while (!(await reader.read()).done);
  }
  return median(times.slice(20))
}

const countTurns = async (client: Client, { all }: Processes) => {
  const cpu = async (): Promise<number> => {
    let sum = 0
    for (const { pid } of all) sum += await cpuMicroseconds(pid)
    return sum
  }
  const cpuBefore = await cpu()
  const began = performance.now()
  let turns = 0
  const talk = async (): Promise<void> => {
    let sessionId = await client.openSession()
    for (let i = 1; performance.now() - began < seconds * 1_000; i++) {
      if (i % 10 === 0) sessionId = await client.openSession()
      const { message } = await client.say(sessionId, 'Hello')
      if (!message) throw new Error('a turn ended without a reply')
      turns += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, talk))
  return {
    turnsPerSecond: turns / ((performance.now() - began) / 1_000),
    cpuPerTurnMs: ((await cpu()) - cpuBefore) / turns / 1_000,
  }
}

/** Milliseconds from sending an event to its arrival at the endpoint, one event at a time. */
const timeDelivery = async (client: Client): Promise<number> => {
  let arrived = Promise.withResolvers<number>()
  const endpoint = createServer((request, response) => {
    request.resume().once('end', () => {
      arrived.resolve(performance.now())
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  const webhook = await client.createWebhook(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`)
  const secretKey = standardKey(webhook.secret) as Buffer
  const times: number[] = []
  for (let i = 0; i < events; i++) {
    // At any time between two polls.
    await sleep(Math.random() * 50)
    arrived = Promise.withResolvers()
    const body = JSON.stringify({ n: i, type: 'order.created' })
    const signature = signStandardWebhook(secretKey, `msg_${i}`, Buffer.from(body), Date.now())
    const began = performance.now()
    const response = await client.send(`/webhooks/receive/${webhook.id}`, body, {
      'content-type': 'application/json',
      ...signature,
    })
    if (!response.ok) throw new Error(await response.text())
    times.push((await arrived.promise) - began)
  }
  endpoint.close()
  endpoint.closeAllConnections()
  return median(times.slice(10))
}

/** Reads a stream to its end. Returns the time at which each frame arrived, in milliseconds since 1970. */
const readFrames = async (client: Client): Promise<{ turnId: string; arrivedAt: Map<number, number> }> => {
  const words = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ')
  const response = await client.stream(await client.openSession(), `/slow ${slowMs}\n${words}`)
  const arrivedAt = new Map<number, number>()
  const decoder = new TextDecoder()
  let text = ''
  let read = 0
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    const now = performance.timeOrigin + performance.now()
    text += decoder.decode(piece, { stream: true })
    // A frame has arrived with the empty line at its end.
    const complete = text.lastIndexOf('\n\n')
    if (complete < read) continue
    for (const [, seq] of text.slice(read, complete).matchAll(/^id: (\d+)$/gm)) arrivedAt.set(Number(seq), now)
    read = complete
  }
  const [, turnId = ''] = /"turnId":"([0-9a-f-]{36})"/.exec(text) ?? []
  return { turnId, arrivedAt }
}

/**
 * The p99 of milliseconds between the begin of the transaction that stored a frame and its arrival. It contains the commit,
 * which is not observable from outside.
 */
const timeFrames = async (client: Client, database: pg.Client): Promise<number> => {
  const read = await Promise.all(Array.from({ length: streams }, () => readFrames(client)))
  const ages: number[] = []
  for (const { turnId, arrivedAt } of read) {
    const { rows } = await database.query<{ seq: number; at: string }>(
      'select seq, extract(epoch from created_at) * 1000 as at from turn_events where turn_id = $1 order by seq',
      [turnId],
    )
    let first = 1
    for (const { seq, at } of rows) {
      for (let n = first; n <= seq; n++) {
        const arrival = arrivedAt.get(n)
        if (arrival === undefined) throw new Error(`frame ${n} of ${seq} did not arrive`)
        ages.push(arrival - Number(at))
      }
      first = seq + 1
    }
  }
  if (ages.length < streams * 50) throw new Error(`only ${ages.length} frames were found`)
  return quantile(ages, 0.99)
}

const startRedis = async (): Promise<{ url: string; stop(): void } | undefined> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child: ChildProcess = spawn('redis-server', options, { stdio: 'ignore', cwd: '/' })
  const failed = once(child, 'error').then(() => true)
  process.once('exit', () => child.kill('SIGKILL'))
  if (await Promise.race([failed, sleep(1_000, false)])) return undefined
  return { url: `redis://127.0.0.1:${port}`, stop: () => void child.kill('SIGKILL') }
}

const measure = async (one: Case, env: Record<string, string>, key: string, database: pg.Client): Promise<Figures> => {
  const processes = await one.start(env)
  const client = createClient(processes, key)
  // Warms up every process, and lets them find one another.
  const warm = Array.from({ length: clients }, async () => {
    const sessionId = await client.openSession()
    for (let i = 0; i < 8; i++) await client.say(sessionId, 'Hello')
  })
  await Promise.all(warm)
  const firstByteMs = await timeFirstByte(client)
  const deliveryMs = await timeDelivery(client)
  const frameMs = await timeFrames(client, database)
  const turns = await countTurns(client, processes)
  await Promise.all(processes.all.map((server) => server.stop()))
  return { firstByteMs, deliveryMs, frameMs, ...turns }
}

const report = (figures: Map<string, Figures[]>): void => {
  const of = (name: string, what: keyof Figures): number =>
    median((figures.get(name) as Figures[]).map((one) => one[what]))
  const names = [...figures.keys()]
  const [base = ''] = names
  printMachine('Separate processes')
  printTable(
    ['what', ...names, 'target (2 + 2)'],
    [
      ['first byte of a stream, p50 ms', ...names.map((name) => of(name, 'firstByteMs').toFixed(1)), '≤ 60'],
      ['webhook event to first delivery, p50 ms', ...names.map((name) => of(name, 'deliveryMs').toFixed(1)), '≤ 50'],
      ['stored frame to client, p99 ms', ...names.map((name) => of(name, 'frameMs').toFixed(1)), '≤ 100'],
      [`turns/s, ${clients} clients`, ...names.map((name) => Math.round(of(name, 'turnsPerSecond'))), ''],
      [
        'turns/s of one process',
        ...names.map((name) => (of(name, 'turnsPerSecond') / of(base, 'turnsPerSecond')).toFixed(2)),
        '≥ 0.90',
      ],
      ['CPU of all server processes per turn, ms', ...names.map((name) => of(name, 'cpuPerTurnMs').toFixed(2)), ''],
    ],
  )
}

export const benchSplit = async (): Promise<void> => {
  const { connection, key, env: ofDatabase, stop } = await startDatabase('development')
  const redis = await startRedis()
  const client = new pg.Client(connection)
  const env = {
    ...ofDatabase,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...Object.fromEntries(['TURNS', 'WRITES', 'READS', 'RECEIVE'].map((what) => [`RATE_LIMIT_${what}`, '0'])),
  }
  const cases: Case[] = [
    { name: 'one process', start: startAll },
    { name: '2 + 2, NOTIFY', start: startSplit },
    ...(redis ? [{ name: '2 + 2, Redis', start: () => startSplit({ ...env, REDIS_URL: redis.url }) }] : []),
  ]
  await client.connect()
  const figures = new Map<string, Figures[]>(cases.map(({ name }) => [name, []]))
  // The first start migrates the database.
  await (await startServer('src/main.ts', env)).stop()
  for (let round = 0; round < rounds; round++) {
    for (const one of cases) figures.get(one.name)?.push(await measure(one, env, key, client))
  }
  report(figures)
  if (!redis) console.log('\nleft out: Redis (redis-server is not installed)')
  await client.end()
  redis?.stop()
  await stop()
}

if (import.meta.main) await benchSplit()
