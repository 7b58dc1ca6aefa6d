import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { badRequest, forbidden, notFound } from '../platform/http/errors.ts'
import { etagOf, requireMatch } from '../platform/http/etag.ts'
import { newId } from '../platform/ids.ts'
import type { Quotas } from '../quotas/quotas.ts'
import { guardsOf, inheritGuards, requireWritable } from './access/guards.ts'
import type { FilesDeps } from './deps.ts'
import { checkName } from './tree/names.ts'
import * as queries from './queries.ts'
import type { FileCreate, FilePatch } from './schemas.ts'
import { lockFiles, lockForDeletion, lockMoves } from './tree/queries.ts'
import { checkDepth, prepareFolderMove, resolvePlace } from './tree/tree.ts'
import type { ResolvedPlace } from './tree/tree.ts'
import { purgeFile, removeFile } from './trash/trash.ts'
import { insertPending, pendingOf, required } from './uploads/pending.ts'
import { maxFileBytes } from './uploads/limits.ts'
import { requireRow } from './uploads/uploads.ts'
import { noteChange } from './recent/recent.ts'
import { overwriteByFile } from './versions/versions.ts'
import type { VersionDeps } from './versions/versions.ts'
import { copyFile, readCopied, requireSameAudience } from './copies/copies.ts'
import type { Copy } from './copies/copies.ts'
import type { CopyRow } from './copies/queries.ts'
import { insertFile, recordChange, recordDeletedFiles, recordDeletedFolder } from './events.ts'

// The interface of files for other modules.
export { listClosed, readGuards } from './access/closed.ts'
export type { Guards } from './access/closed.ts'
export type { Reader } from './access/condition-queries.ts'
export { getContent, readFileBytes, readFileText, readPicture } from './content.ts'
export { limits as pictureLimits } from './preview/pictures/limits.ts'
export { pictureTypes } from './preview/pictures/pictures.ts'
export type { Picture } from './preview/pictures/run-picture.ts'
export { storeInlineFile } from './inline/inline-files.ts'
export type { InlineFile, StoredFilePart } from './inline/inline-files.ts'
export { dispositionOf, downloadHeaders } from './downloads/content-headers.ts'
export { sendContent } from './downloads/send-content.ts'
export { listFiles } from './listing/listing.ts'
export { listNewestFiles } from './listing/queries.ts'
export { findFile } from './queries.ts'
export type { FileRow } from './queries.ts'
export type { Previewer } from './preview/previewer.ts'
export { claimName, filesInside, findPath, isPathName, listPathEntries } from './paths/paths.ts'
export type { PathEntry } from './paths/paths.ts'
export { declaredLength, putFile } from './paths/put.ts'
export type { EntryRow } from './paths/queries.ts'
export { readSpace } from './paths/space.ts'
export type { Space } from './paths/space.ts'
export type { StoreDeps } from './deps.ts'
export { getProject } from './projects/projects.ts'
export { listClosedProjects } from './projects/queries.ts'
export { checkName } from './tree/names.ts'
export { checkFormLength, repeatForm, uploadForm } from './uploads/upload-form.ts'
export { storeFile } from './uploads/uploads.ts'
export { overwriteWith } from './versions/versions.ts'

const createFolder = async (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  const name = checkName(required(body.name, 'name'))
  return db.transaction(actor, async (db) => {
    const place = await resolvePlace(db, actor, body)
    await checkDepth(db, actor, place.parentId)
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    return insertFile(db, actor, { id: newId(), source: 'folder', name, ...place })
  })
}

const createLink = async (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  const targetFileId = required(body.targetFileId, 'targetFileId')
  const given = body.name === undefined ? undefined : checkName(body.name)
  return db.transaction(actor, async (db) => {
    const target = await queries.findContent(db, actor, targetFileId)
    if (!target) throw notFound('File')
    if (target.source === 'folder') throw badRequest('targetFileId must be the id of a file, not of a folder')
    // A link to a link stores the final target, so that resolving a link takes one step.
    if (target.targetId === null) throw notFound('File')
    // Agents read names, so a link does not make the name of another person one's own.
    const named = given === undefined ? await queries.findProvenance(db, actor.orgId, targetFileId) : undefined
    const place = await resolvePlace(db, actor, body)
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    return insertFile(db, actor, {
      id: newId(),
      source: 'link',
      name: given ?? target.name,
      ...(named === undefined ? {} : { namedBy: named.namedBy }),
      targetId: target.targetId,
      ...place,
    })
  })
}

