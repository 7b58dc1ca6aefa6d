import { t } from '@lingui/core/macro'
// Uploads continue when the person opens another page, so this store belongs to the tab. Each small file is one multipart
// request, larger ones are resumable or sent to the object store; three run at a time.
import { uniqueKey } from '@atrium/client'
import { api, refresh, scopeHeaders } from './api.ts'
import { retryWhenRateLimited } from './rate-limit.ts'
import type { ResumableFile } from './uploads/memory.ts'
import { sendRequest } from './uploads/request.ts'
import { change, isOpen, listUploads, publish } from './uploads/state.ts'

/** A file and its folders, relative to what was dropped or chosen; without a file, an empty folder. */
export interface Chosen {
  file: File | undefined
  path: string[]
}

interface Job {
  file: File
  parentId: string | null
  /** The file that gets the bytes as a new version. Null for a new file. */
  fileId: string | null
  headers: Record<string, string>
  abort: AbortController
}

const maxConcurrentUploads = 3
/** Files of this size and larger are worth the further requests of a resumable upload. */
const resumableBytes = 8_388_608
const jobs = new Map<string, Job>()
let senders = 0

/** Why a request is aborted that will be continued. */
const pause = new Error('paused')

// Browsers report nonstandard types or none for these extensions.
const typeOf = (file: File): string => {
  if (/\.(?:ts|mts|cts)$/i.test(file.name)) return 'text/typescript'
  if (/\.tsx$/i.test(file.name)) return 'text/tsx'
  if (/\.(?:md|markdown)$/i.test(file.name)) return 'text/markdown'
  return file.type === '' ? 'application/octet-stream' : file.type
}

const formOf = (bytes: Blob, name: string, parentId: string | null): FormData => {
  const form = new FormData()
  if (parentId !== null) form.append('parentId', parentId)
  form.append('file', bytes, name)
  return form
}

const isResumable = ({ file, fileId }: Job): boolean => fileId === null && file.size >= resumableBytes

const resumableOf = ({ file, parentId, headers }: Job): ResumableFile => {
  const { 'idempotency-key': _, ...rest } = headers
  return { file, mimeType: typeOf(file), parentId, headers: rest }
}

/** How large files are uploaded to this server. Not in the first load of the console. */
const loadLarge = async () => {
  const { isDirectOffered, uploadDirect, discardDirect } = await import('./uploads/direct.ts')
  if (await isDirectOffered()) return { upload: uploadDirect, discard: discardDirect }
  const { uploadResumable, discardResumable } = await import('./uploads/resumable.ts')
  return { upload: uploadResumable, discard: discardResumable }
}

/** Deletes what the server has received of a cancelled upload. */
const discard = (job: Job): void => {
  if (!isResumable(job)) return
  loadLarge().then(
    ({ discard }) => discard(resumableOf(job)),
    () => undefined,
  )
}

const send = async (id: string, job: Job): Promise<void> => {
  const { file, parentId, fileId, headers, abort } = job
  const { signal } = abort
  if (isResumable(job)) {
    const large = await loadLarge()
    const onProgress = (sent: number): void => change(id, { sent, state: sent >= file.size ? 'storing' : 'sending' })
    await large.upload(resumableOf(job), { signal, onProgress })
    return
  }
  const bytes = new Blob([file], { type: typeOf(file) })
  await sendRequest({
    method: fileId === null ? 'POST' : 'PUT',
    url: fileId === null ? '/api/v1/files' : `/api/v1/files/${fileId}/content`,
    headers,
    body: fileId === null ? formOf(bytes, file.name, parentId) : bytes,
    signal,
    onProgress: ({ loaded, total }) => {
      // The total can include the multipart envelope.
      const sent = total > 0 ? Math.round((loaded / total) * file.size) : 0
      change(id, { sent, state: loaded >= total ? 'storing' : 'sending' })
    },
  })
}

let refreshing: ReturnType<typeof setTimeout> | undefined
const refreshSoon = (): void => {
  refreshing ??= setTimeout(() => {
    refreshing = undefined
    void refresh('GET /files', 'GET /files/:id', 'GET /files/:id/preview', 'GET /files/:id/versions')
  }, 300)
}

