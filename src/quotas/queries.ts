import type { QuotaName } from '../config/quotas.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'

export interface StateRow {
  /** Null: the org pays for no plan. */
  planId: string | null
  /** Limits that the operator set for this org. A value of null: unlimited. */
  overrides: Partial<Record<QuotaName, number | null>>
  storedBytes: bigint
  files: bigint
  eventsKept: bigint
}

/** The org's plan, its own limits, and what is counted for it. Counts may be below zero until drift is repaired. */
export const findState = (db: Db, orgId: string) =>
  db.row<StateRow>(sql`
    select
      (select plan_id from subscriptions
        where org_id = ${orgId} and status in ('active', 'trialing', 'past_due')
        order by created_at desc, provider_id limit 1) as plan_id,
      coalesce((select json_object_agg(name, value) from org_quotas where org_id = ${orgId}), '{}') as overrides,
      greatest(f.stored_bytes, 0) as stored_bytes, greatest(f.files, 0) as files,
      greatest((select coalesce(sum(events), 0)::bigint from org_event_usage where org_id = ${orgId}), 0) as events_kept
    from (
      select coalesce(sum(stored_bytes), 0)::bigint as stored_bytes, coalesce(sum(files), 0)::bigint as files
      from org_file_usage where org_id = ${orgId}
    ) f`)

/** Requests of one org that are near a limit take turns until each one's transaction has ended. */
export const lockUsage = (db: Transaction, orgId: string) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('quotas ' || ${orgId}, 0))`)

export type RowQuota = 'webhooks' | 'agents' | 'connections'

/** The webhooks, agents or connections of the org, but no more than `most`. What the server itself makes is left out. */
const counts = {
  webhooks: (orgId: string, most: number) => sql`
    select count(*)::int as found from (
      select from webhooks where org_id = ${orgId} and builtin is null limit ${most}) w`,
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

/** Notes a rejected request. `isNews` when the audit log has not said so for a day. */
export const upsertRefusal = (db: Transaction, orgId: string, name: QuotaName) =>
  db.row<{ isNews: boolean }>(sql`
    insert into org_quota_refusals as r (org_id, name, refused_at, audited_at)
    values (${orgId}, ${name}, now(), now())
    on conflict (org_id, name) do update set refused_at = now(),
      audited_at = case when r.audited_at < now() - interval '1 day' then now() else r.audited_at end
    returning audited_at = now() as is_news`)

export const listRefusals = (db: Db, orgId: string) =>
  db.rows<{ name: QuotaName; refusedAt: string }>(sql`
    select name, refused_at from org_quota_refusals where org_id = ${orgId}`)

export const setOverride = (db: Db, orgId: string, name: QuotaName, value: number | null) =>
  db.execute(sql`
    insert into org_quotas (org_id, name, value) values (${orgId}, ${name}, ${value})
    on conflict (org_id, name) do update set value = excluded.value, updated_at = now()`)

export const deleteOverride = (db: Db, orgId: string, name: QuotaName) =>
  db.execute(sql`delete from org_quotas where org_id = ${orgId} and name = ${name}`)
