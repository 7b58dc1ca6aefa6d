import { readFileSync } from 'node:fs'
import type { ModelPricing } from './models.ts'

/** A model of a well-known provider. */
export interface ListedModel {
  name: string
  contextWindow: number
  /** Undefined for embedding models. */
  maxOutputTokens?: number
  reasoning: boolean
  /** Whether the model takes pictures. */
  images: boolean
  /** Whether the model takes PDF files by the native API of its provider. */
  pdf: boolean
  /** Whether it is an embedding model. */
  embeddings?: boolean
  pricing: ModelPricing
}

export interface ModelList {
  /** The date of the prices. */
  asOf: string
  providers: Record<string, { baseUrl: string; models: Record<string, ListedModel> }>
}

let list: ModelList | undefined

/**
 * Well-known providers with their models and prices on the date `asOf`; the server does not update them. For a model
 * with a higher price for long prompts, `contextWindow` is the limit of the lower price. MODEL_PRICES_FILE overrides
 * prices.
 */
export const modelList = (): ModelList => {
  list ??= JSON.parse(readFileSync(new URL('model-list.json', import.meta.url), 'utf8')) as ModelList
  return list
}
