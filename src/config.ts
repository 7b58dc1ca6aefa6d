import { resolve } from 'node:path'
import { createModelCatalog } from './agents/model-catalog.ts'
import type { ModelProvider } from './agents/model-catalog.ts'
import { billingConfigOf, billingVariables } from './config-billing.ts'
import type { BillingConfig } from './config-billing.ts'
import { parseConnectors } from './config-connectors.ts'
import type { ConnectorSettings } from './config-connectors.ts'
import { pricesFile } from './config-prices.ts'
import { parseProviders } from './config-providers.ts'
import { boolean, choice, integer, Mistake, origin, text, url } from './config-values.ts'
import type { Parse, Variable } from './config-values.ts'
import { isWellFormedKey } from './platform/key-format.ts'
import type { KeyEnvironment } from './platform/key-format.ts'
import { parseCidr } from './platform/public-addresses.ts'
import type { Cidr } from './platform/public-addresses.ts'
import { parseEncryptionKey } from './platform/secrets.ts'
import type { EncryptionKey } from './platform/secrets.ts'

export interface Config {
  environment: 'development' | 'test' | 'production'
  keyEnvironment: KeyEnvironment
  host: string
  port: number
  baseUrl: string | undefined
  trustProxy: boolean
  dataDir: string
  databaseUrl: string | undefined
  databasePoolSize: number
  redisUrl: string | undefined
  s3:
    | {
        bucket: string
        endpoint: string | undefined
        /** Where clients reach the store, when that is not where Atrium does. */
        publicEndpoint: string | undefined
        region: string
        forcePathStyle: boolean
      }
    | undefined
  /** Newest first: the first encrypts, all decrypt. Undefined: generated once under the data directory. */
  encryptionKeys: { id: string; key: Buffer }[] | undefined
  bootstrap: { apiKey: string | undefined; email: string; password: string | undefined }
  rateLimits: RateLimits
  metricsToken: string | undefined
  logLevel: string
  defaultAgentModel: string
  modelProviders: ModelProvider[]
  /** A model that says nothing for this long is taken for gone. */
  modelSilenceMs: number
  /** A turn that works for longer ends with what it has. */
  turnLimitMs: number
  billing: BillingConfig
  /** What the operator says about connectors, by slug. */
  connectors: ReadonlyMap<string, ConnectorSettings>
  /** Where providers send their events, when that is not `baseUrl`. */
  connectorWebhookBaseUrl: string | undefined
  /** Ranges that URLs of users may lead to though they are not public. */
  outboundAllowCidrs: Cidr[]
  /** Seconds before each retry of a forwarded event. */
  webhookRetrySchedule: number[]
  webhookRetentionDays: number
  /** The signing secret of the Linear application's webhook. */
  linearWebhookSecret: string | undefined
}

/** Requests a minute, 0 for no limit. */
export interface RateLimits {
  reads: number
  writes: number
  uploads: number
  turns: number
  keyMinting: number
  deposits: number
  receive: number
  signIn: number
}

