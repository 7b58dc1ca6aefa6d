import type { Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { AccountRow } from '../ledger/queries.ts'
import * as queries from './topup-queries.ts'

/** An account is to be filled up. The row says by how much; it is charged once however often this runs. */
export const runTopup = defineJob<{ orgId: string; topupId: string }>('billing.topup', {
  retryLimit: 12,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 300,
  timeoutSeconds: 120,
})

/** Why an account is not filled up by itself right now. */
export type Hindrance = 'off' | 'no_payment_method' | 'balance_suffices' | 'backing_off' | 'monthly_cap'

/** Whether there may be something to charge. */
export const hasMethod = ({ customerId, isMethodMissing }: AccountRow): boolean =>
  customerId !== null && !isMethodMissing

export const hindranceOf = (account: AccountRow, chargedThisMonthCents: bigint, now: Date): Hindrance | undefined => {
  if (!account.autoTopupEnabled) return 'off'
  if (!hasMethod(account)) return 'no_payment_method'
  if (account.balanceCents >= account.autoTopupThresholdCents) return 'balance_suffices'
  if (account.autoTopupRetryAt !== null && Date.parse(account.autoTopupRetryAt) > now.getTime()) return 'backing_off'
  const cap = account.autoTopupMonthlyCapCents
  if (cap !== null && chargedThisMonthCents + account.autoTopupAmountCents > cap) return 'monthly_cap'
  return undefined
}

/** Begins to fill up a locked account when its balance is below the threshold; one attempt at a time. */
export const watchBalance = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  account: AccountRow,
): Promise<void> => {
  const now = new Date()
  // Most accounts are done here, without a statement.
  if (hindranceOf({ ...account, autoTopupMonthlyCapCents: null }, 0n, now)) return
  const { orgId, autoTopupAmountCents } = account
  if (hindranceOf(account, await queries.findMonthTotal(db, orgId), now)) return
  const begun = await queries.insertTopup(db, orgId, newId(), autoTopupAmountCents)
  if (begun) await jobs.enqueue(db, runTopup, { orgId, topupId: begun.id })
}
