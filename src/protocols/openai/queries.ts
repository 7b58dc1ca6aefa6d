import { insertOutbox } from '../../outbox/queries.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Author, MessagePart } from '../../sessions/schemas.ts'
import { messageWords } from '../../sessions/sessions.ts'

export interface RepliedTurn {
  id: string
  sessionId: string
  /** The number of the turn in its session, from 1. */
  number: number
  parts: MessagePart[]
}

/** The newest five ended turns with this digest that are the last of their idle session. */
export const listRepliedTurns = (
  db: Db,
  actor: Actor,
  { workspaceId, agentId, digest }: { workspaceId: string; agentId: string; digest: Buffer },
) =>
  db.rows<RepliedTurn>(sql`
    select t.id, t.session_id, t.number, m.parts
    from turns t
      join sessions s on s.org_id = t.org_id and s.id = t.session_id
      join messages m on m.org_id = t.org_id and m.id = t.reply_id
    where t.org_id = ${actor.orgId} and t.caller_digest = ${digest} and t.user_id = ${actor.userId}
      and t.agent_id = ${agentId} and t.ended_at is not null and t.number = s.turn_count and not t.number <@ coalesce(s.skipped, '{}')
      and s.workspace_id = ${workspaceId} and s.deleted_at is null and s.active_turn_id is null
    order by t.created_at desc
    limit 5`)

/** The digest of the conversation that a turn replies to. */
export const findConversationDigest = async (db: Db, orgId: string, turnId: string): Promise<Buffer | null> =>
  (
    await db.row<{ callerDigest: Buffer | null }>(sql`
      select caller_digest from turns where org_id = ${orgId} and id = ${turnId}`)
  )?.callerDigest ?? null

export interface ImportedMessage {
  id: string
  position: number
  turnNumber: number
  role: 'user' | 'assistant'
  author: Author
  parts: MessagePart[]
}

/** Stores the history that a client sent as the first messages of a new session. Its exchanges count as turns. */
export const importMessages = (
  db: Db,
  orgId: string,
  { sessionId, turnId, messages }: { sessionId: string; turnId: string; messages: ImportedMessage[] },
  events: readonly OutboxRow[],
) => {
  const rows = messages.map((message) => ({
    ...message,
    bytes: Buffer.byteLength(JSON.stringify(message.parts)),
    words: messageWords(orgId, message.parts),
  }))
  return db.execute(sql`
    with imported as (
      insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts, parts_bytes,
        words)
      select ${orgId}, ${sessionId}, p.position, p.id, ${turnId}, p."turnNumber", p.role, p.author, p.parts, p.bytes, p.words
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (id uuid, position integer, "turnNumber" integer,
        role text, author jsonb, parts jsonb, bytes integer, words tsvector)
    ), reported as (
      ${insertOutbox(events)}
    )
    update sessions set message_count = ${messages.length}, turn_count = ${messages.at(-1)?.turnNumber ?? 0}
    where org_id = ${orgId} and id = ${sessionId}`)
}
