import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { fileColumns } from '../queries.ts'
import type { FileRow } from '../queries.ts'
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
export const findTrashedFile = (db: Transaction, orgId: string, id: string) =>
  db.row<FileRow>(sql`
    select ${fileColumns} from files f where f.org_id = ${orgId} and f.id = ${id} and f.trash_id is not null`)

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
    select ${fileColumns}, t.id as trash_id, t.deleted_at, t.deleted_by, t.purge_at
    from trash t join files f on f.org_id = t.org_id and f.id = t.file_id
    where t.org_id = ${actor.orgId} and t.purge_at > now() ${after === undefined ? empty : sql`and t.id < ${after}`}
    order by t.id desc offset ${offset} limit ${limit}`)

export const countEntries = async (db: Db, actor: Actor): Promise<number> => {
  const row = await db.row<{ total: bigint }>(sql`
    select count(*) as total from trash where org_id = ${actor.orgId} and purge_at > now()`)
  return Number(row?.total ?? 0n)
}

/** Makes the files of a locked entry live again, and adds them to the counts of their folders. Returns their number. */
export const restoreFiles = async (
  db: Transaction,
  orgId: string,
  entry: { id: string; fileId: string },
  { parentId, projectId }: ResolvedPlace,
): Promise<number> => {
  // A folder of a deleted project returns as an ordinary folder, so nothing stays protected.
  const row = await db.row<{ files: number }>(sql`
    with restored as (
      update files set deleted_at = null, trash_id = null, project_id = ${projectId}, is_protected = false,
        parent_id = case when id = ${entry.fileId} then ${parentId}::uuid else parent_id end,
        updated_at = now(), revision = revision + 1
      where org_id = ${orgId} and trash_id = ${entry.id}
      returning org_id, container_id, size_bytes + versions_bytes as stored_bytes
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

/** Makes a locked entry invisible and due. */
export const expireEntry = (db: Transaction, orgId: string, id: string) =>
  db.execute(sql`update trash set purge_at = now() where org_id = ${orgId} and id = ${id}`)

/** The same for the entries up to a time, except those that others are restoring. Returns their number. */
export const expireEntries = (db: Transaction, orgId: string, until: string, limit: number) =>
  db.execute(sql`
    update trash set purge_at = now()
    where org_id = ${orgId} and id in (
      select id from trash where org_id = ${orgId} and purge_at > now() and deleted_at <= ${until}::timestamptz
      order by id limit ${limit} for update skip locked)`)

export const readClock = (db: Db) => db.row<{ now: string }>(sql`select clock_timestamp()::text as now`)

/** Locks entries that are due. */
export const lockDue = (db: Transaction, orgId: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    select id from trash where org_id = ${orgId} and purge_at <= now() order by id limit ${limit}
    for update skip locked`)

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
      returning f.org_id, f.size_bytes + f.versions_bytes as stored_bytes
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
