import { mayRead } from '../access/condition-queries.ts'
import type { Reader } from '../access/condition-queries.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { byId } from '../queries.ts'
import type { Source } from '../queries.ts'
import { bytesOf, sizeOf } from '../size-queries.ts'

/** A file, folder or link with the bytes that it has in an archive. */
export interface ArchivedRow {
  id: string
  name: string
  nameKey: string
  source: Source
  /** The folder that contains it; the org's id for the root. */
  containerId: string
  updatedAt: string
  /** Whether a folder has anything in it. */
  hasChildren: boolean
  /** Of the target, for a link. Null while its bytes are not uploaded, when the target is deleted, and for folders. */
  blobId: string | null
  mimeType: string | null
  size: number
}

const columns = sql`f.id, f.name, f.name_key, f.source, f.container_id, f.updated_at,
  t.blob_id, t.mime_type, coalesce(${sizeOf(sql`t`)}, 0) as size`

/** For whom an archive is made. */
export interface ArchiveReader {
  reader: Reader
  /** Of a share: the restrictions that it opens. What has others is left out. */
  sharedGuards?: readonly string[]
}

const isOpen = ({ reader, sharedGuards }: ArchiveReader): Sql =>
  sql`${mayRead(reader)} ${sharedGuards === undefined ? empty : sql`and (f.guards is null or f.guards <@ ${sharedGuards}::uuid[])`}`

const target = (of: ArchiveReader): Sql => sql`
  left join ${byId(of.reader.orgId, sql`coalesce(f.target_id, f.id)`)} t
    on t.deleted_at is null and t.status = 'ready' and ${mayRead(of.reader, sql`t.guards`)}`

const hasChildren = ({ reader }: ArchiveReader): Sql => sql`f.listing_rank = 0 and (
  select true from files c where c.org_id = ${reader.orgId} and c.container_id = f.id and c.deleted_at is null
  order by c.listing_rank, c.name_key, c.id limit 1) is not null as has_children`

export interface TreeSize {
  /** Files, folders and links, with the roots. */
  entries: number
  bytes: bigint
  /** The length of all paths in bytes. */
  pathBytes: bigint
}

/** The size of these files and folders with everything in them. It reads at most `maxEntries` of them. */
export const measureTrees = (db: Db, of: ArchiveReader, rootIds: readonly string[], maxEntries: number) =>
  db.row<TreeSize>(sql`
    with recursive down (id, listing_rank, bytes, target_id, path_bytes) as (
      select f.id, f.listing_rank, ${bytesOf(sql`f`)}, f.target_id, octet_length(f.name) from files f
      where f.org_id = ${of.reader.orgId} and f.id = any(${rootIds}::uuid[]) and f.deleted_at is null and ${isOpen(of)}
      union all
      select c.id, c.listing_rank, c.bytes, c.target_id, down.path_bytes + 1 + c.name_bytes
      from down cross join lateral (
        select f.id, f.listing_rank, ${bytesOf(sql`f`)} as bytes, f.target_id, octet_length(f.name) as name_bytes
        from files f
        where f.org_id = ${of.reader.orgId} and f.container_id = down.id and f.deleted_at is null and ${isOpen(of)}
        order by f.listing_rank, f.name_key, f.id offset 0
      ) c
      where down.listing_rank = 0
    )
    select count(*)::int as entries, coalesce(sum(coalesce(${bytesOf(sql`t`)}, d.bytes)), 0)::bigint as bytes,
      coalesce(sum(d.path_bytes), 0)::bigint as path_bytes
    from (select * from down limit ${maxEntries}::int) d
      left join ${byId(of.reader.orgId, sql`d.target_id`)} t on t.deleted_at is null and ${mayRead(of.reader, sql`t.guards`)}`)

/** These files and folders. */
export const listArchived = (db: Db, of: ArchiveReader, ids: readonly string[]) =>
  db.rows<ArchivedRow>(sql`
    select ${columns}, ${hasChildren(of)} from files f ${target(of)}
    where f.org_id = ${of.reader.orgId} and f.id = any(${ids}::uuid[]) and f.deleted_at is null and ${isOpen(of)}
    order by f.listing_rank, f.name_key, f.id`)

/** A page of what is in a folder, after a row of it, in the order of lists. */
export const listInFolder = (
  db: Db,
  of: ArchiveReader,
  folderId: string,
  { after, limit }: { after: ArchivedRow | undefined; limit: number },
) =>
  db.rows<ArchivedRow>(sql`
    select ${columns}, ${hasChildren(of)} from files f ${target(of)}
    where f.org_id = ${of.reader.orgId} and f.container_id = ${folderId} and f.deleted_at is null and ${isOpen(of)}
      ${
        after === undefined
          ? empty
          : sql`and (f.listing_rank, f.name_key, f.id) >
              (${after.source === 'folder' ? 0 : 1}::smallint, ${after.nameKey}, ${after.id}::uuid)`
      }
    order by f.listing_rank, f.name_key, f.id limit ${limit}`)