/** All that is wrong with the environment, one line a mistake. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

// A database behind a Unix socket has no host name: postgres://user@/atrium?host=/run/postgresql
const databaseUrl: Parse<string> = (value) => {
  const checked = url(
    ['postgres:', 'postgresql:'],
    'postgres://user:password@host:5432/atrium',
  )(value.replace(/@\/|:\/\/\//, (empty) => (empty === '@/' ? '@localhost/' : '://localhost/')))
  return checked instanceof Mistake ? checked : value
}

const encryptionKeys: Parse<EncryptionKey[]> = (value) => {
  const keys = value.split(',').map(parseEncryptionKey)
  if (!keys.every((key) => key !== undefined)) {
    return new Mistake(
      'must be id:base64 pairs separated by commas, each of 32 bytes (make one with: openssl rand -base64 32)',
    )
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) return new Mistake('names the same key id twice')
  return keys
}

const email: Parse<string> = (value) =>
  /^[^\s@]+@[^\s@]+$/.test(value) ? value.toLowerCase() : new Mistake('must be an e-mail address')

const password: Parse<string> = (value) =>
  [...value].length >= 8 && [...value].length <= 128 ? value : new Mistake('must have 8 to 128 characters')

const modelId: Parse<string> = (value) =>
  /^[a-z0-9-]+\/\S+$/.test(value) ? value : new Mistake('must be a model id of the form provider/model')

const providerNames: Parse<string[]> = (value) => {
  const names = value.split(',').map((name) => name.trim())
  const fits = names.every((name) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name !== 'atrium')
  return fits && new Set(names).size === names.length
    ? names
    : new Mistake('must be different names of a-z, 0-9 and dashes, separated by commas; atrium is taken')
}

const cidrs: Parse<Cidr[]> = (value) => {
  const ranges = value.split(',').map((text) => parseCidr(text.trim()))
  return ranges.every((range) => range !== undefined)
    ? ranges
    : new Mistake('must be address ranges separated by commas, such as 10.0.0.0/8,fd00::/8')
}

const retrySchedule: Parse<number[]> = (value) => {
  const steps = value.split(',').map((text) => text.trim())
  return steps.length <= 20 && steps.every((text) => /^\d{1,6}$/.test(text))
    ? steps.map(Number)
    : new Mistake('must be up to 20 whole numbers of seconds separated by commas, such as 5,300,1800')
}

const perMinute = (what: string, fallback: number): Variable<number> => ({
  description: `${what} a minute; 0 turns the limit off.`,
  fallback: String(fallback),
  parse: integer(0, 1_000_000),
})

/** Every variable that Atrium reads. The README's table is checked against this list. */
export const variables = {
  NODE_ENV: {
    description:
      '`development`, `test` or `production`. Decides the environment segment of API keys (`dev`, `test`, `live`).',
    fallback: 'development',
    parse: choice('development', 'test', 'production'),
  },
  HOST: { description: 'Address to listen on.', fallback: '127.0.0.1', parse: text },
  PORT: { description: 'Port to listen on; 0 picks a free one.', fallback: '3000', parse: integer(0, 65_535) },
  BASE_URL: {
    description: 'What every URL that the API hands out starts with. Unset: the origin of the request.',
    fallback: '',
    parse: origin,
  },
  TRUST_PROXY: {
    description:
      'Believe `X-Forwarded-For`, `-Proto` and `-Host`. Only behind a proxy that sets them itself; of several addresses the last counts, which that proxy saw.',
    fallback: '0',
    parse: boolean,
  },
  DATA_DIR: {
    description: 'Where everything embedded lives: database, stored files, generated secrets.',
    fallback: '.atrium',
    parse: text,
  },
  DATABASE_URL: {
    description: 'PostgreSQL 15 or newer. Unset: the embedded PostgreSQL, for one machine.',
    fallback: '',
    parse: databaseUrl,
    secret: true,
  },
  DATABASE_POOL_SIZE: {
    description: 'Connections to PostgreSQL that one process may open for its statements and transactions.',
    fallback: '10',
    parse: integer(2, 200),
  },
  REDIS_URL: {
    description: 'Redis or Valkey, for rate limits shared by several API processes. Unset: counted in memory.',
    fallback: '',
    parse: url(['redis:', 'rediss:'], 'redis://host:6379'),
    secret: true,
  },
  S3_BUCKET: {
    description:
      'Bucket of an S3-compatible store for file bytes (credentials by the standard `AWS_*` variables). Unset: local disk.',
    fallback: '',
    parse: text,
  },
  S3_ENDPOINT: {
    description: 'URL of the store when it is not AWS.',
    fallback: '',
    parse: url(['http:', 'https:'], 'https://s3.example.com'),
  },
  S3_PUBLIC_ENDPOINT: {
    description: 'URL of the store as browsers reach it, when that differs from `S3_ENDPOINT`. Downloads go there.',
    fallback: '',
    parse: url(['http:', 'https:'], 'https://s3.example.com'),
  },
  S3_REGION: { description: 'Region of the bucket.', fallback: 'us-east-1', parse: text },
  S3_FORCE_PATH_STYLE: {
    description: 'Put the bucket into the path instead of the host name.',
    fallback: '0',
    parse: boolean,
  },
  ENCRYPTION_KEYS: {
    description:
      '`id:base64(32 bytes)`, comma-separated; the first encrypts, all decrypt. Unset: generated under `DATA_DIR`. Required in production with `DATABASE_URL`.',
    fallback: '',
    parse: encryptionKeys,
    secret: true,
  },
  BOOTSTRAP_API_KEY: {
    description:
      "The first owner's API key on an empty database. Unset: generated, printed once and kept in `DATA_DIR/owner-api-key`.",
    fallback: '',
    parse: text,
    secret: true,
  },
  BOOTSTRAP_EMAIL: { description: "The first owner's e-mail address.", fallback: 'owner@localhost', parse: email },
  BOOTSTRAP_PASSWORD: {
    description: "The first owner's password. Unset: a one-time sign-in link is printed.",
    fallback: '',
    parse: password,
    secret: true,
  },
  RATE_LIMIT_READS: perMinute('Reads of one API key', 600),
  RATE_LIMIT_WRITES: perMinute('Writes of one API key', 120),
  RATE_LIMIT_UPLOADS: perMinute('Uploads of one API key', 60),
  RATE_LIMIT_TURNS: perMinute('Chat turns of one API key', 60),
  RATE_LIMIT_KEY_MINTING: perMinute('API keys minted by one API key', 5),
  RATE_LIMIT_DEPOSITS: perMinute('Deposits started by one API key', 10),
  RATE_LIMIT_RECEIVE: perMinute('Events received by one webhook or endpoint', 600),
  RATE_LIMIT_SIGN_IN: perMinute('Sign-in attempts from one address', 10),
  METRICS_TOKEN: {
    description: 'Bearer token for `GET /metrics` from other machines. Unset: this machine only.',
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
    description: "The model of every org's default agent.",
    fallback: 'atrium/demo',
    parse: modelId,
  },
  MODEL_PROVIDERS: {
    description:
      'Names of model servers beside the built-in demo models, comma-separated: anything with an OpenAI-compatible API (Ollama, vLLM, LiteLLM, OpenRouter, OpenAI, …). Each is described by the variables below.',
    fallback: '',
    parse: providerNames,
  },
  MODEL_PRICES_FILE: {
    description:
      'A JSON file of prices, in microcents for a million tokens: `{ "provider/model": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "contextWindow": 0, "maxOutputTokens": 0 } }`; the last four may be left out. It goes before the list that comes with the server.',
    fallback: '',
    parse: pricesFile,
  },
  MODEL_SILENCE_SECONDS: {
    description: 'A model that sends nothing for this long is taken for gone. A large local model may need more.',
    fallback: '60',
    parse: integer(1, 3_600),
  },
  TURN_LIMIT_SECONDS: {
    description: 'A chat turn that works for longer than this ends with what it has; it can be continued.',
    fallback: '300',
    parse: integer(1, 3_600),
  },
  CONNECTOR_WEBHOOK_BASE_URL: {
    description:
      'What the URLs start with that providers send their events to; public and https in production. Unset: `BASE_URL`.',
    fallback: '',
    parse: origin,
  },
  OUTBOUND_ALLOW_CIDRS: {
    description:
      'Address ranges, comma-separated, that URLs named by users may lead to though they are not public, on every port: for intranets and tests. Whoever may name a URL reaches what listens there.',
    fallback: '',
    parse: cidrs,
  },
  WEBHOOK_RETRY_SCHEDULE_SECONDS: {
    description:
      'Seconds before each retry of a forwarded event, comma-separated; then the delivery has failed. Each is spread by a tenth.',
    fallback: '5,300,1800,7200,18000,36000,36000',
    parse: retrySchedule,
  },
  WEBHOOK_RETENTION_DAYS: {
    description: 'Days for which received events and their deliveries are kept.',
    fallback: '30',
    parse: integer(2, 3_650),
  },
  LINEAR_WEBHOOK_SECRET: {
    description:
      'Signing secret of the Linear webhook that points to `/api/v1/webhooks/linear`. Unset: that route answers 503.',
    fallback: '',
    parse: text,
    secret: true,
  },
  ...billingVariables,
} as const satisfies Record<string, Variable>

