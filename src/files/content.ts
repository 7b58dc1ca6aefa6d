import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Db } from '../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../platform/http/errors.ts'
import type { Reader, Unrestricted } from './access/condition-queries.ts'
import { storageKeyOf } from './blobs/blobs.ts'
import type { PreviewDeps } from './deps.ts'
import type { PreviewPayload } from './preview/payload.ts'
import type { ImageSpec } from './preview/pictures/image-spec.ts'
import { cachedImage, cachedPicture } from './preview/pictures/pictures.ts'
import type { Image, Picture } from './preview/pictures/run-picture.ts'
import { cachedPreview, cachedText } from './preview/previews.ts'
import type { PreviewSource } from './preview/previews.ts'
import * as queries from './queries.ts'

/** The bytes behind a file or a link. A link has its own id and name, and everything else of its target. */
export interface Content {
  id: string
  name: string
  mimeType: string
  sizeBytes: number
  storageKey: string
  /** SHA-256 of the bytes, in hex. */
  contentHash: string
}

/**
 * The bytes behind a file or link. Throws NOT_FOUND when the file or its target is deleted or not open to the reader,
 * BAD_REQUEST for a folder, CONFLICT while the upload is pending.
 */
export const getContent = async (db: Db, reader: Reader | Unrestricted, fileId: string): Promise<Content> => {
  const { orgId } = reader
  const row = await queries.findContent(db, reader, fileId)
  if (!row || row.targetId === null) throw notFound('File')
  if (row.source === 'folder') throw badRequest('A folder has no content.')
  const { blobId, mimeType, contentHash } = row
  if (row.status === 'pending' || blobId === null || mimeType === null || contentHash === null) {
    throw conflict('The bytes of this file have not been uploaded yet.')
  }
  const storageKey = storageKeyOf(orgId, blobId)
  return { id: row.id, name: row.name, mimeType, sizeBytes: row.size, storageKey, contentHash }
}

const getSource = async (
  { db, objects }: PreviewDeps,
  actor: Reader,
  fileId: string,
): Promise<PreviewSource & Content> => {
  const content = await getContent(db, actor, fileId)
  const { storageKey, sizeBytes } = content
  const open = (maxBytes = sizeBytes): Promise<Readable> =>
    objects.get(storageKey, maxBytes >= sizeBytes ? undefined : { start: 0, end: maxBytes - 1 })
  return { ...content, open }
}

/**
 * The preview of a file. `visitor` is the address of a visitor of a share. Throws like getContent, and BAD_REQUEST when the
 * file has no preview.
 */
export const previewFile = async (
  deps: PreviewDeps,
  actor: Reader,
  fileId: string,
  { signal, visitor }: { signal: AbortSignal; visitor?: string },
): Promise<PreviewPayload & { fileId: string; name: string; mimeType: string }> => {
  const source = await getSource(deps, actor, fileId)
  const payload = await cachedPreview(deps, { ...actor, visitor }, source, signal)
  return { fileId: source.id, name: source.name, mimeType: source.mimeType, ...payload }
}

/** A picture for a model, in a size that every provider accepts. Throws like getContent, and BAD_REQUEST like cachedPicture. */
export const readPicture = async (
  deps: PreviewDeps,
  actor: Reader,
  fileId: string,
  signal?: AbortSignal,
): Promise<Picture> => cachedPicture(deps, actor, await getSource(deps, actor, fileId), signal)

export interface ImageRequest {
  spec: ImageSpec
  signal: AbortSignal
  visitor?: string
  isKnown: (contentHash: string) => boolean
}

/**
 * The image of a picture, and the content that it shows. `isKnown` tells by the content that the caller has the image,
 * `visitor` is the address of a visitor of a share.
 */
export const readImage = async (
  deps: PreviewDeps,
  actor: Reader,
  fileId: string,
  { spec, signal, visitor, isKnown }: ImageRequest,
): Promise<{ content: Content; image: Image | undefined }> => {
  const source = await getSource(deps, actor, fileId)
  const image = isKnown(source.contentHash)
    ? undefined
    : await cachedImage(deps, { ...actor, visitor }, source, { spec, signal })
  return { content: source, image }
}

/** The bytes of a small file. Throws like getContent, and BAD_REQUEST when it has more than `maxBytes`. */
export const readFileBytes = async (
  { db, objects }: Pick<PreviewDeps, 'db' | 'objects'>,
  actor: Reader,
  fileId: string,
  maxBytes: number,
): Promise<Buffer> => {
  const { storageKey, sizeBytes } = await getContent(db, actor, fileId)
  if (sizeBytes > maxBytes) throw badRequest(`The file has more than ${maxBytes} bytes.`)
  return buffer(await objects.get(storageKey))
}

/** A file as text for a model, up to 512 KB. Documents and spreadsheets are converted. Throws like previewFile. */
export const readFileText = async (
  deps: PreviewDeps,
  actor: Reader,
  fileId: string,
  signal?: AbortSignal,
): Promise<{ name: string; mimeType: string; sizeBytes: number; text: string; truncated: boolean }> => {
  const source = await getSource(deps, actor, fileId)
  const { name, mimeType, sizeBytes } = source
  return { name, mimeType, sizeBytes, ...(await cachedText(deps, actor, source, signal)) }
}
