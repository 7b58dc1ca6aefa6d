import type Stripe from 'stripe'
import type { BillingConfig, Plan } from '../../config/billing.ts'
import { badRequest, serviceUnavailable, unauthorized } from '../../platform/http/errors.ts'
import { objectOf, required, textOf, timeOf } from './event-fields.ts'
import { findPaymentOfInvoice, idOf, refundSubscription } from './stripe-refunds.ts'
import type { InvoicePayment, RefundedInvoice } from './stripe-refunds.ts'

/** A checkout page of the payment provider. */
export interface CheckoutPage {
  url: string
  sessionId: string
}

/** `complete`: the form was sent; the payment may still be processing. */
export type CheckoutStatus = { state: 'open'; page: CheckoutPage } | { state: 'complete' | 'expired' }

export interface CheckoutRequest {
  /** Our id, also the provider's idempotency key. */
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

/** An event with a verified signature. Its facts are read by facts.ts. */
export interface PaymentEvent {
  id: string
  type: string
  /** ISO 8601 */
  at: string
  object: Record<string, unknown>
}

/** All calls to the payment provider. They throw SERVICE_UNAVAILABLE when it does not respond. */
export interface Payments {
  openDeposit(request: CheckoutRequest & { amountCents: number }): Promise<CheckoutPage>
  openSubscription(request: CheckoutRequest & { plan: Plan }): Promise<CheckoutPage>
  findCheckout(sessionId: string): Promise<CheckoutStatus>
  /** Makes an open page expire, so that it cannot be paid. Returns `complete` when the form was sent before. */
  expireCheckout(sessionId: string): Promise<'complete' | 'expired'>
  /** Charges a saved payment method off session. `id` is the provider's idempotency key. */
  charge(topup: {
    id: string
    orgId: string
    amountCents: number
    customerId: string
    paymentMethodId: string
  }): Promise<ChargeOutcome>
  findCharge(paymentIntentId: string): Promise<ChargeOutcome>
  /**
   * The payments that attempts at a top-up made, newest first: all that the customer made since `since` are read.
   * Undefined when they are too many.
   */
  findChargesOf(topup: { id: string; customerId: string; since: Date }): Promise<ChargeOutcome[] | undefined>
  /** The customer and the payment method of a payment. */
  findPaymentMethod(paymentIntentId: string): Promise<{ customerId: string | null; paymentMethodId: string | null }>
  findMethodOfCustomer(customerId: string): Promise<string | null>
  /** The payment of an invoice; null when it was paid without one. */
  findPaymentOfInvoice(invoiceId: string): Promise<InvoicePayment | null>
  /** Refunds what was paid for a subscription, each payment once, however often it is called. */
  refundSubscription(subscriptionId: string): Promise<RefundedInvoice[]>
  /** Cancels immediately. Returns when, in ISO 8601 by the provider's clock; null when it was canceled before. */
  cancelSubscription(subscriptionId: string): Promise<string | null>
  /** Cancels at the end of the paid period. Returns when it was asked to, in ISO 8601 by the provider's clock. */
  endSubscription(subscriptionId: string): Promise<string>
}

const timeoutMs = 20_000

const open = async ({ secretKey, apiBase }: NonNullable<BillingConfig['stripe']>): Promise<Stripe> => {
  // A large library that most servers do not need, so it is loaded with the first call.
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
  serviceUnavailable('The payment provider is unavailable. Try again later.', { cause })

interface StripeFailure {
  type?: string
  code?: string
  decline_code?: string
  message?: string
  payment_intent?: { id?: string }
}

/** A permanent failure: a declined card or an invalid request. Undefined for failures that a retry may solve. */
const declineOf = (error: unknown): ChargeOutcome | undefined => {
  const failure = (error ?? {}) as StripeFailure
  if (failure.type !== 'StripeCardError' && failure.type !== 'StripeInvalidRequestError') return undefined
  return {
    state: 'declined',
    paymentIntentId: failure.payment_intent?.id ?? null,
    code: failure.decline_code ?? failure.code ?? 'refused',
    message:
      failure.type === 'StripeCardError' ? (failure.message ?? 'The card was declined.') : 'The payment was rejected.',
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
    message: failure?.message ?? 'The payment needs to be confirmed by a person.',
  }
}

const intentsPerPage = 100
const maxIntents = 2_000

/** By listing, because the provider's search by metadata finds new payments only after a minute. */
const findChargesOf = async (
  stripe: Stripe,
  { id, customerId, since }: { id: string; customerId: string; since: Date },
): Promise<ChargeOutcome[] | undefined> => {
  const created = { gte: Math.floor(since.getTime() / 1_000) }
  const found: ChargeOutcome[] = []
  let read = 0
  for await (const intent of stripe.paymentIntents.list({ customer: customerId, created, limit: intentsPerPage })) {
    read += 1
    if (read > maxIntents) return undefined
    if (intent.metadata['topupId'] === id) found.push(outcomeOf(intent))
  }
  return found
}

const pageOf = ({ id, url }: Stripe.Checkout.Session): CheckoutPage => {
  if (!url) throw unavailable(new Error(`the checkout session ${id} has no url`))
  return { url, sessionId: id }
}

const statusOf = (session: Stripe.Checkout.Session): CheckoutStatus => {
  if (session.status === 'open') return { state: 'open', page: pageOf(session) }
  return { state: session.status === 'complete' ? 'complete' : 'expired' }
}

/** A session that the account does not have, such as one of a previous account, cannot be paid. */
const findCheckout = async (stripe: Stripe, sessionId: string): Promise<CheckoutStatus> => {
  try {
    return statusOf(await stripe.checkout.sessions.retrieve(sessionId))
  } catch (error) {
    if ((error as StripeFailure).code !== 'resource_missing') throw error
    return { state: 'expired' }
  }
}

const expireCheckout = async (stripe: Stripe, sessionId: string): Promise<'complete' | 'expired'> => {
  try {
    await stripe.checkout.sessions.expire(sessionId)
    return 'expired'
  } catch (error) {
    // Only open sessions can expire.
    const { state } = await findCheckout(stripe, sessionId)
    if (state === 'open') throw error
    return state
  }
}

/** The provider rejects addresses such as owner@localhost, the first owner's; then the checkout page asks for one. */
const isDeliverable = (email: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$/.test(email)

const payer = ({ customerId, email }: CheckoutRequest, mode: 'payment' | 'subscription') => {
  if (customerId !== null) return { customer: customerId }
  // The provider always creates a customer for a subscription.
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
  findCheckout: (id: string) => ask((stripe) => findCheckout(stripe, id)),
  expireCheckout: (id: string) => ask((stripe) => expireCheckout(stripe, id)),
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
            // Saves the card for automatic top-up.
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

/** The client of Stripe. Undefined when no account is configured. */
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
            description: 'Atrium credit, automatic top-up',
            metadata: { topupId: id, orgId },
          },
          { idempotencyKey: id },
        )
        return outcomeOf(intent)
      } catch (error) {
        const decline = declineOf(error)
        if (decline) return decline
        throw unavailable(error)
      }
    },
    findCharge: (id) => ask(async (stripe) => outcomeOf(await stripe.paymentIntents.retrieve(id))),
    findChargesOf: (topup) => ask((stripe) => findChargesOf(stripe, topup)),
    findPaymentMethod: (id) =>
      ask(async (stripe) => {
        const { customer, payment_method: method } = await stripe.paymentIntents.retrieve(id)
        return { customerId: idOf(customer), paymentMethodId: idOf(method) }
      }),
    findMethodOfCustomer: (id) =>
      ask(async (stripe) => (await stripe.customers.listPaymentMethods(id, { limit: 1 })).data[0]?.id ?? null),
    findPaymentOfInvoice: (id) => ask((stripe) => findPaymentOfInvoice(stripe, id)),
    refundSubscription: (id) => ask((stripe) => refundSubscription(stripe, id)),
    endSubscription: (id) =>
      ask(async (stripe) => {
        const { canceled_at: at } = await stripe.subscriptions.update(id, { cancel_at_period_end: true })
        return required(timeOf(at, 'canceled_at'), 'canceled_at')
      }),
    cancelSubscription: (id) =>
      ask(async (stripe) => {
        try {
          const { canceled_at: at } = await stripe.subscriptions.cancel(id)
          return timeOf(at, 'canceled_at') ?? null
        } catch (error) {
          if ((error as StripeFailure).code !== 'resource_missing') throw error
          return null
        }
      }),
  }
}

export const unsigned = unauthorized('The request is not signed.')

/**
 * Verifies the signature over the raw bytes and its age, at most five minutes, with Stripe's library
 * (https://docs.stripe.com/webhooks/signature), and reads the event. UNAUTHORIZED for a wrong or old signature,
 * BAD_REQUEST for a malformed event, SERVICE_UNAVAILABLE without a configured secret.
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
      throw unauthorized('The signature is wrong or too old.', { cause })
    }
    // The library parses the body after it has verified the signature.
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
