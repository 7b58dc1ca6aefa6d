import type { Actor } from '../identity/actor.ts'
import type { Db } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import * as queries from './queries.ts'
import { mergeSettings } from './settings.ts'

export const defaultAgentName = 'Atrium Assistant'
export const defaultAgentSlug = 'assistant'

/** Whether a name is that of the default agent, in whatever case. */
export const isReservedName = (name: string): boolean => name.toLowerCase() === defaultAgentName.toLowerCase()

/** Makes the org's default agent when it is not there. Any number of callers at once make one. */
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
    // What makes the first chat useful. It reaches no more than the person who chats does.
    allowedTools: ['files.search', 'files.read', 'files.write'],
    allowedPeers: [],
    allowedConnectors: [],
    settings: mergeSettings({}, {}, { names: [], connectors: [] }),
  })
}

const maxKnownOrgs = 10_000

/**
 * Makes the default agent of a caller's org at its first sight in this process; from then on it answers undefined, and
 * costs nothing. (A default agent never goes away again.)
 */
export const watchDefaultAgents = (db: Db, model: string): ((actor: Actor) => Promise<void> | undefined) => {
  const known = new Set<string>()
  const making = new Map<string, Promise<void>>()
  const make = async (orgId: string): Promise<void> => {
    try {
      await ensureDefaultAgent(db, orgId, model)
      if (known.size >= maxKnownOrgs) known.clear()
      known.add(orgId)
    } finally {
      making.delete(orgId)
    }
  }
  return ({ orgId }) => {
    if (known.has(orgId)) return undefined
    const pending = making.get(orgId) ?? make(orgId)
    making.set(orgId, pending)
    return pending
  }
}
