import type { Readable } from 'node:stream'
import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import type { Quotas } from '../quotas/quotas.ts'
import { releaseLater } from './uploads/blobs.ts'
import { checkMimeType } from './uploads/mime-types.ts'
import { checkName } from './tree/names.ts'
import type { PreviewPayload } from './preview/payload.ts'
import type { Previewer } from './preview/previewer.ts'
import { cachedPreview, cachedText } from './preview/previews.ts'
import type { PreviewSource } from './preview/previews.ts'
import * as queries from './queries.ts'
import type { FileCreate, FilePatch } from './schemas.ts'
import { lockMoves, lockWhole } from './tree/queries.ts'
import { checkDepth, deleteTree, prepareFolderMove, resolvePlace } from './tree/tree.ts'
import type { ResolvedPlace } from './tree/tree.ts'
import { existing, storageKeyOf } from './uploads/uploads.ts'

export type { Previewer } from './preview/previewer.ts'
export { getProject } from './projects/projects.ts'
export { listFiles } from './tree/listing.ts'
export { checkName } from './tree/names.ts'
export { createUploadedFile, receive } from './uploads/uploads.ts'

const required = <T>(value: T | undefined, name: string): T => {
  if (value === undefined) throw badRequest(`${name} is required`)
  return value
}

const createFolder = async (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  const name = checkName(required(body.name, 'name'))
  return db.transaction(actor, async (db) => {
    const place = await resolvePlace(db, actor, body)
    await checkDepth(db, actor, place.parentId)
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    return existing(await queries.insertFile(db, actor, { id: newId(), source: 'folder', name, ...place }))
  })
}

const createLink = async (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  const targetFileId = required(body.targetFileId, 'targetFileId')
  const given = body.name === undefined ? undefined : checkName(body.name)
  return db.transaction(actor, async (db) => {
    const target = await queries.findContent(db, actor.orgId, targetFileId)
    if (!target) throw notFound('File')
    if (target.source === 'folder') throw badRequest('targetFileId must be a file: folders cannot be linked to')
    // A link to a link points at the file at the end, so that resolving one never takes more than one step.
    if (target.targetId === null) throw notFound('File')
    const place = await resolvePlace(db, actor, body)
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    return existing(
      await queries.insertFile(db, actor, {
        id: newId(),
        source: 'link',
        name: given ?? target.name,
        targetId: target.targetId,
        ...place,
      }),
    )
  })
}

const createPendingUpload = async (
  db: Database,
  quotas: Quotas,
  actor: Actor,
  body: FileCreate,
): Promise<queries.FileRow> => {
  const name = checkName(required(body.name, 'name'))
  const mimeType = checkMimeType(required(body.mimeType, 'mimeType'))
  const sizeBytes = required(body.size, 'size')
  return db.transaction(actor, async (db) => {
    const place = await resolvePlace(db, actor, body)
    // Its bytes count from here on, so that there is room for them when they come.
    await quotas.checkInsert(db, actor.orgId, { files: 1, storedBytes: sizeBytes })
    const file = { id: newId(), source: 'upload', status: 'pending', name, mimeType, sizeBytes, ...place } as const
    return existing(await queries.insertFile(db, actor, file))
  })
}

/** A folder, a link, or a file whose bytes are still to come. */
export const createFile = (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  if (body.source === 'folder') return createFolder(db, quotas, actor, body)
  if (body.source === 'link') return createLink(db, quotas, actor, body)
  return createPendingUpload(db, quotas, actor, body)
}

const maxTags = 50
const maxTagLength = 64

const checkTags = (tags: string[]): string[] => {
  const trimmed = [...new Set(tags.map((tag) => tag.trim()))]
  if (trimmed.some((tag) => tag === '' || [...tag].length > maxTagLength)) {
    throw badRequest(`tags must have 1 to ${maxTagLength} characters each`)
  }
  if (trimmed.length > maxTags) throw badRequest(`tags must have at most ${maxTags} items`)
  return trimmed
}

