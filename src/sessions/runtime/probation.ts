/** Lets only a few of the turns that a dead worker had run at once in a process. */
export interface Probation {
  /** Takes a place when one is free. */
  tryEnter(): (() => void) | undefined
  /** Waits for a place, in order. Answers what gives it up; rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

export interface ProbationOptions {
  places: number
  /** A turn that has run for so long without harm makes room for the next one. */
  placeMs: number
}

/** A crash of a busy worker leaves hundreds of such turns: 400 that take 1 s each are done after 100 s. */
const usual: ProbationOptions = { places: 4, placeMs: 10_000 }

/**
 * Hundreds of turns share a process, and when it dies nobody knows which of them was to blame. The second death ends a
 * turn, so few of them may be at work when it comes: the others have been given back and are not counted.
 */
export const createProbation = ({ places, placeMs } = usual): Probation => {
  const waiting = new Set<() => void>()
  let taken = 0

  const take = (): (() => void) => {
    taken += 1
    let isOver = false
    const leave = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      taken -= 1
      const [next] = waiting
      next?.()
    }
    const timer = setTimeout(leave, placeMs).unref()
    return leave
  }

  return {
    tryEnter: () => (taken >= places ? undefined : take()),
    enter: async (signal) => {
      signal.throwIfAborted()
      if (taken < places) return take()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const start = (): void => {
        waiting.delete(start)
        resolve(take())
      }
      const giveUp = (): void => {
        waiting.delete(start)
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort's reason is the caller's own
        reject(signal.reason)
      }
      waiting.add(start)
      signal.addEventListener('abort', giveUp, { once: true })
      try {
        return await promise
      } finally {
        signal.removeEventListener('abort', giveUp)
      }
    },
  }
}
