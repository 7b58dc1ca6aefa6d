import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** Makes requests with the same message wait for one another until the transaction ends. */
export const lockMessage = (db: Db, digest: Buffer) =>
  db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`a2a message ${digest.toString('hex')}`}, 0))`)

/** The turn that a message of the caller has started. */
export const findTurnOfMessage = async (db: Db, actor: Actor, digest: Buffer): Promise<string | undefined> =>
  (
    await db.row<{ id: string }>(sql`
      select id from turns
      where org_id = ${actor.orgId} and caller_digest = ${digest} and user_id = ${actor.userId}
      order by created_at limit 1`)
  )?.id
