// The model calls and tool calls of turns.
import type { ModelPricing } from '../../config/models.ts'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Question } from '../runtime/steps/questions.ts'
import type { ErrorDetail } from './queries.ts'
import type { StepPart } from './step-parts.ts'

/** The model of a call that was not made to the turn's own one. */
export interface StepFallback {
  model: string
  pricing: ModelPricing
  /** The org's own key at the provider; null for the operator's. */
  providerKeyId: string | null
}

export interface StepRow {
  step: number
  attempt: number
  status: 'running' | 'completed' | 'failed' | 'lost' | 'cancelled'
  finishReason: string | null
  parts: StepPart[]
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  isEstimate: boolean
  costMicrocents: bigint
  error: ErrorDetail | null
  /** Null for the turn's own model. */
  fallback: StepFallback | null
  startedAt: string
  endedAt: string | null
}

export const listSteps = (db: Db, orgId: string, turnId: string) =>
  db.rows<StepRow>(sql`
    select step, attempt, status, finish_reason, parts, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, is_estimate, cost_microcents, error, fallback, started_at, ended_at
    from turn_steps where org_id = ${orgId} and turn_id = ${turnId}
    order by step, attempt`)

export type CallStatus = 'waiting' | 'started' | 'done' | 'failed' | 'unknown' | 'denied' | 'cancelled'

export interface CallRow {
  step: number
  place: number
  callId: string
  toolName: string
  input: unknown
  status: CallStatus
  output: unknown
  attempts: number
  approvalId: string | null
  approved: boolean | null
  /** The question to the person; null without one, and for calls that are older than this column. */
  question: Question | null
  /** The connection that the call was planned for; null without one, and for calls that are older than this column. */
  connectionId: string | null
  startedAt: string | null
  endedAt: string | null
}

export const listCalls = (db: Db, orgId: string, turnId: string) =>
  db.rows<CallRow>(sql`
    select step, place, call_id, tool_name, input, status, output, attempts, approval_id, approved, question, connection_id,
      started_at, ended_at
    from tool_calls where org_id = ${orgId} and turn_id = ${turnId}
    order by step, place`)

/** Stores outputs of the caller's tools. */
export const endCallerCalls = (
  db: Db,
  orgId: string,
  turnId: string,
  calls: readonly Pick<CallRow, 'step' | 'place' | 'status' | 'output'>[],
) =>
  db.execute(sql`
    update tool_calls set status = c.status, output = c.output, ended_at = now()
    from jsonb_to_recordset(${JSON.stringify(calls.map(({ step, place, status, output }) => ({ step, place, status, output })))}::jsonb)
      as c (step integer, place integer, status text, output jsonb)
    where org_id = ${orgId} and turn_id = ${turnId} and tool_calls.step = c.step and tool_calls.place = c.place`)

/** Stores a decision. The first one counts: a call that was already decided does not change. */
export const decideCall = (
  db: Db,
  orgId: string,
  turnId: string,
  { approvalId, approved, question }: { approvalId: string; approved: boolean; question: Question | null },
) =>
  db.row<{ callId: string; step: number; place: number }>(sql`
    update tool_calls
    set approved = ${approved}, question = coalesce(${question === null ? null : JSON.stringify(question)}::jsonb, question),
      status = ${approved ? 'waiting' : 'denied'},
      ended_at = ${approved ? sql`null` : sql`now()`}
    where org_id = ${orgId} and turn_id = ${turnId} and approval_id = ${approvalId} and approved is null
    returning call_id, step, place`)
