import type { Variable } from './values.ts'
import { modelProtocols } from './models.ts'
import type { ModelPricing, ModelProtocol, ModelProvider } from './models.ts'
import { modelList } from './model-list.ts'
import type { ModelOverride } from './prices.ts'

/** The variables of each provider in MODEL_PROVIDERS. `<NAME>` is its name in capitals, with underscores for dashes. */
export const providerVariables = {
  'MODEL_<NAME>_PROTOCOL': {
    description:
      'For each name in `MODEL_PROVIDERS`: `openai-compatible` for chat completions, or the native API of `openai` (Responses), `anthropic` (Messages) or `google` (Gemini).',
    fallback: 'openai-compatible',
  },
  'MODEL_<NAME>_BASE_URL': {
    description:
      'URL of the API, such as `http://localhost:11434/v1`. Required for `openai-compatible`, except for the names `openai`, `anthropic`, `google`, `xai` and `deepseek`. The native protocols use the public API of their provider by default.',
    fallback: '',
  },
  'MODEL_<NAME>_API_KEY': {
    description: 'API key of the provider, if it requires one.',
    fallback: '',
    secret: true,
  },
  'MODEL_<NAME>_MODELS': {
    description:
      'Comma-separated models of the provider, by its names. Agents use `<name>/<model>`. Unset: all models of the built-in list.',
    fallback: '',
  },
  'MODEL_<NAME>_PRICES': {
    description:
      'Comma-separated prices in microcents per million tokens (10,000 microcents are one cent): `model=input:output` or `model=input:output:cacheRead:cacheWrite`. Takes precedence over `MODEL_PRICES_FILE`, which takes precedence over the built-in list. A model without a price is not available.',
    fallback: '',
  },
  'MODEL_<NAME>_IMAGES': {
    description:
      'Comma-separated models of the provider that take pictures (PNG, JPEG). Added to those that `MODEL_PRICES_FILE` and the built-in list know.',
    fallback: '',
  },
  'MODEL_<NAME>_PDF': {
    description:
      'Comma-separated models of the provider that take PDF files; others get their text. Added to those that `MODEL_PRICES_FILE` and the built-in list know.',
    fallback: '',
  },
  'MODEL_<NAME>_JSON_SCHEMA': {
    description:
      'Comma-separated models of the provider that take a JSON schema as `response_format`. Other models are told the schema in their instructions. Not needed with `MODEL_<NAME>_PROTOCOL` or for the provider `openai`.',
    fallback: '',
  },
  'MODEL_<NAME>_EMBEDDINGS': {
    description:
      'Comma-separated models of the provider that are embedding models: `POST /api/v1/embeddings` calls them, and agents cannot use them. Added to those that `MODEL_PRICES_FILE` and the built-in list know. Not with the protocol `anthropic`.',
    fallback: '',
  },
  'MODEL_<NAME>_FREE': {
    description: '`1`: models of this provider without a price are free, for instance on your own hardware.',
    fallback: '0',
  },
} as const satisfies Record<string, Omit<Variable, 'parse'>>

const fields = Object.keys(providerVariables).map((name) => name.slice('MODEL_<NAME>'.length))

const prefixOf = (provider: string): string => `MODEL_${provider.toUpperCase().replaceAll('-', '_')}`

const listOf = (value: string): string[] => [
  ...new Set(
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
]

/** Parses `model=1:2` and `model=1:2:3:4`. The name of a model may contain every character but `=`. */
const pricesOf = (value: string): Map<string, ModelPricing> | undefined => {
  const prices = new Map<string, ModelPricing>()
  for (const entry of listOf(value)) {
    const [, model, rates] = /^([^=]+)=(\d{1,12}(?::\d{1,12}){1}(?:(?::\d{1,12}){2})?)$/.exec(entry) ?? []
    if (model === undefined || rates === undefined) return undefined
    const [input = 0, output = 0, cacheRead = input, cacheWrite = input] = rates.split(':').map(Number)
    prices.set(model.trim(), { input, output, cacheRead, cacheWrite })
  }
  return prices
}

const isHttpUrl = (value: string): boolean => /^https?:\/\//.test(value) && URL.canParse(value)

/** The public APIs. Those of the built-in list are for chat completions. */
const nativeBaseUrls: Partial<Record<ModelProtocol, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

/** The clients of these providers cannot be loaded while their own variable is set to an empty value. */
const clientVariables: Partial<Record<ModelProtocol, string>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
}

const parseProtocol = (env: NodeJS.ProcessEnv, prefix: string, mistakes: string[]): ModelProtocol => {
  const value = env[`${prefix}_PROTOCOL`]?.trim() || 'openai-compatible'
  const protocol = modelProtocols.find((one) => one === value)
  if (!protocol) mistakes.push(`${prefix}_PROTOCOL must be one of ${modelProtocols.join(', ')}`)
  const variable = protocol && clientVariables[protocol]
  if (variable !== undefined && env[variable]?.trim() === '') {
    mistakes.push(`${variable} must not be empty, as ${prefix}_PROTOCOL is ${protocol}; unset it`)
  }
  return protocol ?? 'openai-compatible'
}

