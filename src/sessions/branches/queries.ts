import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { touchAgents } from '../queries.ts'
import { inSession } from '../message-queries.ts'
import type { Author, MessagePart } from '../schemas.ts'
import type { Skipped } from './skipped.ts'

/** A turn by its message. */
export interface TurnOfMessage {
  id: string
  number: number
  agentId: string
  skipped: Skipped | null
  /** The number of the turn with the first version of the message. */
  firstVersion: number
  /** How many versions there are besides the first. */
  versions: number
  author: Author
  parts: MessagePart[]
}

/** The turn that a message of a person or agent started. Undefined for replies and for messages that started none. */
export const findTurnOfMessage = (db: Db, orgId: string, sessionId: string, messageId: string) =>
  db.row<TurnOfMessage>(sql`
    select t.id, t.number, t.agent_id, t.skipped, coalesce(t.version_of, t.number) as first_version,
      (
        select count(*)::int from turns v
        where v.org_id = ${orgId} and v.session_id = t.session_id and v.version_of = coalesce(t.version_of, t.number)
      ) as versions,
      m.author, m.parts
    from messages m join turns t on t.org_id = m.org_id and t.id = m.turn_id and t.number = m.turn_number
    where m.org_id = ${orgId} and m.id = ${messageId} and m.session_id = ${sessionId} and m.role = 'user'`)

/** The number of the turn of a reply. */
export const findTurnOfReply = (db: Db, orgId: string, sessionId: string, messageId: string) =>
  db.row<{ number: number }>(sql`
    select m.turn_number as number from messages m
    where m.org_id = ${orgId} and m.id = ${messageId} and m.session_id = ${sessionId} and m.role = 'assistant'`)

/** The message that started a turn. */
export const findMessageOfTurn = (db: Db, orgId: string, sessionId: string, number: number) =>
  db.row<{ id: string; parts: MessagePart[] }>(sql`
    select m.id, m.parts from messages m
    where m.org_id = ${orgId} and m.session_id = ${sessionId} and m.turn_number = ${number} and m.role = 'user'
      and ${inSession(sessionId)}
    order by m.position limit 1`)

/** The last turn of the newest branch that contains a turn. */
export const findLastOfBranch = (db: Db, orgId: string, sessionId: string, number: number) =>
  db.row<{ number: number; skipped: Skipped | null }>(sql`
    select t.number, t.skipped from turns t
    where t.org_id = ${orgId} and t.session_id = ${sessionId} and t.number >= ${number}
      and not ${number}::integer <@ coalesce(t.skipped, '{}')
    order by t.number desc
    limit 1`)

export const setSkipped = (db: Db, orgId: string, sessionId: string, skipped: Skipped | null) =>
  db.execute(sql`
    with changed as (
      update sessions set skipped = ${skipped}::int4multirange, revision = revision + 1, updated_at = now()
      where org_id = ${orgId} and id = ${sessionId}
      returning org_id, id, updated_at, changed_at
    ), ${touchAgents(orgId, sql`changed`)}
    select from changed`)

export interface MessageVersion {
  turnNumber: number
  firstVersion: number
  messageId: string
}

/** The versions of the messages of these turns, oldest first, and of the turns without others too. */
export const listVersions = (db: Db, orgId: string, sessionId: string, numbers: readonly number[]) =>
  db.rows<MessageVersion>(sql`
    with firsts as (
      select distinct coalesce(p.version_of, p.number) as number from turns p
      where p.org_id = ${orgId} and p.session_id = ${sessionId} and p.number = any(${numbers}::integer[])
    )
    select t.number as turn_number, coalesce(t.version_of, t.number) as first_version, m.id as message_id
    from turns t
      join messages m on m.org_id = ${orgId} and m.session_id = ${sessionId} and m.turn_number = t.number
        and m.turn_id = t.id and m.role = 'user' and ${inSession(sessionId)}
    where t.org_id = ${orgId} and t.session_id = ${sessionId} and t.is_retried is not true
      and (t.number in (select number from firsts) or t.version_of in (select number from firsts))
    order by t.number`)
