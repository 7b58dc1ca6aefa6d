import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'

/** Makes the partitions from yesterday to `days` from now that are not there. */
export const ensurePartitions = (db: Db, days: number) =>
  db.execute(sql`
    select ensure_webhook_partitions((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + ${days}::int)`)

/** Drops the partitions of days of which even the last moment is older than `days`. */
export const dropPartitions = (db: Transaction, days: number) =>
  db.row<{ dropped: number }>(sql`
    select drop_webhook_partitions((now() at time zone 'UTC')::date - ${days}::int) as dropped`)

/** What the dropped partitions counted for their orgs. In the transaction that drops them. */
export const deleteOldUsage = (db: Transaction, days: number) =>
  db.execute(sql`-- all orgs: retention is the server's
    delete from org_event_usage where day < (now() at time zone 'UTC')::date - ${days}::int`)

/** Keys and waiting deliveries have no partitions: they go by the batch. */
export const deleteOldKeys = (db: Db, days: number, limit: number) =>
  db.execute(sql`-- all orgs: retention is the server's
    delete from webhook_event_keys where ctid = any(array(
      select ctid from webhook_event_keys where seen_at < now() - ${days} * interval '1 day' limit ${limit}))`)

/** Deliveries whose event is gone: they were held for longer than events are kept. */
export const deleteOldQueued = (db: Db, days: number, limit: number) =>
  db.execute(sql`-- all orgs: retention is the server's
    delete from webhook_queue where ctid = any(array(
      select ctid from webhook_queue
      where event_id < uuid_at(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - ${days} * interval '1 day')
      limit ${limit}))`)

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

/** Removes some events of a deleted webhook and counts them out; answers how many. */
const deleteEvents = async (db: Db, orgId: string, webhookId: string, limit: number): Promise<number> => {
  const row = await db.row<{ deleted: number }>(sql`
    with gone as (
      delete from webhook_events where org_id = ${orgId} and webhook_id = ${webhookId} and id = any(array(
        select id from webhook_events where org_id = ${orgId} and webhook_id = ${webhookId} limit ${limit}))
      returning id
    ), used as (
      insert into org_event_usage (org_id, day, slot, events)
      select ${orgId}::uuid, uuid_day(id), pg_backend_pid() % 64, -count(*) from gone group by 2 order by 2
      on conflict (org_id, day, slot) do update set events = org_event_usage.events + excluded.events
    )
    select count(*)::int as deleted from gone`)
  return row?.deleted ?? 0
}

/** Removes some of what a deleted webhook left, table after table. 0: nothing is left. */
export const deleteLeftovers = async (db: Db, orgId: string, webhookId: string, limit: number): Promise<number> => {
  for (const table of tables) {
    const deleted = await db.execute(deleteSome[table](orgId, webhookId, limit))
    if (deleted > 0) return deleted
  }
  return deleteEvents(db, orgId, webhookId, limit)
}
