// Durable turns of several orgs with a paid model over HTTP, in production mode, and what they cost: transactions, WAL,
// heap-only updates and CPU. The floor is a turn reduced to three prepared statements, each committed durably.
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Pool } from 'undici'
import { newId } from '../src/platform/ids.ts'
import { generateKey, hashKey } from '../src/platform/key-format.ts'
import { cpuMicroseconds, printMachine, printTable, quantile, startServer, startDatabase } from './harness.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const clients = Number(process.env['BENCH_CLIENTS'] ?? 32)
const orgs = 8

const chunkOf = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm1', choices: [choice], ...more })}\n\n`

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
const answer = [
  ...['Hello', ', how can ', 'I help', ' you?'].map((content) =>
    chunkOf({ index: 0, delta: { content }, finish_reason: null }),
  ),
  chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }, { usage }),
  'data: [DONE]\n\n',
].join('')

/** A model that answers at once, with the protocol of OpenAI. */
const startModel = async (): Promise<{ baseUrl: string; stop: () => void }> => {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(answer)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** An org with a balance of 10,000 dollars. Returns a key of its owner. */
const createOrg = async (client: pg.Client): Promise<string> => {
  const key = generateKey('live')
  const [orgId, workspaceId, userId] = [newId(), newId(), newId()]
  await client.query('insert into orgs (id, name) values ($1, $2)', [orgId, 'Bench'])
  await client.query(
    `insert into workspaces (org_id, id, name, slug, is_default) values ($1, $2, 'Main', 'main', true)`,
    [orgId, workspaceId],
  )
  await client.query(`insert into users (id, email, name) values ($1, $2, 'User')`, [userId, `${userId}@example.com`])
  await client.query(`insert into members (org_id, id, user_id, name, role) values ($1, $2, $3, 'User', 'owner')`, [
    orgId,
    newId(),
    userId,
  ])
  await client.query(
    `insert into api_keys (org_id, id, user_id, name, prefix, last4, hash, scopes)
     values ($1, $2, $3, 'bench', 'atr_live_', $4, $5, '{}')`,
    [orgId, newId(), userId, key.slice(-4), hashKey(key)],
  )
  await client.query(
    `insert into transactions (org_id, number, id, type, amount_cents, balance_after_cents)
     values ($1, 1, $2, 'adjustment', 1000000, 1000000)`,
    [orgId, newId()],
  )
  return key
}

const createCaller = (pool: Pool, key: string) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const request = { method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) } as const
    const response = await pool.request(request)
    const json = (await response.body.json()) as { data: Record<string, unknown> }
    if (response.statusCode >= 300) throw new Error(JSON.stringify(json))
    return json.data
  }
  return {
    createAgent: async () => (await post('/agents', { name: 'Bench', model: 'fake/m1' }))['id'] as string,
    openSession: async (agentId: string) => (await post('/sessions', { agentId }))['id'] as string,
    say: async (sessionId: string) => {
      const data = await post(`/sessions/${sessionId}/messages`, { text: 'Hello' })
      if (!data['message']) throw new Error(JSON.stringify(data))
    },
  }
}
type Caller = ReturnType<typeof createCaller>

interface Turns {
  times: number[]
  perSecond: number
}

const runTurns = async (callers: { caller: Caller; agentId: string }[], forSeconds: number): Promise<Turns> => {
  const times: number[] = []
  const began = performance.now()
  const talk = async (n: number): Promise<void> => {
    const { caller, agentId } = callers[n % callers.length] as (typeof callers)[number]
    let sessionId = await caller.openSession(agentId)
    for (let i = 1; performance.now() - began < forSeconds * 1_000; i++) {
      if (i % 10 === 0) sessionId = await caller.openSession(agentId)
      const asked = performance.now()
      await caller.say(sessionId)
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, n) => talk(n)))
  return { times, perSecond: times.length / ((performance.now() - began) / 1_000) }
}

/** Three prepared statements, each its own durable transaction: the message, the start of the call, the reply. */
const measureFloor = async (connection: pg.ClientConfig): Promise<number> => {
  const admin = new pg.Client(connection)
  await admin.connect()
  await admin.query('create schema floor')
  await admin.query(
    'create table floor.turns (id uuid primary key, status text, at timestamptz) with (fillfactor = 70)',
  )
  await admin.query('create table floor.messages (id uuid primary key, turn_id uuid, parts jsonb)')
  const parts = JSON.stringify([{ type: 'text', text: 'Hello, how can I help you?' }])
  const began = performance.now()
  let turns = 0
  const write = async (): Promise<void> => {
    const client = new pg.Client(connection)
    await client.connect()
    while (performance.now() - began < seconds * 1_000) {
      const id = newId()
      await client.query({
        name: 'a',
        text: `with t as (insert into floor.turns values ($1, 'running', now())) insert into floor.messages values ($2, $1, $3)`,
        values: [id, newId(), parts],
      })
      await client.query({ name: 'b', text: 'update floor.turns set at = now() where id = $1', values: [id] })
      await client.query({
        name: 'c',
        text: `with t as (update floor.turns set status = 'ended' where id = $1) insert into floor.messages values ($2, $1, $3)`,
        values: [id, newId(), parts],
      })
      turns += 1
    }
    await client.end()
  }
  await Promise.all(Array.from({ length: 32 }, write))
  const perSecond = turns / ((performance.now() - began) / 1_000)
  await admin.query('drop schema floor cascade')
  await admin.end()
  return perSecond
}

