import type { Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { CallChange, EndedStep } from '../runtime/checkpoint-queries.ts'
import { concludeTurn } from '../runtime/conclude.ts'
import { costOf } from '../runtime/costs.ts'
import * as eventQueries from '../streams/event-queries.ts'
import { unfinishedParts } from '../streams/frames.ts'
import type { Frame } from '../streams/frames.ts'
import { partsOf } from '../runtime/progress.ts'
import { estimateTokens } from '../runtime/prompt.ts'
import type { TurnHub } from '../streams/turn-hub.ts'
import { cancelPeers } from '../runtime/job.ts'
import * as turnQueries from './queries.ts'
import type { CallRow, StepRow, TurnRow } from './queries.ts'

/** The call of the model that was under way, as far as it got; its tokens are counted from the text. */
const cutStep = (turn: TurnRow, step: StepRow, lines: string[]): EndedStep => {
  const parts = unfinishedParts(lines)
  const usage = {
    inputTokens: step.inputTokens,
    outputTokens: parts.length === 0 ? 0 : estimateTokens(parts.map(({ text }) => text).join('')),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  const costMicrocents = costOf(usage, turn.pricing)
  const { step: number, attempt } = step
  const outcome = { status: 'cancelled', finishReason: null, isEstimate: true, error: null } as const
  return { step: number, attempt, parts, ...usage, ...outcome, costMicrocents }
}

/** What becomes of calls that nobody waits for any more. */
export const leaveCalls = (calls: CallRow[]): CallChange[] =>
  calls.flatMap(({ step, place, status }): CallChange[] => {
    if (status === 'waiting') return [{ step, place, status: 'cancelled' }]
    return status === 'started' ? [{ step, place, status: 'unknown' }] : []
  })

const abortFrame: Frame = { type: 'abort', reason: 'cancelled' }

/**
 * Cancels a turn on the spot, whoever works on it: its worker loses the lease and can write nothing more, so it does not
 * matter whether the worker, or the model that it waits for, still answers. What the turn has said so far is kept.
 * The session must be locked. Answers whether the turn is cancelled, by this or before.
 */
export const abandonTurn = async (
  db: Transaction,
  { jobs, hub }: { jobs: Pick<Jobs, 'enqueue'>; hub: TurnHub },
  orgId: string,
  turnId: string,
): Promise<boolean> => {
  const turn = await turnQueries.lockTurn(db, orgId, turnId)
  if (!turn) return false
  if (turn.endedAt !== null) return turn.status === 'cancelled'
  const steps = await turnQueries.listSteps(db, orgId, turnId)
  const calls = await turnQueries.listCalls(db, orgId, turnId)
  const events = await eventQueries.listEvents(db, orgId, turnId, 0)
  const running = steps.find(({ status }) => status === 'running')
  const ended =
    running &&
    cutStep(
      turn,
      running,
      events.flatMap(({ frames }) => frames.split('\n')),
    )
  const callChanges = leaveCalls(calls)
  const line = JSON.stringify(abortFrame)
  const lastSeq = (await eventQueries.findLastSeq(db, orgId, turnId)) + 1
  const parts = partsOf({
    steps: steps.map((step) => (step === running && ended ? { ...step, parts: ended.parts } : step)),
    calls: calls.map((call) => ({
      ...call,
      ...callChanges.find((one) => one.step === call.step && one.place === call.place),
    })),
  })
  // What it asked of other agents is not wanted any more either.
  if (calls.some(({ toolName }) => toolName === 'message_peer')) await jobs.enqueue(db, cancelPeers, { orgId, turnId })
  const done = await concludeTurn(db, jobs, orgId, turn, undefined, {
    status: 'cancelled',
    stopReason: 'cancelled',
    error: null,
    parts,
    checkpoint: { ended, callChanges, frames: { lastSeq, lines: line } },
  })
  db.afterCommit(() => {
    hub.stop(turnId)
    hub.publish(turnId, { firstSeq: lastSeq, lines: [line], isResting: true })
  })
  return done
}
