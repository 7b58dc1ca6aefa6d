// Kills servers and restarts PostgreSQL under load, with senders that retry unacknowledged events like providers do.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { generateKey } from '../../src/platform/key-format.ts'
import { startReceiver } from '../fakes/receiver.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'
import { signed } from '../support/webhooks.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 6)
const senders = 6

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
  RATE_LIMIT_RECEIVE: '0',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,1,1',
  LOG_LEVEL: 'silent',
}
const receiver = await startReceiver()
const servers: (ServerProcess | undefined)[] = []
after(async () => {
  for (const server of servers) await server?.kill()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})
for (let n = 0; n < 2; n++) servers.push(await startServerProcess(env))

const query = async <Row extends object>(text: string): Promise<Row[]> => {
  const client = new pg.Client({ host: socketDir, port, user, database })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

const made = await fetch(`${servers[0]?.url}/api/v1/webhooks`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'Crash', url: receiver.url }),
})
const webhook = ((await made.json()) as { data: { id: string; secret: string } }).data

/** Event ids by the number in the payload. */
const acknowledged = new Map<number, string>()
const rejections = new Map<string, number>()
let next = 0
let stopped = false

/** Sends one event until a server acknowledges it. */
const send = async (n: number): Promise<void> => {
  const body = JSON.stringify({ type: 'crash', n })
  for (let turn = n; ; turn++) {
    const server = servers[turn % servers.length]
    const headers = signed(webhook.secret, body, `msg_${n}`)
    const answer = await fetch(`${server?.url}/api/v1/webhooks/receive/${webhook.id}`, {
      method: 'POST',
      headers,
      body,
    }).catch(() => undefined)
    if (answer?.status === 200) {
      const { data } = (await answer.json()) as { data: { eventId: string } }
      acknowledged.set(n, data.eventId)
      return
    }
    const rejection = answer ? `${answer.status} ${(await answer.text()).slice(0, 80)}` : 'connection'
    rejections.set(rejection, (rejections.get(rejection) ?? 0) + 1)
    await delay(50)
  }
}

const underLoad = async (work: () => Promise<void>): Promise<void> => {
  stopped = false
  const sending = Array.from({ length: senders }, async () => {
    while (!stopped) await send(next++)
  })
  await work()
  stopped = true
  await Promise.all(sending)
}

/** Each acknowledged event is one row and has arrived with one id, and there are no other rows. */
const assertNothingLost = async (): Promise<void> => {
  const idsOf = new Map<number, Set<string>>()
  const arrived = (): boolean => {
    idsOf.clear()
    for (const { body, headers } of receiver.arrivals) {
      const { n } = JSON.parse(body.toString()) as { n: number }
      idsOf.set(n, (idsOf.get(n) ?? new Set()).add(String(headers['webhook-id'])))
    }
    return [...acknowledged.keys()].every((n) => idsOf.has(n))
  }
  // The leases of killed servers last 30 s. Nothing shortens them here: that they expire is part of the guarantee.
  await until('every acknowledged event has arrived', arrived, 180_000)
  for (const [n, eventId] of acknowledged) assert.deepEqual([...(idsOf.get(n) ?? [])], [eventId])
  const rows = await query<{ external_id: string; n: string }>(
    'select external_id, count(*) as n from webhook_events group by external_id',
  )
  assert.equal(rows.length, acknowledged.size)
  assert.deepEqual(
    rows.filter(({ n }) => Number(n) !== 1),
    [],
  )
}

test(`servers that are killed ${rounds} times under load lose no acknowledged event and record none twice`, async (t) => {
  await underLoad(async () => {
    // While one server restarts, the other one is running, and may be killed as well.
    const starting: Promise<void>[] = []
    for (let round = 0; round < rounds; round++) {
      const victim = round % servers.length
      await starting[victim]
      const already = acknowledged.size
      await until('work is going on', () => acknowledged.size >= already + 20)
      await delay(Math.random() * 50)
      await servers[victim]?.kill()
      servers[victim] = undefined
      starting[victim] = (async () => {
        servers[victim] = await startServerProcess(env)
      })()
    }
    await Promise.all(starting)
  })
  await assertNothingLost()
  t.diagnostic(`${acknowledged.size} events, ${receiver.arrivals.length} arrivals, ${JSON.stringify([...rejections])}`)
  assert.deepEqual(
    [...rejections.keys()].filter((rejection) => rejection !== 'connection'),
    [],
  )
})

test('requests during a restart of PostgreSQL under load are SERVICE_UNAVAILABLE, and no acknowledged event is lost', async (t) => {
  rejections.clear()
  const before = acknowledged.size
  await underLoad(async () => {
    await until('work is going on', () => acknowledged.size > before)
    await postgres.stop()
    await until('some requests are rejected', () => rejections.size > 0)
    postgres = await startEmbeddedPostgres({ dataDir: folder })
    const already = acknowledged.size
    await until('events are accepted again', () => acknowledged.size > already + 20)
  })
  await assertNothingLost()
  t.diagnostic(`${acknowledged.size - before} events, ${JSON.stringify([...rejections])}`)
  assert.ok(rejections.size > 0, 'some requests were rejected')
  for (const rejection of rejections.keys()) assert.match(rejection, /^503 .*SERVICE_UNAVAILABLE/)
})
