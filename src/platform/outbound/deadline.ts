/** The work, or the signal's reason as soon as it is aborted: what takes the signal may notice it late. */
export const until = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const aborted = Promise.withResolvers<never>()
  const giveUp = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/**
 * Aborts when the time is over or the caller's signal is aborted, until it is ended. `AbortSignal.timeout` and `.any`
 * would do, but what they leave behind lives until the time would have been over, or as long as the caller's signal: at
 * hundreds of requests a second, a seventh of what survives a young collection.
 */
export const startDeadline = (timeoutMs: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController()
  const giveUp = (): void => controller.abort(new DOMException('The time is over.', 'TimeoutError'))
  const timer = setTimeout(giveUp, timeoutMs).unref()
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
