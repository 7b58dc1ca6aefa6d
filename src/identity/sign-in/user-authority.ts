import type { Database, Db } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Actor } from '../actor.ts'
import { createAuthorityWatch } from '../authority-watch.ts'
import type { AuthorityWatch } from '../authority-watch.ts'
import { effectivePermissions } from '../permissions.ts'
import * as queries from '../queries.ts'

export type { AuthorityWatch } from '../authority-watch.ts'
export { findKeyExpiry, isKeyLive } from '../queries.ts'

/** For turns: no session of the console carries their authority. */
export const createTurnWatch = (db: Database, log: Log): AuthorityWatch =>
  createAuthorityWatch(db, { listEnded: () => Promise.resolve([]) }, log)

/** In whose name work goes on when no request is waiting for it. */
export interface OnBehalfOf {
  orgId: string
  userId: string
  workspaceId: string
  /** Those of the key that asked for the work; none: everything that the user may do. */
  scopes: readonly string[]
}

/** The actor for work in the background, with what its user may do now. Undefined when they left the org or workspace. */
export const actorOfUser = async (
  db: Db,
  { orgId, userId, workspaceId, scopes }: OnBehalfOf,
): Promise<Actor | undefined> => {
  const row = await queries.findUserIdentity(db, orgId, userId, workspaceId)
  return row && { ...row, permissions: effectivePermissions(row.role, scopes), workspaceId, apiKey: null, origin: null }
}
