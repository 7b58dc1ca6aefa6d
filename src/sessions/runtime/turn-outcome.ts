import type { EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'
import type { Checkpoint } from './checkpoint-queries.ts'

/** How a turn ended, with the checkpoint that is not stored yet. */
export interface TurnOutcome {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  checkpoint: Checkpoint
}

export const ended = (status: EndedStatus, stopReason: StopReason, checkpoint: Checkpoint = {}): TurnOutcome => ({
  status,
  stopReason,
  error: null,
  checkpoint,
})

export const failed = ({ code, message }: ErrorDetail, checkpoint: Checkpoint = {}): TurnOutcome => ({
  status: 'failed',
  stopReason: 'error',
  error: { code, message },
  checkpoint,
})

/** Maps the turn's stop reason to the stream's finish reason; `other` when the AI SDK has no equivalent. */
const finishReasons: Partial<Record<StopReason, string>> = {
  stop: 'stop',
  max_steps: 'tool-calls',
  max_tokens: 'length',
  content_filter: 'content-filter',
  error: 'error',
}

export const finishReasonOf = (stopReason: StopReason): string => finishReasons[stopReason] ?? 'other'
