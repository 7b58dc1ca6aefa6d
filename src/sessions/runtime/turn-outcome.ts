import type { EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'
import type { Checkpoint } from './queries.ts'

/** How a turn ended, with the checkpoint that is still to be written. */
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

/** The finish reason of the stream for a stop reason of the turn; `other` for those that the AI SDK has no name for. */
const finishReasons: Partial<Record<StopReason, string>> = {
  stop: 'stop',
  max_steps: 'tool-calls',
  max_tokens: 'length',
  content_filter: 'content-filter',
  error: 'error',
}

export const finishReasonOf = (stopReason: StopReason): string => finishReasons[stopReason] ?? 'other'
