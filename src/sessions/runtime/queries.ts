import { recordUsage, releaseReservation, emptyReservation, shrinkReservation } from '../../billing/billing.ts'
import type { EventChain } from '../../outbox/chain.ts'
import { insertOutbox } from '../../outbox/queries.ts'
import type { OutboxRow } from '../../outbox/queries.ts'
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { Question } from './steps/questions.ts'
import { touchAgents } from '../queries.ts'
import { atStart } from '../message-queries.ts'
import type { Author, MessagePart } from '../schemas.ts'
import { messageWords } from '../search/words.ts'
import type { StreamLines } from '../streams/stream-log.ts'
import type { CallerTools } from '../turns/caller-tools/schemas.ts'
import type { EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'
import type { CallStatus, StepRow } from '../turns/call-queries.ts'

/** The exclusive claim of a worker on a turn. Writes that name a token which is no longer the turn's change nothing. */
export interface TurnLease {
  orgId: string
  turnId: string
  token: string
}

/** A model call that ended. */
export interface EndedStep extends Omit<StepRow, 'status' | 'startedAt' | 'endedAt'> {
  status: 'completed' | 'failed' | 'cancelled'
}

/** A model call that is about to be made. When the worker dies during the call, the org is charged this cost. */
export type BegunStep = Pick<StepRow, 'step' | 'attempt' | 'inputTokens' | 'costMicrocents' | 'fallback'>

/** A tool call that the model requested. */
export interface NewCall {
  step: number
  place: number
  callId: string
  toolName: string
  input: unknown
  status: CallStatus
  /** Set when a person must approve the call before it runs. */
  approvalId: string | null
  question: Question | null
  output?: unknown
}

export interface CallChange {
  step: number
  place: number
  status: CallStatus
  output?: unknown
  approvalId?: string | null
  question?: Question | null
}

/** The writes of one transaction of a turn. When the lease is lost, none of them is made. */
export interface Checkpoint {
  ended?: EndedStep | undefined
  begun?: BegunStep | undefined
  newCalls?: NewCall[]
  callChanges?: CallChange[]
  /** Source of the first untrusted content that the turn has read. A later value does not replace an earlier one. */
  untrustedFrom?: string | null | undefined
  frames?: StreamLines | undefined
}

const billed = sql`turn_steps.step, turn_steps.attempt, turn_steps.input_tokens, turn_steps.output_tokens,
  turn_steps.cache_read_tokens, turn_steps.cache_write_tokens, turn_steps.is_estimate, turn_steps.cost_microcents,
  turn_steps.fallback`

type TurnKey = Pick<TurnLease, 'orgId' | 'turnId'>

// The ids that `leased` returns are known too late: to leave out the partitions of other months, and to find the shard of
// the org. Without it, Citus changes all shards, and locks them against the turns of all other orgs.
const ofTurn = (table: Sql, { orgId, turnId }: TurnKey): Sql =>
  sql`${table}.org_id = ${orgId} and ${table}.turn_id = leased.id and ${table}.turn_id = ${atStart(turnId)}`

const endStep = (turn: TurnKey, step: EndedStep): Sql => sql`ended as (
  update turn_steps
  set status = ${step.status}, finish_reason = ${step.finishReason}, parts = ${JSON.stringify(step.parts)},
    input_tokens = ${step.inputTokens}, output_tokens = ${step.outputTokens},
    cache_read_tokens = ${step.cacheReadTokens}, cache_write_tokens = ${step.cacheWriteTokens},
    is_estimate = ${step.isEstimate}, cost_microcents = ${step.costMicrocents},
    error = ${step.error && JSON.stringify(step.error)}, ended_at = now()
  from leased where ${ofTurn(sql`turn_steps`, turn)} and step = ${step.step} and attempt = ${step.attempt}
  returning ${billed})`

// A model call that is still marked as running when the next one begins or the turn ends was interrupted by a crash.
const loseRunningSteps = (turn: TurnKey): Sql => sql`lost as (
  update turn_steps set status = 'lost', ended_at = now()
  from leased where ${ofTurn(sql`turn_steps`, turn)} and status = 'running'
  returning ${billed})`

const beginStep = (step: BegunStep): Sql => sql`begun as (
  insert into turn_steps (org_id, turn_id, step, attempt, input_tokens, cost_microcents, fallback)
  select org_id, id, ${step.step}::integer, ${step.attempt}::integer, ${step.inputTokens}::integer,
    ${step.costMicrocents}::bigint, ${step.fallback && JSON.stringify(step.fallback)}::jsonb from leased)`

// jsonb_to_recordset turns a JSON null into a SQL null, and JSON.stringify writes an infinite number as null.
const insertCalls = (calls: NewCall[]): Sql => sql`called as (
  insert into tool_calls (org_id, turn_id, step, place, call_id, tool_name, input, status, output, approval_id, question, attempts,
    started_at, ended_at)
  select org_id, id, c.step, c.place, c."callId", c."toolName", coalesce(c.input, 'null'), c.status, c.output, c."approvalId", c.question,
    case when c.status = 'started' then 1 else 0 end, case when c.status = 'started' then now() end,
    case when c.status in ('failed', 'cancelled') then now() end
  from leased, jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as c (step integer, place integer, "callId" text,
    "toolName" text, input jsonb, status text, output jsonb, "approvalId" uuid, question jsonb))`

/**
 * `case when <condition> then now() else <otherwise> end`, where -infinity stands for null. A distributed schema rejects
 * now() within CASE and COALESCE in updates; LEAST may contain it.
 */
const nowIf = (condition: Sql, otherwise = sql`'-infinity'`): Sql => sql`
  nullif(least(now(), case when ${condition} then 'infinity'::timestamptz else ${otherwise} end), '-infinity')`

const changeCalls = (turn: TurnKey, changes: CallChange[]): Sql => sql`changed as (
  update tool_calls
  set status = c.status, output = coalesce(c.output, tool_calls.output),
    approval_id = coalesce(c."approvalId", tool_calls.approval_id),
    question = coalesce(c.question, tool_calls.question),
    approved = case when c."approvalId" is null then tool_calls.approved end,
    attempts = tool_calls.attempts + case when c.status = 'started' then 1 else 0 end,
    started_at = ${nowIf(sql`c.status = 'started'`, sql`coalesce(tool_calls.started_at, '-infinity')`)},
    ended_at = ${nowIf(sql`c.status in ('done', 'failed', 'denied', 'cancelled')`)}
  from leased, jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c (step integer, place integer, status text,
    output jsonb, "approvalId" uuid, question jsonb)
  where ${ofTurn(sql`tool_calls`, turn)} and tool_calls.step = c.step and tool_calls.place = c.place)`

const insertFrames = ({ lastSeq, lines }: StreamLines): Sql => sql`streamed as (
  insert into turn_events (org_id, turn_id, seq, frames)
  select org_id, id, ${lastSeq}::integer, ${lines} from leased)`

/** Charges model calls in the statement that stores their end, so that a crash cannot separate the two. */
const charge = (ended: Sql[], { orgId, turnId }: TurnKey): Sql =>
  recordUsage(
    sql`
    select leased.org_id, leased.id as turn_id, call.step, call.attempt, t.agent_id, s.project_id,
      coalesce(call.fallback->>'model', t.model) as model,
      case when s.relationship = 'user' then 'chat' else s.relationship end as operation, call.input_tokens,
      call.output_tokens, call.cache_read_tokens, call.cache_write_tokens, call.is_estimate,
      case when call.fallback is null then t.provider_key_id is not null
        else call.fallback->>'providerKeyId' is not null end as is_byok, call.cost_microcents as provider_cost_microcents, t.fee_bps,
      t.fee_waiver_cents
    from leased
      join turns t on t.org_id = ${orgId} and t.id = leased.id
      join sessions s on s.org_id = ${orgId} and s.id = t.session_id
      cross join (${join(ended, ' union all ')}) as call`,
    { orgId, turnId: atStart(turnId) },
  )

const endedCall = sql`select * from ended`
const lostCalls = sql`select * from lost`

/** The state of the turn after a checkpoint. It determines whether the turn's reservation is kept or released. */
type NextState = 'running' | 'paused' | 'ended'

interface CheckpointPlan {
  turn: TurnKey
  next: NextState
  /** Whether model calls that are still marked as running were interrupted by a crash. */
  losesRunning: boolean
}

const checkpointParts = (checkpoint: Checkpoint, { turn, next, losesRunning }: CheckpointPlan): Sql[] => {
  const endings = [...(checkpoint.ended ? [endedCall] : []), ...(losesRunning ? [lostCalls] : [])]
  return [
    ...(checkpoint.ended ? [endStep(turn, checkpoint.ended)] : []),
    ...(losesRunning ? [loseRunningSteps(turn)] : []),
    ...(endings.length > 0 ? [charge(endings, turn)] : []),
    ...(endings.length > 0 && next === 'running' ? [shrinkReservation(turn.orgId)] : []),
    ...(next === 'paused' ? [emptyReservation(turn.orgId, sql`leased`)] : []),
    ...(next === 'ended' ? [releaseReservation(turn.orgId, sql`leased`)] : []),
    ...rowParts(turn, checkpoint),
  ]
}

const rowParts = (turn: TurnKey, { begun, newCalls = [], callChanges = [], frames }: Checkpoint): Sql[] => [
  ...(begun ? [beginStep(begun)] : []),
  ...(newCalls.length > 0 ? [insertCalls(newCalls)] : []),
  ...(callChanges.length > 0 ? [changeCalls(turn, callChanges)] : []),
  ...(frames ? [insertFrames(frames)] : []),
]

/** Runs `parts` for the turn that the statement `leased` returns. Returns false and writes nothing when it returns none. */
const underLease = async (db: Db, leased: Sql, parts: Sql[], before: Sql = empty): Promise<boolean> => {
  const row = await db.row<{ leased: number }>(sql`
    with ${before} leased as (${leased})${parts.length > 0 ? sql`, ${join(parts, ', ')}` : empty}
    select count(*)::int as leased from leased`)
  return row?.leased === 1
}

/** Frames are deleted after a day, so the turn's row keeps the number of the last one. */
const setLastSeq = (frames: Checkpoint['frames']): Sql => (frames ? sql`, last_seq = ${frames.lastSeq}` : empty)

const setUntrusted = ({ untrustedFrom }: Pick<Checkpoint, 'untrustedFrom'>): Sql =>
  untrustedFrom ? sql`, untrusted_from = coalesce(untrusted_from, ${untrustedFrom})` : empty

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

const insertReply = (orgId: string, turn: EndingTurn, parts: MessagePart[]): Sql => sql`replied as (
  insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts,
    words)
  select leased.org_id, session.id, session.message_count + 1, ${turn.replyId}::uuid, leased.id, ${turn.number}::integer,
    'assistant', ${JSON.stringify(turn.author)}::jsonb, ${JSON.stringify(parts)}::jsonb,
    ${messageWords(orgId, parts)}::tsvector from leased, session)`

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
