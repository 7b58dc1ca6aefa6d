// The facade for other areas. A model call is charged in the statement that stores it, by the SQL fragments of
// usage-queries.ts; reservations.ts admits turns; the charge poster posts what was charged.
import type { BillingConfig } from '../config/billing.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import { createPdfPrinter } from './documents/pdf.ts'
import type { PdfPrinter } from './documents/pdf.ts'
import { createChargePoster } from './ledger/charge-poster.ts'
import type { ChargePoster } from './ledger/charge-poster.ts'
import { openPayments } from './payments/stripe.ts'
import type { Payments } from './payments/stripe.ts'

export { createPdfPrinter }
export type { PdfPrinter }
export { admitTurn, agentCapOf, coveredBy, isUnlimited, reserveCall } from './ledger/reservations.ts'
export type { PlannedCall, ReservedMoney } from './ledger/reservations.ts'
export { chargeStandaloneCall, releaseStandaloneCall, reserveStandaloneCall } from './ledger/standalone-calls.ts'
export type { StandaloneCall } from './ledger/standalone-calls.ts'
export { ceilDiv, microcentsPerCent } from './ledger/money.ts'
export { findProviderKey, openProviderKey } from './provider-keys/provider-keys.ts'
export {
  addReservation,
  emptyReservation,
  chargesOfTurn,
  recordUsage,
  releaseReservation,
  shrinkReservation,
} from './ledger/usage-queries.ts'
export type { TurnCharge } from './ledger/usage-queries.ts'

export interface Billing {
  config: BillingConfig
  chargePoster: ChargePoster
  /** Undefined without a payment provider. */
  payments: Payments | undefined
}

/** Opens no connections. */
export const createBilling = (
  config: BillingConfig,
  deps: { db: Database; jobs: Pick<Jobs, 'enqueue'>; log: Log },
): Billing => ({ config, chargePoster: createChargePoster(deps), payments: openPayments(config) })
