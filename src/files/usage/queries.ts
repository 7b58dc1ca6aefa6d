import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { mayRead } from '../access/condition-queries.ts'
import { bytesOf } from '../size-queries.ts'

/** What is stored. Files and links are counted together. */
export interface Stored {
  files: bigint
  bytes: bigint
  /** Of the former versions. */
  versionBytes: bigint
}

/** Only folders are restricted, so the other children of an open folder are open. All of it is read in two indexes. */
const inFolder = (orgId: string, folderId: Sql): Sql => sql`
  select count(*) as files, coalesce(sum(${bytesOf(sql`f`)}), 0)::bigint as bytes from files f
  where f.org_id = ${orgId} and f.container_id = ${folderId} and f.deleted_at is null and f.listing_rank = 1`

const versionsOf = (orgId: string, folderId: Sql): Sql => sql`
  select coalesce(sum(f.versions_bytes), 0)::bigint as version_bytes from files f
  where f.org_id = ${orgId} and f.container_id = ${folderId} and f.deleted_at is null and f.versions_bytes > 0`

/** What is directly in a folder that is open to the caller, without the folders in it. */
export const measureDirect = (db: Db, { orgId }: Actor, containerId: string) =>
  db.row<Stored>(sql`
    select stored.files, stored.bytes, former.version_bytes
    from (${inFolder(orgId, sql`${containerId}::uuid`)}) stored
      cross join (${versionsOf(orgId, sql`${containerId}::uuid`)}) former`)

export interface FolderUsageRow extends Stored {
  /** Null when the folder has no subfolder, or none is on the page. */
  id: string | null
  name: string
  isRestricted: boolean
  /** The folders below it. */
  folders: bigint
  /** Of all subfolders together, also of other pages. */
  total: bigint
  totalFiles: bigint
  totalFolders: bigint
  totalBytes: bigint
  totalVersionBytes: bigint
  /** Folders that were read, the subfolders among them. */
  read: bigint
}

export interface UsageWindow {
  limit: number
  offset: number
  /** The bytes with those of versions, and the id, of the last folder of the previous page. */
  after: { stored: number; id: string } | undefined
}

/**
 * A page of the subfolders of a folder with what is below each, those with the most bytes first. It walks down level by
 * level, over folders that are open to the caller, and stops after `maxFolders`. `offset 0` prevents a plan that reads all
 * files of the org: the planner cannot know how few of them lie below the folder.
 */
export const listUsage = (
  db: Db,
  actor: Actor,
  { containerId, maxFolders }: { containerId: string; maxFolders: number },
  { limit, offset, after }: UsageWindow,
) =>
  db.rows<FolderUsageRow>(sql`
    with recursive down (root_id, id) as (
      select f.id, f.id from files f
      where f.org_id = ${actor.orgId} and f.container_id = ${containerId} and f.deleted_at is null
        and f.listing_rank = 0 and ${mayRead(actor)}
      union all
      select down.root_id, c.id from down cross join lateral (
        select f.id from files f
        where f.org_id = ${actor.orgId} and f.container_id = down.id and f.deleted_at is null
          and f.listing_rank = 0 and ${mayRead(actor)}
        order by f.name_key, f.id offset 0
      ) c
    ), walked as materialized (
      select root_id, id from down limit ${maxFolders}::int
    ), sums as materialized (
      select w.root_id, count(*) - 1 as folders, sum(stored.files)::bigint as files, sum(stored.bytes)::bigint as bytes,
        sum(former.version_bytes)::bigint as version_bytes
      from walked w
        cross join lateral (${inFolder(actor.orgId, sql`w.id`)} offset 0) stored
        cross join lateral (${versionsOf(actor.orgId, sql`w.id`)} offset 0) former
      group by w.root_id
    )
    select page.root_id as id, f.name, f.guards is not null and f.id = any(f.guards) as is_restricted, page.folders,
      page.files, page.bytes, page.version_bytes, totals.*
    from (
      select count(*) as total, coalesce(sum(files), 0)::bigint as total_files,
        coalesce(sum(folders + 1), 0)::bigint as total_folders, coalesce(sum(bytes), 0)::bigint as total_bytes,
        coalesce(sum(version_bytes), 0)::bigint as total_version_bytes, (select count(*) from walked) as read
      from sums
    ) totals
      left join (
        select s.* from sums s
        where true ${
          after === undefined
            ? empty
            : sql`and (s.bytes + s.version_bytes, s.root_id) < (${after.stored}::bigint, ${after.id}::uuid)`
        }
        order by s.bytes + s.version_bytes desc, s.root_id desc offset ${offset} limit ${limit}
      ) page on true
      left join files f on f.org_id = ${actor.orgId} and f.id = page.root_id
    order by page.bytes + page.version_bytes desc, page.root_id desc`)
