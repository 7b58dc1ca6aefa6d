import type { Db } from '../platform/database.ts'
import type { Actor } from './actor.ts'
import { effectivePermissions } from './permissions.ts'
import * as queries from './queries.ts'

export { isKeyLive } from './queries.ts'

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
