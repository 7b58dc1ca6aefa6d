import { emptyReservation } from '../../billing/billing.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { insertOutbox } from '../../outbox/queries.ts'
import type { ChainColumns } from '../../outbox/chain.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import type { Actor } from '../../identity/actor.ts'
import type { ModelPricing } from '../../config/models.ts'
import { touchAgents } from '../queries.ts'
import { historyRecord, isNear } from '../message-queries.ts'
import type { Skipped } from '../branches/skipped.ts'
import type { Author, MessagePart } from '../schemas.ts'
import { messageWords } from '../search/words.ts'
import type { OutputFormat } from '../output/schemas.ts'
import type { CallerTools } from './caller-tools/schemas.ts'

export type EndedStatus = 'completed' | 'failed' | 'cancelled' | 'incomplete'
export type TurnStatus = 'queued' | 'running' | 'requires_action' | EndedStatus
export type StopReason =
  | 'stop'
  | 'cancelled'
  | 'max_steps'
  | 'max_time'
  | 'max_tokens'
  | 'max_cost'
  | 'content_filter'
  | 'stream_truncated'
  | 'error'

export interface ErrorDetail {
  code: string
  message: string
}

/** The events of a turn continue the chain of the request that created it. */
export interface TurnRow extends ChainColumns {
  id: string
  sessionId: string
  number: number
  agentId: string
  author: Author
  userId: string
  scopes: string[]
  /** The API key that started it; null for a session of the console. */
  apiKeyId: string | null
  /** The connector endpoint that received its message; null outside of chats of providers. */
  endpointId: string | null
  model: string
  pricing: ModelPricing
  maxSteps: number
  maxCostCents: number | null
  /** The platform's fee and its deposit threshold (see billing), as of the creation of the turn. */
  feeBps: number
  feeWaiverCents: bigint
  /** The org's own key for the model's provider, when the turn uses one. */
  providerKeyId: string | null
  /** Added to the agent's system prompt for this turn. */
  instructions: string | null
  /** The caller's limit for each model call. */
  maxOutputTokens: number | null
  /** The tools that the caller runs; null when it gave none. */
  clientTools: CallerTools | null
  /** The format of the reply; null for text. */
  responseFormat: OutputFormat | null
  /** Texts before which a response of the model ends. */
  stopSequences: string[] | null
  /** The turn that started the chain of messages between agents; its own id when no agent started it. */
  chainId: string
  /** The number of messages between agents from that turn to this one. */
  hop: number
  /** The number of oldest exchanges that did not fit into the model's context. */
  leftOutExchanges: number
  /** The source of the first untrusted content that it has read: a tool's name or an UntrustedSource. */
  untrustedFrom: string | null
  status: TurnStatus
  stopReason: StopReason | null
  error: ErrorDetail | null
  replyId: string
  attempts: number
  /** The attempts before the last time that it waited for a person. */
  restedAttempts: number
  /** The number of workers that died while they ran the turn, since it last waited for a person. */
  workerDeaths: number
  workedMs: bigint
  /** The turns of its session that are not part of its conversation. */
  skipped: Skipped | null
  createdAt: string
  startedAt: string | null
  /** When a worker last claimed it, or when it last began to wait for a person or its caller. */
  claimedAt: string | null
  endedAt: string | null
}

/** The columns of a TurnRow; the table must be called `turns`. */
export const turnColumns = sql`turns.id, turns.session_id, turns.number, turns.agent_id, turns.author, turns.user_id, turns.scopes, turns.api_key_id, turns.endpoint_id, turns.model,
  turns.pricing, turns.max_steps, turns.max_cost_cents, turns.fee_bps, turns.fee_waiver_cents, turns.provider_key_id,
  turns.instructions, turns.max_output_tokens, turns.client_tools, turns.response_format, turns.stop_sequences, coalesce(turns.chain_id, turns.id) as chain_id, turns.hop, turns.left_out_exchanges, turns.untrusted_from, turns.status, turns.stop_reason, turns.error, turns.reply_id,
  turns.attempts, turns.rested_attempts, turns.worker_deaths, turns.worked_ms, turns.created_at, turns.started_at, turns.claimed_at, turns.ended_at,
  turns.event_chain_id, turns.event_depth, turns.skipped`

/** The `memberOf` of a turn. */
export const memberColumn = sql`coalesce(turns.endpoint_id, turns.api_key_id, turns.user_id)`

