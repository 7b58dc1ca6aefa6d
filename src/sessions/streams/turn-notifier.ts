/** Lines that were just committed to a turn's stream. */
export interface StreamUpdate {
  /** The number of the first line. */
  firstSeq: number
  lines: string[]
  /** Whether the stream ends here: the turn has ended, or waits for a person. */
  isEnd: boolean
}

export interface StreamListener {
  onUpdate(update: StreamUpdate): void
  /** Whether it reads lines. False for a listener that only waits for the end. */
  readsLines: boolean
}

/**
 * Notifies the streams of this process of the turns that this process runs, without a query. Other processes poll the
 * database.
 */
export interface TurnNotifier {
  publish(turnId: string, update: StreamUpdate): void
  /** Returns a function that ends the subscription. */
  subscribe(turnId: string, listener: StreamListener): () => void
  /** Whether a listener in this process reads the lines as they are written. */
  isRead(turnId: string): boolean
  /** Registers a turn that this process runs. `stop` is called when the turn is cancelled in this process. */
  work(turnId: string, stop: () => void): () => void
  isWorking(turnId: string): boolean
  stop(turnId: string): void
}

export const createTurnNotifier = (): TurnNotifier => {
  const listeners = new Map<string, Set<StreamListener>>()
  const working = new Map<string, () => void>()
  return {
    publish: (turnId, update) => {
      for (const listener of listeners.get(turnId) ?? []) listener.onUpdate(update)
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
    isRead: (turnId) => [...(listeners.get(turnId) ?? [])].some(({ readsLines }) => readsLines),
    isWorking: (turnId) => working.has(turnId),
    stop: (turnId) => working.get(turnId)?.(),
  }
}
