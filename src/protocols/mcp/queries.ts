import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'

/** The unfinished turns that the caller's request with this digest created. */
export const listUnfinishedTurns = (db: Db, actor: Actor, digest: Buffer) =>
  db.rows<{ id: string }>(sql`
    select id from turns
    where org_id = ${actor.orgId} and caller_digest = ${digest} and user_id = ${actor.userId} and ended_at is null`)
