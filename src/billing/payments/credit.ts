import type { Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { lockAccount, postEntries, postEntryOnce } from '../ledger/ledger.ts'
import type { AccountRow } from '../ledger/queries.ts'
import { storePayment } from '../receipts/receipts.ts'
import * as queries from './queries.ts'
import type { Fact, NewPayment, PaymentRow, StoredFact } from './queries.ts'
import * as topupQueries from './topup-queries.ts'
import { topUpIfLow } from './topup-trigger.ts'

type PaymentFact = Omit<Fact, 'subject'>

const cents = (value: unknown): bigint => (typeof value === 'number' && value > 0 ? BigInt(Math.round(value)) : 0n)
const most = (values: bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b), 0n)
const sum = (values: bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

/**
 * The refunded amount in cents: the larger of the sum of single refunds and the total that the charge reports. Either may
 * arrive alone, late or repeatedly. Failed refunds do not count.
 */
export const refundedOf = (facts: PaymentFact[], amountCents: bigint): bigint => {
  const refunds = facts.filter(({ kind }) => kind === 'refund')
  const sumOf = (some: PaymentFact[]): bigint => sum(some.map(({ data }) => cents(data['amount'])))
  const failed = sumOf(refunds.filter(({ data }) => data['failed'] === true))
  const single = sumOf(refunds.filter(({ data }) => data['failed'] !== true))
  const charged =
    most(facts.filter(({ kind }) => kind === 'charge').map(({ data }) => cents(data['refunded']))) - failed
  const refunded = most([single, charged])
  return refunded < amountCents ? refunded : amountCents
}

const applyRefunds = async (
  db: Transaction,
  account: AccountRow,
  payment: PaymentRow,
  facts: PaymentFact[],
): Promise<AccountRow> => {
  const { paymentIntentId, amountCents, refundedCents } = payment
  const refunded = refundedOf(facts, amountCents)
  if (refunded === refundedCents) return account
  await queries.setRefunded(db, payment, refunded)
  const back = refundedCents - refunded
  return back < 0n
    ? postEntries(db, account, [{ type: 'refund', amountCents: back, paymentIntentId, notes: 'Refund' }])
    : postEntries(db, account, [{ type: 'adjustment', amountCents: back, paymentIntentId, notes: 'Failed refund' }])
}

/**
 * How much of a plan's credit is withdrawn when its payment is refunded or disputed: in proportion to the payment, at most
 * what was granted. It depends on all facts, not on their order.
 */
const withdrawnOf = (facts: PaymentFact[], grantedCents: bigint, paidCents: bigint): bigint => {
  const disputed = facts
    .filter(({ kind, data }) => kind === 'dispute' && data['won'] !== true)
    .map(({ data }) => (data['amount'] === undefined ? paidCents : cents(data['amount'])))
  const returned = refundedOf(facts, paidCents) + sum(disputed)
  return returned < paidCents ? (grantedCents * returned) / paidCents : grantedCents
}

const applyToGrant = async (
  db: Transaction,
  account: AccountRow,
  payment: PaymentRow & { paidCents: bigint },
  facts: PaymentFact[],
): Promise<AccountRow> => {
  const { paymentIntentId, amountCents, refundedCents, paidCents } = payment
  const withdrawn = withdrawnOf(facts, amountCents, paidCents)
  if (withdrawn === refundedCents) return account
  await queries.setRefunded(db, payment, withdrawn)
  const back = refundedCents - withdrawn
  return back < 0n
    ? postEntries(db, account, [
        { type: 'refund', amountCents: back, paymentIntentId, notes: 'Payment of a plan returned' },
      ])
    : postEntries(db, account, [
        { type: 'adjustment', amountCents: back, paymentIntentId, notes: 'Payment of a plan restored' },
      ])
}

const applyDispute = async (
  db: Transaction,
  account: AccountRow,
  { paymentIntentId, amountCents }: PaymentRow,
  { id, data }: PaymentFact,
): Promise<AccountRow> => {
  const amount = data['amount'] === undefined ? amountCents : cents(data['amount'])
  if (amount === 0n) return account
  const lost = {
    type: 'refund',
    amountCents: -amount,
    paymentIntentId,
    notes: 'Dispute',
    reference: `dispute:${id}`,
  } as const
  const withdrawn = (await postEntryOnce(db, account, lost)) ?? account
  if (data['won'] !== true) return withdrawn
  const won = {
    type: 'adjustment',
    amountCents: amount,
    paymentIntentId,
    notes: 'Dispute won',
    reference: `dispute-won:${id}`,
  } as const
  return (await postEntryOnce(db, withdrawn, won)) ?? withdrawn
}

/** Saves the method that the payer allowed to charge again, unless the account has the method of a later payment. */
const saveMethod = async (
  db: Transaction,
  account: AccountRow,
  { paymentIntentId }: PaymentRow,
  { data, reportedAt }: StoredFact,
): Promise<AccountRow> => {
  const { customer, method } = data as { customer?: string; method?: string }
  if (customer === undefined) return account
  const saved = await topupQueries.setPaymentMethod(db, account.orgId, {
    customerId: customer,
    paymentMethodId: method ?? null,
    paymentId: paymentIntentId,
    paidAt: reportedAt,
  })
  return saved ? { ...account, customerId: customer, isMethodMissing: false } : account
}

/**
 * Posts what the facts of a credited payment require. The payment and its account must be locked. `hasNewMethod`: its
 * saved method was not applied before.
 */
const applyFacts = async (
  db: Transaction,
  account: AccountRow,
  payment: PaymentRow,
  hasNewMethod: boolean,
): Promise<AccountRow> => {
  const facts = await queries.listFacts(db, payment.paymentIntentId)
  const { paidCents } = payment
  if (paidCents !== null) return applyToGrant(db, account, { ...payment, paidCents }, facts)
  let current = await applyRefunds(db, account, payment, facts)
  for (const fact of facts) if (fact.kind === 'dispute') current = await applyDispute(db, current, payment, fact)
  if (!hasNewMethod) return current
  for (const fact of facts) if (fact.kind === 'method') current = await saveMethod(db, current, payment, fact)
  return current
}

export interface Credit {
  amountCents: bigint
  paymentIntentId: string
  notes: string | null
  isAutomatic: boolean
}

/**
 * Credits a payment to a locked account, once, and applies the facts that arrived before it. The payment must be locked
 * before the account. Undefined when it was credited before.
 */
export const creditPayment = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
  { amountCents, paymentIntentId, notes, isAutomatic }: Credit,
): Promise<AccountRow | undefined> => {
  const reference = `payment:${paymentIntentId}`
  const posted = await postEntryOnce(db, account, { type: 'deposit', amountCents, paymentIntentId, notes, reference })
  if (!posted) return undefined
  const { orgId } = account
  const paid = { orgId, paymentIntentId, amountCents, paidCents: null }
  await storePayment(db, { ...paid, planId: null, paidAt: null })
  // A person paid, so an earlier decline of the saved card no longer delays automatic top-up.
  if (!isAutomatic) await topupQueries.clearBackOff(db, orgId)
  const applied = await applyFacts(db, posted, { ...paid, refundedCents: 0n }, true)
  const ready = { ...applied, autoTopupRetryAt: null, autoTopupDeclines: 0 }
  if (!isAutomatic) await topUpIfLow(db, jobs, ready)
  return ready
}

/**
 * Stores the payment of a plan, links the credit that it granted, if any, and applies the facts that arrived before it. The payment and its
 * account must be locked.
 */
export const linkGrant = async (
  db: Transaction,
  account: AccountRow,
  grant: Omit<NewPayment, 'orgId' | 'buyer' | 'paidCents'> & { paidCents: bigint },
): Promise<AccountRow> => {
  const payment = { ...grant, orgId: account.orgId }
  const isNew = await storePayment(db, payment)
  return isNew ? applyFacts(db, account, { ...payment, refundedCents: 0n }, false) : account
}

/** Posts what new facts of a payment require. Does nothing until the payment is credited. */
export const reviewPayment = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  { paymentIntentId, hasNewMethod }: { paymentIntentId: string; hasNewMethod: boolean },
): Promise<void> => {
  const known = await queries.findPayment(db, paymentIntentId)
  if (!known) return
  const account = await lockAccount(db, known.orgId)
  const payment = await queries.findPayment(db, paymentIntentId)
  if (!payment) return
  await topUpIfLow(db, jobs, await applyFacts(db, account, payment, hasNewMethod))
}
