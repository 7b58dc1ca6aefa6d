// Chat turns on the built-in model: time to the first byte, throughput of durable turns (the message, the steps and the
// reply are committed), and memory per open stream. Also the first page of a long list of agents.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  collectGarbage,
  cpuMicroseconds,
  median,
  printMachine,
  printTable,
  quantile,
  residentBytes,
  startServer,
  startDatabase,
} from './harness.ts'
import type { Server } from './harness.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const clients = 32
const firstBytes = 200
const heldStreams = 1_000
const listed = { few: 100, many: 10_000 }
const listCalls = 1_020

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

/** Milliseconds for the first page of agents in two workspaces, one with few and one with many agents, measured in turns. */
const timeLists = async (url: string, key: string, connection: pg.ClientConfig): Promise<Record<string, number>> => {
  const authorization = `Bearer ${key}`
  const fill = async (name: string, agents: number): Promise<string> => {
    const body = JSON.stringify({ name })
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/workspaces`, { method: 'POST', headers, body })
    const { id } = ((await response.json()) as { data: { id: string } }).data
    const client = new pg.Client(connection)
    await client.connect()
    await client.query(
      `insert into agents (org_id, id, workspace_id, name, slug, avatar, model, settings)
       select org_id, gen_random_uuid(), id, 'Agent ' || n, $2 || '-' || n, 'default', 'atrium/demo', '{}'
       from workspaces, generate_series(1, $3) as n where id = $1`,
      [id, name.toLowerCase(), agents],
    )
    await client.query('analyze agents')
    await client.end()
    return id
  }
  const lists = [await fill('Few', listed.few), await fill('Many', listed.many)].map((id) => ({
    id,
    times: [0].slice(1),
  }))
  for (let i = 0; i < listCalls; i++) {
    for (const { id, times } of lists) {
      const began = performance.now()
      const response = await fetch(`${url}/api/v1/agents?limit=50`, {
        headers: { authorization, 'x-workspace-id': id },
      })
      const body = (await response.json()) as { data: { items: unknown[] } }
      if (body.data.items.length !== 50) throw new Error(JSON.stringify(body))
      times.push(performance.now() - began)
    }
  }
  const [few, many] = lists.map(({ times }) => median(times.slice(20))) as [number, number]
  return { few, many }
}

/**
 * Resident KB per open stream: the growth of a warm server between few and many streams, divided by their number; with
 * and without garbage collection before the measurement.
 */
const weighStreams = async ({ pid }: Server, client: Client): Promise<{ held: number; asIs: number }> => {
  const open = async (count: number): Promise<Response[]> => {
    const streams: Response[] = []
    const openNext = async (): Promise<void> => {
      while (streams.length < count) {
        const stream = await client.stream(await client.openSession(), '/slow 90000')
        if (stream.status !== 200) throw new Error(await stream.text())
        streams.push(stream)
      }
    }
    await Promise.all(Array.from({ length: clients }, openNext))
    await sleep(5_000)
    return streams
  }
  const some = await open(heldStreams / 4)
  await collectGarbage(pid)
  const before = await residentBytes(pid)
  const many = await open(heldStreams)
  const asIs = await residentBytes(pid)
  await collectGarbage(pid)
  const held = await residentBytes(pid)
  await Promise.all([...some, ...many].map(async (response) => response.body?.cancel()))
  const each = (after: number): number => (after - before) / heldStreams / 1_024
  return { held: each(held), asIs: each(asIs) }
}

export const benchAgents = async (): Promise<void> => {
  const { key, connection, env, stop } = await startDatabase('development')
  const environment = {
    ...env,
    RATE_LIMIT_TURNS: '0',
    RATE_LIMIT_WRITES: '0',
    RATE_LIMIT_READS: '0',
  }
  const server = await startServer('src/main.ts', environment)
  const client = createClient(server, key)
  const first = await timeFirstByte(client)
  const cpuBefore = await cpuMicroseconds(server.pid)
  const { times, perSecond } = await countTurns(client)
  const cpu = ((await cpuMicroseconds(server.pid)) - cpuBefore) / times.length
  const lists = await timeLists(server.url, key, connection)
  await server.stop()
  // A server that was busy before has free memory, which would hide the memory that streams need.
  const fresh = await startServer('src/main.ts', environment)
  const streams = await weighStreams(fresh, createClient(fresh, key))
  await fresh.stop()
  printMachine('Agents and chat turns')
  printTable(
    ['what', 'figure', 'target'],
    [
      ['first byte of a stream, p50 ms', median(first).toFixed(1), '≤ 60'],
      ['first byte of a stream, p99 ms', quantile(first, 0.99).toFixed(1), ''],
      [`turns/s, ${clients} clients`, Math.round(perSecond), '≥ 100'],
      ['duration of a turn, p50 ms', median(times).toFixed(1), ''],
      ['duration of a turn, p99 ms', quantile(times, 0.99).toFixed(1), ''],
      ['server CPU per turn, ms', (cpu / 1_000).toFixed(2), ''],
      [`first page of ${listed.few} agents, p50 ms`, lists['few']?.toFixed(2) ?? '', ''],
      [
        `first page of ${listed.many} agents, ratio to ${listed.few}`,
        ((lists['many'] ?? 0) / (lists['few'] ?? 1)).toFixed(2),
        '≤ 1.5',
      ],
      [`memory per open stream, ${heldStreams} streams, KB`, streams.held.toFixed(1), '≤ 40'],
      ['the same before garbage collection, KB', streams.asIs.toFixed(1), ''],
    ],
  )
  await stop()
}

if (import.meta.main) await benchAgents()
