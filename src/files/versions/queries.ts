import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { mayRead, mayWrite } from '../access/condition-queries.ts'
import type { Reader } from '../access/condition-queries.ts'
import { fileColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'
import { bytesOf, columnsOf, sizeOf } from '../size-queries.ts'

export interface VersionRow {
  version: number
  isCurrent: boolean
  label: string | null
  mimeType: string
  size: number
  contentHash: string
  createdBy: string
  createdAt: string
}

/** A file whose content can be replaced, with what its next version needs. Locked against other changes. */
export interface ContentLock extends FileRow {
  isUntrusted: boolean
  versionLabel: string | null
}

export const lockContent = (db: Transaction, actor: Reader, id: string) =>
  db.row<ContentLock & { isWritable: boolean }>(sql`
    select ${fileColumns}, f.is_untrusted, f.version_label, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.deleted_at is null and ${mayRead(actor)}
    for no key update of f`)

/** The same for the job that deletes versions whose time is over. */
export const lockForRetention = (db: Transaction, orgId: string, id: string) =>
  db.row<ContentLock>(sql`
    select ${fileColumns}, f.is_untrusted, f.version_label from files f
    where f.org_id = ${orgId} and f.id = ${id} and f.deleted_at is null
    for no key update`)

const versionColumns = sql`v.number as version, false as is_current, v.label, v.mime_type, ${sizeOf(sql`v`)} as size,
  encode(v.sha256, 'hex') as content_hash, v.created_by, v.created_at`

/** Versions of a live file below a number, the newest first; the current one is the first of all. */
export const listVersions = (
  db: Db,
  actor: Actor,
  fileId: string,
  page: { before: number | undefined; limit: number },
) =>
  db.rows<VersionRow>(sql`
    select f.version, true as is_current, f.version_label as label, f.mime_type, ${sizeOf(sql`f`)} as size,
      encode(f.sha256, 'hex') as content_hash, coalesce(f.content_by, f.created_by) as created_by,
      coalesce(f.content_at, f.created_at) as created_at
    from files f
    where f.org_id = ${actor.orgId} and f.id = ${fileId} and f.deleted_at is null and f.blob_id is not null
      ${page.before === undefined ? empty : sql`and f.version < ${page.before}`}
    union all
    (
      select ${versionColumns} from file_versions v
      where v.org_id = ${actor.orgId} and v.file_id = ${fileId} and v.deleted_at is null
        ${page.before === undefined ? empty : sql`and v.number < ${page.before}`}
      order by v.number desc limit ${page.limit}
    )
    order by version desc limit ${page.limit}`)

export interface VersionContent extends VersionRow {
  blobId: string
  isUntrusted: boolean
}

/** A former version. The caller reads or locks the file, so that only versions of live files are found. */
export const findVersion = (db: Db, orgId: string, fileId: string, number: number) =>
  db.row<VersionContent>(sql`
    select ${versionColumns}, v.blob_id, v.is_untrusted from file_versions v
    where v.org_id = ${orgId} and v.file_id = ${fileId} and v.number = ${number} and v.deleted_at is null`)

export interface NewContent {
  mimeType: string
  sizeBytes: number
  blobId: string
  sha256: Buffer
  isUntrusted: boolean
}

/** Replaces the content of a locked file. The content that it had becomes a version. */
export const replaceContent = (db: Transaction, actor: Actor, id: string, content: NewContent) =>
  db.row<FileRow>(sql`
    with kept as (
      insert into file_versions (org_id, file_id, number, mime_type, size_bytes, large_bytes, blob_id, sha256,
        label, created_by, is_untrusted, created_at)
      select org_id, id, version, mime_type, size_bytes, large_bytes, blob_id, sha256, version_label,
        coalesce(content_by, created_by), is_untrusted, coalesce(content_at, created_at)
      from files where org_id = ${actor.orgId} and id = ${id}
    )
    update files f
    set version = f.version + 1, version_label = null, versions_bytes = f.versions_bytes + ${bytesOf(sql`f`)},
      mime_type = ${content.mimeType}, size_bytes = ${columnsOf(content.sizeBytes).small},
      large_bytes = ${columnsOf(content.sizeBytes).large}, blob_id = ${content.blobId},
      sha256 = ${content.sha256}, is_untrusted = ${content.isUntrusted}, content_by = ${actor.userId},
      content_at = now(), revision = f.revision + 1, updated_at = now()
    where f.org_id = ${actor.orgId} and f.id = ${id}
    returning ${fileColumns}`)

/** How many versions of a file are kept, and for how many days; 0 days: for ever. */
export interface Retention {
  versionsKept: number
  versionsDays: number
}

/**
 * Deletes the versions of a locked file that are no longer kept, and adds `addedBytes` without their size to the org's
 * usage. Returns their number. Their bytes are released by another job.
 */
export const settleVersions = async (
  db: Transaction,
  orgId: string,
  fileId: string,
  { versionsKept, versionsDays, addedBytes }: Retention & { addedBytes: number },
): Promise<number> => {
  const row = await db.row<{ deleted: number }>(sql`
    with gone as (
      update file_versions v set deleted_at = now()
      where v.org_id = ${orgId} and v.file_id = ${fileId} and v.number in (
        select number from (
          select number, replaced_at, row_number() over (order by number desc) as place from file_versions
          where org_id = ${orgId} and file_id = ${fileId} and deleted_at is null and label is null
        ) listed
        where place > ${versionsKept}::int or
          (${versionsDays}::int > 0 and replaced_at < now() - make_interval(days => ${versionsDays}::int))
      )
      returning ${bytesOf(sql`v`)} as bytes
    ), total as (
      select count(*)::int as deleted, coalesce(sum(bytes), 0)::bigint as bytes from gone
    ), lowered as (
      update files set versions_bytes = versions_bytes - total.bytes from total
      where files.org_id = ${orgId} and files.id = ${fileId} and total.bytes <> 0
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes)
      select ${orgId}::uuid, pg_backend_pid() % 64, 0, ${addedBytes}::bigint - bytes from total
      on conflict (org_id, slot) do update set stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes
    )
    select deleted from total`)
  return row?.deleted ?? 0
}

/** Deletes one version of a locked file in the same way. Returns 0 when it does not exist. */
export const deleteVersion = async (
  db: Transaction,
  orgId: string,
  fileId: string,
  number: number,
): Promise<number> => {
  const row = await db.row<{ deleted: number }>(sql`
    with gone as (
      update file_versions set deleted_at = now()
      where org_id = ${orgId} and file_id = ${fileId} and number = ${number} and deleted_at is null
      returning ${bytesOf(sql`file_versions`)} as bytes
    ), total as (
      select count(*)::int as deleted, coalesce(sum(bytes), 0)::bigint as bytes from gone
    ), lowered as (
      update files set versions_bytes = versions_bytes - total.bytes from total
      where files.org_id = ${orgId} and files.id = ${fileId} and total.bytes <> 0
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes)
      select ${orgId}::uuid, pg_backend_pid() % 64, 0, -bytes from total where bytes <> 0
      on conflict (org_id, slot) do update set stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes
    )
    select deleted from total`)
  return row?.deleted ?? 0
}

/** The number of former versions with a label. */
export const countLabelled = async (db: Transaction, orgId: string, fileId: string): Promise<number> => {
  const row = await db.row<{ labelled: number }>(sql`
    select count(*)::int as labelled from file_versions
    where org_id = ${orgId} and file_id = ${fileId} and deleted_at is null and label is not null`)
  return row?.labelled ?? 0
}

/** Returns 0 when there is no such former version. */
export const labelVersion = (
  db: Transaction,
  orgId: string,
  { fileId, number, label }: { fileId: string; number: number; label: string | null },
) =>
  db.execute(sql`
    update file_versions set label = ${label}
    where org_id = ${orgId} and file_id = ${fileId} and number = ${number} and deleted_at is null`)

export const labelCurrent = (db: Transaction, orgId: string, fileId: string, label: string | null) =>
  db.execute(sql`update files set version_label = ${label} where org_id = ${orgId} and id = ${fileId}`)

/** Deletes the versions of purged files that still refer to their bytes. Their size no longer counts. */
export const deletePurgedVersions = (db: Db, orgId: string, limit: number) =>
  db.execute(sql`
    update file_versions v set deleted_at = now()
    where v.org_id = ${orgId} and v.deleted_at is null and v.file_id in (
      select id from files
      where org_id = ${orgId} and deleted_at is not null and trash_id is null and blob_id is not null
      order by blob_id limit ${limit}
    )`)

/** The same for all purged files, also those that a server of the previous version has released. */
export const deleteForgottenVersions = (db: Db) =>
  db.execute(sql`
    -- all orgs: the nightly reconciliation
    update file_versions v set deleted_at = now() from files f
    where v.org_id = f.org_id and v.file_id = f.id and v.deleted_at is null and f.deleted_at is not null
      and f.trash_id is null`)

/** What an org has set; null: as the server is configured. */
export interface RetentionRow {
  versionsKept: number | null
  versionsDays: number | null
}

export const findRetention = (db: Db, orgId: string) =>
  db.row<RetentionRow>(sql`select versions_kept, versions_days from file_retention where org_id = ${orgId}`)

/** Sets the given values and returns all: concurrent changes of different values are kept. */
export const setRetention = (db: Transaction, orgId: string, { versionsKept, versionsDays }: Partial<RetentionRow>) =>
  db.row<RetentionRow>(sql`
    insert into file_retention (org_id, versions_kept, versions_days)
    values (${orgId}, ${versionsKept ?? null}, ${versionsDays ?? null})
    on conflict (org_id) do update set
      versions_kept = case when ${versionsKept !== undefined}::boolean then excluded.versions_kept
        else file_retention.versions_kept end,
      versions_days = case when ${versionsDays !== undefined}::boolean then excluded.versions_days
        else file_retention.versions_days end
    returning versions_kept, versions_days`)

/** The lowest number of days that an org has set, without 0. */
export const findLeastDays = (db: Db) =>
  db.row<{ days: number | null }>(sql`
    -- all orgs: an hourly job of the server
    select min(versions_days) as days from file_retention where versions_days > 0`)

/** Live files with versions that are due. `leastDays` is the lowest number of days of any org. */
export const listDue = (db: Db, { leastDays, days, limit }: { leastDays: number; days: number; limit: number }) =>
  db.rows<{ orgId: string; fileId: string }>(sql`
    -- all orgs: an hourly job of the server
    select distinct v.org_id, v.file_id
    from file_versions v
      join files f on f.org_id = v.org_id and f.id = v.file_id and f.deleted_at is null
      left join file_retention r on r.org_id = v.org_id
    where v.deleted_at is null and v.label is null and v.replaced_at < now() - make_interval(days => ${leastDays}::int)
      and coalesce(r.versions_days, ${days}::int) > 0
      and v.replaced_at < now() - make_interval(days => coalesce(r.versions_days, ${days}::int))
    limit ${limit}`)
