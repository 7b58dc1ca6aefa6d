// Kills APIs, the worker and PostgreSQL while agents are changed, and compares what the readers of events receive: two
// event endpoints, a consumer that polls the log, and a stream. CRASH_SECONDS: how long, at least each process once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { generateKey } from '../../src/platform/key-format.ts'
import { startReceiver } from '../fakes/receiver.ts'
import type { Receiver } from '../fakes/receiver.ts'
import { withClient } from '../support/holder.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'

const minSeconds = Number(process.env['CRASH_SECONDS'] ?? 0)
const changesPerSecond = Number(process.env['CRASH_EVENTS_PER_SECOND'] ?? 200)
const subjects = 20
/** Requests that may be open, so that a server that is starting does not receive all at once. */
const openRequests = 64

const folder = await mkdtemp(join(tmpdir(), 'atrium-crash-'))
let postgres = await startEmbeddedPostgres({ dataDir: folder })
const { socketDir, port, user, database } = postgres
const key = generateKey('dev')
const env = {
  DATA_DIR: folder,
  DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`,
  ENCRYPTION_KEYS: `crash:${randomBytes(32).toString('base64')}`,
  BOOTSTRAP_API_KEY: key,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  RATE_LIMIT_WRITES: '0',
  RATE_LIMIT_READS: '0',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0,0,1,1,1,1,1,1,1',
  WORKER_PORT: '0',
  LOG_LEVEL: 'silent',
}

const roles = { 'api-1': 'api', 'api-2': 'api', worker: 'worker' } as const
type Name = keyof typeof roles
const names = Object.keys(roles) as Name[]
const servers = new Map<Name, ServerProcess>()
const start = async (name: Name): Promise<void> => {
  servers.set(name, await startServerProcess(env, roles[name]))
}
const abandon = new AbortController()
after(async () => {
  abandon.abort()
  for (const server of servers.values()) await server.kill()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})
for (const name of names) await start(name)

const kills: Record<Name | 'PostgreSQL', () => Promise<void>> = {
  ...(Object.fromEntries(
    names.map((name) => [
      name,
      async () => {
        const server = servers.get(name)
        servers.delete(name)
        await server?.kill()
        await start(name)
      },
    ]),
  ) as Record<Name, () => Promise<void>>),
  PostgreSQL: async () => {
    const pid = Number.parseInt(await readFile(join(folder, 'postgres/data/postmaster.pid'), 'utf8'), 10)
    process.kill(pid, 'SIGKILL')
    await postgres.exited
    postgres = await startEmbeddedPostgres({ dataDir: folder })
  },
}

let asked = 0
const request = (method: string, path: string, options: { body?: object; signal?: AbortSignal } = {}) => {
  const apis = [...servers].filter(([name]) => roles[name] === 'api').map(([, server]) => server)
  const url = apis[(asked += 1) % apis.length]?.url
  return fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(options.body && { body: JSON.stringify(options.body) }),
    signal: options.signal ?? null,
  })
}

/** The data of the response; undefined if the request may not have been carried out. */
const call = async <T = { id: string }>(method: string, path: string, body?: object): Promise<T | undefined> => {
  try {
    const answer = await request(method, path, body && { body })
    if (answer.ok) return ((await answer.json()) as { data: T }).data
    assert.ok(answer.status === 503 || answer.status === 504, `${answer.status}: ${await answer.text()}`)
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
  }
  return undefined
}

interface AgentUpdated {
  id: string
  position: number
  sequence: number
  subject: { id: string }
  data: { name: string }
}

/** Polls the log from its beginning, as a consumer does that stores its cursor. */
const poll = (): AgentUpdated[] => {
  const events: AgentUpdated[] = []
  const read = async (): Promise<void> => {
    let after = '0'
    while (!abandon.signal.aborted) {
      const path = `/events?types=agent.updated&limit=100&after=${after}`
      const page = await call<{ items: AgentUpdated[]; nextCursor: string; hasMore: boolean }>('GET', path)
      if (page) {
        events.push(...page.items)
        after = page.nextCursor
      }
      if (!page?.hasMore) await delay(20)
    }
  }
  void read()
  return events
}

/** Reads the stream, and continues with `after` when the connection breaks. */
const listen = (): AgentUpdated[] => {
  const events: AgentUpdated[] = []
  const read = async (): Promise<void> => {
    const path = `/events/stream?types=agent.updated&after=${events.at(-1)?.position ?? 0}`
    const answer = await request('GET', path, { signal: abandon.signal })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        if (/^event: (?!message)/m.test(frame)) continue
        const [, json] = /^data: (.*)$/m.exec(frame) ?? []
        if (json !== undefined) events.push(JSON.parse(json) as AgentUpdated)
      }
    }
  }
  const keepReading = async (): Promise<void> => {
    while (!abandon.signal.aborted) {
      await read().catch(() => undefined)
      await delay(50)
    }
  }
  void keepReading()
  return events
}

const includesAll = (events: AgentUpdated[], names: Set<string>): boolean => {
  const found = new Set(events.map(({ data }) => data.name))
  return [...names].every((name) => found.has(name))
}

const arrivedAt = (receiver: Receiver): AgentUpdated[] =>
  receiver.arrivals.map(({ body }) => JSON.parse(body.toString()) as AgentUpdated)

const subscribe = async (ordering: string, answer?: Receiver['answer']): Promise<Receiver> => {
  const receiver = await startReceiver()
  if (answer) receiver.answer = answer
  const body = { name: ordering, url: receiver.url, types: ['agent.updated'], ordering }
  assert.ok(await call('POST', '/event-endpoints', body))
  return receiver
}

/** Changes agents at a steady rate. The changes that were acknowledged, by the names that they set. */
const change = (agents: string[]) => {
  const acknowledged = new Set<string>()
  const open = new Set<Promise<void>>()
  let isStopped = false
  const work = async (): Promise<void> => {
    const began = performance.now()
    for (let n = 0; !isStopped; n += 1) {
      await delay(Math.max(0, began + (n * 1_000) / changesPerSecond - performance.now()))
      if (open.size >= openRequests) await Promise.race(open)
      const name = `Agent ${n}`
      const one = call('PATCH', `/agents/${agents[n % agents.length]}`, { name }).then((agent) => {
        if (agent) acknowledged.add(name)
        open.delete(one)
      })
      open.add(one)
    }
    await Promise.all(open)
  }
  const working = work()
  return {
    acknowledged,
    stop: async () => {
      isStopped = true
      await working
    },
  }
}

/** Expires the leases of killed workers, which last 30 s. */
const expireLeases = () =>
  withClient(socketDir, (client) =>
    // Not those that are being settled: the order of the locks of both statements could differ.
    client.query(`
      update webhook_queue set due_at = now() where number in (
        select number from webhook_queue where lease_token is not null and due_at > now() for update skip locked)`),
  )

const assertOnce = (events: AgentUpdated[], reader: string): void => {
  const positions = events.map(({ position }) => position)
  assert.deepEqual(
    positions,
    [...new Set(positions)].toSorted((a, b) => a - b),
    `${reader}: every event once, in the order of the log`,
  )
}

test('killed APIs, workers and databases lose no event of an acknowledged change, for endpoints, consumers and streams', async (t) => {
  let attempts = 0
  const plain = await subscribe('none')
  // One in five attempts fails.
  const ordered = await subscribe('subject', (response) =>
    response.writeHead((attempts += 1) % 5 === 0 ? 500 : 204).end(),
  )
  const agents = await Promise.all(
    Array.from({ length: subjects }, async (_, n) => (await call('POST', '/agents', { name: `New ${n}` }))?.id ?? ''),
  )
  const polled = poll()
  const streamed = listen()
  const load = change(agents)
  const began = performance.now()
  let killed = 0
  do {
    for (const kill of Object.values(kills)) {
      const already = load.acknowledged.size
      await until('changes are acknowledged', () => load.acknowledged.size >= already + changesPerSecond / 4)
      await delay(Math.random() * 50)
      await kill()
      killed += 1
    }
  } while (performance.now() - began < minSeconds * 1_000)
  await load.stop()
  const tookSeconds = (performance.now() - began) / 1_000

  const { acknowledged } = load
  let expiredAtMs = 0
  for (const [reader, isDone] of Object.entries({
    'the endpoint without an order': () => includesAll(arrivedAt(plain), acknowledged),
    'the endpoint with an order': () => includesAll(arrivedAt(ordered), acknowledged),
    'the log': () => includesAll(polled, acknowledged),
    'the stream': () => includesAll(streamed, acknowledged),
  })) {
    await until(
      `${reader} has every acknowledged change`,
      async () => {
        if (performance.now() - expiredAtMs > 2_000) {
          await expireLeases()
          expiredAtMs = performance.now()
        }
        return isDone()
      },
      240_000,
    )
  }
  assertOnce(polled, 'the log')
  assertOnce(streamed, 'the stream')
  const idOf = new Map(polled.map(({ id, position }) => [position, id]))
  for (const receiver of [plain, ordered]) {
    for (const { id, position } of arrivedAt(receiver))
      assert.equal(id, idOf.get(position), 'a repetition has the same id')
  }
  assertOnce(polled, 'the log')
  assertOnce(streamed, 'the stream')
  for (const id of agents) {
    const sequences = arrivedAt(ordered)
      .filter(({ subject }) => subject.id === id)
      .map(({ sequence }) => sequence)
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
      'an attempt of an event came after one of a later event',
    )
  }
  t.diagnostic(
    `${killed} kills in ${tookSeconds.toFixed(0)} s, ${acknowledged.size} acknowledged changes, ${polled.length} events, ${plain.arrivals.length} and ${ordered.arrivals.length} arrivals`,
  )
})