/** Whose turn it is when the turns of an org share places: an endpoint's, a key's, or that of a person in the console. */
export const memberOf = ({
  endpointId,
  apiKeyId,
  userId,
}: Pick<TurnRow, 'endpointId' | 'apiKeyId' | 'userId'>): string => endpointId ?? apiKeyId ?? userId

export const findTurn = (db: Db, actor: Actor, workspaceId: string, id: string) =>
  db.row<TurnRow>(sql`
    select ${turnColumns} from turns
      join sessions s on s.org_id = turns.org_id and s.id = turns.session_id
    where turns.org_id = ${actor.orgId} and turns.id = ${id} and s.workspace_id = ${workspaceId} and s.deleted_at is null`)

/** Locks the turn. Its session must be locked first, or two transactions can deadlock. */
export const lockTurn = (db: Db, orgId: string, id: string) =>
  db.row<TurnRow>(sql`select ${turnColumns} from turns where org_id = ${orgId} and id = ${id} for no key update`)

/** The last turn of the active branch. */
export const findLastTurn = (db: Db, orgId: string, sessionId: string) =>
  db.row<{ number: number; status: TurnStatus; agentId: string }>(sql`
    select t.number, t.status, t.agent_id
    from sessions s join turns t on t.org_id = s.org_id and t.session_id = s.id
    where s.org_id = ${orgId} and s.id = ${sessionId} and not t.number <@ coalesce(s.skipped, '{}')
    order by t.number desc limit 1`)

/** The active turn of a session, before which none is unfinished, and the turns that wait behind it. */
export const listUnfinished = (db: Db, orgId: string, sessionId: string) =>
  db.rows<{ id: string }>(sql`
    select t.id
    from sessions s
      join turns active on active.org_id = s.org_id and active.id = s.active_turn_id
      join turns t on t.org_id = s.org_id and t.session_id = s.id and t.number >= active.number
    where s.org_id = ${orgId} and s.id = ${sessionId} and t.status in ('queued', 'running', 'requires_action')
    order by t.number`)

export interface NewTurn extends ChainColumns {
  id: string
  sessionId: string
  number: number
  agentId: string
  author: Author
  userId: string
  scopes: readonly string[]
  apiKeyId: string | null
  endpointId: string | null
  model: string
  pricing: ModelPricing
  maxSteps: number
  maxCostCents: number | null
  feeBps: number
  feeWaiverCents: number
  providerKeyId: string | null
  instructions: string | null
  maxOutputTokens: number | null
  clientTools: CallerTools | null
  responseFormat: OutputFormat | null
  stopSequences: string[] | null
  callerDigest: Buffer | null
  untrustedFrom: string | null
  replyId: string
  message: { id: string; position: number; author: Author; parts: MessagePart[] }
  /** The title for a session that has none yet. */
  title: string | null
  /** The turns that are not part of its conversation. */
  skipped: Skipped | null
  /** Set when the message replaces another one. */
  replaced: { id: string; firstVersion: number; isRetry: boolean } | undefined
}

/**
 * Adds turns that need a worker to active_turns. `turns` selects org_id, the session's id and the turn's id. The turn that
 * a server of an older version left there is replaced.
 */
const activate = (turns: Sql): Sql => sql`insert into active_turns (org_id, session_id, turn_id) ${turns}
  on conflict (org_id, session_id) do update set turn_id = excluded.turn_id`

/** Adds a turn that waited for a person. Its session must be locked. */
export const activateTurn = (db: Db, orgId: string, sessionId: string, turnId: string) =>
  db.execute(activate(sql`values (${orgId}::uuid, ${sessionId}::uuid, ${turnId}::uuid)`))

/** The lease of a turn that starts in the process that creates it. */
export interface NewLease {
  token: string
  leaseMs: number
  /** The most earlier messages and bytes of them that `history` returns; undefined to return none. */
  history: { limit: number; maxBytes: number } | undefined
}

interface InsertOptions {
  events: readonly OutboxRow[]
  lease?: NewLease | undefined
  /** A CTE that reserves money for the turn. */
  reservation?: Sql | undefined
}

/** What the worker of a new turn needs besides what its creator knows. */
export interface HandedRecords {
  createdAt: string
  startedAt: string
  earlierUntrustedFrom: string | null
  /** The revision of the agent while it is active; null otherwise. */
  agentRevision: number | null
  /** The messages of earlier turns, newest first: an array of MessageRow as JSON text. Null when none were asked for. */
  history: string | null
}

