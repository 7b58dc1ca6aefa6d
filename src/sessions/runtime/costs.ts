import type { ModelPricing } from '../../config/models.ts'
import { ceilDiv } from '../../billing/billing.ts'
import type { ModelUsage } from '../models/model-port.ts'

const perMillion = 1_000_000n

/** Microcents of one call, rounded up. Cached tokens are part of the input and have their own rate. */
export const costOf = (usage: ModelUsage, pricing: ModelPricing): bigint => {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const total =
    BigInt(fresh) * BigInt(pricing.input) +
    BigInt(cacheReadTokens) * BigInt(pricing.cacheRead) +
    BigInt(cacheWriteTokens) * BigInt(pricing.cacheWrite) +
    BigInt(outputTokens) * BigInt(pricing.output)
  return ceilDiv(total, perMillion)
}
