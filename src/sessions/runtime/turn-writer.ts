import type { Billing } from '../../billing/billing.ts'
import { recorded } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { endingEvents, turnPaused } from '../events.ts'
import { lockSession } from '../queries.ts'
import { createStreamLog } from '../streams/stream-log.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import type { TurnNotifier } from '../streams/turn-notifier.ts'
import { emptyReservationsOfQueue, setSessionStatus } from '../turns/queries.ts'
import { setLeftOutExchanges } from '../turns/claim-queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import { publicParts } from '../turns/step-parts.ts'
import type { FaultPoint } from './fault-points.ts'
import { finishTurn } from './finish-turn.ts'
import { appendFrames, endLastTurn, pauseTurn, writeCheckpoint } from './queries.ts'
import type { Checkpoint, TurnLease } from './checkpoint-queries.ts'
import { estimateTokens } from './prompt/prompt.ts'
import { replyPartsOf } from './prompt/reply-parts.ts'
import { finishReasonOf } from './turn-outcome.ts'
import type { TurnOutcome } from './turn-outcome.ts'
import type { TurnState } from './turn-state.ts'

/** Stores the progress of a turn, in order and under the worker's lease. Each write rejects when the lease is lost. */
export interface TurnWriter {
  /** Sends a part to the stream. It is stored with the next write, at most 50 ms later. */
  emit(part: StreamPart): void
  /** Writes a checkpoint with all frames so far. */
  save(checkpoint: Checkpoint): Promise<void>
  /** Stores and streams how many of the oldest exchanges the model is no longer shown. */
  saveLeftOut(exchanges: number): Promise<void>
  /** Lets the turn wait for a person's decision. */
  pause(checkpoint: Checkpoint): Promise<void>
  /** Ends the turn: stores its last step, its reply and the last frames, and starts the session's next turn. */
  finish(outcome: TurnOutcome): Promise<void>
}

export interface WriterDeps {
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  notifier: TurnNotifier
  billing: Pick<Billing, 'chargePoster'>
}

export interface WriterOptions {
  turn: ClaimedTurn
  lease: TurnLease
  leaseMs: number
  state: TurnState
  /** The number of the last stored frame. */
  lastSeq: number
  /** Called when a write failed or the lease is lost. No later write succeeds. */
  onFailure: (reason: Error) => void
  faultPoint: (point: FaultPoint) => void
}

export const createTurnWriter = (
  { db, jobs, notifier, billing }: WriterDeps,
  { turn, lease, leaseMs, state, lastSeq, onFailure, faultPoint }: WriterOptions,
): TurnWriter => {
  const { orgId } = lease
  const { workspaceId } = turn
  const stream = createStreamLog({
    lastSeq,
    append: (frames) => appendFrames(db, lease, frames),
    publish: (update) => notifier.publish(turn.id, update),
    isRead: () => notifier.isRead(turn.id),
    onFailure,
  })

  const isContinued = turn.attempts > 1
  /** Of the last model call. */
  let promptTokens = 0

  const emit = (part: StreamPart): void => {
    state.notePart(part)
    stream.push(part)
  }

  return {
    emit,
    save: async (checkpoint) => {
      const { untrustedFrom } = state
      promptTokens = checkpoint.begun?.inputTokens ?? promptTokens
      await stream.write((frames) =>
        writeCheckpoint(db, lease, { leaseMs, isContinued }, { ...checkpoint, frames, untrustedFrom }),
      )
      if (checkpoint.ended) billing.chargePoster.postSoon(orgId)
    },
    saveLeftOut: async (exchanges) => {
      if (exchanges <= state.leftOutExchanges) return
      state.noteLeftOut(exchanges)
      await setLeftOutExchanges(db, lease, exchanges)
      emit({ type: 'message-metadata', messageMetadata: { leftOutExchanges: exchanges } })
    },
    // Pausing and finishing bypass row-level security, which would reduce the throughput of turns by a tenth. The lease
    // token already limits the writes to one turn of one org.
    pause: (checkpoint) =>
      stream.write(
        (frames) =>
          db.transaction('all orgs', async (db) => {
            if (!(await lockSession(db, orgId, turn.sessionId))) return false
            const { untrustedFrom } = state
            const paused = [turnPaused({ orgId, workspaceId }, turn)]
            if (!(await pauseTurn(db, lease, { ...checkpoint, frames, untrustedFrom }, paused))) return false
            db.signal(recorded, orgId)
            await setSessionStatus(db, orgId, turn.sessionId, 'requires_action')
            await emptyReservationsOfQueue(db, orgId, turn.sessionId)
            return true
          }),
        true,
      ),
    finish: async ({ status, stopReason, error, checkpoint }) => {
      const parts = publicParts(replyPartsOf(state))
      if (error) parts.push({ type: 'error', ...error })
      if (state.isInStep) emit({ type: 'finish-step' })
      if (error) emit({ type: 'error', errorText: error.message })
      const finishReason = finishReasonOf(stopReason)
      emit({ type: 'finish', finishReason, messageMetadata: { status, stopReason } })
      faultPoint('before-end')
      await stream.write(async (frames) => {
        const ending = { status, stopReason, error, parts, checkpoint: { ...checkpoint, frames } }
        const contextTokens = promptTokens + estimateTokens(parts)
        const events = endingEvents({ orgId, workspaceId }, turn, ending)
        const finished = { orgId, turn, token: lease.token, ending, contextTokens, events }
        // The end of a turn in a chat is also a job, in the same transaction.
        if (turn.relationship !== 'connector' && (await endLastTurn(db, finished))) {
          db.signal(recorded, orgId)
          return true
        }
        return db.transaction('all orgs', (db) => finishTurn(db, jobs, finished))
      }, true)
      billing.chargePoster.postSoon(orgId)
      faultPoint('after-end')
    },
  }
}
