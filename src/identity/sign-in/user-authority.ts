import type { Database, Db } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Actor } from '../actor.ts'
import { createAuthorityWatch } from '../authority-watch.ts'
import type { AuthorityWatch } from '../authority-watch.ts'
import { effectivePermissions } from '../permissions.ts'
import * as queries from '../queries.ts'

export type { AuthorityWatch } from '../authority-watch.ts'
export { findKeyExpiry, isKeyLive } from '../queries.ts'

/** A watch for turns, whose authority never comes from a session of the console. */
export const createTurnWatch = (db: Database, log: Log): AuthorityWatch =>
  createAuthorityWatch(db, { listEnded: () => Promise.resolve([]) }, log)

/** The person, and the scopes of their key, for whom background work runs. */
export interface OnBehalfOf {
  orgId: string
  userId: string
  workspaceId: string
  /** Scopes of the API key that requested the work; empty: all permissions of the user's role. */
  scopes: readonly string[]
}

/** The actor of background work, with the user's current permissions. Undefined when they left the org or workspace. */
export const actorOfUser = async (
  db: Db,
  { orgId, userId, workspaceId, scopes }: OnBehalfOf,
): Promise<Actor | undefined> => {
  const row = await queries.findUserIdentity(db, orgId, userId, workspaceId)
  return row && { ...row, permissions: effectivePermissions(row.role, scopes), workspaceId, apiKey: null, origin: null }
}
