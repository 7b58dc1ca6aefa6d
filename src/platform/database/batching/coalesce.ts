const ignore = (): void => undefined

/** Resolves at the end of this turn of the event loop, when all input that has arrived is read. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/**
 * Shares runs of `work`: all calls before a run starts get its result, and calls during a run wait for the next one. So a
 * result is never older than its call, and under load one run serves hundreds of calls. Rejects as `work` does.
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
