import type { Model } from '../../agents/agents.ts'
import type { ModelUsage } from '../models/model-port.ts'

/** More than any model reads, or says at once: for those of which nobody told their limits. */
const mostRead = 10_000_000
const mostSaid = 1_000_000

/** Ours, which tell what a test has them tell. */
const ownProvider = 'atrium'

/**
 * What is counted and charged of the tokens that a provider told. It may err, or worse: a prompt longer than the model's
 * window is counted from its text instead, an answer ends at the model's limit, and no more of a prompt came from a cache
 * or went to one than there was of it.
 */
export const believedUsage = (
  told: ModelUsage,
  model: Pick<Model, 'provider' | 'contextWindow' | 'maxOutputTokens'>,
  promptTokens: number,
): { usage: ModelUsage; isEstimate: boolean } => {
  const isOurs = model.provider === ownProvider
  const isReadable = isOurs || told.inputTokens <= (model.contextWindow ?? mostRead)
  const maxOutput = isOurs ? Infinity : (model.maxOutputTokens ?? model.contextWindow ?? mostSaid)
  const inputTokens = isReadable ? told.inputTokens : promptTokens
  const cacheReadTokens = isReadable ? Math.min(told.cacheReadTokens, inputTokens) : 0
  const cacheWriteTokens = isReadable ? Math.min(told.cacheWriteTokens, inputTokens - cacheReadTokens) : 0
  const outputTokens = Math.min(told.outputTokens, maxOutput)
  return {
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    isEstimate: !isReadable || outputTokens < told.outputTokens,
  }
}
