import type { Database, Transaction } from '../../platform/database/database.ts'
import type { JobContext, Jobs } from '../../platform/jobs/jobs.ts'
import { recordEvent } from '../../outbox/record.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { withLease } from '../../platform/database/lease.ts'
import type { Lease } from '../../platform/database/lease.ts'
import type { Log } from '../../platform/process/log.ts'
import { creditPayment } from './credit.ts'
import { lockSubject } from './queries.ts'
import { billingAuthor } from '../ledger/balance-events.ts'
import { lockAccount } from '../ledger/ledger.ts'
import type { ChargeOutcome, Payments } from './stripe.ts'
import * as queries from './topup-queries.ts'
import type { TopupRow } from './topup-queries.ts'
import { runTopup } from './topup-trigger.ts'

export interface TopupDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  log: Log
  payments: Payments | undefined
}

const hourSeconds = 3_600
const maxMessageLength = 500
/** A payment that is processing is looked up again after this, in case its event does not arrive. */
const recheckSeconds = 600
/** Stripe may forget an idempotency key after 24 hours, and would then charge again. */
const keyMs = 20 * hourSeconds * 1_000
/** How far the clocks of this machine, the database and the provider may differ. */
const clockToleranceMs = hourSeconds * 1_000

/** One hour after the first decline, twice as long after each further one, at most a day. */
const backOffSeconds = (declines: number): number => Math.min(24, 2 ** declines) * hourSeconds

/** Ends a top-up without a payment and starts the back-off. */
export const failTopup = async (
  db: Transaction,
  { orgId, id }: Pick<TopupRow, 'orgId' | 'id'>,
  end: { state: 'declined' | 'failed'; paymentIntentId: string | null; code: string; message: string },
): Promise<void> => {
  const account = await lockAccount(db, orgId)
  if (!(await queries.endTopup(db, orgId, id, end))) return
  await queries.backOff(db, orgId, backOffSeconds(account.autoTopupDeclines), account.autoTopupDeclines + 1)
  const topup = await queries.findTopup(db, orgId, id)
  if (!topup) return
  const { amountCents, failureCode, failureMessage } = topup
  await recordEvent(db, billingAuthor(orgId), 'balance.topup.failed', {
    subjectId: orgId,
    workspaceId: null,
    data: {
      topupId: id,
      amountCents: Number(amountCents),
      failureCode,
      failureMessage: failureMessage?.slice(0, maxMessageLength) ?? null,
    },
  })
}

/** Ends a top-up that no worker has attempted, because none has the provider's key. */
export const failUnattempted = (db: Database, topup: Pick<TopupRow, 'orgId' | 'id'>): Promise<void> => {
  const message = 'Payments are not configured on this server.'
  const end = { state: 'failed', paymentIntentId: null, code: 'no_provider', message } as const
  return db.transaction({ orgId: topup.orgId }, (db) => failTopup(db, topup, end))
}

/**
 * Credits each payment of a top-up once, whether the provider's response or its event arrives first. There is one payment
 * unless something went wrong, but whatever was paid is credited.
 */
export const completeTopup = async (
  db: Transaction,
  { jobs, log }: Pick<TopupDeps, 'jobs' | 'log'>,
  topup: Pick<TopupRow, 'orgId' | 'id' | 'amountCents'>,
  paymentIntentId: string,
): Promise<void> => {
  const { orgId, id, amountCents } = topup
  await lockSubject(db, paymentIntentId)
  const account = await lockAccount(db, orgId)
  const isFirst = await queries.endTopup(db, orgId, id, { state: 'succeeded', paymentIntentId })
  const credited = await creditPayment(db, jobs, account, {
    amountCents,
    paymentIntentId,
    notes: 'Automatic top-up',
    isAutomatic: true,
  })
  if (credited && !isFirst) log.error({ orgId, topupId: id, paymentIntentId }, 'an automatic top-up was paid twice')
  // The amount does not reach the threshold. Without a pause, top-ups would follow one another until the card is empty.
  if (credited && credited.balanceCents < credited.autoTopupThresholdCents) {
    await queries.backOff(db, orgId, hourSeconds, 0)
  }
}

/** The saved payment method, else one that the provider has for the customer. Undefined when there is none. */
const findTarget = async (
  { db, payments }: TopupDeps & { payments: Payments },
  topup: TopupRow,
  lease: Lease,
): Promise<queries.ChargeTarget | undefined> => {
  const { orgId, id, customerId, paymentMethodId } = topup
  if (customerId !== null && paymentMethodId !== null) return { customerId, paymentMethodId }
  const account = await db.transaction({ orgId }, (db) => lockAccount(db, orgId))
  if (account.customerId === null) return undefined
  const saved = account.paymentMethodId ?? (await payments.findMethodOfCustomer(account.customerId))
  if (saved === null) {
    await queries.setMethodMissing(db, orgId, account.customerId)
    return undefined
  }
  const target = { customerId: account.customerId, paymentMethodId: saved }
  await queries.setTarget(db, { orgId, id }, lease.held, target)
  return target
}

