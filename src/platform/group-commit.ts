import { isDatabaseUnavailable } from './database.ts'

export interface GroupCommitOptions<Item, Result> {
  /** Writes all of them, or none, in their order; answers a result for each. */
  write(items: Item[]): Promise<Result[]>
  /** As many go into one write, at most. */
  maxItems: number
  /** And no more bytes, if that is more than one item. */
  maxBytes?: number
  bytesOf?: (item: Item) => number
}

interface Waiting<Item, Result> {
  item: Item
  done: PromiseWithResolvers<Result>
}

/**
 * All that arrive while a write is under way go into the next one together: under load a commit is shared by many,
 * alone nobody waits. A process has one write at a time, so that its own never wait for one another's rows. When the
 * database refuses what is in a write, each item is written by itself, and only the one at fault fails.
 */
export const createGroupCommit = <Item, Result>({
  write,
  maxItems,
  maxBytes = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
}: GroupCommitOptions<Item, Result>): ((item: Item) => Promise<Result>) => {
  const waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  const flush = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item))
      for (const [at, { done }] of batch.entries()) done.resolve(results[at] as Result)
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { done } of batch) done.reject(error)
      else for (const one of batch) await flush([one])
    }
  }

  const takeBatch = (): Waiting<Item, Result>[] => {
    let bytes = 0
    let count = 0
    for (const { item } of waiting) {
      bytes += bytesOf(item)
      if (count === maxItems || (count > 0 && bytes > maxBytes)) break
      count += 1
    }
    return waiting.splice(0, count)
  }

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (waiting.length > 0) await flush(takeBatch())
    isRunning = false
  }

  return (item) => {
    const done = Promise.withResolvers<Result>()
    waiting.push({ item, done })
    void run()
    return done.promise
  }
}
