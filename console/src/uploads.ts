import { t } from '@lingui/core/macro'
// Uploads continue when the person opens another page, so this store belongs to the tab. Each file is one multipart
// request; three run at a time.
import { AtriumError, uniqueKey } from '@atrium/client'
import type { ErrorCode } from '@atrium/client'
import { useSyncExternalStore } from 'react'
import { api, refresh } from './api.ts'
import { retryWhenRateLimited } from './rate-limit.ts'
import { scope } from './scope.ts'

export interface Upload {
  id: string
  name: string
  size: number
  /** Bytes sent so far. */
  sent: number
  state: 'waiting' | 'sending' | 'storing' | 'done' | 'failed' | 'cancelled'
  /** Why it waits, when not for a free slot. */
  note?: string | undefined
  error?: Error
}

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
const jobs = new Map<string, Job>()
const listeners = new Set<() => void>()
let uploads: readonly Upload[] = []
let senders = 0
let scheduled = false

const publish = (next: readonly Upload[]): void => {
  uploads = next
  if (scheduled) return
  scheduled = true
  // Progress events arrive more often than the screen is painted.
  requestAnimationFrame(() => {
    scheduled = false
    for (const listener of listeners) listener()
  })
}

const change = (id: string, patch: Partial<Upload>): void =>
  publish(uploads.map((one) => (one.id === id ? { ...one, ...patch } : one)))

export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => uploads,
  )

const isOpen = ({ state }: Upload): boolean => state === 'waiting' || state === 'sending' || state === 'storing'

// Browsers report nonstandard types or none for these extensions.
const typeOf = (file: File): string => {
  if (/\.(?:ts|mts|cts)$/i.test(file.name)) return 'text/typescript'
  if (/\.tsx$/i.test(file.name)) return 'text/tsx'
  if (/\.(?:md|markdown)$/i.test(file.name)) return 'text/markdown'
  return file.type === '' ? 'application/octet-stream' : file.type
}

const failureOf = (request: XMLHttpRequest): AtriumError => {
  const requestId = request.getResponseHeader('x-request-id') ?? undefined
  const retryAfter = Number(request.getResponseHeader('retry-after') ?? Number.NaN)
  let body: { error?: { code?: ErrorCode; message?: string } } = {}
  try {
    body = JSON.parse(request.responseText) as typeof body
  } catch {
    // A proxy answered with a body that is not JSON.
  }
  return new AtriumError(body.error?.message ?? t`The server responded with status ${request.status}.`, {
    code: body.error?.code ?? 'INTERNAL_ERROR',
    status: request.status,
    requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

const formOf = (bytes: Blob, name: string, parentId: string | null): FormData => {
  const form = new FormData()
  if (parentId !== null) form.append('parentId', parentId)
  form.append('file', bytes, name)
  return form
}

/** Uses XMLHttpRequest because fetch has no upload progress. */
const send = (id: string, { file, parentId, fileId, headers, abort }: Job): Promise<void> =>
  new Promise((resolve, reject) => {
    const bytes = new Blob([file], { type: typeOf(file) })
    const request = new XMLHttpRequest()
    if (fileId === null) request.open('POST', '/api/v1/files')
    else request.open('PUT', `/api/v1/files/${fileId}/content`)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      // The total can include the multipart envelope.
      const sent = total > 0 ? Math.round((loaded / total) * file.size) : 0
      change(id, { sent, state: loaded >= total ? 'storing' : 'sending' })
    })
    request.addEventListener('load', () =>
      request.status === 201 || request.status === 200 ? resolve() : reject(failureOf(request)),
    )
    request.addEventListener('error', () =>
      reject(new AtriumError(t`The connection was lost. Try again.`, { code: 'NETWORK', status: 0 })),
    )
    const cancel = (): void => {
      request.abort()
      reject(new DOMException(t`The upload was cancelled.`, 'AbortError'))
    }
    request.addEventListener('loadend', () => abort.signal.removeEventListener('abort', cancel))
    abort.signal.addEventListener('abort', cancel)
    request.send(fileId === null ? formOf(bytes, file.name, parentId) : bytes)
  })

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
    const cancelled = job.abort.signal.aborted
    change(id, cancelled ? { state: 'cancelled' } : { state: 'failed', error: error as Error })
    if (cancelled) jobs.delete(id)
  }
}

const work = async (): Promise<void> => {
  if (senders >= maxConcurrentUploads) return
  senders += 1
  for (;;) {
    const next = uploads.find(({ id, state, note }) => state === 'waiting' && note === undefined && jobs.has(id))
    const job = next && jobs.get(next.id)
    if (!next || !job) break
    await run(next.id, job)
  }
  senders -= 1
}

const startWork = (): void => {
  for (let count = 0; count < maxConcurrentUploads; count += 1) void work()
}

/** Whether leaving the page would cancel uploads. */
export const hasOpenUploads = (): boolean => uploads.some(isOpen)

const warnBeforeLeaving = (event: BeforeUnloadEvent): void => {
  if (hasOpenUploads()) event.preventDefault()
}
window.addEventListener('beforeunload', warnBeforeLeaving)

const scopeHeaders = (): Record<string, string> => {
  const { orgId, workspaceId } = scope()
  return {
    ...(orgId !== undefined && { 'x-org-id': orgId }),
    ...(workspaceId !== undefined && { 'x-workspace-id': workspaceId }),
  }
}

const enqueue = (file: File, parentId: string | null, fileId: string | null = null): void => {
  const id = uniqueKey()
  // With the idempotency key a retry does not store the file twice. A version is not made twice from the same bytes.
  const headers = { ...scopeHeaders(), ...(fileId === null && { 'idempotency-key': id }) }
  jobs.set(id, { file, parentId, fileId, headers, abort: new AbortController() })
  publish([...uploads, { id, name: file.name, size: file.size, sent: 0, state: 'waiting' }])
}

/** Uploads into a folder and creates missing folders. Rejects when a folder cannot be created. */
export const upload = async (chosen: readonly Chosen[], parentId: string | null): Promise<void> => {
  const folders = new Map<string, string | null>([['', parentId]])
  for (const { file, path } of chosen) {
    let key = ''
    let parent = parentId
    for (const name of path) {
      key = `${key}/${name}`
      let folder = folders.get(key)
      if (folder === undefined) {
        const body = { source: 'folder' as const, name, parentId: parent }
        const created = await retryWhenRateLimited(() => api.call('POST /files', { body }))
        folder = created.file.id
        folders.set(key, folder)
        refreshSoon()
      }
      parent = folder
    }
    if (!file) continue
    enqueue(file, parent)
    startWork()
  }
}

/** Uploads the bytes as a new version of a file. */
export const uploadVersion = (file: File, fileId: string): void => {
  enqueue(file, null, fileId)
  startWork()
}

export const cancelUpload = (id: string): void => {
  const job = jobs.get(id)
  const found = uploads.find((one) => one.id === id)
  job?.abort.abort()
  if (found?.state === 'waiting') {
    jobs.delete(id)
    change(id, { state: 'cancelled' })
  }
}

export const cancelAllUploads = (): void => {
  for (const one of uploads.filter(isOpen)) cancelUpload(one.id)
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
  for (const one of uploads) if (!isOpen(one)) jobs.delete(one.id)
  publish(uploads.filter(isOpen))
}
