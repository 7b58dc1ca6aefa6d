import { recordUsage, releaseHold, restHold, shrinkHold } from '../../billing/billing.ts'
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { Question } from './questions.ts'
import type { Author, MessagePart } from '../schemas.ts'
import type { CallStatus, EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'

/** Who writes: the worker with the lease, or whoever holds the turn's row in a transaction. */
export interface Held {
  orgId: string
  turnId: string
  token: string
}

/** A call of the model that ended, one way or another. */
export interface EndedStep {
  step: number
  attempt: number
  status: 'completed' | 'failed' | 'cancelled'
  finishReason: string | null
  parts: MessagePart[]
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  isEstimate: boolean
  costMicrocents: bigint
  error: ErrorDetail | null
}

/** A call of the model that is about to be made, with what it will cost if its end is never heard of. */
export interface BegunStep {
  step: number
  attempt: number
  inputTokens: number
  costMicrocents: bigint
}

export interface NewCall {
  step: number
  place: number
  callId: string
  toolName: string
  input: unknown
  status: CallStatus
  /** Of a call that a person has to approve before it runs. */
  approvalId: string | null
  question: Question | null
  output?: unknown
}

export interface CallChange {
  step: number
  place: number
  status: CallStatus
  output?: unknown
  approvalId?: string
  question?: Question | null
}

/** What one transaction of a turn writes. All of it or, when the lease is gone, nothing. */
export interface Checkpoint {
  ended?: EndedStep | undefined
  begun?: BegunStep | undefined
  newCalls?: NewCall[]
  callChanges?: CallChange[]
  /** Where the first untrusted content came from that the turn has read. Once it is set it stays. */
  untrustedFrom?: string | null
  /** Frames of the stream, one a line; `lastSeq` is the number of the last. */
  frames?: { lastSeq: number; lines: string } | undefined
}

const billed = sql`turn_steps.step, turn_steps.attempt, turn_steps.input_tokens, turn_steps.output_tokens,
  turn_steps.cache_read_tokens, turn_steps.cache_write_tokens, turn_steps.is_estimate, turn_steps.cost_microcents`

const endStep = (step: EndedStep): Sql => sql`ended as (
  update turn_steps
  set status = ${step.status}, finish_reason = ${step.finishReason}, parts = ${JSON.stringify(step.parts)},
    input_tokens = ${step.inputTokens}, output_tokens = ${step.outputTokens},
    cache_read_tokens = ${step.cacheReadTokens}, cache_write_tokens = ${step.cacheWriteTokens},
    is_estimate = ${step.isEstimate}, cost_microcents = ${step.costMicrocents},
    error = ${step.error && JSON.stringify(step.error)}, ended_at = now()
  from held where turn_steps.org_id = held.org_id and turn_steps.turn_id = held.id and step = ${step.step} and attempt = ${step.attempt}
  returning ${billed})`

// A call that still runs when the next one begins, or the turn ends without it, was cut off by a crash.
const loseStep = sql`lost as (
  update turn_steps set status = 'lost', ended_at = now()
  from held where turn_steps.org_id = held.org_id and turn_steps.turn_id = held.id and status = 'running'
  returning ${billed})`

const beginStep = (step: BegunStep): Sql => sql`begun as (
  insert into turn_steps (org_id, turn_id, step, attempt, input_tokens, cost_microcents)
  select org_id, id, ${step.step}::integer, ${step.attempt}::integer, ${step.inputTokens}::integer,
    ${step.costMicrocents}::bigint from held)`

// A recordset has no null of JSON, only that of SQL; and what JSON has no words for, 1e999, is written as null.
const insertCalls = (calls: NewCall[]): Sql => sql`called as (
  insert into tool_calls (org_id, turn_id, step, place, call_id, tool_name, input, status, output, approval_id, question, attempts,
    started_at, ended_at)
  select org_id, id, c.step, c.place, c."callId", c."toolName", coalesce(c.input, 'null'), c.status, c.output, c."approvalId", c.question,
    case when c.status = 'started' then 1 else 0 end, case when c.status = 'started' then now() end,
    case when c.status in ('failed', 'cancelled') then now() end
  from held, jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as c (step integer, place integer, "callId" text,
    "toolName" text, input jsonb, status text, output jsonb, "approvalId" uuid, question jsonb))`

const changeCalls = (changes: CallChange[]): Sql => sql`changed as (
  update tool_calls
  set status = c.status, output = coalesce(c.output, tool_calls.output),
    approval_id = coalesce(c."approvalId", tool_calls.approval_id),
    question = coalesce(c.question, tool_calls.question),
    approved = case when c."approvalId" is null then tool_calls.approved end,
    attempts = tool_calls.attempts + case when c.status = 'started' then 1 else 0 end,
    started_at = case when c.status = 'started' then now() else tool_calls.started_at end,
    ended_at = case when c.status in ('done', 'failed', 'denied', 'cancelled') then now() end
  from held, jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c (step integer, place integer, status text,
    output jsonb, "approvalId" uuid, question jsonb)
  where tool_calls.org_id = held.org_id and tool_calls.turn_id = held.id and tool_calls.step = c.step and tool_calls.place = c.place)`

const say = ({ lastSeq, lines }: { lastSeq: number; lines: string }): Sql => sql`said as (
  insert into turn_events (org_id, turn_id, seq, frames)
  select org_id, id, ${lastSeq}::integer, ${lines} from held)`

/** Each call of the model is charged in the statement that writes down how it ended. */
const charge = (ended: Sql[]): Sql =>
  recordUsage(sql`
    select held.org_id, held.id as turn_id, call.step, call.attempt, t.agent_id, s.project_id, t.model,
      case s.relationship when 'user' then 'chat' else s.relationship end as operation, call.input_tokens,
      call.output_tokens, call.cache_read_tokens, call.cache_write_tokens, call.is_estimate,
      t.provider_key_id is not null as is_byok, call.cost_microcents as provider_cost_microcents, t.fee_bps,
      t.fee_waiver_cents
    from held
      join turns t on t.org_id = held.org_id and t.id = held.id
      join sessions s on s.org_id = t.org_id and s.id = t.session_id
      cross join (${join(ended, ' union all ')}) as call`)

const endedCall = sql`select * from ended`
const lostCalls = sql`select * from lost`

/** What becomes of the turn, and with it of the money that is held for it. */
type Course = 'goes on' | 'rests' | 'ends'

const pieces = (checkpoint: Checkpoint, course: Course, endsLost: boolean): Sql[] => {
  const endings = [...(checkpoint.ended ? [endedCall] : []), ...(endsLost ? [lostCalls] : [])]
  return [
    ...(checkpoint.ended ? [endStep(checkpoint.ended)] : []),
    ...(endsLost ? [loseStep] : []),
    ...(endings.length > 0 ? [charge(endings)] : []),
    ...(endings.length > 0 && course === 'goes on' ? [shrinkHold] : []),
    ...(course === 'rests' ? [restHold(sql`held`)] : []),
    ...(course === 'ends' ? [releaseHold(sql`held`)] : []),
    ...writings(checkpoint),
  ]
}

const writings = ({ begun, newCalls = [], callChanges = [], frames }: Checkpoint): Sql[] => [
  ...(begun ? [beginStep(begun)] : []),
  ...(newCalls.length > 0 ? [insertCalls(newCalls)] : []),
  ...(callChanges.length > 0 ? [changeCalls(callChanges)] : []),
  ...(frames ? [say(frames)] : []),
]

const withHeld = async (db: Db, held: Sql, parts: Sql[], before: Sql = empty): Promise<boolean> => {
  const row = await db.row<{ held: number }>(sql`
    with ${before} held as (${held})${parts.length > 0 ? sql`, ${join(parts, ', ')}` : empty}
    select count(*)::int as held from held`)
  return row?.held === 1
}

/** Remembers how far the stream has come, past the day after which its frames are removed. */
const noteSeq = (frames: Checkpoint['frames']): Sql => (frames ? sql`, last_seq = ${frames.lastSeq}` : empty)

const noteUntrusted = ({ untrustedFrom }: Checkpoint): Sql =>
  untrustedFrom ? sql`, untrusted_from = coalesce(untrusted_from, ${untrustedFrom})` : empty

/** Writes a checkpoint under the lease, and renews it. False, and nothing is written, when the lease is gone. */
export const writeCheckpoint = (db: Db, { orgId, turnId, token }: Held, leaseMs: number, checkpoint: Checkpoint) =>
  withHeld(
    db,
    sql`update turns set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'${noteSeq(checkpoint.frames)}${noteUntrusted(checkpoint)}
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} returning org_id, id`,
    pieces(checkpoint, 'goes on', checkpoint.begun !== undefined),
  )

/** Holds the turn against its end until the transaction is over. False when the lease is gone. */
export const holdTurn = (db: Db, { orgId, turnId, token }: Held): Promise<boolean> =>
  withHeld(
    db,
    sql`select org_id, id from turns
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} for share`,
    [],
  )

/** Adds to the stream only. The row is held so that nobody ends the turn in between; it is not written. */
export const appendFrames = (
  db: Db,
  { orgId, turnId, token }: Held,
  frames: { lastSeq: number; lines: string },
): Promise<boolean> =>
  withHeld(
    db,
    sql`select org_id, id from turns
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} for share`,
    [say(frames)],
  )

export interface Ending {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  checkpoint: Checkpoint
  /** The reply; nothing is said when it is empty. */
  parts: MessagePart[]
}

export interface EndingTurn {
  id: string
  sessionId: string
  number: number
  replyId: string
  author: Author
}

const sayReply = (turn: EndingTurn, parts: MessagePart[]): Sql => sql`replied as (
  insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts)
  select held.org_id, session.id, session.message_count + 1, ${turn.replyId}::uuid, held.id, ${turn.number}::integer,
    'assistant', ${JSON.stringify(turn.author)}::jsonb, ${JSON.stringify(parts)}::jsonb from held, session)`

/**
 * Ends a turn for good, with its session locked. With a token only under that lease; without, the turn must be locked
 * and unfinished.
 */
export const endTurn = (db: Db, orgId: string, turn: EndingTurn, token: string | undefined, ending: Ending) =>
  withHeld(
    db,
    sql`update turns
      set status = ${ending.status}, stop_reason = ${ending.stopReason},
        error = ${ending.error && JSON.stringify(ending.error)}, ended_at = now(), lease_token = null, lease_until = null
      from session
      where turns.org_id = ${orgId} and turns.id = ${turn.id} and ended_at is null
        ${token === undefined ? empty : sql`and lease_token = ${token}`}
      returning turns.org_id, turns.id`,
    [
      ...pieces(ending.checkpoint, 'ends', ending.checkpoint.ended === undefined),
      ...(ending.parts.length > 0 ? [sayReply(turn, ending.parts)] : []),
    ],
    sql`session as (
      select id, message_count from sessions
      where org_id = ${orgId} and id = ${turn.sessionId} and deleted_at is null
      for no key update),`,
  )

/** Of whoever gives a turn back while it has it. */
const workedUntilNow = sql`worked_ms = worked_ms
  + coalesce(extract(epoch from clock_timestamp() - claimed_at) * 1000, 0)::bigint`

/** Lets a turn wait for a person. */
export const pauseTurn = (db: Db, { orgId, turnId, token }: Held, checkpoint: Checkpoint) =>
  withHeld(
    db,
    sql`update turns
      set status = 'requires_action', rested_attempts = attempts, worker_deaths = 0, ${workedUntilNow},
        lease_token = null, lease_until = null${noteSeq(checkpoint.frames)}${noteUntrusted(checkpoint)}
      where org_id = ${orgId} and id = ${turnId} and lease_token = ${token} returning org_id, id`,
    pieces(checkpoint, 'rests', false),
  )

/** Gives a turn back that this process cannot go on with. */
export const releaseTurn = (db: Db, { orgId, turnId, token }: Held) =>
  db.execute(sql`
    update turns set lease_token = null, lease_until = null, ${workedUntilNow}
    where org_id = ${orgId} and id = ${turnId} and lease_token = ${token}`)

/** Goes on with a turn that waited for a person: to a worker, or to the next decision. It must be locked. */
export const resumeTurn = (
  db: Db,
  orgId: string,
  turnId: string,
  frames: { lastSeq: number; lines: string } | undefined,
  isReady: boolean,
) =>
  withHeld(
    db,
    sql`update turns set status = ${isReady ? 'queued' : 'requires_action'}${noteSeq(frames)}
      where org_id = ${orgId} and id = ${turnId} and status = 'requires_action' returning org_id, id`,
    frames ? [say(frames)] : [],
  )
