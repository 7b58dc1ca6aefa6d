import type { Actor } from '../../identity/actor.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { recordCreated } from '../events.ts'
import { countChildren } from '../queries.ts'
import { checkName, nameKeyOf } from '../tree/names.ts'
import { checkLevels, resolvePlace } from '../tree/tree.ts'
import type { ResolvedPlace } from '../tree/tree.ts'
import * as queries from './queries.ts'
import type { CopiedRow, CopyRow, NewCopy } from './queries.ts'

/** Files, folders and links that one request copies, in one transaction. */
export const maxCopied = 10_000

export interface Copy {
  sourceId: string
  /** The ETag of the source; undefined: of any version. */
  ifMatch?: string | undefined
  parentId: string | null
  name: string
  /** A folder without its contents when false. */
  isDeep: boolean
  /** Called in the transaction with the ids of the copies by those of the originals. */
  onCopied?: (db: Transaction, copies: ReadonlyMap<string, string>) => Promise<void>
}

/** Throws FORBIDDEN when what has these guards would be open to people who may not see what is copied to it. */
export const requireSameAudience = (tree: readonly CopiedRow[], guards: readonly string[] | null): void => {
  const known = new Set(guards ?? [])
  const isOpener = ({ guards, targetGuards }: CopiedRow): boolean =>
    [...(guards ?? []), ...(targetGuards ?? [])].some((guard) => !known.has(guard))
  if (!tree.some(isOpener)) return
  throw forbidden(
    'The copy would be open to people who may not see the original. Copy it within its restricted folder.',
  )
}

/** The tree to copy, whose bytes cannot be deleted before the transaction ends. */
const readTree = async (db: Transaction, actor: Actor, { sourceId, isDeep }: Copy): Promise<CopiedRow[]> => {
  const tree = await queries.listTree(db, actor, sourceId, isDeep ? maxCopied + 1 : 1)
  if (tree.length === 0) throw notFound('File')
  if (tree.length > maxCopied) throw badRequest(`A copy must have at most ${maxCopied} files and folders.`)
  const blobIds = [...new Set(tree.flatMap(({ blobId }) => blobId ?? []))]
  const kept = await queries.keepBlobs(db, actor.orgId, blobIds)
  if (kept.length < blobIds.length) throw conflict('A file was deleted while it was copied. Try again.')
  return tree
}

const copiesOf = (actor: Actor, tree: readonly CopiedRow[], { name }: Copy, { parentId }: ResolvedPlace): NewCopy[] => {
  const newIds = new Map(tree.map(({ id }) => [id, newId()]))
  return tree.map(({ level, revision: _revision, guards: _guards, targetGuards: _targetGuards, ...row }) => {
    const copyName = level === 0 ? name : row.name
    return {
      ...row,
      originalId: row.id,
      id: newIds.get(row.id) as string,
      source: row.source === 'folder' ? 'folder' : 'upload',
      parentId: level === 0 ? parentId : (newIds.get(row.parentId ?? '') as string),
      name: copyName,
      nameKey: nameKeyOf(copyName),
      // Agents read names, so a copy does not make the name of another person one's own.
      namedBy: copyName === row.name ? row.namedBy : actor.userId,
    }
  })
}

/**
 * Copies a file, or a folder with its contents, into a folder. The copies share the stored bytes, have the tags, and no
 * versions and shares. A link becomes a file with the bytes of its target. Throws NOT_FOUND, BAD_REQUEST for too many files
 * or too deep folders, FORBIDDEN when the place is less restricted than what is copied, CONFLICT when a file is deleted at the same time, and like an upload when a quota is used up.
 */
export const copyFile = async (db: Transaction, quotas: Quotas, actor: Actor, copy: Copy): Promise<CopyRow> => {
  checkName(copy.name)
  const place = await resolvePlace(db, actor, { parentId: copy.parentId })
  const tree = await readTree(db, actor, copy)
  requireMatch(copy.ifMatch, tree[0] as CopiedRow)
  requireSameAudience(tree, place.guards)
  const folders = tree.filter(({ source }) => source === 'folder')
  if (folders.length > 0)
    await checkLevels(db, actor, place.parentId, Math.max(...folders.map(({ level }) => level)) + 1)
  const bytes = tree.reduce((sum, { size }) => sum + size, 0)
  await quotas.checkInsert(db, actor.orgId, { files: tree.length, storedBytes: bytes })
  const copies = copiesOf(actor, tree, copy, place)
  const rows = await queries.insertCopies(db, actor, copies, place)
  await countChildren(db, actor.orgId, place.parentId, 1)
  const children = new Map<string, number>()
  for (const { parentId } of copies.slice(1))
    children.set(parentId as string, (children.get(parentId as string) ?? 0) + 1)
  await queries.countCopies(db, actor.orgId, children, { files: copies.length, bytes })
  await recordCreated(db, actor, rows)
  await copy.onCopied?.(db, new Map(tree.map(({ id }, index) => [id, copies[index]?.id ?? ''])))
  const made = rows.find(({ id }) => id === copies[0]?.id)
  if (!made) throw new Error('the statement returned no copy')
  return made
}

/** A file, with its own bytes or those of the target of a link. Throws NOT_FOUND. */
export const readCopied = async (db: Transaction, actor: Actor, sourceId: string): Promise<CopiedRow> => {
  const [source] = await queries.listTree(db, actor, sourceId, 1)
  if (!source) throw notFound('File')
  return source
}
