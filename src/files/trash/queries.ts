import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql, Transaction } from '../../platform/database/database.ts'
import { hasAllAccess, mayRead, mayWrite, openFolders } from '../access/condition-queries.ts'
import { readColumns } from '../queries.ts'
import type { FileRow, WritableRow } from '../queries.ts'
import { bytesOf } from '../size-queries.ts'
import type { ResolvedPlace } from '../tree/tree.ts'

export interface NewEntry {
  id: string
  fileId: string
  /** How deep a folder is nested, with itself; 0 for a file or link. */
  levels: number
  days: number
}

export const insertEntry = (db: Transaction, actor: Actor, { id, fileId, levels, days }: NewEntry) =>
  db.execute(sql`
    insert into trash (org_id, id, file_id, levels, deleted_by, purge_at)
    values (${actor.orgId}, ${id}, ${fileId}, ${levels}, ${actor.userId}, now() + make_interval(days => ${days}))`)

export interface EntryRow {
  id: string
  levels: number
}

/** The entry of a file that was deleted by itself, locked so that it is neither restored nor purged by others. */
export const lockEntry = (db: Transaction, orgId: string, fileId: string) =>
  db.row<EntryRow>(sql`
    select id, levels from trash where org_id = ${orgId} and file_id = ${fileId} and purge_at > now() for update`)

/** A file in the trash. */
export const findTrashedFile = (db: Transaction, actor: Actor, id: string) =>
  db.row<WritableRow>(sql`
    select ${readColumns(actor)}, ${mayWrite(actor)} as is_writable from files f
    where f.org_id = ${actor.orgId} and f.id = ${id} and f.trash_id is not null and ${mayRead(actor)}`)

// The trash is deleted as a whole, so it must not contain a restricted folder that the actor may not change.
const mayPurge = (actor: Actor): Sql =>
  hasAllAccess(actor)
    ? sql`true`
    : sql`not exists (
        select from files x
        where x.org_id = ${actor.orgId} and x.trash_id = t.id and (x.id = t.file_id or x.listing_rank = 0)
          and x.guards is not null and not (x.guards <@ ${openFolders(actor, 'write')}))`

/** Whether the actor may delete everything in an entry. */
export const isPurgeable = async (db: Transaction, actor: Actor, entryId: string): Promise<boolean> => {
  const row = await db.row(sql`
    select 1 from trash t where t.org_id = ${actor.orgId} and t.id = ${entryId} and ${mayPurge(actor)}`)
  return row !== undefined
}

export interface TrashedRow extends FileRow {
  trashId: string
  deletedAt: string
  deletedBy: string
  purgeAt: string
}

/** A part of the trash: `limit` rows after an entry, or after `offset` rows. */
export interface TrashWindow {
  limit: number
  after: string | undefined
  offset: number
}

/** The latest deletion first: ids of entries are ordered by time. */
export const listEntries = (db: Db, actor: Actor, { limit, after, offset }: TrashWindow) =>
  db.rows<TrashedRow>(sql`
    select ${readColumns(actor)}, t.id as trash_id, t.deleted_at, t.deleted_by, t.purge_at
    from trash t join files f on f.org_id = t.org_id and f.id = t.file_id
    where t.org_id = ${actor.orgId} and t.purge_at > now() and ${mayRead(actor)} ${after === undefined ? empty : sql`and t.id < ${after}`}
    order by t.id desc offset ${offset} limit ${limit}`)

/** `isFiltered`: without those that are not open to the actor. */
export const countEntries = async (db: Db, actor: Actor, isFiltered: boolean): Promise<number> => {
  const row = await db.row<{ total: bigint }>(sql`
    select count(*) as total
    from trash t ${isFiltered ? sql`join files f on f.org_id = t.org_id and f.id = t.file_id and ${mayRead(actor)}` : empty}
    where t.org_id = ${actor.orgId} and t.purge_at > now()`)
  return Number(row?.total ?? 0n)
}

