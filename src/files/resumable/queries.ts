import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'
import { columnsOf, sizeOf } from '../size-queries.ts'

export interface UploadRow {
  id: string
  orgId: string
  createdBy: string
  kind: 'whole' | 'partial' | 'final'
  state: 'open' | 'complete' | 'ended'
  metadata: string | null
  name: string | null
  mimeType: string | null
  parentId: string | null
  sizeBytes: number
  receivedBytes: number
  fileId: string | null
  expiresAt: string
  /** The upload expires no later than this. */
  endsAt: string
  isExpired: boolean
}

const storedColumns = sql`id, org_id, created_by, kind, state, metadata, name, mime_type, parent_id,
  ${sizeOf(sql`uploads`)} as size_bytes, coalesce(large_received, received_bytes)::float8 as received_bytes, file_id,
  expires_at, ends_at`

export const uploadColumns = sql`${storedColumns},
  state = 'ended' or expires_at <= (select statement_timestamp()) as is_expired`

/** The row to claim for changing an upload. */
export const leased = (orgId: string, id: string): LeasedRow => ({
  table: sql`uploads`,
  row: sql`org_id = ${orgId} and id = ${id}`,
})

export const forgetWaiters = sql`is_wanted = false`

/** Tells the holder of the lease that another request waits for it. Returns 0 when the upload does not exist. */
export const setWanted = (db: Db, orgId: string, id: string) =>
  db.execute(sql`update uploads set is_wanted = true where org_id = ${orgId} and id = ${id}`)

export const isWanted = async (db: Db, orgId: string, id: string): Promise<boolean> =>
  (await db.row(sql`select 1 from uploads where org_id = ${orgId} and id = ${id} and is_wanted`)) !== undefined

/** An upload of this person. */
export const findUpload = (db: Db, owner: { orgId: string; userId: string }, id: string) =>
  db.row<UploadRow>(sql`
    select ${uploadColumns} from uploads
    where org_id = ${owner.orgId} and id = ${id} and created_by = ${owner.userId}`)

export const open = { table: sql`uploads`, isUnfinished: sql`state = 'open'` }

export interface NewUploadRow {
  id: string
  kind: UploadRow['kind']
  metadata: string | null
  name: string | null
  mimeType: string | null
  parentId: string | null
  sizeBytes: number
  /** Of a final upload, which is complete. */
  fileId?: string
}

export const insertUpload = (
  db: Db,
  owner: { orgId: string; userId: string },
  upload: NewUploadRow,
  { idle, total }: { idle: number; total: number },
) => {
  const { small, large } = columnsOf(upload.sizeBytes)
  const received = upload.fileId === undefined ? 0 : upload.sizeBytes
  return db.row<UploadRow>(sql`
    insert into uploads (org_id, id, created_by, kind, state, metadata, name, mime_type, parent_id, size_bytes,
      large_bytes, received_bytes, large_received, file_id, expires_at, ends_at)
    values (${owner.orgId}, ${upload.id}, ${owner.userId}, ${upload.kind},
      ${upload.fileId === undefined ? 'open' : 'complete'}, ${upload.metadata}, ${upload.name}, ${upload.mimeType},
      ${upload.parentId}, ${small}, ${large}, ${large === null ? received : 0}, ${large === null ? null : received},
      ${upload.fileId ?? null}, now() + make_interval(hours => ${idle}),
      now() + make_interval(hours => ${total}))
    returning ${storedColumns}, false as is_expired`)
}

/** Adds to what counts towards the quotas of an org: what an open upload reserves. */
export const addReserved = (db: Transaction, orgId: string, { files, bytes }: { files: number; bytes: number }) =>
  db.execute(sql`
    insert into org_file_usage (org_id, slot, files, stored_bytes)
    values (${orgId}, pg_backend_pid() % 64, ${files}, ${bytes})
    on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
      stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes`)

export interface PartRow {
  /** Where the part comes: that of its first byte, and in an upload of more than 2 GB the number of parts before it. */
  position: number
  sizeBytes: number
  blobId: string
  sha256: Buffer
}

export const listParts = (db: Db, orgId: string, uploadId: string) =>
  db.rows<PartRow>(sql`
    select start_byte as position, size_bytes, blob_id, sha256 from upload_parts
    where org_id = ${orgId} and upload_id = ${uploadId} order by start_byte`)

export const findLastPart = (db: Db, orgId: string, uploadId: string) =>
  db.row<PartRow>(sql`
    select start_byte as position, size_bytes, blob_id, sha256 from upload_parts
    where org_id = ${orgId} and upload_id = ${uploadId} order by start_byte desc limit 1`)

