/** Frames that were committed to a turn's stream just now. */
export interface Published {
  /** The number of the first of them. */
  firstSeq: number
  lines: string[]
  /** Whether the turn rests now: ended, or waiting for a person. */
  isResting: boolean
}

export interface Listener {
  hear(published: Published): void
  /** Whether it passes frames on, as opposed to waiting for the end. */
  wantsFrames: boolean
}

/** What happens to turns within this process, told at once. Other processes find out by looking at the database. */
export interface TurnHub {
  publish(turnId: string, published: Published): void
  subscribe(turnId: string, listener: Listener): () => void
  /** Whether anybody here reads the turn's frames as they come. */
  isRead(turnId: string): boolean
  /** Registers a turn that this process works on; `stop` is called when somebody here ends it. */
  work(turnId: string, stop: () => void): () => void
  isWorking(turnId: string): boolean
  stop(turnId: string): void
}

export const createTurnHub = (): TurnHub => {
  const listeners = new Map<string, Set<Listener>>()
  const working = new Map<string, () => void>()
  return {
    publish: (turnId, published) => {
      for (const listener of listeners.get(turnId) ?? []) listener.hear(published)
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
    isRead: (turnId) => [...(listeners.get(turnId) ?? [])].some(({ wantsFrames }) => wantsFrames),
    isWorking: (turnId) => working.has(turnId),
    stop: (turnId) => working.get(turnId)?.(),
  }
}