export const earlierUntrusted = (orgId: Sql, sessionId: Sql, number: Sql): Sql => sql`(
  select t.untrusted_from from turns t
  where t.org_id = ${orgId} and t.session_id = ${sessionId} and t.number < ${number} and t.untrusted_from is not null
  order by t.number
  limit 1
) as earlier_untrusted_from`

/**
 * The statement before this one has locked the session, so this one sees what all earlier turns have written. Where tables
 * are distributed it may also see the turn's own message, because its parts run one after the other.
 */
const handedColumns = (orgId: string, turn: NewTurn, lease: NewLease): Sql => sql`
  ${earlierUntrusted(sql`${orgId}`, sql`${turn.sessionId}`, sql`${turn.number}`)},
  (
    select a.revision from agents a
    where a.org_id = ${orgId} and a.id = ${turn.agentId} and a.deleted_at is null and a.is_active
  ) as agent_revision,
  ${lease.history ? historyRecord({ orgId, sessionId: turn.sessionId, turnNumber: turn.number, skipped: turn.skipped, isEarlierOnly: true, ...lease.history }) : sql`null`} as history`

/** A turn that failed and is tried again is no version that people choose from. */
const markRetried = (orgId: string, { replaced }: NewTurn): Sql =>
  replaced?.isRetry === true
    ? sql`, retried as (
      update turns set is_retried = true where org_id = ${orgId} and id = ${replaced.id} and status = 'failed')`
    : empty

/** Inserts the turn and its message. The turn becomes the active one of its session when the session is idle. */
export const insertTurn = async (
  db: Db,
  orgId: string,
  turn: NewTurn,
  { events, lease, ...more }: InsertOptions,
): Promise<HandedRecords | undefined> => {
  const leased = lease
    ? {
        columns: sql`, status, attempts, started_at, claimed_at, lease_token, lease_until`,
        values: sql`, 'running', 1, now(), statement_timestamp(), ${lease.token},
          statement_timestamp() + ${lease.leaseMs} * interval '1 millisecond'`,
      }
    : { columns: empty, values: empty }
  const parts = JSON.stringify(turn.message.parts)
  return db.row<HandedRecords>(sql`
    with made as (
      insert into turns (org_id, id, session_id, number, agent_id, author, user_id, scopes, api_key_id, endpoint_id, model, pricing, max_steps,
        max_cost_cents, fee_bps, fee_waiver_cents, provider_key_id, instructions, max_output_tokens, client_tools, response_format, stop_sequences, caller_digest,
        untrusted_from, reply_id, event_chain_id, event_depth, skipped, version_of${leased.columns})
      values (${orgId}, ${turn.id}, ${turn.sessionId}, ${turn.number}, ${turn.agentId}, ${JSON.stringify(turn.author)}, ${turn.userId}, ${turn.scopes},
        ${turn.apiKeyId}, ${turn.endpointId}, ${turn.model}, ${JSON.stringify(turn.pricing)}, ${turn.maxSteps}, ${turn.maxCostCents},
        ${turn.feeBps}, ${turn.feeWaiverCents}, ${turn.providerKeyId},
        ${turn.instructions}, ${turn.maxOutputTokens}, ${turn.clientTools && JSON.stringify(turn.clientTools)}, ${turn.responseFormat && JSON.stringify(turn.responseFormat)},
        ${turn.stopSequences && JSON.stringify(turn.stopSequences)},
        ${turn.callerDigest}, ${turn.untrustedFrom}, ${turn.replyId},
        ${turn.eventChainId}, ${turn.eventDepth}, ${turn.skipped}::int4multirange, ${turn.replaced?.firstVersion ?? null}${leased.values})
      returning created_at, started_at
    ), message as (
      insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts, parts_bytes,
        words)
      values (${orgId}, ${turn.sessionId}, ${turn.message.position}, ${turn.message.id}, ${turn.id}, ${turn.number},
        'user', ${JSON.stringify(turn.message.author)}, ${parts},
        ${Buffer.byteLength(parts)}, ${messageWords(orgId, turn.message.parts)})
    ), changed as (
      update sessions
      set turn_count = turn_count + 1, message_count = message_count + 1, last_message_at = now(), updated_at = now(),
        revision = revision + 1, title = coalesce(title, ${turn.title}),
        active_turn_id = coalesce(active_turn_id, ${turn.id})${turn.replaced ? sql`, skipped = ${turn.skipped}::int4multirange` : empty},
        status = case when active_turn_id is null then 'running' else status end
      where org_id = ${orgId} and id = ${turn.sessionId}
      returning org_id, id, updated_at, changed_at, active_turn_id
    ), ${touchAgents(orgId, sql`changed`)}, activated as (
      ${activate(sql`select org_id, id, active_turn_id from changed where active_turn_id = ${turn.id}`)}
    ), reported as (
      ${insertOutbox(events, sql`from made`)}
    )${markRetried(orgId, turn)}${more.reservation ? sql`, ${more.reservation}` : empty}
    select made.created_at, made.started_at${lease ? sql`, ${handedColumns(orgId, turn, lease)}` : empty} from made`)
}

