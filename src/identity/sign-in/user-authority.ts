import type { Database, Db } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Actor } from '../actor.ts'
import { createAuthorityWatch } from '../authority-watch.ts'
import type { AuthorityWatch } from '../authority-watch.ts'
import { effectivePermissions } from '../permissions.ts'
import type { Permission, Role } from '../permissions.ts'
import * as queries from '../queries.ts'

export type { AuthorityWatch } from '../authority-watch.ts'
export { findKeyExpiry, isKeyLive, isMember } from '../queries.ts'

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

/** Those of these people, each in an org, who are not members of it any more. */
export const formerMembersOf = (
  db: Db,
  people: readonly { orgId: string; userId: string }[],
): Promise<{ orgId: string; userId: string }[]> =>
  queries.listFormerMembers(
    db,
    people.map(({ orgId }) => orgId),
    people.map(({ userId }) => userId),
  )

/** A person with the API key, if any, by which they set something up that works for them later. */
export interface Principal {
  userId: string
  apiKeyId: string | null
  /** Scopes of the key; empty: all permissions of the person's role. */
  scopes: readonly string[]
}

/** What a person may do now. */
export interface Standing {
  userId: string
  role: Role
  permissions: ReadonlySet<Permission>
  /** When the person was added to the org, the last time. */
  memberSince: string
  /** The workspaces that the person was added to. */
  workspaceIds: string[]
}

/** What people may do now, in the same order. Undefined for one who left the org, or whose key is revoked or expired. */
export const standingsOf = async (
  db: Db,
  orgId: string,
  principals: readonly Principal[],
): Promise<(Standing | undefined)[]> => {
  const rows = await queries.listStandings(
    db,
    orgId,
    principals.map(({ userId }) => userId),
    principals.map(({ apiKeyId }) => apiKeyId),
  )
  const byPlace = new Map(rows.map((row) => [Number(row.place), row]))
  return principals.map(({ userId, scopes }, index) => {
    const row = byPlace.get(index + 1)
    if (!row?.isKeyLive) return undefined
    const { role, memberSince, workspaceIds } = row
    return { userId, role, permissions: effectivePermissions(role, scopes), memberSince, workspaceIds }
  })
}
