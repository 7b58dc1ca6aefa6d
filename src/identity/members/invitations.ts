import type { Database } from '../../platform/database/database.ts'
import { forbidden, notFound, unauthorized } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Actor, AuditActor, Origin } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import * as queries from './invitation-queries.ts'
import type { OwnInvitationRow, SessionOwnerRow } from './invitation-queries.ts'
import * as memberQueries from './queries.ts'
import * as people from './person-queries.ts'
import { sessionTokenOf } from '../sign-in/session-cookie.ts'
import * as workspaceQueries from './workspace-queries.ts'

const noSession = unauthorized('Sign in to see and answer your invitations.')
const maxInvitations = 100

/** UNAUTHORIZED without a live session. An invitation is answered by a person who signed in, not by a key. */
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

const answeredBy = ({ orgId, userId, name }: queries.TakenInvitationRow, origin: Origin): AuditActor => ({
  orgId,
  userId,
  userName: name,
  apiKey: null,
  origin,
})

/** From now on the person is a member, with the role and in the workspaces that the invitation names. */
export const acceptInvitation = (
  db: Database,
  owner: SessionOwnerRow,
  id: string,
  origin: Origin,
): Promise<{ memberId: string; orgId: string }> =>
  db.transaction('all orgs', async (db) => {
    const taken = isUuid(id) ? await queries.takeOwnInvitation(db, owner, id) : undefined
    if (!taken) throw notFound('Invitation')
    const { orgId, userId, role } = taken
    await memberQueries.insertMember(db, orgId, taken)
    const workspaceIds = await workspaceQueries.liveWorkspaces(db, orgId, taken.workspaceIds)
    await workspaceQueries.insertWorkspaceMember(db, orgId, workspaceIds, userId)
    const details = { userId, role, workspaceIds }
    await audit(db, answeredBy(taken, origin), 'member.accepted', { type: 'member', id: taken.id }, details)
    return { memberId: taken.id, orgId }
  })

/** The invitation ends, and with it whatever the org's link opened. */
export const declineInvitation = (db: Database, owner: SessionOwnerRow, id: string, origin: Origin): Promise<void> =>
  db.transaction('all orgs', async (db) => {
    const taken = isUuid(id) ? await queries.takeOwnInvitation(db, owner, id) : undefined
    if (!taken) throw notFound('Invitation')
    await people.withdrawReach(db, taken.userId, taken.orgId)
    await audit(
      db,
      answeredBy(taken, origin),
      'member.declined',
      { type: 'member', id: taken.id },
      { userId: taken.userId },
    )
  })

/** Takes an invitation back. Answers whether there was one. */
export const withdrawInvitation = (db: Database, actor: Actor, id: string): Promise<boolean> =>
  db.transaction(actor, async (db) => {
    const invitation = await queries.deleteInvitation(db, actor.orgId, id)
    if (!invitation) return false
    const { userId, role } = invitation
    if (role === 'owner' && actor.role !== 'owner') throw forbidden('Only owners may make or unmake owners.')
    await people.withdrawReach(db, userId, actor.orgId)
    await audit(db, actor, 'member.invitation-withdrawn', { type: 'member', id }, { userId, role })
    return true
  })
