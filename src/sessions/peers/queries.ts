import { insertOutbox } from '../../outbox/queries.ts'
import type { ChainColumns } from '../../outbox/chain.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { isFrom, isNear } from '../message-queries.ts'
import type { MessagePart } from '../schemas.ts'
import type { ErrorDetail, TurnStatus } from '../turns/queries.ts'

/** The turn in which an agent writes to another agent. */
export interface WritingTurn {
  id: string
  /** The id of its conversation between agents, which is the id of the turn that a person started. */
  chainId: string
  /** The number of messages between agents from that turn to this one. */
  hop: number
  agentId: string
  /** The scopes of the person's API key. */
  scopes: string[]
  /** The API key that started the turn; null for a session of the console. */
  apiKeyId: string | null
  maxSteps: number
  maxCostCents: number | null
  /** Model calls so far. */
  steps: number
  /** The session of the provider's chat in which it replies; null when there is none. */
  chatId: string | null
}

export const findWritingTurn = (db: Db, orgId: string, turnId: string) =>
  db.row<WritingTurn>(sql`
    select id, coalesce(chain_id, id) as chain_id, hop, agent_id, scopes, api_key_id, max_steps, max_cost_cents,
      (select count(*)::int from turn_steps s where s.org_id = ${orgId} and s.turn_id = ${turnId}) as steps,
      (
        select case s.relationship when 'connector' then s.id else s.peer_chat_id end
        from sessions s where s.org_id = ${orgId} and s.id = turns.session_id
      ) as chat_id
    from turns where org_id = ${orgId} and id = ${turnId}`)

/** The turn that a tool call started when it ran before a crash. */
export const findTurnOfCall = (db: Db, orgId: string, callKey: string) =>
  db.row<{ id: string; sessionId: string }>(sql`
    select id, session_id from turns where org_id = ${orgId} and parent_call = ${callKey}`)

/**
 * Whether a turn cannot run before the turn that requested it has ended: it is queued behind that turn, behind one of
 * that turn's ancestors, or behind a turn that waits for one of these.
 */
export const isDeadlocked = async (db: Db, orgId: string, turnId: string, askedBy: string): Promise<boolean> => {
  const row = await db.row<{ isBehind: boolean }>(sql`
    with recursive served as (
      select id, parent_turn_id from turns where org_id = ${orgId} and id = ${askedBy}
      union
      select t.id, t.parent_turn_id from served join turns t on t.org_id = ${orgId} and t.id = served.parent_turn_id
    ), first as (
      select id, session_id, number, status from turns where org_id = ${orgId} and id = ${turnId}
    ), ahead as (
      select * from first
      union
      select t.id, t.session_id, t.number, t.status
      from ahead cross join lateral (
        select * from turns where org_id = ${orgId} and parent_turn_id = ahead.id
        union all
        -- Only the turn right before it: the recursion goes on from there. All of them at once would be read once for each.
        (
          select before.*
          from sessions s
            join turns active on active.org_id = s.org_id and active.id = s.active_turn_id
            join turns before on before.org_id = s.org_id and before.session_id = s.id
              and before.number >= active.number and before.number < ahead.number
          where s.org_id = ${orgId} and s.id = ahead.session_id and ahead.status = 'queued'
            and before.status in ('queued', 'running', 'requires_action')
          order by before.number desc
          limit 1
        )
      ) t
      where t.status in ('queued', 'running', 'requires_action')
    )
    select exists (select from ahead join served using (id)) as is_behind`)
  return row?.isBehind === true
}

/**
 * Counts one message in the shared budget of a conversation; the first one creates the budget. Undefined when the limit
 * of messages is reached.
 */
export const countMessage = (
  db: Db,
  orgId: string,
  turn: WritingTurn,
  { leftMs, maxMessages, maxSteps }: { leftMs: number; maxMessages: number; maxSteps: number },
) =>
  db.row<{ messages: number }>(sql`
    insert into peer_chains as c (org_id, id, messages, steps, max_steps, max_cost_cents, deadline)
    values (${orgId}, ${turn.chainId}, 1, ${turn.steps}, ${maxSteps}, ${turn.maxCostCents},
      statement_timestamp() + ${leftMs} * interval '1 millisecond')
    on conflict (org_id, id) do update set messages = c.messages + 1 where c.messages < ${maxMessages}
    returning messages`)

export interface PeerSession {
  id: string
  workspaceId: string
  /** The ids of the two agents in ascending order, the id of their person and, if there is one, that of the chat. */
  key: string
  /** The session of the provider's chat in which they reply; null when there is none. */
  chatId: string | null
  agentIds: string[]
  title: string
  userId: string
}