/**
 * Makes the next queued turn of a session active after a turn ended, and returns it. Undefined when the ended turn was not
 * the active one. The session must be locked by an earlier statement, so that this one sees every queued turn.
 */
export const releaseSession = (
  db: Db,
  orgId: string,
  { sessionId, turnId, newMessages }: { sessionId: string; turnId: string; newMessages: number },
) =>
  db.row<{
    nextTurnId: string | null
    nextHop: number | null
    nextMember: string | null
    relationship: 'user' | 'peer' | 'connector'
  }>(sql`
    with next as (
      select (
        select t.id from turns ended
          join turns t on t.org_id = ended.org_id and t.session_id = ended.session_id and t.number > ended.number
        where ended.org_id = ${orgId} and ended.id = ${turnId} and t.status = 'queued'
        order by t.number limit 1
      ) as id
    ), changed as (
      update sessions
      set active_turn_id = next.id, status = case when next.id is null then 'idle' else 'running' end,
        message_count = message_count + ${newMessages}, updated_at = now(), revision = revision + 1,
        last_message_at = ${newMessages > 0 ? sql`now()` : sql`last_message_at`}
      from next
      where org_id = ${orgId} and sessions.id = ${sessionId} and active_turn_id = ${turnId}
      returning sessions.org_id, sessions.id, updated_at, changed_at, active_turn_id, relationship
    ), ${touchAgents(orgId, sql`changed`)}, activated as (
      ${activate(sql`select org_id, id, active_turn_id from changed where active_turn_id is not null`)}
    )
    select changed.active_turn_id as next_turn_id, changed.relationship,
      (select hop from turns where turns.org_id = ${orgId} and turns.id = changed.active_turn_id) as next_hop,
      (select ${memberColumn} from turns where turns.org_id = ${orgId} and turns.id = changed.active_turn_id) as next_member
    from changed`)

export const findReply = (db: Db, orgId: string, turnId: string) =>
  db.row<{ endedAt: string | null; parts: MessagePart[] | null }>(sql`
    select turns.ended_at, m.parts from turns
      left join messages m on m.org_id = turns.org_id and m.id = turns.reply_id
        and ${isNear(sql`m.id`, turnId)}
    where turns.org_id = ${orgId} and turns.id = ${turnId}`)

export const findRelationship = async (db: Db, orgId: string, sessionId: string) =>
  (
    await db.row<{ relationship: 'user' | 'peer' | 'connector' }>(sql`
      select relationship from sessions where org_id = ${orgId} and id = ${sessionId}`)
  )?.relationship

export const setSessionStatus = (db: Db, orgId: string, sessionId: string, status: 'running' | 'requires_action') =>
  db.execute(sql`
    with changed as (
      update sessions set status = ${status}, updated_at = now(), revision = revision + 1
      where org_id = ${orgId} and id = ${sessionId}
      returning org_id, id, updated_at, changed_at
    ), ${touchAgents(orgId, sql`changed`)}
    select from changed`)

/** Releases what the turns behind a turn that pauses have reserved. The session must be locked, so none of them starts. */
export const emptyReservationsOfQueue = (db: Db, orgId: string, sessionId: string) =>
  db.execute(sql`
    with queued as (
      select id from turns where org_id = ${orgId} and session_id = ${sessionId} and status = 'queued'
    ), ${emptyReservation(orgId, sql`queued`)}
    select from queued`)
