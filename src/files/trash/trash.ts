import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import { inheritGuards, requireWritable } from '../access/guards.ts'
import { hasClosedFolders } from '../access/queries.ts'
import { releaseLater } from '../blobs/blobs.ts'
import type { FilesDeps } from '../deps.ts'
import { endLater } from '../direct/ending.ts'
import { recordRestored } from '../events.ts'
import { filterOf } from '../listing/filters.ts'
import * as fileQueries from '../queries.ts'
import type { Amount, FileRow } from '../queries.ts'
import type { FileListQuery } from '../schemas.ts'
import { lockMoves } from '../tree/queries.ts'
import type { LockedFile } from '../tree/queries.ts'
import { deleteTree, hasClosedFolder, resolveRestored } from '../tree/tree.ts'
import type { DeletedTree } from '../tree/tree.ts'
import { purgeDue, purgeTrash } from './purge.ts'
import * as queries from './queries.ts'
import type { TrashedRow } from './queries.ts'

export type TrashDeps = Pick<FilesDeps, 'db' | 'jobs'>

export interface Removal {
  jobs: TrashDeps['jobs']
  /** Days in the trash; 0 deletes at once. */
  days: number
  /** Whether files are uploaded directly to the store. Uploads from before a change of this setting are ended by an hourly job. */
  directUploads: boolean
}

const nothing: Amount = { files: 0, bytes: 0 }

/**
 * Deletes a locked file, or a folder with its contents: into the trash, or at once. A pending upload has nothing to
 * restore and is deleted at once, also when it is in a folder. Returns the number of deleted files.
 */
export const removeFile = async (
  db: Transaction,
  actor: Actor,
  file: LockedFile,
  { jobs, days, directUploads }: Removal,
): Promise<number> => {
  const trashId = days > 0 && file.status === 'ready' ? newId() : null
  const isTrashed = trashId !== null
  let removed: DeletedTree = { deleted: { files: 1, bytes: Number(file.storedBytes) }, pending: nothing, levels: 0 }
  if (file.source === 'folder') removed = await deleteTree(db, actor, file.id, trashId)
  else await fileQueries.softDeleteFile(db, actor.orgId, file.id, trashId)
  const { deleted, pending, levels } = removed
  const { files } = deleted
  if (isTrashed) await queries.insertEntry(db, actor, { id: trashId, fileId: file.id, levels, days })
  const trashed = { files: files - pending.files, bytes: deleted.bytes - pending.bytes }
  const amounts = isTrashed ? { gone: pending, trashed } : { gone: deleted, trashed: nothing }
  await fileQueries.countDeleted(db, actor.orgId, file.parentId, amounts)
  if (!isTrashed && (files > 1 || file.blobId !== null)) await releaseLater(db, jobs, actor.orgId)
  if (directUploads && (file.source === 'folder' || file.status === 'pending')) await endLater(db, jobs, actor.orgId)
  return files
}

export interface TrashPage {
  items: TrashedRow[]
  page: number
  limit: number
  total: number
  hasMore: boolean
  nextCursor: string | null
}

/** A page of the trash: what was deleted by itself, the latest deletion first. */
export const listTrash = async (db: Db, actor: Actor, query: FileListQuery): Promise<TrashPage> => {
  const { page, limit, cursor, sort, order, parentId, projectId } = query
  const others = [sort, order, parentId, projectId, query.search || undefined, filterOf(query)]
  if (query.recursive || others.some((value) => value !== undefined)) {
    throw badRequest('trashed cannot be combined with sort, order, parentId, projectId, search, recursive or a filter')
  }
  const [after] = cursor === undefined ? [] : decodeCursor(cursor, ['uuid'])
  const offset = cursor === undefined ? (page - 1) * limit : 0
  const rows = await queries.listEntries(db, actor, { limit: limit + 1, after, offset })
  const total = await queries.countEntries(db, actor, await hasClosedFolders(db, actor, 'read'))
  const hasMore = rows.length > limit
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, page, limit, total, hasMore, nextCursor: hasMore && last ? encodeCursor([last.trashId]) : null }
}

