// Unfinished work. Tests wait for it before they count the requests that arrived at a fake.
import { sql } from '../../src/platform/database/database.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { until } from './until.ts'

// Work that is due later (a recheck in 30 minutes, a retry in 10) is ignored, because it starts long after the test.
const horizonSeconds = 10

const unfinishedWork = (db: Database) =>
  db.rows<{ kind: string; count: number }>(sql`
    with horizon as (select now() + ${horizonSeconds} * interval '1 second' as at)
    select 'job ' || name as kind, count(*)::int as count from pgboss.job, horizon
    where name not like ${'\\_\\_pgboss\\_\\_%'} and (state = 'active' or (state < 'active' and start_after <= at))
    group by name
    union all
    select 'delivery of an event', count(*)::int
    from horizon, webhook_queue q
      left join webhooks w on w.org_id = q.org_id and w.id = q.webhook_id
      left join event_endpoints t on t.org_id = q.org_id and t.id = q.webhook_id
      left join task_push_configs p on p.org_id = q.org_id and p.id = q.webhook_id
    where (coalesce(w.status, t.status) = 'active' or p.id is not null) and (q.lease_token is not null or q.due_at <= at)
    having count(*) > 0
    union all
    select 'turn', count(*)::int from active_turns having count(*) > 0
    union all
    select 'charge that is not posted', count(*)::int from usage_inbox having count(*) > 0`)

/**
 * Resolves when no job or turn is queued or running, no delivery is in progress and every charge is posted. On a timeout, fails
 * with the remaining work. A process must work on the database, or queued work never ends.
 */
export const settled = async (db: Database): Promise<void> => {
  await until(
    () => unfinishedWork(db),
    (rest) => rest.length === 0,
  )
}