/** Whether an upload has its sizes in the columns for large ones. */
export const isLarge = (sizeBytes: number): boolean => columnsOf(sizeBytes).large !== null

/**
 * Moves the offset of an upload. Returns 0 when the lease is lost. An upload that has expired meanwhile, as that of a member
 * who was removed, stays expired.
 */
export const setReceived = (
  db: Transaction,
  { orgId, id, endsAt, sizeBytes }: UploadRow,
  token: string,
  { from, to, hours }: { from: number; to: number; hours: number },
) => {
  const column = isLarge(sizeBytes) ? sql`large_received` : sql`received_bytes`
  return db.execute(sql`
    update uploads set ${column} = ${to},
      expires_at = case
        when expires_at <= (select statement_timestamp()) then expires_at
        else (select least(now() + make_interval(hours => ${hours}), ${endsAt}::timestamptz))
      end
    where org_id = ${orgId} and id = ${id} and lease_token = ${token} and state = 'open' and ${column} = ${from}`)
}

/** Stores a part, in place of a shorter one at the same position. */
export const upsertPart = (db: Transaction, orgId: string, uploadId: string, part: PartRow) =>
  db.execute(sql`
    insert into upload_parts (org_id, upload_id, start_byte, size_bytes, blob_id, sha256)
    values (${orgId}, ${uploadId}, ${part.position}, ${part.sizeBytes}, ${part.blobId}, ${part.sha256})
    on conflict (org_id, upload_id, start_byte) do update
      set size_bytes = excluded.size_bytes, blob_id = excluded.blob_id, sha256 = excluded.sha256`)

/** Deletes the parts of uploads. Returns the ids of their blobs. */
export const deleteParts = (db: Db, orgId: string, uploadIds: string[]) =>
  db.rows<{ blobId: string }>(sql`
    delete from upload_parts where org_id = ${orgId} and upload_id = any(${uploadIds}::uuid[]) returning blob_id`)

/** Changes the state of blobs. Returns the number of those that had the state `from`. */
export const setBlobState = (
  db: Db,
  orgId: string,
  ids: string[],
  { from, to }: { from: 'writing' | 'part'; to: 'writing' | 'part' | 'unused' },
) =>
  db.execute(sql`
    update blobs set state = ${to} where org_id = ${orgId} and id = any(${ids}::uuid[]) and state = ${from}`)

/** Marks an upload as complete. Returns 0 when the lease is lost. */
export const setComplete = (db: Transaction, { orgId, id }: UploadRow, token: string, fileId: string) =>
  db.execute(sql`
    update uploads set state = 'complete', file_id = ${fileId}
    where org_id = ${orgId} and id = ${id} and lease_token = ${token} and state = 'open'`)

/** Deletes open uploads by the tokens of their leases. Returns what they reserved. */
export const deleteUploads = (db: Transaction, orgId: string, claims: { id: string; token: string }[]) =>
  db.rows<{ kind: UploadRow['kind']; sizeBytes: number }>(sql`
    delete from uploads u using unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ token }) => token)}::uuid[])
      as claim (id, token)
    where u.org_id = ${orgId} and u.id = claim.id and u.lease_token = claim.token and u.state = 'open'
    returning u.kind, ${sizeOf(sql`u`)} as size_bytes`)

/** Deletes the row of an upload that is complete or has ended. */
export const deleteFinished = (db: Db, { orgId, id }: UploadRow) =>
  db.execute(sql`delete from uploads where org_id = ${orgId} and id = ${id} and state <> 'open'`)

export const listExpired = (db: Db, limit: number) =>
  db.rows<{ orgId: string; id: string }>(sql`
    -- all orgs: an hourly job of the server
    select org_id, id from uploads where state = 'open' and expires_at <= now() order by expires_at limit ${limit}`)

/** Ends expired uploads that no request is using. Returns what they reserved. */
export const endExpired = (db: Transaction, orgId: string, ids: string[]) =>
  db.rows<{ id: string; kind: UploadRow['kind']; sizeBytes: number }>(sql`
    with expired as (
      select id from uploads
      where org_id = ${orgId} and id = any(${ids}::uuid[]) and state = 'open' and expires_at <= now()
        and (lease_token is null or lease_until < statement_timestamp())
      order by id for update skip locked
    )
    update uploads u set state = 'ended' from expired
    where u.org_id = ${orgId} and u.id = expired.id
    returning u.id, u.kind, ${sizeOf(sql`u`)} as size_bytes`)

/** Deletes the rows of uploads that ended or were completed long ago. Returns their number. */
export const deleteForgotten = (db: Db, days: number) =>
  db.execute(sql`
    -- all orgs: an hourly job of the server
    delete from uploads where state <> 'open' and expires_at < now() - make_interval(days => ${days})`)
