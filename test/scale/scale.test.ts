// An installation on all of its services. Each process, PgBouncer, Redis and the primary of PostgreSQL are killed in turn
// while clients upload files, chat, send events and change records. SCALE_SECONDS: how long, at least one turn.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startReceiver } from '../fakes/receiver.ts'
import { until } from '../support/until.ts'
import { canInstall, install } from './installation.ts'
import type { Installation, ProcessName } from './installation.ts'
import { answered, Load } from './load.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const minSeconds = Number(process.env['SCALE_SECONDS'] ?? 0)

// A failover takes two seconds here; the rest is a busy machine.
const maxUnavailableMs = 20_000

// Replies of killed workers come when their leases expire, after 30 s.
const maxProgressMs = 180_000

/** Expires the Idempotency-Keys of requests that died with a process or a connection; they are held for a minute. */
const expireKeys = ({ postgres }: Installation, before: Date): Promise<unknown> =>
  postgres.query(
    `update idempotency_keys set claimed_until = now()
     where state <> 'done' and claimed_until > now() and created_at < $1`,
    [before],
  )

const actionsOf = (world: Installation): Record<string, () => Promise<void>> => {
  const replace = (name: ProcessName) => async (): Promise<void> => {
    await world.kill(name)
    await world.start(name)
  }
  return {
    'api-1': replace('api-1'),
    'worker-1': replace('worker-1'),
    Redis: async () => {
      await world.redis.kill()
      await delay(300)
      await world.redis.start()
    },
    primary: () => world.postgres.failOver(),
    'api-2': replace('api-2'),
    PgBouncer: () => world.postgres.restartPooler(),
    'worker-2': replace('worker-2'),
  }
}

const filesOf = async (load: Load): Promise<string[]> => {
  const files: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/api/v1/files?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page: Json = answered(await load.ask('GET', path))
    files.push(...page.items.map(({ name }: Json) => name))
    cursor = page.nextCursor
  }
  return files
}

const assertEvents = async (
  { acknowledged }: Load,
  { postgres }: Installation,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<void> => {
  const idsOf = (): Map<string, Set<unknown>> => {
    const ids = new Map<string, Set<unknown>>()
    for (const { body, headers } of receiver.arrivals) {
      const { n } = JSON.parse(body.toString()) as { n: string }
      ids.set(n, (ids.get(n) ?? new Set()).add(headers['webhook-id']))
    }
    return ids
  }
  // Expires the leases of dead workers, which last 30 s.
  let releasedAtMs = Number.NEGATIVE_INFINITY
  await until('every event has arrived', async () => {
    if (performance.now() - releasedAtMs > 2_000) {
      await postgres.query(`update webhook_queue set due_at = now() where lease_token is not null and due_at > now()`)
      releasedAtMs = performance.now()
    }
    return idsOf().size === acknowledged.size
  })
  assert.deepEqual(idsOf(), new Map([...acknowledged].map(([n, id]) => [n, new Set([id])])))
}

const assertCharges = async (load: Load, world: Installation): Promise<void> => {
  const calls: Json[] = []
  for (const id of load.turns) calls.push(...answered(await load.ask('GET', `/api/v1/turns/${id}`)).steps)
  const { usage, balance } = answered(await load.ask('GET', '/api/v1/billing'))
  assert.equal(new Set(load.turns).size, load.turns.length)
  assert.equal(usage.currentMonth.requestCount, calls.length, 'each call of a model is charged once')
  assert.equal(balance.reservedMicrocents, 0)
  assert.deepEqual((await world.atrium('ledger', 'verify'))['faults'], [])
}

if (await canInstall()) {
  const world = await install()
  const load = new Load(world.url, world.key)
  after(async () => {
    load.abandon()
    await world.stop()
  })
  const receiver = await startReceiver()

  test('loses nothing and repeats no work or charge when processes, PgBouncer, Redis and the primary are killed in turn', async (t) => {
    answered(await load.ask('POST', '/api/v1/billing/deposit', { amountCents: 100_000 }, true))
    const webhook = answered(await load.ask('POST', '/api/v1/webhooks', { name: 'Scale', url: receiver.url }, true))
    const agent = answered(await load.ask('POST', '/api/v1/agents', { name: 'Hal' }, true))
    const [quick, talking] = [
      ['Ada', 'Ben', 'Fay', 'Gus', 'Hal'],
      ['Cleo', 'Dan', 'Eve'],
    ]
    const sessions = await Promise.all(talking.map((who) => load.newSession(who)))
    const people: Promise<void>[] = [
      ...['Ada', 'Ben'].map((who) => load.uploads(who)),
      ...talking.map((who, at) => load.talks(who, sessions[at] ?? '')),
      ...['Fay', 'Gus'].map((who) => load.sends(who, webhook)),
      load.changes('Hal', agent.id),
    ]
    const failed = Promise.race(people.map((person) => person.then(() => new Promise<never>(() => undefined))))
    const progress = (who: string[]): (() => boolean) => {
      const before = new Map(load.steps)
      return () => who.every((one) => (load.steps.get(one) ?? 0) > (before.get(one) ?? 0))
    }
    const began = performance.now()
    let kills = 0
    const work = async (): Promise<void> => {
      await until('everybody has begun', progress([...quick, ...talking]), maxProgressMs)
      do {
        for (const [name, replace] of Object.entries(actionsOf(world))) {
          const [killedAt, killedAtMs] = [new Date(), performance.now()]
          await replace()
          // Requests of live processes that started earlier have ended by now.
          await expireKeys(world, killedAt)
          kills += 1
          await until(`requests succeed after the end of ${name}`, progress(quick), maxProgressMs)
          const last = load.unavailableAtMs.at(-1) ?? 0
          const unavailableMs = Math.round(Math.max(0, last - killedAtMs))
          t.diagnostic(`${name}: 503 for ${unavailableMs} ms`)
          assert.ok(unavailableMs < maxUnavailableMs, `503 for ${unavailableMs} ms after the end of ${name}`)
        }
      } while (performance.now() - began < minSeconds * 1_000)
      await until('every turn ends', progress([...quick, ...talking]), maxProgressMs)
    }
    await Promise.race([work(), failed])
    load.stop()
    await Promise.all(people)
    assert.deepEqual(load.serverErrors, [])
    const { uploaded, turns, acknowledged } = load
    t.diagnostic(`${uploaded.length} files, ${turns.length} turns, ${acknowledged.size} events, ${kills} kills`)

    assert.deepEqual((await filesOf(load)).toSorted(), uploaded.toSorted(), 'each upload is one file')
    await assertEvents(load, world, receiver)
    await assertCharges(load, world)
    assert.deepEqual(await world.stopProcesses(), [0, 0, 0, 0])
  })
}
