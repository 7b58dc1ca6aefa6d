import { createHash } from 'node:crypto'
import type { EmbeddingModelV4 } from '@ai-sdk/provider'

const bytesPerToken = 4
const defaultDimensions = 256

const vectorOf = (text: string, dimensions: number): number[] => {
  const vector = Array.from({ length: dimensions }, () => 0)
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  for (const word of words) {
    const hash = createHash('sha256').update(word).digest()
    const place = hash.readUInt32BE(0) % dimensions
    vector[place] = (vector[place] ?? 0) + ((hash[4] ?? 0) % 2 === 0 ? 1 : -1)
  }
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
  doEmbed: ({ values, dimensions = defaultDimensions }) =>
    Promise.resolve({
      embeddings: values.map((value) => vectorOf(value, dimensions)),
      usage: { tokens: values.reduce((sum, value) => sum + Math.ceil(Buffer.byteLength(value) / bytesPerToken), 0) },
      warnings: [],
    }),
}
