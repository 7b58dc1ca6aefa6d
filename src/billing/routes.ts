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
  const { config, db, jobs, billing, models } = deps
  const ledger = { db, jobs }
  const { payments } = billing

  app.get(
    base,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'Balance, usage of this month, last transactions, and what becomes of automatic top-up',
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
        summary: 'Change automatic top-up and spending limits',
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
        summary: 'Start a deposit: the address of a page to pay on or, outside production, the deposit itself',
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
        summary: 'Start the checkout of a monthly plan',
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
        summary: 'Let the plan end with the month that is paid',
        response: { 200: Success(SubscriptionEnded) },
      },
    },
    async ({ actor, db }) => ok(await endSubscription({ db, jobs, payments }, actor)),
  )

  app.get(
    `${base}/transactions`,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'The ledger, newest first',
        querystring: TransactionListQuery,
        response: { 200: Success(TransactionPage) },
      },
    },
    async ({ actor, query }) => ok(await listTransactions(ledger, actor.orgId, query)),
  )

  app.get(
    `${base}/pricing`,
    {
      config: { access: 'billing:read' },
      schema: { tags, summary: 'Plans, platform fee and what models cost', response: { 200: Success(Pricing) } },
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
      schema: { tags, summary: 'Redeem a promotion', body: Redeem, response: { 200: Success(Promotion) } },
    },
    async ({ actor, body, db }) => ok(await redeemPromotion(db, actor, body.code)),
  )

  registerSpendingRoutes(app, deps)
  registerProviderKeyRoutes(app, deps)
  registerPaymentWebhook(app, deps)
}
