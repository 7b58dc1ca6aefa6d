// Receiving events against a bare route with one durable insert, deduplication, isolation of endpoints when one is
// flooded, and the number of token requests when fifty callers need the same expired token.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import type pg from 'pg'
import { Pool } from 'undici'
import { ensureDefaultAgent } from '../src/agents/default-agent.ts'
import { parseConfig } from '../src/config/config.ts'
import type { Config } from '../src/config/config.ts'
import { sealSecrets } from '../src/connectors/connections/secrets.ts'
import { endpointSecretColumn } from '../src/connectors/endpoints/secrets.ts'
import { freshAccess } from '../src/connectors/oauth/refresh.ts'
import { openDeps } from '../src/deps.ts'
import type { Deps } from '../src/deps.ts'
import { createOrg } from '../src/identity/members/orgs.ts'
import { sql } from '../src/platform/database/database.ts'
import { newId } from '../src/platform/ids.ts'
import { installJobs } from '../src/platform/jobs/store.ts'
import { generateKey } from '../src/platform/key-format.ts'
import { createLog } from '../src/platform/process/log.ts'
import { migrate } from '../src/platform/database/migrate.ts'
import type { Flood } from './flood.ts'
import {
  atSteadyRate,
  cpuMicroseconds,
  median,
  printMachine,
  printTable,
  quantile,
  startServer,
  startDatabase,
} from './harness.ts'
import type { Server } from './harness.ts'
import { reserve, slackEvent, slackSecret } from './slack-events.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4)
const log = createLog('error')

interface Owner {
  orgId: string
  userId: string
  workspaceId: string
  agentId: string
}

interface Endpoint {
  id: string
  path: string
}

const addConnection = async ({ db, secrets }: Deps, owner: Owner, slug: string, held: Record<string, string>) => {
  const id = newId()
  const sealed = sealSecrets(secrets, { orgId: owner.orgId, id }, held)
  await db.execute(sql`
    insert into connections (org_id, id, user_id, connector_slug, label, status, secrets, secrets_version)
    values (${owner.orgId}, ${id}, ${owner.userId}, ${slug}, ${id}, 'active', ${sealed}, 1)`)
  return id
}

