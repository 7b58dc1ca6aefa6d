import type { BillingConfig, Plan } from '../../config/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, conflict, serviceUnavailable, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { book, getAccount, lockAccount } from '../ledger/ledger.ts'
import * as queries from './queries.ts'
import type { CheckoutPage, Payments } from './stripe.ts'
import { watchBalance } from './topup-watch.ts'

export interface DepositDeps {
  config: BillingConfig
  /** That of the request: its idempotency key joins the transaction. */
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  payments: Payments | undefined
}

/** Whether a deposit needs no payment: never in production, elsewhere where nobody can pay, or where it is opened up. */
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
    await watchBalance(db, jobs, await book(db, account, [entry]))
    await audit(db, actor, 'billing.deposited', { type: 'billing', id: null }, { amountCents, method: 'direct' })
    const message = 'Deposited without a payment, as this server is not in production.'
    return { deposited: amountCents, method: 'direct', message }
  })

const noProvider = (): Error => serviceUnavailable('Payments are not configured on this server.')

interface Wish {
  kind: 'deposit' | 'subscription'
  amountCents: number
  planId: string | null
}

/**
 * Opens a page of the payment provider, and notes what it is for before its address is handed out: nobody can pay what
 * is not noted, and only what is noted is ever credited.
 */
const openCheckout = async (
  { db }: DepositDeps,
  actor: Actor,
  origin: string,
  wish: Wish,
  open: (request: {
    checkoutId: string
    orgId: string
    customerId: string | null
    email: string
    successUrl: string
    cancelUrl: string
  }) => Promise<CheckoutPage>,
): Promise<CheckoutPage> => {
  const { orgId, userId, email } = actor
  const checkoutId = newId()
  const { customerId } = await getAccount(db, orgId)
  const successUrl = `${origin}/billing?checkout=success`
  const cancelUrl = `${origin}/billing?checkout=cancelled`
  const page = await open({ checkoutId, orgId, customerId, email, successUrl, cancelUrl })
  await db.transaction(actor, async (db) => {
    await queries.insertCheckout(db, orgId, { id: checkoutId, ...wish, createdBy: userId })
    await queries.setCheckoutSession(db, orgId, checkoutId, page.sessionId)
    const { amountCents, planId } = wish
    await audit(
      db,
      actor,
      `billing.${wish.kind}-started`,
      { type: 'checkout', id: checkoutId },
      { amountCents, planId },
    )
  })
  return page
}

/**
 * Starts a deposit: a page to pay on or, where that is allowed, the deposit itself. SERVICE_UNAVAILABLE in production
 * without a payment provider.
 */
export const startDeposit = async (
  deps: DepositDeps,
  actor: Actor,
  origin: string,
  { amountCents, method }: { amountCents: number; method?: 'direct' | undefined },
) => {
  if (mayDepositDirectly(deps.config, method)) return depositDirectly(deps, actor, amountCents)
  const { payments } = deps
  if (!payments) throw noProvider()
  const wish = { kind: 'deposit', amountCents, planId: null } as const
  const page = await openCheckout(deps, actor, origin, wish, (request) =>
    payments.openDeposit({ ...request, amountCents }),
  )
  return { checkoutUrl: page.url, sessionId: page.sessionId }
}

const payablePlan = (plans: readonly Plan[], planId: string): Plan & { priceCents: number } => {
  const plan = plans.find(({ id }) => id === planId)
  if (!plan) throw badRequest('planId must be the id of a plan of GET /billing/pricing')
  const { priceCents } = plan
  if (priceCents === null) throw validationError(`The plan ${plan.name} is made to measure: talk to sales.`)
  if (priceCents === 0) throw validationError(`The plan ${plan.name} costs nothing: there is nothing to pay.`)
  return { ...plan, priceCents }
}

/**
 * Opens the page of a monthly plan. BAD_REQUEST for an unknown plan, VALIDATION_ERROR for one that nobody pays there,
 * CONFLICT for the plan that the org has, SERVICE_UNAVAILABLE without a payment provider.
 */
export const startSubscription = async (deps: DepositDeps, actor: Actor, origin: string, planId: string) => {
  const plan = payablePlan(deps.config.plans, planId)
  const { payments, db } = deps
  if (!payments) throw noProvider()
  const running = await queries.listRunningSubscriptions(db, actor.orgId)
  if (running.some((one) => one.planId === planId && !one.cancelAtPeriodEnd)) {
    throw conflict(`Your org has the plan ${plan.name} already.`)
  }
  const wish = { kind: 'subscription', amountCents: plan.priceCents, planId } as const
  const page = await openCheckout(deps, actor, origin, wish, (request) =>
    payments.openSubscription({ ...request, plan }),
  )
  return { checkoutUrl: page.url, sessionId: page.sessionId, planId }
}
