import { empty, sql } from '../platform/database/database.ts'
import type { Db, Sql } from '../platform/database/database.ts'
import { pageBound } from '../platform/database/partitions.ts'
import type { Actor } from '../identity/actor.ts'
import { idLater } from '../platform/ids.ts'
import type { Author, MessagePart } from './schemas.ts'
import type { Skipped } from './branches/skipped.ts'
import { visible } from './queries.ts'

export interface MessageRow {
  id: string
  sessionId: string
  turnId: string
  turnNumber: number
  position: number
  role: 'user' | 'assistant'
  author: Author
  parts: MessagePart[]
  createdAt: string
}

/**
 * An id for which PostgreSQL finds the partition when it starts a plan. Where it uses the value to make the plan, plans for
 * known values are cheaper than one for all values, and it makes a new plan for each execution: with 24 months, this takes
 * longer than the rest of a turn's statements. `concat` is stable, so that its result is not known to the planner.
 */
export const atStart = (id: string): Sql => sql`concat(${id}::text)::uuid`

// Messages, model calls and tool calls are partitioned by month, by an id. A statement that finds rows by anything else
// names bounds for that id, so that it does not search every month. Clocks of servers differ by seconds; a week costs no
// more than the partition of one more month.
const weekMs = 604_800_000

/** Where the messages of a session begin. */
export const inSession = (sessionId: string): Sql => sql`m.id >= ${atStart(idLater(sessionId, -weekMs))}`

/** The id of the reply of a turn, which is generated with that of the turn. */
export const isNear = (id: Sql, turnId: string): Sql =>
  sql`${id} >= ${atStart(idLater(turnId, -weekMs))} and ${id} < ${atStart(idLater(turnId, weekMs))}`

/** The ids of a turn and of those that began later. */
export const isFrom = (id: Sql, turnId: string): Sql => sql`${id} >= ${atStart(idLater(turnId, -weekMs))}`

const isNotSkipped = (skipped: Skipped | null): Sql =>
  skipped === null ? empty : sql`and not m.turn_number <@ ${skipped}::int4multirange`

const messageColumns = sql`m.id, m.session_id, m.turn_id, m.turn_number, m.position, m.role, m.author, m.parts,
  m.created_at`

const storedBytes = sql`coalesce(m.parts_bytes, octet_length(m.parts::text))`

/**
 * A list of messages has about this many bytes at most, and one message at least: sending a hundred long ones would make
 * the requests of all others wait.
 */
const maxListBytes = 524_288

/** Columns for a page: the bytes of the messages before this one, and the number of messages that were found. */
const pageColumns = (order: Sql): Sql => sql`
  coalesce(sum(${storedBytes}) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)
    as bytes_before, count(*) over ()::int as found`

const fitsPage = sql`bytes_before < ${maxListBytes}`

/** Up to `limit` of the rows, and whether there are more. */
const toPage = <T extends { found: number }>(rows: readonly T[], limit: number): { items: T[]; isMore: boolean } => {
  const items = rows.slice(0, limit)
  return { items, isMore: (rows[0]?.found ?? 0) > items.length }
}

/** Newest first, before a position. */
export const listMessages = async (
  db: Db,
  actor: Actor,
  sessionId: string,
  { limit, before, skipped }: { limit: number; before: number | undefined; skipped: Skipped | null },
): Promise<{ items: MessageRow[]; isMore: boolean }> => {
  const rows = await db.rows<MessageRow & { found: number }>(sql`
    select ${messageColumns}, m.found from (
      select m.*, ${pageColumns(sql`m.position desc`)} from (
        select * from (
          select ${messageColumns}, m.parts_bytes from messages m
          where m.org_id = ${actor.orgId} and m.session_id = ${sessionId} and ${inSession(sessionId)}
            ${before === undefined ? empty : sql`and m.position < ${before}::bigint`} ${isNotSkipped(skipped)}
          order by m.position desc ${pageBound}
        ) bounded order by position desc limit ${limit + 1}
      ) m
    ) m
    where ${fitsPage}
    order by m.position desc`)
  return toPage(rows, limit)
}

export const findMessage = (db: Db, orgId: string, id: string) =>
  db.row<MessageRow>(sql`select ${messageColumns} from messages m where m.org_id = ${orgId} and m.id = ${id}`)

