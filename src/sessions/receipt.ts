import type { Db } from '../platform/database.ts'
import * as queries from './queries.ts'
import * as turnQueries from './turn-queries.ts'
import type { TurnRow } from './turn-queries.ts'

const sum = <T>(rows: T[], of: (row: T) => number): number => rows.reduce((total, row) => total + of(row), 0)

/** A turn as the API shows it: what was done, call by call, and what it costs. */
export const receiptOf = async (db: Db, orgId: string, turn: TurnRow) => {
  const [steps, calls] = await Promise.all([
    turnQueries.listSteps(db, orgId, turn.id),
    turnQueries.listCalls(db, orgId, turn.id),
  ])
  const inputTokens = sum(steps, (step) => step.inputTokens)
  const outputTokens = sum(steps, (step) => step.outputTokens)
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
    steps: steps.map((step) => ({ ...step, costMicrocents: Number(step.costMicrocents) })),
    toolCalls: calls.map(({ callId, ...call }) => ({ id: callId, ...call })),
    approvals: calls.flatMap(({ approvalId, approved, callId, toolName, input }) =>
      approvalId !== null && approved === null && turn.status === 'requires_action'
        ? [{ approvalId, toolCallId: callId, toolName, input }]
        : [],
    ),
  }
}

/** The receipt and, when the turn has ended, its reply; null when it said nothing. */
export const answerOf = async (db: Db, orgId: string, turn: TurnRow) => {
  const [receipt, message] = await Promise.all([
    receiptOf(db, orgId, turn),
    turn.endedAt === null ? undefined : queries.findMessage(db, orgId, turn.replyId),
  ])
  return turn.endedAt === null ? { turn: receipt } : { turn: receipt, message: message ?? null }
}
