import type { Plan } from '../../config/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { notFound, serviceUnavailable } from '../../platform/http/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { recordEvent } from '../../outbox/record.ts'
import { billingAuthor } from '../ledger/balance-events.ts'
import { postEntryOnce, lockAccount } from '../ledger/ledger.ts'
import type { AccountRow } from '../ledger/ledger.ts'
import type { CheckoutUpdate } from './facts.ts'
import { cancelSubscription, findInvoicePayment } from './jobs.ts'
import { storeFact } from './merge-facts.ts'
import * as queries from './queries.ts'
import type { CheckoutRow, SubscriptionRow } from './queries.ts'
import { linkGrant } from './credit.ts'
import type { Payments } from './stripe.ts'
import { setCustomer } from './topup-queries.ts'
import { topUpIfLow } from './topup-trigger.ts'

interface SubscriptionData {
  status?: string
  cancelAtPeriodEnd?: boolean
  periodEnd?: string
  over?: boolean
}

interface PaidInvoice {
  paymentIntentId?: string
  paidCents?: number
}

type Facts = Awaited<ReturnType<typeof queries.listFacts>>

/** The facts of a subscription. Locks its payments, which must be locked before the account. */
const lockFacts = async (db: Transaction, providerId: string): Promise<Facts> => {
  const facts = await queries.listFacts(db, providerId)
  for (const { kind, data } of facts) {
    const { paymentIntentId } = data as PaidInvoice
    if (kind === 'invoice' && paymentIntentId !== undefined) await queries.lockSubject(db, paymentIntentId)
  }
  return facts
}

/** Also when an earlier job was given up. */
const lookUpPayment = (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  { orgId, providerId }: SubscriptionRow,
  invoiceId: string,
): Promise<unknown> =>
  jobs.enqueue(db, findInvoicePayment, { orgId, subscriptionId: providerId, invoiceId }, { singletonKey: invoiceId })

/**
 * Stores the payment of a plan that includes no credit, so that it has a receipt. Its time is that of Stripe's event,
 * because no ledger entry shows another one.
 */
const storeWithoutCredit = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
  { subscription, invoice }: { subscription: SubscriptionRow; invoice: Facts[number] },
): Promise<AccountRow> => {
  const { planId } = subscription
  const { id, data, reportedAt } = invoice
  const { paymentIntentId, paidCents } = data as PaidInvoice
  // Nothing says what was paid, and a receipt must not guess it.
  if (paidCents === undefined) return account
  if (paymentIntentId === undefined) {
    await lookUpPayment(db, jobs, subscription, id)
    return account
  }
  const payment = { paymentIntentId, amountCents: 0n, paidCents: BigInt(paidCents), planId, paidAt: reportedAt }
  return linkGrant(db, account, payment)
}

/** Grants the credit of a paid month, once, and links it to its payment. */
const grantCredit = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
  { subscription, invoice }: { subscription: SubscriptionRow; invoice: Facts[number] },
): Promise<AccountRow> => {
  const { planId, includedCreditCents } = subscription
  const { id, data } = invoice
  if (includedCreditCents === 0n) return storeWithoutCredit(db, jobs, account, { subscription, invoice })
  const { paymentIntentId, paidCents } = data as PaidInvoice
  const granted = await postEntryOnce(db, account, {
    type: 'adjustment',
    amountCents: includedCreditCents,
    notes: `Monthly credit of the plan ${planId}`,
    reference: `invoice:${id}`,
  })
  if (paymentIntentId === undefined) {
    await lookUpPayment(db, jobs, subscription, id)
    return granted ?? account
  }
  return linkGrant(db, granted ?? account, {
    paymentIntentId,
    amountCents: includedCreditCents,
    paidCents: paidCents === undefined ? includedCreditCents : BigInt(paidCents),
    planId,
    paidAt: null,
  })
}

const applyFacts = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  subscription: SubscriptionRow,
  facts: Facts,
): Promise<void> => {
  const { orgId, providerId } = subscription
  let account = await lockAccount(db, orgId)
  for (const fact of facts) {
    const { kind, data } = fact
    if (kind === 'invoice') account = await grantCredit(db, jobs, account, { subscription, invoice: fact })
    if (kind !== 'subscription') continue
    const { status = 'active', cancelAtPeriodEnd = false, periodEnd, over } = data as SubscriptionData
    // An ended subscription stays ended, even when another event of the same second calls it active.
    const update = { status: over ? 'canceled' : status, cancelAtPeriodEnd, currentPeriodEnd: periodEnd ?? null }
    await queries.updateSubscription(db, orgId, providerId, update)
  }
  await topUpIfLow(db, jobs, account)
}

/** Records what the facts have changed. `before` is undefined for a new subscription. */
const recordChange = async (
  db: Transaction,
  providerId: string,
  before: SubscriptionRow | undefined,
): Promise<void> => {
  const after = await queries.findSubscription(db, providerId)
  if (!after) return
  const isEqual =
    before !== undefined &&
    (['planId', 'status', 'cancelAtPeriodEnd', 'currentPeriodEnd'] as const).every((key) => before[key] === after[key])
  if (isEqual) return
  const { orgId, planId, status, cancelAtPeriodEnd, currentPeriodEnd } = after
  await recordEvent(db, billingAuthor(orgId), 'subscription.updated', {
    subjectId: orgId,
    workspaceId: null,
    data: { planId, status, cancelAtPeriodEnd, currentPeriodEnd },
  })
}

