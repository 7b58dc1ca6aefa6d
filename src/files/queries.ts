import { keysAsked, sql } from '../platform/database/database.ts'
import type { Db, LookUp, Sql } from '../platform/database/database.ts'
import type { Actor } from '../identity/actor.ts'
import { hasAllAccess, mayRead, mayWrite } from './access/condition-queries.ts'
import type { Reader, Unrestricted } from './access/condition-queries.ts'
import { columnsOf, sizeOf } from './size-queries.ts'
import { insertOutboxRow } from '../outbox/queries.ts'
import type { OutboxRow } from '../outbox/queries.ts'
import { nameKeyOf } from './tree/names.ts'

export type Source = 'upload' | 'folder' | 'link'
export type Status = 'pending' | 'ready'

export interface FileRow {
  id: string
  name: string
  mimeType: string | null
  size: number
  parentId: string | null
  projectId: string | null
  source: Source
  targetFileId: string | null
  tags: string[]
  isProtected: boolean
  status: Status
  blobId: string | null
  /** SHA-256 in hex. */
  contentHash: string | null
  createdBy: string
  /** Who gave the current name. */
  namedBy: string
  createdAt: string
  updatedAt: string
  /** The number of the current version. */
  version: number
  revision: number
  /** The restricted folders that contain the file, outermost first, with itself. Null without one. */
  guards: string[] | null
}

/** A file with whether the reader may change it. */
export type WritableRow = FileRow & { isWritable: boolean }

export const untaggedColumns = sql`f.id, f.name, f.mime_type, ${sizeOf(sql`f`)} as size, f.parent_id, f.project_id, f.source,
  f.target_id as target_file_id, f.is_protected, f.status, f.blob_id, encode(f.sha256, 'hex') as content_hash,
  f.created_by, coalesce(f.named_by, f.created_by) as named_by, f.created_at, f.updated_at, f.version,
  f.revision, f.guards`

/**
 * The columns of a FileRow; the table must be called `f`. Only for rows whose reader knows the target of a link; others
 * use readColumns.
 */
export const fileColumns = sql`${untaggedColumns}, f.tags`

const target = (reader: Reader): Sql =>
  hasAllAccess(reader)
    ? sql`f.target_id`
    : sql`case when f.target_id is not null and exists (
        select from files t where t.org_id = ${reader.orgId} and t.id = f.target_id and ${mayRead(reader, sql`t.guards`)}
      ) then f.target_id end`

/** The columns of a FileRow as a person may see them: a link to a file that is not open to them has no target. */
export const readColumns = (
  reader: Reader,
): Sql => sql`f.id, f.name, f.mime_type, ${sizeOf(sql`f`)} as size, f.parent_id,
  f.project_id, f.source, ${target(reader)} as target_file_id, f.tags, f.is_protected, f.status, f.blob_id,
  encode(f.sha256, 'hex') as content_hash, f.created_by, coalesce(f.named_by, f.created_by) as named_by, f.created_at,
  f.updated_at, f.version, f.revision, f.guards`

// A FileRow as one JSON column. pg parses a description of every column of every result: 17 columns use 31 µs of CPU
// time per read, one column 20 µs.
const lookUpById = (ofOrg: string, org = 'f.org_id') => `
  select asked.place, found.record
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as asked (org_id, id, user_id, place)
    cross join lateral (
      select json_build_object('id', f.id, 'name', f.name, 'mimeType', f.mime_type, 'size', coalesce(f.large_bytes, f.size_bytes),
        'parentId', f.parent_id, 'projectId', f.project_id, 'source', f.source, 'targetFileId', f.target_id,
        'tags', f.tags, 'isProtected', f.is_protected, 'status', f.status, 'blobId', f.blob_id,
        'contentHash', encode(f.sha256, 'hex'), 'createdBy', f.created_by,
        'createdAt', to_char(f.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'updatedAt', to_char(f.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'version', f.version,
        'revision', f.revision, 'guards', f.guards, 'favorite', exists (
          select from file_favorites v
          where v.org_id = ${org} and v.user_id = asked.user_id and v.file_id = f.id),
        'targetGuards', case when f.target_id is not null then (
          select t.guards from files t where t.org_id = ${org} and t.id = f.target_id) end)::text as record
      from files f where f.org_id = asked.org_id ${ofOrg} and f.id = asked.id and f.deleted_at is null
      limit 1
    ) found
  where ${keysAsked}`

const readById: LookUp = { text: lookUpById(''), ofOrg: lookUpById('and f.org_id = $4', '$4') }

/**
 * A file with the guards of its target and whether it is a favorite, faster than by findFile, for the most frequent
 * route. Whether the reader may see it is checked by readFile in access/access.ts.
 */
