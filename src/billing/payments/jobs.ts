import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Payments } from './stripe.ts'
import { setMethodMissing, setPaymentMethod } from './topup-queries.ts'

/** Stores the payment method of a deposit, for automatic top-up. */
export const saveMethod = defineJob<{ orgId: string; paymentIntentId: string }>('billing.save-method', {
  retryLimit: 8,
})

/** Cancels the subscription of a plan that another one replaced. */
export const cancelSubscription = defineJob<{ orgId: string; subscriptionId: string }>('billing.cancel-subscription')

/** Looks up the payment of an invoice whose event did not name it. */
export const findInvoicePayment = defineJob<{ orgId: string; subscriptionId: string; invoiceId: string }>(
  'billing.find-invoice-payment',
  { retryLimit: 8 },
)

export const workOnSaveMethod = async (
  { db, payments }: { db: Database; payments: Payments | undefined },
  { orgId, paymentIntentId }: { orgId: string; paymentIntentId: string },
): Promise<void> => {
  if (!payments) return
  const { customerId, paymentMethodId } = await payments.findPaymentMethod(paymentIntentId)
  if (customerId === null) return
  await setPaymentMethod(db, orgId, customerId, paymentMethodId)
  if (paymentMethodId === null && (await payments.findMethodOfCustomer(customerId)) === null) {
    await setMethodMissing(db, orgId, customerId)
  }
}
