import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Success, ok } from '../../platform/http/schemas.ts'
import type { BillingRouteDeps } from '../deps.ts'
import { startDeposit, startSubscription } from './deposits.ts'
import { DepositCreate, DepositStarted, SubscriptionCreate, SubscriptionEnded, SubscriptionStarted } from './schemas.ts'
import { endSubscription } from './subscriptions.ts'

const tags = ['Billing']
const base = `${apiPrefix}/billing`

export const registerPaymentRoutes = (
  app: App,
  { config, jobs, billing: { payments } }: Pick<BillingRouteDeps, 'config' | 'jobs' | 'billing'>,
): void => {
  app.post(
    `${base}/deposit`,
    {
      config: {
        access: 'billing:manage',
        rateLimit: 'deposits',
        rateLimitCode: 'BAD_REQUEST',
        events: ['balance.deposited'],
      },
      schema: {
        tags,
        summary: 'Start a deposit',
        description:
          'Returns the URL of a payment page. The balance rises when Stripe confirms the payment, which also saves the card for automatic top-up. Outside production and without Stripe, the deposit is made at once. SERVICE_UNAVAILABLE in production without Stripe. Counts against the rate limit `deposits`, which is reported as BAD_REQUEST.',
        body: DepositCreate,
        response: { 200: Success(DepositStarted) },
      },
    },
    async (request) => {
      const started = { config: config.billing, db: request.db, jobs, payments }
      return ok(await startDeposit(started, request.actor, originOf(request, config.baseUrl), request.body))
    },
  )

  app.post(
    `${base}/subscriptions/checkout`,
    {
      config: {
        access: 'billing:manage',
        rateLimit: 'deposits',
        rateLimitCode: 'BAD_REQUEST',
        errors: ['VALIDATION_ERROR'],
      },
      schema: {
        tags,
        summary: 'Start a plan',
        description:
          'Returns the URL of a payment page for a monthly plan. Each paid month grants the credit of the plan. A new plan ends the one before. While a page for the plan is open, it is returned again; a page for another plan expires. BAD_REQUEST for an unknown plan, VALIDATION_ERROR for a plan that is free or sold on request only, CONFLICT for the current plan and for one whose payment is being processed. Counts against the rate limit `deposits`, which is reported as BAD_REQUEST.',
        body: SubscriptionCreate,
        response: { 200: Success(SubscriptionStarted) },
      },
    },
    async (request) => {
      const started = { config: config.billing, db: request.db, jobs, payments }
      const origin = originOf(request, config.baseUrl)
      return ok(await startSubscription(started, request.actor, origin, request.body.planId))
    },
  )

  app.post(
    `${base}/subscriptions/cancel`,
    {
      config: {
        access: 'billing:manage',
        rateLimit: 'deposits',
        rateLimitCode: 'BAD_REQUEST',
        what: 'Subscription',
        events: ['subscription.updated'],
        errors: ['NOT_FOUND'],
      },
      schema: {
        tags,
        summary: 'Cancel the plan',
        description:
          'Cancels the monthly plan of the org at the end of the paid month. NOT_FOUND without a plan. Counts against the rate limit `deposits`, which is reported as BAD_REQUEST.',
        response: { 200: Success(SubscriptionEnded) },
      },
    },
    async ({ actor, db }) => ok(await endSubscription({ db, jobs, payments }, actor)),
  )
}
