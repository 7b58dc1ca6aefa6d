import type { Dispatcher } from 'undici'

/** Statuses whose responses have no body. */
const bodiless = new Set([204, 205, 304])

/**
 * The body as a web stream. Bytes that nobody reads are not buffered beyond one chunk, so that the sender waits.
 * `Readable.toWeb` does the same with more events and promises for each chunk.
 */
const toWeb = (body: Dispatcher.ResponseData['body']): ReadableStream<Uint8Array<ArrayBuffer>> => {
  // A body whose last bytes have arrived still ends after it was cancelled.
  let isCancelled = false
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      body.on('data', (chunk: Buffer<ArrayBuffer>) => {
        if (isCancelled) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) body.pause()
      })
      body.on('end', () => {
        if (!isCancelled) controller.close()
      })
      body.on('error', (error) => controller.error(error))
    },
    pull() {
      body.resume()
    },
    cancel() {
      isCancelled = true
      body.destroy()
    },
  })
}

const firstCapacity = 16_384

/** Reads up to so many bytes of a body, and closes the connection when there are more. */
export const readUpTo = (
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<{ bytes: Buffer; truncated: boolean }> => {
  const { promise, resolve, reject } = Promise.withResolvers<{ bytes: Buffer; truncated: boolean }>()
  // Copied together: a server that sends single bytes would make a list of chunks 150 times as large as the body.
  let bytes = Buffer.allocUnsafe(Math.min(maxBytes, firstCapacity))
  let size = 0
  const finish = (): void => resolve({ bytes: bytes.subarray(0, Math.min(size, maxBytes)), truncated: size > maxBytes })
  body.on('data', (chunk: Buffer) => {
    const wanted = Math.min(size + chunk.length, maxBytes)
    if (wanted > bytes.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(wanted, bytes.length * 2)))
      bytes.copy(grown, 0, 0, size)
      bytes = grown
    }
    chunk.copy(bytes, size)
    size += chunk.length
    if (size <= maxBytes) return
    finish()
    // The stream then fails, but the promise is already resolved.
    body.destroy()
  })
  body.on('end', finish)
  body.on('error', reject)
  return promise
}

/** Closes the connection of a response that nobody reads. Its body then fails, which would end the process. */
export const discard = (body: Dispatcher.ResponseData['body']): void => {
  body.on('error', () => {})
  body.destroy()
}

/** A response of undici's `request` as one of `fetch`. */
export const toResponse = ({ statusCode, headers, body }: Dispatcher.ResponseData): Response => {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined
      ? []
      : Array.isArray(value)
        ? value.map((one): [string, string] => [name, one])
        : [[name, value] as [string, string]],
  )
  const init = { status: statusCode, headers: list }
  if (!bodiless.has(statusCode)) return new Response(toWeb(body), init)
  discard(body)
  return new Response(null, init)
}
