import type { Plan } from '../config-billing.ts'
import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit.ts'
import type { Database, Transaction } from '../platform/database.ts'
import { notFound, serviceUnavailable } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { bookOnce, lockAccount } from './ledger.ts'
import type { CheckoutNews } from './payment-facts.ts'
import { cancelSubscription } from './payment-jobs.ts'
import * as queries from './payment-queries.ts'
import type { CheckoutRow, SubscriptionRow } from './payment-queries.ts'
import { lockSubject } from './credit.ts'
import type { Payments } from './stripe.ts'
import { setPaymentMethod } from './topup-queries.ts'
import { watchBalance } from './topup-watch.ts'

interface Told {
  status?: string
  cancelAtPeriodEnd?: boolean
  periodEnd?: string
  over?: boolean
}

const applyFacts = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  subscription: SubscriptionRow,
): Promise<void> => {
  const { orgId, providerId, planId, includedCreditCents } = subscription
  let account = await lockAccount(db, orgId)
  for (const { kind, id, data } of await queries.listFacts(db, providerId)) {
    if (kind === 'invoice' && includedCreditCents > 0n) {
      const notes = `Monthly credit of the plan ${planId}`
      const reference = `invoice:${id}`
      const entry = { type: 'adjustment', amountCents: includedCreditCents, notes, reference } as const
      account = (await bookOnce(db, account, entry)) ?? account
    }
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
  if (news.customerId !== undefined) await setPaymentMethod(db, orgId, news.customerId, null)
  const includedCreditCents = plans.find(({ id }) => id === planId)?.includedCreditCents ?? 0
  const providerId = news.subscriptionId
  for (const other of await queries.listRunningSubscriptions(db, orgId)) {
    if (other.providerId !== providerId) {
      await jobs.enqueue(db, cancelSubscription, { orgId, subscriptionId: other.providerId })
    }
  }
  const subscription = await queries.insertSubscription(db, orgId, { providerId, planId, includedCreditCents })
  if (subscription) await applyFacts(db, jobs, subscription)
}

/** Brings a subscription to what is told of it by now. Nothing happens while we do not know whose it is. */
export const reviewSubscription = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  providerId: string,
): Promise<void> => {
  const subscription = await queries.findSubscription(db, providerId)
  if (subscription) await applyFacts(db, jobs, subscription)
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
  await db.transaction(async (db) => {
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
