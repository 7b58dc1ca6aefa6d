import type { Database } from '../platform/database/database.ts'
import type { Actor } from './actor.ts'
import { recordActivity } from './queries.ts'

/** Notes that a person made a request. */
export type NoteActivity = (actor: Actor) => void

const everyMs = 3_600_000
const maxKnown = 10_000

/**
 * Stores when members were last active, for each person and org at most once an hour: a process remembers whom it has
 * stored, and the statement changes no row that another process has changed within the hour.
 */
export const createActivity = (
  db: Database,
  { now = Date.now, onError }: { now?: (() => number) | undefined; onError: (error: unknown) => void },
): NoteActivity => {
  const notedAt = new Map<string, number>()
  return ({ orgId, userId }) => {
    const key = `${orgId} ${userId}`
    const before = notedAt.get(key)
    if (before !== undefined && now() - before < everyMs) return
    // The first key is the one that was noted longest ago.
    notedAt.delete(key)
    const [oldest] = notedAt.keys()
    if (notedAt.size >= maxKnown && oldest !== undefined) notedAt.delete(oldest)
    notedAt.set(key, now())
    recordActivity(db, orgId, userId).catch(onError)
  }
}
