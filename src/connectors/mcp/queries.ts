import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { ConnectionRow } from '../queries.ts'

export interface PinsRow {
  connectorSlug: string
  status: ConnectionRow['status']
  pinnedTools: unknown
  offeredTools: unknown
}

export const findPins = (db: Db, actor: Actor, id: string) =>
  db.row<PinsRow>(sql`
    select connector_slug, status, pinned_tools, offered_tools from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null`)

/** Keeps what the server has now beside what was agreed to, and the connection from being used. */
export const holdForAgreement = (
  db: Db,
  orgId: string,
  id: string,
  pinnedHash: string,
  offered: string,
  reason: string,
) =>
  db.execute(sql`
    update connections
    set offered_tools = ${offered}, status = 'error', last_error = ${reason}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active' and pinned_tools ->> 'hash' = ${pinnedHash}`)

/** False when these are not the tools that wait for an agreement. */
export const agree = async (db: Db, actor: Actor, id: string, hash: string): Promise<boolean> =>
  (await db.execute(sql`
    update connections
    set pinned_tools = offered_tools, offered_tools = null, status = 'active', last_error = null,
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and status = 'error'
      and offered_tools ->> 'hash' = ${hash}`)) > 0
