import type { Actor } from '../../identity/actor.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { conflict } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { nameKeyOf } from '../tree/names.ts'
import * as queries from './queries.ts'
import type { EntryRow, ListedEntry, LookedUp } from './queries.ts'

/**
 * Protocols that address files by paths need a unique name for each file of a folder. Names here are not unique, and may
 * be `..` or contain a slash. So a file has its own name as its path name, if that is possible in a path and no earlier
 * file of the folder has it; else a name with its id: `report [019aa3f0-…].pdf`.
 */

const looked = (name: string): LookedUp => ({ key: nameKeyOf(name), name: name.normalize('NFC') })

const withId = /^.*\[([\da-f-]{36})\](?:\.[^.]*)?$/s

const idIn = (name: string): string | undefined => {
  const id = withId.exec(name)?.[1]
  return id !== undefined && isUuid(id) ? id : undefined
}

/** Whether a path can contain the name as one segment. */
export const isPathName = (name: string): boolean => name !== '.' && name !== '..' && !/[/\p{Cc}]/u.test(name)

const nameWithId = ({ id, name }: Pick<EntryRow, 'id' | 'name'>): string => {
  const safe = name.replaceAll(/[/\p{Cc}]/gu, '_')
  const dot = safe.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [safe.slice(0, dot), safe.slice(dot)] : [safe, '']
  return `${stem} [${id}]${extension}`
}

/** The files along a path, as far as they exist: the root folder is not among them. */
export const findPath = async (db: Db, actor: Actor, names: readonly string[]): Promise<EntryRow[]> => {
  const found: EntryRow[] = []
  const containerId = (): string => found.at(-1)?.id ?? actor.orgId
  while (found.length < names.length) {
    found.push(...(await queries.walk(db, actor, containerId(), names.slice(found.length).map(looked))))
    const id = idIn(names[found.length] ?? '')
    const named = id === undefined ? undefined : await queries.findInFolder(db, actor, containerId(), id)
    if (named?.isReadable !== true) break
    found.push(named)
  }
  return found
}

/** A file of a folder with its path name. */
export interface PathEntry extends EntryRow {
  pathName: string
}

const pageSize = 500
/** The names of equal keys (`A` and `a`) that are remembered; beyond that, every name gets its id. */
const maxRemembered = 1_000

/** Gives files in order their path names. Files with the same name have the same key, so they follow each other. */
const createNaming = () => {
  let key = ''
  let seen = new Set<string>()
  return (entry: ListedEntry, folderNames: ReadonlySet<string>): PathEntry => {
    if (entry.nameKey !== key) {
      key = entry.nameKey
      seen = new Set()
    }
    const name = entry.name.normalize('NFC')
    const isFirst = !seen.has(name) && seen.size < maxRemembered && !folderNames.has(name)
    if (seen.size < maxRemembered) seen.add(name)
    return { ...entry, pathName: isFirst && isPathName(entry.name) ? entry.name : nameWithId(entry) }
  }
}

/** The contents of a folder (the org's id for the root) in pages: folders first, then files and links that have bytes. */
export const listPathEntries = async function* (
  db: Db,
  actor: Actor,
  containerId: string,
): AsyncGenerator<PathEntry[], void, undefined> {
  for (const rank of [0, 1]) {
    const nameOf = createNaming()
    let after: { nameKey: string; id: string } | undefined
    for (;;) {
      const rows = await queries.listEntries(db, actor, containerId, { rank, after, limit: pageSize })
      const names = rank === 0 ? [] : rows.map(({ name }) => looked(name))
      const taken = names.length === 0 ? [] : await queries.listFolderNames(db, actor, containerId, names)
      const folderNames = new Set(taken.map(({ name }) => name))
      const readable = rows.filter(({ isReadable }) => isReadable)
      if (readable.length > 0) yield readable.map((row) => nameOf(row, folderNames))
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) break
      after = { nameKey: last.nameKey, id: last.id }
    }
  }
}

/** Those of these files that lie in a folder, at any depth. */
export const filesInside = async (db: Db, actor: Actor, folderId: string, ids: readonly string[]): Promise<string[]> =>
  ids.length === 0 ? [] : (await queries.listInside(db, actor, folderId, ids)).map(({ id }) => id)

/**
 * Locks a name in a folder until the transaction ends. Throws CONFLICT when another file than the expected one has it by
 * now.
 */
export const claimName = async (
  db: Transaction,
  actor: Actor,
  { parentId, name }: { parentId: string | null; name: string },
  expectedId: string | undefined,
): Promise<void> => {
  const containerId = parentId ?? actor.orgId
  await queries.lockName(db, actor, containerId, nameKeyOf(name))
  const [found] = await queries.walk(db, actor, containerId, [looked(name)])
  const current = found?.id
  // An address with an id names its file, whatever else has its name.
  if (current === expectedId || (expectedId !== undefined && idIn(name) === expectedId)) return
  throw conflict('Another request created or moved a file with this name at the same time. Try again.')
}
