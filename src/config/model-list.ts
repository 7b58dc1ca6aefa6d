import { readFileSync } from 'node:fs'
import type { ModelPricing } from './models.ts'

/** What is known about a model of a well-known provider. */
export interface ListedModel {
  name: string
  contextWindow: number
  maxOutputTokens: number
  reasoning: boolean
  pricing: ModelPricing
}

export interface ModelList {
  /** The day of the prices. */
  asOf: string
  providers: Record<string, { baseUrl: string; models: Record<string, ListedModel> }>
}

let list: ModelList | undefined

/**
 * Well-known providers with their models and prices, as they were on the day `asOf`: the server never looks them up
 * itself. Where longer prompts cost more, `contextWindow` ends where they begin to. Operators override prices by
 * MODEL_PRICES_FILE.
 */
export const modelList = (): ModelList => {
  list ??= JSON.parse(readFileSync(new URL('model-list.json', import.meta.url), 'utf8')) as ModelList
  return list
}
