import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../actor.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { Role } from '../permissions.ts'
import { expiresAt, isOpen } from './invitation-queries.ts'

export interface MemberRow {
  id: string
  userId: string
  email: string
  name: string
  role: Role
  revision: number
  createdAt: string
  status: 'active' | 'invited'
  /** Of the invitation. Null for members. */
  expiresAt: string | null
}

const columns = sql`m.id, m.user_id, u.email, m.name, m.role, m.created_at`

/** Members, and people with an open invitation, are rows of the same shape. */
const sources = {
  active: {
    table: sql`members m`,
    columns: sql`${columns}, m.revision, 'active' as status, null::timestamptz as expires_at`,
    isOpen: sql`true`,
  },
  invited: {
    table: sql`invitations m`,
    columns: sql`${columns}, 1 as revision, 'invited' as status, ${expiresAt} as expires_at`,
    isOpen,
  },
}

export interface MemberPage {
  status: MemberRow['status']
  limit: number
  after: string | undefined
  userId?: string | undefined
}

export interface ListedMemberRow extends MemberRow {
  lastActiveAt: string | null
  workspaceCount: number
  workspaces: { id: string; name: string }[]
}

/** The workspaces of a member, and those in which a person with an open invitation will be. */
const workspacesOf = {
  active: sql`workspace_members wm join workspaces w on w.org_id = wm.org_id and w.id = wm.workspace_id
    where wm.org_id = m.org_id and wm.user_id = m.user_id`,
  invited: sql`workspaces w where w.org_id = m.org_id and w.id = any(m.workspace_ids)`,
}

/**
 * Oldest first. Who does not see all workspaces gets those of their own and no activity: that is for the people who
 * manage members.
 */
export const listMembers = (
  db: Db,
  { orgId, userId: callerId }: Actor,
  { status, limit, after, userId, seesAll, maxWorkspaces }: MemberPage & { seesAll: boolean; maxWorkspaces: number },
) =>
  db.rows<ListedMemberRow>(sql`
    select ${sources[status].columns},
      ${status === 'active' && seesAll ? sql`m.last_active_at` : sql`null::timestamptz as last_active_at`},
      found.workspace_count, found.workspaces
    from ${sources[status].table} join users u on u.id = m.user_id
      cross join lateral (
        select count(*)::int as workspace_count,
          coalesce(
            json_agg(json_build_object('id', one.id, 'name', one.name) order by one.place)
              filter (where one.place <= ${maxWorkspaces}),
            '[]') as workspaces
        from (
          select w.id, w.name, row_number() over (order by lower(w.name), w.id) as place from ${workspacesOf[status]}
            and w.deleted_at is null and (${seesAll} or exists (
              select from workspace_members own
              where own.org_id = w.org_id and own.workspace_id = w.id and own.user_id = ${callerId}))
        ) one
      ) found
    where m.org_id = ${orgId} and ${sources[status].isOpen} ${after === undefined ? empty : sql`and m.id > ${after}`}
      ${userId === undefined ? empty : sql`and m.user_id = ${userId}`}
    order by m.id
    limit ${limit}`)

export const findMember = (db: Db, orgId: string, id: string, status: MemberRow['status'] = 'active') =>
  db.row<MemberRow>(sql`
    select ${sources[status].columns} from ${sources[status].table} join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.id = ${id} and ${sources[status].isOpen}`)

export const findMemberOfUser = (db: Db, orgId: string, userId: string) =>
  db.row<MemberRow>(sql`
    select ${sources.active.columns} from members m join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.user_id = ${userId}`)

export const lockMemberOfUser = (db: Db, orgId: string, userId: string) =>
  db.row<{ id: string; name: string }>(sql`
    select id, name from members where org_id = ${orgId} and user_id = ${userId} for no key update`)

/** Locks the membership: it is neither removed nor given another role until the transaction ends. */
export const holdMember = (db: Db, orgId: string, userId: string) =>
  db.row<{ role: Role }>(sql`
    select role from members where org_id = ${orgId} and user_id = ${userId} for share`)

export const renameMember = (db: Db, orgId: string, id: string, name: string) =>
  db.execute(sql`
    update members set name = ${name}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id}`)

export const findLanguage = (db: Db, orgId: string, userId: string) =>
  db.row<{ language: Language | null }>(sql`
    select language from members where org_id = ${orgId} and user_id = ${userId}`)

/** The revision is unchanged: administrators neither see nor edit the language. */
export const setLanguage = (db: Db, orgId: string, userId: string, language: Language | null) =>
  db.execute(sql`update members set language = ${language} where org_id = ${orgId} and user_id = ${userId}`)

/** Makes every process read the identities of the org again, which contain the names of its members. */
export const bumpAuthority = (db: Db, orgId: string) => db.execute(sql`select bump_auth_epoch(${orgId})`)

/**
 * Locks the member and all owners of the org, in order of id to prevent deadlocks. Of two concurrent changes that could
 * each leave the org without an owner, the second one sees the first.
 */
export const lockMemberAndOwners = (db: Db, orgId: string, id: string) =>
  db.rows<{ id: string; userId: string; role: Role; revision: number }>(sql`
    select id, user_id, role, revision from members
    where org_id = ${orgId} and (role = 'owner' or id = ${id})
    order by id
    for update`)

/** With the language that the org has for new members. Undefined when the person is a member. */
export const insertMember = (db: Db, orgId: string, member: { id: string; userId: string; name: string; role: Role }) =>
  db.row<{ id: string }>(sql`
    insert into members (org_id, id, user_id, name, role, language)
    select o.id, ${member.id}, ${member.userId}, ${member.name}, ${member.role}, o.default_language
    from orgs o where o.id = ${orgId}
    on conflict (org_id, user_id) do nothing
    returning id`)

export const updateRole = (db: Db, orgId: string, id: string, role: Role) =>
  db.execute(sql`
    update members set role = ${role}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id}`)

/** Foreign keys also delete the member's API keys and workspace memberships. */
export const deleteMember = (db: Db, orgId: string, id: string) =>
  db.execute(sql`delete from members where org_id = ${orgId} and id = ${id}`)
