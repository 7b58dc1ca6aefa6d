import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export interface ConsentRow {
  connectorSlug: string
  /** The version of the agent for which it was given. */
  authorityVersion: number
  askAfterUntrustedContent: boolean
  revision: number
  createdAt: string
  updatedAt: string
}

const columns = sql`connector_slug, authority_version, ask_after_untrusted as ask_after_untrusted_content, revision, created_at,
  updated_at`

/** A person's consents for an agent, including those that are no longer valid. */
export const listConsents = (db: Db, orgId: string, agentId: string, userId: string) =>
  db.rows<ConsentRow>(sql`
    select ${columns} from agent_consents
    where org_id = ${orgId} and agent_id = ${agentId} and user_id = ${userId}
    order by connector_slug`)

export interface NewConsent {
  agentId: string
  userId: string
  connectorSlug: string
  authorityVersion: number
  askAfterUntrustedContent: boolean
}

export const putConsent = (db: Db, orgId: string, consent: NewConsent) =>
  db.row<ConsentRow>(sql`
    insert into agent_consents as c (org_id, agent_id, user_id, connector_slug, authority_version, ask_after_untrusted)
    values (${orgId}, ${consent.agentId}, ${consent.userId}, ${consent.connectorSlug}, ${consent.authorityVersion},
      ${consent.askAfterUntrustedContent})
    on conflict (org_id, agent_id, user_id, connector_slug) do update
      set authority_version = excluded.authority_version, ask_after_untrusted = excluded.ask_after_untrusted,
        revision = c.revision + 1, updated_at = excluded.updated_at
    returning ${columns}`)

export const lockConsent = (db: Db, actor: Actor, agentId: string, connectorSlug: string) =>
  db.row<ConsentRow>(sql`
    select ${columns} from agent_consents
    where org_id = ${actor.orgId} and agent_id = ${agentId} and user_id = ${actor.userId}
      and connector_slug = ${connectorSlug}
    for update`)

export const deleteConsent = (db: Db, actor: Actor, agentId: string, connectorSlug: string) =>
  db.execute(sql`
    delete from agent_consents
    where org_id = ${actor.orgId} and agent_id = ${agentId} and user_id = ${actor.userId}
      and connector_slug = ${connectorSlug}`)

/** Moves the actor's consents to the new version: a change voids the consents of everyone else. */
export const keepOwnConsents = (db: Db, actor: Actor, agentId: string, version: { from: number; to: number }) =>
  db.execute(sql`
    update agent_consents set authority_version = ${version.to}
    where org_id = ${actor.orgId} and agent_id = ${agentId} and user_id = ${actor.userId}
      and authority_version = ${version.from}`)

/** Locks the agent against changes until the transaction ends. */
export const lockAuthority = (db: Db, orgId: string, agentId: string) =>
  db.row<{ authorityVersion: number }>(sql`
    select authority_version from agents
    where org_id = ${orgId} and id = ${agentId} and deleted_at is null
    for share`)

export interface AuthorityChange {
  changedBy: string | null
  changedByName: string | null
  changedAt: string
}

/** The last change of an agent's authority, with the user's name in the org. */
export const findAuthorityChange = async (
  db: Db,
  orgId: string,
  agentId: string,
): Promise<AuthorityChange | undefined> => {
  const change = await db.row<Omit<AuthorityChange, 'changedByName'>>(sql`
    select a.authority_changed_by as changed_by, a.authority_changed_at as changed_at
    from agents a where a.org_id = ${orgId} and a.id = ${agentId}`)
  if (!change) return undefined
  // Apart from the agent, which is on another server than the people where tables are distributed.
  const person = await db.row<{ name: string }>(sql`
    select coalesce(m.name, u.name) as name
    from users u left join members m on m.org_id = ${orgId} and m.user_id = u.id
    where u.id = ${change.changedBy}`)
  return { ...change, changedByName: person?.name ?? null }
}
