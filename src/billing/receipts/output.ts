import type { BillingConfig } from '../../config/billing.ts'
import type { Receipt } from './receipts.ts'

/** A receipt in the form of the API. */
export const toReceipt = (receipt: Receipt, { seller }: Pick<BillingConfig, 'seller'>) => ({
  paymentIntentId: receipt.paymentIntentId,
  number: receipt.label,
  kind: receipt.kind,
  planId: receipt.planId,
  paidCents: Number(receipt.paid),
  creditedCents: Number(receipt.amountCents),
  currency: 'usd' as const,
  seller,
  buyer: receipt.buyer,
  createdAt: receipt.createdAt,
})
