/** Limits how many turns whose worker died run in a process at the same time. */
export interface Probation {
  /** Occupies a free place. Returns a function that releases it; undefined when all places are occupied. */
  tryEnter(): (() => void) | undefined
  /** Waits for a place, first come first served. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

export interface ProbationOptions {
  places: number
  /** The time without a crash after which a turn releases its place. */
  placeMs: number
}

/** The crash of a busy worker leaves hundreds of turns. With 4 places, 400 turns of 1 s each end within 100 s. */
const defaults: ProbationOptions = { places: 4, placeMs: 10_000 }

/**
 * Hundreds of turns share a process, and when it dies, the turn that killed it is unknown. A turn fails after the second
 * death of its worker, so only a few of these turns may run at the same time. The others wait without a lease, so that a
 * crash is not counted for them.
 */
export const createProbation = ({ places, placeMs } = defaults): Probation => {
  const waiting = new Set<() => void>()
  let occupied = 0

  const occupy = (): (() => void) => {
    occupied += 1
    let isOver = false
    const leave = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      occupied -= 1
      const [next] = waiting
      next?.()
    }
    const timer = setTimeout(leave, placeMs).unref()
    return leave
  }

  return {
    tryEnter: () => (occupied >= places ? undefined : occupy()),
    enter: async (signal) => {
      signal.throwIfAborted()
      if (occupied < places) return occupy()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const start = (): void => {
        waiting.delete(start)
        resolve(occupy())
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
