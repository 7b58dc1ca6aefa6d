import type { Database } from '../../platform/database/database.ts'
import { forbidden } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Actor } from '../actor.ts'
import { noWorkspaceAccess } from '../authority.ts'
import { effectivePermissions } from '../permissions.ts'
import * as queries from '../queries.ts'
import { noSession, sessionTokenOf } from './session-cookie.ts'

/** Finds the actor of a browser's session. */
export interface SessionAuthority {
  /**
   * The actor of a session cookie in the named org, else in the org that the person joined first. Throws UNAUTHORIZED for
   * an unknown, expired or ended session, and FORBIDDEN for an org or workspace that the person is not in.
   */
  actorOf(cookie: string, orgId: string | undefined, workspaceId: string | undefined): Promise<Actor>
  /** The cookies whose sessions have ended, expired or lost the org. */
  listEnded(asked: { cookie?: string | undefined; orgId: string }[]): Promise<string[]>
}

/** An API key must not set up a way to sign in, because that would allow step-up with it. */
export const requireSession = (actor: Actor): void => {
  if (actor.apiKey !== null) throw forbidden('This route needs a session. API keys cannot use it.')
}

const noOrgAccess = forbidden('You are not a member of this org, or it does not exist.')

/**
 * Every request reads the session from the database, so a session that has ended is rejected at once on all processes.
 * Requests of people are rare enough for that.
 */
export const createSessionAuthority = (db: Database, secret: () => Promise<string>): SessionAuthority => ({
  actorOf: async (cookie, orgId, workspaceId) => {
    const token = sessionTokenOf(cookie, await secret())
    if (token === undefined) throw noSession
    if (orgId !== undefined && !isUuid(orgId)) throw noOrgAccess
    if (workspaceId !== undefined && !isUuid(workspaceId)) throw noWorkspaceAccess
    const row = await queries.findSessionIdentity(db.hot, token, orgId ?? null, workspaceId ?? null)
    if (!row) throw noSession
    if (row.orgId === null) throw noOrgAccess
    if (workspaceId !== undefined && !row.isWorkspaceAllowed) throw noWorkspaceAccess
    return {
      orgId: row.orgId,
      orgName: row.orgName,
      timeZone: row.timeZone,
      userId: row.userId,
      userName: row.userName,
      email: row.email,
      role: row.role,
      permissions: effectivePermissions(row.role, []),
      workspaceId: row.isWorkspaceAllowed ? row.workspaceId : null,
      workspaceIds: row.workspaceIds,
      apiKey: null,
      origin: null,
    }
  },
  listEnded: async (asked) => {
    if (asked.length === 0) return []
    const key = await secret()
    const cookies = asked.map(({ cookie = '' }) => cookie)
    const tokens = cookies.map((cookie) => sessionTokenOf(cookie, key) ?? '')
    const orgIds = asked.map(({ orgId }) => orgId)
    const ended = await queries.listEndedSessions(db.hot, tokens, orgIds)
    return ended.map(({ place }) => cookies[Number(place) - 1] ?? '')
  },
})
