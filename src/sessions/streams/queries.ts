import { empty, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { TurnStatus } from '../turns/queries.ts'

export interface TurnEventRow {
  /** The number of the last line in `frames`. */
  seq: number
  /** Stream parts, one JSON object per line. */
  frames: string
}

export const listEvents = (db: Db, orgId: string, turnId: string, after: number) =>
  db.rows<TurnEventRow>(sql`
    select seq, frames from turn_events
    where org_id = ${orgId} and turn_id = ${turnId} and seq > ${after} order by seq`)

export const hasEventsAfter = async (db: Db, orgId: string, turnId: string, after: number): Promise<boolean> => {
  const row = await db.row<{ found: boolean }>(sql`
    select exists (
      select from turn_events where org_id = ${orgId} and turn_id = ${turnId} and seq > ${after}) as found`)
  return row?.found === true
}

/** The number of the last stream part of a turn. It stays the same when the parts expire. */
export const findLastSeq = async (db: Db, orgId: string, turnId: string): Promise<number> => {
  const row = await db.row<{ seq: number | null }>(sql`
    select greatest(last_seq, (select max(seq) from turn_events where org_id = ${orgId} and turn_id = ${turnId})) as seq
    from turns where org_id = ${orgId} and id = ${turnId}`)
  return row?.seq ?? 0
}

const stepBoundary = '(^|\\n)\\{"type":"(start|reset|finish)-step"'

/** The newest row in which a step begins or ends. Undefined when it has expired. */
export const findLastStepBoundary = (db: Db, orgId: string, turnId: string) =>
  db.row<{ frames: string }>(sql`
    select frames from turn_events
    where org_id = ${orgId} and turn_id = ${turnId} and frames ~ ${stepBoundary} order by seq desc limit 1`)

export interface StreamPosition {
  orgId: string
  turnId: string
  after: number
}

export interface NewTurnEventsRow {
  /** The index of the stream position, from 1. */
  place: bigint
  status: TurnStatus
  seq: number | null
  frames: string | null
}

/**
 * The new events and the status of many turns in one statement. With `orgId`, all turns belong to this org, which a
 * distributed schema requires.
 */
export const listNewEvents = (db: Db, positions: StreamPosition[], rowsEach: number, orgId?: string) =>
  db.rows<NewTurnEventsRow>(sql`
    select w.place, t.status, e.seq, e.frames
    from unnest(${positions.map((one) => one.orgId)}::uuid[], ${positions.map((one) => one.turnId)}::uuid[],
        ${positions.map((one) => one.after)}::integer[]) with ordinality as w (org_id, turn_id, after, place)
      join turns t on t.org_id = w.org_id and t.id = w.turn_id ${orgId === undefined ? empty : sql`and t.org_id = ${orgId}`}
      left join lateral (
        select e.seq, e.frames from turn_events e
        where e.org_id = w.org_id and e.turn_id = w.turn_id and e.seq > w.after
          ${orgId === undefined ? empty : sql`and e.org_id = ${orgId}`}
        order by e.seq
        limit ${rowsEach}
      ) e on true
    order by w.place, e.seq`)

/** Deletes up to `batch` events that are older than 24 hours, and returns how many. */
export const expireEvents = (db: Db, batch: number) =>
  db.execute(sql`
    -- all orgs: the same age for everybody
    delete from turn_events where (org_id, turn_id, seq) in (
      select org_id, turn_id, seq from turn_events where created_at < now() - interval '24 hours' limit ${batch})`)
