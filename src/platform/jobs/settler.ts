import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { isDatabaseUnavailable, isRowRejected } from '../database/errors.ts'
import { createBackoff } from '../process/backoff.ts'

const retry = { firstMs: 1_000, maxMs: 10_000 }

export interface SettlerOptions<Item> {
  /** Records all of them, in one statement. */
  write(items: Item[]): Promise<unknown>
  /** The most items of one write. */
  maxItems: number
  /** Called for each failed write that is repeated, and for the last one after `halt`. */
  onError(error: unknown): void
  /** Called for what the database can never accept: an item, or undefined for a write of `persist`. */
  onRejected(error: unknown, item: Item | undefined): void
}

/** Records the outcomes of work, because an outcome that is not recorded is work done twice. */
export interface Settler<Item> {
  /**
   * Resolves when the item is recorded, or given up: after `halt`, or because the database can never accept it. Items of
   * the same time share a write. When the database rejects it, each item is written separately.
   */
  settle(item: Item): Promise<void>
  /** The same for a write of its own. */
  persist(write: () => Promise<unknown>): Promise<void>
  /** From now on each write is tried once. Before that it is repeated, every 10 s at least, until the database accepts it. */
  halt(): void
}

interface Waiting<Item> {
  item: Item
  done: () => void
}

const isNoOutage = (error: unknown): boolean => !isDatabaseUnavailable(error)

export const createSettler = <Item>(options: SettlerOptions<Item>): Settler<Item> => {
  const { write, maxItems, onError, onRejected } = options
  const waiting: Waiting<Item>[] = []
  let isRunning = false
  let isHalted = false

  /** Returns the error with which the write is not repeated, and undefined when it is recorded or given up. */
  const repeat = async (work: () => Promise<unknown>, isFinal: (error: unknown) => boolean): Promise<unknown> => {
    const backoff = createBackoff(retry)
    for (;;) {
      try {
        await work()
        return undefined
      } catch (error) {
        if (isFinal(error)) return error
        onError(error)
        if (isHalted) return undefined
        await delay(backoff.next())
      }
    }
  }

  const persist = async (work: () => Promise<unknown>, item?: Item): Promise<void> => {
    const rejection = await repeat(work, isRowRejected)
    if (rejection !== undefined) onRejected(rejection, item)
  }

  const retryAlone = async ({ item, done }: Waiting<Item>): Promise<void> => {
    await delay(retry.firstMs)
    await persist(() => write([item]), item)
    done()
  }

  const settleAlone = async ({ item, done }: Waiting<Item>): Promise<void> => {
    const error = await repeat(() => write([item]), isNoOutage)
    if (error === undefined) return done()
    if (isRowRejected(error)) {
      onRejected(error, item)
      return done()
    }
    // Repeated beside the writes of other items, which may be accepted.
    onError(error)
    if (isHalted) return done()
    void retryAlone({ item, done })
  }

  const settleBatch = async (batch: Waiting<Item>[]): Promise<void> => {
    if (batch.length > 1) {
      const error = await repeat(() => write(batch.map(({ item }) => item)), isNoOutage)
      if (error === undefined) {
        for (const { done } of batch) done()
        return
      }
    }
    for (const one of batch) await settleAlone(one)
  }

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (waiting.length > 0) {
      // Everything that ends in this turn of the event loop, or during the write before, shares the next write.
      await nextTurn()
      await settleBatch(waiting.splice(0, maxItems))
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
    persist: (work) => persist(work),
    halt: () => {
      isHalted = true
    },
  }
}
