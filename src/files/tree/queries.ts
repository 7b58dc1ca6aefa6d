import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'

/** Folder moves in an org take turns, so that two of them cannot make a cycle together. */
export const lockMoves = (db: Db, actor: Actor) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('folder moves ' || ${actor.orgId}, 0))`)

/** A live file or folder, held against everybody: while this lasts, nobody can put anything into it either. */
export const lockWhole = (db: Db, actor: Actor, id: string) =>
  db.row<{ id: string; isProtected: boolean; revision: number; parentId: string | null; blobId: string | null }>(sql`
    select id, is_protected, revision, parent_id, blob_id from files
    where org_id = ${actor.orgId} and id = ${id} and deleted_at is null
    for update`)

/** The folders right inside these, held like them. */
export const lockSubfolders = (db: Db, actor: Actor, folderIds: string[]) =>
  db.rows<{ id: string }>(sql`
    select id from files
    where org_id = ${actor.orgId} and container_id = any(${folderIds}::uuid[]) and listing_rank = 0
      and deleted_at is null
    for update`)

/** Deletes all that lies right inside these folders; answers how many files that were, and their size together. */
export const softDeleteChildren = (db: Db, actor: Actor, folderIds: string[]) =>
  db.row<{ files: number; bytes: bigint }>(sql`
    with gone as (
      update files set deleted_at = now(), updated_at = now(), revision = revision + 1
      where org_id = ${actor.orgId} and container_id = any(${folderIds}::uuid[]) and deleted_at is null
      returning size_bytes
    )
    select count(*)::int as files, coalesce(sum(size_bytes), 0)::bigint as bytes from gone`)

export const forgetCounts = (db: Db, actor: Actor, folderIds: string[]) =>
  db.execute(sql`
    delete from folder_counts where org_id = ${actor.orgId} and folder_id = any(${folderIds}::uuid[])`)

/** All that lies right inside these folders now belongs to another project, or to none. */
export const setProjectOfChildren = (db: Db, actor: Actor, folderIds: string[], projectId: string | null) =>
  db.execute(sql`
    update files set project_id = ${projectId}, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and container_id = any(${folderIds}::uuid[]) and deleted_at is null`)

/** A folder and the folders around it, innermost first. */
export const listAncestors = (db: Db, actor: Actor, folderId: string) =>
  db.rows<{ id: string }>(sql`
    with recursive up (id, parent_id, distance) as (
      select id, parent_id, 0 from files where org_id = ${actor.orgId} and id = ${folderId}
      union all
      select f.id, f.parent_id, up.distance + 1
      from up join files f on f.org_id = ${actor.orgId} and f.id = up.parent_id
    )
    select id from up order by distance`)
