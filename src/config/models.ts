/** Prices in microcents for a million tokens. 1,000,000 microcents are one US dollar: 10,000 are one cent. */
export interface ModelPricing {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/**
 * How a provider is called: by OpenAI's chat completions, which many servers offer, or by the native API of OpenAI
 * (Responses), Anthropic (Messages) or Google (Gemini).
 */
export const modelProtocols = ['openai-compatible', 'openai', 'anthropic', 'google'] as const
export type ModelProtocol = (typeof modelProtocols)[number]

/** A model server that the operator configured. */
export interface ModelProvider {
  name: string
  protocol: ModelProtocol
  baseUrl: string
  apiKey: string | undefined
  models: {
    /** The name at the provider. */
    name: string
    /** The display name; `name` when undefined. */
    title?: string | undefined
    /** Undefined: unknown, which makes the model unavailable. */
    pricing: ModelPricing | undefined
    /** Tokens. */
    contextWindow?: number | undefined
    /** Tokens. */
    maxOutputTokens?: number | undefined
    reasoning?: boolean | undefined
    /** Whether the model takes pictures and PDF files. Unknown models take neither. */
    images?: boolean | undefined
    /** Whether the provider takes a JSON schema for the response. */
    jsonSchema?: boolean | undefined
    pdf?: boolean | undefined
    /** Whether it is an embedding model: it returns vectors, and agents cannot use it. */
    embeddings?: boolean | undefined
  }[]
}
