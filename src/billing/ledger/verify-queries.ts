import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export const listOrgIds = (db: Db) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: the operator verifies every ledger
    select id from orgs order by id`)

/** Summing up millions of records takes longer than the statement timeout of requests. */
export const removeStatementTimeout = (db: Db) => db.execute(sql`set local statement_timeout = 0`)

export interface LedgerSums {
  balanceCents: bigint
  cumulativeDepositsCents: bigint
  transactionCount: bigint
  chargedMicrocents: bigint
  feeMicrocents: bigint
  movedCents: bigint
  movedFeeCents: bigint
  remainderMicrocents: bigint
}

export const findAccountSums = (db: Db, orgId: string) =>
  db.row<LedgerSums>(sql`
    select balance_cents, cumulative_deposits_cents, transaction_count, charged_microcents, fee_microcents, moved_cents,
      moved_fee_cents, remainder_microcents
    from billing_accounts where org_id = ${orgId}`)

export const findLedgerSums = (db: Db, orgId: string) =>
  db.row<{
    cents: bigint
    depositCents: bigint
    movedCents: bigint
    movedFeeCents: bigint
    count: bigint
    lastNumber: bigint
    broken: bigint
  }>(sql`
    select coalesce(sum(amount_cents), 0)::bigint as cents,
      coalesce(sum(amount_cents) filter (where type = 'deposit'), 0)::bigint as deposit_cents,
      coalesce(-sum(amount_cents) filter (where type in ('usage', 'platform_fee')), 0)::bigint as moved_cents,
      coalesce(-sum(amount_cents) filter (where type = 'platform_fee'), 0)::bigint as moved_fee_cents,
      count(*) as count, coalesce(max(number), 0) as last_number,
      count(*) filter (where balance_after_cents <> running) as broken
    from (
      select type, amount_cents, number, balance_after_cents, sum(amount_cents) over (order by number) as running
      from transactions where org_id = ${orgId}
    ) as t`)

export const listTypeSums = (db: Db, orgId: string) =>
  db.rows<{ type: string; count: bigint; cents: bigint; countedTotal: bigint; countedCents: bigint }>(sql`
    select type, coalesce(n.count, 0)::bigint as count, coalesce(n.cents, 0)::bigint as cents,
      coalesce(t.count, 0)::bigint as counted_total, coalesce(t.cents, 0)::bigint as counted_cents
    from (
      select type, count(*) as count, sum(amount_cents) as cents from transactions where org_id = ${orgId} group by type
    ) as n full join (
      select type, count, cents from transaction_totals where org_id = ${orgId}
    ) as t using (type)
    order by type`)

/** The sums of all records, those that retention removed included. */
export const findRecordSums = (db: Db, orgId: string) =>
  db.row<{ calls: bigint; chargedMicrocents: bigint; feeMicrocents: bigint }>(sql`
    select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(charged_microcents), 0)::bigint as charged_microcents,
      coalesce(sum(fee_microcents), 0)::bigint as fee_microcents
    from (
      select count(*) as calls, sum(charged_microcents) as charged_microcents,
        sum(platform_fee_microcents) as fee_microcents
      from usage_records where org_id = ${orgId}
      union all
      select calls, charged_microcents, fee_microcents from usage_records_removed where org_id = ${orgId}
    ) as sums`)

export const listRollupSums = (db: Db, orgId: string) =>
  db.rows<{ axis: string; grain: string; calls: bigint; chargedMicrocents: bigint; feeMicrocents: bigint }>(sql`
    select axis, grain, sum(request_count)::bigint as calls, sum(charged_microcents)::bigint as charged_microcents,
      sum(platform_fee_microcents)::bigint as fee_microcents
    from usage_rollups where org_id = ${orgId} group by axis, grain order by axis, grain`)

/** Reservations of ended turns, which nothing would release, calls that would be charged twice, and excess refunds. */
export const findLeftovers = (db: Db, orgId: string) =>
  db.row<{ strayReservations: bigint; doubleCalls: bigint; overRefunds: bigint }>(sql`
    select
      (select count(*) from usage_holds h join turns t on t.org_id = h.org_id and t.id = h.turn_id
        where h.org_id = ${orgId} and t.ended_at is not null) as stray_reservations,
      (select count(*) from usage_inbox i join usage_records r using (org_id, turn_id, step, attempt)
        where i.org_id = ${orgId}) as double_calls,
      (select count(*) from payments where org_id = ${orgId} and refunded_cents > amount_cents) as over_refunds`)
