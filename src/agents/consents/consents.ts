import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { requireMatch } from '../../platform/http/etag.ts'
import { recordEvent } from '../../outbox/record.ts'
import type { KnownTools } from '../../tool.ts'
import { getAgent } from '../agents.ts'
import * as queries from './queries.ts'
import type { ConsentRow } from './queries.ts'
import type { AgentRow } from '../queries.ts'

export { findAuthorityChange, listConsents } from './queries.ts'
export type { AuthorityChange, ConsentRow } from './queries.ts'

type AgentAuthority = Pick<AgentRow, 'authorityChangedBy' | 'authorityVersion'>

/** The consent to a connector that is valid for the agent's current version. */
const currentConsent = (
  { authorityVersion }: AgentAuthority,
  consents: readonly ConsentRow[],
  connector: string,
): ConsentRow | undefined =>
  consents.find((consent) => consent.connectorSlug === connector && consent.authorityVersion === authorityVersion)

/** Whether an agent may use a person's connections to a connector without asking first. */
export const isConsented = (
  agent: AgentAuthority,
  userId: string,
  consents: readonly ConsentRow[],
  connector: string,
): boolean => agent.authorityChangedBy === userId || currentConsent(agent, consents, connector) !== undefined

/** Whether tools of a connector that are not read-only need approval once a turn has read untrusted content. */
export const asksAfterUntrusted = (
  agent: AgentAuthority,
  consents: readonly ConsentRow[],
  connector: string,
): boolean => currentConsent(agent, consents, connector)?.askAfterUntrustedContent ?? true

export interface Consent extends ConsentRow {
  /** False when someone else has changed the agent since. */
  isValid: boolean
}

const toConsent = (row: ConsentRow, authorityVersion: number): Consent => ({
  ...row,
  isValid: row.authorityVersion === authorityVersion,
})

/** The caller's consents for an agent, and the last change of the agent's authority. */
export const listOwnConsents = async (db: Db, actor: Actor, idOrSlug: string) => {
  const agent = await getAgent(db, actor, idOrSlug)
  const [rows, change] = await Promise.all([
    queries.listConsents(db, actor.orgId, agent.id, actor.userId),
    queries.findAuthorityChange(db, actor.orgId, agent.id),
  ])
  return {
    items: rows.map((row) => toConsent(row, agent.authorityVersion)),
    nextCursor: null,
    authority: {
      version: agent.authorityVersion,
      changedBy: changerOf(change),
      changedAt: change?.changedAt ?? agent.updatedAt,
    },
  }
}

export const changerOf = (change: queries.AuthorityChange | undefined): { id: string; name: string } | null =>
  change?.changedBy ? { id: change.changedBy, name: change.changedByName ?? 'A former member' } : null

/** Locks and returns the agent's version. CONFLICT when it is not the version that the person was shown. */
const lockVersion = async (
  db: Transaction,
  actor: Actor,
  agentId: string,
  shown: number | undefined,
): Promise<number> => {
  const locked = await queries.lockAuthority(db, actor.orgId, agentId)
  if (!locked) throw notFound('Agent')
  if (shown !== undefined && shown !== locked.authorityVersion) {
    throw conflict('The agent has changed since this authorityVersion. Review the change and try again.')
  }
  return locked.authorityVersion
}

interface ConsentInput {
  agentId: string
  connectorSlug: string
  /** The version of the agent that the person was shown; the current one by default. */
  shownVersion?: number | undefined
  /** The stored value by default; true for a new consent. */
  askAfterUntrustedContent?: boolean | undefined
}

/** Stores the actor's consent in the caller's transaction. CONFLICT when the agent has changed since it was shown. */
export const giveConsent = async (db: Transaction, actor: Actor, input: ConsentInput): Promise<Consent> => {
  const { agentId, connectorSlug, shownVersion } = input
  const version = await lockVersion(db, actor, agentId, shownVersion)
  const consents = await queries.listConsents(db, actor.orgId, agentId, actor.userId)
  const before = consents.find((one) => one.connectorSlug === connectorSlug && one.authorityVersion === version)
  const askAfterUntrustedContent = input.askAfterUntrustedContent ?? before?.askAfterUntrustedContent ?? true
  const consent = { agentId, connectorSlug, userId: actor.userId, authorityVersion: version, askAfterUntrustedContent }
  const row = await queries.putConsent(db, actor.orgId, consent)
  if (!row) throw new Error('the upsert returned no consent')
  const details = { connector: connectorSlug, authorityVersion: version, askAfterUntrustedContent }
  await audit(db, actor, 'agent.consent-given', { type: 'agent', id: agentId, details })
  const data = { agentId, connector: connectorSlug, askAfterUntrustedContent }
  await recordEvent(db, actor, 'agent.consent_given', {
    subjectId: agentId,
    workspaceId: null,
    ownerId: actor.userId,
    data,
  })
  return toConsent(row, version)
}

/** Stores the caller's consent. BAD_REQUEST for an unknown connector. */
export const putOwnConsent = async (
  db: Database,
  actor: Actor,
  { connectors }: KnownTools,
  { idOrSlug, ...input }: Omit<ConsentInput, 'agentId'> & { idOrSlug: string },
): Promise<Consent> => {
  const agent = await getAgent(db, actor, idOrSlug)
  if (!connectors.includes(input.connectorSlug)) {
    throw badRequest('connectorSlug must be the slug of a connector from GET /connectors')
  }
  return db.transaction(actor, (db) => giveConsent(db, actor, { ...input, agentId: agent.id }))
}

/** Deletes the caller's consent. NOT_FOUND when there is none, CONFLICT when `ifMatch` names another revision. */
export const withdrawConsent = async (
  db: Database,
  actor: Actor,
  { idOrSlug, connectorSlug, ifMatch }: { idOrSlug: string; connectorSlug: string; ifMatch: string | undefined },
): Promise<void> => {
  const agent = await getAgent(db, actor, idOrSlug)
  await db.transaction(actor, async (db) => {
    const consent = await queries.lockConsent(db, actor, agent.id, connectorSlug)
    if (!consent) throw notFound('Consent')
    requireMatch(ifMatch, consent)
    await queries.deleteConsent(db, actor, agent.id, connectorSlug)
    const resource = { type: 'agent', id: agent.id, details: { connector: connectorSlug } }
    await audit(db, actor, 'agent.consent-withdrawn', resource)
    const data = { agentId: agent.id, connector: connectorSlug }
    const event = { subjectId: agent.id, workspaceId: null, ownerId: actor.userId, data }
    await recordEvent(db, actor, 'agent.consent_withdrawn', event)
  })
}
