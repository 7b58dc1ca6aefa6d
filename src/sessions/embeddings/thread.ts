// A thread of its own: a response of 1,024 vectors with 3,072 numbers each has 60 MB, which take two seconds to parse,
// validate and write. Requests go through the server's own connections, because it knows which addresses are allowed.
import { parentPort } from 'node:worker_threads'
import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import { demoEmbedding } from './demo-embedding.ts'
import type {
  ClientError,
  FromThread,
  ProviderResponse,
  ToThread,
  VectorCall,
  VectorFault,
  VectorFormat,
} from './protocol.ts'

type Fetch = typeof globalThis.fetch

/** The clients are loaded on first use, as for other models. */
const openModel = async ({ provider, name, apiKey = '' }: VectorCall, fetch: Fetch): Promise<EmbeddingModelV4> => {
  if (provider === undefined) return demoEmbedding
  const { protocol, name: providerName, baseUrl: baseURL } = provider
  if (protocol === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ baseURL, apiKey, fetch }).embeddingModel(name)
  }
  if (protocol === 'google') {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ baseURL, apiKey, fetch }).embeddingModel(name)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const settings = { name: providerName, baseURL, fetch, ...(apiKey === '' ? {} : { apiKey }) }
  return createOpenAICompatible(settings).embeddingModel(name)
}

/** Whether there is one vector for each text, and all have the same length. */
const areUsable = (vectors: number[][], { input, dimensions }: VectorCall): boolean => {
  const length = dimensions ?? vectors[0]?.length ?? 0
  const isVector = (vector: number[]): boolean => vector.length === length && vector.every(Number.isFinite)
  return length > 0 && vectors.length === input.length && vectors.every(isVector)
}

/** 32-bit floating point numbers, little-endian on every platform. */
const base64Of = (vector: number[]): string => {
  const buffer = Buffer.allocUnsafe(4 * vector.length)
  for (const [index, value] of vector.entries()) buffer.writeFloatLE(value, 4 * index)
  return buffer.toString('base64')
}

const write = (vectors: number[][], format: VectorFormat): Uint8Array => {
  const entries =
    format === 'lists'
      ? vectors
      : vectors.map((vector, index) => ({
          object: 'embedding',
          index,
          embedding: format === 'openai-base64' ? base64Of(vector) : vector,
        }))
  return new TextEncoder().encode(JSON.stringify(entries))
}

interface Pending {
  cancel: AbortController
  /** Resolves the request of the call. */
  respond(response: ProviderResponse): void
}

const pending = new Map<number, Pending>()
const send = (message: FromThread, transfer: ArrayBuffer[] = []): void => parentPort?.postMessage(message, transfer)

/** Sends the request of a call through the server. Clients make one for each call. */
const fetchFor =
  (id: number, response: Promise<ProviderResponse>): Fetch =>
  async (url, init) => {
    const headers = Object.fromEntries(new Headers(init?.headers))
    const body = init?.body
    if (typeof body !== 'string') throw new TypeError('the body of a request for embeddings is text')
    send({
      id,
      request: { url: url instanceof Request ? url.url : String(url), method: init?.method ?? 'POST', headers, body },
    })
    const { status, headers: answered, body: bytes } = await response
    return new Response(bytes, { status, headers: answered })
  }

const faultOf = (error: unknown): VectorFault => {
  const { name = 'Error', statusCode, responseHeaders } = (error ?? {}) as Partial<ClientError>
  return { error: { name, statusCode, responseHeaders } }
}

const run = async (id: number, call: VectorCall): Promise<void> => {
  const cancel = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<ProviderResponse>()
  // The built-in model makes no request, which would await it.
  promise.catch(() => undefined)
  cancel.signal.addEventListener('abort', () => reject(cancel.signal.reason))
  pending.set(id, { cancel, respond: resolve })
  try {
    const model = await openModel(call, fetchFor(id, promise))
    const maxTexts = (await model.maxEmbeddingsPerCall) ?? Infinity
    if (call.input.length > maxTexts) return send({ id, fault: { maxTexts } })
    const { dimensions, input: values, format } = call
    const options = { values, abortSignal: cancel.signal, ...(dimensions === undefined ? {} : { dimensions }) }
    const { embeddings, usage } = await model.doEmbed(options)
    if (!areUsable(embeddings, call)) return send({ id, fault: { unreadable: true } })
    const json = write(embeddings, format)
    const vectors = { json, dimensions: embeddings[0]?.length ?? 0, inputTokens: usage?.tokens }
    send({ id, vectors }, [json.buffer as ArrayBuffer])
  } catch (error) {
    send({ id, fault: faultOf(error) })
  } finally {
    pending.delete(id)
  }
}

parentPort?.on('message', (message: ToThread) => {
  if ('call' in message) void run(message.id, message.call)
  else if ('response' in message) pending.get(message.id)?.respond(message.response)
  else pending.get(message.id)?.cancel.abort(new Error('the request was cancelled'))
})
