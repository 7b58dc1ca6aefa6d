import type { AtriumError } from './errors.ts'

export interface RetryLimits {
  /** Attempts after the first one. */
  maxRetries: number
  /** A request is not retried when the server asks for a longer delay, in milliseconds. */
  maxRetryDelayMs: number
}

export interface RetriedRequest {
  /** Whether it may be executed twice: its method is idempotent (RFC 9110, 9.2.2), or it has an idempotency key. */
  isRepeatable: boolean
  hasIdempotencyKey: boolean
}

const firstDelayMs = 250
const longestDelayMs = 8_000

/** Exponential backoff with jitter: between half of the delay and the whole, so that clients do not retry together. */
export const backoffMs = (failures: number, { firstMs = firstDelayMs, longestMs = longestDelayMs } = {}): number =>
  Math.min(firstMs * 2 ** failures, longestMs) * (0.5 + Math.random() / 2)

/**
 * Whether another attempt may succeed without executing the request twice. Rate limits (429, and on some routes 400 with
 * Retry-After) reject a request before it is executed. 409 with Retry-After is the response while the first request with
 * an idempotency key is still running.
 */
const isRetryable = (
  { code, status, retryAfterSeconds }: AtriumError,
  { isRepeatable, hasIdempotencyKey }: RetriedRequest,
): boolean => {
  if (status === 429 || (status === 400 && retryAfterSeconds !== undefined)) return true
  if (status === 409) return hasIdempotencyKey && retryAfterSeconds !== undefined
  return isRepeatable && (status >= 500 || status === 408 || code === 'NETWORK' || code === 'TIMEOUT')
}

/** Milliseconds until the next attempt; undefined when the request is not retried. `failures` counts from 0. */
export const retryDelayMs = (
  error: AtriumError,
  request: RetriedRequest,
  failures: number,
  { maxRetries, maxRetryDelayMs }: RetryLimits,
): number | undefined => {
  if (failures >= maxRetries || !isRetryable(error, request)) return undefined
  if (error.retryAfterSeconds === undefined) return Math.min(backoffMs(failures), maxRetryDelayMs)
  const askedMs = error.retryAfterSeconds * 1_000
  // The jitter is added: an earlier request would be rejected again.
  return askedMs > maxRetryDelayMs ? undefined : askedMs + backoffMs(0)
}

/** Resolves after `ms`. Rejects with the reason when `signal` aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