interface Counters {
  transactions: number
  walBytes: number
  turns: number
  turnsHot: number
  sessions: number
  sessionsHot: number
}

const readCounters = async (client: pg.Client): Promise<Counters> => {
  // Connections report their counters within a second.
  await sleep(1_500)
  const { rows } = await client.query<Record<keyof Counters, string>>(`
    select (select xact_commit from pg_stat_database where datname = current_database()) as transactions,
      (select wal_bytes from pg_stat_wal) as "walBytes",
      t.n_tup_upd as turns, t.n_tup_hot_upd as "turnsHot", s.n_tup_upd as sessions, s.n_tup_hot_upd as "sessionsHot"
    from pg_stat_user_tables t, pg_stat_user_tables s where t.relname = 'turns' and s.relname = 'sessions'`)
  const [row] = rows
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)])) as never
}

/** CPU time of PostgreSQL so far, in microseconds: the postmaster, its children and those of them that have ended. */
const postgresCpu = async (postmaster: number): Promise<number> => {
  let total = 0
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[1]) === postmaster) total += (Number(fields[11]) + Number(fields[12])) * 10_000
    if (Number(pid) === postmaster) {
      for (const field of [11, 12, 13, 14]) total += Number(fields[field]) * 10_000
    }
  }
  return total
}

const benchTurns = async (): Promise<void> => {
  const { folder, connection, env, stop } = await startDatabase()
  const model = await startModel()
  const server = await startServer('src/main.ts', {
    ...env,
    MODEL_PROVIDERS: 'fake',
    MODEL_FAKE_BASE_URL: model.baseUrl,
    MODEL_FAKE_MODELS: 'm1',
    MODEL_FAKE_PRICES: 'm1=1000000:4000000',
    RATE_LIMIT_TURNS: '0',
    RATE_LIMIT_WRITES: '0',
    RATE_LIMIT_READS: '0',
  })
  const pool = new Pool(server.url, { connections: clients })
  const client = new pg.Client(connection)
  await client.connect()
  const keys: string[] = []
  for (let n = 0; n < orgs; n++) keys.push(await createOrg(client))
  const callers = await Promise.all(
    keys.map(async (key) => {
      const caller = createCaller(pool, key)
      return { caller, agentId: await caller.createAgent() }
    }),
  )
  await runTurns(callers, 5)
  // As autovacuum does within a minute. Until then, statements have plans that were made for empty tables.
  await client.query('analyze')
  const postmaster = Number((await readFile(join(folder, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0])
  const before = {
    ...(await readCounters(client)),
    server: await cpuMicroseconds(server.pid),
    postgres: await postgresCpu(postmaster),
    load: process.cpuUsage(),
  }
  const { times, perSecond } = await runTurns(callers, seconds)
  const { user: userTime, system } = process.cpuUsage(before.load)
  const cpu = {
    server: await cpuMicroseconds(server.pid),
    postgres: await postgresCpu(postmaster),
    load: userTime + system,
  }
  const after = await readCounters(client)
  const perTurn = (amount: number, digits = 1): string => (amount / times.length).toFixed(digits)
  const hot = (table: 'turns' | 'sessions'): string =>
    `${((100 * (after[`${table}Hot`] - before[`${table}Hot`])) / (after[table] - before[table])).toFixed(0)} %`
  await server.stop()
  const floor = await measureFloor(connection)
  printMachine('Turns')
  printTable(
    ['what', 'figure', 'target'],
    [
      [`turns/s, ${clients} clients, ${orgs} orgs`, Math.round(perSecond), '≥ 300'],
      ['floor: three durable statements, turns/s', Math.round(floor), ''],
      ['ratio to the floor', (perSecond / floor).toFixed(2), '≥ 0.25'],
      ['duration of a turn, p50 ms', quantile(times, 0.5).toFixed(1), ''],
      ['duration of a turn, p99 ms', quantile(times, 0.99).toFixed(1), ''],
      ['server CPU per turn, ms', perTurn((cpu.server - before.server) / 1_000, 2), ''],
      ['PostgreSQL CPU per turn, ms', perTurn((cpu.postgres - before.postgres) / 1_000, 2), ''],
      ['CPU of the clients and the model per turn, ms', perTurn(cpu.load / 1_000, 2), ''],
      ['transactions per turn', perTurn(after.transactions - before.transactions), '≤ 6'],
      ['WAL per turn, KB', perTurn((after.walBytes - before.walBytes) / 1_024), ''],
      ['heap-only updates of turns', hot('turns'), '≥ 90 %'],
      ['heap-only updates of sessions', hot('sessions'), '≥ 90 %'],
    ],
  )
  await client.end()
  await pool.destroy()
  model.stop()
  await stop()
}

await benchTurns()
