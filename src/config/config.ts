import { billingConfigOf, billingVariables } from './billing.ts'
import type { BillingConfig } from './billing.ts'
import { bootstrapConfigOf, bootstrapVariables } from './bootstrap.ts'
import type { BootstrapConfig } from './bootstrap.ts'
import { parseConnectors } from './connectors.ts'
import type { ConnectorSettings } from './connectors.ts'
import { eventConfigOf, eventVariables } from './events.ts'
import type { EventConfig } from './events.ts'
import { connectionConfigOf, limitVariables, rateLimitsOf } from './limits.ts'
import type { ConnectionConfig } from './limits.ts'
import type { ModelProvider } from './models.ts'
import { pricesFile } from './prices.ts'
import { parseProviders } from './providers.ts'
import { quotaLimitsOf, quotaVariables } from './quotas.ts'
import { retentionConfigOf, retentionVariables } from './retention.ts'
import type { RetentionConfig } from './retention.ts'
import type { QuotaLimits } from './quotas.ts'
import { storageConfigOf, storageVariables } from './storage.ts'
import type { StorageConfig } from './storage.ts'
import { bareOrigin, boolean, choice, integer, Mistake, origin, origins, text } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'
import { isWellFormedKey } from '../platform/key-format.ts'
import type { RateLimits } from '../platform/http/limits/rate-limit.ts'
import type { KeyEnvironment } from '../platform/key-format.ts'

export interface Config extends StorageConfig, EventConfig {
  environment: 'development' | 'test' | 'production'
  keyEnvironment: KeyEnvironment
  host: string
  port: number
  /** Undefined: a process of the role `worker` does not listen. */
  workerPort: number | undefined
  baseUrl: string | undefined
  /** The origin of user content; undefined: the origin of the API. */
  contentBaseUrl: string | undefined
  /** Origins whose pages may call the API with an API key. */
  corsOrigins: string[]
  trustProxy: boolean
  bootstrap: BootstrapConfig
  rateLimits: RateLimits
  /** For orgs whose plan and operator set no limits. */
  quotas: QuotaLimits
  connectionLimits: ConnectionConfig
  retention: RetentionConfig
  metricsToken: string | undefined
  logLevel: string
  defaultAgentModel: string
  modelProviders: ModelProvider[]
  /** A model call fails when the model sends nothing for this long. */
  modelSilenceMs: number
  /** A turn that runs longer ends with its partial result. */
  turnLimitMs: number
  /** A worker process exits when its event loop is blocked for this long; 0: never. */
  watchdogSeconds: number
  billing: BillingConfig
  /** The operator's settings of connectors, by slug. */
  connectors: ReadonlyMap<string, ConnectorSettings>
}

