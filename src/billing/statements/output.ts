import type { Seller } from '../../config/billing.ts'
import type { Buyer } from '../receipts/queries.ts'
import { receiptLabel } from '../receipts/receipts.ts'
import type { MonthSummary, Statement } from './statements.ts'

/** The sums of a month in the form of the API. */
export const toSummary = (summary: MonthSummary) => ({
  month: summary.month,
  provisional: summary.isProvisional,
  openingBalanceCents: Number(summary.openingCents),
  depositsCents: Number(summary.depositCents),
  refundsCents: Number(summary.refundCents),
  adjustmentsCents: Number(summary.adjustmentCents),
  usageCents: Number(summary.usageCents),
  closingBalanceCents: Number(summary.closingCents),
})

export interface StatementNames {
  orgId: string
  seller: Seller | null
  buyer: Buyer
  modelName: (id: string) => string
}

/** A statement in the form of the API. */
export const toStatement = (statement: Statement, { orgId, seller, buyer, modelName }: StatementNames) => {
  const { from, to, entries, omitted, usage, planPayments } = statement
  return {
    ...toSummary(statement),
    from,
    to,
    currency: 'usd' as const,
    seller,
    buyer,
    entries: entries.map((entry) => ({ ...entry, amountCents: Number(entry.amountCents) })),
    omittedCount: omitted.count,
    omittedCents: Number(omitted.cents),
    usage: {
      models: usage.lines.map(({ model, requestCount, inputTokens, outputTokens, microcents }) => ({
        id: model,
        name: model === null ? 'Other models' : modelName(model),
        requestCount,
        inputTokens,
        outputTokens,
        amountMicrocents: Number(microcents),
      })),
      platformFeeMicrocents: Number(usage.feeMicrocents),
      carriedInMicrocents: Number(usage.carriedInMicrocents),
      carriedOutMicrocents: Number(usage.carriedOutMicrocents),
      totalMicrocents: Number(usage.totalMicrocents),
    },
    planPayments: planPayments.map(({ receiptNumber, paidCents, ...payment }) => ({
      ...payment,
      receiptNumber: receiptLabel(orgId, receiptNumber),
      paidCents: Number(paidCents),
    })),
  }
}
