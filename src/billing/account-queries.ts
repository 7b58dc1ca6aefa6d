import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

export interface AccountPatch {
  autoTopupEnabled?: boolean | undefined
  autoTopupThresholdCents?: number | undefined
  autoTopupAmountCents?: number | undefined
  autoTopupMonthlyCapCents?: number | null | undefined
  monthlyCapCents?: number | null | undefined
}

/** Also ends the back-off of automatic top-up and, when the cap changes, allows another warning in this month. */
export const updateAccount = (db: Db, orgId: string, patch: Required<AccountPatch>) =>
  db.execute(sql`
    update billing_accounts
    set auto_topup_enabled = ${patch.autoTopupEnabled}, auto_topup_threshold_cents = ${patch.autoTopupThresholdCents},
      auto_topup_amount_cents = ${patch.autoTopupAmountCents},
      auto_topup_monthly_cap_cents = ${patch.autoTopupMonthlyCapCents}, monthly_cap_cents = ${patch.monthlyCapCents},
      cap_warned_month = case
        when monthly_cap_cents is distinct from ${patch.monthlyCapCents}::bigint then null else cap_warned_month end,
      auto_topup_retry_at = null, auto_topup_declines = 0
    where org_id = ${orgId}`)

/** Agents with a monthly cap of their own, and their posted charges in this month (UTC). */
export const listAgentCaps = (db: Db, orgId: string) =>
  db.rows<{ id: string; name: string; slug: string; capCents: bigint; chargedMicrocents: bigint }>(sql`
    select a.id, a.name, a.slug, (a.settings ->> 'monthlyCapCents')::bigint as cap_cents,
      coalesce(u.charged_microcents, 0)::bigint as charged_microcents
    from agents a
      left join usage_rollups u on u.org_id = a.org_id and u.axis = 'agent' and u.grain = 'month'
        and u.period = date_trunc('month', now() at time zone 'utc')::date and u.key = a.id::text
    where a.org_id = ${orgId} and a.deleted_at is null and a.settings ->> 'monthlyCapCents' ~ '^[0-9]{1,15}$'
    order by a.name, a.id limit 100`)
