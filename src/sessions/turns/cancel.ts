import type { EventAuthor } from '../../outbox/record.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { EndedStep } from '../runtime/checkpoint-queries.ts'
import { finishTurn } from '../runtime/finish-turn.ts'
import { costOf } from '../runtime/costs/costs.ts'
import { endingEvents } from '../events.ts'
import * as eventQueries from '../streams/queries.ts'
import { unfinishedIn } from '../streams/stream-parts.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import { replyPartsOf } from '../runtime/prompt/reply-parts.ts'
import { closeCalls } from '../runtime/steps/call-rows.ts'
import { estimateTokens } from '../runtime/prompt/prompt.ts'
import type { TurnDeps } from './deps.ts'
import { cancelPeers } from '../runtime/jobs.ts'
import * as callQueries from './call-queries.ts'
import * as turnQueries from './queries.ts'
import type { TurnRow } from './queries.ts'
import type { StepRow } from './call-queries.ts'
import { publicParts } from './step-parts.ts'

interface CancelDeps {
  jobs: Pick<TurnDeps['jobs'], 'enqueue'>
  notifier: TurnDeps['notifier']
}

interface CancelScope {
  /** Who cancels the turns. */
  author: EventAuthor
  /** The workspace of the session. */
  workspaceId: string
}

/** The interrupted model call with its partial text. Its tokens are estimated from all that it has written. */
const interruptedStep = (turn: TurnRow, step: StepRow, lines: string[]): EndedStep => {
  const { parts, inputs } = unfinishedIn(lines)
  const written = parts.map(({ text }) => text).join('') + inputs
  const usage = {
    inputTokens: step.inputTokens,
    outputTokens: written === '' ? 0 : estimateTokens(written),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  const costMicrocents = costOf(usage, step.fallback?.pricing ?? turn.pricing)
  const { step: number, attempt, fallback } = step
  const outcome = { status: 'cancelled', finishReason: null, isEstimate: true, error: null } as const
  return { step: number, attempt, parts, ...usage, ...outcome, costMicrocents, fallback }
}

const abortPart: StreamPart = { type: 'abort', reason: 'cancelled' }

/**
 * Cancels a turn without its worker: the worker loses the lease and can write nothing more, so the cancellation does not
 * wait for the worker or for a model that does not respond. The text so far is kept as the reply. The session must be
 * locked. Returns whether the turn is cancelled, now or before.
 */
export const cancelLockedTurn = async (
  db: Transaction,
  { jobs, notifier }: CancelDeps,
  { author, workspaceId }: CancelScope,
  turnId: string,
): Promise<boolean> => {
  const { orgId } = author
  const turn = await turnQueries.lockTurn(db, orgId, turnId)
  if (!turn) return false
  if (turn.endedAt !== null) return turn.status === 'cancelled'
  const steps = await callQueries.listSteps(db, orgId, turnId)
  const calls = await callQueries.listCalls(db, orgId, turnId)
  const events = await eventQueries.listEvents(db, orgId, turnId, 0)
  const running = steps.find(({ status }) => status === 'running')
  const ended =
    running &&
    interruptedStep(
      turn,
      running,
      events.flatMap(({ frames }) => frames.split('\n')),
    )
  const callChanges = closeCalls(calls)
  const line = JSON.stringify(abortPart)
  const lastSeq = (await eventQueries.findLastSeq(db, orgId, turnId)) + 1
  const stored = replyPartsOf({
    steps: steps.map((step) => (step === running && ended ? { ...step, parts: ended.parts } : step)),
    calls: calls.map((call) => ({
      ...call,
      ...callChanges.find((one) => one.step === call.step && one.place === call.place),
    })),
  })
  const parts = publicParts(stored)
  // The turns that its messages to other agents started are cancelled too.
  if (calls.some(({ toolName }) => toolName === 'message_peer')) await jobs.enqueue(db, cancelPeers, { orgId, turnId })
  const checkpoint = { ended, callChanges, frames: { lastSeq, lines: line } }
  const ending = { status: 'cancelled', stopReason: 'cancelled', error: null, parts, checkpoint } as const
  const recorded = endingEvents({ orgId, workspaceId, by: author }, turn, ending)
  const isCancelled = await finishTurn(db, jobs, { orgId, turn, token: undefined, ending, events: recorded })
  db.afterCommit(() => {
    notifier.stop(turnId)
    notifier.publish(turnId, { firstSeq: lastSeq, lines: [line], isEnd: true })
  })
  return isCancelled
}

/** Cancels every unfinished turn of a session, which must be locked. Returns how many there were. */
export const cancelUnfinishedTurns = async (
  db: Transaction,
  deps: CancelDeps,
  scope: CancelScope,
  sessionId: string,
): Promise<number> => {
  const unfinished = await turnQueries.listUnfinished(db, scope.author.orgId, sessionId)
  // Newest first: the end of a turn starts the next queued one.
  for (const { id } of unfinished.toReversed()) await cancelLockedTurn(db, deps, scope, id)
  return unfinished.length
}
