import { Type } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix, jsonBodyLimitBytes } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { acceptBytes } from '../../platform/http/json-body.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { ok, Success } from '../../platform/http/schemas.ts'
import { applyEvent } from './events.ts'
import { PaymentEventReceived } from './schemas.ts'
import { readEvent, unsigned } from './stripe.ts'

/** The endpoint for Stripe's events, authenticated by their signature. */
export const registerPaymentWebhook = (
  app: App,
  { config, db, jobs, log }: { config: Config; db: Database; jobs: Jobs; log: Log },
): void => {
  const { plans } = config.billing
  app.register(async (scope: App) => {
    acceptBytes(scope)
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
          events: [
            'balance.deposited',
            'balance.low',
            'balance.exhausted',
            'balance.topup.failed',
            'subscription.updated',
          ],
        },
        schema: {
          tags: ['Billing'],
          summary: 'Receive a Stripe event',
          description:
            'Receives payment events from Stripe. Requests are verified with the header `Stripe-Signature`: UNAUTHORIZED when it is wrong. Repeated events change nothing. SERVICE_UNAVAILABLE when Stripe is not set up on this server.',
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
