import type { OutboundResponse } from '../../platform/outbound/outbound.ts'

const jitter = 0.1

/** Seconds that `Retry-After` asks for (RFC 9110, 10.2.3): a number, or a date. */
export const retryAfterSeconds = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim())
  const at = Date.parse(header)
  return Number.isNaN(at) || !/[a-z]{3}/i.test(header) ? undefined : Math.max(0, (at - nowMs) / 1_000)
}

export interface RetryAsked {
  /** Attempts made so far, the failed one included. */
  attempts: number
  response: Pick<OutboundResponse, 'headers'> | undefined
  nowMs: number
  /** 0 to 1. */
  random: number
}

/**
 * Seconds until the next attempt, undefined when there is none. A receiver may ask for more with `Retry-After`, up to
 * what the step after this one would be.
 */
export const nextDelaySeconds = (
  schedule: readonly number[],
  { attempts, response, nowMs, random }: RetryAsked,
): number | undefined => {
  const step = schedule[attempts - 1]
  if (step === undefined) return undefined
  const limit = Math.max(step, schedule[attempts] ?? step)
  const asked = retryAfterSeconds(response?.headers['retry-after'], nowMs) ?? 0
  const jittered = step * (1 - jitter + 2 * jitter * random)
  return Math.max(jittered, Math.min(asked, limit))
}