/** Where a file goes when it moves. Folders are checked for cycles and depth, and take their contents along. */
const moveTo = async (db: Transaction, actor: Actor, file: queries.FileRow, to: ResolvedPlace): Promise<void> => {
  if (to.parentId === file.parentId) return
  if (file.source === 'folder') await prepareFolderMove(db, actor, file, to)
  // In one order for everybody, so that two moves in opposite directions do not wait for each other.
  const counts: [string | null, number][] = [
    [file.parentId, -1],
    [to.parentId, 1],
  ]
  for (const [folderId, change] of counts.toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))) {
    await queries.countChildren(db, actor.orgId, folderId, change)
  }
}

/**
 * Renames, moves or retags. Throws NOT_FOUND, CONFLICT when `ifMatch` names another revision, FORBIDDEN to rename or
 * move a protected folder, BAD_REQUEST for a parent that is none, or that lies inside the folder that is to move.
 */
export const updateFile = async (
  db: Database,
  actor: Actor,
  id: string,
  patch: FilePatch,
  ifMatch: string | undefined,
): Promise<queries.FileRow> => {
  const { name, parentId, tags } = patch
  if (name === undefined && parentId === undefined && tags === undefined) {
    throw badRequest('The body must have at least one of name, parentId and tags.')
  }
  if (name !== undefined) checkName(name)
  const newTags = tags && checkTags(tags)
  const known = await queries.findFile(db, actor, id)
  if (!known) throw notFound('File')
  return db.transaction(actor, async (db) => {
    // The target before the file, as deletions lock what is around before what is inside.
    if (known.source === 'folder' && parentId !== undefined) await lockMoves(db, actor)
    const protectedChange = known.isProtected && (name !== undefined || parentId !== undefined)
    const place = parentId === undefined || protectedChange ? undefined : await resolvePlace(db, actor, { parentId })
    const file = await queries.lockFile(db, actor, id)
    if (!file) throw notFound('File')
    requireMatch(ifMatch, file)
    if (protectedChange) throw forbidden('A protected folder cannot be renamed or moved.')
    if (place) await moveTo(db, actor, file, place)
    const { parentId: folderId, projectId } = place ?? file
    const changes = { name: name ?? file.name, tags: newTags ?? file.tags, parentId: folderId, projectId }
    if (file.source === 'folder' && folderId !== file.parentId) {
      const details = { name: changes.name, from: file.parentId, to: folderId }
      await audit(db, actor, 'folder.moved', { type: 'file', id, details })
    }
    return existing(await queries.updateFile(db, actor, id, changes))
  })
}

