import type { Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { endTurn } from './checkpoint-queries.ts'
import type { Ending, EndingTurn } from './checkpoint-queries.ts'
import { connectorTurnEnded, runTurn } from './job.ts'
import { findRelationship, releaseSession } from '../turns/queries.ts'

/**
 * Ends a turn with its reply and lets the next one of the session begin, all in the caller's transaction. With a token
 * only while that lease holds; false, and nothing is written, when it does not.
 */
export const concludeTurn = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  orgId: string,
  turn: EndingTurn,
  token: string | undefined,
  ending: Ending,
): Promise<boolean> => {
  if (!(await endTurn(db, orgId, turn, token, ending))) return false
  const released = await releaseSession(db, orgId, {
    sessionId: turn.sessionId,
    turnId: turn.id,
    newMessages: ending.parts.length > 0 ? 1 : 0,
  })
  const next = released?.nextTurnId
  if (next) await jobs.enqueue(db, runTurn(released.nextHop ?? 0), { orgId, turnId: next })
  // A turn that waited for its move had no session to release.
  const relationship = released?.relationship ?? (await findRelationship(db, orgId, turn.sessionId))
  if (relationship === 'connector') await jobs.enqueue(db, connectorTurnEnded, { orgId, turnId: turn.id })
  return true
}
