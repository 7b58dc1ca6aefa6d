// Where the server offers it, the bytes of large files are sent to its object store (docs/guides/files.md).
import { t } from '@lingui/core/macro'
import { AtriumError, createClient, uploadDirectly } from '@atrium/client'
import type { Client, DirectUpload } from '@atrium/client'
import { active, fingerprintOf, forget, recall, remember } from './memory.ts'
import type { ResumableFile } from './memory.ts'
import type { Progress } from './resumable.ts'

const files = '/api/v1/files/'
const urlOf = (fileId: string): string => `${files}${fileId}/upload`
const fileIdOf = (url: string): string => url.slice(files.length).split('/', 1)[0] ?? ''

let offered: Promise<boolean> | undefined

/** Whether the server offers direct uploads. It is asked once. */
export const isDirectOffered = (): Promise<boolean> => {
  offered ??= fetch('/api/v1/uploads', { method: 'OPTIONS' }).then(
    ({ headers }) => headers.get('atrium-direct-uploads') === 'true',
    () => {
      offered = undefined
      return false
    },
  )
  return offered
}

/** A client in the org in which the upload began: the person may have switched to another one. */
const clientOf = ({ headers }: ResumableFile): Client =>
  createClient({ orgId: headers['x-org-id'], workspaceId: headers['x-workspace-id'] })

/** An upload that was begun; undefined when the server has none any more. */
const find = async (client: Client, url: string, signal: AbortSignal): Promise<DirectUpload | undefined> => {
  try {
    const upload = await client.call('GET /files/:id/upload', { params: { id: fileIdOf(url) }, signal })
    const isOver = upload.state === 'open' && new Date(upload.expiresAt).getTime() <= Date.now()
    return isOver || upload.state === 'failed' ? undefined : upload
  } catch (error) {
    if (error instanceof AtriumError && (error.status === 404 || error.status === 409)) return undefined
    throw error
  }
}

const begin = async (client: Client, { file, mimeType, parentId }: ResumableFile, signal: AbortSignal) => {
  const body = { name: file.name, mimeType, size: file.size, parentId }
  const created = await client.call('POST /files', { body, signal })
  if (created.upload === undefined) {
    // The setting was turned off. The next attempt asks again.
    offered = undefined
    throw new AtriumError(t`The connection was lost. Try again.`, { code: 'NETWORK', status: 0 })
  }
  return { fileId: created.file.id, upload: created.upload }
}

/** Uploads a file, without the parts that an earlier attempt has sent. */
export const uploadDirect = async (given: ResumableFile, { signal, onProgress }: Progress): Promise<void> => {
  const client = clientOf(given)
  const fingerprint = await fingerprintOf(given)
  // The same file can be uploaded twice at a time, as two files.
  const isFirst = !active.has(fingerprint)
  active.add(fingerprint)
  try {
    const known = isFirst ? recall(fingerprint, files) : undefined
    const found = known === undefined ? undefined : await find(client, known, signal)
    const { fileId, upload } =
      known === undefined || found === undefined
        ? await begin(client, given, signal)
        : { fileId: fileIdOf(known), upload: found }
    if (isFirst) remember(fingerprint, urlOf(fileId))
    await uploadDirectly(client, {
      fileId,
      upload,
      content: given.file,
      signal,
      onProgress: ({ sentBytes }) => onProgress(sentBytes),
    })
    if (isFirst) forget(fingerprint)
  } catch (error) {
    // An upload that the server has rejected cannot be continued.
    const isRejected = error instanceof AtriumError && error.status >= 400 && error.status < 409
    if (isFirst && isRejected && !signal.aborted) forget(fingerprint)
    throw error
  } finally {
    if (isFirst) active.delete(fingerprint)
  }
}

/** Deletes what has arrived of a cancelled upload. Without it, the server does so after a day. */
export const discardDirect = async (given: ResumableFile): Promise<void> => {
  const fingerprint = await fingerprintOf(given)
  const url = recall(fingerprint, files)
  if (url === undefined) return
  forget(fingerprint)
  await clientOf(given)
    .call('DELETE /files/:id/upload', { params: { id: fileIdOf(url) } })
    .catch(() => undefined)
}
