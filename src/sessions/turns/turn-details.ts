import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { notFound, unauthorized } from '../../platform/http/errors.ts'
import { kindOf, decisionRejection } from '../runtime/steps/questions.ts'
import { keyRevoked } from './authority.ts'
import { awaitsOutput } from './caller-tools/caller-tools.ts'
import { findTurnRecords } from './details-queries.ts'
import type { TurnRecords } from './details-queries.ts'
import type { TurnRow } from './queries.ts'
import type { CallRow, StepRow } from './call-queries.ts'
import { outputText } from './step-parts.ts'

const sum = <T>(rows: T[], of: (row: T) => number): number => rows.reduce((total, row) => total + of(row), 0)

const readRecords = async (db: Db, actor: Actor, turnId: string): Promise<TurnRecords> => {
  const records = await findTurnRecords(db, actor.orgId, workspaceOf(actor), turnId)
  if (!records) throw notFound('Turn')
  return records
}

/** The pending decisions, and whether the caller may make them. */
const approvalsOf = (actor: Actor, turn: TurnRow, calls: CallRow[]) =>
  calls.flatMap((call) => {
    const { approvalId, approved, callId, toolName, input, status, question } = call
    if (approvalId === null || approved !== null || turn.status !== 'requires_action') return []
    const cannotDecideReason = decisionRejection(actor, turn, call) ?? null
    return [
      {
        approvalId,
        toolCallId: callId,
        toolName,
        input,
        isRepeated: status === 'unknown',
        kind: kindOf(call),
        reason: question?.reason ?? 'This tool needs approval. Run it?',
        agent: question?.agent ?? { id: turn.agentId, slug: turn.author.slug ?? '', name: turn.author.name },
        connector: question?.connector ?? null,
        authorityVersion: question?.authorityVersion ?? null,
        changedBy: question?.changedBy ?? null,
        changedAt: question?.changedAt ?? null,
        untrustedFrom: question?.untrustedFrom ?? null,
        form: question?.form ?? null,
        canDecide: cannotDecideReason === null,
        cannotDecideReason,
      },
    ]
  })

/** The calls of the caller's tools whose outputs the turn waits for. */
const requiredOutputsOf = (turn: TurnRow, calls: CallRow[]) =>
  turn.status === 'requires_action'
    ? calls
        .filter((call) => awaitsOutput(turn.clientTools, call))
        .map(({ callId, toolName, input }) => ({ callId, toolName, input }))
    : []

/** The parsed reply of a turn whose reply was validated; null for others. */
const outputOf = ({ responseFormat, status }: TurnRow, steps: StepRow[]): unknown => {
  const last = steps.findLast((step) => step.status === 'completed')
  if (responseFormat === null || status !== 'completed' || !last) return null
  try {
    return JSON.parse(outputText(last.parts)) as unknown
  } catch {
    // Earlier versions did not validate the reply when the provider reported tool calls and sent none.
    return null
  }
}

const turnDetailsOf = (actor: Actor, { turn, steps, calls, charges }: TurnRecords) => {
  const inputTokens = sum(steps, (step) => step.inputTokens)
  const outputTokens = sum(steps, (step) => step.outputTokens)
  const answered = steps.findLast(({ status }) => status === 'completed')
  return {
    ...turn,
    usage: {
      inputTokens,
      outputTokens,
      cacheReadTokens: sum(steps, (step) => step.cacheReadTokens),
      cacheWriteTokens: sum(steps, (step) => step.cacheWriteTokens),
      totalTokens: inputTokens + outputTokens,
      isEstimate: steps.some(({ isEstimate }) => isEstimate),
    },
    costMicrocents: Number(steps.reduce((total, step) => total + step.costMicrocents, 0n)),
    platformFeeMicrocents: sum(charges, (charge) => Number(charge.platformFeeMicrocents)),
    chargedMicrocents: sum(charges, (charge) => Number(charge.chargedMicrocents)),
    output: outputOf(turn, steps),
    answerModel: answered ? (answered.fallback?.model ?? turn.model) : null,
    steps: steps.map((step) => ({
      ...step,
      model: step.fallback?.model ?? turn.model,
      costMicrocents: Number(step.costMicrocents),
    })),
    toolCalls: calls.map(({ callId, ...call }) => ({ id: callId, ...call })),
    approvals: approvalsOf(actor, turn, calls),
    requiredToolOutputs: requiredOutputsOf(turn, calls),
  }
}

/** A turn as the API shows it, with its steps, tool calls, pending approvals, tokens and cost. */
export const getTurnDetails = async (db: Db, actor: Actor, turnId: string) =>
  turnDetailsOf(actor, await readRecords(db, actor, turnId))

/** The turn's details and, once it has ended, its reply; null when the reply is empty. */
export const getTurnWithReply = async (db: Db, actor: Actor, turnId: string) => {
  const records = await readRecords(db, actor, turnId)
  const { turn, reply } = records
  // The watch of the turn can notice the revocation before the watch of the request that waits for the turn does.
  if (turn.error?.code === keyRevoked.code && turn.apiKeyId === actor.apiKey?.id) throw unauthorized(turn.error.message)
  return turn.endedAt === null
    ? { turn: turnDetailsOf(actor, records) }
    : { turn: turnDetailsOf(actor, records), message: reply }
}
