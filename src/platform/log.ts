import { pino } from 'pino'
import type { Logger } from 'pino'

export type Log = Logger

// Whatever is logged by accident under one of these names never reaches the output. The API key of a request is
// not among the logged fields at all; this is the second line of defence.
const secretFields = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'key',
  'apiKey',
  'accessToken',
  'refreshToken',
  'totpCode',
  '"x-step-up-token"',
]
const redactedPaths = secretFields.flatMap((field) =>
  field.startsWith('"') ? [`[${field}]`, `*[${field}]`, `*.*[${field}]`] : [field, `*.${field}`, `*.*.${field}`],
)

const planted = /\batr_(live|dev|test)_[0-9A-Za-z]{49}\b|\bwhsec_[A-Za-z0-9+/_=-]{16,}/g

/** Cuts API keys and signing secrets out of free text, wherever they came from. */
export const withoutSecrets = (text: string): string => text.replaceAll(planted, '[redacted]')

/**
 * What an error says, and not all that hangs on it: those of `pg` carry their whole connection, those of HTTP clients
 * their request with its headers.
 */
const describeError = (error: unknown, depth = 0): unknown => {
  if (!(error instanceof Error) || depth > 5) return error instanceof Error ? error.message : error
  const { name, message, stack, cause } = error
  return {
    type: name,
    message,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    stack,
    cause: describeError(cause, depth + 1),
    // A connection that failed on every address of a name says so only there.
    errors: error instanceof AggregateError ? error.errors.map((one) => describeError(one, depth + 1)) : undefined,
  }
}

export const createLog = (level: string, destination?: { write(line: string): void }): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: (error: unknown) => describeError(error) },
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      hooks: { streamWrite: withoutSecrets },
    },
    ...(destination ? [destination] : []),
  )
