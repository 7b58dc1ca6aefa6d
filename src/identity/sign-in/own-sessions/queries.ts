import { sql } from '../../../platform/database/database.ts'
import type { Db, Sql } from '../../../platform/database/database.ts'
import type { OrgScope } from '../org-scope.ts'

// Sessions belong to people, not orgs, so their table has no org_id.

/** The session of a browser. */
export interface CurrentSession {
  id: string
  userId: string
  orgScope: OrgScope
}

export const findCurrentSession = (db: Db, token: string) =>
  db.row<CurrentSession>(sql`
    select id, user_id, reach as org_scope from sign_in_sessions where token = ${token} and expires_at > now()`)

export interface OwnSessionRow {
  id: string
  ipAddress: string | null
  userAgent: string | null
  createdAt: string
  lastUsedAt: string
  expiresAt: string
  isCurrent: boolean
}

/** The live sessions of the person within the scope of the current one, which may be limited to one org. */
const visibleTo = ({ userId, orgScope }: CurrentSession): Sql => sql`
  user_id = ${userId} and expires_at > now() and (${orgScope}::uuid[] is null or reach <@ ${orgScope}::uuid[])`

/** The current one first, then the last used first. */
export const listOwnSessions = (db: Db, current: CurrentSession, limit: number) =>
  db.rows<OwnSessionRow>(sql`
    select id, ip_address, user_agent, created_at, updated_at as last_used_at, expires_at,
      id = ${current.id} as is_current
    from sign_in_sessions
    where ${visibleTo(current)}
    order by id = ${current.id} desc, updated_at desc, id
    limit ${limit}`)

export const deleteOwnSession = (db: Db, current: CurrentSession, id: string) =>
  db.execute(sql`delete from sign_in_sessions where id = ${id} and ${visibleTo(current)}`)

export const deleteOtherSessions = (db: Db, current: CurrentSession) =>
  db.execute(sql`delete from sign_in_sessions where id <> ${current.id} and ${visibleTo(current)}`)
