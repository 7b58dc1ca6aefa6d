// Extracts facts from the payment provider's events field by field: an endpoint may use an older version of its API, and
// missing fields must not be guessed. The fields are documented at https://docs.stripe.com/api/events/types.
import {
  amountOf,
  firstOf as first,
  idOf,
  messageOf,
  objectOf as object,
  textOf as text,
  timeOf,
} from './event-fields.ts'
import type { Fact } from './queries.ts'
import type { PaymentEvent } from './stripe.ts'

const defined = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))

/** The state of a checkout session. */
export interface CheckoutUpdate {
  sessionId: string
  /** ISO 8601, by the provider's clock. */
  at: string
  state: 'open' | 'paid' | 'failed' | 'expired'
  paymentIntentId: string | undefined
  customerId: string | undefined
  subscriptionId: string | undefined
}

// Maps, because the type comes from the event: `constructor` would be found in an object literal.
const checkoutStates = new Map<string, CheckoutUpdate['state']>([
  ['checkout.session.completed', 'paid'],
  ['checkout.session.async_payment_succeeded', 'paid'],
  ['checkout.session.async_payment_failed', 'failed'],
  ['checkout.session.expired', 'expired'],
])

export const readCheckout = ({ type, at, object: session }: PaymentEvent): CheckoutUpdate | undefined => {
  const state = checkoutStates.get(type)
  if (state === undefined) return undefined
  const sessionId = text(session['id'], 'id')
  if (sessionId === undefined) return undefined
  // The form is completed but the payment takes days and may fail: another event reports the result.
  const isPending = type === 'checkout.session.completed' && session['payment_status'] === 'unpaid'
  return {
    sessionId,
    at,
    state: isPending ? 'open' : state,
    paymentIntentId: idOf(session['payment_intent'], 'payment_intent'),
    customerId: idOf(session['customer'], 'customer'),
    subscriptionId: idOf(session['subscription'], 'subscription'),
  }
}

/** The result of a payment for an automatic top-up. */
export interface ChargeUpdate {
  paymentIntentId: string
  /** From the metadata that we attached to the payment. */
  topupId: string | undefined
  state: 'succeeded' | 'declined'
  code: string
  message: string
}

const chargeStates = new Map<string, ChargeUpdate['state']>([
  ['payment_intent.succeeded', 'succeeded'],
  ['payment_intent.payment_failed', 'declined'],
  ['payment_intent.canceled', 'declined'],
])

export const readCharge = ({ type, object: intent }: PaymentEvent): ChargeUpdate | undefined => {
  const state = chargeStates.get(type)
  if (state === undefined) return undefined
  const paymentIntentId = text(intent['id'], 'id')
  if (paymentIntentId === undefined) return undefined
  const failure = object(intent['last_payment_error'])
  return {
    paymentIntentId,
    topupId: text(object(intent['metadata'])['topupId'], 'metadata.topupId'),
    state,
    code:
      text(failure['decline_code'], 'last_payment_error.decline_code') ??
      text(failure['code'], 'last_payment_error.code') ??
      'refused',
    message: messageOf(failure['message']) ?? 'The payment failed.',
  }
}

const chargeFacts = (charge: Record<string, unknown>): Fact[] => {
  const subject = idOf(charge['payment_intent'], 'payment_intent')
  const id = text(charge['id'], 'id')
  const refunded = amountOf(charge['amount_refunded'], 'amount_refunded')
  // One fact per total: the largest counts, whichever arrives last.
  return subject && id && refunded !== undefined
    ? [{ subject, kind: 'charge', id: `${id}:${refunded}`, data: { refunded } }]
    : []
}

const refundFacts = (refund: Record<string, unknown>): Fact[] => {
  const subject = idOf(refund['payment_intent'], 'payment_intent')
  const id = text(refund['id'], 'id')
  if (!subject || !id) return []
  const failed = refund['status'] === 'failed' || refund['status'] === 'canceled' ? true : undefined
  return [{ subject, kind: 'refund', id, data: defined({ amount: amountOf(refund['amount'], 'amount'), failed }) }]
}

const disputeFacts = (type: string, dispute: Record<string, unknown>): Fact[] => {
  const subject = idOf(dispute['payment_intent'], 'payment_intent')
  const id = text(dispute['id'], 'id')
  const status = text(dispute['status'], 'status') ?? ''
  // An inquiry: the bank asks for evidence and withdraws nothing yet.
  if (!subject || !id || status.startsWith('warning_')) return []
  const won = type === 'charge.dispute.funds_reinstated' || status === 'won' ? true : undefined
  return [{ subject, kind: 'dispute', id, data: defined({ amount: amountOf(dispute['amount'], 'amount'), won }) }]
}

