import type { Actor } from '../../identity/actor.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Db } from '../../platform/database/database.ts'
import * as queries from './list-queries.ts'
import { searchPatternOf } from './names.ts'
import type { FileRow } from '../queries.ts'
import type { FileListQuery } from '../schemas.ts'
import { resolveListed } from './tree.ts'

export interface FilePage {
  items: FileRow[]
  page: number
  limit: number
  total: number
  hasMore: boolean
  nextCursor: string | null
}

// What the trigram index can find: it knows names by runs of three letters or digits.
const hasTrigram = /[\p{L}\p{N}]{3}/u

// Reading so many names from a list takes some 10 ms. The index finds ten in as little among a million, but 20,000 in
// ten times that, and all of them in more than it takes to read them.
const few = 20_000

const positionOf = (row: queries.ListedRow): string =>
  encodeCursor([row.source === 'folder' ? 0 : 1, row.nameKey, row.id])

const windowOf = ({ limit, page, cursor }: FileListQuery): queries.Window => {
  if (cursor === undefined) return { limit: limit + 1, after: undefined, offset: (page - 1) * limit }
  const [rank, nameKey, id] = decodeCursor(cursor, ['number', 'string', 'uuid'])
  return { limit: limit + 1, after: { rank: rank === 0 ? 0 : 1, nameKey, id }, offset: 0 }
}

const search = async (
  db: Db,
  actor: Actor,
  wanted: queries.Search & { text: string; children: number },
  window: queries.Window,
): Promise<{ rows: queries.ListedRow[]; total: number }> => {
  if (hasTrigram.test(wanted.text) && (wanted.recursive || wanted.children > few)) {
    const found = await queries.findByIndex(db, actor, wanted, window, few)
    if (found) return found
  }
  const total = await queries.countMatching(db, actor, wanted)
  return { rows: window.offset < total ? await queries.listMatching(db, actor, wanted, window) : [], total }
}

/** A page of a folder, or of what a search finds in it. Folders first, then by name without case, then by id. */
export const listFiles = async (db: Db, actor: Actor, query: FileListQuery): Promise<FilePage> => {
  const window = windowOf(query)
  const place = await resolveListed(db, actor, query)
  const containerId = place.parentId ?? actor.orgId
  const children = await queries.countListed(db, actor, containerId)
  let rows: queries.ListedRow[] = []
  let total = children
  if (query.search) {
    const { search: text, recursive } = query
    const wanted = { text, pattern: searchPatternOf(text), containerId, recursive, children }
    ;({ rows, total } = await search(db, actor, wanted, window))
  } else if (window.offset < children) {
    rows = await queries.listFolder(db, actor, containerId, window)
  }
  const hasMore = rows.length > query.limit
  const items = rows.slice(0, query.limit)
  const last = items.at(-1)
  const { page, limit } = query
  return { items, page, limit, total, hasMore, nextCursor: hasMore && last ? positionOf(last) : null }
}
