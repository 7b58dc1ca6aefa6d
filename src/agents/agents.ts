import type { Actor } from '../identity/actor.ts'
import { workspaceOf } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import { violatedConstraint } from '../platform/database/errors.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { freeSlug, slugOf } from '../platform/text/slug.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { KnownTools } from '../tool.ts'
import { approvalsOf, sameApprovals } from './approvals.ts'
import { keepOwnConsents } from './consents/queries.ts'
import { defaultAgentSlug, isReservedName } from './default-agent.ts'
import type { Model, ModelCatalog } from './model-catalog.ts'
import * as queries from './queries.ts'
import type { AgentRow } from './queries.ts'
import { wholeList } from './schemas.ts'
import type { AgentCreate, AgentListQuery, AgentPatch } from './schemas.ts'
import { mergeSettings } from './settings.ts'

export { defaultAgentSlug, watchDefaultAgents } from './default-agent.ts'
export { createModelCatalog } from './model-catalog.ts'
export type { Model, ModelCatalog } from './model-catalog.ts'
export type { AgentRow, PeerRow } from './queries.ts'

const maxNameLength = 255

const cleanName = (name: string): string => {
  const clean = name.trim().replaceAll(/\s+/g, ' ')
  if (clean === '') throw badRequest('name must not be empty')
  if ([...clean].length > maxNameLength) throw badRequest(`name must have at most ${maxNameLength} characters`)
  return clean
}

const cleanSlugs = (slugs: string[]): string[] => [
  ...new Set(slugs.map((slug) => slug.trim()).filter((slug) => slug !== '')),
]

const knownModel = (catalog: ModelCatalog, id: string): Model => {
  const model = catalog.find(id)
  if (!model) throw badRequest('model must be the id of a model of GET /models')
  return model
}

/** The agent that a path or a body names by UUID or slug, as the call's workspace sees it. Undefined: there is none. */
export const findAgent = (db: Db, actor: Actor, idOrSlug: string): Promise<AgentRow | undefined> => {
  const workspaceId = workspaceOf(actor)
  // No slug looks like a UUID, so one look is enough.
  return isUuid(idOrSlug)
    ? queries.findAgentById(db, actor, workspaceId, idOrSlug)
    : queries.findAgentBySlug(db, actor, workspaceId, idOrSlug)
}

export const getAgent = async (db: Db, actor: Actor, idOrSlug: string): Promise<AgentRow> => {
  const agent = await findAgent(db, actor, idOrSlug)
  if (!agent) throw notFound('Agent')
  return agent
}

/** An agent as a turn finds it when it runs. Undefined when it was deleted. */
export const findLiveAgent = (db: Db, orgId: string, id: string): Promise<AgentRow | undefined> =>
  queries.findLiveAgent(db, orgId, id)

/** The live agents that an agent may write to and the call's workspace sees, in the order of its list. */
export const listPeers = (db: Db, actor: Actor, agent: queries.PeerLister): Promise<queries.PeerRow[]> =>
  queries.listPeers(db, actor, workspaceOf(actor), agent)

