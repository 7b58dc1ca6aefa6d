// At most one checkout page for a plan is open per org, because two open pages can both be paid.
import type { Db } from '../../platform/database/database.ts'
import { conflict } from '../../platform/http/errors.ts'
import * as queries from './queries.ts'
import type { OpenCheckout } from './queries.ts'
import type { CheckoutPage, Payments } from './stripe.ts'

interface WantedPlan {
  id: string
  name: string
  priceCents: number
}

export const isFor = ({ planId, amountCents }: OpenCheckout, plan: Pick<WantedPlan, 'id' | 'priceCents'>): boolean =>
  planId === plan.id && amountCents === BigInt(plan.priceCents)

const processing = ({ name }: WantedPlan): Error =>
  conflict(`A payment for the plan ${name} is being processed. The plan starts when it is confirmed.`)

/** The page of a checkout of the plan. Undefined when it has expired, CONFLICT when its form was sent. */
export const findPage = async (
  payments: Payments,
  plan: WantedPlan,
  { sessionId }: OpenCheckout,
): Promise<CheckoutPage | undefined> => {
  const status = await payments.findCheckout(sessionId)
  if (status.state === 'complete') throw processing(plan)
  return status.state === 'open' ? status.page : undefined
}

/**
 * Makes a page for another plan or at another price expire. False when its form was sent: it is left to the event of its
 * payment. CONFLICT when that is a payment for the plan.
 */
export const closePage = async (payments: Payments, plan: WantedPlan, checkout: OpenCheckout): Promise<boolean> => {
  const state = await payments.expireCheckout(checkout.sessionId)
  if (state === 'complete' && checkout.planId === plan.id) throw processing(plan)
  return state === 'expired'
}

/**
 * The open page of the plan, or the checkouts that have expired: before another page is stored, they must be stored as
 * such. Pages of other plans are closed.
 */
export const reusePage = async (
  db: Db,
  payments: Payments,
  orgId: string,
  plan: WantedPlan,
): Promise<{ page: CheckoutPage } | { page: undefined; expired: OpenCheckout[] }> => {
  const expired: OpenCheckout[] = []
  const open = await queries.listOpenPlanCheckouts(db, orgId)
  for (const checkout of open.filter((one) => !isFor(one, plan))) {
    if (await closePage(payments, plan, checkout)) expired.push(checkout)
  }
  for (const checkout of open.filter((one) => isFor(one, plan))) {
    const page = await findPage(payments, plan, checkout)
    if (page) return { page }
    expired.push(checkout)
  }
  return { page: undefined, expired }
}
