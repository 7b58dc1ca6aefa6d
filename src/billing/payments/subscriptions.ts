import type { Plan } from '../../config/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { notFound, serviceUnavailable } from '../../platform/http/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { bookOnce, lockAccount } from '../ledger/ledger.ts'
import type { AccountRow } from '../ledger/ledger.ts'
import type { CheckoutNews } from './facts.ts'
import { cancelSubscription, findInvoicePayment } from './jobs.ts'
import * as queries from './queries.ts'
import type { CheckoutRow, SubscriptionRow } from './queries.ts'
import { followGrant, lockSubject } from './credit.ts'
import type { Payments } from './stripe.ts'
import { setPaymentMethod } from './topup-queries.ts'
import { watchBalance } from './topup-watch.ts'

interface Told {
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

/** What is told of a subscription, its payments locked: that comes before any account. */
const lockFacts = async (db: Transaction, providerId: string): Promise<Facts> => {
  const facts = await queries.listFacts(db, providerId)
  for (const { kind, data } of facts) {
    const { paymentIntentId } = data as PaidInvoice
    if (kind === 'invoice' && paymentIntentId !== undefined) await lockSubject(db, paymentIntentId)
  }
  return facts
}

/** The credit of a month that is paid, once. What goes back of its payment takes it back. */
const grant = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
  { orgId, providerId, planId, includedCreditCents }: SubscriptionRow,
  { id, data }: Facts[number],
): Promise<AccountRow> => {
  if (includedCreditCents === 0n) return account
  const { paymentIntentId, paidCents } = data as PaidInvoice
  const granted = await bookOnce(db, account, {
    type: 'adjustment',
    amountCents: includedCreditCents,
    notes: `Monthly credit of the plan ${planId}`,
    reference: `invoice:${id}`,
  })
  if (paymentIntentId === undefined) {
    if (granted) await jobs.enqueue(db, findInvoicePayment, { orgId, subscriptionId: providerId, invoiceId: id })
    return granted ?? account
  }
  return followGrant(db, granted ?? account, {
    paymentIntentId,
    amountCents: includedCreditCents,
    paidCents: paidCents === undefined ? includedCreditCents : BigInt(paidCents),
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
    if (kind === 'invoice') account = await grant(db, jobs, account, subscription, fact)
    if (kind !== 'subscription') continue
    const { status = 'active', cancelAtPeriodEnd = false, periodEnd, over } = data as Told
    // What is over does not begin again, whatever was said at the same moment.
    const told = { status: over ? 'canceled' : status, cancelAtPeriodEnd, currentPeriodEnd: periodEnd ?? null }
    await queries.updateSubscription(db, orgId, providerId, told)
  }
  await watchBalance(db, jobs, account)
}

/** The page of a plan was paid: the subscription is the org's, and takes the place of another one that runs. */
export const linkSubscription = async (
  db: Transaction,
  { jobs, plans }: { jobs: Pick<Jobs, 'enqueue'>; plans: readonly Plan[] },
  checkout: CheckoutRow,
  news: CheckoutNews,
): Promise<void> => {
  const { orgId, planId } = checkout
  if (news.subscriptionId === undefined || planId === null) return
  const providerId = news.subscriptionId
  const facts = await lockFacts(db, providerId)
  if (news.customerId !== undefined) await setPaymentMethod(db, orgId, news.customerId, null)
  const includedCreditCents = plans.find(({ id }) => id === planId)?.includedCreditCents ?? 0
  for (const other of await queries.listRunningSubscriptions(db, orgId)) {
    if (other.providerId !== providerId) {
      await jobs.enqueue(db, cancelSubscription, { orgId, subscriptionId: other.providerId })
    }
  }
  const subscription = await queries.insertSubscription(db, orgId, { providerId, planId, includedCreditCents })
  if (subscription) await applyFacts(db, jobs, subscription, facts)
}

/** Brings a subscription to what is told of it by now. Nothing happens while we do not know whose it is. */
export const reviewSubscription = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  providerId: string,
): Promise<void> => {
  const subscription = await queries.findSubscription(db, providerId)
  if (subscription) await applyFacts(db, jobs, subscription, await lockFacts(db, providerId))
}

/** Asks the provider by which payment an invoice was paid, so that what goes back of it finds the plan's credit. */
export const workOnInvoicePayment = async (
  { db, jobs, payments }: { db: Database; jobs: Pick<Jobs, 'enqueue'>; payments: Payments | undefined },
  { subscriptionId, invoiceId }: { subscriptionId: string; invoiceId: string },
): Promise<void> => {
  const paymentIntentId = await payments?.findPaymentOfInvoice(invoiceId)
  // Paid with money that was there, or by hand: nothing can go back that we would hear of.
  if (!paymentIntentId) return
  await db.transaction('all orgs', async (db) => {
    await lockSubject(db, subscriptionId)
    const fact = { subject: subscriptionId, kind: 'invoice', id: invoiceId, data: { paymentIntentId } } as const
    await queries.upsertFact(db, fact, new Date().toISOString())
    await reviewSubscription(db, jobs, subscriptionId)
  })
}

/**
 * Lets the org's plan end with the month that is paid. NOT_FOUND when it has none, SERVICE_UNAVAILABLE without a payment
 * provider.
 */
export const endSubscription = async (
  deps: { db: Database; jobs: Pick<Jobs, 'enqueue'>; payments: Payments | undefined },
  actor: Actor,
): Promise<{ planId: string; cancelAtPeriodEnd: true; currentPeriodEnd: string | null }> => {
  const { db, jobs, payments } = deps
  const [running] = await queries.listRunningSubscriptions(db, actor.orgId)
  if (!running) throw notFound('Subscription')
  if (!payments) throw serviceUnavailable('Payments are not configured on this server.')
  const { providerId, planId, currentPeriodEnd } = running
  await payments.endSubscription(providerId)
  // The provider's ids are looked up in all orgs, as for its events.
  await db.transaction('all orgs', async (db) => {
    await lockSubject(db, providerId)
    // As if the provider had told it already: its event will say the same.
    const fact = {
      subject: providerId,
      kind: 'subscription',
      id: 'subscription',
      data: { cancelAtPeriodEnd: true },
    } as const
    await queries.upsertFact(db, fact, new Date().toISOString())
    await reviewSubscription(db, jobs, providerId)
    await audit(db, actor, 'billing.subscription-ended', { type: 'subscription', id: providerId }, { planId })
  })
  return { planId, cancelAtPeriodEnd: true, currentPeriodEnd }
}
