import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../actor.ts'
import { seesAllWorkspaces } from '../permissions.ts'
import type { Role } from '../permissions.ts'

export interface WorkspaceRow {
  id: string
  name: string
  slug: string
  isDefault: boolean
  revision: number
  createdAt: string
  updatedAt: string
}

const columns = sql`w.id, w.name, w.slug, w.is_default, w.revision, w.created_at, w.updated_at`

const visibleTo = (actor: Actor) =>
  seesAllWorkspaces(actor.role)
    ? empty
    : sql`and exists (
        select from workspace_members wm
        where wm.org_id = w.org_id and wm.workspace_id = w.id and wm.user_id = ${actor.userId})`

/** The workspaces that the caller may see, oldest first. */
export const listWorkspaces = (db: Db, actor: Actor, limit: number, after: string | undefined) =>
  db.rows<WorkspaceRow>(sql`
    select ${columns} from workspaces w
    where w.org_id = ${actor.orgId} and w.deleted_at is null ${visibleTo(actor)}
      ${after === undefined ? empty : sql`and w.id > ${after}`}
    order by w.id
    limit ${limit}`)

export const listWorkspaceIds = (db: Db, orgId: string, userId: string) =>
  db.rows<{ workspaceId: string }>(sql`
    select workspace_id from workspace_members where org_id = ${orgId} and user_id = ${userId}`)

export const findWorkspace = (db: Db, actor: Actor, id: string) =>
  db.row<WorkspaceRow>(sql`
    select ${columns} from workspaces w
    where w.org_id = ${actor.orgId} and w.id = ${id} and w.deleted_at is null ${visibleTo(actor)}`)

export const lockWorkspace = (db: Db, actor: Actor, id: string) =>
  db.row<WorkspaceRow>(sql`
    select ${columns} from workspaces w
    where w.org_id = ${actor.orgId} and w.id = ${id} and w.deleted_at is null ${visibleTo(actor)}
    for update of w`)

/** Slugs in use that begin like the given one, which it or its numbered forms could equal. */
export const listSlugsLike = (db: Db, orgId: string, slug: string) =>
  db.rows<{ slug: string }>(sql`
    select slug from workspaces
    where org_id = ${orgId} and deleted_at is null and starts_with(slug, ${slug.slice(0, 50)})`)

/** Undefined when a concurrent transaction inserted the slug. */
export const insertWorkspace = (
  db: Db,
  orgId: string,
  workspace: { id: string; name: string; slug: string; isDefault: boolean },
) =>
  db.row<WorkspaceRow>(sql`
    insert into workspaces as w (org_id, id, name, slug, is_default)
    values (${orgId}, ${workspace.id}, ${workspace.name}, ${workspace.slug}, ${workspace.isDefault})
    on conflict (org_id, slug) where deleted_at is null do nothing
    returning ${columns}`)

export const renameWorkspace = (db: Db, actor: Actor, id: string, name: string) =>
  db.row<WorkspaceRow>(sql`
    update workspaces w set name = ${name}, revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

export const softDeleteWorkspace = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`
    update workspaces set deleted_at = now(), revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}`)

export const findDefaultWorkspace = (db: Db, orgId: string) =>
  db.row<{ id: string }>(sql`
    select id from workspaces where org_id = ${orgId} and is_default and deleted_at is null`)

/** How many of the ids are workspaces of the org that are not deleted. */
export const countWorkspaces = async (db: Db, orgId: string, ids: string[]): Promise<number> => {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from workspaces
    where org_id = ${orgId} and id = any(${ids}::uuid[]) and deleted_at is null`)
  return row?.count ?? 0
}

/** The ids that are workspaces of the org and not deleted. */
export const existingWorkspaces = async (db: Db, orgId: string, ids: readonly string[]): Promise<string[]> => {
  const rows = await db.rows<{ id: string }>(sql`
    select id from workspaces
    where org_id = ${orgId} and id = any(${ids}::uuid[]) and deleted_at is null`)
  return rows.map(({ id }) => id)
}

export interface WorkspaceMemberRow {
  userId: string
  email: string
  name: string
  role: Role
  createdAt: string
}

/** In order of user id. */
export const listWorkspaceMembers = (
  db: Db,
  actor: Actor,
  workspaceId: string,
  { limit, after }: { limit: number; after: string | undefined },
) =>
  db.rows<WorkspaceMemberRow>(sql`
    select wm.user_id, u.email, m.name, m.role, wm.created_at
    from workspace_members wm
      join members m on m.org_id = wm.org_id and m.user_id = wm.user_id
      join users u on u.id = wm.user_id
    where wm.org_id = ${actor.orgId} and wm.workspace_id = ${workspaceId}
      ${after === undefined ? empty : sql`and wm.user_id > ${after}`}
    order by wm.user_id
    limit ${limit}`)

export const findWorkspaceMember = (db: Db, orgId: string, workspaceId: string, userId: string) =>
  db.row<WorkspaceMemberRow>(sql`
    select wm.user_id, u.email, m.name, m.role, wm.created_at
    from workspace_members wm
      join members m on m.org_id = wm.org_id and m.user_id = wm.user_id
      join users u on u.id = wm.user_id
    where wm.org_id = ${orgId} and wm.workspace_id = ${workspaceId} and wm.user_id = ${userId}`)

/** Adds a member of the org to workspaces. Returns the number of workspaces that they were not in. */
export const insertWorkspaceMember = (db: Db, orgId: string, workspaceIds: string[], userId: string) =>
  db.execute(sql`
    insert into workspace_members (org_id, workspace_id, user_id)
    select ${orgId}::uuid, id, ${userId}::uuid from unnest(${workspaceIds}::uuid[]) as id
    on conflict do nothing`)

export const deleteWorkspaceMember = (db: Db, orgId: string, workspaceId: string, userId: string) =>
  db.execute(sql`
    delete from workspace_members
    where org_id = ${orgId} and workspace_id = ${workspaceId} and user_id = ${userId}`)
