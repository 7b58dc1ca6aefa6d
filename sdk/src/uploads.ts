import type { Client } from './client.ts'
import { AtriumError } from './errors.ts'
import { uploadDirectly } from './direct-uploads.ts'
import type { File as StoredFile } from './types.ts'
import type { UploadProgress } from './upload-progress.ts'

export interface UploadOptions {
  /** The bytes, at most 100 MB, or as many as the server allows in direct uploads. In Node.js, `openAsBlob` of `node:fs` reads a file from disk as it is sent. */
  content: Blob | Uint8Array | string
  /** 1–255 characters. Default: the name of a `File`. */
  name?: string | undefined
  /** One of the media types that can be stored. Default: that of the Blob, else `application/octet-stream`. */
  mimeType?: string | undefined
  /** ID of the folder. Default: the root of the org, or the folder of the project. */
  parentId?: string | undefined
  /** ID of the project into whose folder the file is put. */
  projectId?: string | undefined
  /** Called while the bytes are sent; from 0 again when the request is retried. */
  onProgress?: ((progress: UploadProgress) => void) | undefined
  signal?: AbortSignal | undefined
  /** Stores the file once in 24 hours, also when your program repeats the upload after a restart. Default: a new key. */
  idempotencyKey?: string | undefined
}

const blobOf = (content: UploadOptions['content']): Blob =>
  content instanceof Blob ? content : new Blob([content as string | Uint8Array<ArrayBuffer>])

/** The stored file when an earlier attempt stored the bytes and its response was lost. */
const findStored = async (client: Client, id: string, error: unknown): Promise<StoredFile> => {
  if (!(error instanceof AtriumError) || error.code !== 'CONFLICT') throw error
  const file = await client.call('GET /files/:id', { params: { id } })
  if (file.status !== 'ready') throw error
  return file
}

/**
 * Uploads a file: creates it, sends its bytes to the signed URL and resolves with the stored file. When the server offers
 * direct uploads, the bytes are sent to its object store, and it resolves when they are verified. All requests are
 * retried, and the file is stored once. When it fails for good, the server deletes the incomplete file after 24 hours.
 */
export const uploadFile = async (client: Client, options: UploadOptions): Promise<StoredFile> => {
  const { signal, parentId, projectId, onProgress, idempotencyKey } = options
  const content = blobOf(options.content)
  const name = options.name ?? ('name' in content ? String(content.name) : '')
  if (name === '') throw new TypeError('name is missing: only a File has a name')
  // Media types have parameters in Blobs, such as `text/plain;charset=utf-8`.
  const mimeType = (options.mimeType ?? content.type).split(';', 1)[0]?.trim() || 'application/octet-stream'
  const body = {
    name,
    mimeType,
    size: content.size,
    ...(parentId !== undefined && { parentId }),
    ...(projectId !== undefined && { projectId }),
  }
  const { file, uploadUrl, upload } = await client.call('POST /files', { body, signal, idempotencyKey })
  if (upload !== undefined) return uploadDirectly(client, { fileId: file.id, upload, content, onProgress, signal })
  if (uploadUrl === undefined) throw new TypeError('The server returned no uploadUrl.')
  try {
    const stored = await client.put(uploadUrl, content, { contentType: mimeType, onProgress, signal })
    return (stored as { file: StoredFile }).file
  } catch (error) {
    return findStored(client, file.id, error)
  }
}
