export interface FairQueue {
  /**
   * Runs the work when its turn comes. Rejects with the signal's reason when it is aborted before, and with the error of
   * `busy` when the queue is full.
   */
  run<T>(work: () => Promise<T>, of?: { group?: string | undefined; signal?: AbortSignal | undefined }): Promise<T>
  /** Rejects waiting and future work. Running work continues. */
  close(): void
}

export interface FairQueueOptions {
  /** The limit of running work. */
  running: number
  /** The limit of running work of one group. Default: `running`. */
  runningPerGroup?: number
  /** The limit of waiting work. */
  waiting: number
  /** The limit of waiting work of one group. */
  waitingPerGroup: number
  /** Makes the error for a full queue; a function, because it may name the group's own limit. */
  busy(): Error
}

interface Waiting {
  start(): void
  reject(error: unknown): void
}

/** The waiting groups in the order of their turns: the group that was served last is at the end. */
class WaitingRoom {
  readonly #groups = new Map<string, Set<Waiting>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get groups(): Iterable<string> {
    return this.#groups.keys()
  }

  countOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0
  }

  /** Resolves when it is the turn of this work. Rejects with the signal's reason or when the queue is closed. */
  enter(group: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const members = this.#groups.get(group) ?? new Set<Waiting>()
    const leave = (): void => {
      this.#size -= 1
      members.delete(place)
      if (members.size === 0) this.#groups.delete(group)
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
    this.#size += 1
    members.add(place)
    this.#groups.set(group, members)
    signal?.addEventListener('abort', giveUp)
    return promise
  }

  /** Starts the oldest work of the group, and moves the group to the end. */
  startFirst(group: string): void {
    const members = this.#groups.get(group)
    const [first] = members ?? []
    first?.start()
    if (members === undefined || members.size === 0) return
    this.#groups.delete(group)
    this.#groups.set(group, members)
  }

  rejectAll(error: () => Error): void {
    for (const members of this.#groups.values()) for (const place of members) place.reject(error())
  }
}

/**
 * A queue that one group cannot block for others. Waiting groups take turns, and within a group work runs in order of
 * arrival. While several groups wait, none gets more than half of the places; a group that waits alone gets all.
 */
export const createFairQueue = (options: FairQueueOptions): FairQueue => {
  const { running: places, runningPerGroup = places, busy } = options
  const share = Math.min(runningPerGroup, Math.max(1, Math.floor(places / 2)))
  const runningOf = new Map<string, number>()
  const room = new WaitingRoom()
  let running = 0
  let closed = false

  const countOf = (group: string): number => runningOf.get(group) ?? 0
  const change = (group: string, by: 1 | -1): void => {
    running += by
    const count = countOf(group) + by
    if (count === 0) runningOf.delete(group)
    else runningOf.set(group, count)
  }
  const nextGroup = (): string | undefined => {
    let fallback: string | undefined
    for (const group of room.groups) {
      const count = countOf(group)
      if (count < share) return group
      if (count < runningPerGroup) fallback ??= group
    }
    return fallback
  }
  const startNext = (): void => {
    while (running < places) {
      const group = nextGroup()
      if (group === undefined) return
      change(group, 1)
      room.startFirst(group)
    }
  }

  return {
    run: async (work, { group = '', signal } = {}) => {
      signal?.throwIfAborted()
      if (closed) throw busy()
      if (running < places && countOf(group) < runningPerGroup && room.countOf(group) === 0) change(group, 1)
      else if (room.size >= options.waiting || room.countOf(group) >= options.waitingPerGroup) throw busy()
      else await room.enter(group, signal)
      try {
        return await work()
      } finally {
        change(group, -1)
        startNext()
      }
    },
    close: () => {
      closed = true
      room.rejectAll(busy)
    },
  }
}