/** Creates the peer session with this key unless the workspace has it. Returns its id when it was created. */
export const insertPeerSession = (db: Db, orgId: string, session: PeerSession, created: OutboxRow) =>
  db.row<{ id: string }>(sql`
    with made as (
      insert into sessions (org_id, id, workspace_id, agent_id, title, relationship, source, peer_key,
        peer_chat_id, created_by)
      values (${orgId}, ${session.id}, ${session.workspaceId}, ${session.agentIds[0]}, ${session.title}, 'peer', 'agent',
        ${session.key}, ${session.chatId}, ${session.userId})
      on conflict (org_id, workspace_id, peer_key) where peer_key is not null and deleted_at is null do nothing
      returning org_id, id, updated_at
    ), joined as (
      insert into session_participants (org_id, session_id, kind, participant_id, updated_at)
      select made.org_id, made.id, 'agent', agent_id, made.updated_at
      from made, unnest(${session.agentIds}::uuid[]) as agent_id
    ), reported as (
      ${insertOutbox([created], sql`from made`)}
    )
    select id from made`)

export const findPeerSession = (db: Db, orgId: string, workspaceId: string, key: string) =>
  db.row<{ id: string }>(sql`
    select id from sessions
    where org_id = ${orgId} and workspace_id = ${workspaceId} and peer_key = ${key} and deleted_at is null`)

/** Messages between agents in a session within the last minute. The caller must have locked the session. */
export const countRecentMessages = async (db: Db, orgId: string, sessionId: string): Promise<number> => {
  const row = await db.row<{ recent: number }>(sql`
    select count(*)::int as recent from turns
    where org_id = ${orgId} and session_id = ${sessionId} and parent_turn_id is not null
      and created_at > now() - interval '1 minute'`)
  return row?.recent ?? 0
}

/** Makes a new turn part of its parent's conversation. */
export const linkTurn = (
  db: Db,
  orgId: string,
  turnId: string,
  { parent, callKey }: { parent: WritingTurn; callKey: string },
) =>
  db.execute(sql`
    update turns
    set chain_id = ${parent.chainId}, hop = ${parent.hop + 1}, parent_turn_id = ${parent.id}, parent_call = ${callKey}
    where org_id = ${orgId} and id = ${turnId}`)

export interface PeerReply {
  status: TurnStatus
  error: ErrorDetail | null
  /** The reply; null when there is none. */
  parts: MessagePart[] | null
  /** Set when the turn that replied has read untrusted content. */
  untrustedFrom: string | null
}

export const findReply = (db: Db, orgId: string, turnId: string) =>
  db.row<PeerReply>(sql`
    select t.status, t.error, m.parts, t.untrusted_from
    from turns t left join messages m on m.org_id = t.org_id and m.id = t.reply_id
      and ${isNear(sql`m.id`, turnId)}
    where t.org_id = ${orgId} and t.id = ${turnId}`)

/** The unfinished turns that a turn started by messages to other agents, also through turns that have ended. */
export const listUnfinishedDescendants = (db: Db, orgId: string, turnId: string) =>
  db.rows<ChainColumns & { id: string; sessionId: string }>(sql`
    with recursive started as (
      select id from turns where org_id = ${orgId} and parent_turn_id = ${turnId}
      union
      select t.id from started join turns t on t.org_id = ${orgId} and t.parent_turn_id = started.id
    )
    select t.id, t.session_id, t.event_chain_id, t.event_depth
    from started join turns t on t.org_id = ${orgId} and t.id = started.id
    where t.status in ('queued', 'running', 'requires_action')
    order by t.created_at, t.id`)

/** Counts one model call in the shared budget. Undefined when its limit of calls, time or money is reached. */
export const countSharedCall = (db: Db, orgId: string, chainId: string) =>
  db.row<{ steps: number }>(sql`
    update peer_chains c set steps = steps + 1
    where org_id = ${orgId} and id = ${chainId} and steps < max_steps and deadline > statement_timestamp()
      and (max_cost_cents is null or max_cost_cents::bigint * 10000 > (
        select coalesce(sum(s.cost_microcents), 0)
        from turns t join turn_steps s on s.org_id = t.org_id and s.turn_id = t.id
          and ${isFrom(sql`s.turn_id`, chainId)}
        where t.org_id = ${orgId} and (t.id = ${chainId} or t.chain_id = ${chainId})))
    returning steps`)

export const findSharedBudget = (db: Db, orgId: string, chainId: string) =>
  db.row<{ steps: number; maxSteps: number; isLate: boolean }>(sql`
    select steps, max_steps, deadline <= statement_timestamp() as is_late from peer_chains
    where org_id = ${orgId} and id = ${chainId}`)
