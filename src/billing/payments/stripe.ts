import type Stripe from 'stripe'
import type { BillingConfig, Plan } from '../../config/billing.ts'
import { badRequest, serviceUnavailable, unauthorized } from '../../platform/http/errors.ts'
import { objectOf, required, textOf, timeOf } from './event-fields.ts'

/** A page of the payment provider on which somebody pays. */
export interface CheckoutPage {
  url: string
  sessionId: string
}

export interface CheckoutRequest {
  /** Ours; it makes a repeated request the same one. */
  checkoutId: string
  orgId: string
  customerId: string | null
  email: string
  successUrl: string
  cancelUrl: string
}

export type ChargeOutcome =
  | { state: 'succeeded' | 'processing'; paymentIntentId: string }
  | { state: 'declined'; paymentIntentId: string | null; code: string; message: string }

/** An event, its signature checked. What it says of the payment is read by payment-facts.ts. */
export interface PaymentEvent {
  id: string
  type: string
  /** ISO 8601 */
  at: string
  object: Record<string, unknown>
}

/** All that is asked of the payment provider. Rejects with SERVICE_UNAVAILABLE when it does not answer. */
export interface Payments {
  openDeposit(request: CheckoutRequest & { amountCents: number }): Promise<CheckoutPage>
  openSubscription(request: CheckoutRequest & { plan: Plan }): Promise<CheckoutPage>
  /** Charges a saved payment method, nobody being there. The id makes a repeated request the same one. */
  charge(topup: {
    id: string
    orgId: string
    amountCents: number
    customerId: string
    paymentMethodId: string
  }): Promise<ChargeOutcome>
  findCharge(paymentIntentId: string): Promise<ChargeOutcome>
  /** With what a payment was paid, when it can be used again. */
  findPaymentMethod(paymentIntentId: string): Promise<{ customerId: string | null; paymentMethodId: string | null }>
  findMethodOfCustomer(customerId: string): Promise<string | null>
  /** By which payment an invoice was paid; null when by none that can be refunded there. */
  findPaymentOfInvoice(invoiceId: string): Promise<string | null>
  /** At once. */
  cancelSubscription(subscriptionId: string): Promise<void>
  /** At the end of what is paid. */
  endSubscription(subscriptionId: string): Promise<void>
}

const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null)

const timeoutMs = 20_000

const open = async ({ secretKey, apiBase }: NonNullable<BillingConfig['stripe']>): Promise<Stripe> => {
  // Loaded when it is first needed: most servers take no payments, and it is a large library.
  const { default: Stripe } = await import('stripe')
  const base = apiBase === undefined ? undefined : new URL(apiBase)
  return new Stripe(secretKey, {
    maxNetworkRetries: 2,
    timeout: timeoutMs,
    telemetry: false,
    ...(base && {
      protocol: base.protocol === 'http:' ? ('http' as const) : ('https' as const),
      host: base.hostname,
      port: base.port === '' ? (base.protocol === 'http:' ? 80 : 443) : Number(base.port),
    }),
  })
}

const unavailable = (cause: unknown): Error =>
  serviceUnavailable('The payment provider does not answer as it should. Try again later.', { cause })

interface StripeFailure {
  type?: string
  code?: string
  decline_code?: string
  message?: string
  payment_intent?: { id?: string }
}

/** What the provider refuses for good: the card, or what was asked about it. Undefined for all that may pass. */
const refusalOf = (error: unknown): ChargeOutcome | undefined => {
  const failure = (error ?? {}) as StripeFailure
  if (failure.type !== 'StripeCardError' && failure.type !== 'StripeInvalidRequestError') return undefined
  return {
    state: 'declined',
    paymentIntentId: failure.payment_intent?.id ?? null,
    code: failure.decline_code ?? failure.code ?? 'refused',
    message:
      failure.type === 'StripeCardError' ? (failure.message ?? 'The card was declined.') : 'The payment was refused.',
  }
}

const outcomeOf = (intent: Stripe.PaymentIntent): ChargeOutcome => {
  const { id, status, last_payment_error: failure } = intent
  if (status === 'succeeded') return { state: 'succeeded', paymentIntentId: id }
  if (status === 'processing') return { state: 'processing', paymentIntentId: id }
  return {
    state: 'declined',
    paymentIntentId: id,
    code: failure?.decline_code ?? failure?.code ?? status,
    message: failure?.message ?? 'The payment needs a person to confirm it.',
  }
}

const pageOf = ({ id, url }: Stripe.Checkout.Session): CheckoutPage => {
  if (!url) throw unavailable(new Error(`the checkout session ${id} has no url`))
  return { url, sessionId: id }
}

/** The provider refuses addresses such as that of the first owner, owner@localhost; then people type theirs. */
const isDeliverable = (email: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$/.test(email)

const payer = ({ customerId, email }: CheckoutRequest, mode: 'payment' | 'subscription') => {
  if (customerId !== null) return { customer: customerId }
  // A subscription makes a customer by itself.
  return {
    ...(isDeliverable(email) && { customer_email: email }),
    ...(mode === 'payment' && { customer_creation: 'always' as const }),
  }
}

const common = ({ checkoutId, orgId, successUrl, cancelUrl }: CheckoutRequest) => ({
  client_reference_id: checkoutId,
  success_url: successUrl,
  cancel_url: cancelUrl,
  metadata: { checkoutId, orgId },
})

const priceOf = (plan: Plan): Stripe.Checkout.SessionCreateParams.LineItem =>
  plan.stripePriceId === null
    ? {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: plan.priceCents ?? 0,
          recurring: { interval: 'month' },
          product_data: { name: `Atrium ${plan.name}` },
        },
      }
    : { quantity: 1, price: plan.stripePriceId }

