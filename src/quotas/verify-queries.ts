import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'

export const listOrgs = (db: Db) =>
  db.rows<{ orgId: string }>(sql`-- all orgs: the daily reconciliation
    select id as org_id from orgs order by id`)

/** Counting the events of a large org may take longer than the statement timeout of requests. */
export const removeStatementTimeout = (db: Transaction) => db.execute(sql`set local statement_timeout = 0`)

/** Allows one reconciliation per org at a time, because two would both add the same correction. */
export const lockReconciliation = (db: Transaction, orgId: string) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('usage reconciliation ' || ${orgId}, 0))`)

export interface FileDrift {
  countedFiles: bigint
  foundFiles: bigint
  countedBytes: bigint
  foundBytes: bigint
  /** The part of the above in the trash. */
  countedTrashedFiles: bigint
  foundTrashedFiles: bigint
  countedTrashedBytes: bigint
  foundTrashedBytes: bigint
}

/** Counters and rows in one snapshot. Every transaction changes both, so a difference is drift even under writes. */
export const findFileDrift = (db: Db, orgId: string) =>
  db.row<FileDrift>(sql`
    select u.*, f.found_files + o.files as found_files, f.found_bytes + o.bytes as found_bytes,
      f.found_trashed_files, f.found_trashed_bytes
    from (
      select coalesce(sum(files), 0)::bigint as counted_files, coalesce(sum(stored_bytes), 0)::bigint as counted_bytes,
        coalesce(sum(trashed_files), 0)::bigint as counted_trashed_files,
        coalesce(sum(trashed_bytes), 0)::bigint as counted_trashed_bytes
      from org_file_usage where org_id = ${orgId}
    ) u cross join (
      select count(*) as found_files, coalesce(sum(coalesce(large_bytes, size_bytes) + versions_bytes), 0)::bigint as found_bytes,
        count(*) filter (where trash_id is not null) as found_trashed_files,
        coalesce(sum(coalesce(large_bytes, size_bytes) + versions_bytes) filter (where trash_id is not null), 0)::bigint as found_trashed_bytes
      from files where org_id = ${orgId} and (deleted_at is null or trash_id is not null)
    ) f cross join (
      -- What open uploads reserve.
      select count(*) filter (where kind = 'whole') as files, coalesce(sum(coalesce(large_bytes, size_bytes)), 0)::bigint as bytes
      from uploads where org_id = ${orgId} and state = 'open'
    ) o`)

export interface EventDrift {
  day: string
  countedEvents: bigint
  foundEvents: bigint
}

/** The days on which counter and rows differ. */
export const listEventDrift = (db: Db, orgId: string) =>
  db.rows<EventDrift>(sql`
    select day, coalesce(u.events, 0)::bigint as counted_events, coalesce(e.events, 0)::bigint as found_events
    from (
      select day, sum(events)::bigint as events from org_event_usage where org_id = ${orgId} group by day
    ) u full join (
      select uuid_day(id) as day, count(*) as events from webhook_events where org_id = ${orgId} group by 1
    ) e using (day)
    where coalesce(u.events, 0) <> coalesce(e.events, 0)
    order by day`)

export interface FileUsage {
  files: bigint
  bytes: bigint
  trashedFiles: bigint
  trashedBytes: bigint
}

export const addFileUsage = (db: Db, orgId: string, { files, bytes, trashedFiles, trashedBytes }: FileUsage) =>
  db.execute(sql`
    insert into org_file_usage (org_id, slot, files, stored_bytes, trashed_files, trashed_bytes)
    values (${orgId}, pg_backend_pid() % 64, ${files}, ${bytes}, ${trashedFiles}, ${trashedBytes})
    on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
      stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes,
      trashed_files = org_file_usage.trashed_files + excluded.trashed_files,
      trashed_bytes = org_file_usage.trashed_bytes + excluded.trashed_bytes`)

export const addEventUsage = (db: Db, orgId: string, day: string, events: bigint) =>
  db.execute(sql`
    insert into org_event_usage (org_id, day, slot, events)
    values (${orgId}, ${day}, pg_backend_pid() % 64, ${events})
    on conflict (org_id, day, slot) do update set events = org_event_usage.events + excluded.events`)
