import { recordUsage, releaseReservation, emptyReservation, shrinkReservation } from '../../billing/billing.ts'
import { empty, join, sql } from '../../platform/database/database.ts'
import type { Sql } from '../../platform/database/database.ts'
import { atStart } from '../message-queries.ts'
import type { StreamLines } from '../streams/stream-log.ts'
import type { CallStatus, StepRow } from '../turns/call-queries.ts'
import type { Question } from './steps/questions.ts'

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
  connectionId: string | null
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
  insert into tool_calls (org_id, turn_id, step, place, call_id, tool_name, input, status, output, approval_id, question, connection_id,
    attempts, started_at, ended_at)
  select org_id, id, c.step, c.place, c."callId", c."toolName", coalesce(c.input, 'null'), c.status, c.output, c."approvalId", c.question, c."connectionId",
    case when c.status = 'started' then 1 else 0 end, case when c.status = 'started' then now() end,
    case when c.status in ('failed', 'cancelled') then now() end
  from leased, jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as c (step integer, place integer, "callId" text,
    "toolName" text, input jsonb, status text, output jsonb, "approvalId" uuid, question jsonb, "connectionId" uuid))`

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

export const insertFrames = ({ lastSeq, lines }: StreamLines): Sql => sql`streamed as (
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

/** What a checkpoint writes, as parts of a statement whose part `leased` returns the turn. */
export const checkpointParts = (checkpoint: Checkpoint, { turn, next, losesRunning }: CheckpointPlan): Sql[] => {
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

/** Frames are deleted after a day, so the turn's row keeps the number of the last one. */
export const setLastSeq = (frames: Checkpoint['frames']): Sql => (frames ? sql`, last_seq = ${frames.lastSeq}` : empty)

export const setUntrusted = ({ untrustedFrom }: Pick<Checkpoint, 'untrustedFrom'>): Sql =>
  untrustedFrom ? sql`, untrusted_from = coalesce(untrusted_from, ${untrustedFrom})` : empty
