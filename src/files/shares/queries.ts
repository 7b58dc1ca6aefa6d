import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import { mayRead, mayWrite } from '../access/condition-queries.ts'
import type { Reader } from '../access/condition-queries.ts'
import { fileColumns } from '../queries.ts'
import type { WritableRow } from '../queries.ts'
import { sizeOf } from '../size-queries.ts'

export type SharePermission = 'view' | 'download' | 'upload'

/** What the creator of a share can change. */
export interface ShareSettings {
  expiresAt: string | null
  maxDownloads: number | null
  maxUploads: number | null
  maxFileBytes: number | null
  allowedTypes: string[] | null
}

export interface ShareRow extends ShareSettings {
  id: string
  fileId: string
  permission: SharePermission
  hasPassword: boolean
  downloads: number
  uploads: number
  createdBy: string
  /** The API key by which it was created, with the scopes that the key had; null for one that was created in the console. */
  apiKeyId: string | null
  keyScopes: string[]
  createdAt: string
  updatedAt: string
  lastUsedAt: string | null
  revision: number
}

/** The columns of a ShareRow; the table must be called `s`. */
const shareColumns = sql`s.id, s.file_id, s.permission, s.password_hash is not null as has_password, s.expires_at,
  s.max_downloads, s.downloads, s.max_uploads, s.uploads, s.max_file_bytes, s.allowed_types, s.created_by,
  s.api_key_id, s.key_scopes, s.created_at, s.updated_at, s.last_used_at, s.revision`

export interface NewShare extends ShareSettings {
  id: string
  fileId: string
  tokenHash: Buffer
  permission: SharePermission
  passwordHash: string | null
  /** Those of the file when it is shared. */
  guards: string[] | null
}

export const insertShare = (db: Transaction, actor: Actor, share: NewShare) =>
  db.row<ShareRow>(sql`
    insert into file_shares as s (org_id, id, file_id, token_hash, permission, password_hash, expires_at, max_downloads,
      max_uploads, max_file_bytes, allowed_types, created_by, api_key_id, key_scopes, guards)
    values (${actor.orgId}, ${share.id}, ${share.fileId}, ${share.tokenHash}, ${share.permission},
      ${share.passwordHash}, ${share.expiresAt}, ${share.maxDownloads}, ${share.maxUploads}, ${share.maxFileBytes},
      ${share.allowedTypes}, ${actor.userId}, ${actor.apiKey?.id ?? null}, ${actor.apiKey?.scopes ?? []}::text[],
      ${share.guards}::uuid[])
    returning ${shareColumns}`)

