import type { Actor } from '../identity/actor.ts'
import { workspaceOf } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { getOrg } from '../identity/members/orgs.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import { violatedConstraint } from '../platform/database/errors.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { recordEvent } from '../outbox/record.ts'
import { isUuid, newId } from '../platform/ids.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { KnownTools } from '../tool.ts'
import { approvalsOf, sameApprovals } from './approvals.ts'
import { keepOwnConsents } from './consents/queries.ts'
import { isReservedName } from './default-agent.ts'
import type { Model, ModelCatalog } from './model-catalog.ts'
import * as queries from './queries.ts'
import type { AgentRow } from './queries.ts'
import { wholeList } from './schemas.ts'
import type { AgentCreate, AgentListQuery, AgentPatch } from './schemas.ts'
import { checkFallbacks, checkReasoning, fallbackModelsOf, mergeSettings } from './settings.ts'
import { checkSlug, insertWithFreeSlug } from './slugs.ts'

export { cachedEnsureDefaultAgent, defaultAgentSlug } from './default-agent.ts'
export { createModelCatalog } from './model-catalog.ts'
export type { Model, ModelCatalog } from './model-catalog.ts'
export { agentRecord } from './queries.ts'
export type { AgentRow, PeerRow } from './queries.ts'
export { fallbackModelsOf, reasoningEffortOf } from './settings.ts'
export type { ReasoningEffort } from './settings.ts'

const maxNameLength = 255

const cleanName = (name: string): string => {
  const clean = name.trim().replaceAll(/\s+/g, ' ')
  const { length } = [...clean]
  if (length === 0 || length > maxNameLength) throw badRequest(`name must be 1–${maxNameLength} characters`)
  return clean
}

const rejectReservedName = (name: string): void => {
  if (isReservedName(name)) throw badRequest(`name must not be ${name}, which is reserved for the default agent`)
}

const cleanSlugs = (slugs: string[]): string[] => [
  ...new Set(slugs.map((slug) => slug.trim()).filter((slug) => slug !== '')),
]

const knownModel = (catalog: ModelCatalog, id: string): Model => {
  const model = catalog.find(id)
  if (!model || model.capabilities.embeddings) {
    throw badRequest('model must be the id of a model from GET /models that is not an embedding model')
  }
  return model
}

/** Finds an agent by UUID or slug among those that are visible in the call's workspace. */
export const findAgent = (db: Db, actor: Actor, idOrSlug: string): Promise<AgentRow | undefined> => {
  const workspaceId = workspaceOf(actor)
  // No slug looks like a UUID, so one query is enough.
  return isUuid(idOrSlug)
    ? queries.findAgentById(db, actor, workspaceId, idOrSlug)
    : queries.findAgentBySlug(db, actor, workspaceId, idOrSlug)
}

export const getAgent = async (db: Db, actor: Actor, idOrSlug: string): Promise<AgentRow> => {
  const agent = await findAgent(db, actor, idOrSlug)
  if (!agent) throw notFound('Agent')
  return agent
}

/** An agent of the org in any workspace, for a running turn. Undefined when it was deleted. */
export const findLiveAgent = (db: Db, orgId: string, id: string): Promise<AgentRow | undefined> =>
  queries.findLiveAgent(db, orgId, id)

/** The agents in `allowedPeers` that exist and are visible in the call's workspace, in the order of the list. */
export const listPeers = (db: Db, actor: Actor, agent: queries.PeerLister): Promise<queries.PeerRow[]> =>
  queries.listPeers(db, actor, workspaceOf(actor), agent)

