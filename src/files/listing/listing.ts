import type { Actor } from '../../identity/actor.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { inSearchQueue } from '../../platform/http/limits/search-queue.ts'
import type { Db } from '../../platform/database/database.ts'
import * as queries from './queries.ts'
import { orderOf } from './order-queries.ts'
import { filterOf } from './filters.ts'
import type { ListOrder, ListPosition, SortField } from './order-queries.ts'
import { searchPatternOf } from '../tree/names.ts'
import type { FileRow } from '../queries.ts'
import type { FileListQuery } from '../schemas.ts'
import { resolveListed } from '../tree/tree.ts'

/** `path`, in search results: the names of the folders that contain the file, outermost first. */
export type ListedFile = FileRow & { favorite: boolean; path?: string[] }

export interface FilePage {
  items: ListedFile[]
  page: number
  limit: number
  total: number
  hasMore: boolean
  nextCursor: string | null
}

// The trigram index finds runs of three letters or digits.
const hasTrigram = /[\p{L}\p{N}]{3}/u

// Reading this many names takes about 10 ms. Among a million names, the index finds ten in the same time and 20,000 in
// 100 ms; beyond that, reading all names is faster.
const maxIndexMatches = 20_000

/** Names of up to 100 folders of 255 characters in each of 100 items would be 10 MB. */
const maxPathNames = 20

type Sorting = Required<Pick<FileListQuery, 'sort' | 'order'>>

const segmentOf = (row: queries.ListedFileRow, field: SortField): number => {
  if (row.source === 'folder') return 0
  return field === 'mimeType' && row.mimeType === null ? 2 : 1
}

const positionOf = (row: queries.ListedFileRow, { sort }: Sorting): string => {
  const segment = segmentOf(row, sort)
  if (sort === 'name') return encodeCursor([segment, row.nameKey, row.id])
  const value = { size: row.size, mimeType: row.mimeType ?? '', updatedAt: row.updatedExactly }[sort]
  return encodeCursor([segment, value, row.nameKey, row.id])
}

const decodePosition = (cursor: string, field: SortField): ListPosition => {
  if (field === 'name') {
    const [segment, nameKey, id] = decodeCursor(cursor, ['number', 'string', 'uuid'])
    return { segment, value: null, nameKey, id }
  }
  const kind = ({ size: 'number', mimeType: 'string', updatedAt: 'timestamp' } as const)[field]
  const [segment, value, nameKey, id] = decodeCursor(cursor, ['number', kind, 'string', 'uuid'])
  return { segment, value, nameKey, id }
}

const windowOf = ({ limit, page, cursor }: FileListQuery, { sort }: Sorting): queries.Window => {
  if (cursor === undefined) return { limit: limit + 1, after: undefined, offset: (page - 1) * limit }
  const after = decodePosition(cursor, sort)
  const last = sort === 'mimeType' ? 2 : 1
  return { limit: limit + 1, after: { ...after, segment: Math.max(0, Math.min(last, after.segment)) }, offset: 0 }
}

const listFolder = async (
  db: Db,
  actor: Actor,
  { order, ...folder }: { containerId: string; closed: string[]; order: ListOrder },
  { limit, after, offset }: queries.Window,
): Promise<queries.ListedFileRow[]> => {
  const rows: queries.ListedFileRow[] = []
  const first = order.length === 1 ? 0 : (after?.segment ?? 0)
  let skipped = offset
  for (const [at, segment] of order.entries()) {
    if (at < first || rows.length === limit) continue
    const wanted = { ...folder, segment }
    const window = { limit: limit - rows.length, after: at === first ? after : undefined, offset: skipped }
    const found = await queries.listSegment(db, actor, wanted, window)
    rows.push(...found)
    if (found.length > 0) skipped = 0
    else if (skipped > 0 && at < order.length - 1) skipped -= await queries.countSegment(db, actor, wanted)
    // The segment has grown between the two statements.
    skipped = Math.max(0, skipped)
  }
  return rows
}

/** The rows with the names of the folders that contain them. */
export const withPaths = async <Row extends FileRow>(
  db: Db,
  actor: Actor,
  rows: readonly Row[],
): Promise<(Row & { path: string[] })[]> => {
  const folderIds = [...new Set(rows.flatMap(({ parentId }) => parentId ?? []))]
  const found = folderIds.length === 0 ? [] : await queries.listPaths(db, actor, folderIds, maxPathNames)
  const paths = new Map(found.map(({ folderId, names }) => [folderId, names]))
  return rows.map((row) => ({ ...row, path: paths.get(row.parentId ?? '') ?? [] }))
}

/** Whether an index has what matches: for names, or for one of the filters. */
const hasIndex = ({ text, filter, recursive }: queries.Search & { text: string | undefined }): boolean => {
  if (text !== undefined) return hasTrigram.test(text)
  return filter?.isFavorite === true || filter?.tag !== undefined || filter?.createdBy !== undefined || !recursive
}

const search = async (
  db: Db,
  actor: Actor,
  wanted: queries.Search & { text: string | undefined; children: number },
  window: queries.Window,
): Promise<{ rows: queries.ListedFileRow[]; total: number }> => {
  if (hasIndex(wanted) && (wanted.recursive || wanted.children > maxIndexMatches)) {
    const found = await queries.findByIndex(db, actor, wanted, { ...window, maxMatches: maxIndexMatches })
    if (found) return found
  }
  const total = await queries.countMatching(db, actor, wanted)
  return { rows: window.offset < total ? await queries.listMatching(db, actor, wanted, window) : [], total }
}

/**
 * A page of a folder or of search results. Folders first, then by the field and in the order of the query, by default by
 * name (case-insensitive).
 */
export const listFiles = async (db: Db, actor: Actor, query: FileListQuery): Promise<FilePage> => {
  const { page, limit, sort = 'name', order: direction = 'asc' } = query
  const sorting = { sort, order: direction }
  const order = orderOf(sort, direction)
  const window = windowOf(query, sorting)
  const place = await resolveListed(db, actor, query)
  const containerId = place.parentId ?? actor.orgId
  const { children, closed, isFiltered } = await queries.countListed(db, actor, containerId)
  let rows: queries.ListedFileRow[] = []
  let total = children
  const text = query.search || undefined
  const filter = filterOf(query)
  if (text !== undefined || filter !== undefined) {
    const { recursive } = query
    const pattern = text === undefined ? undefined : searchPatternOf(text)
    const wanted = { text, pattern, filter, containerId, recursive, children, order, isFiltered }
    ;({ rows, total } = await inSearchQueue(actor, () => search(db, actor, wanted, window)))
  } else if (window.offset < children) {
    rows = await listFolder(db, actor, { containerId, closed, order }, window)
  }
  const hasMore = rows.length > limit
  const listed = rows.slice(0, limit)
  const last = listed.at(-1)
  const items = text === undefined && filter === undefined ? listed : await withPaths(db, actor, listed)
  return { items, page, limit, total, hasMore, nextCursor: hasMore && last ? positionOf(last, sorting) : null }
}
