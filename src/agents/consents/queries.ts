import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export interface ConsentRow {
  connectorSlug: string
  /** The version of the agent that it was given for. */
  authorityVersion: number
  askAfterUntrustedContent: boolean
  revision: number
  createdAt: string
  updatedAt: string
}

const columns = sql`connector_slug, authority_version, ask_after_untrusted as ask_after_untrusted_content, revision, created_at,
  updated_at`

/** What a person has consented to for an agent, void ones included. */
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
        revision = c.revision + 1, updated_at = now()
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

/** A person's own change of an agent voids the consents of everybody else, not their own. */
export const keepOwnConsents = (db: Db, actor: Actor, agentId: string, before: number, after: number) =>
  db.execute(sql`
    update agent_consents set authority_version = ${after}
    where org_id = ${actor.orgId} and agent_id = ${agentId} and user_id = ${actor.userId}
      and authority_version = ${before}`)

/** Keeps the agent from being changed until the transaction ends. */
export const holdAuthority = (db: Db, orgId: string, agentId: string) =>
  db.row<{ authorityVersion: number }>(sql`
    select authority_version from agents
    where org_id = ${orgId} and id = ${agentId} and deleted_at is null
    for share`)

export interface AuthorityChange {
  changedBy: string | null
  changedByName: string | null
  changedAt: string
}

/** Who made the latest change of an agent's authority, by the name that the org knows. */
export const findAuthorityChange = (db: Db, orgId: string, agentId: string) =>
  db.row<AuthorityChange>(sql`
    select a.authority_changed_by as changed_by, coalesce(m.name, u.name) as changed_by_name,
      a.authority_changed_at as changed_at
    from agents a
      left join users u on u.id = a.authority_changed_by
      left join members m on m.org_id = a.org_id and m.user_id = a.authority_changed_by
    where a.org_id = ${orgId} and a.id = ${agentId}`)