/** Serialises the creation of shares, so that their number is exact. */
export const lockShares = (db: Transaction, { orgId }: Actor) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended('file shares ' || ${orgId}, 0))`)

/** The number of shares of the org and of a file. */
export const countShares = async (
  db: Db,
  { orgId }: Actor,
  fileId: string,
): Promise<{ ofOrg: number; ofFile: number }> => {
  const row = await db.row<{ ofOrg: number; ofFile: number }>(sql`
    select count(*)::int as of_org, count(*) filter (where file_id = ${fileId})::int as of_file
    from file_shares where org_id = ${orgId}`)
  return row ?? { ofOrg: 0, ofFile: 0 }
}

/** A file that is live or in the trash: its shares can be listed and revoked there as well. */
export const findSharedFile = (db: Db, actor: Actor, id: string) =>
  db.row<WritableRow>(sql`
    select ${fileColumns}, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and (f.deleted_at is null or f.trash_id is not null)
      and ${mayRead(actor)}`)

/** The shares of a file, the newest first. */
export const listShares = (
  db: Db,
  { orgId }: Actor,
  fileId: string,
  { after, limit }: { after: string | undefined; limit: number },
) =>
  db.rows<ShareRow>(sql`
    select ${shareColumns} from file_shares s
    where s.org_id = ${orgId} and s.file_id = ${fileId} ${after === undefined ? empty : sql`and s.id < ${after}`}
    order by s.id desc limit ${limit}`)

export interface ListedShareRow extends ShareRow {
  fileName: string
  fileSource: 'upload' | 'folder'
}

/** The shares of all live files of the org that are open to the actor, the newest first. */
export const listOrgShares = (db: Db, actor: Actor, page: { after: string | undefined; limit: number }) =>
  db.rows<ListedShareRow>(sql`
    select ${shareColumns}, f.name as file_name, f.source as file_source
    from file_shares s join files f on f.org_id = s.org_id and f.id = s.file_id
    where s.org_id = ${actor.orgId} and f.deleted_at is null and ${mayRead(actor)} ${page.after === undefined ? empty : sql`and s.id < ${page.after}`}
    order by s.id desc limit ${page.limit}`)

export const findShare = (db: Db, { orgId }: Actor, fileId: string, id: string) =>
  db.row<ShareRow>(sql`
    select ${shareColumns} from file_shares s
    where s.org_id = ${orgId} and s.file_id = ${fileId} and s.id = ${id}`)

export const lockShare = (db: Transaction, { orgId }: Actor, fileId: string, id: string) =>
  db.row<ShareRow>(sql`
    select ${shareColumns} from file_shares s
    where s.org_id = ${orgId} and s.file_id = ${fileId} and s.id = ${id} for update`)

/** `passwordHash`: undefined leaves it, null removes it. */
export const updateShare = (
  db: Transaction,
  { orgId }: Actor,
  id: string,
  settings: ShareSettings & { passwordHash: string | null | undefined },
) =>
  db.row<ShareRow>(sql`
    update file_shares s
    set expires_at = ${settings.expiresAt}, max_downloads = ${settings.maxDownloads},
      max_uploads = ${settings.maxUploads}, max_file_bytes = ${settings.maxFileBytes},
      allowed_types = ${settings.allowedTypes},
      password_hash = case when ${settings.passwordHash === undefined}::boolean then password_hash
        else ${settings.passwordHash ?? null} end,
      revision = revision + 1, updated_at = now()
    where s.org_id = ${orgId} and s.id = ${id}
    returning ${shareColumns}`)

export const deleteShare = (db: Transaction, { orgId }: Actor, id: string) =>
  db.execute(sql`delete from file_shares where org_id = ${orgId} and id = ${id}`)

/** A share as its visitors use it, with the file at its URL. */
export interface OpenShare extends ShareRow {
  orgId: string
  passwordHash: string | null
  name: string
  source: 'upload' | 'folder'
  /** Those that its file had when it was shared: what was restricted later is not open to visitors. */
  guards: string[] | null
  /** Those that its file has now. */
  fileGuards: string[] | null
}

/** A share with the person who shared the file: visitors see what this person may see. */
export interface SharedBy {
  share: OpenShare
  creator: Reader
}

/** Whether a file of a share is open to its visitors. */
const isShared = ({ share, creator }: SharedBy): Sql =>
  sql`(f.guards is null or f.guards <@ ${share.guards ?? []}::uuid[]) and ${mayRead(creator)}`

/** A share that has not expired and whose file is live, uploaded, and not restricted since it was shared. */
const openShare = sql`
  select ${shareColumns}, s.org_id, s.password_hash, f.name, f.source,
    s.guards, f.guards as file_guards
  from file_shares s join files f on f.org_id = s.org_id and f.id = s.file_id
  where (s.expires_at is null or s.expires_at > now()) and f.deleted_at is null and f.status = 'ready'
    and (f.guards is null or f.guards <@ s.guards)`

export const findOpenShare = (db: Db, orgId: string, tokenHash: Buffer) =>
  db.row<OpenShare>(sql`${openShare} and s.org_id = ${orgId} and s.token_hash = ${tokenHash}`)

/** Locks the share until an upload through it is stored, so that it is neither revoked nor changed in between. */
export const lockOpenShare = (db: Transaction, { orgId, id }: OpenShare) =>
  db.row<OpenShare>(sql`${openShare} and s.org_id = ${orgId} and s.id = ${id} for update of s`)

/** Counts a download. Returns 0 when the share allows no more: concurrent downloads wait for the lock of the row. */
export const takeDownload = (db: Db, { orgId, id }: OpenShare) =>
  db.execute(sql`
    update file_shares set downloads = downloads + 1, last_used_at = now()
    where org_id = ${orgId} and id = ${id} and (max_downloads is null or downloads < max_downloads)`)

/** Counts an upload in the transaction that stores it. Returns 0 when the share allows no more. */
export const countUpload = (db: Transaction, { orgId, id }: OpenShare) =>
  db.execute(sql`
    update file_shares set uploads = uploads + 1, last_used_at = now()
    where org_id = ${orgId} and id = ${id} and (max_uploads is null or uploads < max_uploads)`)

/** Counts an attempt to enter the password, before it is checked. Returns 0 when there were too many in the last hour. */
export const takeAttempt = (db: Db, { orgId, id }: OpenShare, most: number) =>
  db.execute(sql`
    update file_shares set attempts = attempts + 1 where org_id = ${orgId} and id = ${id} and attempts < ${most}::int`)

/** The seconds until the current hour of attempts is over. */
export const attemptsEnd = (db: Db, { orgId, id }: OpenShare) =>
  db.row<{ seconds: number }>(sql`
    select greatest(1, ceil(extract(epoch from attempts_since + interval '1 hour' - now())))::int as seconds
    from file_shares where org_id = ${orgId} and id = ${id}`)

/** Begins a new hour of attempts when the last one is over. */
export const forgetAttempts = (db: Db, { orgId, id }: OpenShare) =>
  db.execute(sql`
    update file_shares set attempts = 0, attempts_since = now()
    where org_id = ${orgId} and id = ${id} and attempts_since < now() - interval '1 hour'`)

/** A right password does not count as an attempt. */
export const returnAttempt = (db: Db, { orgId, id }: OpenShare) =>
  db.execute(sql`
    update file_shares set attempts = greatest(attempts - 1, 0) where org_id = ${orgId} and id = ${id}`)

export interface SharedItem {
  id: string
  name: string
  source: 'upload' | 'folder'
  size: number
  mimeType: string | null
}

/** A file or folder of a share: the shared one itself, or one that is below it. Links are not shared. */
export const findSharedItem = (db: Db, visit: SharedBy, id: string) => {
  const { orgId, fileId } = visit.share
  return db.row<SharedItem>(sql`
    with recursive up (id, parent_id) as (
      select id, parent_id from files where org_id = ${orgId} and id = ${id} and deleted_at is null
      union all
      select f.id, f.parent_id from up join files f on f.org_id = ${orgId} and f.id = up.parent_id
      where up.id <> ${fileId}
    )
    select f.id, f.name, f.source, ${sizeOf(sql`f`)} as size, f.mime_type from files f
    where f.org_id = ${orgId} and f.id = ${id} and f.deleted_at is null and f.status = 'ready' and f.source <> 'link'
      and exists (select from up where up.id = ${fileId}) and ${isShared(visit)}`)
}

/** A page of the files and folders in a shared folder. */
export const listSharedItems = (db: Db, visit: SharedBy, folderId: string, page: { limit: number; offset: number }) =>
  db.rows<SharedItem>(sql`
    select f.id, f.name, f.source, ${sizeOf(sql`f`)} as size, f.mime_type from files f
    where f.org_id = ${visit.share.orgId} and f.container_id = ${folderId} and f.deleted_at is null
      and f.status = 'ready' and f.source <> 'link' and ${isShared(visit)}
    order by f.listing_rank, f.name_key, f.id offset ${page.offset} limit ${page.limit}`)

/** Deletes shares that expired some days ago, and those of files that are deleted for good. */
export const deleteEnded = (db: Db, days: number) =>
  db.execute(sql`
    -- all orgs: a daily job of the server
    delete from file_shares s where s.expires_at < now() - make_interval(days => ${days}) or exists (
      select from files f
      where f.org_id = s.org_id and f.id = s.file_id and f.deleted_at is not null and f.trash_id is null)`)
