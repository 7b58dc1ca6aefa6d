import type { Database, Transaction } from '../../platform/database/database.ts'
import { forbidden, notFound, unauthorized } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { systemActor } from '../actor.ts'
import type { Actor, AuditActor, Origin } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import type { Role } from '../permissions.ts'
import { recordMember } from './events.ts'
import * as queries from './invitation-queries.ts'
import type { OwnInvitationRow, SessionOwnerRow } from './invitation-queries.ts'
import { lockPeople } from './person-queries.ts'
import * as memberQueries from './queries.ts'
import { deleteLinksBy, withdrawOrg } from '../sign-in/queries.ts'
import { sessionTokenOf } from '../sign-in/session-cookie.ts'
import * as workspaceQueries from './workspace-queries.ts'

const noSession = unauthorized('Sign in to see and answer your invitations.')
const maxInvitations = 100

/** Throws UNAUTHORIZED without a live session. Invitations are answered by people who signed in, not by API keys. */
export const sessionOwner = async (
  db: Database,
  secret: () => Promise<string>,
  cookie: string | undefined,
): Promise<SessionOwnerRow> => {
  const token = cookie === undefined ? undefined : sessionTokenOf(cookie, await secret())
  const owner = token === undefined ? undefined : await queries.findSessionOwner(db, token)
  if (!owner) throw noSession
  return owner
}

export const listOwnInvitations = (db: Database, owner: SessionOwnerRow): Promise<OwnInvitationRow[]> =>
  queries.listOwnInvitations(db, owner, maxInvitations)

const actorOf = ({ orgId, userId, name }: queries.ConsumedInvitationRow, origin: Origin): AuditActor => ({
  orgId,
  userId,
  userName: name,
  apiKey: null,
  origin,
})

/** Makes the person a member with the role and the workspaces of the invitation. NOT_FOUND when it is not theirs. */
export const acceptInvitation = (
  db: Database,
  owner: SessionOwnerRow,
  id: string,
  origin: Origin,
): Promise<{ memberId: string; orgId: string }> =>
  db.transaction('all orgs', async (db) => {
    const invitation = isUuid(id) ? await queries.consumeOwnInvitation(db, owner, id) : undefined
    if (!invitation) throw notFound('Invitation')
    const { orgId, userId, role } = invitation
    await memberQueries.insertMember(db, orgId, invitation)
    const workspaceIds = await workspaceQueries.existingWorkspaces(db, orgId, invitation.workspaceIds)
    await workspaceQueries.insertWorkspaceMember(db, orgId, workspaceIds, userId)
    const details = { userId, role, workspaceIds }
    const actor = actorOf(invitation, origin)
    await audit(db, actor, 'member.accepted', { type: 'member', id: invitation.id, details })
    await recordMember(db, actor, 'member.accepted', { memberId: invitation.id, ...details })
    return { memberId: invitation.id, orgId }
  })

/** Ends the invitation and what began with the org's sign-in link. NOT_FOUND when it is not theirs. */
export const declineInvitation = (db: Database, owner: SessionOwnerRow, id: string, origin: Origin): Promise<void> =>
  db.transaction('all orgs', async (db) => {
    await lockPeople(db, [owner.userId])
    const invitation = isUuid(id) ? await queries.consumeOwnInvitation(db, owner, id) : undefined
    if (!invitation) throw notFound('Invitation')
    await withdrawOrg(db, [invitation.userId], invitation.orgId)
    const { id: memberId, userId } = invitation
    const actor = actorOf(invitation, origin)
    await audit(db, actor, 'member.declined', { type: 'member', id: memberId, details: { userId } })
    await recordMember(db, actor, 'member.declined', { memberId, userId })
  })

/** Ends invitations, and what began with the sign-in links of the org. Returns those that nobody answered meanwhile. */
const end = async (
  db: Transaction,
  actor: AuditActor,
  found: readonly queries.InvitationRow[],
  details: { invitedBy?: string; reason?: string } = {},
): Promise<queries.InvitationRow[]> => {
  const { orgId } = actor
  // The people first, as everywhere: whoever invites somebody has locked them before the invitation.
  await lockPeople(
    db,
    found.map(({ userId }) => userId),
  )
  const ended = await queries.deleteInvitations(
    db,
    orgId,
    found.map(({ id }) => id),
  )
  await withdrawOrg(
    db,
    ended.map(({ userId }) => userId),
    orgId,
  )
  for (const { id, userId, role } of ended) {
    const resource = { type: 'member', id, details: { userId, role, ...details } }
    await audit(db, actor, 'member.invitation-withdrawn', resource)
    await recordMember(db, actor, 'member.removed', { memberId: id, userId, role, status: 'invited' })
  }
  return ended
}

/** Withdraws an invitation. Returns whether there was one. */
export const withdrawInvitation = (db: Database, actor: Actor, id: string): Promise<boolean> =>
  db.transaction(actor, async (db) => {
    const invited = await memberQueries.findMember(db, actor.orgId, id, 'invited')
    if (!invited) return false
    if (invited.role === 'owner' && actor.role !== 'owner') {
      throw forbidden('Only owners may add, change or remove owners.')
    }
    return (await end(db, actor, [invited])).length > 0
  })

/**
 * Withdraws what a member granted for later and may not grant any more: open invitations for these roles, and unused
 * sign-in links. Otherwise somebody who was removed could become a member again, under another address.
 */
export const withdrawOffersOf = async (
  db: Transaction,
  actor: Actor,
  userId: string,
  roles: readonly Role[],
): Promise<void> => {
  if (roles.length === 0) return
  const found = await queries.listInvitationsBy(db, actor.orgId, userId, roles)
  if (found.length > 0) await end(db, actor, found, { invitedBy: userId })
  await deleteLinksBy(db, actor.orgId, userId)
}

/** Ends the invitation of a person that they have not answered in time, so that they can be invited again. */
export const endExpiredOf = async (db: Transaction, actor: Actor, userId: string): Promise<void> => {
  const found = await queries.listExpired(db, 1, { orgId: actor.orgId, userId })
  if (found.length > 0) await end(db, actor, found, { reason: 'expired' })
}

const expiredAtOnce = 100

/** Ends all invitations that were not answered in time, with their sign-in links. */
export const endExpired = async (db: Database): Promise<void> => {
  for (;;) {
    const found = await queries.listExpired(db, expiredAtOnce)
    for (const [orgId, ofOrg] of Map.groupBy(found, (one) => one.orgId)) {
      const actor = systemActor(orgId, 'Invitation expiry')
      await db.transaction({ orgId }, (db) => end(db, actor, ofOrg, { reason: 'expired' }))
    }
    if (found.length < expiredAtOnce) return
  }
}
