/** Resolves with the work, or rejects as soon as the signal is aborted, which the work itself may notice late. */
export const until = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const aborted = Promise.withResolvers<never>()
  const onTimeout = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onTimeout)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onTimeout)
  }
}

/**
 * A signal that aborts after the time or with the caller's signal; `end` removes both. `AbortSignal.timeout` and `.any`
 * keep their objects until the timeout or as long as the caller's signal: at hundreds of requests a second, these were a
 * seventh of the objects that survive a young collection.
 */
export const startDeadline = (timeoutMs: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController()
  const onTimeout = (): void => controller.abort(new DOMException('The time limit was exceeded.', 'TimeoutError'))
  const timer = setTimeout(onTimeout, timeoutMs).unref()
  const follow = (): void => controller.abort(outer?.reason)
  if (outer?.aborted) follow()
  outer?.addEventListener('abort', follow)
  return {
    signal: controller.signal,
    end: (): void => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', follow)
    },
  }
}
