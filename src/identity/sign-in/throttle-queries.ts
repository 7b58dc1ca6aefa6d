import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

// Attempts belong to passwords and addresses, which belong to no org, so the table has no org_id.

export interface Attempt {
  /** The target: a password by its id, the hash of an unknown address, or the step-up of a person in an org. */
  subject: string
  /** The known browser or API key that the attempt comes from, else `unknown`. */
  source: string
}

/**
 * Counts the attempts that are not blocked and returns them. The attempt that uses up `budget` blocks for one minute, each
 * further one for twice as long, at most 15 minutes. A day without attempts resets the count. `blocked_until` of an
 * unblocked row is 1970, not `now`, because a concurrent request may have read the clock slightly earlier.
 */
export const countAttempts = (db: Db, attempts: readonly Attempt[], budget: number, now: Date) =>
  db.rows<Attempt>(sql`
    insert into sign_in_throttles as t (subject, source, attempts, blocked_until, updated_at)
    select distinct subject, source, 1,
      case when 1 >= ${budget}::int then ${now}::timestamptz + interval '1 minute' else to_timestamp(0) end,
      ${now}::timestamptz
    from unnest(${attempts.map(({ subject }) => subject)}::text[], ${attempts.map(({ source }) => source)}::text[])
      as asked (subject, source)
    order by subject, source
    on conflict (subject, source) do update set
      attempts = case when t.updated_at < ${now}::timestamptz - interval '1 day' then 1 else t.attempts + 1 end,
      blocked_until = case
        when t.updated_at < ${now}::timestamptz - interval '1 day' or t.attempts + 1 < ${budget}::int
          then to_timestamp(0)
        else ${now}::timestamptz
          + least(interval '1 minute' * power(2, least(t.attempts + 1 - ${budget}::int, 10)), interval '15 minutes')
        end,
      updated_at = ${now}::timestamptz
    where t.blocked_until <= ${now}::timestamptz
    returning subject, source`)

/** The time at which the first of the attempts is unblocked. */
export const findFirstUnblocked = (db: Db, attempts: readonly Attempt[]) =>
  db.row<{ at: string | null }>(sql`
    select min(t.blocked_until) as at
    from sign_in_throttles t
      join unnest(${attempts.map(({ subject }) => subject)}::text[], ${attempts.map(({ source }) => source)}::text[])
        as asked (subject, source) using (subject, source)`)

export const clearAttempts = (db: Db, attempts: readonly Attempt[]) =>
  db.execute(sql`
    delete from sign_in_throttles
    where (subject, source) in (
      select * from unnest(${attempts.map(({ subject }) => subject)}::text[], ${attempts.map(({ source }) => source)}::text[]))`)

/** Counts a failure for each password until the next sign-in, and keeps the last five different addresses. */
export const recordFailures = (db: Db, passwordIds: readonly string[], ip: string, now: Date) =>
  db.execute(sql`
    update sign_in_accounts set failed_count = failed_count + 1, failed_at = ${now},
      failed_from = (array_append(array_remove(failed_from, ${ip}::text), ${ip}::text))[
        greatest(1, cardinality(array_remove(failed_from, ${ip}::text)) - 3):]
    where id = any(${passwordIds}::uuid[])`)
