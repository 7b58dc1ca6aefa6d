// What the other areas may use. A call of a model is charged in the transaction that stores it, by the fragments of
// usage-queries.ts; the gate lets turns begin; the settler folds what was charged.
import type { BillingConfig } from '../config-billing.ts'
import type { Database } from '../platform/database.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { createSettler } from './settler.ts'
import type { Settler } from './settler.ts'
import { openPayments } from './stripe.ts'
import type { Payments } from './stripe.ts'

export { admitTurn, agentCapOf, isUnlimited, reserveCall } from './gate.ts'
export type { PlannedCall } from './gate.ts'
export { ceilDiv, microcentsPerCent } from './money.ts'
export { findProviderKey, openProviderKey } from './provider-keys.ts'
export { listTurnCharges, recordUsage, releaseHold, restHold, shrinkHold } from './usage-queries.ts'

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