const openCheckouts = (ask: <T>(work: (stripe: Stripe) => Promise<T>) => Promise<T>) => ({
  openDeposit: (request: CheckoutRequest & { amountCents: number }) =>
    ask(async (stripe) =>
      pageOf(
        await stripe.checkout.sessions.create(
          {
            ...common(request),
            ...payer(request, 'payment'),
            mode: 'payment',
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: 'usd',
                  unit_amount: request.amountCents,
                  product_data: { name: 'Atrium credit' },
                },
              },
            ],
            // So that the account can fill up by itself later.
            payment_intent_data: {
              setup_future_usage: 'off_session',
              metadata: { checkoutId: request.checkoutId, orgId: request.orgId },
            },
          },
          { idempotencyKey: request.checkoutId },
        ),
      ),
    ),
  openSubscription: (request: CheckoutRequest & { plan: Plan }) =>
    ask(async (stripe) =>
      pageOf(
        await stripe.checkout.sessions.create(
          {
            ...common(request),
            ...payer(request, 'subscription'),
            mode: 'subscription',
            line_items: [priceOf(request.plan)],
            subscription_data: { metadata: { checkoutId: request.checkoutId, orgId: request.orgId } },
          },
          { idempotencyKey: request.checkoutId },
        ),
      ),
    ),
})

/** Stripe by its own library. Undefined when no account is configured. */
export const openPayments = (config: Pick<BillingConfig, 'stripe'>): Payments | undefined => {
  const { stripe: account } = config
  if (account === undefined) return undefined
  let opened: Promise<Stripe> | undefined
  const client = (): Promise<Stripe> => (opened ??= open(account))
  const ask = async <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    try {
      return await work(await client())
    } catch (error) {
      throw unavailable(error)
    }
  }
  return {
    ...openCheckouts(ask),
    charge: async ({ id, orgId, amountCents, customerId, paymentMethodId }) => {
      const stripe = await client()
      try {
        const intent = await stripe.paymentIntents.create(
          {
            amount: amountCents,
            currency: 'usd',
            customer: customerId,
            payment_method: paymentMethodId,
            off_session: true,
            confirm: true,
            description: 'Atrium credit, filled up automatically',
            metadata: { topupId: id, orgId },
          },
          { idempotencyKey: id },
        )
        return outcomeOf(intent)
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal) return refusal
        throw unavailable(error)
      }
    },
    findCharge: (id) => ask(async (stripe) => outcomeOf(await stripe.paymentIntents.retrieve(id))),
    findPaymentMethod: (id) =>
      ask(async (stripe) => {
        const { customer, payment_method: method } = await stripe.paymentIntents.retrieve(id)
        return { customerId: idOf(customer), paymentMethodId: idOf(method) }
      }),
    findMethodOfCustomer: (id) =>
      ask(async (stripe) => (await stripe.customers.listPaymentMethods(id, { limit: 1 })).data[0]?.id ?? null),
    findPaymentOfInvoice: (id) =>
      ask(async (stripe) => {
        const { data } = await stripe.invoicePayments.list({ invoice: id, status: 'paid', limit: 10 })
        return data.map(({ payment }) => idOf(payment.payment_intent)).find((found) => found !== null) ?? null
      }),
    endSubscription: (id) =>
      ask(async (stripe) => {
        await stripe.subscriptions.update(id, { cancel_at_period_end: true })
      }),
    cancelSubscription: (id) =>
      ask(async (stripe) => {
        try {
          await stripe.subscriptions.cancel(id)
        } catch (error) {
          // Gone already is as good.
          if ((error as StripeFailure).code !== 'resource_missing') throw error
        }
      }),
  }
}

export const unsigned = unauthorized('The request is not signed.')

/**
 * An event as the provider signed it, by its own check: over the bytes as they came, not older than five minutes.
 * UNAUTHORIZED when it is anything else, BAD_REQUEST when what is signed is no event, SERVICE_UNAVAILABLE when no secret is
 * configured.
 */
export const readEvent = async (
  { stripeWebhookSecret: secret }: Pick<BillingConfig, 'stripeWebhookSecret'>,
  body: Buffer,
  signature: string | undefined,
): Promise<PaymentEvent> => {
  if (secret === undefined) throw serviceUnavailable('Payments are not configured on this server.')
  if (signature === undefined) throw unsigned
  const { default: Stripe } = await import('stripe')
  let event: unknown
  try {
    event = Stripe.webhooks.constructEvent(body, signature, secret)
  } catch (cause) {
    if (cause instanceof Stripe.errors.StripeSignatureVerificationError) {
      throw unauthorized('The signature is not right, or too old.', { cause })
    }
    // It reads the body after it has verified it.
    throw badRequest('The event is malformed: the body is not an event of the Stripe API v1 in JSON.', { cause })
  }
  const { id, type, created, data } = objectOf(event)
  const { object } = objectOf(data)
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw badRequest('The event is malformed: data.object is not an object.')
  }
  return {
    id: required(textOf(id, 'id'), 'id'),
    type: required(textOf(type, 'type'), 'type'),
    at: required(timeOf(created, 'created'), 'created'),
    object: object as Record<string, unknown>,
  }
}
