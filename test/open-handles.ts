// Ends a process in which something is still open long after the last test, such as a leaked timer.

const limitMs = 120_000
let isShared = false
let limit: NodeJS.Timeout | undefined

/** Call it in a process that runs several test files: each may begin when the one before it has closed everything. */
export const shareProcess = (): void => {
  isShared = true
}

const describeOpen = (): string => {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${name} (${count})`).join(', ')
}

const startLimit = (): void => {
  clearTimeout(limit)
  limit = setTimeout(() => {
    console.error(`still open after the last test: ${describeOpen()}`)
    process.exit(1)
  }, limitMs).unref()
}

/** Call it at the end of a file and whenever closing has made progress: on a busy machine, closing everything takes long. */
export const failWhenOpen = (): void => {
  if (!isShared) startLimit()
}

/** Call it after the last file of a process that runs several. */
export const allFilesEnded = startLimit
