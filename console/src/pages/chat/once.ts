import { AtriumError, uniqueKey } from '@atrium/client'

/** The idempotency keys of requests without a response, by their content. */
const keys = new Map<string, string>()

/** Whether the server may have executed a request that failed: its response was lost, or it is still being executed. */
export const mayBeDone = (error: unknown): boolean =>
  error instanceof AtriumError &&
  (error.status === 0 || error.status >= 500 || (error.code === 'CONFLICT' && error.retryAfterSeconds !== undefined))

/**
 * Sends a request with an idempotency key. When its response is lost and the person sends the same again, it has the same
 * key, so that no second turn is started and charged.
 */
export const sendOnce = async <T>(request: unknown, send: (idempotencyKey: string) => Promise<T>): Promise<T> => {
  const content = JSON.stringify(request)
  const key = keys.get(content) ?? uniqueKey()
  keys.delete(content)
  try {
    return await send(key)
  } catch (error) {
    if (mayBeDone(error)) keys.set(content, key)
    throw error
  }
}
