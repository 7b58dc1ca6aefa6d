import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { claimKey, findOrgOf } from '../../platform/database/directory.ts'
import type { Buyer } from '../receipts/queries.ts'

/** False when the event was applied before. Waits for a transaction that is applying the same event. */
export const claimEvent = async (db: Db, id: string, type: string): Promise<boolean> =>
  (await db.execute(sql`
    insert into payment_events (id, type) values (${id}, ${type}) on conflict do nothing`)) > 0

/**
 * Locks one payment or subscription of the provider for the rest of the transaction: storing its facts and crediting it
 * exclude one another. Must be locked before the account, which prevents deadlocks.
 */
export const lockSubject = (db: Db, subject: string) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 60))`)

export interface Fact {
  /** The id of the payment intent or of the subscription. */
  subject: string
  kind: 'charge' | 'refund' | 'dispute' | 'method' | 'invoice' | 'subscription'
  id: string
  data: Record<string, unknown>
}

export interface StoredFact extends Omit<Fact, 'subject'> {
  /** The time of the latest event about it. */
  reportedAt: string
}

/** A fact with the time of the latest event that reported each field. */
export interface TimedFact extends StoredFact {
  /** Null, or without a field, where a previous version stored it: `reportedAt`. */
  fieldTimes: Record<string, string> | null
}

/** The subject must be locked. */
export const findFact = (db: Db, { subject, kind, id }: Fact) =>
  db.row<TimedFact>(sql`
    select kind, id, data, told_at as reported_at, field_times from payment_facts
    where subject = ${subject} and kind = ${kind} and id = ${id}`)

export const putFact = (db: Db, subject: string, { kind, id, data, reportedAt, fieldTimes }: TimedFact) =>
  db.execute(sql`
    insert into payment_facts (subject, kind, id, data, told_at, field_times)
    values (${subject}, ${kind}, ${id}, ${JSON.stringify(data)}, ${reportedAt}, ${JSON.stringify(fieldTimes)})
    on conflict (subject, kind, id) do update
    set data = excluded.data, told_at = excluded.told_at, field_times = excluded.field_times`)

export const listFacts = (db: Db, subject: string) =>
  db.rows<StoredFact>(sql`
    select kind, id, data, told_at as reported_at from payment_facts where subject = ${subject} order by told_at, kind, id`)

export interface PaymentRow {
  orgId: string
  paymentIntentId: string
  amountCents: bigint
  /** The part of the credit that was withdrawn. */
  refundedCents: bigint
  /** The price paid for a plan, whose credit is another amount. Null for a deposit. */
  paidCents: bigint | null
}

export interface NewPayment extends Omit<PaymentRow, 'refundedCents'> {
  planId: string | null
  buyer: Buyer
  /** Null: now. */
  paidAt: string | null
}

/** False when it was stored before, for this org or for another one. */
export const insertPayment = async (
  db: Transaction,
  { orgId, paymentIntentId, amountCents, paidCents, planId, buyer, paidAt }: NewPayment,
): Promise<boolean> => {
  if ((await claimKey(db, 'payment', paymentIntentId, orgId)) !== orgId) return false
  const inserted = await db.execute(sql`
    insert into payments (org_id, payment_intent_id, amount_cents, paid_cents, plan_id, buyer, created_at)
    values (${orgId}, ${paymentIntentId}, ${amountCents}, ${paidCents}, ${planId}, ${JSON.stringify(buyer)}::jsonb,
      least(${paidAt}::timestamptz, now()))
    on conflict do nothing`)
  return inserted > 0
}

/** By the provider's id, which does not name the org. */
export const findPayment = async (db: Db, paymentIntentId: string): Promise<PaymentRow | undefined> => {
  const orgId = await findOrgOf(db, 'payment', paymentIntentId)
  if (orgId === undefined) return undefined
  return db.row<PaymentRow>(sql`
    select org_id, payment_intent_id, amount_cents, refunded_cents, paid_cents from payments
    where org_id = ${orgId} and payment_intent_id = ${paymentIntentId}`)
}

export const setRefunded = (db: Db, { orgId, paymentIntentId }: PaymentRow, cents: bigint) =>
  db.execute(sql`
    update payments set refunded_cents = ${cents}
    where org_id = ${orgId} and payment_intent_id = ${paymentIntentId}`)

export interface CheckoutRow {
  orgId: string
  id: string
  kind: 'deposit' | 'subscription'
  state: 'open' | 'paid' | 'failed' | 'expired'
  amountCents: bigint
  planId: string | null
  createdAt: string
}

export const insertCheckout = (
  db: Db,
  orgId: string,
  checkout: { id: string; kind: CheckoutRow['kind']; amountCents: number; planId: string | null; createdBy: string },
) =>
  db.execute(sql`
    insert into checkouts (org_id, id, kind, amount_cents, plan_id, created_by)
    values (${orgId}, ${checkout.id}, ${checkout.kind}, ${checkout.amountCents}, ${checkout.planId}, ${checkout.createdBy})`)

export const setCheckoutSession = async (
  db: Transaction,
  orgId: string,
  id: string,
  sessionId: string,
): Promise<void> => {
  await claimKey(db, 'checkout', sessionId, orgId)
  await db.execute(sql`update checkouts set session_id = ${sessionId} where org_id = ${orgId} and id = ${id}`)
}

/** Locks the checkout of the provider's session. Undefined for a session that was not opened here. */
export const lockCheckout = async (db: Transaction, sessionId: string): Promise<CheckoutRow | undefined> => {
  const orgId = await findOrgOf(db, 'checkout', sessionId)
  if (orgId === undefined) return undefined
  return db.row<CheckoutRow>(sql`
    select org_id, id, kind, state, amount_cents, plan_id, created_at from checkouts
    where org_id = ${orgId} and session_id = ${sessionId} for no key update`)
}

export interface OpenCheckout {
  id: string
  sessionId: string
  planId: string
  amountCents: bigint
}

/** The checkouts of plans whose pages may be open, newest first. The provider closes a page after 24 hours. */
export const listOpenPlanCheckouts = (db: Db, orgId: string) =>
  db.rows<OpenCheckout>(sql`
    select id, session_id, plan_id, amount_cents from checkouts
    where org_id = ${orgId} and kind = 'subscription' and state = 'open' and session_id is not null
      and created_at > now() - interval '24 hours'
    order by created_at desc, id desc limit 20`)

/** Unless an event of the provider has ended it. */
export const setCheckoutExpired = (db: Db, orgId: string, id: string) =>
  db.execute(sql`
    update checkouts set state = 'expired', settled_at = now()
    where org_id = ${orgId} and id = ${id} and state = 'open'`)

export const endCheckout = (db: Db, { orgId, id }: CheckoutRow, state: CheckoutRow['state']) =>
  db.execute(sql`
    update checkouts set state = ${state}, settled_at = now() where org_id = ${orgId} and id = ${id}`)

export const expireEvents = (db: Db) =>
  db.execute(sql`delete from payment_events where received_at < now() - interval '90 days'`)

export interface SubscriptionRow {
  orgId: string
  providerId: string
  planId: string
  status: string
  includedCreditCents: bigint
  cancelAtPeriodEnd: boolean
  currentPeriodEnd: string | null
  createdAt: string
  /** When its checkout was paid, by the provider's clock. */
  boughtAt: string
  /** Another plan replaced it, and the provider has not confirmed its cancellation. */
  isCancelWanted: boolean
  /** It was paid twice, and the provider has not confirmed that the payments of this one are refunded. */
  isRefundWanted: boolean
  /** When its cancellation or refund became due. Null when none is. */
  wantedAt: string | null
  /** The provider has rejected the cancellation or refund for days. */
  isProviderFailed: boolean
}

const subscriptionColumns = sql`org_id, provider_id, plan_id, status, included_credit_cents, cancel_at_period_end,
  current_period_end, created_at, coalesce(bought_at, created_at) as bought_at,
  cancel_wanted_at is not null as is_cancel_wanted, refund_wanted_at is not null as is_refund_wanted,
  coalesce(refund_wanted_at, cancel_wanted_at) as wanted_at, provider_failed_at is not null as is_provider_failed`

export const insertSubscription = async (
  db: Transaction,
  orgId: string,
  subscription: { providerId: string; planId: string; includedCreditCents: number; boughtAt: string },
): Promise<SubscriptionRow | undefined> => {
  if ((await claimKey(db, 'subscription', subscription.providerId, orgId)) !== orgId) {
    throw new Error(`the subscription ${subscription.providerId} belongs to another org`)
  }
  return db.row<SubscriptionRow>(sql`
    insert into subscriptions (org_id, provider_id, plan_id, status, included_credit_cents, bought_at)
    values (${orgId}, ${subscription.providerId}, ${subscription.planId}, 'active', ${subscription.includedCreditCents},
      ${subscription.boughtAt})
    on conflict (org_id, provider_id) do update set plan_id = excluded.plan_id
    returning ${subscriptionColumns}`)
}

/** By the provider's id, which does not name the org. */
export const findSubscription = async (db: Db, providerId: string): Promise<SubscriptionRow | undefined> => {
  const orgId = await findOrgOf(db, 'subscription', providerId)
  if (orgId === undefined) return undefined
  return db.row<SubscriptionRow>(sql`
    select ${subscriptionColumns} from subscriptions where org_id = ${orgId} and provider_id = ${providerId}`)
}

export const updateSubscription = (
  db: Db,
  orgId: string,
  providerId: string,
  update: { status: string; cancelAtPeriodEnd: boolean; currentPeriodEnd: string | null },
) =>
  db.execute(sql`
    update subscriptions
    set status = ${update.status}, cancel_at_period_end = ${update.cancelAtPeriodEnd},
      current_period_end = coalesce(${update.currentPeriodEnd}, current_period_end)
    where org_id = ${orgId} and provider_id = ${providerId}`)

/** The provider is to cancel the subscription, and to refund its payments if `isRefundWanted`. */
export const setReplaced = (db: Db, orgId: string, providerId: string, isRefundWanted: boolean) =>
  db.execute(sql`
    update subscriptions
    set cancel_wanted_at = now(), refund_wanted_at = ${isRefundWanted ? sql`now()` : sql`refund_wanted_at`},
      provider_retry_at = null, provider_failed_at = null
    where org_id = ${orgId} and provider_id = ${providerId}`)

export const setCancelConfirmed = (db: Db, orgId: string, providerId: string) =>
  db.execute(sql`
    update subscriptions set cancel_wanted_at = null, provider_retry_at = null, provider_failed_at = null
    where org_id = ${orgId} and provider_id = ${providerId}`)

/** False when another worker did it before. */
export const setRefundConfirmed = async (db: Db, orgId: string, providerId: string): Promise<boolean> =>
  (await db.execute(sql`
    update subscriptions set refund_wanted_at = null
    where org_id = ${orgId} and provider_id = ${providerId} and refund_wanted_at is not null`)) > 0

/** The sweep leaves the cancellation and the refund alone for this many seconds. */
export const postponeReplaced = (db: Db, orgId: string, providerId: string, seconds: number) =>
  db.execute(sql`
    update subscriptions set provider_retry_at = now() + ${seconds} * interval '1 second'
    where org_id = ${orgId} and provider_id = ${providerId}`)

/** False when it was set before, or nothing is wanted any more. */
export const setProviderFailed = async (db: Db, orgId: string, providerId: string): Promise<boolean> =>
  (await db.execute(sql`
    update subscriptions set provider_failed_at = now()
    where org_id = ${orgId} and provider_id = ${providerId} and provider_failed_at is null
      and (cancel_wanted_at is not null or refund_wanted_at is not null)`)) > 0

const isUnconfirmed = sql`((cancel_wanted_at is not null and status not in ('canceled', 'incomplete_expired', 'unpaid'))
  or refund_wanted_at is not null)`

/** A refund is attempted for 30 days. A cancellation is attempted without end, because the subscription costs money. */
export const listReplacedSubscriptions = (db: Db) =>
  db.rows<{ orgId: string; subscriptionId: string }>(sql`
    -- all orgs: the sweep resumes the cancellations and refunds of every org
    select org_id, provider_id as subscription_id from subscriptions
    where ${isUnconfirmed} and (provider_retry_at is null or provider_retry_at <= now())
      and (cancel_wanted_at is not null or refund_wanted_at > now() - interval '30 days')`)

/** Subscriptions of an org whose cancellation or refund the provider has not confirmed, the oldest first. */
export const listUnconfirmed = (db: Db, orgId: string) =>
  db.rows<SubscriptionRow>(sql`
    select ${subscriptionColumns} from subscriptions where org_id = ${orgId} and ${isUnconfirmed}
    order by created_at, provider_id`)

/** Subscriptions that have not ended, the latest purchase first. */
export const listRunningSubscriptions = (db: Db, orgId: string) =>
  db.rows<SubscriptionRow>(sql`
    select ${subscriptionColumns} from subscriptions
    where org_id = ${orgId} and status not in ('canceled', 'incomplete_expired', 'unpaid')
    order by coalesce(bought_at, created_at) desc, created_at desc, provider_id`)

export const findNewestSubscription = (db: Db, orgId: string) =>
  db.row<SubscriptionRow>(sql`
    select ${subscriptionColumns} from subscriptions where org_id = ${orgId}
    order by (status in ('canceled', 'incomplete_expired', 'unpaid')), coalesce(bought_at, created_at) desc,
      created_at desc limit 1`)
