import type Stripe from 'stripe'
import { required, timeOf } from './event-fields.ts'

/** What was paid for an invoice, and what of it was refunded. */
export interface RefundedInvoice {
  id: string
  /** `billing_reason` of the invoice. */
  reason: string | null
  paidCents: number
  /** Null: paid otherwise, such as from the customer's balance. */
  payment: InvoicePayment | null
  refunds: { id: string; amountCents: number; at: string; isFailed: boolean }[]
}

/** Times are in ISO 8601, by the provider's clock. */
export interface InvoicePayment {
  paymentIntentId: string
  paidAt: string
}

export const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null)

const time = (seconds: number, name: string): string => required(timeOf(seconds, name), name)

export const findPaymentOfInvoice = async (stripe: Stripe, invoiceId: string): Promise<InvoicePayment | null> => {
  const { data } = await stripe.invoicePayments.list({ invoice: invoiceId, status: 'paid', limit: 10 })
  for (const { payment, created, status_transitions: times } of data) {
    const paymentIntentId = idOf(payment.payment_intent)
    if (paymentIntentId !== null) return { paymentIntentId, paidAt: time(times.paid_at ?? created, 'paid_at') }
  }
  return null
}

/** Nothing is left to refund, or the bank has withdrawn the payment. https://docs.stripe.com/error-codes */
const endedCodes = ['charge_already_refunded', 'charge_disputed']

const refundPayment = async (stripe: Stripe, paymentIntentId: string): Promise<void> => {
  try {
    // Without an amount: what is left. So a payment is refunded once, also when the provider has forgotten the key.
    await stripe.refunds.create(
      { payment_intent: paymentIntentId, reason: 'duplicate' },
      { idempotencyKey: `refund:${paymentIntentId}` },
    )
  } catch (error) {
    if (!endedCodes.includes((error as { code?: string }).code ?? '')) throw error
  }
}

/** Refunds all payments of a subscription and returns its paid invoices. Can be repeated. */
export const refundSubscription = async (stripe: Stripe, subscriptionId: string): Promise<RefundedInvoice[]> => {
  const { data } = await stripe.invoices.list({ subscription: subscriptionId, status: 'paid', limit: 100 })
  // The checkout was paid, so the list is not complete yet.
  if (data.length === 0) throw new Error(`the subscription ${subscriptionId} has no paid invoice`)
  const refunded: RefundedInvoice[] = []
  let rejection: Error | undefined
  for (const { id, amount_paid: paidCents, billing_reason: reason } of data) {
    if (paidCents === 0) continue
    const payment = await findPaymentOfInvoice(stripe, id)
    const invoice: RefundedInvoice = { id, reason, paidCents, payment, refunds: [] }
    refunded.push(invoice)
    if (!payment) continue
    try {
      await refundPayment(stripe, payment.paymentIntentId)
    } catch (error) {
      // The other payments are refunded anyway.
      rejection ??= error as Error
    }
    const made = await stripe.refunds.list({ payment_intent: payment.paymentIntentId, limit: 100 })
    invoice.refunds = made.data.map((refund) => ({
      id: refund.id,
      amountCents: refund.amount,
      at: time(refund.created, 'created'),
      isFailed: refund.status === 'failed' || refund.status === 'canceled',
    }))
  }
  if (rejection) throw rejection
  return refunded
}
