import type { Readable } from 'node:stream'
import { serviceUnavailable } from '../http/errors.ts'
import type { ApiError } from '../http/errors.ts'

export interface PutOptions {
  contentType?: string
  /** The length of the body, when it is known. The caller must reject a body of another length. */
  sizeBytes?: number
  /** Rejects with the signal's reason. */
  signal?: AbortSignal
}

/** First and last byte, both inclusive and inside of the object. */
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

/** A part that a client has uploaded. */
export interface StoredPart {
  /** From 1. */
  number: number
  sizeBytes: number
  etag: string
}

/** Uploads whose bytes clients send to the store and not to this server. Throws SERVICE_UNAVAILABLE like the store. */
export interface DirectUploads {
  /** The origin of the URLs, for the content security policy of pages that use them. */
  origin(): Promise<string>
  /** Begins an upload of a new object, which does not exist until it is complete. Returns the ID of the upload. */
  begin(key: string, options: { contentType: string }): Promise<string>
  /** A URL that accepts one part of exactly this size by PUT, until it expires or the upload ends. Sends no request. */
  signPart(
    key: string,
    uploadId: string,
    part: { number: number; sizeBytes: number; expiresSeconds: number },
  ): Promise<string>
  /** The parts that have arrived, in order. Undefined when the upload is complete, aborted or unknown. */
  parts(key: string, uploadId: string): Promise<StoredPart[] | undefined>
  complete(key: string, uploadId: string, parts: StoredPart[]): Promise<void>
  /** Does nothing when the upload has ended. */
  abort(key: string, uploadId: string): Promise<void>
}

/**
 * Stores the contents of files. Keys have the form `<folder>/<name>` (`assertKey`). Objects are never changed, only put
 * and deleted. Throws SERVICE_UNAVAILABLE when the store is full, read-only or unreachable; errors of the body are thrown
 * unchanged.
 */
export interface ObjectStore {
  readonly kind: 'disk' | 's3'
  /**
   * The object is complete and durable when it resolves, and does not exist when it rejects. Reads with back pressure. A
   * body that was not read completely is released by its iterator's `return`, which destroys a Readable: pass
   * `request.iterator({ destroyOnReturn: false })` for a request that still needs a response.
   */
  put(key: string, body: AsyncIterable<Buffer>, options?: PutOptions): Promise<void>
  /** Rejects with NOT_FOUND when there is no such object. Destroy the stream to stop early. */
  get(key: string, range?: ByteRange): Promise<Readable>
  head(key: string): Promise<StoredObject | undefined>
  /** Does nothing when the object does not exist. */
  delete(key: string): Promise<void>
  /** Every object whose key starts with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredObject & { key: string }>
  /** A URL that serves the object with these headers; only for stores that clients can reach. */
  signedGetUrl?(key: string, options: SignedGetOptions): Promise<string>
  /** Only for stores that clients can reach. */
  readonly direct?: DirectUploads
  /** Rejects when the store is not writable and readable. */
  check(): Promise<void>
  /** The number of unfinished puts, of this and other processes and of crashed ones. */
  unfinished(): Promise<number>
  /**
   * Removes the remains of puts that a crash interrupted, and returns their number: those unchanged for two hours (a
   * request can take one hour), or all on a disk that no other process writes to. Called when a server starts. `keep`: those
   * of these keys that clients are still uploading.
   */
  removeUnfinished(options: {
    soleProcess: boolean
    keep: (keys: string[]) => Promise<ReadonlySet<string>>
  }): Promise<number>
}

export const unfinishedAgeMs = 2 * 3_600_000

// Lower case only, because two keys must not be one file on a case-insensitive file system. No dots, so no traversal.
const keyPattern = /^[a-z0-9][a-z0-9-]{1,63}\/[a-z0-9][a-z0-9-]{1,63}$/

/** Throws on a key that is not `<folder>/<name>`, each of 2 to 64 lower-case letters, digits and dashes. */
export const assertKey = (key: string): void => {
  if (!keyPattern.test(key)) throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, 200))}`)
}

export const storeUnavailable = (cause: unknown): ApiError =>
  serviceUnavailable('The file store cannot be reached right now. Try again shortly.', { cause })

/**
 * The body's chunks until the signal is aborted, also while the body stalls. Leaving early releases the body without
 * waiting: the `return` of an async generator only runs after its pending `next`.
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
