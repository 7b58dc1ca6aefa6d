import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

/** Deletes the event counts up to the day of a partition. Must run in the transaction that drops it. */
export const deleteOldUsage = (db: Db, partition: string) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    delete from org_event_usage where day <= to_date(right(${partition}, 8), 'YYYYMMDD')`)

/** Keys and queued deliveries are not partitioned and are deleted in batches. */
export const deleteOldKeys = (db: Db, days: number, limit: number) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    delete from webhook_event_keys where (org_id, webhook_id, key) in (
      select org_id, webhook_id, key from webhook_event_keys
      where seen_at < now() - ${days} * interval '1 day' limit ${limit})`)

/** Deletes deliveries that have waited for an inactive webhook for longer than events are kept. */
export const deleteOldQueued = (db: Db, days: number, limit: number) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    delete from webhook_queue where (org_id, id) in (
      select org_id, id from webhook_queue
      where event_id < uuid_at(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - ${days} * interval '1 day')
      limit ${limit})`)

/** Makes deliveries due that waited for a deleted one of the same subject. */
export const releaseWaiting = (db: Db) =>
  db.execute(sql`-- all orgs: retention applies to the whole server
    update webhook_queue q set due_at = now()
    where q.due_at = 'infinity' and q.order_key is not null and not exists (
      select from webhook_queue p
      where p.org_id = q.org_id and p.order_key = q.order_key and p.order_number < q.order_number)`)

const tables = ['webhook_queue', 'webhook_event_keys', 'webhook_deliveries'] as const

const deleteSome = {
  webhook_queue: (orgId: string, webhookId: string, limit: number) => sql`
    delete from webhook_queue where org_id = ${orgId} and webhook_id = ${webhookId} and id = any(array(
      select id from webhook_queue where org_id = ${orgId} and webhook_id = ${webhookId} limit ${limit}))`,
  webhook_event_keys: (orgId: string, webhookId: string, limit: number) => sql`
    delete from webhook_event_keys where org_id = ${orgId} and webhook_id = ${webhookId} and key = any(array(
      select key from webhook_event_keys where org_id = ${orgId} and webhook_id = ${webhookId} limit ${limit}))`,
  webhook_deliveries: (orgId: string, webhookId: string, limit: number) => sql`
    delete from webhook_deliveries where org_id = ${orgId} and webhook_id = ${webhookId} and id = any(array(
      select id from webhook_deliveries where org_id = ${orgId} and webhook_id = ${webhookId} limit ${limit}))`,
}

/** Deletes up to `limit` events of a deleted webhook and subtracts them from the org's usage. Returns their number. */
const deleteEvents = async (db: Db, orgId: string, webhookId: string, limit: number): Promise<number> => {
  const row = await db.row<{ deleted: number }>(sql`
    with deleted as (
      delete from webhook_events where org_id = ${orgId} and webhook_id = ${webhookId} and id = any(array(
        select id from webhook_events where org_id = ${orgId} and webhook_id = ${webhookId} limit ${limit}))
      returning id
    ), used as (
      insert into org_event_usage (org_id, day, slot, events)
      select ${orgId}::uuid, uuid_day(id), pg_backend_pid() % 64, -count(*) from deleted group by 2 order by 2
      on conflict (org_id, day, slot) do update set events = org_event_usage.events + excluded.events
    )
    select count(*)::int as deleted from deleted`)
  return row?.deleted ?? 0
}

/** Deletes up to `limit` rows of a deleted webhook, one table after another. Returns 0 when nothing is left. */
export const deleteLeftovers = async (db: Db, orgId: string, webhookId: string, limit: number): Promise<number> => {
  for (const table of tables) {
    const deleted = await db.execute(deleteSome[table](orgId, webhookId, limit))
    if (deleted > 0) return deleted
  }
  return deleteEvents(db, orgId, webhookId, limit)
}
