// Billing: durable charges per second of one org, spending reports over ten million records of a year, and pages of a
// ledger with a million transactions.
import pg from 'pg'
import { postCharges } from '../src/billing/ledger/ledger.ts'
import { createChargePoster } from '../src/billing/ledger/charge-poster.ts'
import { getBreakdown, getSpending } from '../src/billing/spending/spending.ts'
import { listTransactions } from '../src/billing/transactions.ts'
import { recordUsage, shrinkReservation } from '../src/billing/ledger/usage-queries.ts'
import { verifyOrg } from '../src/billing/ledger/verify.ts'
import type { Actor } from '../src/identity/actor.ts'
import { openDatabase, sql } from '../src/platform/database/database.ts'
import type { Database } from '../src/platform/database/database.ts'
import { newId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/process/log.ts'
import { migrate } from '../src/platform/database/migrate.ts'
import { printMachine, printTable, quantile, startDatabase } from './harness.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const records = Number(process.env['BENCH_RECORDS'] ?? 10_000_000)
const ledgerLength = Math.max(10_000, Math.round(records / 10))
const writers = 32
/** Samples of each page and report. */
const looks = 1_000

const createOrg = async (db: Database): Promise<string> => {
  const orgId = newId()
  await db.execute(sql`insert into orgs (id, name) values (${orgId}, 'Bench')`)
  return orgId
}

// No job is ever enqueued: automatic top-up is off.
const jobs = { enqueue: () => Promise.reject(new Error('no jobs here')) }

/** Charges one model call as the checkpoint of a step does: one statement, durably committed. */
const charge = (db: Database, orgId: string, agentId: string, turnId: string) =>
  db.row(sql`
    with ${recordUsage(
      sql`
      select ${orgId}::uuid as org_id, ${turnId}::uuid as turn_id, 1 as step, 1 as attempt, ${agentId}::uuid as agent_id,
        null::uuid as project_id, 'atrium/demo-paid' as model, 'chat' as operation, 1200 as input_tokens,
        300 as output_tokens, 0 as cache_read_tokens, 0 as cache_write_tokens, false as is_estimate, false as is_byok,
        2403::bigint as provider_cost_microcents, 500 as fee_bps, 10000::bigint as fee_waiver_cents`,
      { orgId, turnId: sql`${turnId}::uuid` },
    )}, ${shrinkReservation}
    select count(*) from recorded`)

const benchCharges = async (db: Database): Promise<(string | number)[][]> => {
  const orgId = await createOrg(db)
  const agents = Array.from({ length: 10 }, () => newId())
  const poster = createChargePoster({ db, jobs, log: createLog('warn') })
  const times: number[] = []
  const began = performance.now()
  const write = async (writer: number): Promise<void> => {
    while (performance.now() - began < seconds * 1_000) {
      const asked = performance.now()
      await charge(db, orgId, agents[writer % agents.length] as string, newId())
      poster.postSoon(orgId)
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  const perSecond = times.length / ((performance.now() - began) / 1_000)
  await poster.close()
  const closed = performance.now()
  await postCharges({ db, jobs }, orgId)
  const lagMs = performance.now() - closed
  const problems = await verifyOrg(db, orgId)
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  const account = await db.row<{ chargedMicrocents: bigint }>(
    sql`select charged_microcents from billing_accounts where org_id = ${orgId}`,
  )
  if (account?.chargedMicrocents !== BigInt(times.length) * 2_403n) throw new Error('a charge was lost or duplicated')
  return [
    [`durable charges/s for one org, concurrency ${writers}`, Math.round(perSecond), '≥ 1,000'],
    ['a charge, p50 ms', quantile(times, 0.5).toFixed(1), ''],
    ['a charge, p99 ms', quantile(times, 0.99).toFixed(1), ''],
    ['posting the pending charges at the end, ms', lagMs.toFixed(0), ''],
    ['`ledger verify` afterwards', 'clean', 'clean'],
  ]
}

const models = 5
const agentsOfOrg = 20
const projectsOfOrg = 10

/** Inserts a year of records with their rollups. */
const seedUsage = async (db: Database, orgId: string, count: number): Promise<void> => {
  const row = sql`
    select md5(i::text)::uuid as turn_id, now() - (i::float8 / ${count} * 364) * interval '1 day' as at,
      md5('agent' || i % ${agentsOfOrg})::uuid as agent_id,
      case when i % 11 = 0 then null else md5('project' || i % ${projectsOfOrg})::uuid end as project_id,
      'provider/model-' || i % ${models} as model, case when i % 7 = 0 then 'peer' else 'chat' end as operation
    from generate_series(1, ${count}::int) as i`
  await db.transaction('all orgs', async (db) => {
    await db.execute(sql`set local statement_timeout = 0`)
    await db.execute(sql`
      insert into usage_records (org_id, turn_id, step, attempt, at, agent_id, project_id, model, operation, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents,
        platform_fee_microcents, charged_microcents)
      select ${orgId}, turn_id, 1, 1, at, agent_id, project_id, model, operation, 1000, 200, 0, 0, false, false, 1800, 90, 1890
      from (${row}) as r`)
    await db.execute(sql`
      insert into usage_rollups (org_id, axis, grain, period, key, request_count, byok_request_count, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, provider_cost_microcents, platform_fee_microcents,
        charged_microcents)
      select ${orgId}, axis.name, grain.name, grain.period, axis.key, count(*), 0, sum(1000), sum(200), 0, 0, sum(1800),
        sum(90), sum(1890)
      from (select *, (at at time zone 'utc')::date as day from usage_records where org_id = ${orgId}) as r
        cross join lateral (values ('total', ''), ('model', model), ('agent', agent_id::text),
          ('project', coalesce(project_id::text, '')), ('operation', operation)) as axis (name, key)
        cross join lateral (values ('day', day), ('month', date_trunc('month', day)::date)) as grain (name, period)
      group by 2, 3, 4, 5`)
    await db.execute(sql`
      update billing_accounts set charged_microcents = ${BigInt(count) * 1_890n},
        fee_microcents = ${BigInt(count) * 90n}, moved_cents = ${(BigInt(count) * 1_890n) / 10_000n}
      where org_id = ${orgId}`)
  })
  await db.execute(sql`analyze usage_rollups`)
}

const actorOf = (orgId: string): Actor =>
  ({ orgId, userId: newId(), role: 'owner', permissions: new Set(['billing:manage']) }) as unknown as Actor

/** Milliseconds of each read, measured in turns, so that noise affects all of them. */
const timeInTurn = async (reads: Record<string, () => Promise<unknown>>): Promise<Map<string, number[]>> => {
  const times = new Map<string, number[]>(Object.keys(reads).map((name) => [name, []]))
  for (let i = -20; i < looks; i++) {
    for (const [name, read] of Object.entries(reads)) {
      const began = performance.now()
      await read()
      if (i >= 0) times.get(name)?.push(performance.now() - began)
    }
  }
  return times
}

const spendingReads = (db: Database, orgId: string, size: string): Record<string, () => Promise<unknown>> => {
  const deps = { db, jobs, models: { find: () => undefined } }
  const actor = actorOf(orgId)
  return {
    [`day, summary of a year ${size}`]: () => getSpending(deps, actor, 'year'),
    [`model, a year ${size}`]: () => getBreakdown(deps, actor, { axis: 'model', period: 'year' }),
    [`agent, 90 days ${size}`]: () => getBreakdown(deps, actor, { axis: 'agent', period: '90d' }),
    [`project, all ${size}`]: () => getBreakdown(deps, actor, { axis: 'project', period: 'all' }),
  }
}

const benchSpending = async (db: Database): Promise<(string | number)[][]> => {
  const small = await createOrg(db)
  const large = await createOrg(db)
  await seedUsage(db, small, 10_000)
  await seedUsage(db, large, records)
  await db.execute(sql`checkpoint`)
  const times = await timeInTurn({ ...spendingReads(db, small, 'few'), ...spendingReads(db, large, 'many') })
  const of = (name: string, q: number): number => quantile(times.get(name) as number[], q)
  return ['day, summary of a year', 'model, a year', 'agent, 90 days', 'project, all'].map((axis) => [
    axis,
    of(`${axis} many`, 0.95).toFixed(1),
    of(`${axis} many`, 0.5).toFixed(1),
    (of(`${axis} many`, 0.5) / of(`${axis} few`, 0.5)).toFixed(2),
    '≤ 30 ms, ≤ 1.5',
  ])
}

/** Inserts a ledger of `ledgerLength` transactions and its totals directly, without the trigger that posts each one. */
const seedLedger = async (orgId: string, connection: pg.ClientConfig): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('begin')
  await client.query('set local session_replication_role = replica')
  await client.query(
    `insert into transactions (org_id, number, id, type, amount_cents, balance_after_cents, created_at)
    select $1, i, md5(i::text)::uuid, case when i % 10 = 0 then 'deposit' else 'usage' end,
      case when i % 10 = 0 then 9 else -1 end, case when i % 10 = 0 then 0 else -(i % 10) end,
      now() - ($2 - i) * interval '10 seconds'
    from generate_series(1, $2::int) as i`,
    [orgId, ledgerLength],
  )
  await client.query(
    `insert into transaction_totals select $1, type, count(*), sum(amount_cents) from transactions where org_id = $1 group by 2`,
    [orgId],
  )
  await client.query('update billing_accounts set transaction_count = $2 where org_id = $1', [orgId, ledgerLength])
  await client.query('commit')
  await client.query('analyze transactions')
  await client.end()
}

const benchLedger = async (db: Database, connection: pg.ClientConfig): Promise<(string | number)[][]> => {
  const orgId = await createOrg(db)
  await seedLedger(orgId, connection)
  const deps = { db, jobs }
  const cursorBefore = (number: number): string => Buffer.from(JSON.stringify([number])).toString('base64url')
  const page = (query: { page: number; cursor?: string }) => async (): Promise<void> => {
    const { items } = await listTransactions(deps, orgId, { limit: 50, ...query })
    if (items.length !== 50) throw new Error(`a page has ${items.length} items`)
  }
  const times = await timeInTurn({
    'first page': page({ page: 1 }),
    'last page by cursor': page({ page: 1, cursor: cursorBefore(51) }),
    'last page by number': page({ page: ledgerLength / 50 }),
  })
  const figures = new Map([...times].map(([name, list]) => [name, quantile(list, 0.5)]))
  const first = figures.get('first page') as number
  return [...figures].map(([name, ms]) => [
    name,
    ms.toFixed(2),
    (ms / first).toFixed(2),
    name === 'first page' ? '' : '≤ 1.5',
  ])
}

export const benchBilling = async (): Promise<void> => {
  const { connection, stop } = await startDatabase()
  await migrate(connection)
  const db = openDatabase({
    connection: { ...connection, statement_timeout: 0 },
    poolSize: writers + 4,
    hotConnections: 2,
    onError: (error, where) => console.error(where, error),
  })
  try {
    const charges = await benchCharges(db)
    const spending = await benchSpending(db)
    const ledger = await benchLedger(db, connection)
    printMachine('Billing')
    printTable(['what', 'figure', 'target'], charges)
    const size = records.toLocaleString('en')
    printTable(
      [`spending of an org with ${size} records, by`, 'p95 ms', 'p50 ms', 'ratio to 10,000', 'target'],
      spending,
    )
    const length = ledgerLength.toLocaleString('en')
    printTable([`transactions of a ledger of ${length}`, 'p50 ms', 'ratio to first page', 'target'], ledger)
  } finally {
    await db.close()
    await stop()
  }
}

if (import.meta.main) await benchBilling()
