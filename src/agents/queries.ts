import { empty, keysAsked, raw, sql } from '../platform/database/database.ts'
import type { Db, LookUp, Sql } from '../platform/database/database.ts'
import type { Actor } from '../identity/actor.ts'
import type { Settings } from './settings.ts'

export interface AgentRow {
  id: string
  orgId: string
  workspaceId: string | null
  name: string
  slug: string
  description: string | null
  avatar: string
  model: string
  systemPrompt: string | null
  allowedTools: string[]
  allowedPeers: string[]
  allowedConnectors: string[]
  isActive: boolean
  isDefault: boolean
  settings: Settings
  /** The user who last changed a field of `authorityOf`; null when unknown. */
  authorityChangedBy: string | null
  /** Incremented by each of these changes. */
  authorityVersion: number
  revision: number
  createdAt: string
  updatedAt: string
  deletedAt: string | null
}

const columns = sql`id, org_id, workspace_id, name, slug, description, avatar, model, system_prompt, allowed_tools,
  allowed_peers, allowed_connectors, is_active, is_default, settings, authority_changed_by, authority_version, revision, created_at, updated_at, deleted_at`

/** The default agent belongs to no workspace and is visible in all of them. */
const visible = (workspaceId: string) => sql`(workspace_id = ${workspaceId} or is_default)`

// An AgentRow as one JSON column: pg parses the description of each column of each result, which for 19 columns is a
// third of the cost of this frequent read.
const record = `json_build_object(
    'id', a.id, 'orgId', a.org_id, 'workspaceId', a.workspace_id, 'name', a.name, 'slug', a.slug,
    'description', a.description, 'avatar', a.avatar, 'model', a.model, 'systemPrompt', a.system_prompt,
    'allowedTools', a.allowed_tools, 'allowedPeers', a.allowed_peers, 'allowedConnectors', a.allowed_connectors,
    'isActive', a.is_active, 'isDefault', a.is_default, 'settings', a.settings, 'authorityChangedBy', a.authority_changed_by,
    'authorityVersion', a.authority_version, 'revision', a.revision,
    'createdAt', to_char(a.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updatedAt', to_char(a.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'deletedAt', to_char(a.deleted_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as record`

/** An AgentRow as JSON text, for a statement of another area. The table must be called `a`. */
export const agentRecord: Sql = raw(record)

const lookUpById = (ofOrg: string) => `
  select asked.place, found.record
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as asked (org_id, id, workspace_id, place)
    cross join lateral (
      select ${record} from agents a
      where a.org_id = asked.org_id ${ofOrg} and a.id = asked.id and a.deleted_at is null
        and (a.workspace_id = asked.workspace_id or a.is_default)
      limit 1
    ) found
  where ${keysAsked}`

const readById: LookUp = { text: lookUpById(''), ofOrg: lookUpById('and a.org_id = $4') }

export const findAgentById = async (
  db: Db,
  actor: Actor,
  workspaceId: string,
  id: string,
): Promise<AgentRow | undefined> => {
  const found = await db.lookUp(readById, [actor.orgId, id, workspaceId])
  return found === undefined ? undefined : (JSON.parse(found) as AgentRow)
}

export const findAgentBySlug = (db: Db, actor: Actor, workspaceId: string, slug: string) =>
  db.row<AgentRow>(sql`
    select ${columns} from agents
    where org_id = ${actor.orgId} and slug = ${slug} and deleted_at is null and ${visible(workspaceId)}`)

export const lockAgent = (db: Db, actor: Actor, id: string) =>
  db.row<AgentRow>(sql`
    select ${columns} from agents
    where org_id = ${actor.orgId} and id = ${id} and deleted_at is null
    for no key update`)

/** An agent of the org in any workspace. */
export const findLiveAgent = (db: Db, orgId: string, id: string) =>
  db.row<AgentRow>(sql`
    select ${columns} from agents where org_id = ${orgId} and id = ${id} and deleted_at is null`)

export const findDefaultAgent = (db: Db, actor: Actor) =>
  db.row<ListedAgentRow>(sql`
    select ${columns}, updated_at::text as updated_at_exactly from agents
    where org_id = ${actor.orgId} and is_default`)

/** With the microseconds of updated_at, for the cursor. */
export type ListedAgentRow = AgentRow & { updatedAtExactly: string }

/** The workspace's own agents, last changed first, without the org's default agent. */
export const listWorkspaceAgents = (
  db: Db,
  actor: Actor,
  workspaceId: string,
  { limit, after }: { limit: number; after: { updatedAt: string; id: string } },
) =>
  db.rows<ListedAgentRow>(sql`
    select ${columns}, updated_at::text as updated_at_exactly from agents
    where org_id = ${actor.orgId} and workspace_id = ${workspaceId} and deleted_at is null
      and (updated_at, id) < (${after.updatedAt}::timestamptz, ${after.id}::uuid)
    order by updated_at desc, id desc
    limit ${limit}`)

export interface PeerRow {
  id: string
  slug: string
  name: string
  description: string | null
  avatar: string
  isActive: boolean
  canReply: boolean
  authorityChangedBy: string | null
}

export interface PeerLister {
  id: string
  slug: string
  allowedPeers: readonly string[]
}