/** Every error in the environment, one line each. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

const modelId: Parse<string> = (value) =>
  /^[a-z0-9-]+\/\S+$/.test(value) ? value : new Mistake('must be a model id of the form provider/model')

const providerNames: Parse<string[]> = (value) => {
  const names = value.split(',').map((name) => name.trim())
  const fits = names.every((name) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name !== 'atrium')
  return fits && new Set(names).size === names.length
    ? names
    : new Mistake('must be different names of a-z, 0-9 and dashes, separated by commas; atrium is reserved')
}

/** Every variable that Atrium reads. The table in docs/guides/configuration.md is generated from this list. */
export const variables = {
  NODE_ENV: {
    description:
      '`development`, `test` or `production`. Determines the environment segment of API keys (`dev`, `test`, `live`).',
    fallback: 'development',
    parse: choice('development', 'test', 'production'),
  },
  HOST: { description: 'Address to listen on.', fallback: '127.0.0.1', parse: text },
  PORT: { description: 'Port to listen on. 0: a free port.', fallback: '3000', parse: integer(0, 65_535) },
  WORKER_PORT: {
    description:
      'Port of a `--role worker` process for `/healthz`, `/readyz` and `/metrics`. 0: a free port. Unset: it does not listen.',
    fallback: '',
    parse: integer(0, 65_535),
  },
  BASE_URL: {
    description: 'Origin of every URL in API responses, with a path if needed. Unset: the origin of the request.',
    fallback: '',
    parse: origin,
  },
  CONTENT_BASE_URL: {
    description:
      'Separate origin for uploaded files, such as `https://atrium-content.example.net`. Its host name must differ from that of `BASE_URL`, and its requests must reach this server with their `Host` header. Signed download URLs start with it; all other paths on it are `NOT_FOUND`. Requires `BASE_URL`. Unset: the origin of the API.',
    fallback: '',
    parse: bareOrigin,
  },
  CORS_ORIGINS: {
    description:
      'Comma-separated origins of other sites, such as `https://app.example.com,http://localhost:5173`, whose pages may call the API with an API key. Their requests never have the authority of a session. Unset: none.',
    fallback: '',
    parse: origins,
  },
  TRUST_PROXY: {
    description:
      'Trust `X-Forwarded-For`, `-Proto` and `-Host`. Use it only behind a proxy that sets these headers. Of several addresses, the last one counts.',
    fallback: '0',
    parse: boolean,
  },
  ...storageVariables,
  ...bootstrapVariables,
  ...limitVariables,
  ...quotaVariables,
  ...retentionVariables,
  METRICS_TOKEN: {
    description: 'Bearer token for `GET /metrics` from other machines. Unset: only this machine can read metrics.',
    fallback: '',
    parse: text,
    secret: true,
  },
  LOG_LEVEL: {
    description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. `debug` logs every request.',
    fallback: 'info',
    parse: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  DEFAULT_AGENT_MODEL: {
    description: "Model of every org's default agent.",
    fallback: 'atrium/demo',
    parse: modelId,
  },
  MODEL_PROVIDERS: {
    description:
      'Comma-separated names of model providers (OpenAI, Anthropic, Google, and every OpenAI-compatible API, such as Ollama, vLLM, LiteLLM and OpenRouter), in addition to the built-in demo models. Each is configured by the `MODEL_<NAME>_…` variables.',
    fallback: '',
    parse: providerNames,
  },
  MODEL_PRICES_FILE: {
    description:
      'JSON file of prices in microcents per million tokens: `{ "provider/model": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "contextWindow": 0, "maxOutputTokens": 0, "reasoning": true } }`. The last five fields are optional. Takes precedence over the built-in list.',
    fallback: '',
    parse: pricesFile,
  },
  MODEL_SILENCE_SECONDS: {
    description:
      'A model call fails when the model sends nothing for this long. Large local models may need more time.',
    fallback: '60',
    parse: integer(1, 3_600),
  },
  TURN_LIMIT_SECONDS: {
    description: 'A chat turn that runs longer ends with its partial result and can be continued.',
    fallback: '300',
    parse: integer(1, 3_600),
  },
  WATCHDOG_SECONDS: {
    description:
      'A process of the role `worker` or `all` exits with code 142 when its event loop is blocked for this long, so that its supervisor restarts it. 0: never.',
    fallback: '20',
    parse: integer(0, 3_600),
  },
  ...eventVariables,
  ...billingVariables,
} as const satisfies Record<string, Variable>

type Parsed = ParsedOf<typeof variables>

/** Prefixes that only Atrium uses: an unknown name with one of them is an error, because it is probably misspelled. */
const ownPrefixes = ['RATE_LIMIT_', 'QUOTA_', 'BOOTSTRAP_', 'OUTBOUND_', 'WEBHOOK_', 'CORS_']

const unknownNames = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => ownPrefixes.some((prefix) => name.startsWith(prefix)) && !Object.hasOwn(variables, name))
    .map((name) => {
      const prefix = ownPrefixes.find((one) => name.startsWith(one)) ?? ''
      const known = Object.keys(variables).filter((one) => one.startsWith(prefix))
      return `${name} is not a variable of Atrium; variables that start with ${prefix} are ${known.join(', ')}`
    })

const parseVariables = (env: NodeJS.ProcessEnv): { parsed: Parsed; mistakes: string[] } => {
  const mistakes = unknownNames(env)
  const parsed: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variables) as [string, Variable][]) {
    // Compose files and shells pass unset variables as empty ones.
    const given = env[name]?.trim() ? env[name].trim() : variable.fallback
    if (given === '') continue
    const value = variable.parse(given)
    if (value instanceof Mistake) {
      mistakes.push(variable.secret ? `${name} ${value.text}` : `${name} ${value.text}, not ${JSON.stringify(given)}`)
    } else parsed[name] = value
  }
  return { parsed: parsed as Parsed, mistakes }
}

const keyEnvironments = { production: 'live', development: 'dev', test: 'test' } as const

/** Cookies are shared by all ports of a host name, so the host names must differ. */
const checkContentOrigin = (baseUrl: string | undefined, contentBaseUrl: string | undefined): string[] => {
  if (contentBaseUrl === undefined) return []
  if (baseUrl === undefined) return ['CONTENT_BASE_URL is set but BASE_URL is not']
  const [base, content] = [new URL(baseUrl), new URL(contentBaseUrl)]
  if (base.hostname === content.hostname) return ['CONTENT_BASE_URL must have a different host name than BASE_URL']
  return base.protocol === 'https:' && content.protocol !== 'https:'
    ? ['CONTENT_BASE_URL must be https like BASE_URL, because browsers block http content in https pages']
    : []
}

