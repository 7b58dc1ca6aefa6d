// Atrium at scale: API processes and workers on one PostgreSQL, one S3 store and one Redis. Each is killed repeatedly while
// clients upload files, chat, send events and change records through any API process.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { generateKey } from '../../src/platform/key-format.ts'
import { cephInstallHint, isCephInstalled, startCeph } from '../fakes/ceph.ts'
import { streamEventsOf, textOf } from '../support/chat.ts'
import { formBody, formType } from '../support/files.ts'
import { startReceiver } from '../fakes/receiver.ts'
import { createRedis, hasRedis } from '../fakes/redis.ts'
import { available } from '../support/require.ts'
import { startServerProcess } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { signed } from '../support/webhooks.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

interface ApiResult {
  status: number
  body: Json
}

const run = promisify(execFile)
const kills = Number(process.env['CRASH_ROUNDS'] ?? 4)

const startEverything = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-scale-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder })
  const ceph = await startCeph()
  const redis = await createRedis()
  await redis.start()
  const bucket = `scale-${randomBytes(6).toString('hex')}`
  const credentials = { accessKeyId: ceph.accessKeyId, secretAccessKey: ceph.secretAccessKey }
  const s3 = new S3Client({ endpoint: ceph.endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  s3.destroy()
  const { socketDir, port, user, database } = postgres
  const key = generateKey('dev')
  const env: Record<string, string> = {
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`,
    DATABASE_POOL_SIZE: '5',
    REDIS_URL: redis.url,
    S3_BUCKET: bucket,
    S3_ENDPOINT: ceph.endpoint,
    S3_FORCE_PATH_STYLE: '1',
    AWS_ACCESS_KEY_ID: ceph.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    ENCRYPTION_KEYS: `scale:${randomBytes(32).toString('base64')}`,
    BOOTSTRAP_API_KEY: key,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    BILLING_ENFORCED: '1',
    PLATFORM_FEE_WAIVER_CENTS: '0',
    PLATFORM_FEE_BPS: '777',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,1,1',
    // High enough that no request is rejected, so that the limiter still runs.
    ...Object.fromEntries(
      ['READS', 'WRITES', 'UPLOADS', 'TURNS', 'RECEIVE'].map((what) => [`RATE_LIMIT_${what}`, '1000000']),
    ),
    LOG_LEVEL: 'silent',
  }
  const client = new pg.Client({ host: socketDir, port, user, database })
  await client.connect()
  const stop = async (): Promise<void> => {
    await client.end()
    await redis.kill()
    await ceph.stop()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
  /** Each process has a data directory of its own; they share only the services. */
  const start = (name: string): Promise<ServerProcess> =>
    startServerProcess({ ...env, DATA_DIR: join(folder, name) }, name.startsWith('api') ? 'api' : 'worker')
  /** Runs an `atrium` command. */
  const atrium = async (...words: string[]): Promise<Json> => {
    const cli = new URL('../../src/cli/cli.ts', import.meta.url).pathname
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env, DATA_DIR: join(folder, 'cli') } }
    const { stdout } = await run(process.execPath, [cli, ...words, '--json'], options)
    return JSON.parse(stdout)
  }
  return { key, redis, client, start, atrium, stop }
}

const names = ['api-1', 'worker-1', 'api-2', 'worker-2'] as const

if ((await available('s3', isCephInstalled, cephInstallHint)) && (await hasRedis())) {
  const world = await startEverything()
  const { key, redis, client } = world
  const servers = new Map<string, ServerProcess>()
  const restarting: Promise<void>[] = []
  let stopped = false
  after(async () => {
    stopped = true
    await Promise.allSettled(restarting)
    for (const server of servers.values()) await server.kill()
    await world.stop()
  })
  // Started alone, because the first start migrates the database.
  for (const name of names) servers.set(name, await world.start(name))
  const receiver = await startReceiver()

  let turn = 0
  /** The URL of an API process, a different one at each call. */
  const anyApi = async (): Promise<string> => {
    const up = () => [...servers.values()].filter(({ url }) => url !== '')
    await until('a process answers', () => up().length > 0)
    return up()[(turn += 1) % up().length]?.url as string
  }

  const serverErrors: string[] = []
  /** Sends a request to any process, and again to another one when that dies or is unavailable. */
  const ask = async (method: string, path: string, body?: object | Buffer, once = false): Promise<ApiResult> => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    if (once) headers['idempotency-key'] = randomUUID()
    if (body) headers['content-type'] = Buffer.isBuffer(body) ? formType : 'application/json'
    const payload = body && (Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body))
    for (;;) {
      const url = await anyApi()
      try {
        const answer = await fetch(url + path, { method, headers, body: payload ?? null, redirect: 'manual' })
        if (answer.status === 302) return { status: 302, body: answer.headers.get('location') }
        const result: ApiResult = { status: answer.status, body: await answer.json() }
        const isInProgress = result.status === 409 && /still running/.test(result.body.error.message)
        if (result.status < 500 && !isInProgress) return result
        if (result.status >= 500) serverErrors.push(`${method} ${path}: ${JSON.stringify(result.body)}`)
      } catch {
        // The process died.
      }
      await delay(50)
    }
  }
  const wasCarriedOut = ({ status, body }: ApiResult): boolean =>
    status === 409 && /was executed/.test(body.error.message as string)
  const answered = ({ status, body }: ApiResult): Json => {
    assert.ok(status < 300, JSON.stringify(body))
    return body.data
  }

  const steps = new Map<string, number>()
  /** Repeats an action until the test stops. */
  const repeat = async (who: string, step: () => Promise<void>): Promise<void> => {
    while (!stopped) {
      await step()
      steps.set(who, (steps.get(who) ?? 0) + 1)
    }
  }

  const uploaded: string[] = []
  const uploads = (who: string) =>
    repeat(who, async () => {
      const name = `${who}-${uploaded.length}-${randomUUID()}.bin`
      const bytes = randomBytes(1 + Math.floor(Math.random() * 200_000))
      const part = { name: 'file', filename: name, type: 'application/octet-stream', value: bytes }
      const result = await ask('POST', '/api/v1/files', formBody([part]), true)
      uploaded.push(name)
      if (wasCarriedOut(result)) return
      const { file } = answered(result)
      const { body: location } = await ask('GET', `/api/v1/files/${file.id}?download=true`)
      const stored = await fetch(location as string)
      assert.ok(Buffer.from(await stored.arrayBuffer()).equals(bytes), 'the same bytes come back')
    })

  /** Reads the stream of a turn, resuming it on another process when one dies. */
  const watch = async (turnId: string): Promise<{ ids: number[]; text: string }> => {
    let text = ''
    const ids: number[] = []
    for (;;) {
      const headers: Record<string, string> = {
        authorization: `Bearer ${key}`,
        'last-event-id': String(ids.at(-1) ?? 0),
      }
      let read = ''
      try {
        const answer = await fetch(`${await anyApi()}/api/v1/turns/${turnId}/stream`, { headers })
        assert.equal(answer.status, 200)
        for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) read += piece
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
      }
      // An event that was cut off is sent again.
      const { events, isDone } = streamEventsOf(read.slice(0, read.lastIndexOf('\n\n') + 2))
      for (const { id, data } of events) {
        ids.push(id)
        if (data.type === 'text-delta') text += data.delta
      }
      if (isDone) return { ids, text }
      await delay(50)
    }
  }

  const turns: string[] = []
  const talks = async (who: string): Promise<void> => {
    const agent = answered(await ask('POST', '/api/v1/agents', { name: who, model: 'atrium/demo-paid' }, true))
    const session = answered(await ask('POST', '/api/v1/sessions', { agentId: agent.id }, true))
    let sentCount = 0
    await repeat(who, async () => {
      const text =
        sentCount % 3 === 0
          ? `/slow 1500\n${who} ${sentCount} of many words, which take their time`
          : `/tokens ${sentCount + 7} 13 0 0`
      const result = await ask('POST', `/api/v1/sessions/${session.id}/messages`, { text, background: true }, true)
      sentCount += 1
      const path = `/api/v1/sessions/${session.id}/messages?limit=100`
      const { id } = wasCarriedOut(result)
        ? { id: answered(await ask('GET', path)).items.find(({ role }: Json) => role === 'user').turnId }
        : answered(result).turn
      turns.push(id)
      const { ids, text: streamed } = await watch(id)
      assert.deepEqual(
        ids,
        [...new Set(ids)].toSorted((a, b) => a - b),
        'each event arrives once, in order',
      )
      const ended = answered(await ask('GET', `/api/v1/turns/${id}`))
      // The kills come so fast that one turn may see two of them.
      const isQuarantined = ended.status === 'failed' && ended.error.code === 'worker_died'
      assert.ok(ended.status === 'completed' || isQuarantined, JSON.stringify(ended.error))
      const { items } = answered(await ask('GET', path))
      assert.equal(items.length, Math.min(100, 2 * sentCount), 'each message has one reply')
      const reply = items.find((message: Json) => message.role === 'assistant' && message.turnId === id)
      assert.ok(streamed.endsWith(textOf(reply)), `the stream “${streamed}” must end with the reply “${textOf(reply)}”`)
    })
  }

  const acknowledged = new Map<string, string>()
  const sends = async (who: string, webhook: { id: string; secret: string }): Promise<void> => {
    let sent = 0
    await repeat(who, async () => {
      const n = `${who}-${(sent += 1)}`
      const body = JSON.stringify({ type: 'scale', n })
      for (;;) {
        const url = `${await anyApi()}/api/v1/webhooks/receive/${webhook.id}`
        const headers = signed(webhook.secret, body, `msg_${n}`)
        const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
        const result = (await answer?.json().catch(() => undefined)) as Json
        if (answer?.status === 200 && result) {
          acknowledged.set(n, result.data.eventId)
          break
        }
        await delay(50)
      }
      await delay(20)
    })
  }

  /** Reads a record from every process after it was written through one. */
  const changes = async (who: string): Promise<void> => {
    const agent = answered(await ask('POST', '/api/v1/agents', { name: who }, true))
    let revision = 0
    await repeat(who, async () => {
      revision += 1
      const description = `${who} ${revision}`
      answered(await ask('PATCH', `/api/v1/agents/${agent.id}`, { description }))
      for (let n = 0; n < 3; n++) {
        assert.equal(answered(await ask('GET', `/api/v1/agents/${agent.id}`)).description, description)
      }
      await delay(50)
    })
  }

  const killOne = async (name: string): Promise<void> => {
    const server = servers.get(name)
    servers.delete(name)
    const killedAt = new Date()
    await server?.kill()
    restarting.push(
      (async () => {
        servers.set(name, await world.start(name))
        // Expires the Idempotency-Keys of dead processes, which are held for a minute. Requests of live processes that
        // started earlier have ended by now.
        await client.query(
          `update idempotency_keys set claimed_until = now() where state <> 'done' and claimed_until > now()
             and created_at < $1`,
          [killedAt],
        )
      })(),
    )
  }

  test(`loses nothing and repeats no work or charge when two API processes and two workers are killed ${kills} times in turn`, async (t) => {
    answered(await ask('POST', '/api/v1/billing/deposit', { amountCents: 100_000 }, true))
    const webhook = answered(await ask('POST', '/api/v1/webhooks', { name: 'Scale', url: receiver.url }, true))
    const people: Promise<void>[] = [
      uploads('Ada'),
      uploads('Ben'),
      talks('Cleo'),
      talks('Dan'),
      talks('Eve'),
      sends('Fay', webhook),
      sends('Gus', webhook),
      changes('Hal'),
    ]
    const failed = Promise.race(people.map((person) => person.then(() => new Promise<never>(() => undefined))))
    const work = async (): Promise<void> => {
      for (let round = 0; round < kills; round++) {
        const before = new Map(steps)
        const allWent = (): boolean =>
          steps.size === people.length && [...steps].every(([who, n]) => n > (before.get(who) ?? 0))
        await until('everybody has got on', allWent, 300_000)
        await killOne(names[round % names.length] as string)
        if (round === 1) {
          await redis.kill()
          await delay(300)
          await redis.start()
        }
      }
      await Promise.all(restarting)
    }
    await Promise.race([work(), failed])
    stopped = true
    await Promise.all(people)
    assert.deepEqual(serverErrors, [])
    t.diagnostic(`${uploaded.length} files, ${turns.length} turns, ${acknowledged.size} events, ${kills} kills`)

    const files: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = answered(await ask('GET', `/api/v1/files?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`))
      files.push(...page.items.map(({ name }: Json) => name))
      cursor = page.nextCursor
    }
    assert.deepEqual(files.toSorted(), uploaded.toSorted(), 'each upload is one file')

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
        await client.query(`update webhook_queue set due_at = now() where lease_token is not null and due_at > now()`)
        releasedAtMs = performance.now()
      }
      return idsOf().size === acknowledged.size
    })
    assert.deepEqual(idsOf(), new Map([...acknowledged].map(([n, id]) => [n, new Set([id])])))

    const calls = await Promise.all(turns.map(async (id) => answered(await ask('GET', `/api/v1/turns/${id}`)).steps))
    const { usage, balance } = answered(await ask('GET', '/api/v1/billing'))
    assert.equal(new Set(turns).size, turns.length)
    assert.equal(usage.currentMonth.requestCount, calls.flat().length, 'each call of a model is charged once')
    assert.equal(balance.reservedMicrocents, 0)
    assert.deepEqual((await world.atrium('ledger', 'verify')).faults, [])

    const ended = await Promise.all([...servers.values()].map((server) => server.stop()))
    servers.clear()
    assert.deepEqual(ended, [0, 0, 0, 0])
  })
}
