import type { BillingConfig } from '../config/billing.ts'
import type { Actor } from '../identity/actor.ts'
import { may } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest } from '../platform/http/errors.ts'
import * as queries from './account-queries.ts'
import type { AccountPatch } from './account-queries.ts'
import { recordBalance } from './ledger/balance-events.ts'
import { capState } from './ledger/caps.ts'
import { mayDepositDirectly } from './payments/deposits.ts'
import { findReservedTotal } from './ledger/reservation-queries.ts'
import { getAccount, lockAccount, readPosted } from './ledger/ledger.ts'
import type { LedgerDeps } from './ledger/ledger.ts'
import { listTransactions } from './ledger/queries.ts'
import type { AccountRow, TransactionRow } from './ledger/queries.ts'
import { wholeCents } from './ledger/money.ts'
import { findNewestSubscription, listUnconfirmed } from './payments/queries.ts'
import { planNames } from './plan-names.ts'
import { spanOf } from './periods.ts'
import { getDetails, receiptIdOf, setDetails } from './receipts/receipts.ts'
import type { DetailsPatch } from './receipts/receipts.ts'
import { listRedeemed } from './promotion-queries.ts'
import { toPromotion } from './promotions.ts'
import { listOperations, toUsage } from './spending/spending.ts'
import { findSums } from './spending/queries.ts'
import type { Range } from './spending/queries.ts'
import { findMonthTotal, listTopups } from './payments/topup-queries.ts'
import type { TopupRow } from './payments/topup-queries.ts'
import { hasMethod, topupBlockerOf, topUpIfLow } from './payments/topup-trigger.ts'

const cents = (value: bigint | null): number | null => (value === null ? null : Number(value))

/** Whether the platform fee is waived, and the deposits in cents until it is not. */
export const waiverOf = ({ cumulativeDepositsCents }: AccountRow, { fee }: Pick<BillingConfig, 'fee'>) => {
  const left = BigInt(fee.waiverCents) - cumulativeDepositsCents
  return { active: left >= 0n, remainingCents: left > 0n ? Number(left) : 0 }
}

export const toTransaction = (row: TransactionRow) => ({
  id: row.id,
  type: row.type,
  amountCents: Number(row.amountCents),
  balanceAfterCents: Number(row.balanceAfterCents),
  ...(row.paymentIntentId === null ? {} : { paymentIntentId: row.paymentIntentId }),
  ...(row.type === 'deposit' ? { receiptId: receiptIdOf(row) } : {}),
  notes: row.notes,
  createdAt: row.createdAt,
})

const paymentOf = (config: BillingConfig) => ({
  paymentProviderConfigured: config.stripe !== undefined,
  webhookConfigured: config.stripeWebhookSecret !== undefined,
  publishableKeyConfigured: config.hasPublishableKey,
  directDepositAvailable: mayDepositDirectly(config, 'direct'),
  billingEnforced: config.isEnforced,
})

const blockerReasons = {
  off: 'Automatic top-up is turned off.',
  no_payment_method: 'There is no saved payment method. A deposit by card saves one.',
  balance_suffices: 'The balance is not below the threshold.',
  backing_off: 'The last payment was declined or did not reach the threshold. The next attempt is at retryAt.',
  monthly_cap: 'Another top-up would exceed the monthly cap.',
}

const toTopup = ({ id, state, amountCents, failureCode, failureMessage, createdAt, endedAt }: TopupRow) => ({
  id,
  state,
  amountCents: Number(amountCents),
  failureCode,
  failureMessage,
  createdAt,
  endedAt,
})

/** The state of automatic top-up and, in words, why no payment is being made. */
const autoTopupOf = (account: AccountRow, topups: TopupRow[], monthCents: bigint, now: Date) => {
  const open = topups.find(({ endedAt }) => endedAt === null)
  const blocker = topupBlockerOf(account, monthCents, now)
  return {
    state: open ? ('under_way' as const) : (blocker ?? ('due' as const)),
    reason: open ? 'A payment is being made.' : blocker ? blockerReasons[blocker] : 'A payment starts within a minute.',
    retryAt: blocker === 'backing_off' ? account.autoTopupRetryAt : null,
    hasPaymentMethod: hasMethod(account),
    monthlyCapCents: cents(account.autoTopupMonthlyCapCents),
    chargedThisMonthCents: Number(monthCents),
    recent: topups.map(toTopup),
  }
}

const limitOf = (capCents: bigint | null, chargedMicrocents: bigint) => ({
  monthlyCapCents: cents(capCents),
  chargedThisMonthMicrocents: Number(chargedMicrocents),
  chargedThisMonthCents: wholeCents(chargedMicrocents),
  state: capCents === null ? ('free' as const) : capState(capCents, chargedMicrocents),
})

const limitsOf = async (db: Db, account: AccountRow, chargedMicrocents: bigint, seesAgents: boolean) => ({
  org: limitOf(account.monthlyCapCents, chargedMicrocents),
  agents: seesAgents
    ? (await queries.listAgentCaps(db, account.orgId)).map(({ id, name, slug, capCents, chargedMicrocents }) => ({
        id,
        name,
        slug,
        ...limitOf(capCents, chargedMicrocents),
      }))
    : [],
})

