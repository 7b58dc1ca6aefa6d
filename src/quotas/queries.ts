import type { QuotaName } from '../config/quotas.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'

export interface StateRow {
  /** Null without a subscription. */
  planId: string | null
  /** Limits that the operator set for this org; null means unlimited. */
  overrides: Partial<Record<QuotaName, number | null>>
  storedBytes: bigint
  files: bigint
  eventsKept: bigint
  /** The part of storedBytes and files that is in the trash. */
  trashedBytes: bigint
  trashedFiles: bigint
}

/** The org's plan, overrides and counters. Counters that drifted below zero count as 0. */
export const findState = (db: Db, orgId: string) =>
  db.row<StateRow>(sql`
    select
      (select plan_id from subscriptions
        where org_id = ${orgId} and status in ('active', 'trialing', 'past_due')
        order by coalesce(bought_at, created_at) desc, created_at desc, provider_id limit 1) as plan_id,
      coalesce((select json_object_agg(name, value) from org_quotas where org_id = ${orgId}), '{}') as overrides,
      greatest(f.stored_bytes, 0) as stored_bytes, greatest(f.files, 0) as files,
      greatest(f.trashed_bytes, 0) as trashed_bytes, greatest(f.trashed_files, 0) as trashed_files,
      greatest((select coalesce(sum(events), 0)::bigint from org_event_usage where org_id = ${orgId}), 0) as events_kept
    from (
      select coalesce(sum(stored_bytes), 0)::bigint as stored_bytes, coalesce(sum(files), 0)::bigint as files,
        coalesce(sum(trashed_bytes), 0)::bigint as trashed_bytes, coalesce(sum(trashed_files), 0)::bigint as trashed_files
      from org_file_usage where org_id = ${orgId}
    ) f`)

/**
 * Serializes the requests of an org that is near a limit, until the transaction ends. Every org has one account, so the
 * lock is taken once, and on a distributed schema on the server that has the org's rows: as the first statement of a
 * transaction it would otherwise be taken outside of a distributed transaction, and Citus mistakes several such waiters
 * for a deadlock.
 */
export const lockUsage = (db: Transaction, orgId: string) =>
  db.execute(sql`
    select pg_advisory_xact_lock(hashtextextended('quotas ' || org_id, 0)) from billing_accounts where org_id = ${orgId}`)

export type RowQuota = 'webhooks' | 'agents' | 'connections'

/** Counts the webhooks with the event endpoints, agents or connections of the org, up to `most`, without those that the server creates. */
const counts = {
  webhooks: (orgId: string, most: number) => sql`
    select count(*)::int as found from (
      select from webhooks where org_id = ${orgId} and builtin is null
      union all select from event_endpoints where org_id = ${orgId}
      limit ${most}) w`,
  agents: (orgId: string, most: number) => sql`
    select count(*)::int as found from (
      select from agents where org_id = ${orgId} and deleted_at is null and not is_default limit ${most}) a`,
  connections: (orgId: string, most: number) => sql`
    select count(*)::int as found from (
      select from connections
      where org_id = ${orgId} and deleted_at is null and status <> 'expired' limit ${most}) c`,
}

export const countRows = async (db: Db, orgId: string, name: RowQuota, most = 2_147_483_647): Promise<number> =>
  (await db.row<{ found: number }>(counts[name](orgId, most)))?.found ?? 0

/** Records a rejected request. `isNews` when the audit log has no entry of the last day about it. */
export const upsertRejection = (db: Transaction, orgId: string, name: QuotaName) =>
  db.row<{ isNews: boolean }>(sql`
    insert into org_quota_refusals as r (org_id, name, refused_at, audited_at)
    values (${orgId}, ${name}, now(), now())
    on conflict (org_id, name) do update set refused_at = excluded.refused_at,
      audited_at = case when excluded.refused_at - r.audited_at > interval '1 day' then excluded.refused_at
        else r.audited_at end
    returning audited_at = refused_at as is_news`)

export const listRejections = (db: Db, orgId: string) =>
  db.rows<{ name: QuotaName; refusedAt: string }>(sql`
    select name, refused_at from org_quota_refusals where org_id = ${orgId}`)

export const setOverride = (db: Db, orgId: string, name: QuotaName, value: number | null) =>
  db.execute(sql`
    insert into org_quotas (org_id, name, value) values (${orgId}, ${name}, ${value})
    on conflict (org_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`)

export const deleteOverride = (db: Db, orgId: string, name: QuotaName) =>
  db.execute(sql`delete from org_quotas where org_id = ${orgId} and name = ${name}`)
