// Chat turns on the built-in model: how long until the first word is on its way, how many come to their end a second
// (each one durable: the question, the steps and the reply are committed), and what a stream that is held open takes.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { generateKey } from '../src/platform/key-format.ts'
import { cpuMicroseconds, printMachine, printTable, residentBytes, startServer } from './harness.ts'
import type { Server } from './harness.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const clients = 32
const firstBytes = 200
const heldStreams = 500

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
const quantile = (values: number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] as number

const createClient = ({ url }: Server, key: string) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/api/v1${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  return {
    openSession: async (): Promise<string> => {
      const response = await post('/sessions', { agentId: 'assistant' })
      if (response.status !== 201) throw new Error(await response.text())
      return ((await response.json()) as { data: { id: string } }).data.id
    },
    say: (sessionId: string, text: string) => post(`/sessions/${sessionId}/messages`, { text }),
    stream: (sessionId: string, text: string) =>
      post(`/sessions/${sessionId}/messages`, { text }, { accept: 'text/event-stream' }),
  }
}
type Client = ReturnType<typeof createClient>

/** Milliseconds from the request to the first frame. */
const timeFirstByte = async (client: Client): Promise<number[]> => {
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
  return times.slice(20)
}

const countTurns = async (client: Client): Promise<{ times: number[]; perSecond: number }> => {
  const times: number[] = []
  const began = performance.now()
  const talk = async (): Promise<void> => {
    let sessionId = await client.openSession()
    for (let i = 1; performance.now() - began < seconds * 1_000; i++) {
      if (i % 10 === 0) sessionId = await client.openSession()
      const asked = performance.now()
      const response = await client.say(sessionId, 'Hello')
      const body = (await response.json()) as { data: { message?: unknown } }
      if (response.status !== 200 || !body.data.message) throw new Error(JSON.stringify(body))
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: clients }, talk))
  return { times, perSecond: times.length / ((performance.now() - began) / 1_000) }
}

/** Resident bytes for each of many streams of turns that are under way. */
const weighStreams = async (server: Server, client: Client): Promise<number> => {
  const sessions = await Promise.all(Array.from({ length: heldStreams }, () => client.openSession()))
  await sleep(2_000)
  const before = await residentBytes(server.pid)
  const open = await Promise.all(sessions.map((sessionId) => client.stream(sessionId, '/slow 60000')))
  await sleep(5_000)
  const after = await residentBytes(server.pid)
  await Promise.all(open.map(async (response) => response.body?.cancel()))
  return (after - before) / heldStreams
}

export const benchTurns = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder })
  const key = generateKey('dev')
  const host = encodeURIComponent(postgres.socketDir)
  const server = await startServer('src/main.ts', {
    NODE_ENV: 'development',
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: `postgres://${postgres.user}@localhost:${postgres.port}/${postgres.database}?host=${host}`,
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    BOOTSTRAP_API_KEY: key,
    RATE_LIMIT_TURNS: '0',
    RATE_LIMIT_WRITES: '0',
    RATE_LIMIT_READS: '0',
  })
  const client = createClient(server, key)
  const first = await timeFirstByte(client)
  const cpuBefore = await cpuMicroseconds(server.pid)
  const { times, perSecond } = await countTurns(client)
  const cpu = ((await cpuMicroseconds(server.pid)) - cpuBefore) / times.length
  const heldBytes = await weighStreams(server, client)
  printMachine('Chat turns')
  printTable(
    ['what', 'figure', 'must'],
    [
      ['first byte of a stream, median ms', median(first).toFixed(1), '≤ 60'],
      ['first byte of a stream, 99 % ms', quantile(first, 0.99).toFixed(1), ''],
      [`turns/s, ${clients} clients`, Math.round(perSecond), '≥ 100'],
      ['a turn, median ms', median(times).toFixed(1), ''],
      ['a turn, 99 % ms', quantile(times, 0.99).toFixed(1), ''],
      ['server CPU a turn, ms', (cpu / 1_000).toFixed(2), ''],
      ['a stream held open, KB', (heldBytes / 1_024).toFixed(1), '≤ 40'],
    ],
  )
  await server.stop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

if (import.meta.main) await benchTurns()
