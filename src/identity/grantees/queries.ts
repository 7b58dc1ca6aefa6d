import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export const listMembersOf = (db: Db, orgId: string, userIds: readonly string[]) =>
  db.rows<{ id: string; name: string }>(sql`
    select user_id as id, name from members where org_id = ${orgId} and user_id = any(${userIds}::uuid[])`)

export const listWorkspacesOf = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<{ id: string; name: string }>(sql`
    select id, name from workspaces
    where org_id = ${orgId} and id = any(${ids}::uuid[]) and deleted_at is null`)

/** A foreign key does the same, except where tables are distributed. */
export const deleteGrantsOfMember = (db: Db, orgId: string, userId: string) =>
  db.execute(sql`delete from folder_grants where org_id = ${orgId} and user_id = ${userId}`)

/** The favorites and recent files of a member. Foreign keys do the same, except where tables are distributed. */
export const deleteMarksOfMember = async (db: Db, orgId: string, userId: string): Promise<void> => {
  await db.execute(sql`delete from file_favorites where org_id = ${orgId} and user_id = ${userId}`)
  await db.execute(sql`delete from recent_files where org_id = ${orgId} and user_id = ${userId}`)
}

/**
 * Ends what a member has begun and nobody else can continue: WebDAV locks, which would keep others from writing for up to a
 * day, and unfinished uploads, which count towards the quotas until they expire. The hourly job deletes their bytes.
 */
export const endWorkOfMember = async (db: Db, orgId: string, userId: string): Promise<void> => {
  await db.execute(sql`delete from webdav_locks where org_id = ${orgId} and created_by = ${userId}`)
  await db.execute(sql`
    update uploads set expires_at = now()
    where org_id = ${orgId} and created_by = ${userId} and state = 'open' and expires_at > now()`)
  await db.execute(sql`
    update direct_uploads set expires_at = now()
    where org_id = ${orgId} and created_by = ${userId} and state = 'open' and expires_at > now()`)
}

export const deleteGrantsOfWorkspace = (db: Db, orgId: string, workspaceId: string) =>
  db.execute(sql`delete from folder_grants where org_id = ${orgId} and workspace_id = ${workspaceId}`)
