import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { TransactionType } from '../ledger/queries.ts'

// Charges are by far the most transactions, and what they add up to follows from the balances. These statements read none
// of them: they read single balances, and the other transactions by the index on their type.
const otherTypes: TransactionType[] = ['deposit', 'refund', 'adjustment']

/** The times of transactions in milliseconds since 1970, rounded down. */
export const listTimes = (db: Db, orgId: string, numbers: readonly bigint[]) =>
  db.rows<{ number: bigint; ms: number }>(sql`
    select number, floor(extract(epoch from created_at) * 1000)::float8 as ms from transactions
    where org_id = ${orgId} and number = any(${numbers}::bigint[])`)

/** The balances after transactions. */
export const listBalances = (db: Db, orgId: string, numbers: readonly bigint[]) =>
  db.rows<{ number: bigint; balanceAfterCents: bigint }>(sql`
    select number, balance_after_cents from transactions
    where org_id = ${orgId} and number = any(${numbers}::bigint[])`)

export interface OtherSum {
  /** The number of boundaries below the transactions. */
  bucket: number
  type: 'deposit' | 'refund' | 'adjustment'
  count: number
  cents: bigint
}

/** Sums of transactions other than charges between boundaries: numbers in ascending order. */
export const listOtherSums = (db: Db, orgId: string, boundaries: readonly bigint[]) =>
  db.rows<OtherSum>(sql`
    select width_bucket(number - 1, ${boundaries}::bigint[]) as bucket, type, count(*)::int as count,
      sum(amount_cents)::bigint as cents
    from transactions where org_id = ${orgId} and type = any(${otherTypes}::text[])
    group by 1, 2`)

export interface OtherRow {
  id: string
  type: OtherSum['type']
  amountCents: bigint
  paymentIntentId: string | null
  notes: string | null
  createdAt: string
}

/** Transactions other than charges, numbered above `after` and up to `last`, oldest first. */
export const listOthers = (
  db: Db,
  orgId: string,
  { after, last, limit }: { after: bigint; last: bigint; limit: number },
) =>
  db.rows<OtherRow>(sql`
    select id, type, amount_cents, payment_intent_id, notes, created_at from transactions
    where org_id = ${orgId} and type = any(${otherTypes}::text[]) and number > ${after} and number <= ${last}
    order by number limit ${limit}`)

export interface MonthUsage {
  /** The first day. */
  month: string
  requestCount: number
  chargedMicrocents: bigint
}

export const listMonthUsage = (db: Db, orgId: string) =>
  db.rows<MonthUsage>(sql`
    select period as month, request_count::float8 as request_count, charged_microcents from usage_rollups
    where org_id = ${orgId} and axis = 'total' and grain = 'month' order by period`)

export interface PlanPaymentRow {
  paymentIntentId: string
  receiptNumber: bigint
  planId: string | null
  paidCents: bigint
  createdAt: string
}

/** Payments for plans in a period, oldest first. */
export const listPlanPayments = (db: Db, orgId: string, { from, to }: { from: string; to: string }, limit: number) =>
  db.rows<PlanPaymentRow>(sql`
    select payment_intent_id, receipt_number, plan_id, paid_cents, created_at from payments
    where org_id = ${orgId} and paid_cents is not null and created_at >= ${from} and created_at < ${to}
    order by created_at, payment_intent_id limit ${limit}`)
