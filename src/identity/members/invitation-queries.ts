import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Role } from '../permissions.ts'
import type { OrgScope } from '../sign-in/org-scope.ts'

const lifetime = sql`interval '30 days'`

/** Of an invitation `m`. */
export const expiresAt = sql`m.created_at + ${lifetime}`
export const isOpen = sql`m.created_at > now() - ${lifetime}`

export interface NewInvitation {
  id: string
  userId: string
  name: string
  role: Role
  workspaceIds: readonly string[]
  /** The inviting member, with their name in the org. */
  invitedBy: { id: string; name: string }
}

/** Undefined when the person has an invitation, also one that has expired. */
export const insertInvitation = (db: Db, orgId: string, invitation: NewInvitation) =>
  db.row<{ id: string }>(sql`
    insert into invitations (org_id, id, user_id, name, role, workspace_ids, invited_by, invited_by_id)
    values (${orgId}, ${invitation.id}, ${invitation.userId}, ${invitation.name}, ${invitation.role},
      ${invitation.workspaceIds}::uuid[], ${invitation.invitedBy.name}, ${invitation.invitedBy.id})
    on conflict (org_id, user_id) do nothing
    returning id`)

export interface InvitationRow {
  id: string
  userId: string
  role: Role
}

/** The open invitations by a member for one of these roles. */
export const listInvitationsBy = (db: Db, orgId: string, memberUserId: string, roles: readonly Role[]) =>
  db.rows<InvitationRow>(sql`
    select id, user_id, role from invitations
    where org_id = ${orgId} and invited_by_id = ${memberUserId} and role = any(${roles}::text[])`)

export interface ExpiredInvitationRow extends InvitationRow {
  orgId: string
}

/** Invitations that nobody has answered in time, of one person in an org or of all. */
export const listExpired = (db: Db, limit: number, of?: { orgId: string; userId: string }) =>
  db.rows<ExpiredInvitationRow>(sql`
    -- all orgs: an hourly job of the server
    select m.org_id, m.id, m.user_id, m.role from invitations m
    where not ${isOpen} ${of ? sql`and m.org_id = ${of.orgId} and m.user_id = ${of.userId}` : empty}
    order by m.org_id, m.id
    limit ${limit}`)

export const deleteInvitations = (db: Db, orgId: string, ids: readonly string[]) =>
  db.rows<InvitationRow>(sql`
    delete from invitations where org_id = ${orgId} and id = any(${ids}::uuid[]) returning id, user_id, role`)

export const deleteInvitationOfUser = (db: Db, orgId: string, userId: string) =>
  db.execute(sql`delete from invitations where org_id = ${orgId} and user_id = ${userId}`)

/** Whether the person has signed in or is a member of another org: then they must accept an invitation. */
export const isKnownElsewhere = async (db: Db, orgId: string, userId: string): Promise<boolean> => {
  const row = await db.row<{ isKnown: boolean }>(sql`
    -- all orgs: memberships of other orgs decide whether the person is asked
    select u.signed_in_at is not null
      or exists (select from members m where m.user_id = u.id and m.org_id <> ${orgId})
      or exists (select from sign_in_accounts a where a.user_id = u.id) as is_known
    from users u where u.id = ${userId}`)
  return row?.isKnown ?? false
}

/** The person and the org scope of a session. */
export interface SessionOwnerRow {
  userId: string
  orgScope: OrgScope
}

export const findSessionOwner = (db: Db, token: string) =>
  db.row<SessionOwnerRow>(sql`
    select user_id, reach as org_scope from sign_in_sessions where token = ${token} and expires_at > now()`)

export interface OwnInvitationRow {
  id: string
  org: { id: string; name: string }
  role: Role
  invitedBy: string
  createdAt: string
  expiresAt: string
}

const answerableBy = ({ userId, orgScope }: SessionOwnerRow) =>
  sql`m.user_id = ${userId} and ${isOpen} and (${orgScope}::uuid[] is null or m.org_id = any(${orgScope}::uuid[]))`

/** The invitations within the scope of the session, oldest first. */
export const listOwnInvitations = (db: Db, owner: SessionOwnerRow, limit: number) =>
  db.rows<OwnInvitationRow>(sql`
    -- all orgs: a person reads their own invitations
    select m.id, json_build_object('id', o.id, 'name', o.name) as org, m.role, m.invited_by, m.created_at, ${expiresAt} as expires_at
    from invitations m join orgs o on o.id = m.org_id
    where ${answerableBy(owner)}
    order by m.id
    limit ${limit}`)

export interface ConsumedInvitationRow {
  orgId: string
  id: string
  userId: string
  name: string
  role: Role
  workspaceIds: string[]
}

/** Deletes the invitation, so that it is answered once. Undefined when it does not exist or is not the person's. */
export const consumeOwnInvitation = (db: Db, owner: SessionOwnerRow, id: string) =>
  db.row<ConsumedInvitationRow>(sql`
    -- all orgs: a person answers their own invitation
    delete from invitations m where m.id = ${id} and ${answerableBy(owner)}
    returning m.org_id, m.id, m.user_id, m.name, m.role, m.workspace_ids`)
