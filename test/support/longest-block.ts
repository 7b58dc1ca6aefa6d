// How long the main thread of this process worked without a turn of its event loop. Measured as processor time of this
// thread, so that other busy processes on the machine do not count.

export interface BlockMeter {
  /** Ends the measurement and answers the longest block in milliseconds of processor time. */
  stop(): number
}

export const measureBlocks = (): BlockMeter => {
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let longest = 0
  let before = usedMs()
  const tick = (): void => {
    const now = usedMs()
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(tick, 1).unref()
  return {
    stop: () => {
      tick()
      clearInterval(timer)
      return longest
    },
  }
}

/**
 * Documented: other requests wait at most 100 ms. Tested with a margin, as garbage collection and code that runs for the
 * first time count here; the bugs that this finds block for seconds.
 */
export const longestBlockMs = 500
