import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import { mayRead, mayWrite } from '../access/condition-queries.ts'
import { readColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'
import { sizeOf } from '../size-queries.ts'

/** A file, folder or link in a path or a folder. The type, size and hash of a link are those of its target. */
export interface EntryRow extends FileRow {
  /** When the bytes were stored; for a folder, when it was changed. */
  contentAt: string
  /** False for a link whose target is deleted, pending or not open to the reader, and for a pending file. */
  isReadable: boolean
  /** False when the reader may only read it. */
  isWritable: boolean
}

const entryColumns = (
  actor: Actor,
): Sql => sql`${readColumns(actor)}, t.mime_type as target_mime_type, ${sizeOf(sql`t`)} as target_size,
  encode(t.sha256, 'hex') as target_hash,
  coalesce(t.content_at, t.created_at, f.content_at, case f.source when 'folder' then f.updated_at end, f.created_at)
    as content_at,
  f.status = 'ready' and (f.target_id is null or (t.id is not null and t.status = 'ready')) as is_readable,
  ${mayWrite(actor)} as is_writable`

type StoredEntry = EntryRow & { targetMimeType: string | null; targetSize: number | null; targetHash: string | null }

const entryOf = ({ targetMimeType, targetSize, targetHash, ...row }: StoredEntry): EntryRow =>
  row.source === 'link' ? { ...row, mimeType: targetMimeType, size: targetSize ?? 0, contentHash: targetHash } : row

const withTarget = (actor: Actor): Sql => sql`
  left join files t on t.org_id = ${actor.orgId} and t.id = f.target_id and t.deleted_at is null
    and ${mayRead(actor, sql`t.guards`)}`

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
  actor: Actor,
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
        where f.org_id = ${actor.orgId} and f.container_id = walk.id and f.deleted_at is null and f.status = 'ready'
          and ${mayRead(actor)}
          and f.listing_rank = any('{0,1}') and f.name_key = (${keys}::text[])[walk.level + 1]
          and normalize(f.name, nfc) = (${wanted}::text[])[walk.level + 1]
          and (f.target_id is null or exists (
            select from files t
            where t.org_id = ${actor.orgId} and t.id = f.target_id and t.deleted_at is null and t.status = 'ready'
              and ${mayRead(actor, sql`t.guards`)}))
        order by f.listing_rank, f.id limit 1
      ) found
      where walk.level < ${names.length}::int
    )
    select walk.level, ${entryColumns(actor)}
    from walk join files f on f.org_id = ${actor.orgId} and f.id = walk.id ${withTarget(actor)}
    where walk.level > 0 order by walk.level`)
  return rows.map(entryOf)
}

/** A live file in a folder by its id. */
export const findInFolder = async (
  db: Db,
  actor: Actor,
  containerId: string,
  id: string,
): Promise<EntryRow | undefined> => {
  const row = await db.row<StoredEntry>(sql`
    select ${entryColumns(actor)} from files f ${withTarget(actor)}
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.container_id = ${containerId} and f.deleted_at is null
      and f.status = 'ready' and ${mayRead(actor)}`)
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
  actor: Actor,
  containerId: string,
  { rank, after, limit }: EntryPosition & { limit: number },
): Promise<ListedEntry[]> => {
  const from = after === undefined ? empty : sql`and (f.name_key, f.id) > (${after.nameKey}, ${after.id}::uuid)`
  const rows = await db.rows<StoredEntry & { nameKey: string }>(sql`
    select ${entryColumns(actor)}, f.name_key
    from (
      select f.id from files f
      where f.org_id = ${actor.orgId} and f.container_id = ${containerId} and f.deleted_at is null
        and f.listing_rank = ${rank}::smallint and ${mayRead(actor)} ${from}
      order by f.name_key, f.id limit ${limit}
    ) page
      join files f on f.org_id = ${actor.orgId} and f.id = page.id ${withTarget(actor)}
    order by f.name_key, f.id`)
  return rows.map((row) => ({ ...entryOf(row), nameKey: row.nameKey }))
}

/** Those of these names that a subfolder of the folder has. */
export const listFolderNames = (db: Db, actor: Actor, containerId: string, names: readonly LookedUp[]) =>
  db.rows<{ name: string }>(sql`
    select distinct normalize(f.name, nfc) as name from files f
    where f.org_id = ${actor.orgId} and f.container_id = ${containerId} and f.deleted_at is null and f.listing_rank = 0
      and ${mayRead(actor)}
      and f.name_key = any(${names.map(({ key }) => key)}::text[])
      and normalize(f.name, nfc) = any(${names.map(({ name }) => name)}::text[])`)

/** Serialises the creation of a name in a folder, so that two requests do not create two files with it. */
export const lockName = (db: Transaction, { orgId }: Pick<Actor, 'orgId'>, containerId: string, key: string) =>
  db.execute(sql`
    select pg_advisory_xact_lock(hashtextextended('name in folder ' || ${orgId} || ${containerId} || ${key}, 0))`)

/** Those of these files that lie in a folder, at any depth. */
export const listInside = (db: Db, actor: Actor, folderId: string, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    with recursive up (start, id) as (
      select f.id, f.container_id from files f
      where f.org_id = ${actor.orgId} and f.id = any(${ids}::uuid[]) and f.deleted_at is null and ${mayRead(actor)}
      union all
      select up.start, f.container_id from up join files f on f.org_id = ${actor.orgId} and f.id = up.id
      where up.id <> ${folderId}::uuid
    )
    select start as id from up where id = ${folderId}::uuid`)
