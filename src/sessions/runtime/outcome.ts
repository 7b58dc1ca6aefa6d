import { pauseTurn } from './checkpoint-queries.ts'
import type { Checkpoint } from './checkpoint-queries.ts'
import { concludeTurn } from './conclude.ts'
import { partsOf } from './progress.ts'
import * as queries from '../queries.ts'
import { setSessionStatus } from '../turns/queries.ts'
import type { EndedStatus, ErrorDetail, StopReason } from '../turns/queries.ts'
import { reach, say } from './turn-run.ts'
import type { Hold } from './turn-run.ts'

/** How a turn ended, with what is still to be written. */
export interface Outcome {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  checkpoint: Checkpoint
}

export const ended = (status: EndedStatus, stopReason: StopReason, checkpoint: Checkpoint = {}): Outcome => ({
  status,
  stopReason,
  error: null,
  checkpoint,
})

export const failed = (code: string, message: string, checkpoint: Checkpoint = {}): Outcome => ({
  status: 'failed',
  stopReason: 'error',
  error: { code, message },
  checkpoint,
})

const finishReasons: Partial<Record<StopReason, string>> = {
  stop: 'stop',
  max_steps: 'tool-calls',
  max_tokens: 'length',
  content_filter: 'content-filter',
  error: 'error',
}

/** Writes the end of the turn: its last step, its reply, the last frames, and the session's next turn. */
export const conclude = async (run: Hold, outcome: Outcome): Promise<void> => {
  const { deps, turn, held } = run
  const { status, stopReason, error } = outcome
  const parts = partsOf(run.progress)
  if (error) parts.push({ type: 'error', ...error })
  if (run.progress.isInStep) say(run, { type: 'finish-step' })
  if (error) say(run, { type: 'error', errorText: error.message })
  const finishReason = finishReasons[stopReason] ?? 'other'
  say(run, { type: 'finish', finishReason, messageMetadata: { status, stopReason } })
  reach(run, 'before-end')
  // Not under row-level security, which costs a tenth of all turns here: the lease token says whose rows these are.
  await run.stream.write(
    (frames) =>
      deps.db.transaction('all orgs', (db) => {
        const ending = { ...outcome, parts, checkpoint: { ...outcome.checkpoint, frames } }
        return concludeTurn(db, deps.jobs, held.orgId, turn, held.token, ending)
      }),
    true,
  )
  deps.billing.settler.soon(held.orgId)
  reach(run, 'after-end')
}

/** Lets the turn wait for what a person decides. */
export const pause = (run: Hold, checkpoint: Checkpoint): Promise<void> => {
  const { deps, turn, held } = run
  return run.stream.write(
    (frames) =>
      deps.db.transaction('all orgs', async (db) => {
        if (!(await queries.lockSession(db, held.orgId, turn.sessionId))) return false
        if (!(await pauseTurn(db, held, { ...checkpoint, frames, untrustedFrom: turn.untrustedFrom }))) return false
        await setSessionStatus(db, held.orgId, turn.sessionId, 'requires_action')
        return true
      }),
    true,
  )
}