/** How long the event of a checkout may have waited for locks before its subscription could be seen. */
const linkToleranceMs = 3_600_000

/**
 * Cancels all subscriptions of the org but the latest purchase, which can be another one than the one that is linked: the
 * event of an older checkout may come late. The account must be locked, or two checkouts would not see each other. The rows
 * say what is to be canceled, so that the sweep repeats it until the provider confirms.
 *
 * When two pages for one plan were open and both are paid, the payment of the canceled one is refunded. A person who
 * ended a plan and buys it again, before its month is over, opens the page while the first one is linked, and keeps the
 * credit of both months.
 */
const cancelReplaced = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  { orgId, planId, createdAt }: CheckoutRow,
  { providerId, boughtAt }: { providerId: string; boughtAt: string },
): Promise<void> => {
  const others = (await queries.listRunningSubscriptions(db, orgId)).filter((one) => one.providerId !== providerId)
  const isLater = (one: SubscriptionRow): boolean => Date.parse(one.boughtAt) > Date.parse(boughtAt)
  const openedAt = Date.parse(createdAt) - linkToleranceMs
  const isDuplicate = (one: SubscriptionRow): boolean =>
    one.planId === planId && !one.cancelAtPeriodEnd && !one.isCancelWanted && Date.parse(one.createdAt) >= openedAt
  const replaced = others
    .filter((one) => !isLater(one))
    .map((one) => ({ subscriptionId: one.providerId, isPaidTwice: isDuplicate(one) }))
  const [later] = others.filter(isLater)
  if (later) replaced.push({ subscriptionId: providerId, isPaidTwice: later.planId === planId })
  for (const { subscriptionId, isPaidTwice } of replaced) {
    await queries.setReplaced(db, orgId, subscriptionId, isPaidTwice)
    await jobs.enqueue(db, cancelSubscription, { orgId, subscriptionId }, { singletonKey: subscriptionId })
  }
}

/** Stores the subscription of a paid checkout. Of several, the org keeps the latest purchase. */
export const linkSubscription = async (
  db: Transaction,
  { jobs, plans }: { jobs: Pick<Jobs, 'enqueue'>; plans: readonly Plan[] },
  checkout: CheckoutRow,
  update: CheckoutUpdate,
): Promise<void> => {
  const { orgId, planId } = checkout
  if (update.subscriptionId === undefined || planId === null) return
  const providerId = update.subscriptionId
  const facts = await lockFacts(db, providerId)
  if (update.customerId !== undefined) {
    await setCustomer(db, orgId, { customerId: update.customerId, paymentId: providerId, paidAt: update.at })
  }
  const includedCreditCents = plans.find(({ id }) => id === planId)?.includedCreditCents ?? 0
  const bought = { providerId, boughtAt: update.at }
  await lockAccount(db, orgId)
  const before = await queries.findSubscription(db, providerId)
  const subscription = await queries.insertSubscription(db, orgId, { ...bought, planId, includedCreditCents })
  if (!subscription) return
  await cancelReplaced(db, jobs, checkout, bought)
  await applyFacts(db, jobs, subscription, facts)
  await recordChange(db, providerId, before)
}

/** Applies the facts of a subscription. Does nothing until its checkout says which org it belongs to. */
export const reviewSubscription = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  providerId: string,
): Promise<void> => {
  const subscription = await queries.findSubscription(db, providerId)
  if (!subscription) return
  await applyFacts(db, jobs, subscription, await lockFacts(db, providerId))
  await recordChange(db, providerId, subscription)
}

/**
 * Cancels the org's plan at the end of the paid month. NOT_FOUND when it has none, SERVICE_UNAVAILABLE without a payment
 * provider.
 */
export const endSubscription = async (
  deps: { db: Database; jobs: Pick<Jobs, 'enqueue'>; payments: Payments | undefined },
  actor: Actor,
): Promise<{ planId: string; cancelAtPeriodEnd: true; currentPeriodEnd: string | null }> => {
  const { db, jobs, payments } = deps
  const running = (await queries.listRunningSubscriptions(db, actor.orgId)).find((one) => !one.isCancelWanted)
  if (!running) throw notFound('Subscription')
  if (!payments) throw serviceUnavailable('Payments are not configured on this server.')
  const { providerId, planId, currentPeriodEnd } = running
  const endedAt = await payments.endSubscription(providerId)
  // Ids of the provider are looked up in all orgs, as for its events.
  await db.transaction('all orgs', async (db) => {
    await queries.lockSubject(db, providerId)
    // Stored now, so that the response is correct before the provider's event arrives with the same content.
    const fact = {
      subject: providerId,
      kind: 'subscription',
      id: 'subscription',
      data: { cancelAtPeriodEnd: true },
    } as const
    await storeFact(db, fact, endedAt)
    await reviewSubscription(db, jobs, providerId)
    await audit(db, actor, 'billing.subscription-ended', { type: 'subscription', id: providerId, details: { planId } })
  })
  return { planId, cancelAtPeriodEnd: true, currentPeriodEnd }
}