const applyOutcome = async (deps: TopupDeps, topup: TopupRow, outcome: ChargeOutcome): Promise<void> => {
  const { db, jobs } = deps
  if (outcome.state === 'declined') {
    await db.transaction(topup, (db) => failTopup(db, topup, outcome))
  } else if (outcome.state === 'succeeded') {
    await db.transaction(topup, (db) => completeTopup(db, deps, topup, outcome.paymentIntentId))
  } else {
    await db.transaction(topup, async (db) => {
      const { orgId, id } = topup
      await queries.setProcessing(db, orgId, id, outcome.paymentIntentId)
      const recheck = { startAfterSeconds: recheckSeconds, singletonKey: id }
      await jobs.enqueue(db, runTopup, { orgId, topupId: id }, recheck)
    })
  }
}

/**
 * The outcome of earlier attempts, when their idempotency key may be forgotten. Undefined when the provider has no payment
 * of the top-up, so that it can be charged.
 */
const findEarlier = async (
  payments: Payments,
  { id, createdAt, customerId }: TopupRow,
): Promise<ChargeOutcome[] | 'unknown' | undefined> => {
  const startedMs = Date.parse(createdAt)
  // The customer is stored before the first request.
  if (customerId === null || Date.now() - startedMs < keyMs) return undefined
  const since = new Date(startedMs - clockToleranceMs)
  const found = await payments.findChargesOf({ id, customerId, since })
  if (found === undefined) return 'unknown'
  const paid = found.filter(({ state }) => state === 'succeeded')
  if (paid.length > 0) return paid
  const pending = found.find(({ state }) => state === 'processing') ?? found[0]
  return pending && [pending]
}

const chargeTopup = async (deps: TopupDeps, topup: TopupRow, lease: Lease): Promise<void> => {
  const { db, payments } = deps
  const fail = (code: string, message: string): Promise<void> =>
    db.transaction(topup, (db) => failTopup(db, topup, { state: 'failed', paymentIntentId: null, code, message }))
  if (!payments) throw serviceUnavailable('Payments are not configured on this server.')
  if (topup.state === 'processing' && topup.paymentIntentId !== null) {
    return applyOutcome(deps, topup, await payments.findCharge(topup.paymentIntentId))
  }
  const earlier = await findEarlier(payments, topup)
  if (earlier === 'unknown') {
    return fail('outcome_unknown', 'It is unknown whether an earlier attempt charged the card, so it was not repeated.')
  }
  if (earlier) {
    for (const outcome of earlier) await applyOutcome(deps, topup, outcome)
    return undefined
  }
  const target = await findTarget({ ...deps, payments }, topup, lease)
  if (!target) return fail('no_payment_method', 'There is no saved payment method. A deposit by card saves one.')
  lease.check()
  const amountCents = Number(topup.amountCents)
  const outcome = await payments.charge({ id: topup.id, orgId: topup.orgId, amountCents, ...target })
  return applyOutcome(deps, topup, outcome)
}

/**
 * The job of one top-up. Throws when the job must be retried; the provider charges a top-up once, however often the job
 * asks. After the last attempt the top-up has failed.
 */
export const workOnTopup = async (
  deps: TopupDeps,
  { orgId, topupId }: { orgId: string; topupId: string },
  { isLastAttempt }: Pick<JobContext, 'isLastAttempt'>,
): Promise<void> => {
  const { db, log } = deps
  try {
    const done = await withLease<TopupRow, true>(
      db,
      queries.leasedTopup(orgId, topupId),
      queries.topupClaim,
      async (lease, topup) => {
        await chargeTopup(deps, topup, lease)
        return true
      },
    )
    if (done) return
    const topup = await queries.findTopup(db, orgId, topupId)
    if (topup && topup.endedAt === null) throw new Error('another worker has the lease of this top-up')
  } catch (error) {
    if (!isLastAttempt) throw error
    log.error({ err: error, orgId, topupId }, 'an automatic top-up failed after its last attempt')
    const message = 'The payment provider could not be reached.'
    const end = { state: 'failed', paymentIntentId: null, code: 'provider_unreachable', message } as const
    await db.transaction({ orgId }, (db) => failTopup(db, { orgId, id: topupId }, end))
  }
}