const addEndpoint = async (deps: Deps, owner: Owner): Promise<Endpoint> => {
  const id = newId()
  const connectionId = await addConnection(deps, owner, 'slack', { accessToken: 'xoxb' })
  const path = `/api/v1/connectors/webhooks/slack/${id}`
  const sealed = deps.secrets.seal(slackSecret, endpointSecretColumn.at(owner.orgId, id))
  await deps.db.execute(sql`
    insert into connector_endpoints (org_id, id, provider, connection_id, user_id, workspace_id, agent_id, status, url, secret)
    values (${owner.orgId}, ${id}, 'slack', ${connectionId}, ${owner.userId}, ${owner.workspaceId}, ${owner.agentId},
      'active', ${`https://hooks.example.com${path}`}, ${sealed})`)
  return { id, path }
}

interface Figure {
  rate: number
  p50: number
  p99: number
  cpu: number
}

interface Load {
  url: string
  connections?: number
  duration?: number
  amount?: number
  overallRate?: number
  /** Number of the next event. Default: a new number for each request. */
  numberOf?: (n: number) => number
  expect?: number[]
}

const load = async (server: Server, { url, expect = [200], numberOf, ...options }: Load): Promise<Figure> => {
  let n = 0
  const before = await cpuMicroseconds(server.pid)
  const result = await autocannon({
    connections: 50,
    url: server.url + url,
    ...options,
    requests: [
      {
        method: 'POST',
        setupRequest: (request: object) => {
          n += 1
          return { ...request, ...slackEvent(numberOf?.(n)) }
        },
      },
    ],
  })
  const cpu = ((await cpuMicroseconds(server.pid)) - before) / result.requests.total
  const answered = expect.reduce((sum, status) => sum + (result.statusCodeStats?.[`${status}`]?.count ?? 0), 0)
  if (result.errors > 0 || answered !== result.requests.total) {
    throw new Error(`${url}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`)
  }
  return { rate: result.requests.total / result.duration, p50: result.latency.p50, p99: result.latency.p99, cpu }
}

const medians = (figures: Figure[]): Figure => ({
  rate: median(figures.map(({ rate }) => rate)),
  p50: median(figures.map(({ p50 }) => p50)),
  p99: median(figures.map(({ p99 }) => p99)),
  cpu: median(figures.map(({ cpu }) => cpu)),
})

const compareWithBaseline = async (atrium: Server, baseline: Server, { path }: Endpoint): Promise<void> => {
  const [ours, theirs]: [Figure[], Figure[]] = [[], []]
  await load(baseline, { url: '/insert', duration: 2 })
  await load(atrium, { url: path, duration: 2 })
  for (let round = 0; round < rounds; round++) {
    theirs.push(await load(baseline, { url: '/insert', duration: seconds }))
    ours.push(await load(atrium, { url: path, duration: seconds }))
  }
  const rowOf = (what: string, { rate, p50, p99, cpu }: Figure): (string | number)[] => [
    what,
    Math.round(rate),
    p50,
    p99,
    cpu.toFixed(0),
  ]
  const [mine, bare] = [medians(ours), medians(theirs)]
  printTable(
    ['what', 'requests/s', 'p50 ms', 'p99 ms', 'server CPU µs', 'of baseline', 'target'],
    [
      [...rowOf('baseline: a route with one durable insert', bare), '', ''],
      [...rowOf('an event: verified, stored, job enqueued', mine), (mine.rate / bare.rate).toFixed(2), '≥ 0.60'],
    ],
  )
}

const repeat = async ({ db }: Deps, atrium: Server, { id, path }: Endpoint): Promise<[string, string, string][]> => {
  const first = reserve(20_000)
  // Every tenth event repeats the one before.
  const numberOf = (n: number): number => first + (n % 10 === 0 ? n - 1 : n)
  await load(atrium, { url: path, amount: 10_000, numberOf })
  const stored = await db.row<{ n: number }>(
    sql`select count(*)::int as n from connector_events where endpoint_id = ${id}`,
  )
  const jobs = await db.row<{ n: number; distinct: number }>(sql`
    select count(*)::int as n, count(distinct data ->> 'externalId')::int as distinct
    from pgboss.job where name = 'connector.event' and data ->> 'endpointId' = ${id}`)
  return [
    ['10,000 events, every tenth repeated: rows', `${stored?.n}`, '9000'],
    ['10,000 events, every tenth repeated: jobs, distinct events', `${jobs?.n}, ${jobs?.distinct}`, '9000, 9000'],
  ]
}

/** Sends 80 events per second to the endpoints in turn. Returns the milliseconds until each was accepted. */
const offer = async (server: Server, endpoints: Endpoint[], forSeconds: number): Promise<number[]> => {
  const pool = new Pool(server.url, { connections: 20 })
  const times: number[] = []
  await atSteadyRate(80, forSeconds, async (n) => {
    const { path } = endpoints[n % endpoints.length] as Endpoint
    const { body, headers } = slackEvent()
    const sentAt = performance.now()
    const answer = await pool.request({ method: 'POST', path, body, headers })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`)
    times.push(performance.now() - sentAt)
  })
  await pool.close()
  return times
}

const flood = async (
  limited: Server,
  other: Server,
  quiet: Endpoint[],
  addLoud: () => Promise<Endpoint>,
): Promise<[string, string, string][]> => {
  const flooder = fork(new URL('./flood.ts', import.meta.url))
  const send = async (url: string, expect: number[], forSeconds: number): Promise<void> => {
    const asked: Flood = { url, expect, perSecond: 500, forSeconds }
    flooder.send(asked)
    await once(flooder, 'message')
  }
  const floodOne = async (forSeconds: number): Promise<void> =>
    send(limited.url + (await addLoud()).path, [200, 429], forSeconds)
  const phases: { times: number[]; flood: ((forSeconds: number) => Promise<void>) | undefined }[] = [
    { times: [], flood: undefined },
    // The control: the same flood to another server shows what the load itself costs on this machine.
    { times: [], flood: (forSeconds) => send(`${other.url}/nowhere`, [404], forSeconds) },
    { times: [], flood: floodOne },
  ]
  await Promise.all([offer(limited, quiet, 10), floodOne(10)])
  for (let round = 0; round < rounds + 1; round++) {
    // Alternating the order gives no phase the fresher server.
    for (const phase of round % 2 === 0 ? phases : phases.toReversed()) {
      const flooding = phase.flood?.(11)
      await sleep(500)
      // Each endpoint stays well below its limit of 10 per second.
      phase.times.push(...(await offer(limited, quiet, 10)))
      await flooding
    }
  }
  flooder.kill()
  const p99 = phases.map(({ times }) => quantile(times, 0.99))
  const shown = phases.map(({ times }, at) => `${quantile(times, 0.5).toFixed(1)}, ${p99[at]?.toFixed(1)}`)
  const ratio = (at: number): string => ((p99[at] as number) / (p99[0] as number)).toFixed(2)
  return [
    [`ten quiet endpoints, p50 and p99 ms of ${phases[0]?.times.length} events`, `${shown[0]}`, ''],
    [
      '… while a bare server on the same core gets 500 requests per second (404)',
      `${shown[1]}: ${ratio(1)} of the p99`,
      '',
    ],
    [
      '… while another endpoint gets 500 events per second (its limit is 10)',
      `${shown[2]}: ${ratio(2)} of the p99`,
      '≤ 1.20',
    ],
  ]
}

const refreshTogether = async (deps: Deps, owner: Owner, asked: () => number): Promise<[string, string, string][]> => {
  const stored = { accessToken: 'old', refreshToken: 'good' }
  const id = await addConnection(deps, owner, 'gmail', stored)
  await deps.db.execute(sql`
    update connections set token_expires_at = now() - interval '1 minute', refresh_due_at = now() - interval '1 minute'
    where id = ${id}`)
  const began = performance.now()
  const all = await Promise.all(Array.from({ length: 50 }, () => freshAccess(deps, { orgId: owner.orgId, id })))
  const tookMs = performance.now() - began
  const good = all.filter(({ secrets }) => secrets['accessToken'] === 'new').length
  return [
    ['an expired token, 50 concurrent callers: requests to the provider', `${asked()}`, '1'],
    ['… callers that get the new token', `${good}`, '50'],
    ['… ms until the last caller has it (the provider takes 100 ms)', tookMs.toFixed(0), ''],
  ]
}

/** A token endpoint that responds after 100 ms. */
const startTokenEndpoint = async (): Promise<{ url: string; asked: () => number; stop: () => void }> => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"access_token":"new","expires_in":3600,"token_type":"Bearer"}')
    }, 100)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, asked: () => asked, stop: () => server.close() }
}

const measureAll = async (
  connection: pg.ClientConfig,
  config: Config,
  env: Record<string, string>,
  asked: () => number,
) => {
  const { deps, close } = await openDeps(config, connection, log)
  const { db } = deps
  await db.execute(
    sql`create table baseline_events (id bigint generated always as identity primary key, body jsonb not null)`,
  )
  const made = await db.transaction('all orgs', (db) =>
    createOrg(db, { name: 'Bench', owner: { email: 'bench@example.com' }, key: generateKey('live'), madeBy: 'bench' }),
  )
  const { org, workspace, member } = made
  await ensureDefaultAgent(db, org.id, 'atrium/demo')
  const agent = await db.row<{ id: string }>(sql`select id from agents where org_id = ${org.id}`)
  const owner: Owner = { orgId: org.id, userId: member.userId, workspaceId: workspace.id, agentId: agent?.id ?? '' }
  const script = 'bench/receiver-server.ts'
  const serverEnv = { ...env, BENCH_CONNECTION: JSON.stringify(connection) }
  const atrium = await startServer(script, { ...serverEnv, RATE_LIMIT_RECEIVE: '1000000' })
  const baseline = await startServer(script, { ...serverEnv, BENCH_SERVER: 'baseline' })
  printMachine('Connectors')
  await compareWithBaseline(atrium, baseline, await addEndpoint(deps, owner))
  const rows = await repeat(deps, atrium, await addEndpoint(deps, owner))
  await atrium.stop()
  const limited = await startServer(script, serverEnv)
  const quiet: Endpoint[] = []
  for (let n = 0; n < 10; n++) quiet.push(await addEndpoint(deps, owner))
  rows.push(...(await flood(limited, baseline, quiet, () => addEndpoint(deps, owner))))
  await limited.stop()
  await baseline.stop()
  rows.push(...(await refreshTogether(deps, owner, asked)))
  console.log('')
  printTable(['what', 'figure', 'target'], rows)
  await close()
}

const benchConnectors = async (): Promise<void> => {
  const { connection, env: ofDatabase, stop } = await startDatabase()
  await migrate(connection)
  await installJobs(connection, log)
  const tokens = await startTokenEndpoint()
  const env = {
    ...ofDatabase,
    CONNECTOR_GMAIL_BASE_URL: tokens.url,
    CONNECTOR_GMAIL_CLIENT_ID: 'bench',
    CONNECTOR_GMAIL_CLIENT_SECRET: 'bench',
  }
  await measureAll(connection, parseConfig(env), env, tokens.asked)
  tokens.stop()
  await stop()
}

await benchConnectors()
