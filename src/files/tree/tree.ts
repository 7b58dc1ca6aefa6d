import type { Actor } from '../../identity/actor.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { guardsAbove, guardsOf, readOnly } from '../access/guards.ts'
import { findProject } from '../projects/queries.ts'
import * as queries from '../queries.ts'
import * as treeQueries from './queries.ts'

/** The destination of a file as the caller gives it. */
export interface Place {
  parentId?: string | null | undefined
  projectId?: string | null | undefined
}

/** The resolved destination. Null is the org's root folder, or no project. */
export interface ResolvedPlace {
  parentId: string | null
  projectId: string | null
  /** The guards that files get there. */
  guards: string[] | null
}

const root: ResolvedPlace = { parentId: null, projectId: null, guards: null }

const maxDepth = 100

// The same message for every wrong parent, so that it reveals nothing about other orgs.
const badParent = () => badRequest('parentId must be the id of a folder of this organisation')

type FindFolder = (db: Db, actor: Actor, id: string) => Promise<queries.FolderRow | undefined>

const placeIn = ({ id, projectId, guards }: queries.FolderRow): ResolvedPlace => ({ parentId: id, projectId, guards })

const resolveWith = async (
  findAny: FindFolder,
  db: Db,
  actor: Actor,
  place: Place,
): Promise<queries.FolderRow | null> => {
  const find = async (id: string): Promise<queries.FolderRow | undefined> => {
    const folder = await findAny(db, actor, id)
    return folder?.isReadable ? folder : undefined
  }
  const { parentId, projectId } = place
  if (projectId != null) {
    const project = await findProject(db, actor, projectId)
    if (!project) throw notFound('Project')
    const folder = await find(parentId ?? project.folderId)
    if (!folder && parentId == null) throw notFound('Project')
    if (!folder) throw badParent()
    if (folder.projectId !== project.id) throw badRequest("parentId must lie in the project's folder")
    return folder
  }
  if (parentId == null) return null
  const folder = await find(parentId)
  if (!folder) throw badParent()
  return folder
}

/**
 * The folder for a new or moved file, locked until the transaction ends so that it is not deleted in the meantime.
 * Files in a project's folder belong to the project. Throws BAD_REQUEST when `parentId` is not a suitable folder,
 * NOT_FOUND for an unknown project, FORBIDDEN when the actor may only read the folder.
 */
export const resolvePlace = async (db: Transaction, actor: Actor, place: Place): Promise<ResolvedPlace> => {
  const folder = await resolveWith(queries.lockFolderForInsert, db, actor, place)
  if (!folder) return root
  if (!folder.isWritable) throw readOnly()
  return placeIn(folder)
}

/** The folder to list, without a lock. Throws like resolvePlace. */
export const resolveListed = async (db: Db, actor: Actor, place: Place): Promise<ResolvedPlace> => {
  const folder = await resolveWith(queries.findFolder, db, actor, place)
  return folder ? placeIn(folder) : root
}

const tooDeep = () => badRequest(`Folders must be nested at most ${maxDepth} levels deep.`)

/** Throws BAD_REQUEST when a new tree of folders with this many levels in this folder would be nested too deep. */
export const checkLevels = async (
  db: Transaction,
  actor: Actor,
  parentId: string | null,
  levels: number,
): Promise<void> => {
  const above = parentId === null ? 0 : (await treeQueries.listAncestors(db, actor, parentId)).length
  if (above + levels > maxDepth) throw tooDeep()
}

/** Throws BAD_REQUEST when a new folder in this folder would be nested too deep. */
export const checkDepth = async (db: Transaction, actor: Actor, parentId: string | null): Promise<void> => {
  if (parentId !== null) await checkLevels(db, actor, parentId, 1)
}

/** The ids of a folder and those below it, level by level, and whether the actor may change all of those below. */
interface LockedFolders {
  levels: string[][]
  areWritable: boolean
}

/** Locks the folders below a locked folder from the top down, so that nothing can be put into them. */
export const lockFolders = async (db: Transaction, actor: Actor, folderId: string): Promise<LockedFolders> => {
  const levels: string[][] = []
  let level = [folderId]
  let areWritable = true
  while (level.length > 0) {
    levels.push(level)
    const below = await treeQueries.lockSubfolders(db, actor, level)
    areWritable &&= below.every(({ isWritable }) => isWritable)
    level = below.map(({ id }) => id)
  }
  return { levels, areWritable }
}

