import type { PreviewInput } from './previewer.ts'

type Open = PreviewInput['open']

/** A result that another request has stored since this one began to wait for its turn. */
class Stored extends Error {
  readonly row: unknown

  constructor(row: unknown) {
    super('the result is stored')
    this.row = row
  }
}

/** What requests of this process read at the moment. Each promise resolves when the result is stored. */
const reading = new Map<string, Promise<void>>()

/**
 * Requests for the same result wait for their turns in a queue, as those of all visitors of a page do: only the first of them
 * reads the file. `make` reads it by the given `open` and stores the result; the others get the row that `find` returns
 * then. When the first one fails without storing anything, or is aborted, the next one reads the file.
 */
export const readOnce = async <Row extends object, T>(
  name: string,
  { open, find, make }: { open: Open; find: () => Promise<Row | undefined>; make: (open: Open) => Promise<T> },
): Promise<{ made: T } | { stored: Row }> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const openFirst: Open = async (maxBytes) => {
    for (let other = reading.get(name); other !== undefined; other = reading.get(name)) await other
    reading.set(name, promise)
    const row = await find()
    if (row) throw new Stored(row)
    return open(maxBytes)
  }
  try {
    return { made: await make(openFirst) }
  } catch (error) {
    if (error instanceof Stored) return { stored: error.row as Row }
    throw error
  } finally {
    if (reading.get(name) === promise) reading.delete(name)
    resolve()
  }
}