const parseProvider = (
  env: NodeJS.ProcessEnv,
  name: string,
  overrides: Map<string, ModelOverride>,
  mistakes: string[],
): ModelProvider => {
  const prefix = prefixOf(name)
  const read = (field: string): string => env[`${prefix}${field}`]?.trim() ?? ''
  const protocol = parseProtocol(env, prefix, mistakes)
  const native = nativeBaseUrls[protocol]
  const known = modelList().providers[native === undefined ? name : protocol]
  const baseUrl = read('_BASE_URL') || (native ?? known?.baseUrl ?? '')
  if (!isHttpUrl(baseUrl)) {
    mistakes.push(
      `${prefix}_BASE_URL must be a URL such as https://api.example.com/v1, as MODEL_PROVIDERS names ${name}`,
    )
  }
  const named = listOf(read('_MODELS'))
  const names = named.length > 0 ? named : Object.keys(known?.models ?? {})
  if (names.length === 0)
    mistakes.push(`${prefix}_MODELS must name at least one model, as MODEL_PROVIDERS names ${name}`)
  const prices = pricesOf(read('_PRICES'))
  if (!prices)
    mistakes.push(`${prefix}_PRICES must be model=input:output pairs separated by commas, in whole microcents`)
  for (const model of prices?.keys() ?? []) {
    if (!names.includes(model)) mistakes.push(`${prefix}_PRICES names ${model}, which ${prefix}_MODELS does not`)
  }
  const inputs = {
    images: listOf(read('_IMAGES')),
    pdf: listOf(read('_PDF')),
    jsonSchema: listOf(read('_JSON_SCHEMA')),
    embeddings: listOf(read('_EMBEDDINGS')),
  }
  for (const [field, models] of [
    ['_IMAGES', inputs.images],
    ['_PDF', inputs.pdf],
    ['_JSON_SCHEMA', inputs.jsonSchema],
    ['_EMBEDDINGS', inputs.embeddings],
  ] as const) {
    for (const model of models) {
      if (!names.includes(model)) mistakes.push(`${prefix}${field} names ${model}, which ${prefix}_MODELS does not`)
    }
  }
  if (protocol === 'anthropic' && inputs.embeddings.length > 0) {
    mistakes.push(`${prefix}_EMBEDDINGS must be empty, as the API of Anthropic has no embeddings`)
  }
  const free = read('_FREE').toLowerCase()
  if (!['', '0', '1', 'true', 'false', 'yes', 'no', 'on', 'off'].includes(free)) {
    mistakes.push(`${prefix}_FREE must be 1 or 0, true or false, yes or no, on or off`)
  }
  const fallback = ['1', 'true', 'yes', 'on'].includes(free)
    ? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    : undefined
  // The chat completions of Anthropic, Google and xAI do not document files.
  const takesListedPdf = native !== undefined || name === 'openai'
  return {
    name,
    protocol,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey: read('_API_KEY') || undefined,
    models: names.map((model) => {
      // The built-in list does not apply to another server, even when a model there has the same name.
      const listed = read('_BASE_URL') === '' ? known?.models[model] : undefined
      const override = overrides.get(`${name}/${model}`)
      return {
        name: model,
        title: listed?.name,
        pricing: prices?.get(model) ?? override?.pricing ?? listed?.pricing ?? fallback,
        contextWindow: override?.contextWindow ?? listed?.contextWindow,
        maxOutputTokens: override?.maxOutputTokens ?? listed?.maxOutputTokens,
        reasoning: override?.reasoning ?? listed?.reasoning,
        images: inputs.images.includes(model) || (override?.images ?? listed?.images),
        jsonSchema: native !== undefined || name === 'openai' || inputs.jsonSchema.includes(model),
        pdf: inputs.pdf.includes(model) || (override?.pdf ?? (takesListedPdf && listed?.pdf)),
        embeddings: inputs.embeddings.includes(model) || (override?.embeddings ?? listed?.embeddings),
      }
    }),
  }
}

/** Errors for variables of providers that MODEL_PROVIDERS does not name, which are probably misspelled. */
const strayNames = (env: NodeJS.ProcessEnv, providers: string[]): string[] => {
  const prefixes = providers.map(prefixOf)
  return Object.keys(env)
    .filter((name) => name.startsWith('MODEL_') && fields.some((field) => name.endsWith(field)))
    .filter((name) => !prefixes.some((prefix) => fields.some((field) => name === `${prefix}${field}`)))
    .map((name) => `${name} is set, but MODEL_PROVIDERS does not name its provider`)
}

/** The model providers of the environment, and every error in their variables. */
export const parseProviders = (
  env: NodeJS.ProcessEnv,
  names: string[],
  overrides: Map<string, ModelOverride> = new Map(),
): { providers: ModelProvider[]; mistakes: string[] } => {
  const mistakes = strayNames(env, names)
  return { providers: names.map((name) => parseProvider(env, name, overrides, mistakes)), mistakes }
}
