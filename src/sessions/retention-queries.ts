import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

export const listOrgIds = (db: Db, after: string, limit: number) =>
  db.rows<{ id: string }>(sql`
    -- all orgs: retention applies to the whole server
    select id from orgs where id > ${after} order by id limit ${limit}`)

export interface OldTurn {
  id: string
  sessionId: string
  isUnfinished: boolean
}

/**
 * The unfinished ones of the next `limit` turns after `after` that began before a time, and the last of these turns, which
 * is the next `after`. Empty when there are no more.
 */
export const listOldTurns = (
  db: Db,
  orgId: string,
  { before, after, limit }: { before: string; after: string; limit: number },
) =>
  db.rows<OldTurn>(sql`
    with page as (
      select id, session_id, ended_at is null as is_unfinished from turns
      where org_id = ${orgId} and id > ${after} and id < uuid_at(${before}::timestamptz)
      order by id
      limit ${limit}
    )
    select id, session_id, is_unfinished from page
    where is_unfinished or id = (select id from page order by id desc limit 1)
    order by id`)

/**
 * The time before which retention has dropped all messages, model calls and tool calls; undefined when it has dropped
 * none. The initial partitions have no beginning. Partitions that cover the past hold what came after the drop.
 */
export const findFirstKept = async (db: Db): Promise<string | undefined> => {
  const row = await db.row<{ at: string | null }>(sql`
    select nullif(min(coalesce(b.starts_at, '-infinity')), '-infinity') as at
    from (values ('messages'), ('turn_steps'), ('tool_calls')) as partitioned (name)
      cross join lateral partition_bounds(partitioned.name) as b
    where b.part not like '%\\_before\\_%'`)
  return row?.at ?? undefined
}

/**
 * Deletes the shared budgets of chains of messages between agents that began before a time. A budget stays while a turn
 * of its chain can still make calls: without it, they would have no limit.
 */
export const deleteChains = (db: Db, orgId: string, before: string) =>
  db.execute(sql`
    delete from peer_chains c
    where c.org_id = ${orgId} and c.id < uuid_at(${before}::timestamptz)
      and not exists (
        select from turns t
        where t.org_id = ${orgId} and t.chain_id = c.id and t.status in ('queued', 'running', 'requires_action'))`)

/**
 * Deletes up to `limit` ended turns of an org that began before a time, oldest first. A turn whose reply is kept, because
 * the month ended between the two ids, is kept with it: later turns inherit that it read untrusted content.
 */
export const deleteTurns = (db: Db, orgId: string, before: string, limit: number) =>
  db.execute(sql`
    delete from turns where org_id = ${orgId} and id = any(array(
      select t.id from turns t
      where t.org_id = ${orgId} and t.id < uuid_at(${before}::timestamptz)
        and t.reply_id < uuid_at(${before}::timestamptz) and t.ended_at is not null
        and not exists (select from peer_chains c where c.org_id = ${orgId} and c.id = t.id)
      order by t.id
      limit ${limit}))`)
