import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { bytesOf, columnsOf, sizeOf } from '../size-queries.ts'

/** Registers a blob before the first byte of its object is written. */
export const insertWritingBlob = (db: Db, orgId: string, id: string) =>
  db.execute(sql`insert into blobs (org_id, id, state) values (${orgId}, ${id}, 'writing')`)

/**
 * The blob for a file with these bytes: an existing live blob with the same hash, otherwise this blob, which becomes
 * live. An existing one is locked until the transaction ends, so that it is not deleted now: the deletion locks it
 * for update and then checks again for files that use it. Undefined when this blob was marked as unused. Violates the unique
 * index blobs_sha256_key when another upload of the same bytes committed first.
 */
export const activateBlob = (db: Db, blob: { orgId: string; blobId: string; sha256: Buffer; sizeBytes: number }) =>
  db.row<{ id: string }>(sql`
    with known as (
      select id from blobs where org_id = ${blob.orgId} and sha256 = ${blob.sha256} and state = 'live' for key share
    ), made as (
      update blobs set state = 'live', sha256 = ${blob.sha256}, size_bytes = ${columnsOf(blob.sizeBytes).small},
        large_bytes = ${columnsOf(blob.sizeBytes).large}
      where org_id = ${blob.orgId} and id = ${blob.blobId} and state = 'writing' and not exists (select from known)
      returning id
    )
    select id from known union all select id from made`)

/**
 * Locks the blob that becomes that of a version, and the one that has the new bytes, in order of ids like lockBlobs, to
 * prevent deadlocks.
 */
export const lockForVersion = (db: Db, orgId: string, blobId: string, sha256: Buffer) =>
  db.execute(sql`
    select from blobs
    where org_id = ${orgId} and (id = ${blobId} or (sha256 = ${sha256} and state = 'live'))
    order by id for no key update`)

export const markVersioned = (db: Db, orgId: string, blobId: string) =>
  db.execute(sql`
    update blobs set is_versioned = true where org_id = ${orgId} and id = ${blobId} and not is_versioned`)

/** Marks the blob of a failed upload as unused. Returns 0 when a file, or an unfinished upload, uses it after all. */
export const markUnused = (db: Db, orgId: string, id: string) =>
  db.execute(sql`
    update blobs set state = 'unused' where org_id = ${orgId} and id = ${id} and state in ('writing', 'unused')`)

/** Deletes the rows of unused blobs whose objects are deleted. */
export const deleteUnused = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    delete from blobs where org_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'unused'`)

/**
 * Blobs that purged files or deleted versions of the org still refer to. Each is checked for other files before it is
 * marked as unused.
 */
export const listUnreleased = (db: Db, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select blob_id as id from (
      select blob_id from files
      where org_id = ${orgId} and deleted_at is not null and trash_id is null and blob_id is not null
      order by blob_id limit ${limit}
    ) f
    union
    select blob_id from (
      select blob_id from file_versions where org_id = ${orgId} and deleted_at is not null
      order by blob_id limit ${limit}
    ) v`)

/** Locks blobs, so that no upload starts to share one while it is checked. In order of ids, to prevent deadlocks. */
export const lockBlobs = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    select from blobs where org_id = ${orgId} and id = any(${ids}::uuid[]) order by id for update`)

/**
 * Marks those as unused that no file or version uses, live or in the trash, clears the purged files' references and deletes
 * the deleted versions, so that the next batch differs. Needs the locks of lockBlobs. It is one statement, because all
 * parts must see one snapshot: a file purged between two statements would lose its reference without a check. A purged file
 * keeps its reference until its versions are deleted.
 */
export const markOrphans = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    with released as (
      update files set blob_id = null
      where org_id = ${orgId} and blob_id = any(${ids}::uuid[]) and deleted_at is not null and trash_id is null
        and not exists (
          select from file_versions v where v.org_id = ${orgId} and v.file_id = files.id and v.deleted_at is null)
    ), forgotten as (
      delete from file_versions
      where org_id = ${orgId} and blob_id = any(${ids}::uuid[]) and deleted_at is not null
    )
    update blobs b set state = 'unused', is_versioned = false
    where b.org_id = ${orgId} and b.id = any(${ids}::uuid[]) and b.state = 'live' and not exists (
      select from files f
      where f.org_id = b.org_id and f.blob_id = b.id and (f.deleted_at is null or f.trash_id is not null))
    and not exists (
      select from file_versions v where v.org_id = b.org_id and v.blob_id = b.id and v.deleted_at is null)`)

