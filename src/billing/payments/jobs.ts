import type { Database } from '../../platform/database/database.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Payments } from './stripe.ts'
import { setMethodMissing, setPaymentMethod } from './topup-queries.ts'

interface PaidDeposit {
  orgId: string
  paymentIntentId: string
  /** When it was paid, by the provider's clock. Jobs of the previous version have none. */
  paidAt?: string
}

/** Stores the payment method of a deposit, for automatic top-up. */
export const saveMethod = defineJob<PaidDeposit>('billing.save-method', { retryLimit: 8, fairBy: 'orgId' })

/** Cancels the subscription of a plan that another one replaced, and refunds it when the plan was paid twice. */
export const cancelSubscription = defineJob<{ orgId: string; subscriptionId: string }>('billing.cancel-subscription', {
  fairBy: 'orgId',
})

/** Looks up the payment of an invoice whose event did not name it. */
export const findInvoicePayment = defineJob<{ orgId: string; subscriptionId: string; invoiceId: string }>(
  'billing.find-invoice-payment',
  // Eight hours: without it, a refund of the invoice does not withdraw the credit.
  { retryLimit: 100, fairBy: 'orgId' },
)

export const workOnSaveMethod = async (
  { db, payments }: { db: Database; payments: Payments | undefined },
  { orgId, paymentIntentId, paidAt }: PaidDeposit,
): Promise<void> => {
  // Another worker may have the key. Without the method, automatic top-up has no card to charge.
  if (!payments) throw serviceUnavailable('Payments are not configured on this server.')
  const { customerId, paymentMethodId } = await payments.findPaymentMethod(paymentIntentId)
  if (customerId === null) return
  const method = { customerId, paymentMethodId, paymentId: paymentIntentId, paidAt }
  if (!(await setPaymentMethod(db, orgId, method))) return
  if (paymentMethodId === null && (await payments.findMethodOfCustomer(customerId)) === null) {
    await setMethodMissing(db, orgId, customerId)
  }
}
