import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { ConnectionRef } from '../connections/access.ts'
import type { ConnectionRow } from '../connections/queries.ts'

interface PinnedToolsRow {
  connectorSlug: string
  status: ConnectionRow['status']
  pinnedTools: unknown
  offeredTools: unknown
}

export const findPinnedTools = (db: Db, actor: Actor, id: string) =>
  db.row<PinnedToolsRow>(sql`
    select connector_slug, status, pinned_tools, offered_tools from connections
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and deleted_at is null`)

/** Stores the offered tools and sets the status to `error`, unless other tools have been accepted in the meantime. */
export const requireAcceptance = (
  db: Db,
  { orgId, id }: ConnectionRef,
  { pinnedHash, offered, reason }: { pinnedHash: string; offered: string; reason: string },
) =>
  db.row<{ userId: string }>(sql`
    update connections
    set offered_tools = ${offered}, status = 'error', last_error = ${reason}, revision = revision + 1, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'active' and pinned_tools ->> 'hash' = ${pinnedHash}
    returning user_id`)

/** False when the tools that wait for acceptance have another hash. */
export const accept = async (db: Db, actor: Actor, id: string, hash: string): Promise<boolean> =>
  (await db.execute(sql`
    update connections
    set pinned_tools = offered_tools, offered_tools = null, status = 'active', last_error = null,
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id} and user_id = ${actor.userId} and status = 'error'
      and offered_tools ->> 'hash' = ${hash}`)) > 0
