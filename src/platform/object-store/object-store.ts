import type { Readable } from 'node:stream'
import { serviceUnavailable } from '../http/errors.ts'
import type { ApiError } from '../http/errors.ts'

export interface PutOptions {
  contentType?: string
  /** What the body will come to, when it is known beforehand; a body of another length is the caller's to refuse. */
  sizeBytes?: number
  /** Gives up with the signal's reason. */
  signal?: AbortSignal
}

/** First and last byte, both included, both inside the object. */
export interface ByteRange {
  start: number
  end: number
}

export interface StoredObject {
  sizeBytes: number
  modifiedAt: Date
}

export interface SignedGetOptions {
  expiresSeconds: number
  contentType: string
  contentDisposition: string
}

/**
 * Where the bytes of files live. Keys have the form `<folder>/<name>` (`assertKey`); objects are never changed, only
 * put and deleted. A store that is full, read-only or out of reach answers SERVICE_UNAVAILABLE; what the body itself
 * throws comes through as it is.
 */
export interface ObjectStore {
  readonly kind: 'disk' | 's3'
  /**
   * All or nothing: complete and durable when it resolves, nothing left when it rejects. Reads no faster than it
   * writes. A body that was not read to its end is released by its iterator's `return`, which destroys a Readable:
   * for a request that still wants its answer, hand over `request.iterator({ destroyOnReturn: false })`.
   */
  put(key: string, body: AsyncIterable<Buffer>, options?: PutOptions): Promise<void>
  /** Rejects with NOT_FOUND when there is no such object. Destroy the stream to stop early. */
  get(key: string, range?: ByteRange): Promise<Readable>
  head(key: string): Promise<StoredObject | undefined>
  /** Deleting a missing object is fine. */
  delete(key: string): Promise<void>
  /** Every object whose key starts with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredObject & { key: string }>
  /** A URL that answers the object with exactly these headers; only stores that clients can reach have it. */
  signedGetUrl?(key: string, options: SignedGetOptions): Promise<string>
  /** Rejects when the store cannot be written to and read from right now. */
  check(): Promise<void>
  /** How many puts are under way, here or in other processes, or were cut off by a crash. */
  unfinished(): Promise<number>
  /**
   * Removes what puts left that a crash cut off, and answers how many: what was not touched for two hours (a request
   * may take one to arrive), or everything on the disk when no other process writes to it. For the start of a server.
   */
  removeUnfinished(options: { soleProcess: boolean }): Promise<number>
}

export const unfinishedAgeMs = 2 * 3_600_000

// Lower case only: on a file system that ignores case two keys must not be one file. No dot, so no way out.
const keyPattern = /^[a-z0-9][a-z0-9-]{1,63}\/[a-z0-9][a-z0-9-]{1,63}$/

/** Throws on a key that is not `<folder>/<name>`, each of 2 to 64 lower-case letters, digits and dashes. */
export const assertKey = (key: string): void => {
  if (!keyPattern.test(key)) throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, 200))}`)
}

export const storeUnavailable = (cause: unknown): ApiError =>
  serviceUnavailable('The file store cannot be reached right now. Try again shortly.', { cause })

/**
 * The body's chunks until the signal says stop, which is noticed while the body stalls, too. Leaving early releases
 * the body without waiting for it: the `return` of an async generator only runs after its pending `next`.
 */
export const untilAborted = async function* (
  body: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]()
  let giveUp: ((reason: unknown) => void) | undefined
  const onAbort = (): void => giveUp?.(signal?.reason)
  let ended = false
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Buffer>>()
      giveUp = reject
      iterator.next().then(resolve, (error: unknown) => {
        ended = true
        reject(error)
      })
      const result = await promise
      if (result.done) {
        ended = true
        return
      }
      yield result.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (!ended) iterator.return?.().catch(() => undefined)
  }
}
