import type { Actor } from '../../identity/actor.ts'
import { mayWrite } from '../access/condition-queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { fileColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'

/** Serialises the creation of the folder, so that an org gets one. */
export const lockInlineFolder = (db: Db, { orgId }: Actor) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('folder of inline files ' || ${orgId}, 0))`)

/** The oldest folder with this name in the root folder that the actor may write to. */
export const findRootFolder = (db: Db, actor: Actor, nameKey: string) =>
  db.row<{ id: string }>(sql`
    select f.id from files f
    where f.org_id = ${actor.orgId} and f.container_id = ${actor.orgId} and f.listing_rank = 0
      and f.name_key = ${nameKey} and f.project_id is null and f.deleted_at is null and ${mayWrite(actor)}
    order by f.id limit 1`)

export interface StoredBytes {
  sha256: Buffer
  folderId: string
  name: string
  mimeType: string
}

/** A file of this user in a folder that they may write to with the same bytes, name and type. */
export const findSameFile = (db: Db, { orgId, userId }: Actor, { sha256, folderId, name, mimeType }: StoredBytes) =>
  db.row<FileRow>(sql`
    select ${fileColumns}
    from blobs b join files f on f.org_id = b.org_id and f.blob_id = b.id
    where b.org_id = ${orgId} and b.sha256 = ${sha256} and b.state = 'live' and f.org_id = ${orgId}
      and f.container_id = ${folderId} and f.name = ${name} and f.mime_type = ${mimeType}
      and coalesce(f.content_by, f.created_by) = ${userId} and coalesce(f.named_by, f.created_by) = ${userId} and not f.is_untrusted
      and f.status = 'ready' and f.deleted_at is null
    order by f.id limit 1`)
