import type { Actor } from '../identity/actor.ts'
import type { Db } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import * as queries from './queries.ts'
import { mergeSettings } from './settings.ts'

export const defaultAgentName = 'Atrium Assistant'
export const defaultAgentSlug = 'assistant'

/** Whether a name equals that of the default agent, ignoring case. */
export const isReservedName = (name: string): boolean => name.toLowerCase() === defaultAgentName.toLowerCase()

/** Creates the org's default agent unless it exists. Safe to call concurrently. */
export const ensureDefaultAgent = async (db: Db, orgId: string, model: string): Promise<void> => {
  await queries.ensureDefaultAgent(db, orgId, {
    id: newId(),
    workspaceId: null,
    name: defaultAgentName,
    slug: defaultAgentSlug,
    description: 'Answers questions and works with the files of the org.',
    avatar: 'atrium',
    model,
    systemPrompt: null,
    // Makes the first chat useful. Tools never exceed the permissions of the person who chats.
    allowedTools: ['files.search', 'files.read', 'files.write'],
    allowedPeers: [],
    allowedConnectors: [],
    settings: mergeSettings({}, {}, { names: [], connectors: [] }),
  })
}

const maxCachedOrgs = 10_000

/**
 * Returns a function that creates the default agent of a caller's org once per process. Later calls for the org return
 * undefined without a query, because a default agent cannot be deleted.
 */
export const cachedEnsureDefaultAgent = (db: Db, model: string): ((actor: Actor) => Promise<void> | undefined) => {
  const ensured = new Set<string>()
  const pending = new Map<string, Promise<void>>()
  const ensure = async (orgId: string): Promise<void> => {
    try {
      await ensureDefaultAgent(db, orgId, model)
      if (ensured.size >= maxCachedOrgs) ensured.clear()
      ensured.add(orgId)
    } finally {
      pending.delete(orgId)
    }
  }
  return ({ orgId }) => {
    if (ensured.has(orgId)) return undefined
    const promise = pending.get(orgId) ?? ensure(orgId)
    pending.set(orgId, promise)
    return promise
  }
}
