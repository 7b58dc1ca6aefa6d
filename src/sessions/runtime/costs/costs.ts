import type { ModelPricing } from '../../../config/models.ts'
import { ceilDiv, microcentsPerCent } from '../../../billing/billing.ts'
import type { ModelUsage } from '../../models/model-client.ts'
import type { ClaimedTurn } from '../../turns/claim-queries.ts'
import type { TurnStep } from '../turn-state.ts'

const perMillion = 1_000_000n

/** The price of one model call in microcents, rounded up. Cached tokens are part of the input and have separate rates. */
export const costOf = (usage: ModelUsage, pricing: ModelPricing): bigint => {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const total =
    BigInt(uncached) * BigInt(pricing.input) +
    BigInt(cacheReadTokens) * BigInt(pricing.cacheRead) +
    BigInt(cacheWriteTokens) * BigInt(pricing.cacheWrite) +
    BigInt(outputTokens) * BigInt(pricing.output)
  return ceilDiv(total, perMillion)
}

/** Whether the model calls of a turn have spent its limit of cost. */
export const isOverBudget = (
  { maxCostCents }: Pick<ClaimedTurn, 'maxCostCents'>,
  steps: readonly Pick<TurnStep, 'costMicrocents'>[],
): boolean => {
  if (maxCostCents === null) return false
  const spentMicrocents = steps.reduce((sum, step) => sum + step.costMicrocents, 0n)
  return spentMicrocents >= BigInt(maxCostCents) * microcentsPerCent
}