type Variables = typeof variables
type Value<Name extends keyof Variables> = Exclude<ReturnType<Variables[Name]['parse']>, Mistake>
/** A variable without a default may be absent. */
type Parsed = {
  [Name in keyof Variables]: Variables[Name]['fallback'] extends '' ? Value<Name> | undefined : Value<Name>
}

/** Prefixes that are ours alone: an unknown name under one of them is a typing mistake, and telling beats ignoring. */
const ownPrefixes = ['RATE_LIMIT_', 'BOOTSTRAP_', 'OUTBOUND_', 'WEBHOOK_']

const unknownNames = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => ownPrefixes.some((prefix) => name.startsWith(prefix)) && !Object.hasOwn(variables, name))
    .map((name) => {
      const prefix = ownPrefixes.find((one) => name.startsWith(one)) ?? ''
      const known = Object.keys(variables).filter((one) => one.startsWith(prefix))
      return `${name} is not a variable of Atrium; those that start with ${prefix} are ${known.join(', ')}`
    })

const parseVariables = (env: NodeJS.ProcessEnv): { parsed: Parsed; mistakes: string[] } => {
  const mistakes = unknownNames(env)
  const parsed: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variables) as [string, Variable][]) {
    // Compose files and shells hand over unset variables as empty ones.
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

const checkTogether = (parsed: Parsed): string[] => {
  const mistakes: string[] = []
  const environment = parsed.NODE_ENV
  const key = parsed.BOOTSTRAP_API_KEY
  if (key !== undefined && !isWellFormedKey(key, keyEnvironments[environment])) {
    mistakes.push(
      `BOOTSTRAP_API_KEY must be a key of the form atr_${keyEnvironments[environment]}_… with a right checksum (make one with: npm run -s atrium -- key generate)`,
    )
  }
  if (environment === 'production' && parsed.DATABASE_URL !== undefined && parsed.ENCRYPTION_KEYS === undefined) {
    mistakes.push(
      'ENCRYPTION_KEYS is required in production with DATABASE_URL, so that every process can read the stored secrets',
    )
  }
  if (parsed.S3_BUCKET === undefined && parsed.S3_ENDPOINT !== undefined) {
    mistakes.push('S3_ENDPOINT is set but S3_BUCKET is not')
  }
  return mistakes
}

/** Reads the environment. Throws a ConfigError that tells every mistake at once. */
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
  // Absent when it was refused above.
  const wanted: string | undefined = parsed.DEFAULT_AGENT_MODEL
  const model = wanted === undefined ? undefined : createModelCatalog(providers).find(wanted)
  if (wanted !== undefined && !model?.available) {
    mistakes.push(`DEFAULT_AGENT_MODEL ${wanted}: ${model?.unavailableReason ?? 'no such model'}`)
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const environment = parsed.NODE_ENV
  return {
    environment,
    keyEnvironment: keyEnvironments[environment],
    host: parsed.HOST,
    port: parsed.PORT,
    baseUrl: parsed.BASE_URL,
    trustProxy: parsed.TRUST_PROXY,
    dataDir: resolve(parsed.DATA_DIR),
    databaseUrl: parsed.DATABASE_URL,
    databasePoolSize: parsed.DATABASE_POOL_SIZE,
    redisUrl: parsed.REDIS_URL,
    s3:
      parsed.S3_BUCKET === undefined
        ? undefined
        : {
            bucket: parsed.S3_BUCKET,
            endpoint: parsed.S3_ENDPOINT,
            publicEndpoint: parsed.S3_PUBLIC_ENDPOINT,
            region: parsed.S3_REGION,
            forcePathStyle: parsed.S3_FORCE_PATH_STYLE,
          },
    encryptionKeys: parsed.ENCRYPTION_KEYS,
    bootstrap: {
      apiKey: parsed.BOOTSTRAP_API_KEY,
      email: parsed.BOOTSTRAP_EMAIL,
      password: parsed.BOOTSTRAP_PASSWORD,
    },
    rateLimits: {
      reads: parsed.RATE_LIMIT_READS,
      writes: parsed.RATE_LIMIT_WRITES,
      uploads: parsed.RATE_LIMIT_UPLOADS,
      turns: parsed.RATE_LIMIT_TURNS,
      keyMinting: parsed.RATE_LIMIT_KEY_MINTING,
      deposits: parsed.RATE_LIMIT_DEPOSITS,
      receive: parsed.RATE_LIMIT_RECEIVE,
      signIn: parsed.RATE_LIMIT_SIGN_IN,
    },
    metricsToken: parsed.METRICS_TOKEN,
    logLevel: parsed.LOG_LEVEL,
    defaultAgentModel: parsed.DEFAULT_AGENT_MODEL,
    modelProviders: providers,
    modelSilenceMs: parsed.MODEL_SILENCE_SECONDS * 1_000,
    turnLimitMs: parsed.TURN_LIMIT_SECONDS * 1_000,
    billing: billingConfigOf(parsed, environment === 'production'),
    connectors,
    connectorWebhookBaseUrl: parsed.CONNECTOR_WEBHOOK_BASE_URL,
    outboundAllowCidrs: parsed.OUTBOUND_ALLOW_CIDRS ?? [],
    webhookRetrySchedule: parsed.WEBHOOK_RETRY_SCHEDULE_SECONDS,
    webhookRetentionDays: parsed.WEBHOOK_RETENTION_DAYS,
    linearWebhookSecret: parsed.LINEAR_WEBHOOK_SECRET,
  }
}
