// Large files are uploaded by the tus protocol (docs/guides/files.md), so that a broken connection, a pause or a reload
// loses no bytes.
import { AtriumError } from '@atrium/client'
import { active, fingerprintOf, forget, recall, remember } from './memory.ts'
import type { ResumableFile } from './memory.ts'
import { sendRequest } from './request.ts'

const endpoint = '/api/v1/uploads'
/** Below the body limit of common proxies. */
const chunkBytes = 67_108_864
const maxFailures = 6

export interface Progress {
  signal: AbortSignal
  onProgress: (sent: number) => void
}

const base64 = (text: string): string => btoa(String.fromCodePoint(...new TextEncoder().encode(text)))

const begin = async ({ file, mimeType, parentId, headers }: ResumableFile, signal: AbortSignal): Promise<string> => {
  const metadata = { name: file.name, type: mimeType, ...(parentId !== null && { parentId }) }
  const request = await sendRequest({
    method: 'POST',
    url: endpoint,
    headers: {
      ...headers,
      'tus-resumable': '1.0.0',
      'upload-length': String(file.size),
      'upload-metadata': Object.entries(metadata)
        .map(([key, value]) => `${key} ${base64(value)}`)
        .join(','),
    },
    signal,
  })
  const location = request.getResponseHeader('location') ?? ''
  return `${endpoint}/${location.slice(location.lastIndexOf('/') + 1)}`
}

/** How many bytes the server has; undefined when it has no such upload any more. */
const offsetOf = async (url: string, headers: ResumableFile['headers'], signal: AbortSignal) => {
  try {
    const request = await sendRequest({
      method: 'HEAD',
      url,
      headers: { ...headers, 'tus-resumable': '1.0.0' },
      signal,
    })
    return Number(request.getResponseHeader('upload-offset') ?? 0)
  } catch (error) {
    if (error instanceof AtriumError && (error.status === 404 || error.status === 410)) return undefined
    throw error
  }
}

const sendChunk = async (
  url: string,
  { file, headers }: ResumableFile,
  from: number,
  { signal, onProgress }: Progress,
): Promise<number> => {
  const body = file.slice(from, from + chunkBytes)
  const request = await sendRequest({
    method: 'PATCH',
    url,
    headers: {
      ...headers,
      'tus-resumable': '1.0.0',
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(from),
    },
    body,
    signal,
    onProgress: ({ loaded }) => onProgress(from + Math.min(loaded, body.size)),
  })
  return Number(request.getResponseHeader('upload-offset') ?? from + body.size)
}

const temporary = new Set([0, 409, 423, 502, 503, 504])
const isTemporary = (error: unknown): boolean => error instanceof AtriumError && temporary.has(error.status)

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Sends the rest of a file from an offset. Continues after errors of the network, with growing pauses, while bytes arrive. */
const sendRest = async (url: string, given: ResumableFile, from: number, progress: Progress): Promise<void> => {
  const { signal, onProgress } = progress
  let offset: number | undefined = from
  let arrived = from
  let failures = 0
  while (offset === undefined || offset < given.file.size) {
    try {
      if (offset === undefined) {
        offset = await offsetOf(url, given.headers, signal)
        if (offset === undefined) throw new AtriumError('', { code: 'NOT_FOUND', status: 404 })
        if (offset > arrived) failures = 0
        arrived = offset
      } else {
        onProgress(offset)
        offset = await sendChunk(url, given, offset, progress)
        failures = 0
      }
    } catch (error) {
      failures += 1
      if (signal.aborted || !isTemporary(error) || failures >= maxFailures) throw error
      await sleep(250 * 2 ** failures, signal)
      offset = undefined
    }
  }
}

/** Uploads a file, from where an earlier attempt has ended. */
export const uploadResumable = async (given: ResumableFile, progress: Progress): Promise<void> => {
  const fingerprint = await fingerprintOf(given)
  // The same file can be uploaded twice at a time, as two files.
  const isFirst = !active.has(fingerprint)
  active.add(fingerprint)
  try {
    const known = isFirst ? recall(fingerprint, `${endpoint}/`) : undefined
    const offset = known === undefined ? undefined : await offsetOf(known, given.headers, progress.signal)
    const url = known === undefined || offset === undefined ? await begin(given, progress.signal) : known
    if (isFirst) remember(fingerprint, url)
    await sendRest(url, given, offset ?? 0, progress)
    if (isFirst) forget(fingerprint)
  } catch (error) {
    // An upload that the server has rejected cannot be continued. After a 401 it can, by the person who signs in again.
    const isRejected = error instanceof AtriumError && error.status !== 401 && error.status >= 400 && error.status < 409
    if (isFirst && isRejected && !progress.signal.aborted) forget(fingerprint)
    throw error
  } finally {
    if (isFirst) active.delete(fingerprint)
  }
}

/** Deletes what has arrived of a cancelled upload. Without it, the server does so after a day. */
export const discardResumable = async (given: ResumableFile): Promise<void> => {
  const fingerprint = await fingerprintOf(given)
  const url = recall(fingerprint, `${endpoint}/`)
  if (url === undefined) return
  forget(fingerprint)
  await sendRequest({ method: 'DELETE', url, headers: { ...given.headers, 'tus-resumable': '1.0.0' } }).catch(
    () => undefined,
  )
}
