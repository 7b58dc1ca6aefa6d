/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** How much of a body has been sent, in bytes. */
export interface UploadProgress {
  sentBytes: number
  totalBytes: number
}

/** The part of XMLHttpRequest that is used. Its type belongs to browsers, and this module is also compiled without them. */
interface BrowserRequest {
  readonly status: number
  readonly responseText: string
  readonly upload: { addEventListener(name: 'progress', listener: (event: { loaded: number }) => void): void }
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  addEventListener(name: 'load' | 'error' | 'abort' | 'loadend', listener: () => void): void
  send(body: Blob): void
  abort(): void
}
type BrowserRequestClass = new () => BrowserRequest

const browserRequest = (): BrowserRequestClass | undefined =>
  (globalThis as { XMLHttpRequest?: BrowserRequestClass }).XMLHttpRequest

type OnProgress = (progress: UploadProgress) => void

const headersOf = (text: string): Headers => {
  const headers = new Headers()
  for (const line of text.trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}

/** Uses XMLHttpRequest, because `fetch` reports no progress in browsers. */
const sendByXhr = (request: BrowserRequest, url: string, init: RequestInit, onProgress: OnProgress) =>
  new Promise<Response>((resolve, reject) => {
    const body = init.body as Blob
    const abort = (): void => request.abort()
    request.open(init.method ?? 'PUT', url)
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded }) =>
      onProgress({ sentBytes: loaded, totalBytes: body.size }),
    )
    request.addEventListener('load', () => {
      const { status, responseText } = request
      const isEmpty = status === 204 || status === 304
      resolve(
        new Response(isEmpty ? null : responseText, { status, headers: headersOf(request.getAllResponseHeaders()) }),
      )
    })
    request.addEventListener('error', () => reject(new TypeError('The connection failed.')))
    request.addEventListener('abort', () => reject(init.signal?.reason as Error))
    request.addEventListener('loadend', () => init.signal?.removeEventListener('abort', abort))
    init.signal?.addEventListener('abort', abort)
    if (init.signal?.aborted === true) reject(init.signal.reason as Error)
    else request.send(body)
  })

/** The bytes of a blob, counted as they are read by the connection. */
const counted = (body: Blob, onProgress: OnProgress): ReadableStream<Uint8Array> => {
  let sentBytes = 0
  return body.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        sentBytes += chunk.byteLength
        onProgress({ sentBytes, totalBytes: body.size })
        controller.enqueue(chunk)
      },
    }),
  )
}

/**
 * A `fetch` for a body that is a Blob, which reports progress: by XMLHttpRequest in browsers, elsewhere (and with an
 * injected `fetch`) by a stream as body, which Node.js supports. Bytes in buffers of the connection count as sent.
 */
export const fetchWithProgress =
  (injected: Fetch | undefined, onProgress: OnProgress): Fetch =>
  async (url, init) => {
    const Request = injected === undefined ? browserRequest() : undefined
    if (Request) return sendByXhr(new Request(), url, init, onProgress)
    const body = counted(init.body as Blob, onProgress)
    // An object store accepts no body of unknown length.
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      'content-length': String((init.body as Blob).size),
    }
    // Without `duplex`, fetch rejects a stream as body. The type of browsers does not have the field.
    const streamed = { ...init, headers, body, duplex: 'half' } as RequestInit
    return (injected ?? fetch)(url, streamed)
  }