/** Creates a folder, a link, or a file whose bytes are uploaded later. */
export const createFile = (db: Database, quotas: Quotas, actor: Actor, body: FileCreate): Promise<queries.FileRow> => {
  if (body.source === 'folder') return createFolder(db, quotas, actor, body)
  if (body.source === 'link') return createLink(db, quotas, actor, body)
  const pending = pendingOf(body, maxFileBytes)
  return db.transaction(actor, (db) => insertPending(db, quotas, actor, pending))
}

const maxTags = 50
const maxTagLength = 64

const checkTags = (tags: string[]): string[] => {
  const trimmed = [...new Set(tags.map((tag) => tag.trim()))]
  if (trimmed.some((tag) => tag === '' || [...tag].length > maxTagLength)) {
    throw badRequest(`each of tags must be 1–${maxTagLength} characters`)
  }
  if (trimmed.length > maxTags) throw badRequest(`tags must have at most ${maxTags} items`)
  return trimmed
}

/**
 * Moves a file. A folder is checked for cycles and depth and moves with its contents. Returns whether what is below it needs
 * other guards.
 */
const moveTo = async (db: Transaction, actor: Actor, file: queries.FileRow, to: ResolvedPlace): Promise<boolean> => {
  if (to.parentId === file.parentId) return false
  const isGuardedAnew = file.source === 'folder' && (await prepareFolderMove(db, actor, file, to))
  // Always in the same order, so that two moves in opposite directions do not deadlock.
  const counts: [string | null, number][] = [
    [file.parentId, -1],
    [to.parentId, 1],
  ]
  for (const [folderId, change] of counts.toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))) {
    await queries.countChildren(db, actor.orgId, folderId, change)
  }
  return isGuardedAnew
}

export interface FileChange {
  patch: FilePatch
  ifMatch: string | undefined
}

/** Changes a file, which the caller has read, in a transaction. Throws like updateFile. */
const changeFile = async (
  db: Transaction,
  actor: Actor,
  known: queries.FileRow,
  { patch, ifMatch }: FileChange,
): Promise<queries.FileRow> => {
  const { id } = known
  const { name, parentId, tags } = patch
  const newTags = tags && checkTags(tags)
  // The target folder is locked before the file, because deletions lock folders before their contents.
  if (known.source === 'folder' && parentId !== undefined) await lockMoves(db, actor)
  const protectedChange = known.isProtected && (name !== undefined || parentId !== undefined)
  const place = parentId === undefined || protectedChange ? undefined : await resolvePlace(db, actor, { parentId })
  const file = requireWritable(await queries.lockFile(db, actor, id))
  requireMatch(ifMatch, file)
  if (protectedChange) throw forbidden('A protected folder cannot be renamed or moved.')
  const isGuardedAnew = place !== undefined && (await moveTo(db, actor, file, place))
  const { parentId: folderId, projectId } = place ?? file
  const guards = place ? guardsOf(file, place.guards) : file.guards
  const changes = { name: name ?? file.name, tags: newTags ?? file.tags, parentId: folderId, projectId, guards }
  if (file.source === 'folder' && folderId !== file.parentId) {
    const details = { name: changes.name, from: file.parentId, to: folderId }
    await audit(db, actor, 'folder.moved', { type: 'file', id, details })
  }
  // The target of a link stays hidden from an actor who may not see it.
  const { targetFileId } = file
  const changed = { ...requireRow(await queries.updateFile(db, actor, id, changes)), targetFileId }
  if (isGuardedAnew) await inheritGuards(db, actor.orgId, id)
  const fields = (['name', 'tags'] as const).filter((field) => patch[field] !== undefined)
  await recordChange(db, actor, { before: file, after: changed }, fields)
  await noteChange(db, actor, changed)
  return changed
}