/** The visible, not deleted agents in the peer list of `agent`, in the order of that list. */
export const listPeers = (db: Db, actor: Actor, workspaceId: string, agent: PeerLister) =>
  db.rows<PeerRow>(sql`
    select id, slug, name, description, avatar, is_active, ${agent.slug} = any(allowed_peers) as can_reply,
      authority_changed_by
    from unnest(${agent.allowedPeers}::text[]) with ordinality as listed (peer, place)
      join agents on org_id = ${actor.orgId} and slug = peer and deleted_at is null
    where ${visible(workspaceId)} and id <> ${agent.id}
    order by place`)

export interface NewAgent {
  id: string
  workspaceId: string | null
  name: string
  slug: string
  description: string | null
  avatar: string
  model: string
  systemPrompt: string | null
  allowedTools: string[]
  allowedPeers: string[]
  allowedConnectors: string[]
  settings: Settings
}

/** Undefined when the slug is taken. */
export const insertAgent = (db: Db, actor: Actor, agent: NewAgent) =>
  db.row<AgentRow>(sql`
    insert into agents (org_id, id, workspace_id, name, slug, description, avatar, model, system_prompt, allowed_tools,
      allowed_peers, allowed_connectors, settings, created_by, authority_changed_by)
    values (${actor.orgId}, ${agent.id}, ${agent.workspaceId}, ${agent.name}, ${agent.slug}, ${agent.description},
      ${agent.avatar}, ${agent.model}, ${agent.systemPrompt}, ${agent.allowedTools}, ${agent.allowedPeers},
      ${agent.allowedConnectors}, ${JSON.stringify(agent.settings)}, ${actor.userId}, ${actor.userId})
    on conflict (org_id, slug) where deleted_at is null do nothing
    returning ${columns}`)

/**
 * Inserts the org's default agent, or sets the configured model on the existing one. The operator chose that model, not
 * a member of the org, so the authority version stays the same and consents stay valid.
 */
export const ensureDefaultAgent = async (db: Db, orgId: string, agent: NewAgent): Promise<void> => {
  // The agent has two unique keys, that of the default agent and its slug. A conflict target names one of them, and an
  // insert at the same time by another process can violate the other one first.
  await db.execute(sql`
    insert into agents (org_id, id, name, slug, description, avatar, model, allowed_tools, settings, is_default)
    values (${orgId}, ${agent.id}, ${agent.name}, ${agent.slug}, ${agent.description}, ${agent.avatar}, ${agent.model},
      ${agent.allowedTools}, ${JSON.stringify(agent.settings)}, true)
    on conflict do nothing`)
  await db.execute(sql`
    update agents set model = ${agent.model}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and is_default and model <> ${agent.model}`)
}

/** The slugs of the org that equal `slug` or extend it by a number ("helper" → "helper-2"). */
export const listNumberedSlugs = (db: Db, actor: Actor, slug: string) => {
  // A long slug is shortened to make room for the number, so the query matches the part that always remains.
  const stem = slug.slice(0, 56)
  return db.rows<{ slug: string }>(sql`
    select slug from agents
    where org_id = ${actor.orgId} and slug like ${`${stem}%`} and deleted_at is null
      and (slug = ${slug} or slug ~ '-[0-9]+$')`)
}

/** Locks the numbering of a slug until the transaction ends, so that concurrent inserts do not compete for one number. */
export const lockSlugNumbers = (db: Db, actor: Actor, slug: string) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`agent-slug ${actor.orgId} ${slug}`}, 0))`)

/** With `changesAuthority`, the actor becomes `authorityChangedBy` and the authority version is incremented. */
export const updateAgent = (db: Db, actor: Actor, agent: AgentRow, changesAuthority: boolean) =>
  db.row<AgentRow>(sql`
    update agents
    set name = ${agent.name}, slug = ${agent.slug}, description = ${agent.description}, avatar = ${agent.avatar},
      model = ${agent.model}, system_prompt = ${agent.systemPrompt}, allowed_tools = ${agent.allowedTools},
      allowed_peers = ${agent.allowedPeers}, allowed_connectors = ${agent.allowedConnectors},
      is_active = ${agent.isActive}, settings = ${JSON.stringify(agent.settings)},
      ${changesAuthority ? sql`authority_changed_by = ${actor.userId}, authority_changed_at = now(), authority_version = authority_version + 1,` : empty}
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${agent.id} and deleted_at is null
    returning ${columns}`)

/**
 * Replaces a slug in the peer lists of the org's agents. `updated_at` stays the same, or one rename would reorder the
 * list of agents.
 */
export const renamePeer = (db: Db, actor: Actor, from: string, to: string) =>
  db.execute(sql`
    update agents
    set allowed_peers = case when ${to} = any(allowed_peers) then array_remove(allowed_peers, ${from})
        else array_replace(allowed_peers, ${from}, ${to}) end,
      revision = revision + 1
    where org_id = ${actor.orgId} and allowed_peers @> array[${from}::text] and deleted_at is null`)

export const softDeleteAgent = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`
    update agents set deleted_at = now(), updated_at = now(), revision = revision + 1
    where org_id = ${actor.orgId} and id = ${id} and deleted_at is null`)
