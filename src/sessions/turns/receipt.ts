import { listTurnCharges } from '../../billing/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import * as queries from '../queries.ts'
import { kindOf, whyNotDecide } from '../runtime/questions.ts'
import * as turnQueries from './queries.ts'
import type { TurnRow } from './queries.ts'

const sum = <T>(rows: T[], of: (row: T) => number): number => rows.reduce((total, row) => total + of(row), 0)

interface Parts {
  turn: TurnRow
  steps: turnQueries.StepRow[]
  calls: turnQueries.CallRow[]
  charges: Awaited<ReturnType<typeof listTurnCharges>>
}

/**
 * The turn is read first: what is read after it is at least as new, so a turn that has ended is never shown with a step
 * that has not.
 */
const readTurn = async (db: Db, actor: Actor, turnId: string): Promise<TurnRow> => {
  const turn = await turnQueries.findTurn(db, actor, workspaceOf(actor), turnId)
  if (!turn) throw notFound('Turn')
  return turn
}

const readParts = async (db: Db, actor: Actor, turn: TurnRow): Promise<Parts> => {
  const [steps, calls, charges] = await Promise.all([
    turnQueries.listSteps(db, actor.orgId, turn.id),
    turnQueries.listCalls(db, actor.orgId, turn.id),
    listTurnCharges(db, actor.orgId, turn.id),
  ])
  return { turn, steps, calls, charges }
}

/** What waits for a decision, and whether it is the caller's to take. */
const approvalsOf = (actor: Actor, turn: TurnRow, calls: turnQueries.CallRow[]) =>
  calls.flatMap((call) => {
    const { approvalId, approved, callId, toolName, input, status, question } = call
    if (approvalId === null || approved !== null || turn.status !== 'requires_action') return []
    const cannotDecideReason = whyNotDecide(actor, turn, call) ?? null
    return [
      {
        approvalId,
        toolCallId: callId,
        toolName,
        input,
        isRepeated: status === 'unknown',
        kind: kindOf(call),
        reason: question?.reason ?? 'This needs a person’s approval. Run it?',
        agent: question?.agent ?? { id: turn.agentId, slug: turn.author.slug ?? '', name: turn.author.name },
        connector: question?.connector ?? null,
        authorityVersion: question?.authorityVersion ?? null,
        changedBy: question?.changedBy ?? null,
        changedAt: question?.changedAt ?? null,
        untrustedFrom: question?.untrustedFrom ?? null,
        canDecide: cannotDecideReason === null,
        cannotDecideReason,
      },
    ]
  })

const receiptOf = (actor: Actor, { turn, steps, calls, charges }: Parts) => {
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
    platformFeeMicrocents: sum(charges, (charge) => Number(charge.platformFeeMicrocents)),
    chargedMicrocents: sum(charges, (charge) => Number(charge.chargedMicrocents)),
    steps: steps.map((step) => ({ ...step, costMicrocents: Number(step.costMicrocents) })),
    toolCalls: calls.map(({ callId, ...call }) => ({ id: callId, ...call })),
    approvals: approvalsOf(actor, turn, calls),
  }
}

/** A turn as the API shows it: what was done, call by call, and what it costs. */
export const getReceipt = async (db: Db, actor: Actor, turnId: string) =>
  receiptOf(actor, await readParts(db, actor, await readTurn(db, actor, turnId)))

/** The receipt and, when the turn has ended, its reply; null when it said nothing. */
export const getAnswer = async (db: Db, actor: Actor, turnId: string) => {
  const turn = await readTurn(db, actor, turnId)
  const [parts, message] = await Promise.all([
    readParts(db, actor, turn),
    turn.endedAt === null ? undefined : queries.findMessage(db, actor.orgId, turn.replyId),
  ])
  return turn.endedAt === null
    ? { turn: receiptOf(actor, parts) }
    : { turn: receiptOf(actor, parts), message: message ?? null }
}