const run = async (id: string, job: Job): Promise<void> => {
  change(id, { state: 'sending', note: undefined })
  try {
    await retryWhenRateLimited(() => send(id, job), {
      signal: job.abort.signal,
      onWait: (seconds) => change(id, { state: 'waiting', sent: 0, note: t`Rate limited, retrying in ${seconds} s` }),
    })
    change(id, { state: 'done', sent: job.file.size, note: undefined })
    jobs.delete(id)
    refreshSoon()
  } catch (error) {
    const { aborted, reason } = job.abort.signal
    if (aborted && reason === pause) return
    change(id, aborted ? { state: 'cancelled' } : { state: 'failed', error: error as Error })
    if (!aborted) return
    jobs.delete(id)
    discard(job)
  }
}

const work = async (): Promise<void> => {
  if (senders >= maxConcurrentUploads) return
  senders += 1
  for (;;) {
    const next = listUploads().find(({ id, state, note }) => state === 'waiting' && note === undefined && jobs.has(id))
    const job = next && jobs.get(next.id)
    if (!next || !job) break
    await run(next.id, job)
  }
  senders -= 1
}

const startWork = (): void => {
  for (let count = 0; count < maxConcurrentUploads; count += 1) void work()
}

/** Where uploads go. The person may switch to another org before all have begun. */
interface Target {
  parentId: string | null
  /** The file that gets the bytes as a new version. */
  fileId?: string | null
  /** Of the org and the workspace. */
  scope: Record<string, string>
}

const enqueue = (file: File, { parentId, fileId = null, scope }: Target): void => {
  const id = uniqueKey()
  // With the idempotency key a retry does not store the file twice. A version is not made twice from the same bytes.
  const headers = { ...scope, ...(fileId === null && { 'idempotency-key': id }) }
  const job: Job = { file, parentId, fileId, headers, abort: new AbortController() }
  jobs.set(id, job)
  const { name, size } = file
  publish([...listUploads(), { id, name, size, sent: 0, state: 'waiting', isResumable: isResumable(job) }])
}

/** Uploads into a folder and creates missing folders. Rejects when a folder cannot be created. */
export const upload = async (
  chosen: readonly Chosen[] | Promise<readonly Chosen[]>,
  parentId: string | null,
): Promise<void> => {
  const folders = new Map<string, string | null>([['', parentId]])
  const scope = scopeHeaders()
  for (const { file, path } of await chosen) {
    let key = ''
    let parent = parentId
    for (const name of path) {
      key = `${key}/${name}`
      let folder = folders.get(key)
      if (folder === undefined) {
        const body = { source: 'folder' as const, name, parentId: parent }
        const created = await retryWhenRateLimited(() => api.call('POST /files', { body, headers: scope }))
        folder = created.file.id
        folders.set(key, folder)
        refreshSoon()
      }
      parent = folder
    }
    if (!file) continue
    enqueue(file, { parentId: parent, scope })
    startWork()
  }
}

/** Uploads the bytes as a new version of a file. */
export const uploadVersion = (file: File, fileId: string): void => {
  enqueue(file, { parentId: null, fileId, scope: scopeHeaders() })
  startWork()
}

export const cancelUpload = (id: string): void => {
  const job = jobs.get(id)
  const found = listUploads().find((one) => one.id === id)
  job?.abort.abort()
  if (found?.state !== 'waiting' && found?.state !== 'paused') return
  if (job) discard(job)
  jobs.delete(id)
  change(id, { state: 'cancelled' })
}

/** Pauses a resumable upload. The server keeps what has arrived. */
export const pauseUpload = (id: string): void => {
  const job = jobs.get(id)
  // It was completed at the same moment.
  if (!job) return
  job.abort.abort(pause)
  change(id, { state: 'paused', note: undefined })
}

/** Continues a paused upload. */
export const resumeUpload = (id: string): void => {
  const job = jobs.get(id)
  if (!job) return
  jobs.set(id, { ...job, abort: new AbortController() })
  change(id, { state: 'waiting', note: undefined })
  startWork()
}

export const cancelAllUploads = (): void => {
  for (const one of listUploads().filter(isOpen)) cancelUpload(one.id)
}

export const retryUpload = (id: string): void => {
  const job = jobs.get(id)
  if (!job) return
  // The same idempotency key: when only the response was lost, the file is not stored twice.
  jobs.set(id, { ...job, abort: new AbortController() })
  change(id, { state: 'waiting', sent: 0, note: undefined })
  startWork()
}

/** Removes finished uploads from the list. */
export const clearUploads = (): void => {
  for (const one of listUploads()) if (!isOpen(one)) jobs.delete(one.id)
  publish(listUploads().filter(isOpen))
}
