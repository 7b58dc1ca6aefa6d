/** Limits how many turns whose worker died run at once in a process. */
export interface Probation {
  /** Takes a place when one is free. Returns the function that gives it up. */
  tryEnter(): (() => void) | undefined
  /** Waits for a place, first come first served. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

export interface ProbationOptions {
  places: number
  /** After so long without a crash, a turn gives up its place. */
  placeMs: number
}

/** The crash of a busy worker leaves hundreds of turns: 400 that take 1 s each are done after 100 s. */
const defaults: ProbationOptions = { places: 4, placeMs: 10_000 }

/**
 * Hundreds of turns share a process, and when it dies it is not known which of them killed it. A turn ends with the second
 * death of its worker, so only a few may run when that happens: the others are given back, and no death is counted for
 * them.
 */
export const createProbation = ({ places, placeMs } = defaults): Probation => {
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
