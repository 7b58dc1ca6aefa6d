import type { Plan } from '../../config/billing.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { creditPayment, reviewPayment } from './credit.ts'
import { lockAccount } from '../ledger/ledger.ts'
import { factTimeOf, readCharge, readCheckout, readFacts } from './facts.ts'
import type { ChargeUpdate, CheckoutUpdate } from './facts.ts'
import * as queries from './queries.ts'
import type { CheckoutRow } from './queries.ts'
import { saveMethod } from './jobs.ts'
import { storeFact } from './merge-facts.ts'
import type { PaymentEvent } from './stripe.ts'
import { linkSubscription, reviewSubscription } from './subscriptions.ts'
import * as topupQueries from './topup-queries.ts'
import { completeTopup, failTopup } from './topups.ts'

export interface EventDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  log: Log
  plans: readonly Plan[]
}

/** Credits the amount and the org of the checkout, not those of the event. */
const payDeposit = async (
  db: Transaction,
  { jobs }: EventDeps,
  checkout: CheckoutRow,
  update: CheckoutUpdate,
): Promise<void> => {
  const { orgId, id, amountCents } = checkout
  const paymentIntentId = update.paymentIntentId ?? `checkout:${id}`
  const locked = await lockAccount(db, orgId)
  const { at: paidAt } = update
  const customerId = update.customerId ?? locked.customerId
  const method = { customerId, paymentMethodId: null, paymentId: paymentIntentId, paidAt }
  const isLatest = await topupQueries.setPaymentMethod(db, orgId, method)
  const account = isLatest ? { ...locked, customerId, isMethodMissing: false } : locked
  await creditPayment(db, jobs, account, { amountCents, paymentIntentId, notes: null, isAutomatic: false })
  if (update.paymentIntentId !== undefined) await jobs.enqueue(db, saveMethod, { orgId, paymentIntentId, paidAt })
}

const applyCheckout = async (db: Transaction, deps: EventDeps, update: CheckoutUpdate): Promise<void> => {
  if (update.paymentIntentId !== undefined) await queries.lockSubject(db, update.paymentIntentId)
  if (update.subscriptionId !== undefined) await queries.lockSubject(db, update.subscriptionId)
  const checkout = await queries.lockCheckout(db, update.sessionId)
  if (!checkout) {
    deps.log.info({ sessionId: update.sessionId }, 'an event names a checkout session that was not opened here')
    return
  }
  // A paid checkout stays paid: refunds have events of their own.
  if (update.state === 'open' || checkout.state === 'paid' || checkout.state === update.state) return
  await queries.endCheckout(db, checkout, update.state)
  if (update.state !== 'paid') return
  if (checkout.kind === 'deposit') await payDeposit(db, deps, checkout, update)
  else await linkSubscription(db, deps, checkout, update)
}

const applyCharge = async (db: Transaction, deps: EventDeps, update: ChargeUpdate): Promise<void> => {
  const { paymentIntentId, topupId } = update
  await queries.lockSubject(db, paymentIntentId)
  const ownId = topupId !== undefined && isUuid(topupId) ? topupId : null
  const topup = await topupQueries.findTopupOfPayment(db, paymentIntentId, ownId)
  if (!topup) return
  if (update.state === 'succeeded') await completeTopup(db, deps, topup, paymentIntentId)
  else await failTopup(db, topup, { state: 'declined', paymentIntentId, code: update.code, message: update.message })
}

/**
 * Applies an event of the payment provider, once: claim and effect are one transaction. Events may arrive repeatedly,
 * concurrently and in any order. Facts about unknown payments are stored and applied when the payment is credited.
 */
export const applyEvent = (deps: EventDeps, event: PaymentEvent): Promise<void> =>
  deps.db.transaction('all orgs', async (db) => {
    if (!(await queries.claimEvent(db, event.id, event.type))) return
    const subjects = new Set<string>()
    const facts = readFacts(event)
    for (const fact of facts) {
      await queries.lockSubject(db, fact.subject)
      await storeFact(db, fact, factTimeOf(event, fact))
      subjects.add(fact.subject)
    }
    const checkout = readCheckout(event)
    if (checkout) await applyCheckout(db, deps, checkout)
    const charge = readCharge(event)
    if (charge) await applyCharge(db, deps, charge)
    for (const subject of subjects) {
      const hasNewMethod = facts.some(({ kind }) => kind === 'method')
      await reviewPayment(db, deps.jobs, { paymentIntentId: subject, hasNewMethod })
      await reviewSubscription(db, deps.jobs, subject)
    }
  })
