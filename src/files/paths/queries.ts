import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import { fileColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'

/** A file, folder or link in a path or a folder. The type, size and hash of a link are those of its target. */
export interface EntryRow extends FileRow {
  /** When the bytes were stored; for a folder, when it was changed. */
  contentAt: string
  /** False for a link whose target is deleted or pending, and for a pending file. */
  isReadable: boolean
}

const entryColumns = sql`${fileColumns}, t.mime_type as target_mime_type, t.size_bytes as target_size,
  encode(t.sha256, 'hex') as target_hash,
  coalesce(t.content_at, t.created_at, f.content_at, case f.source when 'folder' then f.updated_at end, f.created_at)
    as content_at,
  f.status = 'ready' and (f.target_id is null or (t.id is not null and t.status = 'ready')) as is_readable`

type StoredEntry = EntryRow & { targetMimeType: string | null; targetSize: number | null; targetHash: string | null }

const entryOf = ({ targetMimeType, targetSize, targetHash, ...row }: StoredEntry): EntryRow =>
  row.source === 'link' ? { ...row, mimeType: targetMimeType, size: targetSize ?? 0, contentHash: targetHash } : row

const withTarget = (orgId: string): Sql => sql`
  left join files t on t.org_id = ${orgId} and t.id = f.target_id and t.deleted_at is null`

/** A name as it is looked up: its key, and the name in NFC, so that names of macOS, which are in NFD, are the same. */
export interface LookedUp {
  key: string
  name: string
}

/**
 * Walks down from a folder (the org's id for the root) along names. Of several files with the same name, it finds a folder
 * first, then the oldest; a link to a deleted file is as good as missing. Returns the rows of the path as far as it exists.
 */
export const walk = async (
  db: Db,
  { orgId }: Pick<Actor, 'orgId'>,
  containerId: string,
  names: readonly LookedUp[],
): Promise<EntryRow[]> => {
  const keys = names.map(({ key }) => key)
  const wanted = names.map(({ name }) => name)
  const rows = await db.rows<StoredEntry & { level: number }>(sql`
    with recursive walk (level, id) as (
      select 0, ${containerId}::uuid
      union all
      select walk.level + 1, found.id
      from walk cross join lateral (
        select f.id from files f
        where f.org_id = ${orgId} and f.container_id = walk.id and f.deleted_at is null and f.status = 'ready'
          and f.listing_rank = any('{0,1}') and f.name_key = (${keys}::text[])[walk.level + 1]
          and normalize(f.name, nfc) = (${wanted}::text[])[walk.level + 1]
          and (f.target_id is null or exists (
            select from files t
            where t.org_id = ${orgId} and t.id = f.target_id and t.deleted_at is null and t.status = 'ready'))
        order by f.listing_rank, f.id limit 1
      ) found
      where walk.level < ${names.length}::int
    )
    select walk.level, ${entryColumns}
    from walk join files f on f.org_id = ${orgId} and f.id = walk.id ${withTarget(orgId)}
    where walk.level > 0 order by walk.level`)
  return rows.map(entryOf)
}

/** A live file in a folder by its id. */
export const findInFolder = async (
  db: Db,
  { orgId }: Pick<Actor, 'orgId'>,
  containerId: string,
  id: string,
): Promise<EntryRow | undefined> => {
  const row = await db.row<StoredEntry>(sql`
    select ${entryColumns} from files f ${withTarget(orgId)}
    where f.org_id = ${orgId} and f.id = ${id} and f.container_id = ${containerId} and f.deleted_at is null
      and f.status = 'ready'`)
  return row && entryOf(row)
}

export type ListedEntry = EntryRow & { nameKey: string }

/** Folders have the rank 0, files and links 1. */
export interface EntryPosition {
  rank: number
  after: { nameKey: string; id: string } | undefined
}

/** The next files of a rank in a folder, by name. */
export const listEntries = async (
  db: Db,
  { orgId }: Pick<Actor, 'orgId'>,
  containerId: string,
  { rank, after, limit }: EntryPosition & { limit: number },
): Promise<ListedEntry[]> => {
  const from = after === undefined ? empty : sql`and (f.name_key, f.id) > (${after.nameKey}, ${after.id}::uuid)`
  const rows = await db.rows<StoredEntry & { nameKey: string }>(sql`
    select ${entryColumns}, f.name_key
    from (
      select f.id from files f
      where f.org_id = ${orgId} and f.container_id = ${containerId} and f.deleted_at is null
        and f.listing_rank = ${rank}::smallint ${from}
      order by f.name_key, f.id limit ${limit}
    ) page
      join files f on f.org_id = ${orgId} and f.id = page.id ${withTarget(orgId)}
    order by f.name_key, f.id`)
  return rows.map((row) => ({ ...entryOf(row), nameKey: row.nameKey }))
}

/** Those of these names that a subfolder of the folder has. */
export const listFolderNames = (
  db: Db,
  { orgId }: Pick<Actor, 'orgId'>,
  containerId: string,
  names: readonly LookedUp[],
) =>
  db.rows<{ name: string }>(sql`
    select distinct normalize(f.name, nfc) as name from files f
    where f.org_id = ${orgId} and f.container_id = ${containerId} and f.deleted_at is null and f.listing_rank = 0
      and f.name_key = any(${names.map(({ key }) => key)}::text[])
      and normalize(f.name, nfc) = any(${names.map(({ name }) => name)}::text[])`)

/** Serialises the creation of a name in a folder, so that two requests do not create two files with it. */
export const lockName = (db: Transaction, { orgId }: Pick<Actor, 'orgId'>, containerId: string, key: string) =>
  db.execute(sql`
    select pg_advisory_xact_lock(hashtextextended('name in folder ' || ${orgId} || ${containerId} || ${key}, 0))`)

/** Those of these files that lie in a folder, at any depth. */
export const listInside = (db: Db, { orgId }: Pick<Actor, 'orgId'>, folderId: string, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    with recursive up (start, id) as (
      select id, container_id from files
      where org_id = ${orgId} and id = any(${ids}::uuid[]) and deleted_at is null
      union all
      select up.start, f.container_id from up join files f on f.org_id = ${orgId} and f.id = up.id
      where up.id <> ${folderId}::uuid
    )
    select start as id from up where id = ${folderId}::uuid`)
