import type { Actor } from '../../identity/actor.ts'
import type { Role } from '../../identity/permissions.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { hasAllAccess, mayWrite, openFolders } from './condition-queries.ts'
import type { Access, Reader } from './condition-queries.ts'

/** The restricted folders that are open to a person, of all of the org. */
export const listOpenFolders = async (db: Db, reader: Reader, access: Access): Promise<string[]> => {
  const row = await db.row<{ ids: string[] }>(sql`select ${openFolders(reader, access)} as ids`)
  return row?.ids ?? []
}

/** Whether the org has a restricted folder that is not open to the person. */
export const hasClosedFolders = async (db: Db, reader: Reader, access: Access): Promise<boolean> => {
  if (hasAllAccess(reader)) return false
  const row = await db.row(sql`
    select 1 from restricted_folders r
    where r.org_id = ${reader.orgId} and r.folder_id <> all(${openFolders(reader, access)}) limit 1`)
  return row !== undefined
}

export interface GuardedFile {
  id: string
  guards: string[]
}

/** Those of these files and folders that lie in restricted folders, also deleted ones. */
export const listGuarded = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<GuardedFile>(sql`
    select f.id, f.guards from files f
    where f.org_id = ${orgId} and f.id = any(${ids}::uuid[]) and f.guards is not null`)

/** The restricted folders of the org that exist, also in the trash. */
export const listRestricted = (db: Db, orgId: string) =>
  db.rows<{ id: string }>(sql`
    select r.folder_id as id from restricted_folders r join files f on f.org_id = r.org_id and f.id = r.folder_id
    where r.org_id = ${orgId} and (f.deleted_at is null or f.trash_id is not null)`)

export const insertRestriction = (db: Transaction, { orgId, userId }: Actor, folderId: string) =>
  db.execute(sql`
    insert into restricted_folders (org_id, folder_id, restricted_by) values (${orgId}, ${folderId}, ${userId})
    on conflict (org_id, folder_id) do nothing`)

/** The foreign key also deletes the grants. */
export const deleteRestriction = (db: Transaction, orgId: string, folderId: string) =>
  db.execute(sql`delete from restricted_folders where org_id = ${orgId} and folder_id = ${folderId}`)

/** Forgets the restrictions of folders that are deleted for good. */
export const deleteForgotten = (db: Db) =>
  db.execute(sql`
    -- all orgs: a daily job of the server
    delete from restricted_folders r where exists (
      select from files f
      where f.org_id = r.org_id and f.id = r.folder_id and f.deleted_at is not null and f.trash_id is null)`)

export interface GrantRow {
  folderId: string
  userId: string | null
  workspaceId: string | null
  role: Role | null
  access: Access
}

export const listGrants = (db: Db, orgId: string, folderIds: readonly string[]) =>
  db.rows<GrantRow>(sql`
    select g.folder_id, g.user_id, g.workspace_id, g.role, g.access from folder_grants g
    where g.org_id = ${orgId} and g.folder_id = any(${folderIds}::uuid[])
    order by g.folder_id, g.role, g.workspace_id, g.user_id`)

export const deleteGrants = (db: Transaction, orgId: string, folderId: string) =>
  db.execute(sql`delete from folder_grants where org_id = ${orgId} and folder_id = ${folderId}`)

export interface NewGrant {
  id: string
  userId: string | null
  workspaceId: string | null
  role: Role | null
  access: Access
}

export const insertGrants = (
  db: Transaction,
  { orgId, userId }: Actor,
  folderId: string,
  grants: readonly NewGrant[],
) => {
  const column = <Key extends keyof NewGrant>(key: Key): NewGrant[Key][] => grants.map((grant) => grant[key])
  return db.execute(sql`
    insert into folder_grants (org_id, folder_id, id, user_id, workspace_id, role, access, granted_by)
    select ${orgId}::uuid, ${folderId}::uuid, g.id, g.user_id, g.workspace_id, g.role, g.access, ${userId}::uuid
    from unnest(${column('id')}::uuid[], ${column('userId')}::uuid[], ${column('workspaceId')}::uuid[],
      ${column('role')}::text[], ${column('access')}::text[]) as g (id, user_id, workspace_id, role, access)`)
}

/** The names of a folder and of restricted ones that contain it. */
export const listNames = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<{ id: string; name: string }>(sql`
    select f.id, f.name from files f where f.org_id = ${orgId} and f.id = any(${ids}::uuid[])`)

/** Sets the guards of a locked folder. */
export const setGuards = (db: Transaction, orgId: string, folderId: string, guards: readonly string[] | null) =>
  db.execute(sql`
    update files f set guards = ${guards}::uuid[], revision = f.revision + 1, updated_at = now()
    where f.org_id = ${orgId} and f.id = ${folderId}`)

/** Marks a locked folder as changed. */
export const touch = (db: Transaction, orgId: string, folderId: string) =>
  db.execute(sql`
    update files f set revision = f.revision + 1, updated_at = now()
    where f.org_id = ${orgId} and f.id = ${folderId}`)

/** Whether a person may change a file that this transaction has locked. */
export const isWritable = async (db: Transaction, actor: Actor, id: string): Promise<boolean> => {
  const row = await db.row<{ isWritable: boolean }>(sql`
    select ${mayWrite(actor)} as is_writable from files f where f.org_id = ${actor.orgId} and f.id = ${id}`)
  return row?.isWritable === true
}

const inherited = (restricted: readonly string[]) => sql`
  nullif(p.guards || case when f.id = any(${restricted}::uuid[]) then array[f.id] else '{}'::uuid[] end, '{}'::uuid[])`

/**
 * Sets the guards of the live children of these locked folders from those of the folders. `restricted`: all restricted
 * folders of the org.
 */
export const inheritLive = (
  db: Transaction,
  orgId: string,
  folderIds: readonly string[],
  restricted: readonly string[],
) =>
  db.execute(sql`
    update files f set guards = ${inherited(restricted)}
    from files p
    where f.org_id = ${orgId} and f.container_id = any(${folderIds}::uuid[]) and f.deleted_at is null
      and p.org_id = ${orgId} and p.id = f.parent_id and f.guards is distinct from ${inherited(restricted)}`)

/** The same for what was deleted out of these folders, or with them, and is in the trash. */
export const inheritTrashed = (
  db: Transaction,
  orgId: string,
  folderIds: readonly string[],
  restricted: readonly string[],
) =>
  db.execute(sql`
    update files f set guards = ${inherited(restricted)}
    from files p
    where f.org_id = ${orgId} and f.container_id = any(${folderIds}::uuid[]) and f.trash_id is not null
      and p.org_id = ${orgId} and p.id = f.parent_id and f.guards is distinct from ${inherited(restricted)}`)

/** The direct subfolders of these folders, live or in the trash. */
export const listSubfolders = (db: Transaction, orgId: string, folderIds: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    select f.id from files f
    where f.org_id = ${orgId} and f.container_id = any(${folderIds}::uuid[]) and f.listing_rank = 0
      and f.deleted_at is null
    union all
    select f.id from files f
    where f.org_id = ${orgId} and f.container_id = any(${folderIds}::uuid[]) and f.listing_rank = 0
      and f.trash_id is not null`)
