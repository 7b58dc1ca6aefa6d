import type { Model } from '../../../agents/agents.ts'
import type { ModelUsage } from '../../models/model-client.ts'

/** More than any model reads or writes at once, for models whose limits are not configured. */
const maxInputTokens = 10_000_000
const maxOutputTokens = 1_000_000

/** The built-in demo models report the tokens that a test asks for. */
const builtInProvider = 'atrium'

/**
 * The usage that is counted and charged. A provider's report may be wrong: a prompt longer than the model's window is
 * estimated from its text instead, output is limited to what the model can write, and cached tokens to the prompt's.
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
