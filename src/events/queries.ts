import { empty, sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'
import { eventColumns } from '../outbox/queries.ts'
import type { EventRow } from '../outbox/queries.ts'

export interface EventFilter {
  /** Undefined: all. */
  types: readonly string[] | undefined
  /** Further types, only of what belongs to the person. */
  own?: { types: readonly string[]; userId: string }
  /** Undefined: all. Events without a workspace are always included. */
  workspaceIds: readonly string[] | undefined
  subjectId: string | undefined
}

export interface EventWindow {
  order: 'asc' | 'desc'
  /** The position of the last event that the reader has seen; undefined at the end where the order begins. */
  after: bigint | undefined
  /** How many events are read at most, including those that the filter leaves out. */
  rows: number
  limit: number
}

/**
 * Events of an org within a window of positions. When the window has fewer than `limit` of them, `lastPosition` is the
 * last position of the window, from which a reader continues, also when the filter has left out all of its events, and
 * `count` is the number of events in the window. Otherwise they are null and 0, and the rest of the window is not read.
 */
export const listEvents = async (db: Db, orgId: string, filter: EventFilter, window: EventWindow) => {
  const { order, after, rows, limit } = window
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const inWindow = sql`
    from events
    where org_id = ${orgId}
      ${after === undefined ? empty : order === 'asc' ? sql`and position > ${after.toString()}::bigint` : sql`and position < ${after.toString()}::bigint`}
    order by position ${direction} limit ${rows}`
  const found = await db.rows<EventRow & { windowEnd: bigint; windowCount: number }>(sql`
    with page as materialized (
      select * from (select ${eventColumns} ${inWindow}) w
      where true
        ${filter.types === undefined ? empty : sql`and (type = any(${filter.types}::text[]) ${filter.own === undefined ? empty : sql`or (owner_id = ${filter.own.userId} and type = any(${filter.own.types}::text[]))`})`}
        ${filter.workspaceIds === undefined ? empty : sql`and (workspace_id is null or workspace_id = any(${filter.workspaceIds}::uuid[]))`}
        ${filter.subjectId === undefined ? empty : sql`and subject_id = ${filter.subjectId}`}
      order by position ${direction} limit ${limit}
    ), edge as (
      select ${order === 'asc' ? sql`max(position)` : sql`min(position)`} as window_end, count(*)::int as window_count
      from (select position ${inWindow}) w
      where (select count(*) from page) < ${limit}
    )
    select edge.window_end, edge.window_count, s.* from edge left join page s on true
    order by s.position ${direction}`)
  const [first] = found
  return {
    events: found.filter(({ id }) => id !== null) as EventRow[],
    lastPosition: first?.windowEnd ?? null,
    count: first?.windowCount ?? 0,
  }
}

/** The position of the org's last event; 0 before the first. */
export const findHead = async (db: Db, orgId: string): Promise<bigint> => {
  const row = await db.row<{ position: bigint }>(sql`select position from event_heads where org_id = ${orgId}`)
  return row?.position ?? 0n
}
