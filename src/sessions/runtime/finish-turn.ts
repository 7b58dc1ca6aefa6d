import type { OutboxRow } from '../../outbox/queries.ts'
import { recorded } from '../../outbox/record.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { findRelationship, releaseSession } from '../turns/queries.ts'
import { connectorTurnEnded, turnJob } from './jobs.ts'
import { endTurn } from './queries.ts'
import type { Ending, EndingTurn } from './queries.ts'

export interface FinishedTurn {
  orgId: string
  turn: EndingTurn
  /** The lease under which the turn ends; undefined for a caller that has locked the turn. */
  token: string | undefined
  ending: Ending
  /** The events of the end, which are recorded with it. */
  events: readonly OutboxRow[]
}

/**
 * Ends a turn with its reply and starts the next one of its session, all in the caller's transaction. False, and nothing
 * is written, when the lease is lost.
 */
export const finishTurn = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  finished: FinishedTurn,
): Promise<boolean> => {
  const { orgId, turn, ending } = finished
  if (!(await endTurn(db, finished))) return false
  db.signal(recorded, orgId)
  const released = await releaseSession(db, orgId, {
    sessionId: turn.sessionId,
    turnId: turn.id,
    newMessages: ending.parts.length > 0 ? 1 : 0,
  })
  const next = released?.nextTurnId
  const member = released?.nextMember ?? undefined
  if (next) await jobs.enqueue(db, turnJob(released.nextHop ?? 0), { orgId, turnId: next }, { member })
  // A turn that was still queued has no session to release.
  const relationship = released?.relationship ?? (await findRelationship(db, orgId, turn.sessionId))
  if (relationship === 'connector') await jobs.enqueue(db, connectorTurnEnded, { orgId, turnId: turn.id })
  return true
}
