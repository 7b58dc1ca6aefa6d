import type { OutboundResponse } from '../../platform/outbound/outbound.ts'

const jitter = 0.1

/** Seconds of a `Retry-After` header (RFC 9110, 10.2.3), which is a number of seconds or a date. */
export const retryAfterSeconds = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim())
  const at = Date.parse(header)
  return Number.isNaN(at) || !/[a-z]{3}/i.test(header) ? undefined : Math.max(0, (at - nowMs) / 1_000)
}

export interface FailedAttempt {
  /** Attempts so far, including the failed one. */
  attempts: number
  response: Pick<OutboundResponse, 'headers'> | undefined
  nowMs: number
  /** From 0 to 1, for the jitter. */
  random: number
}

/**
 * Seconds until the next attempt, undefined if no attempt is left. A longer `Retry-After` is respected up to the next
 * step of the schedule.
 */
export const nextDelaySeconds = (
  schedule: readonly number[],
  { attempts, response, nowMs, random }: FailedAttempt,
): number | undefined => {
  const step = schedule[attempts - 1]
  if (step === undefined) return undefined
  const limit = Math.max(step, schedule[attempts] ?? step)
  const requested = retryAfterSeconds(response?.headers['retry-after'], nowMs) ?? 0
  const jittered = step * (1 - jitter + 2 * jitter * random)
  return Math.max(jittered, Math.min(requested, limit))
}
