import { isDatabaseUnavailable } from './errors.ts'

export interface GroupCommitOptions<Item, Result> {
  /** Writes all of them, or none, in their order; answers a result for each. */
  write(items: Item[]): Promise<Result[]>
  /** Items of one lane are never in two writes at the same time: those may touch the same rows. */
  laneOf(item: Item): string
  /** As many go into one write, at most. */
  maxItems: number
  /** And no more bytes, if that is more than one item. */
  maxBytes?: number
  bytesOf?: (item: Item) => number
}

/**
 * Two, so that items do not have to wait for the write of another lane, be it ever so busy; each write more makes them
 * smaller, and the whole dearer.
 */
const maxWrites = 2

interface Waiting<Item, Result> {
  item: Item
  lane: string
  done: PromiseWithResolvers<Result>
}

/**
 * All that arrive while their lane is being written go into the next write together: under load a commit is shared by
 * many, alone nobody waits. When the database refuses what is in a write, each item is written by itself, and only the
 * one at fault fails.
 */
export const createGroupCommit = <Item, Result>({
  write,
  laneOf,
  maxItems,
  maxBytes = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
}: GroupCommitOptions<Item, Result>): ((item: Item) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = []
  /** The lanes of each write that is under way. */
  const writes = new Set<ReadonlySet<string>>()

  const flush = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item))
      for (const [at, { done }] of batch.entries()) done.resolve(results[at] as Result)
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { done } of batch) done.reject(error)
      else for (const one of batch) await flush([one])
    }
  }

  const isBusy = (lane: string): boolean => [...writes].some((lanes) => lanes.has(lane))

  /** The first ones whose lanes are free, in their order. */
  const takeBatch = (): Waiting<Item, Result>[] => {
    const batch: Waiting<Item, Result>[] = []
    const rest: Waiting<Item, Result>[] = []
    let bytes = 0
    let isFull = false
    for (const one of waiting) {
      const isNext = !isFull && !isBusy(one.lane)
      if (isNext) bytes += bytesOf(one.item)
      isFull ||= batch.length === maxItems || (batch.length > 0 && bytes > maxBytes)
      if (isNext && !isFull) batch.push(one)
      else rest.push(one)
    }
    waiting = rest
    return batch
  }

  const run = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    const lanes = new Set(batch.map(({ lane }) => lane))
    writes.add(lanes)
    await flush(batch)
    writes.delete(lanes)
    while (writes.size < maxWrites) {
      const next = takeBatch()
      if (next.length === 0) return
      void run(next)
    }
  }

  return (item) => {
    const one: Waiting<Item, Result> = { item, lane: laneOf(item), done: Promise.withResolvers() }
    // Where there is room for a write, whatever waits is of a lane that is being written.
    if (writes.size < maxWrites && !isBusy(one.lane)) void run([one])
    else waiting.push(one)
    return one.done.promise
  }
}
