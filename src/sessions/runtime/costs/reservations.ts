import type { AgentRow } from '../../../agents/agents.ts'
import { agentCapOf, coveredBy, isUnlimited, openProviderKey, reserveCall } from '../../../billing/billing.ts'
import type { Billing, PlannedCall, ReservedMoney } from '../../../billing/billing.ts'
import type { ModelPricing } from '../../../config/models.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'
import { ModelFailure } from '../../models/model-client.ts'
import type { ModelCall } from '../../models/model-client.ts'
import { estimateTokens, tokensOf } from '../prompt/prompt.ts'
import { lockLeasedTurn } from '../queries.ts'
import type { TurnLease } from '../checkpoint-queries.ts'
import type { CallTarget } from '../steps/fallbacks.ts'

/** The fields of a turn that billing needs. */
interface PricedTurn {
  id: string
  pricing: ModelPricing
  feeBps: number
  feeWaiverCents: number | bigint
  providerKeyId: string | null
}

/** The fields of a model call that billing needs before the call is made. */
export const planCall = (
  orgId: string,
  turn: PricedTurn,
  agent: Pick<AgentRow, 'id' | 'settings'>,
  tokens: Pick<PlannedCall, 'inputTokens' | 'likelyInputTokens' | 'maxOutputTokens'>,
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

/** The tokens of a call's prompt, estimated from its size in bytes and the sizes of its pictures and PDF files. */
export const promptTokensOf = (call: ModelCall): number =>
  estimateTokens([call.instructions, call.responseFormat]) + tokensOf(call.messages) + estimateTokens(call.tools)

/** Reserves money before each model call of a turn. */
export interface Reservations {
  /**
   * Returns the call to make: with its output limited by the available money, and with the org's own key when the turn
   * uses one. `cost` when the money is not enough for a useful response.
   */
  reserve(agent: AgentRow, call: ModelCall, target: CallTarget): Promise<ModelCall | ModelFailure | 'cost'>
}

export interface ReservationDeps {
  db: Database
  billing: Pick<Billing, 'config'>
  secrets: Sealer
}

/** `admitted` is what the admission of the turn reserved for its first call, if this process knows it. */
export const createReservations = (
  { db, billing, secrets }: ReservationDeps,
  lease: TurnLease,
  turn: PricedTurn,
  admitted?: ReservedMoney,
): Reservations => {
  const { isEnforced } = billing.config
  const { orgId } = lease
  let reserved = admitted

  const verdictFor = async (planned: PlannedCall) => {
    const covered = reserved && coveredBy(reserved, planned)
    // A second call of the turn has a larger prompt, and the first one was charged to the reservation.
    reserved = undefined
    if (covered) return covered
    if (await isUnlimited(db, isEnforced, planned)) return { maxOutputTokens: planned.maxOutputTokens }
    return db.transaction(lease, async (db) => {
      // Every transaction locks the turn before the account, so two transactions that end a turn cannot deadlock.
      if (!(await lockLeasedTurn(db, lease))) throw new Error('the lease on the turn is lost')
      return reserveCall(db, isEnforced, planned)
    })
  }

  return {
    reserve: async (agent, call, { pricing, providerKeyId }) => {
      const maxOutputTokens = call.maxOutputTokens ?? null
      const tokens = { inputTokens: promptTokensOf(call), maxOutputTokens }
      const verdict = await verdictFor(planCall(orgId, { ...turn, pricing, providerKeyId }, agent, tokens))
      if ('rejection' in verdict) return 'cost'
      const limited = verdict.maxOutputTokens === null ? call : { ...call, maxOutputTokens: verdict.maxOutputTokens }
      if (providerKeyId === null) return limited
      const apiKey = await openProviderKey(db, secrets, orgId, providerKeyId)
      if (apiKey === undefined) {
        return new ModelFailure('rejected', 'The provider key that the turn runs on was removed.')
      }
      return { ...limited, apiKey }
    },
  }
}
