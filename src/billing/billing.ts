// What the other areas may use. A call of a model is charged in the transaction that stores it, by the fragments of
// usage-queries.ts; the gate lets turns begin; the settler folds what was charged.
import type { BillingConfig } from '../config/billing.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import { createSettler } from './ledger/settler.ts'
import type { Settler } from './ledger/settler.ts'
import { openPayments } from './payments/stripe.ts'
import type { Payments } from './payments/stripe.ts'

export { admitTurn, agentCapOf, isUnlimited, reserveCall } from './ledger/gate.ts'
export type { PlannedCall } from './ledger/gate.ts'
export { ceilDiv, microcentsPerCent } from './ledger/money.ts'
export { findProviderKey, openProviderKey } from './provider-keys/provider-keys.ts'
export { listTurnCharges, recordUsage, releaseHold, restHold, shrinkHold } from './ledger/usage-queries.ts'

export interface Billing {
  config: BillingConfig
  settler: Settler
  /** Undefined: nobody can pay by card. */
  payments: Payments | undefined
}

/** Connects nothing yet. */
export const createBilling = (
  config: BillingConfig,
  deps: { db: Database; jobs: Pick<Jobs, 'enqueue'>; log: Log },
): Billing => ({ config, settler: createSettler(deps), payments: openPayments(config) })
