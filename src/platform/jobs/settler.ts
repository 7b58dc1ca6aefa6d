import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { createBackoff } from '../process/backoff.ts'

const retry = { firstMs: 1_000, maxMs: 10_000 }

export interface SettlerOptions<Item> {
  /** Records all of them, in one statement. */
  write(items: Item[]): Promise<unknown>
  /** The most items of one write. */
  maxItems: number
  /** Called for each failed write. */
  onError(error: unknown): void
}

/** Records the outcomes of work, because an outcome that is not recorded is work done twice. */
export interface Settler<Item> {
  /** Resolves when the item is recorded, or given up after `halt`. Items of the same time share a write. */
  settle(item: Item): Promise<void>
  /** The same for a write of its own. */
  persist(write: () => Promise<unknown>): Promise<void>
  /** From now on each write is tried once. Before that it is repeated, every 10 s at least, until the database accepts it. */
  halt(): void
}

export const createSettler = <Item>({ write, maxItems, onError }: SettlerOptions<Item>): Settler<Item> => {
  const waiting: { item: Item; done: () => void }[] = []
  let isRunning = false
  let isHalted = false

  const persist = async (work: () => Promise<unknown>): Promise<void> => {
    const backoff = createBackoff(retry)
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        onError(error)
        if (isHalted) return
        await delay(backoff.next())
      }
    }
  }

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (waiting.length > 0) {
      // Everything that ends in this turn of the event loop, or during the write before, shares the next write.
      await nextTurn()
      const batch = waiting.splice(0, maxItems)
      await persist(() => write(batch.map(({ item }) => item)))
      for (const { done } of batch) done()
    }
    isRunning = false
  }

  return {
    settle: (item) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ item, done: resolve })
      void run()
      return promise
    },
    persist,
    halt: () => {
      isHalted = true
    },
  }
}
