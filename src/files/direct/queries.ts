import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'

export type DirectState = 'open' | 'verifying' | 'ready' | 'failed'

export interface DirectRow {
  orgId: string
  fileId: string
  blobId: string
  storeId: string
  sizeBytes: number
  partBytes: number
  state: DirectState
  error: string | null
  expiresAt: string
  isExpired: boolean
}

const storedColumns = sql`d.org_id, d.file_id, d.blob_id, d.store_id, d.size_bytes::float8 as size_bytes,
  d.part_bytes::float8 as part_bytes, d.state, d.error, d.expires_at`

const columns = sql`${storedColumns},
  d.state = 'open' and d.expires_at <= (select statement_timestamp()) as is_expired`

/** An upload of this person. */
export const findDirect = (db: Db, owner: { orgId: string; userId: string }, fileId: string) =>
  db.row<DirectRow>(sql`
    select ${columns} from direct_uploads d
    where d.org_id = ${owner.orgId} and d.file_id = ${fileId} and d.created_by = ${owner.userId}`)

/** Uploads that are open, are being verified or have failed. */
export const unfinished = { table: sql`direct_uploads`, isUnfinished: sql`state in ('open', 'verifying', 'failed')` }

export const insertPartBlob = (db: Transaction, orgId: string, id: string) =>
  db.execute(sql`insert into blobs (org_id, id, state) values (${orgId}, ${id}, 'part')`)

export interface NewDirect {
  fileId: string
  blobId: string
  storeId: string
  sizeBytes: number
  partBytes: number
}

/** How long an upload is kept after its last request for URLs, and in total. */
export interface KeptHours {
  idle: number
  total: number
}

export const insertDirect = (
  db: Transaction,
  owner: { orgId: string; userId: string },
  { fileId, blobId, storeId, sizeBytes, partBytes }: NewDirect,
  { idle, total }: KeptHours,
) =>
  db.row<DirectRow>(sql`
    insert into direct_uploads as d (org_id, file_id, created_by, blob_id, store_id, size_bytes, part_bytes, expires_at,
      ends_at)
    values (${owner.orgId}, ${fileId}, ${owner.userId}, ${blobId}, ${storeId}, ${sizeBytes}, ${partBytes},
      now() + make_interval(hours => ${idle}), now() + make_interval(hours => ${total}))
    returning ${storedColumns}, false as is_expired`)

/** Keeps an open upload for some hours more. */
export const extend = (db: Db, orgId: string, fileId: string, hours: number) =>
  db.row<{ expiresAt: string }>(sql`
    update direct_uploads
    set expires_at = greatest(expires_at, least((select statement_timestamp() + make_interval(hours => ${hours})), ends_at))
    where org_id = ${orgId} and file_id = ${fileId} and state = 'open'
    returning expires_at`)

/** Changes the state of an upload. Returns 0 when it does not have the state `from`. */
export const setState = (
  db: Transaction,
  orgId: string,
  fileId: string,
  { from, to, error = null }: { from: DirectState; to: DirectState; error?: string | null },
) =>
  db.execute(sql`
    update direct_uploads set state = ${to}, error = ${error}
    where org_id = ${orgId} and file_id = ${fileId} and state = ${from}`)

export const deleteDirect = (db: Transaction, orgId: string, fileId: string, states: readonly DirectState[]) =>
  db.row<{ blobId: string; storeId: string; state: DirectState }>(sql`
    delete from direct_uploads
    where org_id = ${orgId} and file_id = ${fileId} and state = any(${[...states]}::text[])
    returning blob_id, store_id, state`)

/** The same for one whose time is over and that is not being verified. */
export const deleteExpired = (db: Transaction, orgId: string, fileId: string) =>
  db.row<{ blobId: string; storeId: string; state: DirectState }>(sql`
    delete from direct_uploads
    where org_id = ${orgId} and file_id = ${fileId} and state <> 'verifying' and expires_at <= now()
    returning blob_id, store_id, state`)

// An upload whose file was deleted, or got its bytes otherwise, has no use.
const isUseless = sql`d.state in ('open', 'verifying') and (f.deleted_at is not null or f.status <> 'pending')`

export interface UselessRow {
  fileId: string
  blobId: string
  storeId: string
}

/** Unfinished uploads of an org whose files were deleted. */
export const listUseless = (db: Db, orgId: string, limit: number) =>
  db.rows<UselessRow>(sql`
    select d.file_id, d.blob_id, d.store_id
    from direct_uploads d join files f on f.org_id = ${orgId} and f.id = d.file_id
    where d.org_id = ${orgId} and ${isUseless} order by d.created_at limit ${limit}`)

export const listOrgsWithUseless = (db: Db) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: an hourly job of the server
    select distinct d.org_id from direct_uploads d join files f on f.org_id = d.org_id and f.id = d.file_id
    where ${isUseless}`)

/** Returns 0 when the upload has ended, or its file was restored. */
export const deleteUseless = (db: Transaction, orgId: string, fileId: string) =>
  db.execute(sql`
    delete from direct_uploads d using files f
    where d.org_id = ${orgId} and d.file_id = ${fileId} and f.org_id = ${orgId} and f.id = d.file_id and ${isUseless}`)

/** Whether the bytes of an upload are deleted, or are about to be. */
export const isDiscarded = async (db: Db, orgId: string, blobId: string): Promise<boolean> => {
  const row = await db.row(sql`
    select 1 from blobs where org_id = ${orgId} and id = ${blobId} and state <> 'unused'`)
  return row === undefined
}

/** An upload whose bytes are to be verified, with what was declared of its file. */
export const findVerifying = (db: Db, orgId: string, fileId: string) =>
  db.row<DirectRow & { mimeType: string; isUseless: boolean }>(sql`
    select ${columns}, f.mime_type, ${isUseless} as is_useless
    from direct_uploads d join files f on f.org_id = ${orgId} and f.id = d.file_id
    where d.org_id = ${orgId} and d.file_id = ${fileId} and d.state = 'verifying'`)

export const setBlobState = (
  db: Transaction,
  orgId: string,
  blobId: string,
  { from, to }: { from: 'part' | 'writing'; to: 'writing' | 'unused' },
) => db.execute(sql`update blobs set state = ${to} where org_id = ${orgId} and id = ${blobId} and state = ${from}`)

/** Uploads that nobody has completed in time, and what is remembered of others. */
export const listExpired = (db: Db, limit: number) =>
  db.rows<{ orgId: string; fileId: string }>(sql`
    -- all orgs: an hourly job of the server
    select org_id, file_id from direct_uploads
    where expires_at <= now() and state <> 'verifying' order by expires_at limit ${limit}`)

export const listVerifying = (db: Db, limit: number) =>
  db.rows<{ orgId: string; fileId: string }>(sql`
    -- all orgs: an hourly job of the server
    select org_id, file_id from direct_uploads where state = 'verifying' order by created_at limit ${limit}`)

/** Those of these objects that clients are uploading. */
export const listKept = (db: Db, orgIds: string[], blobIds: string[]) =>
  db.rows<{ orgId: string; blobId: string }>(sql`
    -- all orgs: each object is looked up under the org that its key names
    select d.org_id, d.blob_id
    from direct_uploads d join unnest(${orgIds}::uuid[], ${blobIds}::uuid[]) as object (org_id, blob_id)
      on d.org_id = object.org_id and d.blob_id = object.blob_id
    where d.state in ('open', 'verifying')`)
