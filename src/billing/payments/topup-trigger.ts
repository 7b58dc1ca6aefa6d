import type { Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { AccountRow } from '../ledger/queries.ts'
import * as queries from './topup-queries.ts'

/** Charges the saved card for one row of `topups`. It can run any number of times: the provider charges the row once. */
export const runTopup = defineJob<{ orgId: string; topupId: string }>('billing.topup', {
  retryLimit: 12,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 300,
  timeoutSeconds: 120,
  fairBy: 'orgId',
})

/** Why no automatic top-up starts now. */
export type TopupBlocker = 'off' | 'no_payment_method' | 'balance_suffices' | 'backing_off' | 'monthly_cap'

/** Whether the customer may have a payment method. */
export const hasMethod = ({ customerId, isMethodMissing }: AccountRow): boolean =>
  customerId !== null && !isMethodMissing

export const topupBlockerOf = (
  account: AccountRow,
  chargedThisMonthCents: bigint,
  now: Date,
): TopupBlocker | undefined => {
  if (!account.autoTopupEnabled) return 'off'
  if (!hasMethod(account)) return 'no_payment_method'
  if (account.balanceCents >= account.autoTopupThresholdCents) return 'balance_suffices'
  if (account.autoTopupRetryAt !== null && Date.parse(account.autoTopupRetryAt) > now.getTime()) return 'backing_off'
  const cap = account.autoTopupMonthlyCapCents
  if (cap !== null && chargedThisMonthCents + account.autoTopupAmountCents > cap) return 'monthly_cap'
  return undefined
}

/** Starts a top-up of a locked account when its balance is below the threshold, one at a time. */
export const topUpIfLow = async (db: Transaction, jobs: Pick<Jobs, 'enqueue'>, account: AccountRow): Promise<void> => {
  const now = new Date()
  // Most accounts return here, before the first statement.
  if (topupBlockerOf({ ...account, autoTopupMonthlyCapCents: null }, 0n, now)) return
  const { orgId, autoTopupAmountCents } = account
  if (topupBlockerOf(account, await queries.findMonthTotal(db, orgId), now)) return
  const started = await queries.insertTopup(db, orgId, newId(), autoTopupAmountCents)
  if (started) await jobs.enqueue(db, runTopup, { orgId, topupId: started.id })
}
