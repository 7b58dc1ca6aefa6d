import type { Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { book, bookOnce, lockAccount } from '../ledger/ledger.ts'
import type { AccountRow } from '../ledger/queries.ts'
import * as queries from './queries.ts'
import type { Fact, PaymentRow } from './queries.ts'
import * as topupQueries from './topup-queries.ts'
import { watchBalance } from './topup-watch.ts'

/** Before any account: whoever tells of a payment, and whoever credits it, take turns. */
export const lockSubject = async (db: Transaction, subject: string): Promise<void> => {
  await queries.lockSubject(db, subject)
}

type Told = Omit<Fact, 'subject'>

const cents = (value: unknown): bigint => (typeof value === 'number' && value > 0 ? BigInt(Math.round(value)) : 0n)
const most = (values: bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b), 0n)
const sum = (values: bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

/**
 * What has gone back of a payment, by all that was told of it: single refunds, and what the charge said was refunded in
 * all. Either may come alone, late or again. A refund that failed did not go back.
 */
export const refundedOf = (facts: Told[], amountCents: bigint): bigint => {
  const refunds = facts.filter(({ kind }) => kind === 'refund')
  const sumOf = (some: Told[]): bigint => sum(some.map(({ data }) => cents(data['amount'])))
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
  facts: Told[],
): Promise<AccountRow> => {
  const { paymentIntentId, amountCents, refundedCents } = payment
  const refunded = refundedOf(facts, amountCents)
  if (refunded === refundedCents) return account
  await queries.setRefunded(db, payment, refunded)
  const back = refundedCents - refunded
  return back < 0n
    ? book(db, account, [{ type: 'refund', amountCents: back, paymentIntentId, notes: 'Refund' }])
    : book(db, account, [{ type: 'adjustment', amountCents: back, paymentIntentId, notes: 'A refund failed' }])
}

/**
 * What of a plan's credit goes back with its payment, refunded or disputed: in proportion, and never more than was
 * granted. All that was told decides, in whatever order it came.
 */
const takenBackOf = (facts: Told[], grantedCents: bigint, paidCents: bigint): bigint => {
  const lost = facts
    .filter(({ kind, data }) => kind === 'dispute' && data['won'] !== true)
    .map(({ data }) => (data['amount'] === undefined ? paidCents : cents(data['amount'])))
  const gone = refundedOf(facts, paidCents) + sum(lost)
  return gone < paidCents ? (grantedCents * gone) / paidCents : grantedCents
}

const applyToGrant = async (
  db: Transaction,
  account: AccountRow,
  payment: PaymentRow & { paidCents: bigint },
  facts: Told[],
): Promise<AccountRow> => {
  const { paymentIntentId, amountCents, refundedCents, paidCents } = payment
  const takenBack = takenBackOf(facts, amountCents, paidCents)
  if (takenBack === refundedCents) return account
  await queries.setRefunded(db, payment, takenBack)
  const back = refundedCents - takenBack
  return back < 0n
    ? book(db, account, [{ type: 'refund', amountCents: back, paymentIntentId, notes: "A plan's payment went back" }])
    : book(db, account, [
        { type: 'adjustment', amountCents: back, paymentIntentId, notes: "A plan's payment is back again" },
      ])
}

const applyDispute = async (
  db: Transaction,
  account: AccountRow,
  { paymentIntentId, amountCents }: PaymentRow,
  { id, data }: Told,
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
  const withdrawn = (await bookOnce(db, account, lost)) ?? account
  if (data['won'] !== true) return withdrawn
  const won = {
    type: 'adjustment',
    amountCents: amount,
    paymentIntentId,
    notes: 'A dispute was won',
    reference: `dispute-won:${id}`,
  } as const
  return (await bookOnce(db, withdrawn, won)) ?? withdrawn
}

/** Brings the ledger to what was told of a payment that is credited. Its subject and its account must be locked. */
const applyFacts = async (db: Transaction, account: AccountRow, payment: PaymentRow): Promise<AccountRow> => {
  const facts = await queries.listFacts(db, payment.paymentIntentId)
  const { paidCents } = payment
  if (paidCents !== null) return applyToGrant(db, account, { ...payment, paidCents }, facts)
  let current = await applyRefunds(db, account, payment, facts)
  for (const fact of facts) if (fact.kind === 'dispute') current = await applyDispute(db, current, payment, fact)
  for (const { kind, data } of facts) {
    if (kind !== 'method') continue
    const { customer, method } = data as { customer?: string; method?: string }
    if (customer === undefined) continue
    await topupQueries.setPaymentMethod(db, account.orgId, customer, method ?? null)
    current = { ...current, customerId: customer, isMethodMissing: false }
  }
  return current
}

export interface Credit {
  amountCents: bigint
  paymentIntentId: string
  notes: string | null
  isAutomatic: boolean
}

/**
 * Credits a payment to a locked account, once; its subject must be locked before. What was told of it before it came is
 * applied with it. Undefined when it was credited already.
 */
export const creditPayment = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
  { amountCents, paymentIntentId, notes, isAutomatic }: Credit,
): Promise<AccountRow | undefined> => {
  const reference = `payment:${paymentIntentId}`
  const booked = await bookOnce(db, account, { type: 'deposit', amountCents, paymentIntentId, notes, reference })
  if (!booked) return undefined
  const { orgId } = account
  const paid = { orgId, paymentIntentId, amountCents, paidCents: null }
  await queries.insertPayment(db, paid)
  // Somebody pays: whatever declined a card before is no reason to wait any longer.
  if (!isAutomatic) await topupQueries.clearBackOff(db, orgId)
  const applied = await applyFacts(db, booked, { ...paid, refundedCents: 0n })
  const rested = { ...applied, autoTopupRetryAt: null, autoTopupDeclines: 0 }
  if (!isAutomatic) await watchBalance(db, jobs, rested)
  return rested
}

/**
 * Notes which payment stands behind a credit that a plan granted, and takes back what went back of it before. Its
 * subject and its account must be locked.
 */
export const followGrant = async (
  db: Transaction,
  account: AccountRow,
  grant: { paymentIntentId: string; amountCents: bigint; paidCents: bigint },
): Promise<AccountRow> => {
  const payment = { ...grant, orgId: account.orgId }
  const isNew = await queries.insertPayment(db, payment)
  return isNew ? applyFacts(db, account, { ...payment, refundedCents: 0n }) : account
}

/** Brings the ledger to what is told of a payment by now. Nothing happens while it is not credited. */
export const reviewPayment = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  paymentIntentId: string,
): Promise<void> => {
  const known = await queries.findPayment(db, paymentIntentId)
  if (!known) return
  const account = await lockAccount(db, known.orgId)
  const payment = await queries.findPayment(db, paymentIntentId)
  if (!payment) return
  await watchBalance(db, jobs, await applyFacts(db, account, payment))
}
