import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { api, isCode, refresh } from '../../api.ts'
import { forEachConcurrently } from '../../rate-limit.ts'
import type { BulkOutcome } from '../../rate-limit.ts'
import { toast } from '../../ui/toast.tsx'

export const countOf = (files: readonly FileRecord[]): string => {
  const [only] = files
  return files.length === 1 && only ? `“${only.name}”` : t`${files.length} items`
}

export const reportErrors = (title: string, { errors }: BulkOutcome, total: number): void => {
  if (errors.length > 0) toast.failed(total === 1 ? title : t`${errors.length} of ${total} items: ${title}`, errors[0])
}

export const refreshFiles = (): Promise<unknown> => refresh('GET /files', 'GET /files/:id')

const undoMove = (files: readonly FileRecord[]): (() => void) => {
  return () => {
    void forEachConcurrently(files, ({ id, parentId }) =>
      api.call('PATCH /files/:id', { params: { id }, body: { parentId } }),
    ).then((outcome) => {
      reportErrors(t`Could not undo the move`, outcome, files.length)
      return refreshFiles()
    })
  }
}

/** Moves files into a folder (`null`: the root); files that are already there are skipped. */
export const moveFiles = async (files: readonly FileRecord[], parentId: string | null): Promise<void> => {
  const moving = files.filter((file) => file.parentId !== parentId && file.id !== parentId)
  if (moving.length === 0) return
  const outcome = await forEachConcurrently(moving, ({ id }) =>
    api.call('PATCH /files/:id', { params: { id }, body: { parentId } }),
  )
  await refreshFiles()
  reportErrors(t`Could not be moved`, outcome, moving.length)
  if (outcome.errors.length === 0)
    toast.done(t`Moved ${countOf(moving)}`, { label: t`Undo`, onClick: undoMove(moving) })
}

/** Restores files from the trash. Returns whether all were restored; errors are shown. */
export const restoreFiles = async (files: readonly FileRecord[]): Promise<boolean> => {
  const outcome = await forEachConcurrently(files, async ({ id }) => {
    try {
      await api.call('POST /files/:id/restore', { params: { id } })
    } catch (error) {
      if (!isCode(error, 'NOT_FOUND')) throw error
      throw new Error(t`It is no longer in the trash: it was deleted permanently or already restored.`, {
        cause: error,
      })
    }
  })
  await refreshFiles()
  reportErrors(t`Could not be restored`, outcome, files.length)
  return outcome.errors.length === 0
}

/** Whether deleted files went to the trash. A server can have none, which only its trash shows: they are not in it. */
const areInTrash = async (files: readonly FileRecord[]): Promise<boolean> => {
  if (files.length === 0) return false
  // The latest deletions come first.
  const { items } = await api.call('GET /files', { query: { trashed: true, limit: 100 } })
  const ids = new Set(files.map(({ id }) => id))
  return items.some(({ id }) => ids.has(id))
}

export const deleteFiles = async (files: readonly FileRecord[]): Promise<void> => {
  const outcome = await forEachConcurrently(files, ({ id }) => api.call('DELETE /files/:id', { params: { id } }))
  await refreshFiles()
  reportErrors(t`Could not be deleted`, outcome, files.length)
  if (outcome.errors.length > 0) return
  // Uploads that are not complete are deleted at once.
  const kept = files.filter(({ status }) => status === 'ready')
  if (await areInTrash(kept).catch(() => false))
    toast.done(t`Moved ${countOf(files)} to trash`, { label: t`Undo`, onClick: () => void restoreFiles(kept) })
  else toast.done(t`Deleted ${countOf(files)}`)
}

export const renameFile = async ({ id }: FileRecord, name: string): Promise<void> => {
  await api.call('PATCH /files/:id', { params: { id }, body: { name } })
  await refreshFiles()
}

const maxTagAttempts = 5

/** Adds and removes tags. `file` may be older than the last change of its tags, by this person or by another one. */
export const tagFile = async (file: FileRecord, tags: string[]): Promise<void> => {
  const params = { id: file.id }
  for (let attempt = 1; ; attempt += 1) {
    const { data: now, etag: ifMatch } = await api.callWithResponse('GET /files/:id', { params })
    const kept = now.tags.filter((tag) => tags.includes(tag) || !file.tags.includes(tag))
    const added = tags.filter((tag) => !file.tags.includes(tag))
    try {
      await api.call('PATCH /files/:id', { params, body: { tags: [...new Set([...kept, ...added])] }, ifMatch })
      break
    } catch (error) {
      if (!isCode(error, 'CONFLICT') || attempt === maxTagAttempts) throw error
    }
  }
  await refreshFiles()
}

export const createFolder = async (name: string, parentId: string | null): Promise<string> => {
  const body = { source: 'folder' as const, name, parentId }
  const { file } = await api.call('POST /files', { body })
  await refreshFiles()
  return file.id
}

export const linkFile = async ({ id }: FileRecord, name: string, parentId: string | null): Promise<void> => {
  const body = { source: 'link' as const, targetFileId: id, name, parentId }
  await api.call('POST /files', { body })
  await refreshFiles()
}

const refreshVersions = (): Promise<unknown> =>
  refresh('GET /files', 'GET /files/:id', 'GET /files/:id/preview', 'GET /files/:id/versions')

export const restoreVersion = async ({ id }: FileRecord, version: number): Promise<void> => {
  await api.call('POST /files/:id/versions/:version/restore', { params: { id, version } })
  await refreshVersions()
  toast.done(t`Restored version ${version}`)
}

export const labelVersion = async ({ id }: FileRecord, version: number, label: string | null): Promise<void> => {
  await api.call('PATCH /files/:id/versions/:version', { params: { id, version }, body: { label } })
  await refreshVersions()
}

export const deleteVersion = async ({ id }: FileRecord, version: number): Promise<void> => {
  await api.call('DELETE /files/:id/versions/:version', { params: { id, version } })
  await refreshVersions()
  toast.done(t`Deleted version ${version}`)
}

export const downloadVersion = ({ id, name }: FileRecord, version: number): void => {
  const link = document.createElement('a')
  link.href = api.url(`/files/${id}/versions/${version}/content`)
  link.download = name
  link.click()
}

/** Starts the browser's download; the server redirects to a signed URL. */
export const downloadFile = ({ id, name }: FileRecord): void => {
  const link = document.createElement('a')
  link.href = api.url(`/files/${id}`, { download: true })
  link.download = name
  link.click()
}

const startDownload = (href: string): void => {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  link.click()
}

const archiveFailure = (status: number): Error => {
  if (status === 400) return new Error(t`An archive can have at most 100,000 files and folders and 100 GB.`)
  if (status === 429) return new Error(t`Too many archives are being downloaded. Try again when one is complete.`)
  return new Error(t`Try again. If it happens again, reload the page.`)
}

/** Starts the download of files and folders as one ZIP archive. A browser would show only that a download failed. */
export const downloadArchive = async (files: readonly FileRecord[]): Promise<void> => {
  const [only] = files
  const path = only && files.length === 1 ? `/files/${only.id}/archive` : '/files/archive'
  const url = api.url(path, files.length === 1 ? {} : { ids: files.map(({ id }) => id).join(',') })
  try {
    const { ok, status } = await fetch(url, { method: 'HEAD' })
    if (!ok) throw archiveFailure(status)
    startDownload(url)
  } catch (error) {
    toast.failed(t`The archive could not be created`, error)
  }
}
