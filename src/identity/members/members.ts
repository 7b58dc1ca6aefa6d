import type { Database, Transaction } from '../../platform/database/database.ts'
import { conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { newId } from '../../platform/ids.ts'
import type { Actor, AuditActor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import { recordMember } from './events.ts'
import { deleteGrantsOfMember, deleteMarksOfMember, endWorkOfMember } from '../grantees/queries.ts'
import * as invitations from './invitation-queries.ts'
import { endExpiredOf, withdrawInvitation, withdrawOffersOf } from './invitations.ts'
import * as queries from './queries.ts'
import type { ListedMemberRow, MemberPage, MemberRow } from './queries.ts'
import { cleanEmail, cleanName } from '../names.ts'
import { effectivePermissions, roles, rolesGivenBy, seesAllWorkspaces } from '../permissions.ts'
import type { Role } from '../permissions.ts'
import { findPersonByEmail, insertPerson, lockPerson } from './person-queries.ts'
import type { PersonRow } from './person-queries.ts'
import { createSignInLink } from '../sign-in/links.ts'
import * as signInQueries from '../sign-in/queries.ts'
import { isSteppedUp, requireStepUp } from '../sign-in/second-factor/step-up.ts'
import * as workspaceQueries from './workspace-queries.ts'

export interface NewMember {
  email: string
  /** The person's name in this org. Default: the part of the address before the `@`. */
  name?: string | undefined
  role: Role
  /** Default: the org's default workspace. */
  workspaceIds?: readonly string[] | undefined
}

const ownersOnly = forbidden('Only owners may add, change or remove owners.')
const lostAuthority = forbidden('You may not manage members any more.')
const alreadyMember = conflict('This person is already a member of the org.')
const notAccepted = conflict('This person has not accepted the invitation yet. Withdraw it and send another one.')
const canSignIn = conflict('This person can sign in already, so no link is needed.')
const lastOwner = conflict('An org needs at least one owner. Make somebody else an owner first.')

/**
 * The role of the caller, which nobody takes from them until the transaction ends: whoever removes them waits, and then
 * sees what they granted.
 */
const holdRole = async (db: Transaction, { orgId, userId, apiKey }: Actor): Promise<Role> => {
  const held = await queries.holdMember(db, orgId, userId)
  if (!held || !effectivePermissions(held.role, apiKey?.scopes ?? []).has('members:write')) throw lostAuthority
  return held.role
}

/** The person with this address, created when there is none. */
const personOf = async (db: Transaction, email: string, name: string): Promise<PersonRow> => {
  const person = { id: newId(), email, name }
  const stored = (await insertPerson(db, person)) ?? (await findPersonByEmail(db, email))
  if (!stored) throw new Error('the person was neither inserted nor found')
  return stored
}

const nameOf = ({ name, email }: NewMember): string =>
  cleanName(name ?? email.slice(0, Math.max(email.lastIndexOf('@'), 1)))

/** The workspaces that a new member is added to. NOT_FOUND when one of them is not in the org. */
const workspacesFor = async (db: Transaction, orgId: string, input: NewMember): Promise<string[]> => {
  const fallback = input.workspaceIds ? undefined : await workspaceQueries.findDefaultWorkspace(db, orgId)
  const workspaceIds = [...new Set(input.workspaceIds ?? (fallback ? [fallback.id] : []))]
  if ((await workspaceQueries.countWorkspaces(db, orgId, workspaceIds)) < workspaceIds.length) {
    throw notFound('Workspace')
  }
  return workspaceIds
}

const insert = async (db: Transaction, actor: AuditActor, userId: string, input: NewMember): Promise<MemberRow> => {
  const { role } = input
  const inserted = await queries.insertMember(db, actor.orgId, { id: newId(), userId, name: nameOf(input), role })
  if (!inserted) throw alreadyMember
  const workspaceIds = await workspacesFor(db, actor.orgId, input)
  await workspaceQueries.insertWorkspaceMember(db, actor.orgId, workspaceIds, userId)
  await invitations.deleteInvitationOfUser(db, actor.orgId, userId)
  const member = await queries.findMember(db, actor.orgId, inserted.id)
  if (!member) throw new Error('the insert of the member returned no row')
  const { id, email } = member
  await audit(db, actor, 'member.added', { type: 'member', id, details: { userId, email, role, workspaceIds } })
  await recordMember(db, actor, 'member.added', { memberId: id, userId, role, workspaceIds })
  return member
}

/** Makes the person with this address a member without an invitation. CONFLICT when they are a member. */
export const addMember = async (db: Transaction, actor: AuditActor, input: NewMember): Promise<MemberRow> => {
  const { id } = await personOf(db, cleanEmail(input.email), nameOf(input))
  return insert(db, actor, id, input)
}

/** Invites a person, who is not a member until they accept. CONFLICT when they are a member or have an invitation. */
const invite = async (db: Transaction, actor: Actor, userId: string, input: NewMember): Promise<MemberRow> => {
  const { orgId } = actor
  if (await queries.findMemberOfUser(db, orgId, userId)) throw alreadyMember
  const workspaceIds = await workspacesFor(db, orgId, input)
  const { role } = input
  const invitedBy = { id: actor.userId, name: actor.userName }
  const invitation = { id: newId(), userId, name: nameOf(input), role, workspaceIds, invitedBy }
  await endExpiredOf(db, actor, userId)
  const inserted = await invitations.insertInvitation(db, orgId, invitation)
  const invited = inserted && (await queries.findMember(db, orgId, inserted.id, 'invited'))
  if (!invited) throw conflict('This person is already invited. Withdraw the invitation to send another one.')
  const { id, email } = invited
  await audit(db, actor, 'member.invited', { type: 'member', id, details: { userId, email, role, workspaceIds } })
  await recordMember(db, actor, 'member.invited', { memberId: id, userId, role, workspaceIds })
  return invited
}

/** Adds a new person as a member. A person who has signed in or is a member of another org gets an invitation. */
const addOrInvite = async (db: Transaction, actor: Actor, input: NewMember): Promise<MemberRow> => {
  const { id } = await personOf(db, cleanEmail(input.email), nameOf(input))
  // When two orgs add a new person at the same time, the second one waits and sees the membership of the first.
  await lockPerson(db, id)
  const isKnown = await invitations.isKnownElsewhere(db, actor.orgId, id)
  return isKnown ? invite(db, actor, id, input) : insert(db, actor, id, input)
}

/**
 * Adds a member. Every role but `member` needs step-up. With step-up, the result has the path of a sign-in link for a
 * person without a password for all orgs. The link is limited to this org.
 */
export const createMember = (
  db: Database,
  actor: Actor,
  input: NewMember,
  stepUpToken: string | undefined,
): Promise<{ member: MemberRow; signInPath: string | null }> =>
  // A member of another org gets an invitation, so memberships of all orgs are read.
  db.transaction('all orgs', async (db) => {
    if (!rolesGivenBy(await holdRole(db, actor)).includes(input.role)) throw ownersOnly
    const steppedUp = await isSteppedUp(db, actor, stepUpToken)
    if (input.role !== 'member') await requireStepUp(db, actor, stepUpToken)
    const member = await addOrInvite(db, actor, input)
    if (!steppedUp || (await signInQueries.hasPasswordForAllOrgs(db, member.userId)))
      return { member, signInPath: null }
    const { path } = await createSignInLink(db, member.userId, [actor.orgId], actor.userId)
    if (member.status === 'active') {
      await audit(db, actor, 'member.invited', { type: 'member', id: member.id, details: { userId: member.userId } })
    }
    return { member, signInPath: path }
  })

const lockMember = async (db: Transaction, actor: Actor, id: string) => {
  const rows = await queries.lockMemberAndOwners(db, actor.orgId, id)
  const member = rows.find((row) => row.id === id.toLowerCase())
  if (!member && (await queries.findMember(db, actor.orgId, id, 'invited'))) throw notAccepted
  if (!member) throw notFound('Member')
  const owners = rows.filter((row) => row.role === 'owner')
  // From the locked rows, because the role may have changed since the request was authenticated.
  const isOwner = owners.some((row) => row.userId === actor.userId)
  return { member, isOwner, isLastOwner: member.role === 'owner' && owners.length === 1 }
}

export const getMember = async (db: Database, actor: Actor, id: string): Promise<MemberRow> => {
  const member =
    (await queries.findMember(db, actor.orgId, id)) ?? (await queries.findMember(db, actor.orgId, id, 'invited'))
  if (!member) throw notFound('Member')
  return member
}

const maxListedWorkspaces = 20

/** Members or invited people with their workspaces and last activity, oldest first. */
export const listMembers = (db: Database, actor: Actor, page: MemberPage): Promise<ListedMemberRow[]> =>
  queries.listMembers(db, actor, {
    ...page,
    seesAll: seesAllWorkspaces(actor.role),
    maxWorkspaces: maxListedWorkspaces,
  })

/**
 * A new sign-in link, limited to this org, for a person who has not accepted the invitation or has never signed in. For
 * others, it would let administrators act as them. Needs step-up.
 */
export const renewSignInLink = (
  db: Database,
  actor: Actor,
  id: string,
  stepUpToken: string | undefined,
): Promise<{ path: string; expiresAt: string }> =>
  // The person can be a member of other orgs.
  db.transaction('all orgs', async (db) => {
    const { orgId } = actor
    const role = await holdRole(db, actor)
    const member = (await queries.findMember(db, orgId, id)) ?? (await queries.findMember(db, orgId, id, 'invited'))
    if (!member) throw notFound('Member')
    if (!rolesGivenBy(role).includes(member.role)) throw ownersOnly
    await requireStepUp(db, actor, stepUpToken)
    // A first sign-in at the same time ends before or waits.
    await lockPerson(db, member.userId)
    if (await signInQueries.hasPasswordForAllOrgs(db, member.userId)) throw canSignIn
    if (member.status === 'active' && (await signInQueries.hasSignedIn(db, member.userId))) throw canSignIn
    const details = { userId: member.userId }
    await audit(db, actor, 'member.sign-in-link-created', { type: 'member', id: member.id, details })
    return createSignInLink(db, member.userId, [orgId], actor.userId)
  })

/** Changes the role of a member, and withdraws what they may not grant any more. Needs step-up. */
export const changeRole = (
  db: Database,
  actor: Actor,
  id: string,
  { role, ...proof }: { role: Role; stepUpToken: string | undefined; ifMatch: string | undefined },
): Promise<MemberRow> =>
  db.transaction(actor, async (db) => {
    const { member, isOwner, isLastOwner } = await lockMember(db, actor, id)
    if ((member.role === 'owner' || role === 'owner') && !isOwner) throw ownersOnly
    await requireStepUp(db, actor, proof.stepUpToken)
    requireMatch(proof.ifMatch, member)
    if (role !== member.role) {
      if (isLastOwner) throw lastOwner
      await queries.updateRole(db, actor.orgId, id, role)
      const { userId, role: previousRole } = member
      const details = { userId, from: previousRole, to: role }
      await audit(db, actor, 'member.role-changed', { type: 'member', id: member.id, details })
      await recordMember(db, actor, 'member.role_changed', { memberId: member.id, userId, role, previousRole })
      const kept = rolesGivenBy(role)
      const lost = rolesGivenBy(previousRole).filter((given) => !kept.includes(given))
      await withdrawOffersOf(db, actor, userId, lost)
    }
    const changed = await queries.findMember(db, actor.orgId, id)
    if (!changed) throw notFound('Member')
    return changed
  })

/** Ends the connections of a person who leaves the org, in the transaction of the removal. */
export type EndConnections = (db: Transaction, by: Actor, userId: string) => Promise<void>

/**
 * Removes a member with their API keys and connections, removes this org from the scopes of their sessions and passwords,
 * and withdraws the invitations that they sent. Withdraws the invitation of a person who has not accepted it.
 */
export const removeMember = async (
  db: Database,
  actor: Actor,
  id: string,
  { ifMatch, endConnections }: { ifMatch: string | undefined; endConnections: EndConnections },
): Promise<void> => {
  if (await withdrawInvitation(db, actor, id)) return
  // The sessions of a person without another org end, so memberships of all orgs are read.
  await db.transaction('all orgs', async (db) => {
    const { member, isOwner, isLastOwner } = await lockMember(db, actor, id)
    if (member.role === 'owner' && !isOwner) throw ownersOnly
    requireMatch(ifMatch, member)
    if (isLastOwner) throw lastOwner
    // Waits for sign-ins and changes of passwords that have read the membership.
    await lockPerson(db, member.userId)
    await deleteGrantsOfMember(db, actor.orgId, member.userId)
    await deleteMarksOfMember(db, actor.orgId, member.userId)
    await endWorkOfMember(db, actor.orgId, member.userId)
    await endConnections(db, actor, member.userId)
    await queries.deleteMember(db, actor.orgId, id)
    await signInQueries.withdrawOrg(db, [member.userId], actor.orgId)
    await signInQueries.deleteSessionsWithoutOrg(db, member.userId)
    const details = { userId: member.userId, role: member.role }
    await audit(db, actor, 'member.removed', { type: 'member', id: member.id, details })
    await recordMember(db, actor, 'member.removed', { memberId: member.id, ...details, status: 'active' })
    await withdrawOffersOf(db, actor, member.userId, roles)
  })
}
