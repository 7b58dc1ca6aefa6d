import type { Actor } from '../identity/actor.ts'
import type { Transaction } from '../platform/database/database.ts'
import { badRequest, conflict } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { freeSlug, slugOf } from '../platform/text/slug.ts'
import { defaultAgentSlug } from './default-agent.ts'
import * as queries from './queries.ts'
import type { AgentRow } from './queries.ts'

/** Agents are addressed by UUID or slug, so a slug that looks like a UUID would never be found. */
const slugFrom = (name: string): string => {
  const slug = slugOf(name, 'agent')
  return isUuid(slug) ? `agent-${slug}` : slug
}

/** Inserts the agent under the first free of `slug`, `slug-2`, `slug-3`, … */
export const insertWithFreeSlug = async (
  db: Transaction,
  actor: Actor,
  agent: Omit<queries.NewAgent, 'slug'>,
): Promise<AgentRow> => {
  const slug = slugFrom(agent.name)
  const first = slug === defaultAgentSlug ? undefined : await queries.insertAgent(db, actor, { ...agent, slug })
  if (first) return first
  await queries.lockSlugNumbers(db, actor, slug)
  for (;;) {
    const taken = await queries.listNumberedSlugs(db, actor, slug)
    const free = freeSlug(slug, new Set([defaultAgentSlug, ...taken.map((row) => row.slug)]))
    const inserted = await queries.insertAgent(db, actor, { ...agent, slug: free })
    // Undefined when an agent with exactly this slug as its name was inserted in between, because that insert has no lock.
    if (inserted) return inserted
  }
}

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** A slug that a caller chose. BAD_REQUEST for a malformed one, CONFLICT for that of the default agent. */
export const checkSlug = (slug: string): string => {
  if (!slugPattern.test(slug) || slug.length > 63 || isUuid(slug)) {
    throw badRequest('slug must be 1–63 of a-z, 0-9 and single dashes between them, and must not look like a UUID')
  }
  if (slug === defaultAgentSlug) throw conflict(`The slug ${slug} is reserved for the default agent.`)
  return slug
}