/**
 * Renames, moves or retags a file. Throws NOT_FOUND, CONFLICT when `ifMatch` names another revision, FORBIDDEN for
 * renaming or moving a protected folder and what the actor may only read, BAD_REQUEST when the parent is not a folder or
 * lies inside the moved folder.
 */
export const updateFile = async (
  db: Database,
  actor: Actor,
  id: string,
  change: FileChange,
): Promise<queries.FileRow> => {
  const { name, parentId, tags } = change.patch
  if (name === undefined && parentId === undefined && tags === undefined) {
    throw badRequest('The body must have at least one of name, parentId and tags.')
  }
  if (name !== undefined) checkName(name)
  if (tags !== undefined) checkTags(tags)
  const known = await queries.findFile(db, actor, id)
  if (!known) throw notFound('File')
  return db.transaction(actor, (db) => changeFile(db, actor, known, change))
}

export interface Deletion {
  ifMatch: string | undefined
  /** Without the trash, or out of it. */
  isPermanent?: boolean
  /** Only out of the trash. */
  isTrashed?: boolean
}

type DeletionDeps = Pick<FilesDeps, 'jobs' | 'config'>

const deleteIn = async (
  { jobs, config }: DeletionDeps,
  db: Transaction,
  actor: Actor,
  { id, ifMatch, isPermanent = false }: Deletion & { id: string },
): Promise<void> => {
  const file = requireWritable(await lockForDeletion(db, actor, id))
  requireMatch(ifMatch, file)
  if (file.isProtected) throw forbidden('A protected folder cannot be deleted.')
  const { directUploads, retention } = config
  const deleted = await removeFile(db, actor, file, {
    jobs,
    days: isPermanent ? 0 : retention.trashDays,
    directUploads,
  })
  const action = file.source === 'folder' ? 'folder.deleted' : 'file.deleted'
  await audit(db, actor, action, { type: 'file', id, details: { name: file.name, deleted } })
  if (file.source === 'folder') await recordDeletedFolder(db, actor, file, deleted)
  else await recordDeletedFiles(db, actor, [file])
}

/**
 * Deletes a file, or a folder with its contents: into the trash, or at once when `isPermanent`, which also applies to what
 * is in the trash. Throws like updateFile.
 */
export const deleteFile = async (
  deps: DeletionDeps & Pick<FilesDeps, 'db'>,
  actor: Actor,
  id: string,
  deletion: Deletion,
): Promise<void> => {
  const { db } = deps
  const { isPermanent = false, isTrashed = false, ifMatch } = deletion
  if (isTrashed) {
    if (!isPermanent) throw badRequest('trashed requires permanent')
    if (!(await purgeFile(deps, actor, id, ifMatch))) throw notFound('File')
    return
  }
  const known = await queries.findFile(db, actor, id)
  if (!known && isPermanent && (await purgeFile(deps, actor, id, ifMatch))) return
  if (!known) throw notFound('File')
  await db.transaction(actor, (db) => deleteIn(deps, db, actor, { ...deletion, id }))
}

export interface Replacement {
  /** The ETag with which the source was found. Throws CONFLICT when it was changed, renamed or moved since then. */
  ifMatch: string
  /** What has the name already. The same applies to it. */
  replaced: Pick<queries.FileRow, 'id' | 'source' | 'revision'> | undefined
}

/**
 * Makes the bytes of a file or link those of a file, as a new version: its id, versions, shares and the links to it stay.
 * Returns undefined when one of both is no such file; then the replaced one goes to the trash instead.
 */
