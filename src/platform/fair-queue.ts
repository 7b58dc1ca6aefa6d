export interface FairQueue {
  /**
   * Runs the work when its turn comes. Rejects with the signal's reason when that comes first, and with the queue's own
   * error when too much waits already.
   */
  run<T>(work: () => Promise<T>, of?: { group?: string | undefined; signal?: AbortSignal | undefined }): Promise<T>
  /** Rejects what waits, now and later. Work that runs is left alone. */
  close(): void
}

export interface FairQueueOptions {
  /** How much runs at once. */
  running: number
  /** How much of one group runs at once, whether or not others wait. Default: `running`. */
  runningPerGroup?: number
  /** How much waits for a place at once. */
  waiting: number
  /** How much of one group waits for a place at once. */
  waitingPerGroup: number
  /** The error when there is no room to wait; a function, because it may name the group's own limit. */
  busy(): Error
}

interface Waiting {
  start(): void
  reject(error: unknown): void
}

/**
 * A queue that one group cannot fill for the others. Groups that wait take turns, in each of them what came first runs
 * first. While several groups wait, none of them gets a further place beyond half of all; alone, a group gets them all.
 */
export const createFairQueue = (options: FairQueueOptions): FairQueue => {
  const { running: places, runningPerGroup = places, busy } = options
  const share = Math.max(1, Math.floor(places / 2))
  const runningOf = new Map<string, number>()
  /** The groups that wait, in the order of their turns: the one that was served last is at the end. */
  const waitingOf = new Map<string, Set<Waiting>>()
  let running = 0
  let waiting = 0
  let closed = false

  const countOf = (group: string): number => runningOf.get(group) ?? 0
  const begin = (group: string): void => {
    running += 1
    runningOf.set(group, countOf(group) + 1)
  }
  const end = (group: string): void => {
    running -= 1
    const left = countOf(group) - 1
    if (left === 0) runningOf.delete(group)
    else runningOf.set(group, left)
  }

  const nextGroup = (): string | undefined => {
    let fallback: string | undefined
    for (const group of waitingOf.keys()) {
      const count = countOf(group)
      if (count < Math.min(share, runningPerGroup)) return group
      if (count < runningPerGroup) fallback ??= group
    }
    return fallback
  }
  const startNext = (): void => {
    while (running < places) {
      const group = nextGroup()
      if (group === undefined) return
      const others = waitingOf.get(group) as Set<Waiting>
      const [first] = others
      begin(group)
      ;(first as Waiting).start()
      if (others.size === 0) continue
      waitingOf.delete(group)
      waitingOf.set(group, others)
    }
  }

  const wait = (group: string, signal: AbortSignal | undefined): Promise<void> => {
    const others = waitingOf.get(group) ?? new Set<Waiting>()
    if (waiting >= options.waiting || others.size >= options.waitingPerGroup) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      waiting -= 1
      others.delete(place)
      if (others.size === 0) waitingOf.delete(group)
      signal?.removeEventListener('abort', giveUp)
    }
    const giveUp = (): void => place.reject(signal?.reason)
    const place: Waiting = {
      start: () => {
        leave()
        resolve()
      },
      reject: (error) => {
        leave()
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort's reason is the caller's own
        reject(error)
      },
    }
    waiting += 1
    others.add(place)
    waitingOf.set(group, others)
    signal?.addEventListener('abort', giveUp)
    return promise
  }

  return {
    run: async (work, { group = '', signal } = {}) => {
      signal?.throwIfAborted()
      if (closed) throw busy()
      if (running < places && countOf(group) < runningPerGroup && !waitingOf.has(group)) begin(group)
      else await wait(group, signal)
      try {
        return await work()
      } finally {
        end(group)
        startNext()
      }
    },
    close: () => {
      closed = true
      for (const places of waitingOf.values()) for (const place of places) place.reject(busy())
    },
  }
}
