import { refuseTags } from '../platform/http/etag.ts'
import { apiPrefix, originOf } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { ok, Success } from '../platform/http/schemas.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import { getSnapshot, updateSettings } from './account.ts'
import type { Billing } from './billing.ts'
import { startDeposit, startSubscription } from './payments/deposits.ts'
import { getPricing } from './ledger/pricing.ts'
import type { PricedModel } from './ledger/pricing.ts'
import { registerProviderKeyRoutes } from './provider-keys/routes.ts'
import { redeemPromotion } from './promotions.ts'
import { Pricing } from './ledger/schemas.ts'
import {
  DepositCreate,
  DepositStarted,
  SubscriptionCreate,
  SubscriptionEnded,
  SubscriptionStarted,
} from './payments/schemas.ts'
import {
  BillingPatch,
  BillingSnapshot,
  Promotion,
  Redeem,
  TransactionListQuery,
  TransactionPage,
  Updated,
} from './schemas.ts'
import type { ModelNames } from './spending/spending.ts'
import { endSubscription } from './payments/subscriptions.ts'
import { registerSpendingRoutes } from './spending/routes.ts'
import { registerPaymentWebhook } from './payments/webhook-routes.ts'
import { listTransactions } from './transactions.ts'

export interface BillingRouteDeps {
  config: Config
  db: Database
  jobs: Jobs
  log: Log
  secrets: Sealer
  billing: Billing
  models: ModelNames & { models: readonly PricedModel[] }
}

const tags = ['Billing']
const base = `${apiPrefix}/billing`

export const registerBillingRoutes = (app: App, deps: BillingRouteDeps): void => {
  const { config, db, jobs, billing } = deps
  const ledger = { db, jobs }
  const { payments } = billing

  app.get(
    base,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'Retrieve billing',
        description:
          'Returns the balance, usage of the current calendar month (UTC), latest transactions, automatic top-up and spending limits of the org, all read at one moment.',
        response: { 200: Success(BillingSnapshot) },
      },
    },
    async ({ actor }) => ok(await getSnapshot({ ...ledger, config: config.billing }, actor)),
  )

  app.patch(
    base,
    {
      preHandler: refuseTags,
      config: { access: 'billing:manage' },
      schema: {
        tags,
        summary: 'Update billing settings',
        description:
          'Changes automatic top-up and the monthly spending limit. Fields that are not sent stay as they are. Any change ends the pause after a declined top-up.',
        body: BillingPatch,
        response: { 200: Success(Updated) },
      },
    },
    async ({ actor, body }) => {
      await updateSettings(ledger, actor, body)
      return ok({ updated: true as const })
    },
  )

  app.post(
    `${base}/deposit`,
    {
      config: { access: 'billing:manage', rateLimit: 'deposits', rateLimitCode: 'BAD_REQUEST' },
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
          'Returns the URL of a payment page for a monthly plan. Each paid month grants the credit of the plan. A new plan ends the one before. BAD_REQUEST for an unknown plan, VALIDATION_ERROR for a plan that is free or sold on request only, CONFLICT for the current plan. Counts against the rate limit `deposits`, which is reported as BAD_REQUEST.',
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

  registerLedgerRoutes(app, deps)
  registerSpendingRoutes(app, deps)
  registerProviderKeyRoutes(app, deps)
  registerPaymentWebhook(app, deps)
}

const registerLedgerRoutes = (app: App, { config, db, jobs, models }: BillingRouteDeps): void => {
  app.get(
    `${base}/transactions`,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'List transactions',
        description:
          'Returns the ledger of the org, newest first. Transactions are never changed or deleted; the balance is their sum.',
        querystring: TransactionListQuery,
        response: { 200: Success(TransactionPage) },
      },
    },
    async ({ actor, query }) => ok(await listTransactions({ db, jobs }, actor.orgId, query)),
  )

  app.get(
    `${base}/pricing`,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'List prices',
        description:
          'Returns the plans with their quotas, the platform fee and the prices of models and services. `withFee` has the prices that the org pays now.',
        response: { 200: Success(Pricing) },
      },
    },
    async ({ actor }) => ok(await getPricing(db, config.billing, models.models, actor.orgId)),
  )

  app.post(
    `${base}/promotions/redeem`,
    {
      config: {
        access: 'billing:manage',
        rateLimit: 'deposits',
        rateLimitCode: 'BAD_REQUEST',
        errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      },
      schema: {
        tags,
        summary: 'Redeem a promotion',
        description:
          'Adds the credit of a promotion to the balance. An org can redeem each promotion once: CONFLICT after that. NOT_FOUND for an unknown code, VALIDATION_ERROR for an expired one. Counts against the rate limit `deposits`, which is reported as BAD_REQUEST.',
        body: Redeem,
        response: { 200: Success(Promotion) },
      },
    },
    async ({ actor, body, db }) => ok(await redeemPromotion(db, actor, body.code)),
  )
}
