import type { Database } from '../../../platform/database/database.ts'
import { notFound } from '../../../platform/http/errors.ts'
import type { Origin } from '../../actor.ts'
import { auditPerson } from '../../audit/audit.ts'
import { noSession, sessionTokenOf } from '../session-cookie.ts'
import * as queries from './queries.ts'
import type { CurrentSession, OwnSessionRow } from './queries.ts'

const maxListed = 100

/** The session of a browser's cookie. Throws UNAUTHORIZED without one. */
export const currentSession = async (
  db: Database,
  secret: () => Promise<string>,
  cookie: string | undefined,
): Promise<CurrentSession> => {
  const token = cookie === undefined ? undefined : sessionTokenOf(cookie, await secret())
  const session = token === undefined ? undefined : await queries.findCurrentSession(db, token)
  if (!session) throw noSession
  return session
}

export const listOwnSessions = (db: Database, current: CurrentSession): Promise<OwnSessionRow[]> =>
  queries.listOwnSessions(db, current, maxListed)

/** NOT_FOUND for a session of another person, and for one outside of the scope of the current session. */
export const endSession = (db: Database, current: CurrentSession, id: string, origin: Origin): Promise<void> =>
  db.transaction('all orgs', async (db) => {
    if ((await queries.deleteOwnSession(db, current, id)) === 0) throw notFound('Session')
    const { userId, orgScope } = current
    await auditPerson(db, userId, 'user.session-ended', { origin, details: { sessions: 1 }, orgScope })
  })

/** Returns the number of sessions that ended. */
export const endOtherSessions = (db: Database, current: CurrentSession, origin: Origin): Promise<number> =>
  db.transaction('all orgs', async (db) => {
    const sessions = await queries.deleteOtherSessions(db, current)
    const { userId, orgScope } = current
    if (sessions > 0) await auditPerson(db, userId, 'user.session-ended', { origin, details: { sessions }, orgScope })
    return sessions
  })
