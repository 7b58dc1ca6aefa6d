// Kills servers while agents are changed and their events are delivered.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { generateKey } from '../../src/platform/key-format.ts'
import { startReceiver } from '../fakes/receiver.ts'
import type { Receiver } from '../fakes/receiver.ts'
import { startServerProcess } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 4)
const subjects = 3

const folder = await mkdtemp(join(tmpdir(), 'atrium-crash-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder })
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
  LOG_LEVEL: 'silent',
}
const servers: (ServerProcess | undefined)[] = []
after(async () => {
  for (const server of servers) await server?.kill()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})
for (let n = 0; n < 2; n++) servers.push(await startServerProcess(env))

/** The response of the first server that answers; undefined if the request may not have been carried out. */
const call = async (method: string, path: string, json: object) => {
  for (const server of servers) {
    if (!server) continue
    const answer = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    }).catch(() => undefined)
    if (answer?.ok) return ((await answer.json()) as { data: { id: string } }).data
  }
  return undefined
}

const [plain, ordered] = [await startReceiver(), await startReceiver()]
let attempts = 0
// One in five attempts fails.
ordered.answer = (response) => response.writeHead((attempts += 1) % 5 === 0 ? 500 : 204).end()
for (const [receiver, ordering] of [
  [plain, 'none'],
  [ordered, 'subject'],
] as const) {
  const body = { name: ordering, url: receiver.url, types: ['agent.updated'], ordering }
  assert.ok(await call('POST', '/event-endpoints', body))
}

interface Arrived {
  id: string
  sequence: number
  subject: { id: string }
  data: { name: string }
}
const eventsAt = (receiver: Receiver): Arrived[] =>
  receiver.arrivals.map(({ body }) => JSON.parse(body.toString()) as Arrived)

test(`servers that are killed ${rounds} times deliver the event of every acknowledged change, in the order of each subject`, async (t) => {
  const agents = await Promise.all(
    Array.from(
      { length: subjects },
      async (_, n) => (await call('POST', '/agents', { name: `Agent ${n}` }))?.id as string,
    ),
  )
  const acknowledged = new Set<string>()
  let stopped = false
  const changing = agents.map(async (id) => {
    for (let n = 0; !stopped; n += 1) {
      const name = `${id} ${n}`
      if (await call('PATCH', `/agents/${id}`, { name })) acknowledged.add(name)
      else await delay(20)
    }
  })
  for (let round = 0; round < rounds; round += 1) {
    const already = acknowledged.size
    await until('work is going on', () => acknowledged.size >= already + 20)
    await delay(Math.random() * 50)
    const victim = round % servers.length
    await servers[victim]?.kill()
    servers[victim] = undefined
    servers[victim] = await startServerProcess(env)
  }
  stopped = true
  await Promise.all(changing)
  for (const receiver of [plain, ordered]) {
    // The leases of killed servers last 30 s, and the next event of their subject waits for them.
    await until(
      'every acknowledged change has arrived',
      () => {
        const names = new Set(eventsAt(receiver).map(({ data }) => data.name))
        return [...acknowledged].every((name) => names.has(name))
      },
      240_000,
    )
    const ids = Map.groupBy(eventsAt(receiver), ({ subject, sequence }) => `${subject.id} ${sequence}`)
    for (const [what, events] of ids) assert.equal(new Set(events.map(({ id }) => id)).size, 1, what)
  }
  for (const id of agents) {
    const sequences = eventsAt(ordered)
      .filter(({ subject }) => subject.id === id)
      .map(({ sequence }) => sequence)
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
      'an attempt of an event came after one of a later event',
    )
  }
  t.diagnostic(`${acknowledged.size} changes, ${plain.arrivals.length} and ${ordered.arrivals.length} arrivals`)
})
