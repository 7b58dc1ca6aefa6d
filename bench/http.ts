// Requests against two baselines in the same run: a bare Fastify route, and a bare Fastify route with one prepared point
// select on the same PostgreSQL.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts'
import { generateKey } from '../src/platform/key-format.ts'
import { compare, printMachine, printTable, startServer } from './harness.ts'
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

export const benchHttp = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder })
  const connection: pg.ClientConfig = {
    host: postgres.socketDir,
    port: postgres.port,
    user: postgres.user,
    database: postgres.database,
  }
  const key = generateKey('live')
  const atrium = await startServer('src/main.ts', {
    NODE_ENV: 'production',
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: `postgres://${postgres.user}@localhost:${postgres.port}/${postgres.database}?host=${encodeURIComponent(postgres.socketDir)}`,
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    BOOTSTRAP_API_KEY: key,
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

  const authorized = { authorization: `Bearer ${key}` }
  const targets: Target[] = [
    // The baselines get the same headers, because parsing them takes time.
    {
      name: 'baseline: bare route',
      server: baseline,
      path: `/bare/${agentId}`,
      headers: authorized,
      expectStatus: 200,
    },
    {
      name: 'baseline: one point select',
      server: baseline,
      path: `/select/${agentId}`,
      headers: authorized,
      expectStatus: 200,
    },
    {
      name: 'GET /agents/:id',
      server: atrium,
      path: `/api/v1/agents/${agentId}`,
      headers: authorized,
      expectStatus: 200,
    },
    {
      name: 'GET /files/:id',
      server: atrium,
      path: `/api/v1/files/${uploaded.data.file.id}`,
      headers: authorized,
      expectStatus: 200,
    },
    {
      name: 'unknown key',
      server: atrium,
      path: `/api/v1/agents/${agentId}`,
      headers: { authorization: `Bearer ${generateKey('live')}` },
      expectStatus: 401,
    },
    {
      name: 'malformed key',
      server: atrium,
      path: `/api/v1/agents/${agentId}`,
      headers: { authorization: 'Bearer nonsense' },
      expectStatus: 401,
    },
  ]
  const figures = await compare(targets, rounds, seconds)
  const rate = (name: string): number => figures.get(name)?.requestsPerSecond ?? Number.NaN
  const baselineOf = (name: string): string =>
    name.includes('key') ? 'baseline: bare route' : 'baseline: one point select'
  const must: Record<string, string> = {
    'GET /agents/:id': '≥ 0.70',
    'GET /files/:id': '≥ 0.70',
    'unknown key': '≥ 0.80',
    'malformed key': '≥ 0.80',
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
      name.startsWith('baseline') ? '' : (rate(name) / rate(baselineOf(name))).toFixed(2),
      must[name] ?? '',
    ]),
  )
  await atrium.stop()
  await baseline.stop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

if (import.meta.main) await benchHttp()
