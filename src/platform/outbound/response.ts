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
