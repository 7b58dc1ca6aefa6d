import type { Db as BossDb } from 'pg-boss'
import { sql } from '../database/database.ts'
import type { Db, Sql } from '../database/database.ts'
import { waitingIndex } from './claim-queries.ts'

// All orgs: jobs belong to the server; the rows that they name belong to orgs.

const rows = async <Row>(boss: BossDb, statement: Sql): Promise<Row[]> =>
  (await boss.executeSql(statement.text, statement.values)).rows as Row[]

/** Adds an index and autovacuum settings to pg-boss's table. Only once: even `create index if not exists` locks the table. */
export const completeSchema = async (boss: BossDb): Promise<void> => {
  const [known] = await rows<{ index: string | null }>(
    boss,
    sql`select to_regclass('pgboss.atrium_waiting')::text as index`,
  )
  if (known?.index == null) await rows(boss, waitingIndex)
  const [found] = await rows<{ index: string | null }>(
    boss,
    sql`select to_regclass('pgboss.atrium_begun')::text as index`,
  )
  if (found?.index != null) return
  // For finding the few active and failed jobs among the many waiting ones.
  await rows(
    boss,
    sql`create index atrium_begun on pgboss.job_common (state, heartbeat_on) where state in ('active', 'failed')`,
  )
  // Rows live for milliseconds: with the default settings most of the table is dead rows, which misleads the planner.
  await rows(
    boss,
    sql`
    alter table pgboss.job_common set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
  )
}

/** Transactions of an org enqueue with the role `atrium_tenant`, which exists only with the schema of Atrium. */
export const grantToTenants = async (boss: BossDb): Promise<void> => {
  const [found] = await rows<{ exists: boolean }>(
    boss,
    sql`select to_regprocedure('protect_tenant_tables()') is not null as exists`,
  )
  if (found?.exists === true) await rows(boss, sql`select protect_tenant_tables()`)
}

/**
 * Locks a waiting job with this key until the end of the caller's transaction, and makes it start no later than
 * `startAfterSeconds` from now. False if none waits, or if another transaction has locked it. Fetching skips locked rows,
 * so the job cannot run before the caller's commit, when it would not see what the caller wrote. A job that is due is
 * only locked: an update would make other inserts with the key wait for this transaction.
 */
export const joinWaiting = async (db: Db, kind: string, key: string, startAfterSeconds: number): Promise<boolean> => {
  const latest = sql`now() + ${startAfterSeconds} * interval '1 second'`
  const joined = await db.row(sql`
    with waiting as (
      select name, id, start_after from pgboss.job
      where name = ${kind} and coalesce(singleton_key, '') = ${key} and state = 'created' and policy = 'short'
      for update skip locked
    ), hurried as (
      update pgboss.job set start_after = ${latest} from waiting
      where job.name = waiting.name and job.id = waiting.id and waiting.start_after > ${latest}
    )
    select from waiting`)
  return joined !== undefined
}

/** The kinds that have a due job. */
export const kindsWithDueJobs = async (boss: BossDb, kinds: string[]): Promise<string[]> => {
  // Ordered like the index on waiting jobs. With `exists`, the planner reads all of them if they are many.
  const found = await rows<{ name: string }>(
    boss,
    sql`
    select kind.name from unnest(${kinds}::text[]) as kind (name), lateral (
      select from pgboss.job
      where job.name = kind.name and job.state < 'active' and not job.blocked and job.start_after <= now()
      order by job.priority desc, job.created_on limit 1) as due`,
  )
  return found.map((row) => row.name)
}

/**
 * Releases the jobs whose worker has sent no heartbeat for `silentSeconds`. They start at once, because a crash needs no
 * retry delay. It counts as an attempt: otherwise a job that kills its worker would kill one worker after another.
 */
export const releaseSilent = (boss: BossDb, silentSeconds: number) =>
  rows<{ name: string; id: string; state: string }>(
    boss,
    sql`
    update pgboss.job
    set state = case when retry_count < retry_limit then 'retry'::pgboss.job_state else 'failed'::pgboss.job_state end,
      completed_on = case when retry_count < retry_limit then null else now() end,
      start_after = now(), heartbeat_on = null, output = '{"message": "the worker ended while it ran this job"}'
    where state = 'active' and heartbeat_on < now() - ${silentSeconds} * interval '1 second'
      and name not like ${'\\_\\_pgboss\\_\\_%'}
    returning name, id, state`,
  )

/** Releases jobs that this process owns and will not finish. */
export const releaseOwned = (boss: BossDb, kind: string, owned: { id: string; retryCount: number }[]) =>
  rows<{ id: string }>(
    boss,
    sql`
    update pgboss.job
    set state = case when job.retry_count < retry_limit then 'retry'::pgboss.job_state else 'failed'::pgboss.job_state end,
      completed_on = case when job.retry_count < retry_limit then null else now() end,
      start_after = now(), heartbeat_on = null, output = '{"message": "the worker was stopped while it ran this job"}'
    from unnest(${owned.map((job) => job.id)}::uuid[], ${owned.map((job) => job.retryCount)}::int[]) as owned (id, retry_count)
    where job.name = ${kind} and job.id = owned.id and job.retry_count = owned.retry_count and job.state = 'active'
    returning job.id`,
  )

/** The payloads for which no job of this kind is waiting, running or to be retried. */
export const listUnattended = async <P extends object>(boss: BossDb, kind: string, payloads: P[]): Promise<P[]> => {
  const found = await rows<{ place: number }>(
    boss,
    sql`
    select asked.place::int as place
    from jsonb_array_elements(${JSON.stringify(payloads)}::jsonb) with ordinality as asked (data, place)
    where not exists (
      select from pgboss.job where job.name = ${kind} and job.state <= 'active' and job.data = asked.data)
    order by asked.place`,
  )
  return found.map(({ place }) => payloads[place - 1] as P)
}

export interface JobLag {
  /** Seconds since the oldest waiting job became due; 0 if none waits. */
  oldestSeconds: number
  /** Due and waiting for a worker. */
  queued: number
  /** Not due yet. */
  deferred: number
  active: number
  /** Whether a worker has reported in the last minute that it runs a job. */
  isWorking: boolean
  /** Failed permanently in the last 14 days. */
  failed: number
}

export const findLag = async (boss: BossDb, kinds: string[]): Promise<JobLag> => {
  const [lag] = await rows<JobLag>(
    boss,
    sql`
    select coalesce(extract(epoch from now() - min(start_after) filter (where start_after <= now())), 0)::float8 as "oldestSeconds",
      count(*) filter (where start_after <= now())::int as queued,
      count(*) filter (where start_after > now())::int as deferred,
      (select count(*)::int from pgboss.job where state = 'active' and name = any (${kinds})) as active,
      exists (select from pgboss.job
        where state = 'active' and heartbeat_on > now() - interval '1 minute' and name = any (${kinds})) as "isWorking",
      (select count(*)::int from pgboss.job where state = 'failed' and name = any (${kinds})) as failed
    from pgboss.job where state < 'active' and not blocked and name = any (${kinds})`,
  )
  return lag as JobLag
}
