import { chargesOfTurn } from '../../billing/billing.ts'
import type { TurnCharge } from '../../billing/billing.ts'
import { keysAsked, sql } from '../../platform/database/database.ts'
import type { Db, LookUp } from '../../platform/database/database.ts'
import { isNear } from '../message-queries.ts'
import type { MessageRow } from '../message-queries.ts'
import type { MessagePart } from '../schemas.ts'
import type { TurnRow } from './queries.ts'
import type { CallRow, StepRow } from './call-queries.ts'

/** A turn with all of its records, as of one moment. */
export interface TurnRecords {
  turn: TurnRow
  /** In order of step and attempt. */
  steps: StepRow[]
  /** In order of step and place. */
  calls: CallRow[]
  charges: TurnCharge[]
  /** The reply; null when there is none or the turn has not ended. */
  reply: MessageRow | null
}

const time = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const turnRecord = `json_build_object(
  'id', t.id, 'sessionId', t.session_id, 'number', t.number, 'agentId', t.agent_id, 'author', t.author,
  'userId', t.user_id, 'scopes', t.scopes, 'apiKeyId', t.api_key_id, 'model', t.model, 'pricing', t.pricing,
  'maxSteps', t.max_steps, 'maxCostCents', t.max_cost_cents, 'feeBps', t.fee_bps,
  'feeWaiverCents', t.fee_waiver_cents::text, 'providerKeyId', t.provider_key_id, 'instructions', t.instructions,
  'maxOutputTokens', t.max_output_tokens, 'clientTools', t.client_tools, 'responseFormat', t.response_format, 'stopSequences', t.stop_sequences, 'chainId', coalesce(t.chain_id, t.id), 'hop', t.hop, 'skipped', t.skipped::text,
  'leftOutExchanges', t.left_out_exchanges, 'untrustedFrom', t.untrusted_from, 'status', t.status,
  'stopReason', t.stop_reason, 'error', t.error, 'replyId', t.reply_id, 'attempts', t.attempts,
  'restedAttempts', t.rested_attempts, 'workerDeaths', t.worker_deaths, 'workedMs', t.worked_ms::text,
  'createdAt', ${time('t.created_at')}, 'startedAt', ${time('t.started_at')},
  'claimedAt', ${time('t.claimed_at')}, 'endedAt', ${time('t.ended_at')})`

const stepRecord = `json_build_object('step', r.step, 'attempt', r.attempt, 'status', r.status,
  'finishReason', r.finish_reason, 'parts', r.parts, 'inputTokens', r.input_tokens, 'outputTokens', r.output_tokens,
  'cacheReadTokens', r.cache_read_tokens, 'cacheWriteTokens', r.cache_write_tokens, 'isEstimate', r.is_estimate,
  'costMicrocents', r.cost_microcents::text, 'error', r.error, 'fallback', r.fallback, 'startedAt', ${time('r.started_at')},
  'endedAt', ${time('r.ended_at')})`

const callRecord = `json_build_object('step', c.step, 'place', c.place, 'callId', c.call_id, 'toolName', c.tool_name,
  'input', c.input, 'status', c.status, 'output', c.output, 'attempts', c.attempts, 'approvalId', c.approval_id,
  'approved', c.approved, 'question', c.question, 'startedAt', ${time('c.started_at')}, 'endedAt', ${time('c.ended_at')})`

const replyRecord = `json_build_object('id', m.id, 'sessionId', m.session_id, 'turnId', m.turn_id,
  'turnNumber', m.turn_number, 'position', m.position, 'role', m.role, 'author', m.author, 'parts', m.parts,
  'createdAt', ${time('m.created_at')})`

// With a limit in the lateral part, the turn is always found by its key. A plain join lets the planner, which expects ten
// keys and has few statistics on a new table, read all turns of all sessions.
const lookUpTurn = (ofOrg: string, org = 't.org_id'): string => `
  select asked.place, found.record
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as asked (org_id, id, workspace_id, place)
    cross join lateral (
      select json_build_object('turn', ${turnRecord},
        'steps', (
          select coalesce(json_agg(${stepRecord} order by r.step, r.attempt), '[]') from turn_steps r
          where r.org_id = ${org} and r.turn_id = t.id),
        'calls', (
          select coalesce(json_agg(${callRecord} order by c.step, c.place), '[]') from tool_calls c
          where c.org_id = ${org} and c.turn_id = t.id),
        'charges', (
          select coalesce(json_agg(json_build_object('step', charge.step, 'attempt', charge.attempt,
            'platformFeeMicrocents', charge.platform_fee_microcents::text,
            'chargedMicrocents', charge.charged_microcents::text)), '[]')
          from (${chargesOfTurn(org, 't.id')}) as charge),
        'reply', (
          select ${replyRecord} from messages m
          where m.org_id = ${org} and m.id = t.reply_id and t.ended_at is not null))::text as record
      from turns t join sessions s on s.org_id = t.org_id and s.id = t.session_id
      where t.org_id = asked.org_id ${ofOrg} and t.id = asked.id
        and s.workspace_id = asked.workspace_id and s.deleted_at is null
      limit 1
    ) found
  where ${keysAsked}`

const readTurn: LookUp = { text: lookUpTurn(''), ofOrg: lookUpTurn('and t.org_id = $4', '$4') }

// Columns of type bigint are text in the JSON, because a number of JavaScript has 53 bits.
const bigints = new Set(['feeWaiverCents', 'workedMs', 'costMicrocents', 'platformFeeMicrocents', 'chargedMicrocents'])

const withBigints = <Row extends object>(row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      bigints.has(name) ? BigInt(value as string) : (value as unknown),
    ]),
  ) as Row

/** In one statement, so that an ended turn is never shown with a running step. */
export const findTurnRecords = async (
  db: Db,
  orgId: string,
  workspaceId: string,
  turnId: string,
): Promise<TurnRecords | undefined> => {
  const found = await db.lookUp(readTurn, [orgId, turnId, workspaceId])
  if (found === undefined) return undefined
  const { turn, steps, calls, charges, reply } = JSON.parse(found) as TurnRecords
  return { turn: withBigints(turn), steps: steps.map(withBigints), calls, charges: charges.map(withBigints), reply }
}

/** The message that began a turn; undefined when it was deleted with its month. */
export const findTurnMessage = (
  db: Db,
  orgId: string,
  { id, sessionId, number }: { id: string; sessionId: string; number: number },
) =>
  db.row<{ id: string; parts: MessagePart[] }>(sql`
    select m.id, m.parts from messages m
    where m.org_id = ${orgId} and m.session_id = ${sessionId} and m.turn_number = ${number} and m.role = 'user'
      and ${isNear(sql`m.id`, id)}
    order by m.position desc
    limit 1`)