/** Anybody who may upload a file can run a script on the content origin. */
const checkCorsOrigins = (contentBaseUrl: string | undefined, corsOrigins: string[] | undefined): string[] =>
  contentBaseUrl !== undefined && corsOrigins?.includes(contentBaseUrl) === true
    ? ['CORS_ORIGINS must not contain CONTENT_BASE_URL, where uploaded files are opened']
    : []

const checkTogether = (parsed: Parsed): string[] => {
  const mistakes: string[] = []
  const environment = parsed.NODE_ENV
  const key = parsed.BOOTSTRAP_API_KEY
  if (key !== undefined && !isWellFormedKey(key, keyEnvironments[environment])) {
    mistakes.push(
      `BOOTSTRAP_API_KEY must be a key of the form atr_${keyEnvironments[environment]}_… with a valid checksum (generate one with: npm run -s atrium -- key generate)`,
    )
  }
  if (environment === 'production' && parsed.DATABASE_URL !== undefined && parsed.ENCRYPTION_KEYS === undefined) {
    mistakes.push(
      'ENCRYPTION_KEYS is required in production with DATABASE_URL, so that every process can decrypt the stored secrets',
    )
  }
  for (const name of ['DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const) {
    if (parsed[name] !== undefined && parsed.DATABASE_URL === undefined) {
      mistakes.push(`${name} is set but DATABASE_URL is not`)
    }
  }
  mistakes.push(...checkContentOrigin(parsed.BASE_URL, parsed.CONTENT_BASE_URL))
  mistakes.push(...checkCorsOrigins(parsed.CONTENT_BASE_URL, parsed.CORS_ORIGINS))
  if (parsed.S3_BUCKET === undefined && parsed.S3_ENDPOINT !== undefined) {
    mistakes.push('S3_ENDPOINT is set but S3_BUCKET is not')
  }
  if (parsed.S3_BUCKET === undefined && parsed.S3_DIRECT_UPLOADS) {
    mistakes.push('S3_DIRECT_UPLOADS is set but S3_BUCKET is not')
  }
  return mistakes
}

/** Parses the environment. Throws a ConfigError with every error. */
export const parseConfig = (env: NodeJS.ProcessEnv): Config => {
  const { parsed, mistakes } = parseVariables(env)
  mistakes.push(...checkTogether(parsed))
  const { providers, mistakes: providerMistakes } = parseProviders(
    env,
    parsed.MODEL_PROVIDERS ?? [],
    parsed.MODEL_PRICES_FILE,
  )
  mistakes.push(...providerMistakes)
  const { connectors, mistakes: connectorMistakes } = parseConnectors(env, (name) => Object.hasOwn(variables, name))
  mistakes.push(...connectorMistakes)
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const environment = parsed.NODE_ENV
  return {
    environment,
    keyEnvironment: keyEnvironments[environment],
    host: parsed.HOST,
    port: parsed.PORT,
    workerPort: parsed.WORKER_PORT,
    baseUrl: parsed.BASE_URL,
    contentBaseUrl: parsed.CONTENT_BASE_URL,
    corsOrigins: parsed.CORS_ORIGINS ?? [],
    trustProxy: parsed.TRUST_PROXY,
    ...storageConfigOf(parsed),
    bootstrap: bootstrapConfigOf(parsed),
    rateLimits: rateLimitsOf(parsed),
    quotas: quotaLimitsOf(parsed),
    connectionLimits: connectionConfigOf(parsed, { trustProxy: parsed.TRUST_PROXY }),
    metricsToken: parsed.METRICS_TOKEN,
    logLevel: parsed.LOG_LEVEL,
    defaultAgentModel: parsed.DEFAULT_AGENT_MODEL,
    modelProviders: providers,
    modelSilenceMs: parsed.MODEL_SILENCE_SECONDS * 1_000,
    turnLimitMs: parsed.TURN_LIMIT_SECONDS * 1_000,
    watchdogSeconds: parsed.WATCHDOG_SECONDS,
    billing: billingConfigOf(parsed, environment === 'production', quotaLimitsOf(parsed)),
    retention: retentionConfigOf(parsed),
    connectors,
    ...eventConfigOf(parsed),
  }
}
