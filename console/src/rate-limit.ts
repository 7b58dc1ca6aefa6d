import { AtriumError } from '@atrium/client'

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

/** Runs `work` and repeats it after the `Retry-After` pause while the server answers 429. */
export const retryWhenRateLimited = async <T>(
  work: () => Promise<T>,
  options: { signal?: AbortSignal; onWait?: (seconds: number) => void } = {},
): Promise<T> => {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AtriumError) || error.code !== 'TOO_MANY_REQUESTS') throw error
      const seconds = Math.max(1, error.retryAfterSeconds ?? 1)
      options.onWait?.(seconds)
      await sleep(seconds * 1_000, options.signal)
    }
  }
}

export interface BulkOutcome {
  done: number
  /** One error for each item that failed. */
  errors: unknown[]
}

/** Runs `work` for every item, four at a time, and continues after errors. */
export const forEachConcurrently = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<BulkOutcome> => {
  const outcome: BulkOutcome = { done: 0, errors: [] }
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await retryWhenRateLimited(() => work(item))
        outcome.done += 1
      } catch (error) {
        outcome.errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: 4 }, worker))
  return outcome
}
