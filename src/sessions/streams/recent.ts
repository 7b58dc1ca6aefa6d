export interface RecentOptions {
  /** An item is kept for at least this long after it was added, and for at most twice as long. */
  keepMs: number
  /** At most twice as many items are kept; beyond that, the oldest are dropped. */
  maxItems: number
}

/** A set that forgets: two generations are used in turns, and the older one is dropped as a whole. */
export const createRecent = ({ keepMs, maxItems }: RecentOptions) => {
  let current = new Set<string>()
  let previous = new Set<string>()
  let beganAtMs = performance.now()
  const turnOver = (): void => {
    const ageMs = performance.now() - beganAtMs
    if (ageMs < keepMs && current.size < maxItems) return
    previous = ageMs < 2 * keepMs ? current : new Set()
    current = new Set()
    beganAtMs = performance.now()
  }
  return {
    add: (item: string): void => {
      turnOver()
      current.add(item)
    },
    has: (item: string): boolean => {
      turnOver()
      return current.has(item) || previous.has(item)
    },
  }
}
