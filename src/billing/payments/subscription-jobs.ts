import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import type { JobContext, Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { lockAccount } from '../ledger/ledger.ts'
import { reviewPayment } from './credit.ts'
import { startsPeriod } from './facts.ts'
import { storeFact } from './merge-facts.ts'
import * as queries from './queries.ts'
import type { SubscriptionRow } from './queries.ts'
import type { Payments } from './stripe.ts'
import type { RefundedInvoice } from './stripe-refunds.ts'
import { reviewSubscription } from './subscriptions.ts'

export interface SubscriptionJobDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  log: Log
  payments: Payments | undefined
}

interface ReplacedSubscription {
  orgId: string
  subscriptionId: string
}

/** Another worker may have the key. */
const requirePayments = (payments: Payments | undefined): Payments => {
  if (!payments) throw serviceUnavailable('Payments are not configured on this server.')
  return payments
}

const cancel = async (
  { db, jobs, payments }: Pick<SubscriptionJobDeps, 'db' | 'jobs'> & { payments: Payments },
  { orgId, subscriptionId }: ReplacedSubscription,
): Promise<void> => {
  const canceledAt = await payments.cancelSubscription(subscriptionId)
  await db.transaction('all orgs', async (db) => {
    await queries.lockSubject(db, subscriptionId)
    if (canceledAt !== null) {
      const data = { status: 'canceled', over: true }
      const fact = { subject: subscriptionId, kind: 'subscription', id: 'subscription', data } as const
      await storeFact(db, fact, canceledAt)
      await reviewSubscription(db, jobs, subscriptionId)
    }
    await queries.setCancelConfirmed(db, orgId, subscriptionId)
  })
}

/** Stores what the events about a refunded invoice will report, so that its credit is withdrawn now. */
const storeRefunds = async (
  db: Transaction,
  subscriptionId: string,
  { id, reason, paidCents, payment, refunds }: RefundedInvoice,
): Promise<void> => {
  if (!payment) return
  const { paymentIntentId, paidAt } = payment
  if (startsPeriod(reason)) {
    const data = { paymentIntentId, paidCents }
    await storeFact(db, { subject: subscriptionId, kind: 'invoice', id, data }, paidAt)
  }
  for (const { id: refundId, amountCents: amount, at, isFailed } of refunds) {
    const data = { amount, ...(isFailed && { failed: true }) }
    await storeFact(db, { subject: paymentIntentId, kind: 'refund', id: refundId, data }, at)
  }
}

/** Writes the confirmed refunds to the audit log. What could not be refunded is logged for the operator. */
const reportRefunds = async (
  db: Transaction,
  log: Log,
  { orgId, providerId, planId }: SubscriptionRow,
  invoices: RefundedInvoice[],
): Promise<void> => {
  for (const { id, paidCents, payment, refunds } of invoices) {
    const amountCents = refunds.reduce((sum, one) => sum + (one.isFailed ? 0 : one.amountCents), 0)
    if (amountCents < paidCents) {
      const about = { orgId, subscriptionId: providerId, invoiceId: id, paidCents, refundedCents: amountCents }
      log.error(about, 'a plan was paid twice and the second payment could not be refunded completely')
    }
    if (amountCents === 0 || !payment) continue
    await audit(db, systemActor(orgId, 'Billing'), 'billing.payment-refunded', {
      type: 'subscription',
      id: providerId,
      details: { planId, paymentIntentId: payment.paymentIntentId, amountCents },
    })
  }
}

/** Refunds a subscription whose plan was paid twice. Its credit is withdrawn with the refund. */
const refund = async (
  { db, jobs, log, payments }: Pick<SubscriptionJobDeps, 'db' | 'jobs' | 'log'> & { payments: Payments },
  subscription: SubscriptionRow,
): Promise<void> => {
  const { orgId, providerId } = subscription
  const invoices = await payments.refundSubscription(providerId)
  const paymentIds = invoices.flatMap(({ payment }) => (payment ? [payment.paymentIntentId] : []))
  await db.transaction('all orgs', async (db) => {
    await queries.lockSubject(db, providerId)
    for (const id of paymentIds) await queries.lockSubject(db, id)
    await lockAccount(db, orgId)
    if (!(await queries.setRefundConfirmed(db, orgId, providerId))) return
    for (const invoice of invoices) await storeRefunds(db, providerId, invoice)
    await reviewSubscription(db, jobs, providerId)
    for (const paymentIntentId of paymentIds) await reviewPayment(db, jobs, { paymentIntentId, hasNewMethod: false })
    await reportRefunds(db, log, subscription, invoices)
  })
}

