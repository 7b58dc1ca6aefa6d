import type { Actor } from '../../identity/actor.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
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
}

const maxDepth = 100

// The same message for every wrong parent, so that it reveals nothing about other orgs.
const badParent = () => badRequest('parentId must be the id of a folder of this organisation')

type FindFolder = (db: Db, actor: Actor, id: string) => Promise<queries.FolderRow | undefined>

const resolveWith = async (find: FindFolder, db: Db, actor: Actor, place: Place): Promise<ResolvedPlace> => {
  const { parentId, projectId } = place
  if (projectId != null) {
    const project = await findProject(db, actor, projectId)
    if (!project) throw notFound('Project')
    const folder = await find(db, actor, parentId ?? project.folderId)
    if (!folder && parentId == null) throw notFound('Project')
    if (!folder) throw badParent()
    if (folder.projectId !== project.id) throw badRequest("parentId must lie in the project's folder")
    return { parentId: folder.id, projectId: project.id }
  }
  if (parentId == null) return { parentId: null, projectId: null }
  const folder = await find(db, actor, parentId)
  if (!folder) throw badParent()
  return { parentId: folder.id, projectId: folder.projectId }
}

/**
 * The folder for a new or moved file, locked until the transaction ends so that it is not deleted in the meantime.
 * Files in a project's folder belong to the project. Throws BAD_REQUEST when `parentId` is not a suitable folder,
 * NOT_FOUND for an unknown project.
 */
export const resolvePlace = (db: Transaction, actor: Actor, place: Place): Promise<ResolvedPlace> =>
  resolveWith(queries.lockFolderForInsert, db, actor, place)

/** The folder to list, without a lock. Throws like resolvePlace. */
export const resolveListed = (db: Db, actor: Actor, place: Place): Promise<ResolvedPlace> =>
  resolveWith(queries.findFolder, db, actor, place)

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

/**
 * Locks the folders below a locked folder from the top down, so that nothing can be put into them. Returns the ids of
 * all folders, level by level.
 */
const lockFolders = async (db: Transaction, actor: Actor, folderId: string): Promise<string[][]> => {
  const levels: string[][] = []
  let level = [folderId]
  while (level.length > 0) {
    levels.push(level)
    level = (await treeQueries.lockSubfolders(db, actor, level)).map(({ id }) => id)
  }
  return levels
}

/**
 * Checks a folder move for cycles and depth, and updates the project of the folder's contents. The caller holds the
 * lock of lockMoves, so the ancestors that are read here do not change.
 */
export const prepareFolderMove = async (
  db: Transaction,
  actor: Actor,
  folder: queries.FileRow,
  to: ResolvedPlace,
): Promise<void> => {
  const ancestors = to.parentId === null ? [] : await treeQueries.listAncestors(db, actor, to.parentId)
  if (ancestors.some(({ id }) => id === folder.id)) throw badRequest('A folder cannot be moved into itself.')
  // Inserts into the folder wait for this lock and see its new project; earlier ones are included in the update below.
  await treeQueries.lockForDeletion(db, actor, folder.id)
  const levels = await lockFolders(db, actor, folder.id)
  if (ancestors.length + levels.length > maxDepth) throw tooDeep()
  if (to.projectId !== folder.projectId) {
    await treeQueries.setProjectOfChildren(db, actor, levels.flat(), to.projectId)
  }
}

/**
 * Deletes a folder, which the caller has locked, with its contents, into the trash when `trashId` is set. The folders are
 * locked from the top first, so that nothing can be put into them; then one statement deletes their contents. Returns the
 * number of deleted files with their size, and the depth of the tree. The caller subtracts them from the counts.
 */
export const deleteTree = async (
  db: Transaction,
  actor: Actor,
  folderId: string,
  trashId: string | null,
): Promise<{ files: number; bytes: number; levels: number }> => {
  const levels = await lockFolders(db, actor, folderId)
  const folders = levels.flat()
  const inside = await treeQueries.softDeleteChildren(db, actor, folders, trashId)
  await queries.softDeleteFile(db, actor.orgId, folderId, trashId)
  await treeQueries.deleteCounts(db, actor, folders)
  return { files: (inside?.files ?? 0) + 1, bytes: Number(inside?.bytes ?? 0), levels: levels.length }
}

/**
 * The place to which a file from the trash returns: its old folder, locked like that of a new file, or the root when that
 * is gone or a folder of `levels` levels would be nested too deep in it.
 */
export const resolveRestored = async (
  db: Transaction,
  actor: Actor,
  parentId: string | null,
  levels: number,
): Promise<ResolvedPlace> => {
  const root = { parentId: null, projectId: null }
  const folder = parentId === null ? undefined : await queries.lockFolderForInsert(db, actor, parentId)
  if (!folder) return root
  if (levels > 0 && (await treeQueries.listAncestors(db, actor, folder.id)).length + levels > maxDepth) return root
  return { parentId: folder.id, projectId: folder.projectId }
}
