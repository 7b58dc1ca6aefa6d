import { readFileSync } from 'node:fs'
import type { ModelPricing } from './models.ts'
import { Mistake } from './values.ts'
import type { Parse } from './values.ts'

/** The operator's prices and limits of a model, which replace those of the built-in list. */
export interface ModelOverride {
  pricing: ModelPricing
  contextWindow: number | undefined
  maxOutputTokens: number | undefined
  /** Whether the model reasons before it responds. */
  reasoning: boolean | undefined
  /** Whether the model takes pictures, and PDF files. */
  images: boolean | undefined
  pdf: boolean | undefined
  /** Whether it is an embedding model. */
  embeddings: boolean | undefined
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isRate = (value: unknown): value is number => isCount(value) && value < 1e12
const isLimit = (value: unknown): value is number | undefined => value === undefined || (isCount(value) && value > 0)

const isFlag = (value: unknown): value is boolean | undefined => value === undefined || typeof value === 'boolean'

const overrideOf = (value: unknown): ModelOverride | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const { input, output, contextWindow, maxOutputTokens, ...rest } = value as Record<string, unknown>
  const { cacheRead = input, cacheWrite = input, reasoning, images, pdf, embeddings } = rest
  if (!isRate(input) || !isRate(output) || !isRate(cacheRead) || !isRate(cacheWrite)) return undefined
  if (!isLimit(contextWindow) || !isLimit(maxOutputTokens)) return undefined
  if (!isFlag(reasoning) || !isFlag(images) || !isFlag(pdf) || !isFlag(embeddings)) return undefined
  const pricing = { input, output, cacheRead, cacheWrite }
  return { pricing, contextWindow, maxOutputTokens, reasoning, images, pdf, embeddings }
}

/** Reads a file of `{ "provider/model": { input, output, cacheRead?, cacheWrite?, contextWindow?, maxOutputTokens?, reasoning?, images?, pdf?, embeddings? } }`. */
export const pricesFile: Parse<Map<string, ModelOverride>> = (path) => {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return new Mistake(`cannot be read as JSON: ${(error as Error).message}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return new Mistake('must hold an object of models by their ids')
  }
  const overrides = new Map<string, ModelOverride>()
  for (const [id, value] of Object.entries(content)) {
    const override = overrideOf(value)
    if (!override) {
      return new Mistake(`must say for ${id} at least input and output, in whole microcents for a million tokens`)
    }
    overrides.set(id, override)
  }
  return overrides
}
