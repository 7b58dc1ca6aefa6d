import type { ModelPricing, ModelProvider } from '../config/models.ts'

export interface ModelCapabilities {
  tools: boolean
  vision: boolean
  reasoning: boolean
  /** Whether the provider takes a JSON schema for the response. */
  jsonSchema: boolean
  /** An embedding model: it returns vectors, and agents cannot use it. */
  embeddings: boolean
}

/** What a model takes besides text. */
export interface ModelInput {
  images: boolean
  pdf: boolean
}

export interface Model {
  /** `provider/model` */
  id: string
  name: string
  provider: string
  available: boolean
  unavailableReason: string | null
  free: boolean
  /** Tokens; null when unknown. */
  contextWindow: number | null
  maxOutputTokens: number | null
  capabilities: ModelCapabilities
  input: ModelInput
  /** Null when the price is unknown; such a model is not available. */
  pricing: ModelPricing | null
}

export interface ModelCatalog {
  readonly models: readonly Model[]
  find(id: string): Model | undefined
}

const freePricing: ModelPricing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const builtIn = (name: string, title: string, pricing: ModelPricing, embeddings = false): Model => ({
  id: `atrium/${name}`,
  name: title,
  provider: 'atrium',
  available: true,
  unavailableReason: null,
  free: isFree(pricing),
  contextWindow: 128_000,
  maxOutputTokens: embeddings ? null : 8_192,
  capabilities: { tools: !embeddings, vision: false, reasoning: false, jsonSchema: false, embeddings },
  input: { images: false, pdf: false },
  pricing,
})

const isFree = (pricing: ModelPricing): boolean => Object.values(pricing).every((rate) => rate === 0)

const provided = (provider: ModelProvider): Model[] =>
  provider.models.map(
    ({
      name,
      title,
      pricing,
      contextWindow,
      maxOutputTokens,
      reasoning = false,
      images = false,
      pdf = false,
      jsonSchema = false,
      embeddings = false,
    }) => ({
      id: `${provider.name}/${name}`,
      name: title ?? name,
      provider: provider.name,
      available: pricing !== undefined,
      // A model without a price would be free by accident.
      unavailableReason:
        pricing === undefined
          ? 'The model has no price. The operator must configure one or declare the model free.'
          : null,
      free: pricing !== undefined && isFree(pricing),
      contextWindow: contextWindow ?? null,
      maxOutputTokens: maxOutputTokens ?? null,
      capabilities: embeddings
        ? { tools: false, vision: false, reasoning: false, jsonSchema: false, embeddings }
        : { tools: true, vision: images, reasoning, jsonSchema, embeddings },
      input: { images: images && !embeddings, pdf: pdf && !embeddings },
      pricing: pricing ?? null,
    }),
  )

/** All models: the built-in ones, which need no network, and those of the configured providers. */
export const createModelCatalog = (providers: readonly ModelProvider[]): ModelCatalog => {
  const models = [
    builtIn('demo', 'Atrium Demo', freePricing),
    builtIn('demo-paid', 'Atrium Demo (paid)', {
      input: 1_000_000,
      output: 4_000_000,
      cacheRead: 100_000,
      cacheWrite: 1_250_000,
    }),
    builtIn('demo-embedding', 'Atrium Demo Embedding', freePricing, true),
    ...providers.flatMap(provided),
  ]
  const byId = new Map(models.map((model) => [model.id, model]))
  return { models, find: (id) => byId.get(id) }
}
