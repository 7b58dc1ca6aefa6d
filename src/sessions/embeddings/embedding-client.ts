import type { ModelProvider } from '../../config/models.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { Circuits } from '../models/circuits.ts'
import { toModelFailure } from '../models/language-model.ts'
import { ModelFailure } from '../models/model-client.ts'
import type { ProviderRequest, ProviderResponse, VectorFault, VectorFormat, Vectors } from './protocol.ts'
import { createVectorThreads } from './vector-threads.ts'

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
  format: VectorFormat
}

export interface EmbeddingClient {
  /** One request to the provider. Throws a ModelFailure. */
  embed(call: EmbeddingCall): Promise<Vectors>
  close(): Promise<void>
}

export interface EmbeddingClientOptions {
  providers: readonly ModelProvider[]
  outbound: Pick<Outbound, 'fetch'>
  circuits: Circuits
}

/** For a whole request: unlike a turn's, the response comes at once. */
export const callTimeoutMs = 60_000

/** 1,024 vectors of 8,192 numbers take less. */
const maxResponseBytes = 200_000_000

const unreadable = (): ModelFailure =>
  new ModelFailure('unavailable', "The model's provider sent an unreadable response.")

const errorOf = (fault: VectorFault): Error => {
  if ('unreadable' in fault) return unreadable()
  if ('maxTexts' in fault) {
    return new ModelFailure('rejected', `The model takes at most ${fault.maxTexts} texts in a request.`)
  }
  return Object.assign(new Error('the request for embeddings failed'), fault.error)
}

const readBody = async (body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxResponseBytes) throw unreadable()
    chunks.push(chunk)
  }
  // A copy with a buffer of its own, which can be transferred to the thread.
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

export const createEmbeddingClient = ({ providers, outbound, circuits }: EmbeddingClientOptions): EmbeddingClient => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  const threads = createVectorThreads()

  const sendFor =
    (signal: AbortSignal) =>
    async ({ url, ...init }: ProviderRequest): Promise<ProviderResponse> => {
      // The operator chose the URL, so it may be private.
      const response = await outbound.fetch(url, { ...init, signal, trusted: true })
      const { status, headers } = response
      return { status, headers: Object.fromEntries(headers), body: await readBody(response.body) }
    }

  return {
    embed: async ({ modelId, orgId, apiKey, ...call }) => {
      const [providerName = '', ...rest] = modelId.split('/')
      const provider = byName.get(providerName)
      if (!provider && providerName !== 'atrium') {
        throw new ModelFailure('rejected', `The model ${modelId} is not configured on this server.`)
      }
      const signal = AbortSignal.timeout(callTimeoutMs)
      const asked = {
        ...call,
        name: rest.join('/'),
        apiKey: apiKey ?? provider?.apiKey,
        provider: provider && { protocol: provider.protocol, name: provider.name, baseUrl: provider.baseUrl },
      }
      try {
        return await circuits.guard({ provider: providerName, orgId }, async () => {
          try {
            const result = await threads.ask(orgId, asked, sendFor(signal), signal)
            if ('json' in result) return result
            throw errorOf(result)
          } catch (error) {
            if (!signal.aborted) throw error
            throw new ModelFailure('silent', "The model's provider did not respond in time.", { cause: error })
          }
        })
      } catch (error) {
        throw toModelFailure(error)
      }
    },
    close: threads.close,
  }
}
