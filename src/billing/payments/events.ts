import type { Plan } from '../../config/billing.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { creditPayment, lockSubject, reviewPayment } from './credit.ts'
import { lockAccount } from '../ledger/ledger.ts'
import { readCharge, readCheckout, readFacts } from './facts.ts'
import type { ChargeNews, CheckoutNews } from './facts.ts'
import * as queries from './queries.ts'
import type { CheckoutRow } from './queries.ts'
import { saveMethod } from './jobs.ts'
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

/** Credits what a page was opened for: that amount, to that org, whatever else the event says. */
const payDeposit = async (
  db: Transaction,
  { jobs }: EventDeps,
  checkout: CheckoutRow,
  news: CheckoutNews,
): Promise<void> => {
  const { orgId, id, amountCents } = checkout
  const paymentIntentId = news.paymentIntentId ?? `checkout:${id}`
  const locked = await lockAccount(db, orgId)
  const customerId = news.customerId ?? locked.customerId
  await topupQueries.setPaymentMethod(db, orgId, customerId, null)
  const account = { ...locked, customerId, isMethodMissing: false }
  await creditPayment(db, jobs, account, { amountCents, paymentIntentId, notes: null, isAutomatic: false })
  if (news.paymentIntentId !== undefined) await jobs.enqueue(db, saveMethod, { orgId, paymentIntentId })
}

const applyCheckout = async (db: Transaction, deps: EventDeps, news: CheckoutNews): Promise<void> => {
  if (news.paymentIntentId !== undefined) await lockSubject(db, news.paymentIntentId)
  if (news.subscriptionId !== undefined) await lockSubject(db, news.subscriptionId)
  const checkout = await queries.lockCheckout(db, news.sessionId)
  if (!checkout) {
    deps.log.info({ sessionId: news.sessionId }, 'an event tells of a checkout that was not opened here')
    return
  }
  // What is paid stays paid: refunds have events of their own.
  if (news.state === 'open' || checkout.state === 'paid' || checkout.state === news.state) return
  await queries.endCheckout(db, checkout, news.state)
  if (news.state !== 'paid') return
  if (checkout.kind === 'deposit') await payDeposit(db, deps, checkout, news)
  else await linkSubscription(db, deps, checkout, news)
}

const applyCharge = async (db: Transaction, { jobs }: EventDeps, news: ChargeNews): Promise<void> => {
  const { paymentIntentId, topupId } = news
  await lockSubject(db, paymentIntentId)
  const ours = topupId !== undefined && isUuid(topupId) ? topupId : null
  const topup = await topupQueries.findTopupOfPayment(db, paymentIntentId, ours)
  if (!topup) return
  if (news.state === 'succeeded') await completeTopup(db, jobs, topup, paymentIntentId)
  else await failTopup(db, topup, { state: 'declined', paymentIntentId, code: news.code, message: news.message })
}

/**
 * Applies an event of the payment provider, once: claim and effect are one transaction. Events may come repeated, at the
 * same time and in any order; what is told of something that we do not know yet is kept until we do.
 */
export const applyEvent = (deps: EventDeps, event: PaymentEvent): Promise<void> =>
  deps.db.transaction('all orgs', async (db) => {
    if (!(await queries.claimEvent(db, event.id, event.type))) return
    const subjects = new Set<string>()
    for (const fact of readFacts(event)) {
      await lockSubject(db, fact.subject)
      await queries.upsertFact(db, fact, event.at)
      subjects.add(fact.subject)
    }
    const checkout = readCheckout(event)
    if (checkout) await applyCheckout(db, deps, checkout)
    const charge = readCharge(event)
    if (charge) await applyCharge(db, deps, charge)
    for (const subject of subjects) {
      await reviewPayment(db, deps.jobs, subject)
      await reviewSubscription(db, deps.jobs, subject)
    }
  })
