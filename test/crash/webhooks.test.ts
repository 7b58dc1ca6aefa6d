// What `kill -9` of servers and a restart of PostgreSQL may and may not do to events: real processes under load, from
// senders that repeat what was not acknowledged, like providers do.
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
import { startServerProcess } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { signed } from '../support/webhooks.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 10)
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

/** Event ids by the number of what was sent. */
const acknowledged = new Map<number, string>()
const refusals = new Map<string, number>()
let next = 0
let stopped = false

/** Sends one event until somebody acknowledges it. */
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
    const refusal = answer ? `${answer.status} ${(await answer.text()).slice(0, 80)}` : 'connection'
    refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1)
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

/** Everything acknowledged is one row and has arrived under one id; nothing else is there. */
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
  // As if the leases of those who died had run out, which are 30 s long. What the living have may be sent twice by that,
  // under the same id; and they may take more, so it is done again and again, but not at every look.
  let releasedAtMs = Number.NEGATIVE_INFINITY
  await until('every acknowledged event has arrived', async () => {
    if (performance.now() - releasedAtMs > 2_000) {
      await query(`update webhook_queue set due_at = now() where lease_token is not null and due_at > now()`)
      releasedAtMs = performance.now()
    }
    return arrived()
  })
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
    // While one comes up again, the other is there, and may be killed as well.
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
  t.diagnostic(`${acknowledged.size} events, ${receiver.arrivals.length} arrivals, ${JSON.stringify([...refusals])}`)
  assert.deepEqual(
    [...refusals.keys()].filter((refusal) => refusal !== 'connection'),
    [],
  )
})

test('PostgreSQL that is restarted under load has requests refused as SERVICE_UNAVAILABLE, and loses none that was acknowledged', async (t) => {
  refusals.clear()
  const before = acknowledged.size
  await underLoad(async () => {
    await until('work is going on', () => acknowledged.size > before)
    await postgres.stop()
    await until('some are refused', () => refusals.size > 0)
    postgres = await startEmbeddedPostgres({ dataDir: folder })
    const already = acknowledged.size
    await until('events are taken again', () => acknowledged.size > already + 20)
  })
  await assertNothingLost()
  t.diagnostic(`${acknowledged.size - before} events, ${JSON.stringify([...refusals])}`)
  assert.ok(refusals.size > 0, 'some were refused')
  for (const refusal of refusals.keys()) assert.match(refusal, /^503 .*SERVICE_UNAVAILABLE/)
})
