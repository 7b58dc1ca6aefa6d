import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { inSearchQueue } from '../../platform/http/limits/search-queue.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { resolveListed } from '../tree/tree.ts'
import * as queries from './queries.ts'

/** Each folder costs two look-ups: this many take about 1 s. */
export const maxFolders = 100_000

export interface StoredBelow {
  files: number
  folders: number
  bytes: number
  versionBytes: number
}

export interface FolderUsage extends StoredBelow {
  id: string
  name: string
  restricted: boolean
}

export interface UsagePage {
  folderId: string | null
  below: StoredBelow
  direct: Omit<StoredBelow, 'folders'>
  trash: { files: number; bytes: number } | null
  isComplete: boolean
  items: FolderUsage[]
  page: number
  limit: number
  total: number
  hasMore: boolean
  nextCursor: string | null
}

export interface UsageQuery {
  parentId?: string | undefined
  limit: number
  page: number
  cursor?: string | undefined
}

const readTrash = async (quotas: Quotas, orgId: string): Promise<{ files: number; bytes: number }> => {
  const rows = await quotas.list(orgId)
  const trashed = (name: string): number => rows.find((row) => row.name === name)?.trashed ?? 0
  return { files: trashed('files'), bytes: trashed('storedBytes') }
}

const windowOf = ({ limit, page, cursor }: UsageQuery): queries.UsageWindow => {
  if (cursor === undefined) return { limit: limit + 1, offset: (page - 1) * limit, after: undefined }
  const [stored, id] = decodeCursor(cursor, ['number', 'uuid'])
  return { limit: limit + 1, offset: 0, after: { stored, id } }
}

const folderOf = (row: queries.FolderUsageRow): FolderUsage[] =>
  row.id === null
    ? []
    : [
        {
          id: row.id,
          name: row.name,
          restricted: row.isRestricted,
          files: Number(row.files),
          folders: Number(row.folders),
          bytes: Number(row.bytes),
          versionBytes: Number(row.versionBytes),
        },
      ]

/**
 * What is stored below a folder that is open to the actor, by its subfolders, those with the most bytes first. What is not
 * open to the actor is left out. Throws BAD_REQUEST when `parentId` is not a folder.
 */
export const readUsage = async (
  { db, quotas }: { db: Db; quotas: Quotas },
  actor: Actor,
  query: UsageQuery,
): Promise<UsagePage> => {
  const { page, limit } = query
  const window = windowOf(query)
  const { parentId } = await resolveListed(db, actor, query)
  const containerId = parentId ?? actor.orgId
  const [rows, own] = await inSearchQueue(actor, async () => [
    await queries.listUsage(db, actor, { containerId, maxFolders: maxFolders + 1 }, window),
    await queries.measureDirect(db, actor, containerId),
  ])
  const totals = rows[0]
  const direct = {
    files: Number(own?.files ?? 0n),
    bytes: Number(own?.bytes ?? 0n),
    versionBytes: Number(own?.versionBytes ?? 0n),
  }
  const listed = rows.flatMap(folderOf)
  const items = listed.slice(0, limit)
  const last = items.at(-1)
  const hasMore = listed.length > limit
  return {
    folderId: parentId,
    below: {
      files: direct.files + Number(totals?.totalFiles ?? 0n),
      folders: Number(totals?.totalFolders ?? 0n),
      bytes: direct.bytes + Number(totals?.totalBytes ?? 0n),
      versionBytes: direct.versionBytes + Number(totals?.totalVersionBytes ?? 0n),
    },
    direct,
    trash: parentId === null ? await readTrash(quotas, actor.orgId) : null,
    isComplete: Number(totals?.read ?? 0n) <= maxFolders,
    items,
    page,
    limit,
    total: Number(totals?.total ?? 0n),
    hasMore,
    nextCursor: hasMore && last ? encodeCursor([last.bytes + last.versionBytes, last.id]) : null,
  }
}
