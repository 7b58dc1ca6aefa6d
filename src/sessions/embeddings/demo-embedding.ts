import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { EmbeddingModelV4 } from '@ai-sdk/provider'

const bytesPerToken = 4
const defaultDimensions = 256

// A request of 1 MB takes more than a second. Other calls run in the thread between slices.
const sliceMs = 5
const wordsBetweenChecks = 64

/** Lets other calls run when the current slice has ended. */
type Pause = () => Promise<void> | undefined

const slices = (signal: AbortSignal | undefined): Pause => {
  let began = performance.now()
  return () => {
    if (performance.now() - began < sliceMs) return undefined
    return setImmediate().then(() => {
      signal?.throwIfAborted()
      began = performance.now()
    })
  }
}

const vectorOf = async (text: string, dimensions: number, pause: Pause): Promise<number[]> => {
  const vector = Array.from({ length: dimensions }, () => 0)
  let words = 0
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const digest = hash('sha256', word, 'buffer')
    const place = digest.readUInt32BE(0) % dimensions
    vector[place] = (vector[place] ?? 0) + ((digest[4] ?? 0) % 2 === 0 ? 1 : -1)
    words += 1
    if (words % wordsBetweenChecks === 0) await pause()
  }
  await pause()
  const length = Math.hypot(...vector)
  return length === 0 ? vector.fill(1 / Math.sqrt(dimensions)) : vector.map((value) => value / length)
}

/**
 * An embedding model without a provider: feature hashing of words. Texts with the same words are similar; it knows no
 * meanings. Vectors have the length 1.
 */
export const demoEmbedding: EmbeddingModelV4 = {
  specificationVersion: 'v4',
  provider: 'atrium',
  modelId: 'demo-embedding',
  maxEmbeddingsPerCall: Infinity,
  supportsParallelCalls: true,
  doEmbed: async ({ values, dimensions = defaultDimensions, abortSignal }) => {
    const pause = slices(abortSignal)
    const embeddings: number[][] = []
    for (const value of values) embeddings.push(await vectorOf(value, dimensions, pause))
    const tokens = values.reduce((sum, value) => sum + Math.ceil(Buffer.byteLength(value) / bytesPerToken), 0)
    return { embeddings, usage: { tokens }, warnings: [] }
  },
}