const overwriteBy = async (
  deps: VersionDeps & DeletionDeps,
  db: Transaction,
  actor: Actor,
  { sourceId, ifMatch, replaced, isMoved }: Replacement & { sourceId: string; isMoved: boolean },
): Promise<queries.FileRow | undefined> => {
  if (replaced?.source !== 'upload') return undefined
  // In the same order in all transactions, so that two of them in opposite directions do not deadlock.
  await lockFiles(db, actor, [sourceId, replaced.id])
  const source = await readCopied(db, actor, sourceId)
  requireMatch(ifMatch, source)
  if (source.source === 'folder' || (isMoved && source.source === 'link')) return undefined
  const target = requireWritable(await queries.findFile(db, actor, replaced.id))
  requireMatch(etagOf(replaced), target)
  if (!isMoved) {
    requireSameAudience([source], target.guards)
    return overwriteByFile(deps, db, actor, { fileId: target.id, source, freedBytes: 0 })
  }
  // Its bytes are in the other file now. What else it had can be restored.
  const { storedBytes, size } = requireWritable(await lockForDeletion(db, actor, sourceId))
  const hasVersions = Number(storedBytes) > size
  const freedBytes = hasVersions ? 0 : size
  const changed = await overwriteByFile(deps, db, actor, { fileId: target.id, source, freedBytes })
  await deleteIn(deps, db, actor, { id: sourceId, ifMatch: undefined, isPermanent: !hasVersions })
  return changed
}

/**
 * Moves or renames a file. A file that takes the name of a file becomes its new version; its own former versions go to
 * the trash. Anything else that has the name goes to the trash, in the same transaction. Throws like updateFile.
 */
export const moveFile = async (
  deps: VersionDeps & DeletionDeps,
  actor: Actor,
  id: string,
  { parentId, name, ifMatch, replaced }: Replacement & { parentId: string | null; name: string },
): Promise<queries.FileRow> => {
  const { db } = deps
  checkName(name)
  const known = await queries.findFile(db, actor, id)
  if (!known) throw notFound('File')
  const patch = {
    ...(name === known.name ? {} : { name }),
    ...(parentId === known.parentId ? {} : { parentId }),
  }
  try {
    return await db.transaction(actor, async (db) => {
      const overwritten = await overwriteBy(deps, db, actor, { sourceId: id, ifMatch, replaced, isMoved: true })
      if (overwritten) return overwritten
      if (replaced) await deleteIn(deps, db, actor, { id: replaced.id, ifMatch: etagOf(replaced) })
      return changeFile(db, actor, known, { patch, ifMatch })
    })
  } catch (error) {
    await deps.quotas.recordRejection(error)
    throw error
  }
}

/** Copies a file as `copyFile` does. A copy that takes the name of another file replaces it like `moveFile`. */
export const copyOver = async (
  deps: VersionDeps & DeletionDeps,
  actor: Actor,
  { replaced, ...copy }: Replacement & Copy,
): Promise<CopyRow> => {
  const { sourceId, ifMatch, onCopied } = copy
  try {
    return await deps.db.transaction(actor, async (db) => {
      const overwritten = await overwriteBy(deps, db, actor, { sourceId, ifMatch, replaced, isMoved: false })
      if (overwritten) {
        await onCopied?.(db, new Map([[sourceId, overwritten.id]]))
        return overwritten
      }
      if (replaced) await deleteIn(deps, db, actor, { id: replaced.id, ifMatch: etagOf(replaced) })
      return copyFile(db, deps.quotas, actor, copy)
    })
  } catch (error) {
    await deps.quotas.recordRejection(error)
    throw error
  }
}

/** Whether the actor gave a file, folder or link its name. */
export const isOwnName = async (db: Db, actor: Actor, fileId: string): Promise<boolean> =>
  (await queries.findProvenance(db, actor.orgId, fileId))?.namedBy === actor.userId

/**
 * Whether the actor named a file and uploaded its bytes. False when another person or an agent that had read untrusted
 * content did, or when the bytes arrived by a signed upload URL, which anyone with the URL can use.
 */
export const isOwnContent = async (db: Db, actor: Actor, fileId: string): Promise<boolean> => {
  const found = await queries.findProvenance(db, actor.orgId, fileId)
  return found?.createdBy === actor.userId && found.namedBy === actor.userId && !found.isUntrusted
}
