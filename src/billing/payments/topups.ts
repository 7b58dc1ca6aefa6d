import type { Database, Transaction } from '../../platform/database/database.ts'
import type { JobContext, Jobs } from '../../platform/jobs/jobs.ts'
import { withLease } from '../../platform/database/lease.ts'
import type { Lease } from '../../platform/database/lease.ts'
import type { Log } from '../../platform/process/log.ts'
import { creditPayment, lockSubject } from './credit.ts'
import { lockAccount } from '../ledger/ledger.ts'
import type { ChargeOutcome, Payments } from './stripe.ts'
import * as queries from './topup-queries.ts'
import type { TopupRow } from './topup-queries.ts'
import { runTopup } from './topup-watch.ts'

export interface TopupDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  log: Log
  payments: Payments | undefined
}

const hourSeconds = 3_600
/** A payment that the provider has not decided on is asked about again after this, should its event not come. */
const recheckSeconds = 600

/** An hour after the first decline, twice as long after each further one, a day at most. */
const backOffSeconds = (declines: number): number => Math.min(24, 2 ** declines) * hourSeconds

/** The attempt came to its end without a payment: nothing more is tried for a while. */
export const failTopup = async (
  db: Transaction,
  { orgId, id }: Pick<TopupRow, 'orgId' | 'id'>,
  end: { state: 'declined' | 'failed'; paymentIntentId: string | null; code: string; message: string },
): Promise<void> => {
  const account = await lockAccount(db, orgId)
  if (!(await queries.endTopup(db, orgId, id, end))) return
  await queries.backOff(db, orgId, backOffSeconds(account.autoTopupDeclines), account.autoTopupDeclines + 1)
}

/** The attempt was paid: credits it, once, whoever tells of it first, the provider's answer or its event. */
export const completeTopup = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  topup: Pick<TopupRow, 'orgId' | 'id' | 'amountCents'>,
  paymentIntentId: string,
): Promise<void> => {
  const { orgId, id, amountCents } = topup
  await lockSubject(db, paymentIntentId)
  const account = await lockAccount(db, orgId)
  if (!(await queries.endTopup(db, orgId, id, { state: 'succeeded', paymentIntentId }))) return
  const credited = await creditPayment(db, jobs, account, {
    amountCents,
    paymentIntentId,
    notes: 'Automatic top-up',
    isAutomatic: true,
  })
  // Too small an amount to get above the threshold: the next one waits, so that no balance can empty a card at once.
  if (credited && credited.balanceCents < credited.autoTopupThresholdCents) {
    await queries.backOff(db, orgId, hourSeconds, 0)
  }
}

/** What to charge: what was saved, else what the customer has. Undefined when there is nothing. */
const findTarget = async (
  { db, payments }: TopupDeps & { payments: Payments },
  topup: TopupRow,
  lease: Lease,
): Promise<{ customerId: string; paymentMethodId: string } | undefined> => {
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
  await queries.setTarget(db, orgId, id, lease.held, target)
  return target
}

const settleOutcome = async (deps: TopupDeps, topup: TopupRow, outcome: ChargeOutcome): Promise<void> => {
  const { db, jobs } = deps
  if (outcome.state === 'declined') {
    await db.transaction(topup, (db) => failTopup(db, topup, outcome))
  } else if (outcome.state === 'succeeded') {
    await db.transaction(topup, (db) => completeTopup(db, jobs, topup, outcome.paymentIntentId))
  } else {
    await db.transaction(topup, async (db) => {
      const { orgId, id } = topup
      await queries.setProcessing(db, orgId, id, outcome.paymentIntentId)
      await jobs.enqueue(db, runTopup, { orgId, topupId: id }, { startAfterSeconds: recheckSeconds })
    })
  }
}

const chargeTopup = async (deps: TopupDeps, topup: TopupRow, lease: Lease): Promise<void> => {
  const { db, payments } = deps
  const give = (code: string, message: string): Promise<void> =>
    db.transaction(topup, (db) => failTopup(db, topup, { state: 'failed', paymentIntentId: null, code, message }))
  if (!payments) return give('no_provider', 'Payments are not configured on this server.')
  if (topup.state === 'processing' && topup.paymentIntentId !== null) {
    return settleOutcome(deps, topup, await payments.findCharge(topup.paymentIntentId))
  }
  const target = await findTarget({ ...deps, payments }, topup, lease)
  if (!target) return give('no_payment_method', 'There is no saved payment method. A deposit by card saves one.')
  lease.check()
  const amountCents = Number(topup.amountCents)
  const outcome = await payments.charge({ id: topup.id, orgId: topup.orgId, amountCents, ...target })
  return settleOutcome(deps, topup, outcome)
}

/** The job of one attempt. Rejects when it is to be tried again: the same attempt, which the provider charges once. */
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
    if (topup && topup.endedAt === null) throw new Error('another worker has this top-up')
  } catch (error) {
    if (!isLastAttempt) throw error
    log.error({ err: error, orgId, topupId }, 'an automatic top-up was given up')
    const message = 'The payment provider could not be reached.'
    const end = { state: 'failed', paymentIntentId: null, code: 'provider_unreachable', message } as const
    await db.transaction({ orgId }, (db) => failTopup(db, { orgId, id: topupId }, end))
  }
}
