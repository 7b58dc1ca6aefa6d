import type { Model } from '../../../agents/agents.ts'
import type { ModelUsage } from '../../models/model-client.ts'

/** The limit for models without configured limits. No model reads or writes this many tokens in one call. */
const maxInputTokens = 10_000_000
const maxOutputTokens = 1_000_000

/** The built-in demo models report the tokens that a test requests. */
const builtInProvider = 'atrium'

/**
 * The usage that is counted and charged. A provider's report may be wrong: a prompt that exceeds the model's window is
 * estimated from its text instead, output is capped at the model's output limit, and cached tokens at those of the prompt.
 */
export const plausibleUsage = (
  reported: ModelUsage,
  model: Pick<Model, 'provider' | 'contextWindow' | 'maxOutputTokens'>,
  promptTokens: number,
): { usage: ModelUsage; isEstimate: boolean } => {
  const isBuiltIn = model.provider === builtInProvider
  const isPossible = isBuiltIn || reported.inputTokens <= (model.contextWindow ?? maxInputTokens)
  const maxOutput = isBuiltIn ? Infinity : (model.maxOutputTokens ?? model.contextWindow ?? maxOutputTokens)
  const inputTokens = isPossible ? reported.inputTokens : promptTokens
  const cacheReadTokens = isPossible ? Math.min(reported.cacheReadTokens, inputTokens) : 0
  const cacheWriteTokens = isPossible ? Math.min(reported.cacheWriteTokens, inputTokens - cacheReadTokens) : 0
  const outputTokens = Math.min(reported.outputTokens, maxOutput)
  return {
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    isEstimate: !isPossible || outputTokens < reported.outputTokens,
  }
}
