/** Prices in microcents for a million tokens. 1,000,000 microcents are one US dollar: 10,000 are one cent. */
export interface ModelPricing {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** A model server that the operator configured: any server that speaks the OpenAI chat completions protocol. */
export interface ModelProvider {
  name: string
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
  }[]
}