const subscriptionOf = async (db: Db, orgId: string, { plans }: BillingConfig) => {
  const row = await findNewestSubscription(db, orgId)
  if (!row) return null
  const { planId, status, cancelAtPeriodEnd, currentPeriodEnd, createdAt } = row
  const name = plans.find(({ id }) => id === planId)?.name ?? planId
  return { planId, planName: name, status, cancelAtPeriodEnd, currentPeriodEnd, createdAt }
}

const listReplacedPlans = async (db: Db, orgId: string, config: BillingConfig) => {
  const nameOf = planNames(config)
  return (await listUnconfirmed(db, orgId)).map(
    ({ planId, wantedAt, isCancelWanted, isProviderFailed, createdAt }) => ({
      planId,
      planName: nameOf(planId),
      state: isProviderFailed ? ('failed' as const) : isCancelWanted ? ('canceling' as const) : ('refunding' as const),
      since: wantedAt ?? createdAt,
    }),
  )
}

const recentTransactions = 10
const recentTopups = 5

/** Balance, usage, transactions and settings of an org in one snapshot that includes every charge made before it. */
export const getSnapshot = (deps: LedgerDeps & { config: BillingConfig }, actor: Actor, now = new Date()) =>
  readPosted(deps, actor.orgId, async (db) => {
    const { orgId } = actor
    const { config } = deps
    const account = await getAccount(db, orgId)
    const { fromDay, toDay, grain } = spanOf('month', now)
    const month: Range = { grain, from: fromDay ?? toDay, to: toDay }
    const used = await findSums(db, orgId, month)
    const topups = await listTopups(db, orgId, recentTopups)
    return {
      balance: {
        balanceCents: Number(account.balanceCents),
        cumulativeDepositsCents: Number(account.cumulativeDepositsCents),
        autoTopupEnabled: account.autoTopupEnabled,
        autoTopupThresholdCents: Number(account.autoTopupThresholdCents),
        autoTopupAmountCents: Number(account.autoTopupAmountCents),
        // Charges below a whole cent, and what running turns may still cost.
        remainderMicrocents: Number(account.remainderMicrocents),
        reservedMicrocents: Number(await findReservedTotal(db, orgId)),
      },
      waiver: waiverOf(account, config),
      payment: paymentOf(config),
      usage: {
        currentMonth: {
          ...toUsage(used),
          monthStart: `${month.from}T00:00:00.000Z`,
          operationBreakdown: await listOperations(db, orgId, month),
        },
      },
      transactions: (
        await listTransactions(db, orgId, { type: undefined, before: null, limit: recentTransactions })
      ).map(toTransaction),
      promotions: (await listRedeemed(db, orgId)).map(toPromotion),
      subscription: await subscriptionOf(db, orgId, config),
      replacedPlans: await listReplacedPlans(db, orgId, config),
      billingDetails: await getDetails(db, orgId),
      autoTopup: autoTopupOf(account, topups, await findMonthTotal(db, orgId), now),
      limits: await limitsOf(db, account, used?.chargedMicrocents ?? 0n, may(actor, 'billing:manage')),
    }
  })

const patchFields = [
  'autoTopupEnabled',
  'autoTopupThresholdCents',
  'autoTopupAmountCents',
  'autoTopupMonthlyCapCents',
  'monthlyCapCents',
] as const satisfies (keyof AccountPatch)[]

export interface SettingsPatch extends AccountPatch {
  billingDetails?: DetailsPatch | null | undefined
}

/** Which billing details were sent, without the details: entries of the audit log are never deleted. */
const changedOf = (patch: SettingsPatch): Record<string, unknown> => {
  const named = patchFields.filter((field) => patch[field] !== undefined)
  return {
    ...Object.fromEntries(named.map((field) => [field, patch[field]])),
    ...(patch.billingDetails === undefined ? {} : { billingDetails: Object.keys(patch.billingDetails ?? {}) }),
  }
}

/** Changes automatic top-up, the monthly cap and billing details. BAD_REQUEST when the patch is empty. */
export const updateSettings = (
  { db, jobs }: { db: Database } & Pick<LedgerDeps, 'jobs'>,
  actor: Actor,
  patch: SettingsPatch,
): Promise<void> => {
  const details = changedOf(patch)
  if (Object.keys(details).length === 0) throw badRequest('The body must name at least one field to change')
  return db.transaction(actor, async (db) => {
    const account = await lockAccount(db, actor.orgId)
    const wanted = {
      autoTopupEnabled: patch.autoTopupEnabled ?? account.autoTopupEnabled,
      autoTopupThresholdCents: patch.autoTopupThresholdCents ?? Number(account.autoTopupThresholdCents),
      autoTopupAmountCents: patch.autoTopupAmountCents ?? Number(account.autoTopupAmountCents),
      autoTopupMonthlyCapCents:
        patch.autoTopupMonthlyCapCents === undefined
          ? cents(account.autoTopupMonthlyCapCents)
          : patch.autoTopupMonthlyCapCents,
      monthlyCapCents: patch.monthlyCapCents === undefined ? cents(account.monthlyCapCents) : patch.monthlyCapCents,
    }
    await queries.updateAccount(db, actor.orgId, wanted)
    if (patch.billingDetails !== undefined) await setDetails(db, actor.orgId, patch.billingDetails)
    await audit(db, actor, 'billing.settings-changed', {
      type: 'billing',
      id: null,
      details,
    })
    const changed = await lockAccount(db, actor.orgId)
    await recordBalance(db, actor, { before: account, after: changed })
    await topUpIfLow(db, jobs, changed)
  })
}
