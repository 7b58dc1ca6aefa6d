import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { inSearchQueue } from '../../platform/http/limits/search-queue.ts'
import { smallestIdOf } from '../../platform/ids.ts'
import type { ListedSession } from '../queries.ts'
import * as queries from './queries.ts'
import type { FoundMessage, Search } from './queries.ts'
import { excerptOf, queryOf, wordsOf } from './words.ts'

export interface FoundSession extends ListedSession {
  /** The newest message that matches; null when only the title does. */
  match: { messageId: string; role: FoundMessage['role']; excerpt: string } | null
}

const dayMs = 86_400_000
const most = 2_000

/** A title that nobody has changed is the first line of a message, which is searched without this limit. */
const mostTitles = 5_000

/** Newer messages are searched first, and older ones only when there are fewer sessions than asked for. */
const periodsAt = (nowMs: number): queries.Period[] => {
  const [week, quarter] = [smallestIdOf(nowMs - 7 * dayMs), smallestIdOf(nowMs - 90 * dayMs)]
  return [
    // The clocks of servers differ by seconds.
    { from: week, to: smallestIdOf(nowMs + dayMs), most },
    { from: quarter, to: week, most },
    { from: smallestIdOf(0), to: quarter, most },
  ]
}

/**
 * The sessions with a title or a message that contains all words of `text`, or words that begin with them: at most
 * `limit`, last changed first. Sessions with newer matching messages are preferred to those with older ones.
 */
export const searchSessions = async (
  db: Db,
  actor: Actor,
  text: string,
  filter: Omit<Search, 'query'>,
): Promise<FoundSession[]> => {
  const words = wordsOf(text)
  const [word] = words
  if (word === undefined) return []
  return inSearchQueue(actor, () => searchFor(db, actor, { words, word }, filter))
}

const searchFor = async (
  db: Db,
  actor: Actor,
  { words, word }: { words: string[]; word: string },
  filter: Omit<Search, 'query'>,
): Promise<FoundSession[]> => {
  const search = { ...filter, query: queryOf(actor.orgId, words) }
  const byTitle = await queries.listByTitle(db, actor, search, { word, most: mostTitles })
  const ids = new Set(byTitle.map(({ id }) => id))
  const messages = new Map<string, FoundMessage>()
  for (const period of periodsAt(Date.now())) {
    for (const message of await queries.listByText(db, actor, search, period)) {
      if (!messages.has(message.sessionId)) messages.set(message.sessionId, message)
      ids.add(message.sessionId)
    }
    if (ids.size >= search.limit) break
  }
  if (ids.size === 0) return []
  const rows = await queries.listFound(db, actor, search, [...ids])
  return rows.map((session) => {
    const message = messages.get(session.id)
    const match = message && { messageId: message.id, role: message.role, excerpt: excerptOf(message.text, words) }
    return { ...session, match: match ?? null }
  })
}
