import type { BillingConfig, Plan } from '../../config/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, serviceUnavailable, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { getAccount, lockAccount, postEntries } from '../ledger/ledger.ts'
import { storeDirectDeposits } from '../receipts/receipts.ts'
import { closePage, findPage, isFor, reusePage } from './plan-pages.ts'
import * as queries from './queries.ts'
import type { OpenCheckout } from './queries.ts'
import type { CheckoutPage, CheckoutRequest, Payments } from './stripe.ts'
import { topUpIfLow } from './topup-trigger.ts'

export interface DepositDeps {
  config: BillingConfig
  /** `request.db`, so that the idempotency key is stored in the same transaction. */
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  payments: Payments | undefined
}

/** Whether a deposit needs no payment: only outside production, without a provider or with ALLOW_DIRECT_DEPOSITS. */
export const mayDepositDirectly = (
  config: Pick<BillingConfig, 'isProduction' | 'stripe' | 'allowsDirectDeposits'>,
  method: 'direct' | undefined,
): boolean => {
  if (config.isProduction) return false
  return config.stripe === undefined || (method === 'direct' && config.allowsDirectDeposits)
}

const depositDirectly = (
  { db, jobs }: DepositDeps,
  actor: Actor,
  amountCents: number,
): Promise<{ deposited: number; method: 'direct'; message: string }> =>
  db.transaction(actor, async (db) => {
    const account = await lockAccount(db, actor.orgId)
    const entry = { type: 'deposit', amountCents: BigInt(amountCents), notes: 'Direct deposit' } as const
    await topUpIfLow(db, jobs, await postEntries(db, account, [entry], actor))
    await storeDirectDeposits(db, actor.orgId)
    await audit(db, actor, 'billing.deposited', {
      type: 'billing',
      id: null,
      details: { amountCents, method: 'direct' },
    })
    const message = 'Deposited without a payment because this server is not in production.'
    return { deposited: amountCents, method: 'direct', message }
  })

const noProvider = (): Error => serviceUnavailable('Payments are not configured on this server.')

type BeforeStore = (db: Transaction) => Promise<boolean>

interface CheckoutInput {
  kind: 'deposit' | 'subscription'
  amountCents: number
  planId: string | null
}

/**
 * Opens a checkout page of the payment provider and stores what it is for before its URL is returned: a payment without
 * a stored checkout is never credited. `beforeStore` runs in the transaction that stores it; when it returns false, the
 * page is not stored, and undefined is returned.
 */
const openCheckout = async (
  { db }: DepositDeps,
  actor: Actor,
  { origin, beforeStore, ...input }: CheckoutInput & { origin: string; beforeStore?: BeforeStore },
  open: (request: CheckoutRequest) => Promise<CheckoutPage>,
): Promise<CheckoutPage | undefined> => {
  const { orgId, userId, email } = actor
  const checkoutId = newId()
  const { customerId } = await getAccount(db, orgId)
  const successUrl = `${origin}/billing?checkout=success`
  const cancelUrl = `${origin}/billing?checkout=cancelled`
  const page = await open({ checkoutId, orgId, customerId, email, successUrl, cancelUrl })
  const isStored = await db.transaction(actor, async (db) => {
    if (beforeStore && !(await beforeStore(db))) return false
    await queries.insertCheckout(db, orgId, { id: checkoutId, ...input, createdBy: userId })
    await queries.setCheckoutSession(db, orgId, checkoutId, page.sessionId)
    const { amountCents, planId } = input
    await audit(db, actor, `billing.${input.kind}-started`, {
      type: 'checkout',
      id: checkoutId,
      details: { amountCents, planId },
    })
    return true
  })
  return isStored ? page : undefined
}

/** Opens a checkout page, or posts the deposit when that is allowed. SERVICE_UNAVAILABLE without a payment provider. */
export const startDeposit = async (
  deps: DepositDeps,
  actor: Actor,
  origin: string,
  { amountCents, method }: { amountCents: number; method?: 'direct' | undefined },
) => {
  if (mayDepositDirectly(deps.config, method)) return depositDirectly(deps, actor, amountCents)
  const { payments } = deps
  if (!payments) throw noProvider()
  const input = { kind: 'deposit', amountCents, planId: null, origin } as const
  const page = await openCheckout(deps, actor, input, (request) => payments.openDeposit({ ...request, amountCents }))
  if (!page) throw new Error('the checkout of a deposit was not stored')
  return { checkoutUrl: page.url, sessionId: page.sessionId }
}

const payablePlan = (plans: readonly Plan[], planId: string): Plan & { priceCents: number } => {
  const plan = plans.find(({ id }) => id === planId)
  if (!plan) throw badRequest('planId must be the id of a plan of GET /billing/pricing')
  const { priceCents } = plan
  if (priceCents === null) throw validationError(`The plan ${plan.name} has an individual price: contact sales.`)
  if (priceCents === 0) throw validationError(`The plan ${plan.name} is free and needs no payment.`)
  return { ...plan, priceCents }
}

/**
 * Opens the checkout page of a plan. Of requests at the same moment, the first that stores its page wins, and the others
 * return that one; their own pages were shown to nobody.
 */
const openPlanPage = async (
  deps: DepositDeps & { payments: Payments },
  actor: Actor,
  plan: Plan & { priceCents: number },
  { origin, expired }: { origin: string; expired: OpenCheckout[] },
): Promise<CheckoutPage> => {
  const { payments } = deps
  const { orgId } = actor
  let others: OpenCheckout[] = []
  const beforeStore = async (db: Transaction): Promise<boolean> => {
    // Before the account, as events of the provider lock them.
    for (const { id } of expired) await queries.setCheckoutExpired(db, orgId, id)
    await lockAccount(db, orgId)
    others = await queries.listOpenPlanCheckouts(db, orgId)
    return !others.some((one) => isFor(one, plan))
  }
  const input = { kind: 'subscription', amountCents: plan.priceCents, planId: plan.id, origin, beforeStore } as const
  const page = await openCheckout(deps, actor, input, (request) => payments.openSubscription({ ...request, plan }))
  for (const other of others.filter((one) => !isFor(one, plan))) await closePage(payments, plan, other)
  if (page) return page
  const winner = others.find((one) => isFor(one, plan))
  const found = winner && (await findPage(payments, plan, winner))
  if (!found) throw conflict('The checkout page of another request has expired. Try again.')
  return found
}

/**
 * Opens the checkout page of a monthly plan, or returns the one that is open. BAD_REQUEST for an unknown plan,
 * VALIDATION_ERROR for a free or individual one, CONFLICT for the org's current plan and for one whose payment is being
 * processed, SERVICE_UNAVAILABLE without a payment provider.
 */
export const startSubscription = async (deps: DepositDeps, actor: Actor, origin: string, planId: string) => {
  const plan = payablePlan(deps.config.plans, planId)
  const { payments, db } = deps
  if (!payments) throw noProvider()
  const running = await queries.listRunningSubscriptions(db, actor.orgId)
  if (running.some((one) => one.planId === planId && !one.cancelAtPeriodEnd && !one.isCancelWanted)) {
    throw conflict(`Your org already has the plan ${plan.name}.`)
  }
  const open = await reusePage(db, payments, actor.orgId, plan)
  const page = open.page ?? (await openPlanPage({ ...deps, payments }, actor, plan, { origin, expired: open.expired }))
  return { checkoutUrl: page.url, sessionId: page.sessionId, planId }
}
