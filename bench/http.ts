// Requests against three baselines in the same run: a bare Fastify route, and bare Fastify routes with a prepared point
// select on the same PostgreSQL, one for each request or one for all requests of a turn of the event loop.
import pg from 'pg'
import { checksum, generateKey } from '../src/platform/key-format.ts'
import { compare, printMachine, printTable, startServer, startDatabase } from './harness.ts'
import type { Target } from './harness.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4)

/** GET, or POST with a body. */
const call = async (url: string, key: string, path: string, body?: FormData): Promise<{ data: never }> => {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(url + path, body ? { method: 'POST', headers, body } : { headers })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as { data: never }
}

const issuedKeys = 100_000

/** Adds keys to the org of the first owner, so that look-ups read an index of a realistic depth. */
const issueKeys = async (connection: pg.ClientConfig): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  // Without triggers, each of which would count one change of authority.
  await client.query(`set session_replication_role = replica`)
  await client.query(
    `insert into api_keys (org_id, id, user_id, name, prefix, last4, hash)
     select m.org_id, gen_random_uuid(), m.user_id, 'Key ' || n, 'atr_live_', '0000', sha256(convert_to('key ' || n, 'UTF8'))
     from (select org_id, user_id from members limit 1) m cross join generate_series(1, $1) n`,
    [issuedKeys],
  )
  await client.query('vacuum analyze api_keys')
  await client.end()
}

const bare = 'baseline: bare route'
const select = 'baseline: one point select'
const batch = 'baseline: point selects in batches'

let sent = 0

/** Replaces the key of a request by one that was never sent before: unknown, with a valid checksum. */
const varyKey = (key: string): ((request: Buffer) => void) => {
  const prefix = key.slice(0, -16)
  return (request) => {
    const body = prefix + String((sent += 1)).padStart(10, '0')
    request.write(body + checksum(body), request.indexOf(prefix), 'latin1')
  }
}

export const benchHttp = async (): Promise<void> => {
  const { connection, key, env, stop } = await startDatabase()
  const atrium = await startServer('src/main.ts', {
    ...env,
    // The maximum: requests are counted and get the headers, but are never rejected.
    RATE_LIMIT_READS: '1000000',
  })
  const agents: { data: { items: { id: string }[] } } = await call(atrium.url, key, '/api/v1/agents')
  const agentId = agents.data.items[0]?.id ?? ''
  const form = new FormData()
  form.set('file', new File(['hello'], 'hello.txt', { type: 'text/plain' }))
  const uploaded: { data: { file: { id: string } } } = await call(atrium.url, key, '/api/v1/files', form)
  const baseline = await startServer('bench/baseline-server.ts', {
    BASELINE_CONNECTION: JSON.stringify(connection),
    BASELINE_AGENT_ID: agentId,
  })

  await issueKeys(connection)

  const authorized = { authorization: `Bearer ${key}` }
  const unknown = generateKey('live')
  const agentPath = `/api/v1/agents/${agentId}`
  const filePath = `/api/v1/files/${uploaded.data.file.id}`
  const targets: Target[] = [
    // The baselines get the same headers, because parsing them takes time.
    { name: bare, server: baseline, path: `/bare/${agentId}`, headers: authorized, expectStatus: 200 },
    { name: select, server: baseline, path: `/select/${agentId}`, headers: authorized, expectStatus: 200 },
    { name: batch, server: baseline, path: `/batch/${agentId}`, headers: authorized, expectStatus: 200 },
    { name: 'GET /agents/:id', server: atrium, path: agentPath, headers: authorized, expectStatus: 200 },
    { name: 'GET /files/:id', server: atrium, path: filePath, headers: authorized, expectStatus: 200 },
    {
      name: 'unknown keys, all different',
      server: atrium,
      path: agentPath,
      headers: { authorization: `Bearer ${unknown}` },
      vary: varyKey(unknown),
      expectStatus: 401,
    },
    {
      name: 'malformed key',
      server: atrium,
      path: agentPath,
      headers: { authorization: 'Bearer nonsense' },
      expectStatus: 401,
    },
  ]
  const figures = await compare(targets, rounds, seconds)
  const rate = (name: string): number => figures.get(name)?.requestsPerSecond ?? Number.NaN
  const ratio = (name: string, baselineName: string): string => (rate(name) / rate(baselineName)).toFixed(2)
  const against: Record<string, [string, string]> = {
    'GET /agents/:id': [batch, '≥ 0.70'],
    'GET /files/:id': [batch, '≥ 0.70'],
    'unknown keys, all different': [bare, '≥ 0.60'],
    'malformed key': [bare, '≥ 0.80'],
  }
  printMachine('Requests')
  printTable(
    ['what', 'requests/s', 'p50 ms', 'p99 ms', 'server CPU µs', 'of baseline', 'target'],
    [...figures].map(([name, figure]) => [
      name,
      Math.round(figure.requestsPerSecond),
      figure.p50Ms,
      figure.p99Ms,
      figure.cpuPerRequest.toFixed(1),
      against[name] ? ratio(name, against[name][0]) : '',
      against[name]?.[1] ?? '',
    ]),
  )
  await atrium.stop()
  await baseline.stop()
  await stop()
}

if (import.meta.main) await benchHttp()
