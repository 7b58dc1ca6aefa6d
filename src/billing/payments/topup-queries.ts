import { sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import { claimKey, findOrgOf } from '../../platform/database/directory.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'

export type TopupState = 'due' | 'processing' | 'succeeded' | 'declined' | 'failed'

export interface TopupRow {
  orgId: string
  id: string
  state: TopupState
  amountCents: bigint
  customerId: string | null
  paymentMethodId: string | null
  paymentIntentId: string | null
  failureCode: string | null
  failureMessage: string | null
  createdAt: string
  endedAt: string | null
}

const columns = sql`org_id, id, state, amount_cents, customer_id, payment_method_id, payment_intent_id, failure_code,
  failure_message, created_at, ended_at`

/** Undefined when the org has a top-up that has not ended. */
export const insertTopup = async (
  db: Transaction,
  orgId: string,
  id: string,
  amountCents: bigint,
): Promise<{ id: string } | undefined> => {
  const row = await db.row<{ id: string }>(sql`
    insert into topups (org_id, id, amount_cents) values (${orgId}, ${id}, ${amountCents})
    on conflict (org_id) where ended_at is null do nothing
    returning id`)
  if (row) await claimKey(db, 'topup', id, orgId)
  return row
}

/** The sum of top-ups in this month (UTC) that succeeded or may still succeed. */
export const findMonthTotal = async (db: Db, orgId: string): Promise<bigint> => {
  const row = await db.row<{ cents: bigint }>(sql`
    select coalesce(sum(amount_cents), 0)::bigint as cents from topups
    where org_id = ${orgId} and state in ('due', 'processing', 'succeeded')
      and created_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'`)
  return row?.cents ?? 0n
}

export const leasedTopup = (orgId: string, id: string): LeasedRow => ({
  table: sql`topups`,
  row: sql`org_id = ${orgId} and id = ${id}`,
})

/** The condition and the result of a claim: a TopupRow that has not ended. */
export const topupClaim = { when: sql`ended_at is null`, returning: columns }

export const findTopup = (db: Db, orgId: string, id: string) =>
  db.row<TopupRow>(sql`select ${columns} from topups where org_id = ${orgId} and id = ${id}`)

/** The top-up that a payment of the provider belongs to. */
export const findTopupOfPayment = async (
  db: Db,
  paymentIntentId: string,
  topupId: string | null,
): Promise<TopupRow | undefined> => {
  const orgId =
    (topupId === null ? undefined : await findOrgOf(db, 'topup', topupId)) ??
    (await findOrgOf(db, 'topup_payment', paymentIntentId))
  if (orgId === undefined) return undefined
  return db.row<TopupRow>(sql`
    select ${columns} from topups
    where org_id = ${orgId} and (payment_intent_id = ${paymentIntentId} or id = ${topupId}::uuid)
    limit 1`)
}

export interface ChargeTarget {
  customerId: string
  paymentMethodId: string
}

/** Stores the target while the job has the lease, so that a repeated attempt charges the same card. */
export const setTarget = (db: Db, topup: { orgId: string; id: string }, held: Sql, target: ChargeTarget) =>
  db.execute(sql`
    update topups set customer_id = ${target.customerId}, payment_method_id = ${target.paymentMethodId}
    where org_id = ${topup.orgId} and id = ${topup.id} and ${held}`)

/** False when it ended before. A success replaces an earlier failure, and nothing replaces a success. */
export const endTopup = async (
  db: Transaction,
  orgId: string,
  id: string,
  end: {
    state: 'succeeded' | 'declined' | 'failed'
    paymentIntentId: string | null
    code?: string | null
    message?: string | null
  },
): Promise<boolean> => {
  if (end.paymentIntentId !== null) await claimKey(db, 'topup_payment', end.paymentIntentId, orgId)
  const ended = await db.execute(sql`
    update topups
    set state = ${end.state}, payment_intent_id = coalesce(${end.paymentIntentId}, payment_intent_id),
      failure_code = ${end.code ?? null}, failure_message = ${end.message ?? null}, ended_at = now(),
      lease_token = null, lease_until = null
    where org_id = ${orgId} and id = ${id}
      and (ended_at is null or (${end.state} = 'succeeded' and state <> 'succeeded'))`)
  return ended > 0
}

export const setProcessing = async (
  db: Transaction,
  orgId: string,
  id: string,
  paymentIntentId: string,
): Promise<void> => {
  await claimKey(db, 'topup_payment', paymentIntentId, orgId)
  await db.execute(sql`
    update topups set state = 'processing', payment_intent_id = ${paymentIntentId}
    where org_id = ${orgId} and id = ${id} and ended_at is null`)
}

export const listTopups = (db: Db, orgId: string, limit: number) =>
  db.rows<TopupRow>(sql`
    select ${columns} from topups where org_id = ${orgId} order by created_at desc limit ${limit}`)

/** Starts no top-up for this many seconds. */
export const backOff = (db: Db, orgId: string, seconds: number, declines: number) =>
  db.execute(sql`
    update billing_accounts
    set auto_topup_retry_at = now() + ${seconds} * interval '1 second', auto_topup_declines = ${declines}
    where org_id = ${orgId}`)

export const clearBackOff = (db: Db, orgId: string) =>
  db.execute(sql`
    update billing_accounts set auto_topup_retry_at = null, auto_topup_declines = 0
    where org_id = ${orgId} and (auto_topup_retry_at is not null or auto_topup_declines > 0)`)

export interface SavedMethod {
  /** Null: that of the account. */
  customerId: string | null
  /** Null: that of the account, if the customer is the same. */
  paymentMethodId: string | null
  /** The payment or the subscription that saved it. */
  paymentId: string
  /** When it was paid, by the provider's clock. Undefined: when it was credited. */
  paidAt: string | undefined
}

/** False, without a change, when the account has the method of a later payment. */
export const setPaymentMethod = async (
  db: Db,
  orgId: string,
  { customerId, paymentMethodId, paymentId, paidAt }: SavedMethod,
): Promise<boolean> => {
  const at = sql`coalesce(${paidAt ?? null}::timestamptz,
    (select p.created_at from payments p where p.org_id = ${orgId} and p.payment_intent_id = ${paymentId}))`
  const changed = await db.execute(sql`
    update billing_accounts
    set customer_id = coalesce(${customerId}, customer_id), is_method_missing = false,
      payment_method_id = case
        when ${paymentMethodId}::text is not null then ${paymentMethodId}
        -- A method belongs to its customer.
        when ${customerId}::text is not null and ${customerId} is distinct from customer_id then null
        else payment_method_id
      end,
      method_payment_id = ${paymentId}, method_paid_at = greatest(case when method_payment_id = ${paymentId} then method_paid_at end, ${at})
    where org_id = ${orgId} and (method_paid_at is null or method_payment_id = ${paymentId} or method_paid_at <= ${at})`)
  return changed > 0
}

/** Stores the customer of a paid subscription. Another customer than that of the account replaces it unless it is older. */
export const setCustomer = (
  db: Db,
  orgId: string,
  { customerId, paymentId, paidAt }: { customerId: string; paymentId: string; paidAt: string },
) =>
  db.execute(sql`
    update billing_accounts
    set customer_id = ${customerId}, is_method_missing = false,
      payment_method_id = case when customer_id = ${customerId} then payment_method_id end,
      method_payment_id = case when customer_id = ${customerId} then method_payment_id else ${paymentId} end,
      method_paid_at = case when customer_id = ${customerId} then method_paid_at else ${paidAt}::timestamptz end
    where org_id = ${orgId}
      and (method_paid_at is null or method_paid_at <= ${paidAt} or customer_id = ${customerId})`)

/** Does nothing when a method was saved while the provider was asked. */
export const setMethodMissing = (db: Db, orgId: string, customerId: string) =>
  db.execute(sql`
    update billing_accounts set is_method_missing = true
    where org_id = ${orgId} and customer_id = ${customerId} and payment_method_id is null`)

export const listOrgsBelowThreshold = (db: Db) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: the sweep starts the top-ups of every org
    select a.org_id from billing_accounts a
    where a.auto_topup_enabled and a.customer_id is not null and not a.is_method_missing
      and a.balance_cents < a.auto_topup_threshold_cents
      and (a.auto_topup_retry_at is null or a.auto_topup_retry_at <= now())
      and not exists (select from topups t where t.org_id = a.org_id and t.ended_at is null)`)

/** Top-ups whose job may be lost: older than 30 minutes, and without a lease in the last 15. */
export const listStaleTopups = (db: Db) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: the sweep resumes the top-ups of every org
    select org_id, id from topups
    where ended_at is null and created_at < now() - interval '30 minutes'
      and (lease_until is null or lease_until < now() - interval '15 minutes')`)

/** Top-ups that no worker has attempted for a day. The target is stored before the first request to the provider. */
export const listUnattemptedTopups = (db: Db) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: the sweep ends the top-ups of every org
    select org_id, id from topups
    where ended_at is null and state = 'due' and customer_id is null and created_at < now() - interval '1 day'
      and (lease_until is null or lease_until < now())`)