/** Makes the files of a locked entry live again, and adds them to the counts of their folders. Returns their number. */
export const restoreFiles = async (
  db: Transaction,
  orgId: string,
  entry: { id: string; fileId: string },
  { parentId, projectId, guards }: ResolvedPlace,
): Promise<number> => {
  // A folder of a deleted project returns as an ordinary folder, so nothing stays protected.
  const row = await db.row<{ files: number }>(sql`
    with restored as (
      update files set deleted_at = null, trash_id = null, project_id = ${projectId}, is_protected = false,
        parent_id = case when id = ${entry.fileId} then ${parentId}::uuid else parent_id end,
        guards = case when id = ${entry.fileId} then ${guards}::uuid[] else guards end,
        updated_at = now(), revision = revision + 1
      where org_id = ${orgId} and trash_id = ${entry.id}
      returning org_id, container_id, ${bytesOf(sql`files`)} + versions_bytes as stored_bytes
    ), counted as (
      insert into folder_counts (org_id, folder_id, slot, children)
      select org_id, container_id, pg_backend_pid() % 16, count(*) from restored group by 1, 2 order by 1, 2
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + excluded.children
      returning 1
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes, trashed_files, trashed_bytes)
      select org_id, pg_backend_pid() % 64, 0, 0, -count(*), -sum(stored_bytes) from restored
      where (select count(*) from counted) > 0 group by 1, 2
      on conflict (org_id, slot) do update set trashed_files = org_file_usage.trashed_files + excluded.trashed_files,
        trashed_bytes = org_file_usage.trashed_bytes + excluded.trashed_bytes
    )
    select count(*)::int as files from restored`)
  return row?.files ?? 0
}

export const deleteEntries = (db: Transaction, orgId: string, ids: string[]) =>
  db.execute(sql`delete from trash where org_id = ${orgId} and id = any(${ids}::uuid[])`)

// The past of every transaction, also of those that began before this one and compare with the time of their start.
const past = sql`'-infinity'::timestamptz`

/** Makes a locked entry invisible and due. */
export const expireEntry = (db: Transaction, orgId: string, id: string) =>
  db.execute(sql`update trash set purge_at = ${past} where org_id = ${orgId} and id = ${id}`)

/**
 * The same for the entries up to a time, except those that others are restoring and those that the actor may not delete.
 * Returns their number.
 */
export const expireEntries = (db: Transaction, actor: Actor, until: string, limit: number) =>
  db.execute(sql`
    update trash set purge_at = ${past}
    where org_id = ${actor.orgId} and id in (
      select t.id from trash t
      where t.org_id = ${actor.orgId} and t.purge_at > now() and t.deleted_at <= ${until}::timestamptz
        and ${mayPurge(actor)}
      order by t.id limit ${limit} for update of t skip locked)`)

export const readClock = (db: Db) => db.row<{ now: string }>(sql`select clock_timestamp()::text as now`)

/** Locks entries that are due. */
export const lockDue = (db: Transaction, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select id from trash where org_id = ${orgId} and purge_at <= now() order by id limit ${limit}
    for update skip locked`)

/** The same for locked entries whose time is over. */
export const expireDue = (db: Transaction, orgId: string, ids: string[]) =>
  db.execute(sql`
    update trash set purge_at = ${past}
    where org_id = ${orgId} and id = any(${ids}::uuid[]) and purge_at > ${past}`)

/**
 * Lets files of locked entries go, at most `limit`, and subtracts them from the org's usage. Returns their number. Their
 * bytes are released by another job.
 */
export const purgeFiles = async (
  db: Transaction,
  orgId: string,
  entryIds: string[],
  limit: number,
): Promise<number> => {
  const row = await db.row<{ files: number }>(sql`
    with due as (
      select id from files where org_id = ${orgId} and trash_id = any(${entryIds}::uuid[]) limit ${limit}
    ), purged as (
      update files f set trash_id = null, updated_at = now()
      from due where f.org_id = ${orgId} and f.id = due.id
      returning f.org_id, ${bytesOf(sql`f`)} + f.versions_bytes as stored_bytes
    ), used as (
      insert into org_file_usage (org_id, slot, files, stored_bytes, trashed_files, trashed_bytes)
      select org_id, pg_backend_pid() % 64, -count(*), -sum(stored_bytes), -count(*), -sum(stored_bytes) from purged
      group by 1, 2
      on conflict (org_id, slot) do update set files = org_file_usage.files + excluded.files,
        stored_bytes = org_file_usage.stored_bytes + excluded.stored_bytes,
        trashed_files = org_file_usage.trashed_files + excluded.trashed_files,
        trashed_bytes = org_file_usage.trashed_bytes + excluded.trashed_bytes
    )
    select count(*)::int as files from purged`)
  return row?.files ?? 0
}

export const listDueOrgs = (db: Db) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: an hourly job of the server
    select distinct org_id from trash where purge_at <= now()`)