// Sorts before every row of a list in descending order.
const listStart = { updatedAt: '9999-12-31 00:00:00+00', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const positionOf = (cursor: string): { updatedAt: string; id: string } => {
  const [updatedAt, id] = decodeCursor(cursor, ['timestamp', 'uuid'])
  return { updatedAt, id }
}

/**
 * The agents of the call's workspace and the org's default agent, last changed first. The default agent is always on the
 * first page, at the position of its own last change among the agents of that page.
 */
export const listAgents = async (
  db: Db,
  actor: Actor,
  { limit = wholeList, cursor }: AgentListQuery,
): Promise<{ items: AgentRow[]; nextCursor: string | null }> => {
  const workspaceId = workspaceOf(actor)
  const pinned = cursor === undefined ? await queries.findDefaultAgent(db, actor) : undefined
  const pageSize = pinned ? limit - 1 : limit
  const after = cursor === undefined ? listStart : positionOf(cursor)
  const found = await queries.listWorkspaceAgents(db, actor, workspaceId, { limit: pageSize + 1, after })
  const items = found.slice(0, pageSize)
  const last = items.at(-1)
  const position = last ? { updatedAt: last.updatedAtExactly, id: last.id } : after
  if (pinned) {
    const place = items.findIndex((agent) => agent.updatedAtExactly < pinned.updatedAtExactly)
    items.splice(place === -1 ? items.length : place, 0, pinned)
  }
  return { items, nextCursor: found.length > pageSize ? encodeCursor([position.updatedAt, position.id]) : null }
}

export interface AgentRules {
  catalog: ModelCatalog
  /** The model of every default agent, and of new agents without `model` in orgs that have set none. */
  defaultModel: string
  quotas: Quotas
  knownTools: KnownTools
}

/** The model that the org has for new agents. Undefined when it has none, or the catalog has it no more. */
const modelOfOrg = async (db: Db, { orgId }: Actor, { find }: ModelCatalog): Promise<string | undefined> => {
  const { defaultModel } = await getOrg(db, orgId)
  return defaultModel !== null && find(defaultModel) ? defaultModel : undefined
}

/** Creates an agent in the call's workspace. BAD_REQUEST for the reserved name, an unknown model, settings over 32 KB. */
export const createAgent = async (
  db: Database,
  actor: Actor,
  { catalog, defaultModel, quotas, knownTools }: AgentRules,
  body: AgentCreate,
): Promise<AgentRow> => {
  const workspaceId = workspaceOf(actor)
  const name = cleanName(body.name)
  rejectReservedName(name)
  const model = knownModel(catalog, body.model ?? (await modelOfOrg(db, actor, catalog)) ?? defaultModel)
  const settings = mergeSettings({}, body.settings ?? {}, knownTools)
  checkReasoning(settings, model)
  checkFallbacks(settings, catalog)
  const agent = {
    id: newId(),
    workspaceId,
    name,
    description: body.description ?? null,
    avatar: body.avatar ?? 'default',
    model: model.id,
    systemPrompt: body.systemPrompt ?? null,
    allowedTools: cleanSlugs(body.allowedTools ?? []),
    allowedPeers: cleanSlugs(body.allowedPeers ?? []),
    allowedConnectors: cleanSlugs(body.allowedConnectors ?? []),
    settings,
  }
  return db.transaction(actor, async (db) => {
    // Before the slug is inserted: a transaction that waits for the quota's lock must not have other locks.
    await quotas.checkRow(db, actor.orgId, 'agents')
    const created = await insertWithFreeSlug(db, actor, agent)
    await audit(db, actor, 'agent.created', { type: 'agent', id: created.id, details: { name, slug: created.slug } })
    const { id: agentId, slug } = created
    await recordEvent(db, actor, 'agent.created', {
      subjectId: agentId,
      workspaceId,
      data: { agentId, name, slug, model: model.id },
    })
    return created
  })
}

/** The restrictions of the default agent. The model in the patch is known to exist. */
const checkDefaultAgent = (agent: AgentRow, patch: AgentPatch): void => {
  if (patch.isActive === false) throw forbidden('The default agent cannot be deactivated.')
  if (patch.model !== undefined && patch.model !== agent.model) {
    throw forbidden(`The model of the default agent is ${agent.model} and cannot be changed.`)
  }
}

/** The agent after the patch. Throws when a field breaks a rule. */
const patched = (agent: AgentRow, patch: AgentPatch, knownTools: KnownTools): AgentRow => {
  const name = patch.name === undefined ? agent.name : cleanName(patch.name)
  if (agent.isDefault) checkDefaultAgent(agent, patch)
  else if (patch.name !== undefined) rejectReservedName(name)
  const slug =
    patch.slug === undefined || agent.isDefault || patch.slug === agent.slug ? agent.slug : checkSlug(patch.slug)
  const allowedPeers = patch.allowedPeers === undefined ? agent.allowedPeers : cleanSlugs(patch.allowedPeers)
  return {
    ...agent,
    name,
    slug,
    description: patch.description === undefined ? agent.description : patch.description,
    avatar: patch.avatar ?? agent.avatar,
    model: patch.model ?? agent.model,
    systemPrompt: patch.systemPrompt === undefined ? agent.systemPrompt : patch.systemPrompt,
    allowedTools: patch.allowedTools === undefined ? agent.allowedTools : cleanSlugs(patch.allowedTools),
    allowedPeers: [...new Set(allowedPeers.map((peer) => (peer === agent.slug ? slug : peer)))],
    allowedConnectors:
      patch.allowedConnectors === undefined ? agent.allowedConnectors : cleanSlugs(patch.allowedConnectors),
    isActive: patch.isActive ?? agent.isActive,
    settings: patch.settings === undefined ? agent.settings : mergeSettings(agent.settings, patch.settings, knownTools),
  }
}

const patchFields = [
  'name',
  'slug',
  'description',
  'avatar',
  'model',
  'systemPrompt',
  'allowedTools',
  'allowedPeers',
  'allowedConnectors',
  'settings',
  'isActive',
] as const satisfies (keyof AgentPatch)[]

/** Locks an agent. NOT_FOUND when it is not visible in the call's workspace. */
const lockVisible = async (db: Transaction, actor: Actor, idOrSlug: string): Promise<AgentRow> => {
  const { id } = await getAgent(db, actor, idOrSlug)
  const agent = await queries.lockAgent(db, actor, id)
  if (!agent) throw notFound('Agent')
  return agent
}

const storeAgent = async (
  db: Transaction,
  actor: Actor,
  agent: AgentRow,
  changesAuthority: boolean,
): Promise<AgentRow> => {
  try {
    const stored = await queries.updateAgent(db, actor, agent, changesAuthority)
    if (!stored) throw notFound('Agent')
    return stored
  } catch (error) {
    if (violatedConstraint(error) !== 'agents_slug_key') throw error
    throw conflict(`The slug ${agent.slug} is taken by another agent.`, { cause: error })
  }
}

/** Everything that determines how an agent acts. A person who changes it controls the agent in other people's turns. */
const authorityOf = (agent: AgentRow) => ({
  model: [agent.model, ...fallbackModelsOf(agent.settings)],
  // Other agents see the name and the description, and without a system prompt they are the prompt.
  prompt: [agent.systemPrompt, agent.name, agent.description],
  tools: agent.allowedTools,
  connectors: agent.allowedConnectors,
  peers: agent.allowedPeers,
})

const changesAuthority = (before: AgentRow, after: AgentRow): boolean =>
  JSON.stringify(authorityOf(before)) !== JSON.stringify(authorityOf(after)) ||
  !sameApprovals(approvalsOf(before.settings), approvalsOf(after.settings))

const isAdmin = ({ role }: Actor): boolean => role === 'owner' || role === 'admin'

/**
 * Changes an agent. A new slug replaces the old one in the peer lists of all agents of the org in the same transaction.
 * FORBIDDEN for a field that the default agent keeps and for members who change the default agent, CONFLICT for a slug
 * that is taken or reserved and for a failed `ifMatch`.
 */
export const updateAgent = async (
  db: Database,
  actor: Actor,
  { catalog, knownTools }: Pick<AgentRules, 'catalog' | 'knownTools'>,
  { idOrSlug, patch, ifMatch }: { idOrSlug: string; patch: AgentPatch; ifMatch: string | undefined },
): Promise<AgentRow> => {
  const fields = patchFields.filter((field) => patch[field] !== undefined)
  if (fields.length === 0) throw badRequest('The body must name at least one field to change')
  if (patch.model !== undefined) knownModel(catalog, patch.model)
  checkFallbacks(patch.settings ?? {}, catalog)
  return db.transaction(actor, async (db) => {
    // A rename updates the agents that list the old slug. Two agents that list each other would deadlock without this lock.
    if (patch.slug !== undefined) await queries.lockSlugNumbers(db, actor, '')
    const agent = await lockVisible(db, actor, idOrSlug)
    if (agent.isDefault && !isAdmin(actor)) {
      throw forbidden('Only admins and owners can change the default agent, because it works for everyone in the org.')
    }
    requireMatch(ifMatch, agent)
    const changed = patched(agent, patch, knownTools)
    const changesReasoning = patch.model !== undefined || patch.settings?.['reasoningEffort'] !== undefined
    const model = catalog.find(changed.model)
    if (changesReasoning && model) checkReasoning(changed.settings, model)
    if (agent.isDefault && fields.every((field) => field === 'slug')) return agent
    const isNewAuthority = changesAuthority(agent, changed)
    const stored = await storeAgent(db, actor, changed, isNewAuthority)
    if (isNewAuthority)
      await keepOwnConsents(db, actor, agent.id, { from: agent.authorityVersion, to: stored.authorityVersion })
    if (stored.slug !== agent.slug) await queries.renamePeer(db, actor, agent.slug, stored.slug)
    const data = { agentId: agent.id, name: stored.name, slug: stored.slug, changed: fields }
    await audit(db, actor, 'agent.updated', {
      type: 'agent',
      id: agent.id,
      details: { fields },
      event: { type: 'agent.updated', subjectId: agent.id, workspaceId: agent.workspaceId, data },
    })
    return stored
  })
}

/** Soft-deletes an agent. Its sessions and messages stay. FORBIDDEN for the default agent. */
export const deleteAgent = (db: Database, actor: Actor, idOrSlug: string, ifMatch: string | undefined): Promise<void> =>
  db.transaction(actor, async (db) => {
    const agent = await lockVisible(db, actor, idOrSlug)
    if (agent.isDefault) throw forbidden('The default agent cannot be deleted.')
    requireMatch(ifMatch, agent)
    await queries.softDeleteAgent(db, actor, agent.id)
    await audit(db, actor, 'agent.deleted', {
      type: 'agent',
      id: agent.id,
      details: { name: agent.name, slug: agent.slug },
    })
    const { id: agentId, workspaceId, name, slug } = agent
    await recordEvent(db, actor, 'agent.deleted', { subjectId: agentId, workspaceId, data: { agentId, name, slug } })
  })