// Before every position of a list that goes down from the newest.
const listStart = { updatedAt: '9999-12-31 00:00:00+00', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const positionOf = (cursor: string): { updatedAt: string; id: string } => {
  const [updatedAt, id] = decodeCursor(cursor, ['timestamp', 'uuid'])
  return { updatedAt, id }
}

/**
 * The agents of the call's workspace, last changed first, and the org's default agent: it is always on the first page,
 * where its own last change puts it among the others there.
 */
export const listAgents = async (
  db: Db,
  actor: Actor,
  { limit = wholeList, cursor }: AgentListQuery,
): Promise<{ items: AgentRow[]; nextCursor: string | null }> => {
  const workspaceId = workspaceOf(actor)
  const pinned = cursor === undefined ? await queries.findDefaultAgent(db, actor) : undefined
  const room = pinned ? limit - 1 : limit
  const after = cursor === undefined ? listStart : positionOf(cursor)
  const found = await queries.listWorkspaceAgents(db, actor, workspaceId, room + 1, after)
  const items = found.slice(0, room)
  const last = items.at(-1)
  const position = last ? { updatedAt: last.updatedAtExactly, id: last.id } : after
  if (pinned) {
    const place = items.findIndex((agent) => agent.updatedAtExactly < pinned.updatedAtExactly)
    items.splice(place === -1 ? items.length : place, 0, pinned)
  }
  return { items, nextCursor: found.length > room ? encodeCursor([position.updatedAt, position.id]) : null }
}

const slugFrom = (name: string): string => {
  const slug = slugOf(name, 'agent')
  // A path may hold either, so a slug that looks like a UUID would never be found.
  return isUuid(slug) ? `agent-${slug}` : slug
}

/** Inserts the agent under the first free of `slug`, `slug-2`, `slug-3`, … */
const insertWithFreeSlug = async (
  db: Transaction,
  actor: Actor,
  agent: Omit<queries.NewAgent, 'slug'>,
): Promise<AgentRow> => {
  const slug = slugFrom(agent.name)
  const first = slug === defaultAgentSlug ? undefined : await queries.insertAgent(db, actor, { ...agent, slug })
  if (first) return first
  await queries.holdSlug(db, actor, slug)
  for (;;) {
    const taken = await queries.listNumberedSlugs(db, actor, slug)
    const free = freeSlug(slug, new Set([defaultAgentSlug, ...taken.map((row) => row.slug)]))
    const inserted = await queries.insertAgent(db, actor, { ...agent, slug: free })
    // Not inserted: an agent whose name is that very slug came in between.
    if (inserted) return inserted
  }
}

export interface AgentRules {
  catalog: ModelCatalog
  /** The model of an agent that names none, and of every default agent. */
  defaultModel: string
  quotas: Quotas
  knownTools: KnownTools
}

/** A new agent in the call's workspace. BAD_REQUEST for the reserved name, an unknown model, settings over 32 KB. */
export const createAgent = async (
  db: Database,
  actor: Actor,
  { catalog, defaultModel, quotas, knownTools }: AgentRules,
  body: AgentCreate,
): Promise<AgentRow> => {
  const workspaceId = workspaceOf(actor)
  const name = cleanName(body.name)
  if (isReservedName(name)) throw badRequest(`name must not be ${name}: that is the default agent's`)
  const agent = {
    id: newId(),
    workspaceId,
    name,
    description: body.description ?? null,
    avatar: body.avatar ?? 'default',
    model: knownModel(catalog, body.model ?? defaultModel).id,
    systemPrompt: body.systemPrompt ?? null,
    allowedTools: cleanSlugs(body.allowedTools ?? []),
    allowedPeers: cleanSlugs(body.allowedPeers ?? []),
    allowedConnectors: cleanSlugs(body.allowedConnectors ?? []),
    settings: mergeSettings({}, body.settings ?? {}, knownTools),
  }
  return db.transaction(actor, async (db) => {
    // Before the slug: who waits for the lock must hold nothing that others wait for.
    await quotas.takeRow(db, actor.orgId, 'agents')
    const created = await insertWithFreeSlug(db, actor, agent)
    await audit(db, actor, 'agent.created', { type: 'agent', id: created.id }, { name, slug: created.slug })
    return created
  })
}

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

const checkSlug = (slug: string): string => {
  if (!slugPattern.test(slug) || slug.length > 63 || isUuid(slug)) {
    throw badRequest('slug must be 1 to 63 of a-z, 0-9 and single dashes between them, and not look like a UUID')
  }
  if (slug === defaultAgentSlug) throw conflict(`The slug ${slug} is reserved for the default agent.`)
  return slug
}

/** What a change leaves of the default agent's rules. The model is a known one when this is asked. */
const checkDefaultAgent = (agent: AgentRow, patch: AgentPatch): void => {
  if (patch.isActive === false) throw forbidden('The default agent cannot be deactivated.')
  if (patch.model !== undefined && patch.model !== agent.model) {
    throw forbidden(`The model of the default agent is ${agent.model} and cannot be changed.`)
  }
}

const checkOrdinaryName = (name: string): void => {
  if (isReservedName(name)) throw badRequest(`name must not be ${name}: that is the default agent's`)
}

/** The agent as the patch would have it. Throws what the rules for its fields say. */
const patched = (agent: AgentRow, patch: AgentPatch, knownTools: KnownTools): AgentRow => {
  const name = patch.name === undefined ? agent.name : cleanName(patch.name)
  if (agent.isDefault) checkDefaultAgent(agent, patch)
  else if (patch.name !== undefined) checkOrdinaryName(name)
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

/** The live agent, locked; NOT_FOUND when the call's workspace does not see it. */
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

/** Everything that decides how an agent acts: who changes it can make the agent act for them in other people's turns. */
const authorityOf = (agent: AgentRow) => ({
  model: agent.model,
  // Its peers read the name and the description; without a system prompt they are the prompt.
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
 * Changes an agent. A new slug is written into the peer lists of the org's agents in the same transaction. FORBIDDEN for
 * what the default agent keeps and for members who would change it, CONFLICT for a slug that is taken or reserved.
 */
export const updateAgent = async (
  db: Database,
  actor: Actor,
  { catalog, knownTools }: Pick<AgentRules, 'catalog' | 'knownTools'>,
  idOrSlug: string,
  patch: AgentPatch,
  ifMatch: string | undefined,
): Promise<AgentRow> => {
  const named = patchFields.filter((field) => patch[field] !== undefined)
  if (named.length === 0) throw badRequest('The body must name at least one field to change')
  if (patch.model !== undefined) knownModel(catalog, patch.model)
  return db.transaction(actor, async (db) => {
    // Two renames that name each other would lock each other's rows the wrong way round.
    if (patch.slug !== undefined) await queries.holdSlug(db, actor, '')
    const agent = await lockVisible(db, actor, idOrSlug)
    if (agent.isDefault && !isAdmin(actor)) {
      throw forbidden('Only admins and owners can change the default agent: it works for everybody in the org.')
    }
    requireMatch(ifMatch, agent)
    const wanted = patched(agent, patch, knownTools)
    if (agent.isDefault && named.every((field) => field === 'slug')) return agent
    const isNewAuthority = changesAuthority(agent, wanted)
    const stored = await storeAgent(db, actor, wanted, isNewAuthority)
    if (isNewAuthority) await keepOwnConsents(db, actor, agent.id, agent.authorityVersion, stored.authorityVersion)
    if (stored.slug !== agent.slug) await queries.renamePeer(db, actor, agent.slug, stored.slug)
    await audit(db, actor, 'agent.updated', { type: 'agent', id: agent.id }, { fields: named })
    return stored
  })
}

/** Takes an agent out of sight; its sessions keep what it said. FORBIDDEN for the default agent. */
export const deleteAgent = (db: Database, actor: Actor, idOrSlug: string, ifMatch: string | undefined): Promise<void> =>
  db.transaction(actor, async (db) => {
    const agent = await lockVisible(db, actor, idOrSlug)
    if (agent.isDefault) throw forbidden('The default agent cannot be deleted.')
    requireMatch(ifMatch, agent)
    await queries.softDeleteAgent(db, actor, agent.id)
    await audit(db, actor, 'agent.deleted', { type: 'agent', id: agent.id }, { name: agent.name, slug: agent.slug })
  })
