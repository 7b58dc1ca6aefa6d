import { sql } from '../platform/database.ts'
import type { Db } from '../platform/database.ts'

/** Before the first byte is written. */
export const insertWritingBlob = (db: Db, orgId: string, id: string) =>
  db.execute(sql`insert into blobs (org_id, id, state) values (${orgId}, ${id}, 'writing')`)

/**
 * The blob that already has these bytes, held so that nobody removes it before this transaction ends: the remover
 * locks it for update and then looks again for files that use it.
 */
export const holdLiveBlob = (db: Db, orgId: string, sha256: Buffer) =>
  db.row<{ id: string }>(sql`
    select id from blobs where org_id = ${orgId} and sha256 = ${sha256} and state = 'live' for key share`)

/** Fails on the unique index blobs_sha256_key when another upload of the same bytes was first. */
export const makeBlobLive = (db: Db, orgId: string, id: string, sha256: Buffer, sizeBytes: number) =>
  db.execute(sql`
    update blobs set state = 'live', sha256 = ${sha256}, size_bytes = ${sizeBytes}
    where org_id = ${orgId} and id = ${id} and state = 'writing'`)

/** The bytes of an upload that came to nothing. 0 when they belong to a file after all. */
export const condemnUnused = (db: Db, orgId: string, id: string) =>
  db.execute(sql`
    update blobs set state = 'condemned' where org_id = ${orgId} and id = ${id} and state <> 'live'`)

/** After its object is gone. */
export const deleteCondemned = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    delete from blobs where org_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'condemned'`)

/** Blobs that deleted files of the org still point at; each must be looked at again before it goes. */
export const listUnreleased = (db: Db, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select distinct blob_id as id from (
      select blob_id from files
      where org_id = ${orgId} and deleted_at is not null and blob_id is not null
      order by blob_id limit ${limit}
    ) f`)

/** Held so that no upload can come to share one of them before it is decided whether it goes. In order: no deadlock. */
export const lockBlobs = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    select from blobs where org_id = ${orgId} and id = any(${ids}::uuid[]) order by id for update`)

/** Those that no live file uses are condemned. Only under their locks. */
export const condemnOrphans = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    update blobs b set state = 'condemned'
    where b.org_id = ${orgId} and b.id = any(${ids}::uuid[]) and b.state = 'live' and not exists (
      select from files f where f.org_id = b.org_id and f.blob_id = b.id and f.deleted_at is null)`)

/** Deleted files let go of them, so that the next look finds others. */
export const releaseBlobs = (db: Db, orgId: string, ids: string[]) =>
  db.execute(sql`
    update files set blob_id = null
    where org_id = ${orgId} and blob_id = any(${ids}::uuid[]) and deleted_at is not null`)

export const listCondemned = (db: Db, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select id from blobs where org_id = ${orgId} and state = 'condemned' order by created_at limit ${limit}`)
