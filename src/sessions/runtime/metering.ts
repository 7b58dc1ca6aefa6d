import type { AgentRow } from '../../agents/agents.ts'
import type { ModelPricing } from '../../config/models.ts'
import { agentCapOf, isUnlimited, openProviderKey, reserveCall } from '../../billing/billing.ts'
import type { PlannedCall } from '../../billing/billing.ts'
import { holdTurn } from './checkpoint-queries.ts'
import { ModelFailure } from '../models/model-port.ts'
import type { ModelCall } from '../models/model-port.ts'
import { estimateTokens } from './prompt.ts'
import type { Run } from './turn-run.ts'

/** A call of a turn, as billing has to know it before it is made. */
export const planCall = (
  orgId: string,
  turn: {
    id: string
    pricing: ModelPricing
    feeBps: number
    feeWaiverCents: number | bigint
    providerKeyId: string | null
  },
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

/** What the prompt of a call comes to, by its bytes. */
export const promptTokensOf = (call: ModelCall): number =>
  estimateTokens(call.instructions) + estimateTokens(call.messages) + estimateTokens(call.tools)

/**
 * The call as it may be made: its answer as long as there is money for, on the org's own key where the turn runs on one.
 * `cost` when there is not enough for any useful answer.
 */
export const affordCall = async (run: Run, call: ModelCall): Promise<ModelCall | ModelFailure | 'cost'> => {
  const { deps, held, turn, agent } = run
  const { db, billing, secrets } = deps
  const maxOutputTokens = call.maxOutputTokens ?? null
  const planned = planCall(held.orgId, turn, agent, { inputTokens: promptTokensOf(call), maxOutputTokens })
  const { isEnforced } = billing.config
  const verdict = (await isUnlimited(db, isEnforced, planned))
    ? { maxOutputTokens }
    : await db.transaction(held, async (db) => {
        // Before the account: whoever ends a turn for the sake of another one locks them in this order, too.
        if (!(await holdTurn(db, held))) throw new Error('the turn is not ours any more')
        return reserveCall(db, isEnforced, planned)
      })
  if ('refusal' in verdict) return 'cost'
  const limited = verdict.maxOutputTokens === null ? call : { ...call, maxOutputTokens: verdict.maxOutputTokens }
  if (turn.providerKeyId === null) return limited
  const apiKey = await openProviderKey(db, secrets, held.orgId, turn.providerKeyId)
  if (apiKey === undefined) return new ModelFailure('rejected', 'The provider key that the turn runs on was removed.')
  return { ...limited, apiKey }
}
