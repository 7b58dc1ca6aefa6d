import { empty, sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'
import { eventColumns } from '../outbox/queries.ts'
import type { EventRow } from '../outbox/queries.ts'

export interface EventFilter {
  /** Undefined: all. */
  types: readonly string[] | undefined
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
 * Events of an org within a window of positions. `lastPosition` is the last of the window, from which a reader continues,
 * also when the filter has left out all of its events; null when the window is empty. `count`: the events in the window.
 */
export const listEvents = async (db: Db, orgId: string, filter: EventFilter, window: EventWindow) => {
  const { order, after, rows, limit } = window
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const found = await db.rows<EventRow & { windowEnd: bigint; windowCount: number }>(sql`
    with seen as materialized (
      select ${eventColumns} from events
      where org_id = ${orgId}
        ${after === undefined ? empty : order === 'asc' ? sql`and position > ${after.toString()}::bigint` : sql`and position < ${after.toString()}::bigint`}
      order by position ${direction} limit ${rows}
    ), edge as (
      select ${order === 'asc' ? sql`max(position)` : sql`min(position)`} as window_end, count(*)::int as window_count from seen
    )
    select edge.window_end, edge.window_count, s.* from edge left join lateral (
      select * from seen
      where true
        ${filter.types === undefined ? empty : sql`and type = any(${filter.types}::text[])`}
        ${filter.workspaceIds === undefined ? empty : sql`and (workspace_id is null or workspace_id = any(${filter.workspaceIds}::uuid[]))`}
        ${filter.subjectId === undefined ? empty : sql`and subject_id = ${filter.subjectId}`}
      order by position ${direction} limit ${limit}
    ) s on true
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
