export interface BackoffOptions {
  /** The delay after the first failure. It doubles with each further failure in a row. */
  firstMs: number
  maxMs: number
  /** 0 ≤ value < 1, for tests. */
  random?: () => number
}

/** Delays between attempts that fail, so that a loop over a broken dependency neither spins nor floods the log. */
export interface Backoff {
  /** Milliseconds to wait after a failure: between half of the doubled delay and all of it. */
  next(): number
  /** Call it after a success. */
  reset(): void
}

/** Half of each delay is random, because processes that lost the same database would otherwise return together. */
export const createBackoff = ({ firstMs, maxMs, random = Math.random }: BackoffOptions): Backoff => {
  let failures = 0
  return {
    next: () => {
      const delayMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30))
      failures += 1
      return delayMs * (0.5 + random() / 2)
    },
    reset: () => {
      failures = 0
    },
  }
}
