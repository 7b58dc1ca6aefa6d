import { Type } from '../platform/type.ts'
import type { Config } from '../config.ts'
import type { Database } from '../platform/database.ts'
import { apiPrefix, jsonBodyLimitBytes } from '../platform/http.ts'
import type { App } from '../platform/http.ts'
import { takeBytes } from '../platform/json-body.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { ok, Success } from '../platform/schemas.ts'
import { applyEvent } from './payment-events.ts'
import { PaymentEventReceived } from './schemas.ts'
import { readEvent, unsigned } from './stripe.ts'

/** Where Stripe tells of payments. Its signature is the key. */
export const registerPaymentWebhook = (
  app: App,
  { config, db, jobs, log }: { config: Config; db: Database; jobs: Jobs; log: Log },
): void => {
  const { plans } = config.billing
  app.register(async (scope: App) => {
    takeBytes(scope)
    scope.post(
      `${apiPrefix}/billing/webhooks/stripe`,
      {
        bodyLimit: jsonBodyLimitBytes,
        onRequest: async ({ headers }) => {
          if (config.billing.stripeWebhookSecret !== undefined && headers['stripe-signature'] === undefined) {
            throw unsigned
          }
        },
        config: {
          access: 'public',
          idempotency: false,
          errors: ['BAD_REQUEST', 'UNAUTHORIZED', 'SERVICE_UNAVAILABLE'],
        },
        schema: {
          tags: ['Billing'],
          summary: 'For Stripe: its signed events',
          headers: Type.Object({ 'stripe-signature': Type.Optional(Type.String()) }),
          response: { 200: Success(PaymentEventReceived) },
        },
      },
      async ({ body, headers }) => {
        const bytes = (body as Buffer | undefined) ?? Buffer.alloc(0)
        const event = await readEvent(config.billing, bytes, headers['stripe-signature'])
        await applyEvent({ db, jobs, log, plans }, event)
        return ok({ received: true as const })
      },
    )
  })
}
