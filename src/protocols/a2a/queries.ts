import type { Actor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { MessagePart } from '../../sessions/schemas.ts'
import type { TaskTurn } from './tasks.ts'

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

export interface TaskFilter {
  workspaceId: string
  sessionId: string
  userId: string
  agentId: string
  /** Null: all. */
  statuses: readonly string[] | null
  /** Only tasks whose state changed after this time. Null: all. */
  after: string | null
}

/** The place of a task in a list: the time of its last change, in microseconds since 1970, and its id. */
export interface TurnPosition {
  changedAt: string
  id: string
}

/** A turn of a list. `reply`: null when it has none, has not ended or was not asked for. */
export type ListedTurn = TaskTurn & TurnPosition & { reply: MessagePart[] | null }

/** Older turns of the same session are not listed: all of them are read for each page. */
const maxListed = 10_000

/** When the turn `t` reached its state. */
const changedAt = sql`coalesce(t.ended_at, t.claimed_at, t.created_at)`

/** `needs` of a TaskTurn, for the turn `t` of an org. */
export const needsOf = (orgId: string): Sql => sql`
  case when t.status = 'requires_action' then array(
    select distinct case when c.question->>'kind' = 'input' then 'answer' else 'decision' end as need
    from tool_calls c
    where c.org_id = ${orgId} and c.turn_id = t.id and c.approval_id is not null and c.approved is null
    order by need) end as needs`

/** The newest turns of a session that pass a filter. */
const listedTurns = (orgId: string, filter: TaskFilter): Sql => sql`
  select t.id, t.session_id, t.number, t.status, t.stop_reason, t.error, t.created_at, t.claimed_at, t.ended_at,
    t.reply_id, (extract(epoch from ${changedAt}) * 1000000)::bigint as changed_at
  from turns t
    join sessions s on s.org_id = t.org_id and s.id = t.session_id
  where t.org_id = ${orgId} and t.session_id = ${filter.sessionId} and s.workspace_id = ${filter.workspaceId}
    and s.deleted_at is null and t.user_id = ${filter.userId} and t.agent_id = ${filter.agentId}
    and (${filter.statuses}::text[] is null or t.status = any(${filter.statuses}::text[]))
    and (${filter.after}::timestamptz is null
      or ${changedAt} > ${filter.after}::timestamptz)
  order by t.number desc
  limit ${maxListed}`

export const countTasks = async (db: Db, orgId: string, filter: TaskFilter): Promise<number> =>
  (
    await db.row<{ count: number }>(sql`
      select count(*)::int as count from (${listedTurns(orgId, filter)}) as listed`)
  )?.count ?? 0

/** Up to `limit` turns behind a position, the latest change first. */
export const listTasks = (
  db: Db,
  orgId: string,
  filter: TaskFilter,
  { position, limit, withReply }: { position: TurnPosition | null; limit: number; withReply: boolean },
) =>
  db.rows<ListedTurn>(sql`
    select t.id, t.session_id, t.number, t.status, t.stop_reason, t.error, t.created_at, t.claimed_at, t.ended_at, ${needsOf(orgId)},
      t.changed_at::text as changed_at, case when ${withReply}::boolean and t.ended_at is not null then (
        select m.parts from messages m where m.org_id = ${orgId} and m.id = t.reply_id) end as reply
    from (${listedTurns(orgId, filter)}) as t
    where ${position?.id ?? null}::uuid is null
      or (t.changed_at, t.id) < (${position?.changedAt ?? null}::bigint, ${position?.id ?? null}::uuid)
    order by t.changed_at desc, t.id desc
    limit ${limit}`)