/**
 * Restores a file, or a folder with everything that was deleted with it, to its old folder, or to the root when that is
 * gone. The trash counts towards the quotas, so this never exceeds one. Throws NOT_FOUND when the id is not in the trash.
 */
export const restoreFile = (db: Database, actor: Actor, id: string): Promise<FileRow> =>
  db.transaction(actor, async (db) => {
    const entry = await queries.lockEntry(db, actor.orgId, id)
    if (!entry) throw notFound('File')
    requireWritable(await queries.findTrashedFile(db, actor, id))
    await lockMoves(db, actor)
    // Its guards do not change any more.
    const trashed = requireWritable(await queries.findTrashedFile(db, actor, id))
    const place = await resolveRestored(db, actor, trashed, entry.levels)
    await queries.deleteEntries(db, actor.orgId, [entry.id])
    const restored = await queries.restoreFiles(db, actor.orgId, { id: entry.id, fileId: id }, place)
    // The root in place of a restricted folder.
    const isGuardedAnew = trashed.guards?.join() !== place.guards?.join()
    if (trashed.source === 'folder' && isGuardedAnew) await inheritGuards(db, actor.orgId, id)
    const file = await fileQueries.findFile(db, actor, id)
    if (!file) throw new Error('the restored file was not found')
    const action = file.source === 'folder' ? 'folder.restored' : 'file.restored'
    await audit(db, actor, action, { type: 'file', id, details: { name: file.name, restored } })
    await recordRestored(db, actor, file, restored)
    return file
  })

// The request itself purges this many batches, so that the quota is usually free when it returns. The job purges the
// rest; it starts later, so that it does not have the rows that the request wants.
const batchesInRequest = 2
const jobDelaySeconds = 5

const purgeLater = (db: Transaction, jobs: TrashDeps['jobs'], orgId: string): Promise<void> =>
  jobs.enqueue(db, purgeTrash, { orgId }, { singletonKey: orgId, startAfterSeconds: jobDelaySeconds })

/**
 * Deletes a file of the trash with its contents. Returns false when the id is not in the trash. Throws FORBIDDEN when the
 * actor may not change all of it.
 */
export const purgeFile = async (
  { db: database, jobs }: TrashDeps,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<boolean> => {
  const isFound = await database.transaction(actor, async (db) => {
    const entry = await queries.lockEntry(db, actor.orgId, id)
    const trashed = entry && (await queries.findTrashedFile(db, actor, id))
    if (!trashed) return false
    requireWritable(trashed)
    requireMatch(ifMatch, trashed)
    if (!(await queries.isPurgeable(db, actor, entry.id))) throw hasClosedFolder()
    await queries.expireEntry(db, actor.orgId, entry.id)
    await purgeLater(db, jobs, actor.orgId)
    const action = trashed.source === 'folder' ? 'folder.purged' : 'file.purged'
    await audit(db, actor, action, { type: 'file', id, details: { name: trashed.name } })
    return true
  })
  if (isFound) await purgeDue({ db: database, jobs }, actor.orgId, { maxBatches: batchesInRequest })
  return isFound
}

const entriesAtOnce = 5_000

/**
 * Deletes everything that is in the trash when the request begins and that the actor may change. Repeat it when it was
 * interrupted.
 */
export const emptyTrash = async ({ db: database, jobs }: TrashDeps, actor: Actor): Promise<void> => {
  const { orgId } = actor
  const clock = await queries.readClock(database)
  if (!clock) throw new Error('the statement returned no time')
  const expire = (): Promise<number> =>
    database.transaction(actor, async (db) => {
      const expired = await queries.expireEntries(db, actor, clock.now, entriesAtOnce)
      if (expired === 0) return 0
      await purgeLater(db, jobs, orgId)
      await audit(db, actor, 'trash.emptied', { type: 'file', id: null, details: { deletions: expired } })
      return expired
    })
  while ((await expire()) === entriesAtOnce);
  await purgeDue({ db: database, jobs }, orgId, { maxBatches: batchesInRequest })
}
