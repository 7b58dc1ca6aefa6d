import type { Client } from './client.ts'
import { AtriumError } from './errors.ts'
import { pause } from './retry.ts'
import type { DirectUpload, File as StoredFile } from './types.ts'
import type { UploadProgress } from './upload-progress.ts'

export interface DirectUploadOptions {
  /** ID of the file that was created with an `upload`. */
  fileId: string
  upload: DirectUpload
  content: Blob
  onProgress?: ((progress: UploadProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

const urlsAtOnce = 10
/** Less than the time limit of a request. */
const waitSeconds = 20
const firstPollMs = 200
const longestPollMs = 5_000

const isGone = (error: unknown): boolean =>
  error instanceof AtriumError && (error.status === 403 || error.status === 404)

/** Sends the parts that are missing, one after the other. Parts whose URL has expired get another one. */
const sendParts = async (client: Client, options: DirectUploadOptions): Promise<void> => {
  const { fileId, upload, content, onProgress, signal } = options
  const received = new Set(upload.receivedParts)
  const missing = Array.from({ length: upload.partCount }, (_, index) => index + 1).filter((one) => !received.has(one))
  const report = (part: UploadProgress | undefined): void => {
    const sentBytes = Math.min(received.size * upload.partBytes, content.size) + (part?.sentBytes ?? 0)
    onProgress?.({ sentBytes: Math.min(sentBytes, content.size), totalBytes: content.size })
  }
  for (let at = 0; at < missing.length; at += urlsAtOnce) {
    const numbers = missing.slice(at, at + urlsAtOnce)
    const { parts } = await client.call('POST /files/:id/upload/parts', {
      params: { id: fileId },
      body: { numbers },
      signal,
    })
    for (const { number, startByte, sizeBytes, url } of parts) {
      const put = async (to: string): Promise<unknown> =>
        client.put(to, content.slice(startByte, startByte + sizeBytes, 'application/octet-stream'), {
          timeoutMs: 0,
          signal,
          ...(onProgress && { onProgress: report }),
        })
      try {
        await put(url)
      } catch (error) {
        if (!isGone(error)) throw error
        const again = await client.call('POST /files/:id/upload/parts', {
          params: { id: fileId },
          body: { numbers: [number] },
          signal,
        })
        await put(again.parts[0]?.url ?? url)
      }
      received.add(number)
      report(undefined)
    }
  }
}

/**
 * Sends the bytes of a file to the object store and resolves with the stored file when they are verified. Continues an
 * upload: parts in `upload.receivedParts` are not sent again.
 */
export const uploadDirectly = async (client: Client, options: DirectUploadOptions): Promise<StoredFile> => {
  const { fileId: id, signal } = options
  try {
    await sendParts(client, options)
  } catch (error) {
    // An earlier attempt with the same idempotency key has completed the upload.
    if (!(error instanceof AtriumError) || error.code !== 'CONFLICT') throw error
    if ((await client.call('GET /files/:id/upload', { params: { id }, signal })).state === 'open') throw error
  }
  let upload = await client.call('POST /files/:id/upload/complete', { params: { id }, signal })
  for (let delayMs = 0; upload.state === 'verifying'; delayMs = Math.min(delayMs * 2 || firstPollMs, longestPollMs)) {
    await pause(delayMs, signal)
    // The server responds when the verification ends; the pauses are for one that does not wait.
    upload = await client.call('GET /files/:id/upload', { params: { id }, query: { waitSeconds }, signal })
  }
  if (upload.state !== 'ready') {
    const message = upload.error ?? 'The upload has failed.'
    throw new AtriumError(message, { code: 'BAD_REQUEST', status: 400 })
  }
  return client.call('GET /files/:id', { params: { id }, signal })
}
