import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** Begins the ids of receipts of deposits without a payment; the id of the transaction follows. */
export const directPrefix = 'direct:'

/** How an org names itself on receipts and statements. */
export interface BillingDetails {
  /** Null: the name of the org. */
  name: string | null
  /** Lines separated by `\n`. */
  address: string | null
  taxId: string | null
  email: string | null
}

/** The buyer at the time of a payment. */
export type Buyer = BillingDetails & { name: string }

export const findDetails = async (db: Db, orgId: string): Promise<BillingDetails | null> => {
  const row = await db.row<{ details: BillingDetails | null }>(sql`
    select billing_details as details from billing_accounts where org_id = ${orgId}`)
  return row?.details ?? null
}

export const setDetails = (db: Db, orgId: string, details: BillingDetails | null) =>
  db.execute(sql`
    update billing_accounts set billing_details = ${details === null ? null : JSON.stringify(details)}::jsonb
    where org_id = ${orgId}`)

export interface ReceiptRow {
  paymentIntentId: string
  receiptNumber: bigint
  /** The credit that was added to the balance. */
  amountCents: bigint
  /** The price of a plan. Null for a deposit. */
  paidCents: bigint | null
  refundedCents: bigint
  planId: string | null
  /** Null for a payment that the previous version stored. */
  buyer: Buyer | null
  isAutomatic: boolean
  createdAt: string
}

const columns = sql`p.payment_intent_id, p.receipt_number, p.amount_cents, p.paid_cents, p.refunded_cents, p.plan_id,
  p.buyer, coalesce(t.notes = 'Automatic top-up', false) as is_automatic, p.created_at`

const source = (orgId: string) => sql`payments p
  left join transactions t on t.org_id = ${orgId} and t.org_id = p.org_id
    and t.reference = 'payment:' || p.payment_intent_id`

export const findReceipt = (db: Db, orgId: string, paymentIntentId: string) =>
  db.row<ReceiptRow>(sql`
    select ${columns} from ${source(orgId)}
    where p.org_id = ${orgId} and p.payment_intent_id = ${paymentIntentId}`)

/** Receipts numbered below `before`, newest first. */
export const listReceipts = (db: Db, orgId: string, before: bigint | null, limit: number) =>
  db.rows<ReceiptRow>(sql`
    select ${columns} from ${source(orgId)}
    where p.org_id = ${orgId} ${before === null ? sql`` : sql`and p.receipt_number < ${before}`}
    order by p.receipt_number desc limit ${limit}`)

const directDeposits = (orgId: string) => sql`transactions t
  where t.org_id = ${orgId} and t.type = 'deposit' and t.payment_intent_id is null
    and not exists (
      select 1 from payments p
      where p.org_id = ${orgId} and p.org_id = t.org_id
        and p.payment_intent_id = ${directPrefix}::text || t.id::text)`

/** Whether a payment has no number, or a direct deposit is not among the payments. */
export const lacksReceipts = async (db: Db, orgId: string): Promise<boolean> => {
  const unnumbered = await db.row(sql`
    select 1 as found from payments where org_id = ${orgId} and receipt_number is null limit 1`)
  if (unnumbered) return true
  return (await db.row(sql`select 1 as found from ${directDeposits(orgId)} limit 1`)) !== undefined
}

/** Stores the deposits without a payment that have no receipt yet. The account must be locked. */
export const insertDirectDeposits = (db: Db, orgId: string, buyer: Buyer) =>
  db.execute(sql`
    insert into payments (org_id, payment_intent_id, amount_cents, buyer, created_at)
    select t.org_id, ${directPrefix}::text || t.id::text, t.amount_cents, ${JSON.stringify(buyer)}::jsonb, t.created_at
    from ${directDeposits(orgId)}
    on conflict do nothing`)

/** Numbers the payments of an org that have no number, in the order of their times. The account must be locked. */
export const numberPayments = (db: Db, orgId: string) =>
  db.execute(sql`
    update payments p
    set receipt_number = n.number
    from (
      select payment_intent_id, row_number() over (order by created_at, payment_intent_id)
        + (select coalesce(max(receipt_number), 0) from payments where org_id = ${orgId}) as number
      from payments where org_id = ${orgId} and receipt_number is null
    ) n
    where p.org_id = ${orgId} and p.payment_intent_id = n.payment_intent_id`)
