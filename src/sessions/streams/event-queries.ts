import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { TurnStatus } from '../turns/queries.ts'

export interface EventRow {
  /** The number of the last frame. */
  seq: number
  frames: string
}

/** What a turn said after a frame. */
export const listEvents = (db: Db, orgId: string, turnId: string, after: number) =>
  db.rows<EventRow>(sql`
    select seq, frames from turn_events
    where org_id = ${orgId} and turn_id = ${turnId} and seq > ${after} order by seq`)

/** Whether there is anything to send of a turn after a frame. */
export const hasFramesAfter = async (db: Db, orgId: string, turnId: string, after: number): Promise<boolean> => {
  const row = await db.row<{ found: boolean }>(sql`
    select exists (
      select from turn_events where org_id = ${orgId} and turn_id = ${turnId} and seq > ${after}) as found`)
  return row?.found === true
}

/** The number of the last frame of a turn, also of one that is removed by now. */
export const findLastSeq = async (db: Db, orgId: string, turnId: string): Promise<number> => {
  const row = await db.row<{ seq: number | null }>(sql`
    select greatest(last_seq, (select max(seq) from turn_events where org_id = ${orgId} and turn_id = ${turnId})) as seq
    from turns where org_id = ${orgId} and id = ${turnId}`)
  return row?.seq ?? 0
}

const stepMark = '(^|\\n)\\{"type":"(start|reset|finish)-step"'

/** What the stream said last of where a step begins or ends, with all that was written beside it; nothing once removed. */
export const findLastStepMark = (db: Db, orgId: string, turnId: string) =>
  db.row<{ frames: string }>(sql`
    select frames from turn_events
    where org_id = ${orgId} and turn_id = ${turnId} and frames ~ ${stepMark} order by seq desc limit 1`)

export interface Watched {
  orgId: string
  turnId: string
  after: number
}

export interface NewsRow {
  /** Which of the watched, from 1. */
  place: bigint
  status: TurnStatus
  seq: number | null
  frames: string | null
}

/** What all watched turns said since, and whether they go on: one statement for every stream that a process serves. */
export const listNews = (db: Db, watched: Watched[], rowsEach: number) =>
  db.rows<NewsRow>(sql`
    select w.place, t.status, e.seq, e.frames
    from unnest(${watched.map((one) => one.orgId)}::uuid[], ${watched.map((one) => one.turnId)}::uuid[],
        ${watched.map((one) => one.after)}::integer[]) with ordinality as w (org_id, turn_id, after, place)
      join turns t on t.org_id = w.org_id and t.id = w.turn_id
      left join lateral (
        select e.seq, e.frames from turn_events e
        where e.org_id = w.org_id and e.turn_id = w.turn_id and e.seq > w.after
        order by e.seq
        limit ${rowsEach}
      ) e on true
    order by w.place, e.seq`)

/** Takes away a batch of what was said more than a day ago: the messages stay. */
export const expireEvents = (db: Db, batch: number) =>
  db.execute(sql`
    -- all orgs: the same age for everybody
    delete from turn_events where ctid = any(array(
      select ctid from turn_events where created_at < now() - interval '24 hours' limit ${batch}))`)
