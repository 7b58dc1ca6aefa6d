import type { AgentRow } from '../../../agents/agents.ts'
import { agentCapOf, isUnlimited, openProviderKey, reserveCall } from '../../../billing/billing.ts'
import type { Billing, PlannedCall } from '../../../billing/billing.ts'
import type { ModelPricing } from '../../../config/models.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'
import { ModelFailure } from '../../models/model-client.ts'
import type { ModelCall } from '../../models/model-client.ts'
import { estimateTokens } from '../prompt/prompt.ts'
import { lockLeasedTurn } from '../queries.ts'
import type { TurnLease } from '../queries.ts'

/** What billing needs to know of a turn. */
interface PricedTurn {
  id: string
  pricing: ModelPricing
  feeBps: number
  feeWaiverCents: number | bigint
  providerKeyId: string | null
}

/** A model call of a turn, as billing has to know it before the call is made. */
export const planCall = (
  orgId: string,
  turn: PricedTurn,
  agent: Pick<AgentRow, 'id' | 'settings'>,
  tokens: { inputTokens: number; maxOutputTokens: number | null },
): PlannedCall => ({
  orgId,
  turnId: turn.id,
  agentId: agent.id,
  agentCapCents: agentCapOf(agent.settings),
  rates: turn.pricing,
  fee: { bps: turn.feeBps, waiverCents: Number(turn.feeWaiverCents) },
  isByok: turn.providerKeyId !== null,
  ...tokens,
})

/** Tokens of a call's prompt, estimated from its bytes. */
export const promptTokensOf = (call: ModelCall): number =>
  estimateTokens(call.instructions) + estimateTokens(call.messages) + estimateTokens(call.tools)

/** Sets money aside before each model call of a turn. */
export interface Reservations {
  /**
   * Returns the call as it may be made: its output limited to what there is money for, with the org's own key when the
   * turn runs on one. `cost` when there is not enough money for a useful answer.
   */
  reserve(agent: AgentRow, call: ModelCall): Promise<ModelCall | ModelFailure | 'cost'>
}

export interface ReservationDeps {
  db: Database
  billing: Pick<Billing, 'config'>
  secrets: Sealer
}

export const createReservations = (
  { db, billing, secrets }: ReservationDeps,
  lease: TurnLease,
  turn: PricedTurn,
): Reservations => {
  const { isEnforced } = billing.config
  const { orgId } = lease

  const verdictFor = async (planned: PlannedCall) => {
    if (await isUnlimited(db, isEnforced, planned)) return { maxOutputTokens: planned.maxOutputTokens }
    return db.transaction(lease, async (db) => {
      // The turn is locked before the account, as everywhere: two transactions that end a turn cannot deadlock.
      if (!(await lockLeasedTurn(db, lease))) throw new Error('the lease on the turn is lost')
      return reserveCall(db, isEnforced, planned)
    })
  }

  return {
    reserve: async (agent, call) => {
      const maxOutputTokens = call.maxOutputTokens ?? null
      const tokens = { inputTokens: promptTokensOf(call), maxOutputTokens }
      const verdict = await verdictFor(planCall(orgId, turn, agent, tokens))
      if ('rejection' in verdict) return 'cost'
      const limited = verdict.maxOutputTokens === null ? call : { ...call, maxOutputTokens: verdict.maxOutputTokens }
      if (turn.providerKeyId === null) return limited
      const apiKey = await openProviderKey(db, secrets, orgId, turn.providerKeyId)
      if (apiKey === undefined) {
        return new ModelFailure('rejected', 'The provider key that the turn runs on was removed.')
      }
      return { ...limited, apiKey }
    },
  }
}
