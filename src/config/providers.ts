import type { Variable } from './values.ts'
import type { ModelPricing, ModelProvider } from './models.ts'
import { modelList } from './model-list.ts'
import type { ModelOverride } from './prices.ts'

/** What is asked of each provider that MODEL_PROVIDERS names; `<NAME>` is its name in capitals, dashes as underscores. */
export const providerVariables = {
  'MODEL_<NAME>_BASE_URL': {
    description:
      'For each name in `MODEL_PROVIDERS`: where its OpenAI-compatible API is, for instance `http://localhost:11434/v1`. Known for `openai`, `anthropic`, `google`, `xai` and `deepseek`.',
    fallback: '',
  },
  'MODEL_<NAME>_API_KEY': {
    description: 'The API key of that provider, when it wants one.',
    fallback: '',
    secret: true,
  },
  'MODEL_<NAME>_MODELS': {
    description:
      'Its models, comma-separated, as the provider calls them. Agents name them `<name>/<model>`. Unset: all that the server knows of that provider.',
    fallback: '',
  },
  'MODEL_<NAME>_PRICES': {
    description:
      'Microcents for a million tokens (10,000 are a cent), comma-separated: `model=input:output` or `model=input:output:cacheRead:cacheWrite`. Goes before `MODEL_PRICES_FILE`, and that before the list that comes with the server. A model without a price cannot be used.',
    fallback: '',
  },
  'MODEL_<NAME>_FREE': {
    description: '`1`: models of this provider without a price are free, as on your own hardware.',
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

/** `model=1:2` or `model=1:2:3:4`; a model's own name may contain anything but `=`. */
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

const parseProvider = (
  env: NodeJS.ProcessEnv,
  name: string,
  overrides: Map<string, ModelOverride>,
  mistakes: string[],
): ModelProvider => {
  const prefix = prefixOf(name)
  const read = (field: string): string => env[`${prefix}${field}`]?.trim() ?? ''
  const known = modelList().providers[name]
  const baseUrl = read('_BASE_URL') || (known?.baseUrl ?? '')
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
  const free = read('_FREE').toLowerCase()
  if (!['', '0', '1', 'true', 'false', 'yes', 'no', 'on', 'off'].includes(free)) {
    mistakes.push(`${prefix}_FREE must be 1 or 0, true or false, yes or no, on or off`)
  }
  const fallback = ['1', 'true', 'yes', 'on'].includes(free)
    ? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    : undefined
  return {
    name,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey: read('_API_KEY') || undefined,
    models: names.map((model) => {
      // What is known of a provider's model says nothing of another server's that goes by its name.
      const listed = read('_BASE_URL') === '' ? known?.models[model] : undefined
      const override = overrides.get(`${name}/${model}`)
      return {
        name: model,
        title: listed?.name,
        pricing: prices?.get(model) ?? override?.pricing ?? listed?.pricing ?? fallback,
        contextWindow: override?.contextWindow ?? listed?.contextWindow,
        maxOutputTokens: override?.maxOutputTokens ?? listed?.maxOutputTokens,
        reasoning: listed?.reasoning,
      }
    }),
  }
}

/** Variables that look like a provider's, but whose provider MODEL_PROVIDERS does not name: a typing mistake. */
const strayNames = (env: NodeJS.ProcessEnv, providers: string[]): string[] => {
  const prefixes = providers.map(prefixOf)
  return Object.keys(env)
    .filter((name) => name.startsWith('MODEL_') && fields.some((field) => name.endsWith(field)))
    .filter((name) => !prefixes.some((prefix) => fields.some((field) => name === `${prefix}${field}`)))
    .map((name) => `${name} is set, but MODEL_PROVIDERS does not name its provider`)
}

/** The model servers that the environment names, with every mistake in what it says about them. */
export const parseProviders = (
  env: NodeJS.ProcessEnv,
  names: string[],
  overrides: Map<string, ModelOverride> = new Map(),
): { providers: ModelProvider[]; mistakes: string[] } => {
  const mistakes = strayNames(env, names)
  return { providers: names.map((name) => parseProvider(env, name, overrides, mistakes)), mistakes }
}
