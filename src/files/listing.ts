import type { Actor } from '../identity/actor.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import type { Db } from '../platform/database.ts'
import * as queries from './list-queries.ts'
import { searchPatternOf } from './names.ts'
import type { FileRow } from './queries.ts'
import type { FileListQuery } from './schemas.ts'
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

// Reading this many names from a list takes about 10 ms; a search that many files of the org match, ten times that.
const shortList = 20_000

const positionOf = (row: queries.ListedRow): string =>
  encodeCursor([row.source === 'folder' ? 0 : 1, row.nameKey, row.id])

const windowOf = ({ limit, page, cursor }: FileListQuery): queries.Window => {
  if (cursor === undefined) return { limit: limit + 1, after: undefined, offset: (page - 1) * limit }
  const [rank, nameKey, id] = decodeCursor(cursor, ['number', 'string', 'uuid'])
  return { limit: limit + 1, after: { rank: rank === 0 ? 0 : 1, nameKey, id }, offset: 0 }
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
    const { search, recursive } = query
    const indexed = hasTrigram.test(search) && (recursive || children > shortList)
    const pattern = searchPatternOf(search)
    ;({ rows, total } = await queries.searchFiles(db, actor, { pattern, indexed, containerId, recursive }, window))
  } else if (window.offset < children) {
    rows = await queries.listFolder(db, actor, containerId, window)
  }
  const hasMore = rows.length > query.limit
  const items = rows.slice(0, query.limit)
  const last = items.at(-1)
  const { page, limit } = query
  return { items, page, limit, total, hasMore, nextCursor: hasMore && last ? positionOf(last) : null }
}
