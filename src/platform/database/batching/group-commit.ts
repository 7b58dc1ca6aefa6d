import { isDatabaseUnavailable } from '../errors.ts'

export interface GroupCommitOptions<Item, Result> {
  /** Writes all items, or none, in their order. Returns a result for each. */
  write(items: Item[]): Promise<Result[]>
  /** Items of one lane are never in two concurrent writes, because they may change the same rows. */
  laneOf(item: Item): string
  /** The limit of items in one write. */
  maxItems: number
  /** The limit of bytes in one write with several items. */
  maxBytes?: number
  bytesOf?: (item: Item) => number
}

/** Two, so that items need not wait for the write of another lane. More writes would be smaller and cost more. */
const maxWrites = 2

interface Waiting<Item, Result> {
  item: Item
  lane: string
  done: PromiseWithResolvers<Result>
}

/**
 * Group commit: items that arrive while their lane is being written go into the next write together. Under load, many
 * items share a commit; a single item does not wait. When the database rejects a write, each item is written separately,
 * so that only the invalid item fails.
 */
export const createGroupCommit = <Item, Result>({
  write,
  laneOf,
  maxItems,
  maxBytes = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
}: GroupCommitOptions<Item, Result>): ((item: Item) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = []
  /** The lanes of each running write. */
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

  /** The first items whose lanes are free, in their order. */
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
    // When another write may start, all waiting items belong to lanes that are being written.
    if (writes.size < maxWrites && !isBusy(one.lane)) void run([one])
    else waiting.push(one)
    return one.done.promise
  }
}
