import type { Actor } from '../../identity/actor.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { findProject } from '../projects/queries.ts'
import * as queries from '../queries.ts'
import * as treeQueries from './queries.ts'

/** Where something is to go, as the caller says it. */
export interface Place {
  parentId?: string | null | undefined
  projectId?: string | null | undefined
}

/** The folder and the project that a file ends up in; null is the org's root, or no project. */
export interface ResolvedPlace {
  parentId: string | null
  projectId: string | null
}

const maxDepth = 100

// One answer for whatever is wrong with a parent, so that it tells nothing about other orgs.
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
 * The folder that something is to be put into, held until the transaction ends so that it is not deleted meanwhile.
 * What lies in a project's folder belongs to the project. Throws BAD_REQUEST for whatever is wrong with `parentId`,
 * NOT_FOUND for an unknown project.
 */
export const resolvePlace = (db: Transaction, actor: Actor, place: Place): Promise<ResolvedPlace> =>
  resolveWith(queries.holdFolder, db, actor, place)

/** The folder that is to be listed. Throws like resolvePlace. */
export const resolveListed = (db: Db, actor: Actor, place: Place): Promise<ResolvedPlace> =>
  resolveWith(queries.findFolder, db, actor, place)

const tooDeep = () => badRequest(`Folders may be nested ${maxDepth} deep.`)

/** Throws BAD_REQUEST when a new folder in this one would be nested too deep. */
export const checkDepth = async (db: Transaction, actor: Actor, parentId: string | null): Promise<void> => {
  if (parentId === null) return
  if ((await treeQueries.listAncestors(db, actor, parentId)).length >= maxDepth) throw tooDeep()
}

/**
 * Locks the folders of a tree whose top is locked, from there down, so that nothing can come in; answers their ids, level
 * by level.
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
 * What must hold before a folder may move, and what must change inside it. No other folder of the org moves meanwhile,
 * so the ancestors that are read here stay what they are.
 */
export const prepareFolderMove = async (
  db: Transaction,
  actor: Actor,
  folder: queries.FileRow,
  to: ResolvedPlace,
): Promise<void> => {
  const ancestors = to.parentId === null ? [] : await treeQueries.listAncestors(db, actor, to.parentId)
  if (ancestors.some(({ id }) => id === folder.id)) throw badRequest('A folder cannot be moved into itself.')
  // Whoever puts something into it from now on sees its new place, and whoever has done so is in what is counted and
  // changed here.
  await treeQueries.lockWhole(db, actor, folder.id)
  const levels = await lockFolders(db, actor, folder.id)
  if (ancestors.length + levels.length > maxDepth) throw tooDeep()
  if (to.projectId !== folder.projectId) {
    await treeQueries.setProjectOfChildren(db, actor, levels.flat(), to.projectId)
  }
}

/**
 * Deletes a folder, which the caller has locked, with all that is in it. First the folders are locked from the top, so
 * that nothing new can come into any of them; then one statement takes their contents. Answers how many went.
 */
export const deleteTree = async (
  db: Transaction,
  actor: Actor,
  folder: { id: string; parentId: string | null },
): Promise<number> => {
  const folders = (await lockFolders(db, actor, folder.id)).flat()
  const inside = await treeQueries.softDeleteChildren(db, actor, folders)
  const files = (inside?.files ?? 0) + 1
  await queries.softDeleteFile(db, actor.orgId, folder.id)
  await treeQueries.forgetCounts(db, actor, folders)
  await queries.countDeleted(db, actor.orgId, folder.parentId, { files, bytes: Number(inside?.bytes ?? 0) })
  return files
}
