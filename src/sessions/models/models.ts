import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '../../config/models.ts'
import { createDemoModel } from './demo-model.ts'
import { streamLanguageModel } from './language-model.ts'
import { ModelFailure } from './model-client.ts'
import type { ModelCall, ModelClient } from './model-client.ts'
import { wireName } from './wire-name.ts'

/** OpenAI's models that reason refuse the older name, which everybody else still wants. */
const renameLimit = ({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> =>
  limit === undefined ? body : { ...body, max_completion_tokens: limit }

export interface ModelOptions {
  providers: readonly ModelProvider[]
  /** Whether the demo models obey `/slow`, `/fail` and `/tokens`. */
  allowsTestCommands: boolean
}

/**
 * The models of the catalog. The code that speaks to providers is loaded at the first call of one: 16 MB of memory that
 * a server without providers never needs.
 */
export const createModelClient = ({ providers, allowsTestCommands }: ModelOptions): ModelClient => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  const demos = new Map(['demo', 'demo-paid'].map((name) => [name, createDemoModel(name, allowsTestCommands)]))
  const open = async (modelId: string, ownKey?: string): Promise<LanguageModelV4> => {
    const [providerName = '', ...rest] = modelId.split('/')
    const name = rest.join('/')
    const provider = byName.get(providerName)
    const demo = providerName === 'atrium' ? demos.get(name) : undefined
    if (demo) return demo
    if (!provider) throw new ModelFailure('rejected', `The model ${modelId} is not configured on this server.`)
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { baseUrl } = provider
    const apiKey = ownKey ?? provider.apiKey
    // Without includeUsage a streamed answer tells no tokens at all.
    const settings = { name: providerName, baseURL: baseUrl, includeUsage: true, ...(apiKey ? { apiKey } : {}) }
    const renames = providerName === 'openai' ? { transformRequestBody: renameLimit } : {}
    return createOpenAICompatible({ ...settings, ...renames }).chatModel(name)
  }
  const opened = new Map<string, Promise<LanguageModelV4>>()
  const modelOf = ({ modelId, apiKey }: ModelCall): Promise<LanguageModelV4> => {
    // Not kept: an org may take its key away at any time.
    if (apiKey !== undefined) return open(modelId, apiKey)
    const known = opened.get(modelId)
    if (known) return known
    const opening = open(modelId)
    opened.set(modelId, opening)
    opening.catch(() => opened.delete(modelId))
    return opening
  }
  return {
    stream: async function* (call, signal) {
      // Ours knows no rules about names; it shows people those that they give.
      const nameOnWire = call.modelId.startsWith('atrium/') ? (name: string) => name : wireName
      yield* streamLanguageModel(await modelOf(call), call, nameOnWire, signal)
    },
  }
}
