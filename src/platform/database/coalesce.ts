const ignore = (): void => undefined

/** When everything that has arrived by now was read: the rest of this turn of the event loop. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/**
 * One run of `work` answers all who asked before it began: whoever asks while one is running waits for the next. So an
 * answer is never older than its question, and under load one run serves hundreds. Rejects as `work` does.
 */
export const coalesce = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined
  const begin = async (): Promise<void> => {
    await running
    await endOfTurn()
    following = undefined
    const run = work()
    running = run.catch(ignore)
    return run
  }
  return () => (following ??= begin())
}
