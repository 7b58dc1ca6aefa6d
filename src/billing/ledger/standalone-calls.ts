// Model calls outside of turns, such as those of embedding models. They are charged like the calls of turns, with an id of
// their own in place of the turn's, and without an agent.
import type { FeeRule } from '../../config/billing.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { deleteReservation } from './reservation-queries.ts'
import * as reservations from './reservations.ts'
import type { Rates } from './reservations.ts'
import { insertStandaloneCharge } from './usage-queries.ts'

/** In place of the agent's id, because usage has one in every row. */
export const noAgentId = '00000000-0000-0000-0000-000000000000'

export interface StandaloneCall {
  id: string
  orgId: string
  model: string
  /** The operation in the usage reports. */
  operation: 'embedding'
  rates: Rates
  fee: FeeRule
  /** The call uses the org's own provider key, so only the fee is charged. */
  isByok: boolean
}

export interface StandaloneUsage {
  inputTokens: number
  /** The tokens were counted from the text. */
  isEstimate: boolean
  providerCostMicrocents: bigint
}

/**
 * Reserves the cost of a call, for `seconds` in case the process is killed. PAYMENT_REQUIRED when the balance or the cap
 * of the org does not cover it.
 */
export const reserveStandaloneCall = (
  db: Database,
  isEnforced: boolean,
  { id, orgId, rates, fee, isByok }: StandaloneCall,
  { inputTokens, seconds }: { inputTokens: number; seconds: number },
): Promise<void> =>
  db.transaction({ orgId }, (db) => {
    const call = { turnId: id, agentId: noAgentId, agentCapCents: null, maxOutputTokens: 0, inputTokens }
    return reservations.reserveStandaloneCall(db, isEnforced, { ...call, orgId, rates, fee, isByok }, seconds)
  })

/** Charges a call and releases its reservation. Returns what was charged with the fee, in microcents. */
export const chargeStandaloneCall = async (
  db: Transaction,
  call: StandaloneCall,
  usage: StandaloneUsage,
): Promise<bigint> => {
  const charged = await insertStandaloneCharge(db, { ...call, agentId: noAgentId, ...usage })
  await deleteReservation(db, call.orgId, call.id)
  return charged
}

/** For a call that failed. */
export const releaseStandaloneCall = (db: Database, { orgId, id }: StandaloneCall): Promise<number> =>
  deleteReservation(db, orgId, id)
