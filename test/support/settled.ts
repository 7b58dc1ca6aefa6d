// What was begun and has not ended: tests wait for it before they count what arrived at a stand-in.
import { sql } from '../../src/platform/database/database.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { until } from './until.ts'

// Work that is due later than this (a recheck in half an hour, a retry in ten minutes) is not waited for: it comes long
// after the test that began it.
const horizonSeconds = 10

const unfinishedWork = (db: Database) =>
  db.rows<{ kind: string; count: number }>(sql`
    with horizon as (select now() + ${horizonSeconds} * interval '1 second' as at)
    select 'job ' || name as kind, count(*)::int as count from pgboss.job, horizon
    where name not like ${'\\_\\_pgboss\\_\\_%'} and (state = 'active' or (state < 'active' and start_after <= at))
    group by name
    union all
    select 'delivery of an event', count(*)::int
    from horizon, webhook_queue q join webhooks w on w.org_id = q.org_id and w.id = q.webhook_id and w.status = 'active'
    where q.lease_token is not null or q.due_at <= at
    having count(*) > 0
    union all
    select 'charge that is not posted', count(*)::int from usage_inbox having count(*) > 0`)

/**
 * Resolves when no job waits or runs, no delivery is under way and every charge is posted; fails with what remains.
 * Somebody must work on the database, or what waits is never done.
 */
export const settled = async (db: Database): Promise<void> => {
  await until(
    () => unfinishedWork(db),
    (rest) => rest.length === 0,
  )
}
