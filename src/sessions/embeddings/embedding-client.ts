import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '../../config/models.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { Circuits } from '../models/circuits.ts'
import { toModelFailure } from '../models/language-model.ts'
import { ModelFailure } from '../models/model-client.ts'
import { demoEmbedding } from './demo-embedding.ts'

export interface EmbeddingCall {
  /** `provider/model` */
  modelId: string
  /** The org for which the call is made. */
  orgId: string
  input: string[]
  /** The length of the vectors. Default: that of the model. */
  dimensions: number | undefined
  /** The org's own key at the provider. Default: the operator's key. */
  apiKey: string | undefined
}

export interface EmbeddingResult {
  /** One for each text, in the same order, all with the same length. */
  vectors: number[][]
  /** Undefined when the provider did not report them. */
  inputTokens: number | undefined
}

export interface EmbeddingClient {
  /** One request to the provider. Throws a ModelFailure. */
  embed(call: EmbeddingCall): Promise<EmbeddingResult>
}

export interface EmbeddingClientOptions {
  providers: readonly ModelProvider[]
  outbound: Pick<Outbound, 'fetch'>
  circuits: Circuits
}

/** For a whole request: unlike a turn's, the response comes at once. */
export const callTimeoutMs = 60_000

type Fetch = typeof globalThis.fetch

/** The clients are loaded on first use, as for other models. */
const openModel = async (
  { protocol, name: provider, baseUrl: baseURL }: ModelProvider,
  name: string,
  { apiKey, fetch }: { apiKey: string | undefined; fetch: Fetch },
): Promise<EmbeddingModelV4> => {
  if (protocol === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ baseURL, apiKey: apiKey ?? '', fetch }).embeddingModel(name)
  }
  if (protocol === 'google') {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ baseURL, apiKey: apiKey ?? '', fetch }).embeddingModel(name)
  }
  if (protocol === 'anthropic') throw new ModelFailure('rejected', 'The provider of the model has no embeddings.')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const settings = { name: provider, baseURL, fetch, ...(apiKey ? { apiKey } : {}) }
  return createOpenAICompatible(settings).embeddingModel(name)
}

const unreadable = (): ModelFailure =>
  new ModelFailure('unavailable', "The model's provider sent an unreadable response.")

/** The provider's vectors, if there is one of the same length for each text. */
const checkVectors = (vectors: number[][], { input, dimensions }: EmbeddingCall): void => {
  const length = dimensions ?? vectors[0]?.length ?? 0
  const isVector = (vector: number[]): boolean => vector.length === length && vector.every(Number.isFinite)
  if (length === 0 || vectors.length !== input.length || !vectors.every(isVector)) throw unreadable()
}

export const createEmbeddingClient = ({ providers, outbound, circuits }: EmbeddingClientOptions): EmbeddingClient => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  // The operator chose the URL, so it may be private.
  const fetch: Fetch = (url, init) => outbound.fetch(url instanceof Request ? url.url : url, { ...init, trusted: true })

  const open = ({ modelId, apiKey }: EmbeddingCall): Promise<EmbeddingModelV4> | EmbeddingModelV4 => {
    const [providerName = '', ...rest] = modelId.split('/')
    if (providerName === 'atrium') return demoEmbedding
    const provider = byName.get(providerName)
    if (!provider) throw new ModelFailure('rejected', `The model ${modelId} is not configured on this server.`)
    return openModel(provider, rest.join('/'), { apiKey: apiKey ?? provider.apiKey, fetch })
  }

  return {
    embed: async (call) => {
      const { input, dimensions, orgId, modelId } = call
      const signal = AbortSignal.timeout(callTimeoutMs)
      const model = await open(call)
      const most = (await model.maxEmbeddingsPerCall) ?? Infinity
      if (input.length > most) throw new ModelFailure('rejected', `The model takes at most ${most} texts in a request.`)
      const options = { values: input, abortSignal: signal, ...(dimensions === undefined ? {} : { dimensions }) }
      try {
        const provider = modelId.split('/')[0] ?? ''
        const result = await circuits.guard({ provider, orgId }, async () => {
          try {
            return await model.doEmbed(options)
          } catch (error) {
            if (!signal.aborted) throw error
            throw new ModelFailure('silent', "The model's provider did not respond in time.", { cause: error })
          }
        })
        checkVectors(result.embeddings, call)
        return { vectors: result.embeddings, inputTokens: result.usage?.tokens }
      } catch (error) {
        throw toModelFailure(error)
      }
    },
  }
}