export const listUnused = (db: Db, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select id from blobs where org_id = ${orgId} and state = 'unused' order by created_at limit ${limit}`)

/** Orgs with running or interrupted uploads, unused blobs, or purged files or deleted versions that still refer to a blob. */
export const listUnsettledOrgs = (db: Db) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: the nightly reconciliation
    select org_id from blobs where state <> 'live'
    union
    select org_id from files where deleted_at is not null and trash_id is null and blob_id is not null
    union
    select org_id from file_versions where deleted_at is not null`)

/** Marks the blobs of uploads that a crash interrupted as unused; no upload runs this long. */
export const markAbandoned = (db: Db, orgId: string, minAgeHours: number) =>
  db.execute(sql`
    update blobs set state = 'unused'
    where org_id = ${orgId} and state = 'writing' and created_at < now() - make_interval(hours => ${minAgeHours})`)

/** Those of these orgs that this database has. */
export const listExistingOrgs = (db: Db, orgIds: string[]) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: a bucket may be shared with another installation
    select id as org_id from orgs where id = any(${orgIds}::uuid[])`)

/** Those of these blobs that have a row. */
export const listKnown = (db: Db, orgIds: string[], ids: string[]) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: each object is looked up under the org that its key names
    select b.org_id, b.id
    from blobs b join unnest(${orgIds}::uuid[], ${ids}::uuid[]) as object (org_id, id)
      on b.org_id = object.org_id and b.id = object.id`)

export interface LiveBlob {
  orgId: string
  id: string
  sizeBytes: number
  isUsed: boolean
}

export const listLive = (db: Db, minAgeHours: number, after: { orgId: string; id: string }, limit: number) =>
  db.rows<LiveBlob>(sql`
    -- all orgs: the nightly reconciliation
    select b.org_id, b.id, ${sizeOf(sql`b`)} as size_bytes, exists (
      select from files f
      where f.org_id = b.org_id and f.blob_id = b.id and (f.deleted_at is null or f.trash_id is not null))
    or exists (
      select from file_versions v where v.org_id = b.org_id and v.blob_id = b.id and v.deleted_at is null) as is_used
    from blobs b
    where (b.org_id, b.id) > (${after.orgId}::uuid, ${after.id}::uuid) and b.state = 'live'
      and b.created_at < now() - make_interval(hours => ${minAgeHours})
    order by b.org_id, b.id limit ${limit}`)

export const isLive = async (db: Db, orgId: string, id: string): Promise<boolean> => {
  const row = await db.row(sql`select 1 from blobs where org_id = ${orgId} and id = ${id} and state = 'live'`)
  return row !== undefined
}

/** Pending files of this age in any org, the oldest first. */
export const listUnfinished = (db: Db, minAgeHours: number, limit: number) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: an hourly job of the server
    select org_id, id from files
    where status = 'pending' and deleted_at is null and created_at < now() - make_interval(hours => ${minAgeHours})
      and not exists (
        select from direct_uploads d
        where d.org_id = files.org_id and d.file_id = files.id and d.state in ('open', 'verifying'))
    order by created_at limit ${limit}`)

export interface DeletedFile {
  id: string
  name: string
  mimeType: string | null
  size: number
  parentId: string | null
  projectId: string | null
}

/** Deletes those of an org's files that are pending, and subtracts them from the counts of their folders and the org. */
export const deleteUnfinished = (db: Db, orgId: string, ids: string[]) =>
  db.rows<DeletedFile>(sql`
    with stale as (
      select id from files
      where org_id = ${orgId} and id = any(${ids}::uuid[]) and status = 'pending' and deleted_at is null
      order by id for update skip locked
    ), deleted as (
      update files f set deleted_at = now(), updated_at = now(), revision = revision + 1
      from stale where f.org_id = ${orgId} and f.id = stale.id
      returning f.org_id, f.id, f.name, f.mime_type, ${bytesOf(sql`f`)} as stored_bytes, f.parent_id, f.project_id, f.container_id
    ), counted as (
      insert into folder_counts (org_id, folder_id, slot, children)
      select org_id, container_id, pg_backend_pid() % 16, -count(*) from deleted group by 1, 2 order by 1, 2
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + excluded.children
      returning 1
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes)
      select org_id, pg_backend_pid() % 64, -count(*), -sum(stored_bytes) from deleted
      where (select count(*) from counted) > 0 group by 1, 2 order by 1
      on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
        stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes
    )
    select id, name, mime_type, stored_bytes::float8 as size, parent_id, project_id from deleted`)
