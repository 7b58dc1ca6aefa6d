import { join, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export type TransactionType = 'deposit' | 'usage' | 'refund' | 'adjustment' | 'platform_fee'

export interface AccountRow {
  orgId: string
  balanceCents: bigint
  cumulativeDepositsCents: bigint
  transactionCount: bigint
  chargedMicrocents: bigint
  feeMicrocents: bigint
  movedCents: bigint
  movedFeeCents: bigint
  remainderMicrocents: bigint
  promotionRemainingCents: bigint
  autoTopupEnabled: boolean
  autoTopupThresholdCents: bigint
  autoTopupAmountCents: bigint
  autoTopupMonthlyCapCents: bigint | null
  autoTopupRetryAt: string | null
  autoTopupDeclines: number
  monthlyCapCents: bigint | null
  capWarnedMonth: string | null
  customerId: string | null
  paymentMethodId: string | null
  /** The provider has no payment method for the customer. */
  isMethodMissing: boolean
}

const columns = sql`org_id, balance_cents, cumulative_deposits_cents, transaction_count, charged_microcents,
  fee_microcents, moved_cents, moved_fee_cents, remainder_microcents, promotion_remaining_cents, auto_topup_enabled,
  auto_topup_threshold_cents, auto_topup_amount_cents, auto_topup_monthly_cap_cents, auto_topup_retry_at,
  auto_topup_declines, monthly_cap_cents, cap_warned_month, customer_id, payment_method_id, is_method_missing`

export const findAccount = (db: Db, orgId: string) =>
  db.row<AccountRow>(sql`select ${columns} from billing_accounts where org_id = ${orgId}`)

/** Locks the account: all changes of an org's money lock it first, so that they run one after another. */
export const lockAccount = (db: Db, orgId: string) =>
  db.row<AccountRow>(sql`select ${columns} from billing_accounts where org_id = ${orgId} for no key update`)

export interface NewTransaction {
  id: string
  type: TransactionType
  amountCents: bigint
  paymentIntentId: string | null
  notes: string | null
  reference: string | null
}

/** Appends to the ledger. A trigger updates the account, which must be locked. */
export const insertTransactions = (db: Db, account: AccountRow, entries: NewTransaction[]) => {
  let number = account.transactionCount
  let balance = account.balanceCents
  const values = entries.map(({ id, type, amountCents, paymentIntentId, notes, reference }) => {
    number += 1n
    balance += amountCents
    return sql`(${account.orgId}::uuid, ${number}::bigint, ${id}::uuid, ${type}, ${amountCents}::bigint,
      ${balance}::bigint, ${paymentIntentId}, ${notes}, ${reference})`
  })
  return db.execute(sql`
    insert into transactions (org_id, number, id, type, amount_cents, balance_after_cents, payment_intent_id, notes,
      reference)
    values ${join(values, ', ')}`)
}

export const hasReference = async (db: Db, orgId: string, reference: string): Promise<boolean> =>
  (await db.row(sql`
    select 1 as found from transactions where org_id = ${orgId} and reference = ${reference}`)) !== undefined

/** Adds to the totals of charges and of the cents of them that were posted. */
export const addCharges = (
  db: Db,
  orgId: string,
  added: { chargedMicrocents: bigint; feeMicrocents: bigint; movedCents: bigint; movedFeeCents: bigint },
) =>
  db.execute(sql`
    update billing_accounts
    set charged_microcents = charged_microcents + ${added.chargedMicrocents},
      fee_microcents = fee_microcents + ${added.feeMicrocents},
      moved_cents = moved_cents + ${added.movedCents}, moved_fee_cents = moved_fee_cents + ${added.movedFeeCents}
    where org_id = ${orgId}`)

/** Reduces the remaining amounts of redeemed promotions by what was spent, the oldest first. */
export const consumePromotions = (db: Db, orgId: string, cents: bigint) =>
  db.execute(sql`
    with line as (
      select promotion_id, remaining_cents,
        sum(remaining_cents) over (order by redeemed_at, promotion_id) - remaining_cents as before
      from promotion_redemptions where org_id = ${orgId} and remaining_cents > 0
    ), used as (
      update promotion_redemptions p
      set remaining_cents = p.remaining_cents - least(p.remaining_cents, ${cents}::bigint - line.before)
      from line
      where p.org_id = ${orgId} and p.promotion_id = line.promotion_id and line.before < ${cents}::bigint
    )
    update billing_accounts
    set promotion_remaining_cents = greatest(0, promotion_remaining_cents - ${cents}::bigint)
    where org_id = ${orgId}`)

/** The charges of an org or one of its agents in the current month (UTC), posted or pending, in microcents. */
export const findMonthCharges = async (
  db: Db,
  orgId: string,
  axis: 'total' | 'agent',
  key: string,
): Promise<bigint> => {
  const row = await db.row<{ microcents: bigint }>(sql`
    select (
      coalesce((
        select charged_microcents from usage_rollups
        where org_id = ${orgId} and axis = ${axis} and grain = 'month'
          and period = date_trunc('month', now() at time zone 'utc')::date and key = ${key}), 0)
      + coalesce((
        select sum(charged_microcents) from usage_inbox
        where org_id = ${orgId} and at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'
          and (${axis} = 'total' or agent_id::text = ${key})), 0)
    )::bigint as microcents`)
  return row?.microcents ?? 0n
}

export const setCapWarned = (db: Db, orgId: string, month: string) =>
  db.execute(sql`update billing_accounts set cap_warned_month = ${month} where org_id = ${orgId}`)

export interface TransactionRow {
  id: string
  number: bigint
  type: TransactionType
  amountCents: bigint
  balanceAfterCents: bigint
  paymentIntentId: string | null
  notes: string | null
  createdAt: string
}

/** Transactions numbered below `before`, newest first. */
export const listTransactions = (
  db: Db,
  orgId: string,
  {
    type,
    before,
    offset = 0,
    limit,
  }: { type: TransactionType | undefined; before: bigint | null; offset?: number; limit: number },
) =>
  db.rows<TransactionRow>(sql`
    select id, number, type, amount_cents, balance_after_cents, payment_intent_id, notes, created_at from transactions
    where org_id = ${orgId} ${type === undefined ? sql`` : sql`and type = ${type}`}
      ${before === null ? sql`` : sql`and number < ${before}`}
    order by number desc limit ${limit} offset ${offset}`)

export const listTotals = (db: Db, orgId: string) =>
  db.rows<{ type: TransactionType; count: bigint; cents: bigint }>(sql`
    select type, count, cents from transaction_totals where org_id = ${orgId}`)

/** All statements of the transaction read one snapshot. Must be its first statement. */
export const useSnapshot = (db: Db) => db.execute(sql`set transaction isolation level repeatable read read only`)
