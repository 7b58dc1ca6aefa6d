import type { Db as BossDb } from 'pg-boss'
import { sql } from '../database/database.ts'
import type { Db, Sql } from '../database/database.ts'

// All orgs: jobs belong to the machinery, the rows that they are about belong to orgs.

const rows = async <Row>(boss: BossDb, statement: Sql): Promise<Row[]> =>
  (await boss.executeSql(statement.text, statement.values)).rows as Row[]

/** Adds what pg-boss does not have. Only once: even a `create index if not exists` would wait for every writer. */
export const completeSchema = async (boss: BossDb): Promise<void> => {
  const [found] = await rows<{ index: string | null }>(
    boss,
    sql`select to_regclass('pgboss.atrium_begun')::text as index`,
  )
  if (found?.index != null) return
  // The way to the few active and failed jobs among the many that wait.
  await rows(
    boss,
    sql`create index atrium_begun on pgboss.job_common (state, heartbeat_on) where state in ('active', 'failed')`,
  )
  // Its rows live for milliseconds: left to the defaults, the table is mostly dead rows and the planner misled.
  await rows(
    boss,
    sql`
    alter table pgboss.job_common set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
  )
}

/** Transactions of an org enqueue as the role `atrium_tenant`. Without the schema of Atrium there is no such role. */
export const grantToTenants = async (boss: BossDb): Promise<void> => {
  const [found] = await rows<{ exists: boolean }>(
    boss,
    sql`select to_regprocedure('protect_tenant_tables()') is not null as exists`,
  )
  if (found?.exists === true) await rows(boss, sql`select protect_tenant_tables()`)
}

/**
 * Makes a job that waits under this key wait for the caller's transaction, and start no later than `startAfterSeconds`
 * from now. False when none waits, or when another transaction is doing the same. The row lock is the point: fetching
 * skips locked rows, so the job cannot be run between now and the caller's commit, when it would not yet see what the
 * caller wrote. A job that is due already is only locked, not changed: a change would make other inserts under the
 * key wait for this transaction.
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

/** Which of these kinds have a job to start now. */
export const kindsWithDueJobs = async (boss: BossDb, kinds: string[]): Promise<string[]> => {
  // The order is that of the index on waiting jobs; asked by `exists`, the planner reads them all when they are many.
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
 * Gives back the jobs whose worker has not been heard of for `silentSeconds`, to be started at once: a crash is no
 * reason to wait out the delay of a failure. It still counts as an attempt, or a job that kills its worker would
 * kill them all.
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

/** Gives back what this process holds and will not finish. */
export const releaseHeld = (boss: BossDb, kind: string, held: { id: string; retryCount: number }[]) =>
  rows<{ id: string }>(
    boss,
    sql`
    update pgboss.job
    set state = case when job.retry_count < retry_limit then 'retry'::pgboss.job_state else 'failed'::pgboss.job_state end,
      completed_on = case when job.retry_count < retry_limit then null else now() end,
      start_after = now(), heartbeat_on = null, output = '{"message": "the worker was stopped while it ran this job"}'
    from unnest(${held.map((job) => job.id)}::uuid[], ${held.map((job) => job.retryCount)}::int[]) as held (id, retry_count)
    where job.name = ${kind} and job.id = held.id and job.retry_count = held.retry_count and job.state = 'active'
    returning job.id`,
  )

/** The payloads that no job of this kind has which is not over. */
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
  /** Seconds since the oldest job that waits for a worker should have started; 0 when none does. */
  oldestSeconds: number
  /** Waiting for a worker now. */
  queued: number
  /** Waiting for their time. */
  deferred: number
  active: number
  /** Given up within the last 14 days. */
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
      (select count(*)::int from pgboss.job where state = 'failed' and name = any (${kinds})) as failed
    from pgboss.job where state < 'active' and not blocked and name = any (${kinds})`,
  )
  return lag as JobLag
}
