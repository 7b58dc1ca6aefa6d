import { pino } from 'pino'
import type { Logger } from 'pino'
import { withoutSecrets } from '../text/redact.ts'

export type Log = Logger

/**
 * The logged fields of an error. Others are dropped, because errors of `pg` contain their connection and errors of HTTP
 * clients their request with its headers.
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
    // The errors of a connection that failed on every address of a name.
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
      hooks: { streamWrite: withoutSecrets },
    },
    ...(destination ? [destination] : []),
  )