/** It says that there is a folder that the actor may not see, but not which: deleting it would be worse. */
export const hasClosedFolder = () =>
  forbidden('The folder contains a restricted folder that you may not change. Ask an owner of the org.')

const sameGuards = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join()

/**
 * Checks a folder move for cycles and depth, and updates the project of the folder's contents. The caller holds the
 * lock of lockMoves, so the ancestors that are read here do not change. Returns whether the move changes who may see the
 * contents: the caller calls inheritGuards then. Throws FORBIDDEN when it changes that of a folder that the actor may not
 * change.
 */
export const prepareFolderMove = async (
  db: Transaction,
  actor: Actor,
  folder: queries.FileRow,
  to: ResolvedPlace,
): Promise<boolean> => {
  const ancestors = to.parentId === null ? [] : await treeQueries.listAncestors(db, actor, to.parentId)
  if (ancestors.some(({ id }) => id === folder.id)) throw badRequest('A folder cannot be moved into itself.')
  // Inserts into the folder wait for this lock and see its new project; earlier ones are included in the update below.
  await treeQueries.lockForDeletion(db, actor, folder.id)
  const { levels, areWritable } = await lockFolders(db, actor, folder.id)
  if (ancestors.length + levels.length > maxDepth) throw tooDeep()
  const isSame = sameGuards(guardsAbove(folder), to.guards ?? [])
  if (!isSame && !areWritable) throw hasClosedFolder()
  if (to.projectId !== folder.projectId) {
    await treeQueries.setProjectOfChildren(db, actor, levels.flat(), to.projectId)
  }
  return !isSame
}

export interface DeletedTree {
  deleted: queries.Amount
  pending: queries.Amount
  levels: number
}

/**
 * Deletes a folder, which the caller has locked, with its contents, into the trash when `trashId` is set. The folders are
 * locked from the top first, so that nothing can be put into them; then one statement deletes their contents, pending files
 * at once. Returns the number of deleted files with their size, those of them that were pending, and the depth of the tree.
 * The caller subtracts them from the counts. Throws FORBIDDEN when a folder in it is one that the actor may not change.
 */
export const deleteTree = async (
  db: Transaction,
  actor: Actor,
  folderId: string,
  trashId: string | null,
): Promise<DeletedTree> => {
  const { levels, areWritable } = await lockFolders(db, actor, folderId)
  if (!areWritable) throw hasClosedFolder()
  const folders = levels.flat()
  const inside = await treeQueries.softDeleteChildren(db, actor, folders, trashId)
  await queries.softDeleteFile(db, actor.orgId, folderId, trashId)
  await treeQueries.deleteCounts(db, actor, folders)
  return {
    deleted: { files: (inside?.files ?? 0) + 1, bytes: Number(inside?.bytes ?? 0) },
    pending: { files: inside?.pendingFiles ?? 0, bytes: Number(inside?.pendingBytes ?? 0) },
    levels: levels.length,
  }
}

const isTooDeep = async (db: Transaction, actor: Actor, folderId: string, levels: number): Promise<boolean> =>
  levels > 0 && (await treeQueries.listAncestors(db, actor, folderId)).length + levels > maxDepth

/**
 * The place to which a file from the trash returns: its old folder, locked like that of a new file, or the root when that
 * is gone or a folder of `levels` levels would be nested too deep in it. The guards are those of the file itself. Throws
 * CONFLICT when everybody could see it in the root although its folder was restricted, except for owners.
 */
export const resolveRestored = async (
  db: Transaction,
  actor: Actor,
  trashed: Pick<queries.FileRow, 'id' | 'parentId' | 'guards'>,
  levels: number,
): Promise<ResolvedPlace> => {
  const folder = trashed.parentId === null ? undefined : await queries.lockFolderForInsert(db, actor, trashed.parentId)
  // The folder was restricted since the file was found.
  if (folder && !folder.isReadable) throw notFound('File')
  if (folder && !folder.isWritable) throw readOnly()
  const place = folder && !(await isTooDeep(db, actor, folder.id, levels)) ? placeIn(folder) : root
  if (place === root && guardsAbove(trashed).length > 0 && actor.role !== 'owner') {
    throw conflict('The restricted folder that contained it is gone. An owner of the org can restore it.')
  }
  return { ...place, guards: guardsOf(trashed, place.guards) }
}