/** The parts of a message; undefined when it or its session was deleted. */
export const findMessageParts = (db: Db, orgId: string, id: string) =>
  db.row<{ parts: MessagePart[] }>(sql`
    select m.parts from messages m
      join sessions s on s.org_id = m.org_id and s.id = m.session_id and s.deleted_at is null
    where m.org_id = ${orgId} and m.id = ${id}`)

interface HistoryOptions {
  orgId: string
  sessionId: string
  turnNumber: number
  skipped: Skipped | null
  /** Leaves the messages of the turn itself out. */
  isEarlierOnly?: boolean
  limit: number
  maxBytes: number
}

const history = ({
  orgId,
  sessionId,
  turnNumber,
  skipped,
  isEarlierOnly = false,
  limit,
  maxBytes,
}: HistoryOptions): Sql => sql`
    select ${messageColumns}
    from (
      select m.*, sum(${storedBytes}) over (order by m.turn_number desc, m.position desc) as bytes
      from (
        select ${messageColumns}, m.parts_bytes from messages m
        where m.org_id = ${orgId} and m.session_id = ${sessionId} and ${inSession(sessionId)}
          and m.turn_number ${isEarlierOnly ? sql`<` : sql`<=`} ${turnNumber} ${isNotSkipped(skipped)}
        order by m.turn_number desc, m.position desc
        limit ${limit}
      ) as m
    ) as m
    where m.bytes <= ${maxBytes} or m.turn_number = ${turnNumber}
    order by m.turn_number desc, m.position desc`

/**
 * The messages of a turn and of earlier turns, newest first: at most `limit` messages, with about `maxBytes` of earlier
 * messages. Messages of later turns, which are queued, and of other branches are not part of the turn's conversation.
 */
export const listHistory = (db: Db, options: HistoryOptions) => db.rows<MessageRow>(history(options))

/** The same as one column: a JSON array of MessageRow as text, for a statement that also does other things. */
export const historyRecord = (options: HistoryOptions): Sql => sql`(
  select coalesce(json_agg(json_build_object('id', h.id, 'sessionId', h.session_id, 'turnId', h.turn_id,
    'turnNumber', h.turn_number, 'position', h.position, 'role', h.role, 'author', h.author, 'parts', h.parts,
    'createdAt', to_char(h.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by h.turn_number desc, h.position desc), '[]')::text
  from (${history(options)}) as h)`

export interface PeerMessageRow extends MessageRow {
  isSelf: boolean
  /** With microseconds, for the cursor. */
  createdAtExactly: string
}

export interface PeerMessagePage {
  workspaceId: string
  limit: number
  before: { createdAt: string; id: string }
}

/** The messages of agents in an agent's sessions with its peers, newest first. */
export const listPeerMessages = async (
  db: Db,
  actor: Actor,
  agentId: string,
  { workspaceId, limit, before }: PeerMessagePage,
): Promise<{ items: PeerMessageRow[]; isMore: boolean }> => {
  const rows = await db.rows<PeerMessageRow & { found: number }>(sql`
    select ${messageColumns}, (m.author ->> 'id')::uuid = ${agentId} as is_self, m.created_at::text as created_at_exactly,
      m.found
    from (select m.*, ${pageColumns(sql`m.created_at desc, m.id desc`)} from (
    select m.*
    from session_participants mine
      join sessions s on s.org_id = mine.org_id and s.id = mine.session_id
      cross join lateral (
        select ${messageColumns}, m.parts_bytes from messages m
        where m.org_id = ${actor.orgId} and m.session_id = s.id and m.author ->> 'type' = 'agent'
          and m.id >= uuid_at(uuid_time(s.id) - interval '7 days')
          and (m.created_at, m.id) < (${before.createdAt}::timestamptz, ${before.id}::uuid)
        -- Positions follow creation times nearly: a transaction that waits for the session's lock can have begun earlier.
        order by m.position desc
        limit ${limit + 11}
      ) m
    where mine.org_id = ${actor.orgId} and mine.participant_id = ${agentId} and ${visible(actor, workspaceId)}
      and s.relationship = 'peer'
    order by m.created_at desc, m.id desc
    limit ${limit + 1}) m) m
    where ${fitsPage}
    order by m.created_at desc, m.id desc`)
  return toPage(rows, limit)
}
