import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** The queued deliveries of one webhook or event endpoint. */
export interface DeliveryLane {
  orgId: string
  /** The id of the webhook or of the event endpoint. */
  webhookId: string
}

// These statements run on `db.indexed`, as those of `queue-queries.ts` do; see there.

const laneColumns = sql`org_id, webhook_id`

/**
 * Up to `limit` lanes with webhook ids above `after`, in ascending order; fewer than `limit` mean that there are no
 * more. `isDue`: the lane has a due delivery. A loose index scan skips from lane to lane, so that a lane of a million
 * deliveries is read as fast as a lane of one.
 */
export const listLanes = (db: Db, after: string, limit: number) =>
  db.rows<DeliveryLane & { isDue: boolean }>(sql`-- all orgs: workers serve all orgs
    with recursive lanes as (
      (select ${laneColumns} from webhook_queue where webhook_id > ${after} order by webhook_id limit 1)
      union all
      select next.org_id, next.webhook_id
      from lanes cross join lateral (
        select ${laneColumns} from webhook_queue q where q.webhook_id > lanes.webhook_id order by q.webhook_id limit 1
      ) next
    ), listed as (select ${laneColumns} from lanes limit ${limit})
    select org_id, webhook_id, coalesce(least(
        (select q.due_at from webhook_queue q
          where q.webhook_id = p.webhook_id and not q.retried order by q.due_at limit 1),
        (select q.due_at from webhook_queue q where q.webhook_id = p.webhook_id and q.retried order by q.due_at limit 1)
      ) <= now() and coalesce(
        (select w.status from webhooks w where w.org_id = p.org_id and w.id = p.webhook_id),
        (select t.status from event_endpoints t where t.org_id = p.org_id and t.id = p.webhook_id),
        (select 'active' from task_push_configs t where t.org_id = p.org_id and t.id = p.webhook_id)) = 'active',
      false) as is_due
    from listed p`)

/**
 * Up to `limit` due lanes with webhook ids above `after`, in ascending order, for a distributed schema: a recursive query
 * cannot span shards. Each shard joins its active webhooks with its queue.
 */
export const listDueLanes = (db: Db, after: string, limit: number) =>
  db.rows<DeliveryLane & { isDue: boolean }>(sql`-- all orgs: workers serve all orgs
    select w.org_id, w.id as webhook_id, true as is_due from webhooks w
    where w.id > ${after} and w.status = 'active' and exists (
      select from webhook_queue q where q.org_id = w.org_id and q.webhook_id = w.id and q.due_at <= now())
    order by w.id limit ${limit}`)

/** The same for event endpoints. */
export const listDueEndpointLanes = (db: Db, after: string, limit: number) =>
  db.rows<DeliveryLane & { isDue: boolean }>(sql`-- all orgs: workers serve all orgs
    select t.org_id, t.id as webhook_id, true as is_due from event_endpoints t
    where t.id > ${after} and t.status = 'active' and exists (
      select from webhook_queue q where q.org_id = t.org_id and q.webhook_id = t.id and q.due_at <= now())
    order by t.id limit ${limit}`)

/** The same for notifications of tasks. */
export const listDueTaskLanes = (db: Db, after: string, limit: number) =>
  db.rows<DeliveryLane & { isDue: boolean }>(sql`-- all orgs: workers serve all orgs
    select t.org_id, t.id as webhook_id, true as is_due from task_push_configs t
    where t.id > ${after} and exists (
      select from webhook_queue q where q.org_id = t.org_id and q.webhook_id = t.id and q.due_at <= now())
    order by t.id limit ${limit}`)
