export interface WorkOf {
  group?: string | undefined
  /** Part of the group. Work of a group that names no members belongs to one without limits of its own. */
  member?: string | undefined
  signal?: AbortSignal | undefined
}

export interface FairQueue {
  /**
   * Runs the work when its turn comes. Rejects with the signal's reason when it is aborted before, and with the error of
   * `busy` when the queue is full.
   */
  run<T>(work: () => Promise<T>, of?: WorkOf): Promise<T>
  /** Rejects waiting and future work. Running work continues. */
  close(): void
}

/** Whose limit of running work is reached: that of the member, of its group, or that of the queue. */
export type ReachedLimit = 'member' | 'group' | 'queue'

export interface FairQueueOptions {
  /** The limit of running work. */
  running: number
  /** The limit of running work of one group. Default: `running`. */
  runningPerGroup?: number
  /** The limit of running work of one member of a group. Default: `runningPerGroup`. */
  runningPerMember?: number
  /** The limit of waiting work. */
  waiting: number
  /** The limit of waiting work of one group. */
  waitingPerGroup: number
  /** The limit of waiting work of one member of a group. Default: `waitingPerGroup`. */
  waitingPerMember?: number
  /** Makes the error for work that can neither start nor wait; a function, because it may name the limit. */
  busy(reached: ReachedLimit): Error
}

interface Waiting {
  start(): void
  reject(error: unknown): void
}

/** The waiting work of a group, by its members. The member that was served last is at the end. */
type Members = Map<string, Set<Waiting>>

/** The waiting groups in the order of their turns: the group that was served last is at the end. */
class WaitingRoom {
  readonly #groups = new Map<string, Members>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get groups(): Iterable<[group: string, members: Members]> {
    return this.#groups
  }

  countOf(group: string, member?: string): number {
    const members = this.#groups.get(group)
    if (member !== undefined) return members?.get(member)?.size ?? 0
    let count = 0
    for (const { size } of members?.values() ?? []) count += size
    return count
  }

  /** Resolves when it is the turn of this work. Rejects with the signal's reason or when the queue is closed. */
  enter(group: string, member: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const members: Members = this.#groups.get(group) ?? new Map<string, Set<Waiting>>()
    const places = members.get(member) ?? new Set<Waiting>()
    const leave = (): void => {
      this.#size -= 1
      places.delete(place)
      if (places.size === 0) members.delete(member)
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
    places.add(place)
    members.set(member, places)
    this.#groups.set(group, members)
    signal?.addEventListener('abort', giveUp)
    return promise
  }

  /** Starts the oldest work of the member, and moves the member and the group to the end. */
  startFirst(group: string, member: string): void {
    const members = this.#groups.get(group)
    const places = members?.get(member)
    const [first] = places ?? []
    first?.start()
    if (members === undefined || members.size === 0) return
    this.#groups.delete(group)
    this.#groups.set(group, members)
    if (places === undefined || places.size === 0) return
    members.delete(member)
    members.set(member, places)
  }

  rejectAll(error: () => Error): void {
    for (const members of this.#groups.values())
      for (const places of members.values()) for (const place of places) place.reject(error())
  }
}

/** Running work, by group and member. */
class RunningWork {
  readonly #groups = new Map<string, Map<string, number>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  countOf(group: string, member?: string): number {
    const members = this.#groups.get(group)
    if (member !== undefined) return members?.get(member) ?? 0
    let count = 0
    for (const one of members?.values() ?? []) count += one
    return count
  }

  change(group: string, member: string, by: 1 | -1): void {
    const members = this.#groups.get(group) ?? new Map<string, number>()
    const count = (members.get(member) ?? 0) + by
    this.#size += by
    if (count === 0) members.delete(member)
    else members.set(member, count)
    if (members.size === 0) this.#groups.delete(group)
    else this.#groups.set(group, members)
  }
}

/** Work that names no member. It has no limit of its own within its group. */
const nobody = ''

/**
 * A queue that one group cannot block for others. Waiting groups take turns, and so do the members of a group. Work of
 * one member runs in order of arrival. While several groups wait, none gets more than half of the places; a group that
 * waits alone gets all.
 */
export const createFairQueue = (options: FairQueueOptions): FairQueue => {
  const { running: places, runningPerGroup = places, busy } = options
  const { runningPerMember = runningPerGroup, waitingPerMember = options.waitingPerGroup } = options
  const share = Math.min(runningPerGroup, Math.max(1, Math.floor(places / 2)))
  const running = new RunningWork()
  const room = new WaitingRoom()
  let closed = false

  const mayStart = (group: string, member: string): boolean =>
    running.size < places &&
    running.countOf(group) < runningPerGroup &&
    (member === nobody || running.countOf(group, member) < runningPerMember)
  const reachedBy = (group: string, member: string): ReachedLimit => {
    if (member !== nobody && running.countOf(group, member) >= runningPerMember) return 'member'
    return running.countOf(group) >= runningPerGroup ? 'group' : 'queue'
  }
  const isFull = (group: string, member: string): boolean =>
    room.size >= options.waiting ||
    room.countOf(group) >= options.waitingPerGroup ||
    (member !== nobody && room.countOf(group, member) >= waitingPerMember)
  const next = (): [group: string, member: string] | undefined => {
    let fallback: [group: string, member: string] | undefined
    for (const [group, members] of room.groups) {
      const member = members.keys().find((one) => mayStart(group, one))
      if (member === undefined) continue
      if (running.countOf(group) < share) return [group, member]
      fallback ??= [group, member]
    }
    return fallback
  }
  const startNext = (): void => {
    for (let found = next(); found !== undefined; found = next()) {
      running.change(...found, 1)
      room.startFirst(...found)
    }
  }

  return {
    run: async (work, { group = '', member = nobody, signal } = {}) => {
      signal?.throwIfAborted()
      if (closed) throw busy('queue')
      // Work that may start never waits, so this work overtakes none.
      if (mayStart(group, member)) running.change(group, member, 1)
      else if (isFull(group, member)) throw busy(reachedBy(group, member))
      else await room.enter(group, member, signal)
      try {
        return await work()
      } finally {
        running.change(group, member, -1)
        startNext()
      }
    },
    close: () => {
      closed = true
      room.rejectAll(() => busy('queue'))
    },
  }
}
