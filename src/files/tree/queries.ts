import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'
import { mayRead, mayWrite } from '../access/condition-queries.ts'
import type { Source, Status } from '../queries.ts'
import { bytesOf, sizeOf } from '../size-queries.ts'

/** Serialises folder moves of an org, so that two of them cannot create a cycle together. */
export const lockMoves = (db: Db, actor: Actor) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('folder moves ' || ${actor.orgId}, 0))`)

export interface LockedFile {
  id: string
  isProtected: boolean
  revision: number
  parentId: string | null
  blobId: string | null
  name: string
  mimeType: string | null
  size: number
  /** The size with that of its versions. */
  storedBytes: bigint
  projectId: string | null
  source: Source
  status: Status
  guards: string[] | null
  isWritable: boolean
}

/** Locks a live file or folder for update. Until the transaction ends, nothing can be added to a locked folder. */
export const lockForDeletion = (db: Db, actor: Actor, id: string) =>
  db.row<LockedFile>(sql`
    select f.id, f.is_protected, f.revision, f.parent_id, f.blob_id, f.name, f.mime_type, ${sizeOf(sql`f`)} as size,
      ${bytesOf(sql`f`)} + f.versions_bytes as stored_bytes, f.project_id, f.source, f.status, f.guards,
      ${mayWrite(actor)} as is_writable
    from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(actor)}
    for update of f`)

/** Locks live files in order of their ids. */
export const lockFiles = (db: Db, actor: Actor, ids: readonly string[]) =>
  db.execute(sql`
    select from files f
    where f.org_id = ${actor.orgId} and f.id = any(${ids}::uuid[]) and f.deleted_at is null
      and ${mayRead(actor)}
    order by f.id for update of f`)

/** Locks all direct subfolders of these folders in the same way, also those that are not open to the actor. */
export const lockSubfolders = (db: Db, actor: Actor, folderIds: string[]) =>
  db.rows<{ id: string; isWritable: boolean }>(sql`
    select f.id, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.container_id = any(${folderIds}::uuid[]) and f.listing_rank = 0
      and f.deleted_at is null
    for update of f`)

export interface DeletedChildren {
  files: number
  bytes: bigint
  /** Those of them that are pending. */
  pendingFiles: number
  pendingBytes: bigint
}

/**
 * Deletes the direct children of these folders, into the trash when `trashId` is set, except for pending ones: they have
 * no bytes to restore. Returns their numbers and the sums of their sizes.
 */
export const softDeleteChildren = (db: Db, actor: Actor, folderIds: string[], trashId: string | null) =>
  db.row<DeletedChildren>(sql`
    with deleted as (
      update files set deleted_at = now(), trash_id = case when status <> 'pending' then ${trashId}::uuid end,
        updated_at = now(), revision = revision + 1
      where org_id = ${actor.orgId} and container_id = any(${folderIds}::uuid[]) and deleted_at is null
      returning ${bytesOf(sql`files`)} + versions_bytes as stored_bytes, status = 'pending' as is_pending
    )
    select count(*)::int as files, coalesce(sum(stored_bytes), 0)::bigint as bytes,
      (count(*) filter (where is_pending))::int as pending_files,
      coalesce(sum(stored_bytes) filter (where is_pending), 0)::bigint as pending_bytes
    from deleted`)

export const deleteCounts = (db: Db, actor: Actor, folderIds: string[]) =>
  db.execute(sql`
    delete from folder_counts where org_id = ${actor.orgId} and folder_id = any(${folderIds}::uuid[])`)

/** Moves the direct children of these folders to another project, or to none. */
export const setProjectOfChildren = (db: Db, actor: Actor, folderIds: string[], projectId: string | null) =>
  db.execute(sql`
    update files set project_id = ${projectId}, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and container_id = any(${folderIds}::uuid[]) and deleted_at is null`)

/** A folder and its ancestors, innermost first. */
export const listAncestors = (db: Db, actor: Actor, folderId: string) =>
  db.rows<{ id: string }>(sql`
    with recursive up (id, parent_id, distance) as (
      select id, parent_id, 0 from files where org_id = ${actor.orgId} and id = ${folderId}
      union all
      select f.id, f.parent_id, up.distance + 1
      from up join files f on f.org_id = ${actor.orgId} and f.id = up.parent_id
    )
    select id from up order by distance`)
