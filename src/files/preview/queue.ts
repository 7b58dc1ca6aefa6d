import { serviceUnavailable } from '../../platform/errors.ts'

export interface Queue {
  /** Runs the work when its turn comes. Who gives up before that gives up the place. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Nobody who waits gets a turn any more. */
  close(): void
}

interface Waiting {
  start: () => void
  refuse: (error: unknown) => void
}

const busy = (): Error =>
  serviceUnavailable('Too many previews are being made right now. Try again shortly.', {
    headers: { 'retry-after': '5' },
  })

/** Work of which so much runs at once and so much waits, in the order it came; more is SERVICE_UNAVAILABLE. */
export const createQueue = (concurrency: number, maxWaiting: number): Queue => {
  let running = 0
  let closed = false
  const waiting = new Set<Waiting>()

  const turn = (signal: AbortSignal | undefined): Promise<void> => {
    if (running < concurrency && !closed) {
      running += 1
      return Promise.resolve()
    }
    if (closed || waiting.size >= maxWaiting) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      waiting.delete(place)
      signal?.removeEventListener('abort', giveUp)
    }
    const giveUp = (): void => place.refuse(signal?.reason)
    const place: Waiting = {
      start: () => {
        leave()
        resolve()
      },
      refuse: (error) => {
        leave()
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort's reason is the caller's own
        reject(error)
      },
    }
    waiting.add(place)
    signal?.addEventListener('abort', giveUp)
    return promise
  }

  return {
    run: async (work, signal) => {
      signal?.throwIfAborted()
      await turn(signal)
      try {
        return await work()
      } finally {
        const [next] = waiting
        if (next) next.start()
        else running -= 1
      }
    },
    close: () => {
      closed = true
      for (const place of waiting) place.refuse(busy())
    },
  }
}
