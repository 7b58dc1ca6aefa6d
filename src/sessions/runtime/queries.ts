import type { EventChain } from '../../outbox/chain.ts'
import { insertOutbox } from '../../outbox/queries.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { touchAgents } from '../queries.ts'
import type { Author, MessagePart } from '../schemas.ts'
import { messageWords } from '../search/words.ts'
import type { StreamLines } from '../streams/stream-log.ts'
import type { CallerTools } from '../turns/caller-tools/schemas.ts'
import type { EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'
import { checkpointParts, insertFrames, setLastSeq, setUntrusted } from './checkpoint-queries.ts'
import type { Checkpoint, TurnLease } from './checkpoint-queries.ts'

/** Runs `parts` for the turn that the statement `leased` returns. Returns false and writes nothing when it returns none. */
const underLease = async (db: Db, leased: Sql, parts: Sql[], before: Sql = empty): Promise<boolean> => {
  const row = await db.row<{ leased: number }>(sql`
    with ${before} leased as (${leased})${parts.length > 0 ? sql`, ${join(parts, ', ')}` : empty}
    select count(*)::int as leased from leased`)
  return row?.leased === 1
}

/**
 * Writes a checkpoint and renews the lease. Returns false and writes nothing when the lease is lost. `isContinued` says
 * that another worker may have left a running model call, which is lost when the next one begins.
 */
export const writeCheckpoint = (
  db: Db,
  { orgId, turnId, token }: TurnLease,
  { leaseMs, isContinued }: { leaseMs: number; isContinued: boolean },
  checkpoint: Checkpoint,
) =>
  underLease(
    db,
    sql`update turns set lease_until = statement_timestamp() + ${leaseMs} * interval '1 millisecond'${setLastSeq(checkpoint.frames)}${setUntrusted(checkpoint)}
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} returning org_id, id`,
    checkpointParts(checkpoint, {
      turn: { orgId, turnId },
      next: 'running',
      losesRunning: isContinued && checkpoint.begun !== undefined,
    }),
  )

/** Locks the turn, so that it cannot end before the transaction does. False when the lease is lost. */
export const lockLeasedTurn = (db: Db, { orgId, turnId, token }: TurnLease): Promise<boolean> =>
  underLease(
    db,
    sql`select org_id, id from turns
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} for share`,
    [],
  )

/** Appends to the stream. Locks the turn's row, so that the turn cannot end in the meantime, but does not change it. */
export const appendFrames = (db: Db, { orgId, turnId, token }: TurnLease, frames: StreamLines): Promise<boolean> =>
  underLease(
    db,
    sql`select org_id, id from turns
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} for share`,
    [insertFrames(frames)],
  )

/** The turn needs no worker any more. */
const deactivateTurn = (orgId: string): Sql => sql`deactivated as (
  delete from active_turns a using leased where a.org_id = ${orgId} and a.turn_id = leased.id
    and a.session_id = leased.session_id)`

/** How a turn ends, with its last checkpoint. */
export interface Ending {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  checkpoint: Checkpoint
  /** The reply. No message is stored when it is empty. */
  parts: MessagePart[]
}

export interface EndingTurn {
  id: string
  sessionId: string
  number: number
  agentId: string
  replyId: string
  author: Author
}

/** Records events unless the lease is lost. */
const recordEvents = (events: readonly OutboxRow[]): Sql => sql`reported as (${insertOutbox(events, sql`from leased`)})`

const insertReply = (orgId: string, turn: EndingTurn, parts: MessagePart[]): Sql => {
  const json = JSON.stringify(parts)
  return sql`replied as (
  insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts,
    parts_bytes, words)
  select leased.org_id, session.id, session.message_count + 1, ${turn.replyId}::uuid, leased.id, ${turn.number}::integer,
    'assistant', ${JSON.stringify(turn.author)}::jsonb, ${json}::jsonb,
    ${Buffer.byteLength(json)}::integer, ${messageWords(orgId, parts)}::tsvector from leased, session)`
}

interface EndingOptions {
  orgId: string
  turn: EndingTurn
  /** The lease under which the turn ends; undefined for a caller that has locked the turn. */
  token: string | undefined
  ending: Ending
  events: readonly OutboxRow[]
}

const setEnded = ({ orgId, turn, token, ending }: EndingOptions): Sql => sql`
  update turns
  set status = ${ending.status}, stop_reason = ${ending.stopReason}, error = ${ending.error && JSON.stringify(ending.error)},
    ended_at = now(), lease_token = null, lease_until = null
  from session
  where turns.org_id = ${orgId} and turns.id = ${turn.id} and ended_at is null
    ${token === undefined ? empty : sql`and lease_token = ${token}`}
  returning turns.org_id, turns.id, turns.session_id`

const endingParts = ({ orgId, turn, ending, events }: EndingOptions): Sql[] => [
  ...checkpointParts(ending.checkpoint, {
    turn: { orgId, turnId: turn.id },
    next: 'ended',
    losesRunning: ending.checkpoint.ended === undefined,
  }),
  deactivateTurn(orgId),
  ...(ending.parts.length > 0 ? [insertReply(orgId, turn, ending.parts)] : []),
  recordEvents(events),
]

/**
 * Ends a turn and locks its session. With a token, ends it only under that lease. Without a token, the caller must have
 * locked the turn and checked that it has not ended.
 */
export const endTurn = (db: Db, options: EndingOptions) =>
  underLease(
    db,
    setEnded(options),
    endingParts(options),
    sql`session as (
      select id, message_count from sessions
      where org_id = ${options.orgId} and id = ${options.turn.sessionId} and deleted_at is null
      for no key update),`,
  )

/**
 * Ends the turn and makes its session idle, in one statement. False, and nothing is written, when a turn waits behind this
 * one, the lease is lost or the session was deleted. The lock returns the newest version of the session's row, whose
 * turn_count includes every committed turn, although the statement would not see the row of a turn that was inserted
 * while it waited for the lock.
 */
export const endLastTurn = (db: Db, options: EndingOptions & { token: string; contextTokens: number }) => {
  const { orgId, turn, ending, contextTokens } = options
  const newMessages = ending.parts.length > 0 ? 1 : 0
  const idle = sql`idle as (
    update sessions
    set active_turn_id = null, status = 'idle', message_count = sessions.message_count + ${newMessages},
      context_tokens = ${contextTokens}, updated_at = now(), revision = revision + 1
      ${newMessages > 0 ? sql`, last_message_at = now()` : empty}
    from leased where sessions.org_id = ${orgId} and sessions.id = leased.session_id
    returning sessions.id, sessions.updated_at, sessions.changed_at)`
  return underLease(
    db,
    setEnded(options),
    [...endingParts(options), idle, touchAgents(orgId, sql`idle`)],
    sql`session as (
      select id, message_count from sessions
      where org_id = ${orgId} and id = ${turn.sessionId} and deleted_at is null and active_turn_id = ${turn.id}
        and turn_count = ${turn.number}
      for no key update),`,
  )
}

/** Adds the time since the claim to the turn's working time. Only for a statement under the worker's lease. */
const workedUntilNow = sql`worked_ms = worked_ms
  + greatest(extract(epoch from statement_timestamp() - claimed_at) * 1000, 0)::bigint`

/**
 * Lets a turn wait for a person's decision. `claimed_at` becomes the time of the pause, which is also that of its event:
 * no worker has the turn, so nothing measures working time from it before the next claim.
 */
export const pauseTurn = (
  db: Db,
  { orgId, turnId, token }: TurnLease,
  checkpoint: Checkpoint,
  events: readonly OutboxRow[],
) =>
  underLease(
    db,
    sql`update turns
      set status = 'requires_action', rested_attempts = attempts, worker_deaths = 0, ${workedUntilNow},
        claimed_at = now(), lease_token = null, lease_until = null${setLastSeq(checkpoint.frames)}${setUntrusted(checkpoint)}
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} returning org_id, id, session_id`,
    [
      ...checkpointParts(checkpoint, { turn: { orgId, turnId }, next: 'paused', losesRunning: false }),
      deactivateTurn(orgId),
      recordEvents(events),
    ],
  )

/** Releases a turn that this process cannot continue, without counting a death of its worker. */
export const releaseTurn = (db: Db, { orgId, turnId, token }: TurnLease) =>
  db.execute(sql`
    update turns set lease_token = null, lease_until = null, ${workedUntilNow}
    where org_id = ${orgId} and id = ${turnId} and lease_token = ${token}`)

/**
 * Stores frames of a turn that waits for a person and, once all decisions are made, makes it available to workers again.
 * The caller must have locked the turn.
 */
export const resumeTurn = (
  db: Db,
  {
    orgId,
    turnId,
    frames,
    isReady,
    chain,
    untrustedFrom,
    callerTools,
    isCallers = false,
  }: {
    orgId: string
    turnId: string
    frames: StreamLines | undefined
    isReady: boolean
    /** The chain that the turn continues from now on; undefined: its own. */
    chain?: EventChain | undefined
    untrustedFrom?: string | null | undefined
    callerTools?: CallerTools | undefined
    /** The caller lets the turn continue, so its time limit begins again. */
    isCallers?: boolean | undefined
  },
) =>
  underLease(
    db,
    sql`update turns set status = ${isReady ? 'queued' : 'requires_action'}${setLastSeq(frames)}
        ${chain ? sql`, event_chain_id = ${chain.id}, event_depth = ${chain.depth}` : empty}${setUntrusted({ untrustedFrom })}
        ${isCallers && isReady ? sql`, worked_ms = 0` : empty}${callerTools ? sql`, client_tools = ${JSON.stringify(callerTools)}` : empty}
      where org_id = ${orgId} and id = ${turnId} and status = 'requires_action' returning org_id, id`,
    frames ? [insertFrames(frames)] : [],
  )
