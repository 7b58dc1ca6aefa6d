// Retention by whole months: dropping a month of the audit log while others insert and list, and the first page of the
// log of an org with and without that month.
import type { Actor } from '../src/identity/actor.ts'
import { listEntries } from '../src/identity/audit/queries.ts'
import { openDatabase, sql } from '../src/platform/database/database.ts'
import type { Database } from '../src/platform/database/database.ts'
import { migrate } from '../src/platform/database/migrate.ts'
import { dropExpired } from '../src/platform/database/partitions.ts'
import { newId } from '../src/platform/ids.ts'
import { median, printMachine, printTable, startDatabase } from './harness.ts'

const records = Number(process.env['BENCH_RECORDS'] ?? 10_000_000)
const rowsPerStatement = 500_000
const pages = 1_000
const recent = 1_000
const days = 40

const insert = (db: Database, orgId: string, rows: number, at: string): Promise<number> =>
  db.transaction('all orgs', async (db) => {
    await db.execute(sql`set local statement_timeout = 0`)
    return db.execute(sql`
      insert into audit_log (org_id, id, at, actor_name, action, resource_type, resource_id)
      select ${orgId}::uuid, gen_random_uuid(), ${at}::timestamptz + n * interval '10 microseconds', 'Bench', 'file.updated',
        'file', gen_random_uuid() from generate_series(1, ${rows}::int) as n`)
  })

/** Runs the work again and again until it is stopped. Returns the longest run, in milliseconds. */
const repeat = (work: () => Promise<unknown>): (() => Promise<number>) => {
  let isStopped = false
  const run = async (): Promise<number> => {
    let longest = 0
    while (!isStopped) {
      const began = performance.now()
      await work()
      longest = Math.max(longest, performance.now() - began)
    }
    return longest
  }
  const ended = run()
  return () => {
    isStopped = true
    return ended
  }
}

const { connection, stop } = await startDatabase()
await migrate(connection)
const db = openDatabase({
  connection,
  poolSize: 4,
  hotConnections: 1,
  onError: (error) => console.error(error),
})
const orgId = newId()
await db.execute(sql`insert into orgs (id, name) values (${orgId}, 'Bench')`)
await db.execute(sql`alter table audit_log detach partition audit_log_initial`)
for (let n = 3; n >= 0; n--) await db.row(sql`select ensure_partitions(now() - ${n} * interval '1 month')`)
const old = await db.row<{ at: string; part: string }>(sql`
  select to_char(date_trunc('month', now() - interval '3 months'), 'YYYY-MM-DD') as at,
    'audit_log_' || to_char(date_trunc('month', now() - interval '3 months'), 'YYYYMM') as part`)
if (!old) throw new Error('no month')

const actor = { orgId } as Actor
const noFilter = { action: undefined, actorId: undefined, since: undefined, until: undefined }
const list = () => listEntries(db, actor, noFilter, { limit: 50, after: undefined })
const measurePages = async (): Promise<number> => {
  const times: number[] = []
  for (let n = 0; n < pages; n++) {
    const began = performance.now()
    await list()
    times.push(performance.now() - began)
  }
  return median(times)
}

const now = new Date(Date.now() - 60_000).toISOString()
await insert(db, orgId, recent, now)
await db.execute(sql`analyze audit_log`)
const before = await measurePages()
for (let n = 0; n < records; n += rowsPerStatement) {
  await insert(db, orgId, Math.min(rowsPerStatement, records - n), old.at)
}
await db.transaction('all orgs', async (db) => {
  await db.execute(sql`set local statement_timeout = 0`)
  await db.execute(sql`analyze audit_log`)
})
await db.execute(sql`checkpoint`)
const withMonth = await measurePages()

const probes = (): (() => Promise<number>)[] => [
  repeat(() => insert(db, orgId, 1, new Date().toISOString())),
  repeat(list),
]
const quiet = probes()
await new Promise((resolve) => setTimeout(resolve, 3_000))
const quietLongest = await Promise.all(quiet.map((stop) => stop()))
const busy = probes()
const began = performance.now()
let goneMs = Number.NaN
const dropped = await dropExpired(db, 'audit_log', {
  days,
  // The oldest month, with all entries, is detached first.
  beforeDrop: async () => {
    if (Number.isNaN(goneMs)) goneMs = performance.now() - began
  },
})
const dropMs = performance.now() - began
const busyLongest = await Promise.all(busy.map((stop) => stop()))
const left = await db.row<{ found: boolean }>(sql`select to_regclass(${old.part}) is not null as found`)
if (left?.found !== false || dropped === 0) throw new Error('the month was not dropped')

printMachine('Partitions')
printTable(
  ['what', 'figure', 'target'],
  [
    [`until ${records.toLocaleString('en')} entries are gone for readers, ms`, Math.round(goneMs), '≤ 1000'],
    ['until their files are deleted, ms', Math.round(dropMs), '≤ 1000'],
    ['the longest insert meanwhile, ms', Math.max(busyLongest[0] ?? 0).toFixed(1), '≤ 100'],
    ['the longest list meanwhile, ms', Math.max(busyLongest[1] ?? 0).toFixed(1), '≤ 100'],
    ['the longest insert and list in 3 s before, ms', quietLongest.map((ms) => ms.toFixed(1)).join(', '), ''],
    [`first page of ${recent.toLocaleString('en')} entries, p50 ms`, before.toFixed(2), ''],
    [`… with ${records.toLocaleString('en')} older ones, p50 ms`, withMonth.toFixed(2), ''],
    ['… ratio of the two', (withMonth / before).toFixed(2), '≤ 1.5'],
  ],
)
await db.close()
await stop()