const daySeconds = 86_400
const minRetrySeconds = 600
/** A person must act when the provider has rejected a cancellation or refund for so long. */
const patienceSeconds = 3 * daySeconds

/**
 * After the last attempt of a job: the next one starts after as long as there was none that succeeded, from ten minutes
 * to a day.
 */
const postpone = async (
  { db, log }: Pick<SubscriptionJobDeps, 'db' | 'log'>,
  { orgId, subscriptionId }: ReplacedSubscription,
  error: unknown,
): Promise<void> => {
  const subscription = await queries.findSubscription(db, subscriptionId)
  const { planId, wantedAt, isCancelWanted } = subscription ?? { wantedAt: null }
  if (wantedAt === null) return
  const waitedSeconds = Math.round((Date.now() - Date.parse(wantedAt)) / 1_000)
  const retrySeconds = Math.min(Math.max(waitedSeconds, minRetrySeconds), daySeconds)
  const about = { err: error, orgId, subscriptionId, wantedAt, retrySeconds }
  log.error(about, 'a replaced subscription could not be canceled or refunded and is tried again')
  await db.transaction({ orgId }, async (db) => {
    await queries.postponeReplaced(db, orgId, subscriptionId, retrySeconds)
    if (waitedSeconds < patienceSeconds || !(await queries.setProviderFailed(db, orgId, subscriptionId))) return
    const action = isCancelWanted ? 'billing.cancellation-failed' : 'billing.refund-failed'
    const details = { planId, since: wantedAt }
    await audit(db, systemActor(orgId, 'Billing'), action, { type: 'subscription', id: subscriptionId, details })
  })
}

const workOnReplaced = async (
  deps: SubscriptionJobDeps & { payments: Payments },
  replaced: ReplacedSubscription,
): Promise<void> => {
  const subscription = await queries.findSubscription(deps.db, replaced.subscriptionId)
  const isCancelConfirmed = subscription?.isCancelWanted === false && subscription.isRefundWanted
  if (!isCancelConfirmed) await cancel(deps, replaced)
  if (subscription?.isRefundWanted) await refund(deps, subscription)
}

/**
 * Cancels the subscription of a replaced plan and stores that it has ended; after that, refunds it when the plan was paid
 * twice. Throws when the job must be tried again. After its last attempt, the sweep starts another job later.
 */
export const workOnReplacedSubscription = async (
  deps: SubscriptionJobDeps,
  replaced: ReplacedSubscription,
  { isLastAttempt }: Pick<JobContext, 'isLastAttempt'>,
): Promise<void> => {
  const payments = requirePayments(deps.payments)
  try {
    await workOnReplaced({ ...deps, payments }, replaced)
  } catch (error) {
    if (!isLastAttempt) throw error
    await postpone(deps, replaced, error)
  }
}

/** Asks the provider for the payment of an invoice, so that refunds of it withdraw the plan's credit. */
export const workOnInvoicePayment = async (
  { db, jobs, ...deps }: Omit<SubscriptionJobDeps, 'log'>,
  { subscriptionId, invoiceId }: { subscriptionId: string; invoiceId: string },
): Promise<void> => {
  const found = await requirePayments(deps.payments).findPaymentOfInvoice(invoiceId)
  // Paid from the customer's balance or out of band: no refund event will name a payment.
  if (!found) return
  const { paymentIntentId, paidAt } = found
  await db.transaction('all orgs', async (db) => {
    await queries.lockSubject(db, subscriptionId)
    const fact = { subject: subscriptionId, kind: 'invoice', id: invoiceId, data: { paymentIntentId } } as const
    await storeFact(db, fact, paidAt)
    await reviewSubscription(db, jobs, subscriptionId)
  })
}
