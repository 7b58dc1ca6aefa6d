import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../actor.ts'
import type { MemberRow } from './queries.ts'
import type { Role } from '../permissions.ts'
import type { Reach } from '../sign-in/reach.ts'

const columns = sql`
  i.id, i.user_id, u.email, i.name, i.role, 1 as revision, i.created_at, 'invited' as status`

/** Oldest first. */
export const listInvitations = (db: Db, actor: Actor, limit: number, after: string | undefined) =>
  db.rows<MemberRow>(sql`
    select ${columns} from invitations i join users u on u.id = i.user_id
    where i.org_id = ${actor.orgId} ${after === undefined ? empty : sql`and i.id > ${after}`}
    order by i.id
    limit ${limit}`)

export const findInvitation = (db: Db, orgId: string, id: string) =>
  db.row<MemberRow>(sql`
    select ${columns} from invitations i join users u on u.id = i.user_id
    where i.org_id = ${orgId} and i.id = ${id}`)

export interface NewInvitation {
  id: string
  userId: string
  name: string
  role: Role
  workspaceIds: readonly string[]
  /** What the org calls whoever invites. */
  invitedBy: string
}

/** Undefined when the person is invited already. */
export const insertInvitation = (db: Db, orgId: string, invitation: NewInvitation) =>
  db.row<{ id: string }>(sql`
    insert into invitations (org_id, id, user_id, name, role, workspace_ids, invited_by)
    values (${orgId}, ${invitation.id}, ${invitation.userId}, ${invitation.name}, ${invitation.role},
      ${invitation.workspaceIds}::uuid[], ${invitation.invitedBy})
    on conflict (org_id, user_id) do nothing
    returning id`)

export const deleteInvitation = (db: Db, orgId: string, id: string) =>
  db.row<{ userId: string; role: Role }>(sql`
    delete from invitations where org_id = ${orgId} and id = ${id} returning user_id, role`)

export const deleteInvitationOfUser = (db: Db, orgId: string, userId: string) =>
  db.execute(sql`delete from invitations where org_id = ${orgId} and user_id = ${userId}`)

/** Whether the person has signed in, or belongs to another org: then they are asked. */
export const isKnownElsewhere = async (db: Db, orgId: string, userId: string): Promise<boolean> => {
  const row = await db.row<{ isKnown: boolean }>(sql`
    -- all orgs: whoever is in another one is somebody who can be asked
    select u.signed_in_at is not null
      or exists (select from members m where m.user_id = u.id and m.org_id <> ${orgId})
      or exists (select from sign_in_accounts a where a.user_id = u.id) as is_known
    from users u where u.id = ${userId}`)
  return row?.isKnown ?? false
}

/** Whose session it is, and which orgs it opens. */
export interface SessionOwnerRow {
  userId: string
  reach: Reach
}

export const findSessionOwner = (db: Db, token: string) =>
  db.row<SessionOwnerRow>(sql`
    select user_id, reach from sign_in_sessions where token = ${token} and expires_at > now()`)

export interface OwnInvitationRow {
  id: string
  org: { id: string; name: string }
  role: Role
  invitedBy: string
  createdAt: string
}

const opened = ({ userId, reach }: SessionOwnerRow) =>
  sql`i.user_id = ${userId} and (${reach}::uuid[] is null or i.org_id = any(${reach}::uuid[]))`

/** Those that the session may answer, oldest first: what one org's link opened tells nothing of other orgs. */
export const listOwnInvitations = (db: Db, owner: SessionOwnerRow, limit: number) =>
  db.rows<OwnInvitationRow>(sql`
    -- all orgs: those that invited one person, for that person
    select i.id, json_build_object('id', o.id, 'name', o.name) as org, i.role, i.invited_by, i.created_at
    from invitations i join orgs o on o.id = i.org_id
    where ${opened(owner)}
    order by i.id
    limit ${limit}`)

export interface TakenInvitationRow {
  orgId: string
  id: string
  userId: string
  name: string
  role: Role
  workspaceIds: string[]
}

/** Each is answered once. Undefined when it is not the person's, or was withdrawn or answered. */
export const takeOwnInvitation = (db: Db, owner: SessionOwnerRow, id: string) =>
  db.row<TakenInvitationRow>(sql`
    -- all orgs: of one person, who names it
    delete from invitations i where i.id = ${id} and ${opened(owner)}
    returning i.org_id, i.id, i.user_id, i.name, i.role, i.workspace_ids`)
