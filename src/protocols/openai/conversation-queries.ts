import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Author, MessagePart } from '../../sessions/schemas.ts'

export interface AnsweredTurn {
  sessionId: string
  /** The place of the turn in its session. */
  number: number
  parts: MessagePart[]
}

/** The last turns of sessions that were asked by this digest and have been answered, newest first. */
export const findAnswered = (db: Db, actor: Actor, workspaceId: string, agentId: string, digest: Buffer) =>
  db.rows<AnsweredTurn>(sql`
    select t.session_id, t.number, m.parts
    from turns t
      join sessions s on s.org_id = t.org_id and s.id = t.session_id
      join messages m on m.org_id = t.org_id and m.id = t.reply_id
    where t.org_id = ${actor.orgId} and t.caller_digest = ${digest} and t.user_id = ${actor.userId}
      and t.agent_id = ${agentId} and t.ended_at is not null and t.number = s.turn_count
      and s.workspace_id = ${workspaceId} and s.deleted_at is null and s.active_turn_id is null
    order by t.created_at desc
    limit 5`)

export interface PastMessage {
  id: string
  position: number
  turnNumber: number
  role: 'user' | 'assistant'
  author: Author
  parts: MessagePart[]
}

/** What was said elsewhere before a session began, in exchanges that count as its first turns. */
export const insertPast = (db: Db, orgId: string, sessionId: string, turnId: string, past: PastMessage[]) =>
  db.execute(sql`
    with said as (
      insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts)
      select ${orgId}, ${sessionId}, p.position, p.id, ${turnId}, p."turnNumber", p.role, p.author, p.parts
      from jsonb_to_recordset(${JSON.stringify(past)}::jsonb) as p (id uuid, position integer, "turnNumber" integer,
        role text, author jsonb, parts jsonb)
    )
    update sessions set message_count = ${past.length}, turn_count = ${past.at(-1)?.turnNumber ?? 0}
    where org_id = ${orgId} and id = ${sessionId}`)