export const lookUpFile = async (
  db: Db,
  { orgId, userId }: Pick<Actor, 'orgId' | 'userId'>,
  id: string,
): Promise<(FileRow & { favorite: boolean; targetGuards: string[] | null }) | undefined> => {
  const record = await db.lookUp(readById, [orgId, id, userId])
  return record === undefined ? undefined : JSON.parse(record)
}

export const findFile = (db: Db, actor: Reader, id: string) =>
  db.row<WritableRow>(sql`
    select ${readColumns(actor)}, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(actor)}`)

/** Locks the file against other changes. Others can still put files into a locked folder. */
export const lockFile = (db: Db, actor: Reader, id: string) =>
  db.row<WritableRow>(sql`
    select ${readColumns(actor)}, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(actor)}
    for no key update of f`)

export interface ContentRow {
  id: string
  name: string
  source: Source
  /** This and the fields below are the target's when the file is a link. */
  targetId: string | null
  mimeType: string | null
  size: number
  status: Status
  blobId: string | null
  contentHash: string | null
}

/**
 * A file for a join to many rows, also a deleted one. The plan must not depend on statistics, which new rows do not have
 * yet: with the estimate that an org has one row, an index by another column is as good, and each row is found by reading
 * all of the org. Without a condition that a partial index has, only the primary key is left, and `offset 0` keeps those of
 * the join out. For the same reason, the rows of a folder are read in the order of their index.
 */
export const byId = (orgId: string, id: Sql): Sql => sql`
  lateral (select x.* from files x where x.org_id = ${orgId} and x.id = ${id} offset 0)`

/** A file with its content: its own, or that of the file that it links to when that is open to the reader as well. */
export const findContent = (db: Db, reader: Reader | Unrestricted, id: string) =>
  db.row<ContentRow>(sql`
    select f.id, f.name, f.source, t.id as target_id, t.mime_type, ${sizeOf(sql`t`)} as size, t.status, t.blob_id,
      encode(t.sha256, 'hex') as content_hash
    from files f
      left join files t on t.org_id = f.org_id and t.id = coalesce(f.target_id, f.id) and t.deleted_at is null
        and ${mayRead(reader, sql`t.guards`)}
    where f.org_id = ${reader.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(reader)}`)

/** Who uploaded the current content of a file or link, whether another person may have uploaded it, and who named the file. */
export const findProvenance = (db: Db, orgId: string, id: string) =>
  db.row<{ createdBy: string; isUntrusted: boolean; namedBy: string }>(sql`
    select coalesce(t.content_by, t.created_by) as created_by, t.is_untrusted, coalesce(f.named_by, f.created_by) as named_by
    from files f join files t on t.org_id = f.org_id and t.id = coalesce(f.target_id, f.id)
    where f.org_id = ${orgId} and f.id = ${id}`)

export interface FolderRow {
  id: string
  projectId: string | null
  guards: string[] | null
  isReadable: boolean
  isWritable: boolean
}

/**
 * A live folder, locked so that it can neither be deleted nor restricted before this transaction ends. The caller checks
 * `isReadable`.
 */
export const lockFolderForInsert = (db: Db, actor: Reader, id: string) =>
  db.row<FolderRow>(sql`
    select f.id, f.project_id, f.guards, ${mayRead(actor)} as is_readable, ${mayWrite(actor)} as is_writable
    from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and f.source = 'folder'
    for key share of f`)

export const findFolder = (db: Db, actor: Reader, id: string) =>
  db.row<FolderRow>(sql`
    select f.id, f.project_id, f.guards, ${mayRead(actor)} as is_readable, ${mayWrite(actor)} as is_writable
    from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and f.source = 'folder'`)

export interface NewFile {
  id: string
  source: Source
  name: string
  parentId: string | null
  projectId: string | null
  /** Those of its folder. */
  guards: string[] | null
  mimeType?: string
  sizeBytes?: number
  status?: Status
  blobId?: string
  sha256?: Buffer
  targetId?: string
  isProtected?: boolean
  /** Written by an agent that had read untrusted content, or uploaded by a stranger. */
  isUntrusted?: boolean
  /** Who gave the name, when that is not the actor: the id of a share for a name that its visitor gave. */
  namedBy?: string
}

/**
 * Inserts the row and its event and adds it to the counts of its folder and of the org's quotas. To prevent deadlocks,
 * the counts must be the last locks of a transaction: first the folder's, then the org's.
 */
