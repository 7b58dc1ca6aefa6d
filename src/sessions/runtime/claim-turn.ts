import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { claimLease } from '../../platform/database/lease.ts'
import type { Claim, LeaseTiming } from '../../platform/database/lease.ts'
import * as turnQueries from '../turns/queries.ts'
import type { ClaimedTurn, ErrorDetail } from '../turns/queries.ts'
import type { Probation } from './probation.ts'
import { releaseTurn } from './queries.ts'
import type { TurnLease } from './queries.ts'

/** The lease of a killed worker ends before pg-boss gives its job to another one, which is after 20 s. */
export const turnLeaseTiming: LeaseTiming = { leaseMs: 15_000, renewMs: 2_000 }

/** Attempts without a person's decision in between. Those that workers gave back in order count as well. */
const maxAttempts = 8

/** A second death means that the turn may be killing its workers, and with them the turns of other people. */
const maxWorkerDeaths = 2

/** Why a turn that was tried too often ends instead; undefined when it may be tried again. */
export const quarantineOf = ({ workerDeaths, attempts, restedAttempts }: ClaimedTurn): ErrorDetail | undefined => {
  if (workerDeaths >= maxWorkerDeaths) {
    return {
      code: 'worker_died',
      message: `The server process that worked on this turn died ${workerDeaths} times, so the turn is not tried again. Check what its tools last did, change the request, and send it as a new message.`,
    }
  }
  if (attempts - restedAttempts <= maxAttempts) return undefined
  return { code: 'internal', message: 'The server stopped repeatedly while it worked on this turn.' }
}

const releaseTries = 60

/**
 * Gives the turn back, so that the next worker does not have to wait for the lease to end and does not count a death.
 * While the database does not answer, it is tried again for a minute.
 */
export const giveBack = async (db: Database, lease: TurnLease, jobSignal: AbortSignal): Promise<void> => {
  for (let tries = 1; tries <= releaseTries; tries++) {
    try {
      await releaseTurn(db, lease)
      return
    } catch {
      if (jobSignal.aborted) return
      await delay(1_000, undefined, { signal: jobSignal }).catch(() => undefined)
    }
  }
}

interface TurnKey {
  orgId: string
  turnId: string
}

/** Claims the turn when its present lease ends. Undefined when there is nothing to do any more. */
const claim = async (
  db: Database,
  { orgId, turnId }: TurnKey,
  signal: AbortSignal,
): Promise<Claim<ClaimedTurn> | undefined> => {
  for (;;) {
    const options = { ...turnQueries.turnClaim(turnLeaseTiming.leaseMs), timing: turnLeaseTiming }
    const claimed = await claimLease<ClaimedTurn>(db, turnQueries.leasedTurn(orgId, turnId), options)
    if (claimed) return claimed
    const state = await turnQueries.findTurnState(db, orgId, turnId)
    if (!state || !['queued', 'running'].includes(state.status)) return undefined
    await delay(Math.max(100, state.leaseLeftMs ?? 0), undefined, { signal })
  }
}

export interface TurnClaim {
  claim: Claim<ClaimedTurn>
  /** Gives up the turn's place on probation, when it has one. */
  leaveProbation: () => void
}

/**
 * Claims the turn. A turn whose worker died waits, without a lease, until only few such turns run in this process.
 * Undefined when there is nothing to do any more.
 */
export const claimTurn = async (
  { db, probation }: { db: Database; probation: Probation },
  key: TurnKey,
  signal: AbortSignal,
): Promise<TurnClaim | undefined> => {
  const claimed = await claim(db, key, signal)
  if (!claimed) return undefined
  const { workerDeaths } = claimed.row
  const isOnProbation = workerDeaths > 0 && workerDeaths < maxWorkerDeaths
  if (!isOnProbation) return { claim: claimed, leaveProbation: () => undefined }
  const entered = probation.tryEnter()
  if (entered) return { claim: claimed, leaveProbation: entered }
  // Given back while it waits: if another turn on probation ends this process, that is no death of this turn's worker.
  await giveBack(db, { ...key, token: claimed.token }, signal)
  const leaveProbation = await probation.enter(signal)
  try {
    const again = await claim(db, key, signal)
    if (again) return { claim: again, leaveProbation }
  } catch (error) {
    leaveProbation()
    throw error
  }
  leaveProbation()
  return undefined
}
