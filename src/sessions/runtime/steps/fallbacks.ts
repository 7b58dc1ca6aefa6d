import { fallbackModelsOf } from '../../../agents/agents.ts'
import type { AgentRow, Model, ModelCatalog } from '../../../agents/agents.ts'
import { findProviderKey } from '../../../billing/billing.ts'
import type { Billing } from '../../../billing/billing.ts'
import type { ModelPricing } from '../../../config/models.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { ModelFailure } from '../../models/model-client.ts'
import type { ClaimedTurn } from '../../turns/claim-queries.ts'
import type { StepFallback } from '../../turns/call-queries.ts'
import type { TurnState } from '../turn-state.ts'

/** The model of a call, and what it costs. */
export interface CallTarget {
  model: Pick<Model, 'id' | 'provider' | 'contextWindow' | 'maxOutputTokens' | 'capabilities' | 'input'>
  pricing: ModelPricing
  /** The org's own key at the provider; null for the operator's. */
  providerKeyId: string | null
  /** Null for the turn's own model. */
  fallback: StepFallback | null
}

/** Chooses the models of a turn's calls: its own one, then the fallback models of its agent, in their order. */
export interface Fallbacks {
  /** The model of the last call, also of one that another worker made. A turn does not return to an earlier model. */
  current(own: Model): CallTarget
  /** The next model that can be called; undefined when there is none. */
  next(agent: AgentRow, target: CallTarget): Promise<CallTarget | undefined>
}

/** Whether another model may succeed, and the reader has seen nothing of the failed call. */
export const allowsFallback = ({ code }: ModelFailure, hadOutput: boolean): boolean =>
  !hadOutput && ['rate_limited', 'unavailable', 'silent'].includes(code)

export interface FallbackDeps {
  db: Database
  models: ModelCatalog
  billing: Pick<Billing, 'config'>
}

export const createFallbacks = (
  { db, models, billing }: FallbackDeps,
  orgId: string,
  turn: Pick<ClaimedTurn, 'model' | 'pricing' | 'providerKeyId'>,
  state: Pick<TurnState, 'steps'>,
): Fallbacks => ({
  current: (own) => {
    const fallback = state.steps.at(-1)?.fallback ?? null
    const model = fallback && models.find(fallback.model)
    if (fallback && model) return { ...fallback, model, fallback }
    return { model: own, pricing: turn.pricing, providerKeyId: turn.providerKeyId, fallback: null }
  },
  next: async (agent, target) => {
    const tried = new Set([turn.model, target.model.id, ...state.steps.map(({ fallback }) => fallback?.model)])
    const id = fallbackModelsOf(agent.settings).find((one) => !tried.has(one) && models.find(one)?.available)
    const model = id === undefined ? undefined : models.find(id)
    if (!model?.pricing) return undefined
    const { pricing } = model
    const providerKeyId = (await findProviderKey(db, billing.config, orgId, model.provider)) ?? null
    return { model, pricing, providerKeyId, fallback: { model: model.id, pricing, providerKeyId } }
  },
})
