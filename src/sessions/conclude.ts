import type { Transaction } from '../platform/database.ts'
import type { Jobs } from '../platform/jobs.ts'
import { endTurn } from './checkpoint-queries.ts'
import type { Checkpoint } from './checkpoint-queries.ts'
import type { LockedSession } from './queries.ts'
import type { MessagePart } from './schemas.ts'
import { runTurn } from './turn-job.ts'
import { releaseSession } from './turn-queries.ts'
import type { EndedStatus, ErrorDetail, StopReason, TurnRow } from './turn-queries.ts'

export interface Conclusion {
  status: EndedStatus
  stopReason: StopReason
  error: ErrorDetail | null
  /** The reply; nothing is said when it is empty. */
  parts: MessagePart[]
  checkpoint: Checkpoint
}

/**
 * Ends a turn with its reply and lets the next one of the session begin, all in the caller's transaction, which has the
 * session locked. With a token only while that lease holds; false, and nothing is written, when it does not.
 */
export const concludeTurn = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  orgId: string,
  session: LockedSession,
  turn: Pick<TurnRow, 'id' | 'number' | 'replyId' | 'author'>,
  token: string | undefined,
  { status, stopReason, error, parts, checkpoint }: Conclusion,
): Promise<boolean> => {
  const place = { sessionId: session.id, position: session.messageCount + 1, turnNumber: turn.number }
  const reply = parts.length === 0 ? undefined : { ...place, id: turn.replyId, author: turn.author, parts }
  if (!(await endTurn(db, orgId, turn.id, token, { status, stopReason, error, checkpoint, reply }))) return false
  if (session.activeTurnId !== turn.id) return true
  const released = await releaseSession(db, orgId, session.id, reply ? 1 : 0)
  const next = released?.nextTurnId
  if (next) await jobs.enqueue(db, runTurn, { orgId, turnId: next })
  return true
}
