/** Frames that were committed to a turn's stream just now. */
export interface Published {
  /** The number of the first of them. */
  firstSeq: number
  lines: string[]
  /** Whether the turn rests now: ended, or waiting for a person. */
  isResting: boolean
}

/** What happens to turns within this process, told at once. Other processes find out by looking at the database. */
export interface TurnHub {
  publish(turnId: string, published: Published): void
  subscribe(turnId: string, listener: (published: Published) => void): () => void
  /** Registers a turn that this process works on; `stop` is called when somebody here ends it. */
  work(turnId: string, stop: () => void): () => void
  isWorking(turnId: string): boolean
  stop(turnId: string): void
}

export const createTurnHub = (): TurnHub => {
  const listeners = new Map<string, Set<(published: Published) => void>>()
  const working = new Map<string, () => void>()
  return {
    publish: (turnId, published) => {
      for (const listener of listeners.get(turnId) ?? []) listener(published)
    },
    subscribe: (turnId, listener) => {
      const all = listeners.get(turnId) ?? new Set()
      listeners.set(turnId, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(turnId) === all) listeners.delete(turnId)
      }
    },
    work: (turnId, stop) => {
      working.set(turnId, stop)
      return () => {
        if (working.get(turnId) === stop) working.delete(turnId)
      }
    },
    isWorking: (turnId) => working.has(turnId),
    stop: (turnId) => working.get(turnId)?.(),
  }
}
