import type { ModelProvider } from '../../config/models.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { Circuits } from './circuits.ts'
import { createDemoModel } from './demo-model.ts'
import { streamLanguageModel } from './language-model.ts'
import type { OpenModel } from './language-model.ts'
import { ModelFailure } from './model-client.ts'
import type { ModelCall, ModelClient } from './model-client.ts'
import { openNativeModel } from './native-models.ts'
import { wireName } from './wire-name.ts'

/** OpenAI's reasoning models reject `max_tokens`; other OpenAI-compatible servers support only that name. */
const renameLimit = ({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> =>
  limit === undefined ? body : { ...body, max_completion_tokens: limit }

export interface ModelOptions {
  providers: readonly ModelProvider[]
  /** Whether the demo models accept the commands `/slow`, `/fail` and `/tokens`. */
  allowsTestCommands: boolean
  outbound: Pick<Outbound, 'fetch'>
  circuits: Circuits
}

type Fetch = typeof globalThis.fetch

const openCompatible = async (
  { name: provider, baseUrl }: ModelProvider,
  name: string,
  { apiKey, fetch }: { apiKey: string | undefined; fetch: Fetch },
) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  // Without includeUsage, providers do not report tokens for a streamed response.
  const settings = {
    name: provider,
    baseURL: baseUrl,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
    ...(apiKey ? { apiKey } : {}),
  }
  const renames = provider === 'openai' ? { transformRequestBody: renameLimit } : {}
  return createOpenAICompatible({ ...settings, ...renames }).chatModel(name)
}

/**
 * Calls the models of the catalog. The providers' client uses 16 MB of memory, so it is loaded on first use: a server
 * without providers never loads it.
 */
export const createModelClient = ({ providers, allowsTestCommands, outbound, circuits }: ModelOptions): ModelClient => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  const demos = new Map(['demo', 'demo-paid'].map((name) => [name, createDemoModel(name, allowsTestCommands)]))
  // The operator chose the URL, so it may be private.
  const fetch: Fetch = (url, init) => outbound.fetch(url instanceof Request ? url.url : url, { ...init, trusted: true })
  const open = async (modelId: string, ownKey?: string): Promise<OpenModel> => {
    const [providerName = '', ...rest] = modelId.split('/')
    const name = rest.join('/')
    const demo = providerName === 'atrium' ? demos.get(name) : undefined
    if (demo) return { model: demo, provider: 'atrium', protocol: 'openai-compatible' }
    const provider = byName.get(providerName)
    if (!provider) throw new ModelFailure('rejected', `The model ${modelId} is not configured on this server.`)
    const { protocol, baseUrl: baseURL } = provider
    const apiKey = ownKey ?? provider.apiKey
    if (protocol === 'openai-compatible') {
      return { model: await openCompatible(provider, name, { apiKey, fetch }), provider: providerName, protocol }
    }
    const model = await openNativeModel(protocol, name, { baseURL, apiKey: apiKey ?? '', fetch })
    return { model, provider: providerName, protocol }
  }
  const cache = new Map<string, Promise<OpenModel>>()
  const modelOf = ({ modelId, apiKey }: ModelCall): Promise<OpenModel> => {
    // Not cached, because an org may remove its key at any time.
    if (apiKey !== undefined) return open(modelId, apiKey)
    const cached = cache.get(modelId)
    if (cached) return cached
    const opening = open(modelId)
    cache.set(modelId, opening)
    opening.catch(() => cache.delete(modelId))
    return opening
  }
  return {
    stream: async function* (call, signal) {
      // The demo models accept any tool name, so they get the names that people see.
      const nameOnWire = call.modelId.startsWith('atrium/') ? (name: string) => name : wireName
      yield* streamLanguageModel({ ...(await modelOf(call)), circuits }, call, nameOnWire, signal)
    },
  }
}