/** Deletes a file, or a folder with all that is in it. Throws like updateFile. */
export const deleteFile = async (
  db: Database,
  jobs: Pick<Jobs, 'enqueue'>,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<void> => {
  const known = await queries.findFile(db, actor, id)
  if (!known) throw notFound('File')
  await db.transaction(actor, async (db) => {
    const file = await lockWhole(db, actor, id)
    if (!file) throw notFound('File')
    requireMatch(ifMatch, file)
    if (file.isProtected) throw forbidden('A protected folder cannot be deleted.')
    let deleted = 1
    if (known.source === 'folder') deleted = await deleteTree(db, actor, file)
    else {
      const { size = 0 } = (await queries.softDeleteFile(db, actor.orgId, id)) ?? {}
      await queries.countDeleted(db, actor.orgId, file.parentId, { files: 1, bytes: size })
    }
    if (deleted > 1 || file.blobId !== null) await releaseLater(db, jobs, actor.orgId)
    const action = known.source === 'folder' ? 'folder.deleted' : 'file.deleted'
    await audit(db, actor, action, { type: 'file', id, details: { name: known.name, deleted } })
  })
}

/** What a download or a preview needs to know of a file; of a link, its own id and name and its target's bytes. */
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
 * The bytes behind a file or link. Throws NOT_FOUND when it or its target is gone, BAD_REQUEST for a folder, CONFLICT
 * while the bytes have not arrived.
 */
export const getContent = async (db: Db, orgId: string, fileId: string): Promise<Content> => {
  const row = await queries.findContent(db, orgId, fileId)
  if (!row || row.targetId === null) throw notFound('File')
  if (row.source === 'folder') throw badRequest('A folder has no bytes.')
  const { blobId, mimeType, contentHash } = row
  if (row.status === 'pending' || blobId === null || mimeType === null || contentHash === null) {
    throw conflict('The bytes of this file have not arrived yet.')
  }
  const storageKey = storageKeyOf(orgId, blobId)
  return { id: row.id, name: row.name, mimeType, sizeBytes: row.size, storageKey, contentHash }
}

export interface OpenedFile extends Content {
  /** The bytes, or the first of them. Destroy the stream to stop early. */
  read: (maxBytes?: number) => Promise<Readable>
}

/** A file of the actor's org: what it is at once, its bytes when they are asked for. Throws like getContent. */
export const openFile = async (db: Db, objects: ObjectStore, actor: Actor, fileId: string): Promise<OpenedFile> => {
  const content = await getContent(db, actor.orgId, fileId)
  const { storageKey, sizeBytes } = content
  const read: OpenedFile['read'] = (maxBytes = sizeBytes) =>
    objects.get(storageKey, maxBytes >= sizeBytes ? undefined : { start: 0, end: maxBytes - 1 })
  return { ...content, read }
}

/** The bytes of a file, at most `maxBytes` of them. Throws like getContent. */
export const readFileBytes = async (
  db: Db,
  objects: ObjectStore,
  actor: Actor,
  fileId: string,
  maxBytes: number,
): Promise<Content & { bytes: Buffer; truncated: boolean }> => {
  const { read, ...content } = await openFile(db, objects, actor, fileId)
  const chunks: Buffer[] = []
  for await (const chunk of await read(maxBytes)) chunks.push(chunk as Buffer)
  return { ...content, bytes: Buffer.concat(chunks), truncated: content.sizeBytes > maxBytes }
}

interface PreviewDeps {
  db: Db
  objects: ObjectStore
  previewer: Previewer
}

const openPreview = async (
  { db, objects }: PreviewDeps,
  actor: Actor,
  fileId: string,
): Promise<PreviewSource & { id: string }> => {
  const { read, ...content } = await openFile(db, objects, actor, fileId)
  return { ...content, open: read }
}

/** What a person sees of a file. Throws like getContent, and BAD_REQUEST for what has no preview. */
export const previewFile = async (
  deps: PreviewDeps,
  actor: Actor,
  fileId: string,
  signal: AbortSignal,
): Promise<PreviewPayload & { fileId: string; name: string; mimeType: string }> => {
  const source = await openPreview(deps, actor, fileId)
  const payload = await cachedPreview(deps.db, actor, deps.previewer, source, signal)
  return { fileId: source.id, name: source.name, mimeType: source.mimeType, ...payload }
}

/** Whether a person gave a file, folder or link its name. */
export const isOwnName = async (db: Db, actor: Actor, fileId: string): Promise<boolean> =>
  (await queries.findProvenance(db, actor.orgId, fileId))?.namedBy === actor.userId

/**
 * Whether a person named a file and put its bytes there: no other person, no agent that had read untrusted content, no
 * stranger.
 */
export const isOwnContent = async (db: Db, actor: Actor, fileId: string): Promise<boolean> => {
  const found = await queries.findProvenance(db, actor.orgId, fileId)
  return found?.createdBy === actor.userId && found.namedBy === actor.userId && !found.isUntrusted
}

/** A file as text for a model, up to 512 KB; documents and sheets are read, too. Throws like previewFile. */
export const readFileText = async (
  deps: PreviewDeps,
  actor: Actor,
  fileId: string,
  signal?: AbortSignal,
): Promise<{ name: string; mimeType: string; sizeBytes: number; text: string; truncated: boolean }> => {
  const source = await openPreview(deps, actor, fileId)
  const { name, mimeType, sizeBytes } = source
  return { name, mimeType, sizeBytes, ...(await cachedText(deps.db, actor, deps.previewer, source, signal)) }
}
