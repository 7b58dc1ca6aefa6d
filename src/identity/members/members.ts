import type { Database, Transaction } from '../../platform/database/database.ts'
import { conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Actor, AuditActor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import * as invitations from './invitation-queries.ts'
import { withdrawInvitation } from './invitations.ts'
import * as queries from './queries.ts'
import type { MemberRow } from './queries.ts'
import { cleanEmail, cleanName } from '../names.ts'
import type { Role } from '../permissions.ts'
import * as people from './person-queries.ts'
import { createSignInLink } from '../sign-in/links.ts'
import { isSteppedUp, requireStepUp } from '../sign-in/second-factor/step-up.ts'
import * as workspaceQueries from './workspace-queries.ts'

export interface NewMember {
  email: string
  /** What the org calls them; what stands before the `@` when left out. */
  name?: string | undefined
  role: Role
  /** Default: the org's default workspace. */
  workspaceIds?: readonly string[] | undefined
}

const ownersOnly = forbidden('Only owners may make or unmake owners.')
const alreadyMember = conflict('They are a member of the org already.')
const notAccepted = conflict('They have not accepted yet. Remove the invitation and send another one.')
const lastOwner = conflict('An org needs an owner: make somebody else one first.')

/** The person of this address, made when they are new here. */
const personOf = async (db: Transaction, email: string, name: string): Promise<people.PersonRow> => {
  const person = { id: newId(), email, name }
  const known = (await people.insertPerson(db, person)) ?? (await people.findPersonByEmail(db, email))
  if (!known) throw new Error('the database knows the address and does not')
  return known
}

/** What an org calls a person unless it says so. */
const nameOf = ({ name, email }: NewMember): string =>
  cleanName(name ?? email.slice(0, Math.max(email.lastIndexOf('@'), 1)))

/** The workspaces that they begin in. NOT_FOUND when one of them is not the org's. */
const workspacesFor = async (db: Transaction, orgId: string, wishes: NewMember): Promise<string[]> => {
  const fallback = wishes.workspaceIds ? undefined : await workspaceQueries.findDefaultWorkspace(db, orgId)
  const workspaceIds = [...new Set(wishes.workspaceIds ?? (fallback ? [fallback.id] : []))]
  if ((await workspaceQueries.countWorkspaces(db, orgId, workspaceIds)) < workspaceIds.length) {
    throw notFound('Workspace')
  }
  return workspaceIds
}

const insert = async (db: Transaction, actor: AuditActor, userId: string, wishes: NewMember): Promise<MemberRow> => {
  const { role } = wishes
  const inserted = await queries.insertMember(db, actor.orgId, { id: newId(), userId, name: nameOf(wishes), role })
  if (!inserted) throw alreadyMember
  const workspaceIds = await workspacesFor(db, actor.orgId, wishes)
  await workspaceQueries.insertWorkspaceMember(db, actor.orgId, workspaceIds, userId)
  await invitations.deleteInvitationOfUser(db, actor.orgId, userId)
  const member = await queries.findMember(db, actor.orgId, inserted.id)
  if (!member) throw new Error('the database did not answer with the member it stored')
  const { id, email } = member
  await audit(db, actor, 'member.added', { type: 'member', id }, { userId, email, role, workspaceIds })
  return member
}

/** Makes the person of this address a member, without asking them. CONFLICT when they are one. */
export const addMember = async (db: Transaction, actor: AuditActor, wishes: NewMember): Promise<MemberRow> => {
  const { id } = await personOf(db, cleanEmail(wishes.email), nameOf(wishes))
  return insert(db, actor, id, wishes)
}

/** Asks the person, who is in no table of members until they accept. CONFLICT when they are one, or were asked. */
const invite = async (db: Transaction, actor: Actor, userId: string, wishes: NewMember): Promise<MemberRow> => {
  const { orgId } = actor
  if (await queries.findMemberOfUser(db, orgId, userId)) throw alreadyMember
  const workspaceIds = await workspacesFor(db, orgId, wishes)
  const { role } = wishes
  const invitation = { id: newId(), userId, name: nameOf(wishes), role, workspaceIds, invitedBy: actor.userName }
  const inserted = await invitations.insertInvitation(db, orgId, invitation)
  const invited = inserted && (await invitations.findInvitation(db, orgId, inserted.id))
  if (!invited) throw conflict('They are invited already. Remove the invitation to send another one.')
  const { id, email } = invited
  await audit(db, actor, 'member.invited', { type: 'member', id }, { userId, email, role, workspaceIds })
  return invited
}

/** As a member at once when they are new; whoever has signed in or is in another org is asked first. */
const addOrInvite = async (db: Transaction, actor: Actor, wishes: NewMember): Promise<MemberRow> => {
  const { id } = await personOf(db, cleanEmail(wishes.email), nameOf(wishes))
  // Of two orgs that add somebody new at the same instant, the second one sees the first.
  await people.lockPerson(db, id)
  const isKnown = await invitations.isKnownElsewhere(db, actor.orgId, id)
  return isKnown ? invite(db, actor, id, wishes) : insert(db, actor, id, wishes)
}

/**
 * Adds a member. Every role but `member` needs step-up, as changing to it would. With step-up the answer also has the
 * path of a sign-in link for a person who could not sign in otherwise. It opens this org and no other.
 */
export const createMember = (
  db: Database,
  actor: Actor,
  wishes: NewMember,
  stepUpToken: string | undefined,
): Promise<{ member: MemberRow; signInPath: string | null }> =>
  // Whether the person is in another org decides if they are asked first.
  db.transaction('all orgs', async (db) => {
    if (wishes.role === 'owner' && actor.role !== 'owner') throw ownersOnly
    const steppedUp = await isSteppedUp(db, actor, stepUpToken)
    if (wishes.role !== 'member') await requireStepUp(db, actor, stepUpToken)
    const member = await addOrInvite(db, actor, wishes)
    if (!steppedUp || (await people.hasPasswordForAllOrgs(db, member.userId))) return { member, signInPath: null }
    const { path } = await createSignInLink(db, member.userId, [actor.orgId])
    if (member.status === 'active') {
      await audit(db, actor, 'member.invited', { type: 'member', id: member.id }, { userId: member.userId })
    }
    return { member, signInPath: path }
  })

const lockMember = async (db: Transaction, actor: Actor, id: string) => {
  const rows = await queries.lockMemberAndOwners(db, actor.orgId, id)
  const member = rows.find((row) => row.id === id.toLowerCase())
  if (!member && (await invitations.findInvitation(db, actor.orgId, id))) throw notAccepted
  if (!member) throw notFound('Member')
  const owners = rows.filter((row) => row.role === 'owner')
  // As of now, not as of when the request arrived: another owner may have got here first.
  const isOwner = owners.some((row) => row.userId === actor.userId)
  return { member, isOwner, isLastOwner: member.role === 'owner' && owners.length === 1 }
}

export const getMember = async (db: Database, actor: Actor, id: string): Promise<MemberRow> => {
  const member =
    (await queries.findMember(db, actor.orgId, id)) ?? (await invitations.findInvitation(db, actor.orgId, id))
  if (!member) throw notFound('Member')
  return member
}

/** Gives a member another role. Needs step-up. */
export const changeRole = (
  db: Database,
  actor: Actor,
  id: string,
  role: Role,
  proof: { stepUpToken: string | undefined; ifMatch: string | undefined },
): Promise<MemberRow> =>
  db.transaction(actor, async (db) => {
    const { member, isOwner, isLastOwner } = await lockMember(db, actor, id)
    if ((member.role === 'owner' || role === 'owner') && !isOwner) throw ownersOnly
    await requireStepUp(db, actor, proof.stepUpToken)
    requireMatch(proof.ifMatch, member)
    if (role !== member.role) {
      if (isLastOwner) throw lastOwner
      await queries.updateRole(db, actor.orgId, id, role)
      const details = { userId: member.userId, from: member.role, to: role }
      await audit(db, actor, 'member.role-changed', { type: 'member', id: member.id }, details)
    }
    const changed = await queries.findMember(db, actor.orgId, id)
    if (!changed) throw notFound('Member')
    return changed
  })

/**
 * Takes a member out of the org, with their keys, and with what its sign-in link opened, as far as this org goes. For
 * somebody who has not accepted yet, the invitation ends.
 */
export const removeMember = async (
  db: Database,
  actor: Actor,
  id: string,
  ifMatch: string | undefined,
): Promise<void> => {
  if (await withdrawInvitation(db, actor, id)) return
  // A person who is in no other org loses their sessions, which takes a look at all orgs.
  await db.transaction('all orgs', async (db) => {
    const { member, isOwner, isLastOwner } = await lockMember(db, actor, id)
    if (member.role === 'owner' && !isOwner) throw ownersOnly
    requireMatch(ifMatch, member)
    if (isLastOwner) throw lastOwner
    await queries.deleteMember(db, actor.orgId, id)
    await people.withdrawReach(db, member.userId, actor.orgId)
    await people.deleteSessionsOfNobodysMember(db, member.userId)
    const details = { userId: member.userId, role: member.role }
    await audit(db, actor, 'member.removed', { type: 'member', id: member.id }, details)
  })
}
