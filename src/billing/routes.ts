import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { rejectTags } from '../platform/http/etag.ts'
import { ok, Success } from '../platform/http/schemas.ts'
import { getSnapshot, updateSettings } from './account.ts'
import type { BillingRouteDeps } from './deps.ts'
import { getPricing } from './ledger/pricing.ts'
import { Pricing } from './ledger/schemas.ts'
import { registerPaymentRoutes } from './payments/routes.ts'
import { registerPaymentWebhook } from './payments/webhook-routes.ts'
import { registerReceiptRoutes } from './receipts/routes.ts'
import { redeemPromotion } from './promotions.ts'
import { registerProviderKeyRoutes } from './provider-keys/routes.ts'
import {
  BillingPatch,
  BillingSnapshot,
  Promotion,
  Redeem,
  TransactionListQuery,
  TransactionPage,
  Updated,
} from './schemas.ts'
import { registerSpendingRoutes } from './spending/routes.ts'
import { registerStatementRoutes } from './statements/routes.ts'
import { listTransactions } from './transactions.ts'

const tags = ['Billing']
const base = `${apiPrefix}/billing`

export const registerBillingRoutes = (app: App, deps: BillingRouteDeps): void => {
  const { config, db, jobs, models } = deps
  const ledger = { db, jobs }

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
      preHandler: rejectTags,
      config: { access: 'billing:manage', events: ['balance.low'] },
      schema: {
        tags,
        summary: 'Update billing settings',
        description:
          'Changes automatic top-up, the monthly spending limit and the billing details. Fields that are not sent stay as they are. Any change ends the pause after a declined top-up.',
        body: BillingPatch,
        response: { 200: Success(Updated) },
      },
    },
    async ({ actor, body }) => {
      await updateSettings(ledger, actor, body)
      return ok({ updated: true as const })
    },
  )

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

  registerPaymentRoutes(app, deps)
  registerSpendingRoutes(app, deps)
  registerStatementRoutes(app, deps)
  registerReceiptRoutes(app, deps)
  registerProviderKeyRoutes(app, deps)
  registerPaymentWebhook(app, deps)
}