export const insertFile = (db: Db, actor: Actor, file: NewFile, event: OutboxRow) => {
  const { small, large } = columnsOf(file.sizeBytes ?? 0)
  return db.row<FileRow>(sql`
    with counted as (
      insert into folder_counts (org_id, folder_id, slot, children)
      values (${actor.orgId}, ${file.parentId ?? actor.orgId}, pg_backend_pid() % 16, 1)
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + 1
      returning org_id
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes)
      select org_id, pg_backend_pid() % 64, 1, ${file.sizeBytes ?? 0} from counted
      on conflict (org_id, slot) do update set files = org_file_usage.files + 1,
        stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes
    ), noted as (
      ${insertOutboxRow(event)}
    )
    insert into files as f (org_id, id, source, name, name_key, parent_id, project_id, mime_type, size_bytes, large_bytes,
      status, blob_id, sha256, target_id, is_protected, is_untrusted, named_by, guards, created_by)
    values (${actor.orgId}, ${file.id}, ${file.source}, ${file.name}, ${nameKeyOf(file.name)}, ${file.parentId},
      ${file.projectId}, ${file.mimeType ?? null}, ${small}, ${large}, ${file.status ?? 'ready'},
      ${file.blobId ?? null}, ${file.sha256 ?? null}, ${file.targetId ?? null}, ${file.isProtected ?? false},
      ${file.isUntrusted ?? false}, ${file.namedBy ?? null}, ${file.guards}::uuid[], ${actor.userId})
    returning ${fileColumns}`)
}

/** Adds to the number of live children of a folder; null is the root folder. */
export const countChildren = (db: Db, orgId: string, folderId: string | null, change: number) =>
  db.execute(sql`
    insert into folder_counts (org_id, folder_id, slot, children)
    values (${orgId}, ${folderId ?? orgId}, pg_backend_pid() % 16, ${change})
    on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + excluded.children`)

export interface Amount {
  files: number
  bytes: number
}

/** Subtracts one child from its folder's count, and what is gone from the org's usage. What is in the trash still counts. */
export const countDeleted = (
  db: Db,
  orgId: string,
  folderId: string | null,
  { gone, trashed }: { gone: Amount; trashed: Amount },
) =>
  db.execute(sql`
    with counted as (
      insert into folder_counts (org_id, folder_id, slot, children)
      values (${orgId}, ${folderId ?? orgId}, pg_backend_pid() % 16, -1)
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children - 1
      returning org_id
    )
    insert into org_file_usage (org_id, slot, files, stored_bytes, trashed_files, trashed_bytes)
    select org_id, pg_backend_pid() % 64, ${-gone.files}::bigint, ${-gone.bytes}::bigint, ${trashed.files}::bigint,
      ${trashed.bytes}::bigint
    from counted
    on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
      stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes,
      trashed_files = org_file_usage.trashed_files + excluded.trashed_files,
      trashed_bytes = org_file_usage.trashed_bytes + excluded.trashed_bytes`)

export interface FileChanges {
  name: string
  parentId: string | null
  projectId: string | null
  tags: string[]
  guards: string[] | null
}

export const updateFile = (db: Db, actor: Actor, id: string, changes: FileChanges) =>
  db.row<FileRow>(sql`
    update files f
    set named_by = case when name = ${changes.name} then named_by else ${actor.userId} end,
      name = ${changes.name}, name_key = ${nameKeyOf(changes.name)}, parent_id = ${changes.parentId},
      project_id = ${changes.projectId}, tags = ${changes.tags}, guards = ${changes.guards}::uuid[], revision = revision + 1, updated_at = now()
    where f.org_id = ${actor.orgId} and f.id = ${id}
    returning ${fileColumns}`)

/**
 * Completes a pending file. Undefined when it is deleted or completed already. The file is marked untrusted, because a
 * signed upload URL does not identify its user.
 */
export const finishFile = (db: Db, orgId: string, id: string, { blobId, sha256 }: { blobId: string; sha256: Buffer }) =>
  db.row<FileRow>(sql`
    update files f
    set status = 'ready', is_untrusted = true, blob_id = ${blobId}, sha256 = ${sha256}, content_at = now(), revision = revision + 1, updated_at = now()
    where f.org_id = ${orgId} and f.id = ${id} and f.status = 'pending' and f.deleted_at is null
    returning ${fileColumns}`)

export interface PendingRow {
  id: string
  mimeType: string
  size: number
  status: Status
  createdBy: string
}

/** An uploaded file, pending or not. */
export const findUpload = (db: Db, orgId: string, id: string) =>
  db.row<PendingRow>(sql`
    select f.id, f.mime_type, ${sizeOf(sql`f`)} as size, f.status, f.created_by from files f
    where f.org_id = ${orgId} and f.id = ${id} and f.source = 'upload' and f.deleted_at is null`)

/** Deletes a file, into the trash when `trashId` is set. */
export const softDeleteFile = (db: Db, orgId: string, id: string, trashId: string | null) =>
  db.execute(sql`
    update files set deleted_at = now(), trash_id = ${trashId}, updated_at = now(), revision = revision + 1
    where org_id = ${orgId} and id = ${id} and deleted_at is null`)