const methodFacts = (intent: Record<string, unknown>): Fact[] => {
  const subject = text(intent['id'], 'id')
  const customer = idOf(intent['customer'], 'customer')
  const method = idOf(intent['payment_method'], 'payment_method')
  // A method without `setup_future_usage` cannot be charged again.
  if (!subject || !customer || !method || intent['setup_future_usage'] === null) return []
  return [{ subject, kind: 'method', id: 'method', data: { customer, method } }]
}

const subscriptionOfInvoice = (invoice: Record<string, unknown>): string | undefined =>
  idOf(invoice['subscription'], 'subscription') ??
  idOf(object(object(invoice['parent'])['subscription_details'])['subscription'], 'parent') ??
  idOf(
    object(object(first(object(invoice['lines'])['data'])['parent'])['subscription_item_details'])['subscription'],
    'lines',
  )

/** `payment_intent` in API versions before 2025; later an item of `payments`, which events may omit. */
const paymentOfInvoice = (invoice: Record<string, unknown>): string | undefined => {
  const payments = object(invoice['payments'])['data']
  const listed = (Array.isArray(payments) ? payments : [])
    .map(object)
    .filter(({ status }) => status === 'paid')
    .map(({ payment }) => idOf(object(payment)['payment_intent'], 'payments'))
  return idOf(invoice['payment_intent'], 'payment_intent') ?? listed.find((id) => id !== undefined)
}

/** Whether an invoice with this `billing_reason` starts a period. Others are for a change within one, or for a single item. */
export const startsPeriod = (reason: string | null | undefined): boolean =>
  reason === undefined || reason === null || reason === 'subscription_create' || reason === 'subscription_cycle'

const invoiceFacts = (type: string, invoice: Record<string, unknown>): Fact[] => {
  const subject = subscriptionOfInvoice(invoice)
  const id = text(invoice['id'], 'id')
  if (!subject || !id) return []
  // Whether another invoice is paid says nothing about the plan; the events of the subscription report what it does to it.
  if (!startsPeriod(text(invoice['billing_reason'], 'billing_reason'))) return []
  if (type === 'invoice.payment_failed') {
    return [{ subject, kind: 'subscription', id: 'subscription', data: { status: 'past_due' } }]
  }
  const periodEnd = timeOf(object(first(object(invoice['lines'])['data'])['period'])['end'], 'lines.data[0].period.end')
  const data = defined({ status: 'active', periodEnd })
  const facts: Fact[] = [{ subject, kind: 'subscription', id: 'subscription', data }]
  const paidCents = amountOf(invoice['amount_paid'], 'amount_paid')
  // An invoice of 0 has no payment.
  if (paidCents !== 0) {
    const paymentIntentId = paymentOfInvoice(invoice)
    facts.push({ subject, kind: 'invoice', id, data: defined({ paymentIntentId, paidCents }) })
  }
  return facts
}

const subscriptionFacts = (type: string, subscription: Record<string, unknown>): Fact[] => {
  const subject = text(subscription['id'], 'id')
  if (!subject) return []
  const isOver = type === 'customer.subscription.deleted' || subscription['status'] === 'canceled'
  const item = first(object(subscription['items'])['data'])
  const data = defined({
    status: text(subscription['status'], 'status'),
    cancelAtPeriodEnd:
      typeof subscription['cancel_at_period_end'] === 'boolean' ? subscription['cancel_at_period_end'] : undefined,
    periodEnd: timeOf(subscription['current_period_end'] ?? item['current_period_end'], 'current_period_end'),
    over: isOver ? true : undefined,
  })
  return [{ subject, kind: 'subscription', id: 'subscription', data }]
}

/**
 * When a fact of an event became true. The provider's times have whole seconds and its events any order: of two in one
 * second, `created` is the earliest, and a subscription that has left the state `incomplete` never returns to it.
 */
export const factTimeOf = ({ type, at }: PaymentEvent, { data }: Fact): string => {
  const earlierMs = type === 'customer.subscription.created' ? 2 : data['status'] === 'incomplete' ? 1 : 0
  return new Date(Date.parse(at) - earlierMs).toISOString()
}

/** The facts of an event about payments and subscriptions, known or not. */
export const readFacts = ({ type, object: subject }: PaymentEvent): Fact[] => {
  if (type === 'charge.refunded') return chargeFacts(subject)
  if (/^(refund|charge\.refund)\.(created|updated|failed)$/.test(type)) return refundFacts(subject)
  if (type.startsWith('charge.dispute.')) return disputeFacts(type, subject)
  if (type === 'payment_intent.succeeded') return methodFacts(subject)
  if (/^invoice\.(paid|payment_succeeded|payment_failed)$/.test(type)) return invoiceFacts(type, subject)
  if (/^customer\.subscription\.(created|updated|deleted)$/.test(type)) return subscriptionFacts(type, subject)
  return []
}
