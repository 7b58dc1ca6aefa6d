import { setTimeout as delay } from 'node:timers/promises'
import { recorded } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import { findKeyExpiry } from '../../identity/sign-in/user-authority.ts'
import { claimLease } from '../../platform/database/lease.ts'
import type { Claim, LeaseTiming } from '../../platform/database/lease.ts'
import { turnStartedTemplate } from '../events.ts'
import * as claimQueries from '../turns/claim-queries.ts'
import type { ErrorDetail } from '../turns/queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import type { Probation } from './probation.ts'
import { releaseTurn } from './queries.ts'
import type { TurnLease } from './checkpoint-queries.ts'

/** The lease of a killed worker expires before pg-boss gives its job to another worker, which is after 20 s. */
export const turnLeaseTiming: LeaseTiming = { leaseMs: 15_000, renewMs: 2_000 }

/** The maximum number of attempts since the last decision of a person, including those that ended in a release. */
const maxAttempts = 8

/** After a second death, the turn itself may be killing its workers, and with them the turns of other people. */
const maxWorkerDeaths = 2

/** The error of a turn that has used up its attempts; undefined when it may run again. */
export const quarantineOf = ({ workerDeaths, attempts, restedAttempts }: ClaimedTurn): ErrorDetail | undefined => {
  if (workerDeaths >= maxWorkerDeaths) {
    return {
      code: 'worker_died',
      message: `The server process that worked on this turn died ${workerDeaths} times, so the turn is not retried. Check what its tools last did, change the request, and send it as a new message.`,
    }
  }
  if (attempts - restedAttempts <= maxAttempts) return undefined
  return { code: 'internal', message: 'The server stopped repeatedly while it worked on this turn.' }
}

const releaseTries = 60

/**
 * Releases the lease, so that the next worker does not wait for it to expire and does not count a death. Retries for a
 * minute while the database is unavailable.
 */
export const releaseWithRetry = async (db: Database, lease: TurnLease, jobSignal: AbortSignal): Promise<void> => {
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

/**
 * Adds when the turn's key expires. Keys are on another machine than turns where tables are distributed by org, so the
 * claim cannot return it.
 */
const withKeyExpiry = async (
  db: Database,
  lease: TurnLease,
  claimed: Claim<ClaimedTurn>,
): Promise<Claim<ClaimedTurn>> => {
  const { apiKeyId } = claimed.row
  if (apiKeyId === null) return claimed
  try {
    const key = await findKeyExpiry(db.hot, lease.orgId, apiKeyId)
    // A revoked or expired key is not found.
    const keyExpiresAt = key ? key.expiresAt : new Date(0).toISOString()
    return { ...claimed, row: { ...claimed.row, keyExpiresAt } }
  } catch (error) {
    // Not a death of its worker.
    await releaseTurn(db, lease).catch(() => undefined)
    throw error
  }
}

/** Claims the turn once its current lease ends. Undefined when the turn no longer needs a worker. */
const claim = async (
  db: Database,
  { orgId, turnId }: TurnKey,
  signal: AbortSignal,
): Promise<Claim<ClaimedTurn> | undefined> => {
  for (;;) {
    const claim = claimQueries.turnClaim(turnLeaseTiming.leaseMs, turnStartedTemplate(orgId))
    const options = { ...claim, timing: turnLeaseTiming }
    const claimed = await claimLease<ClaimedTurn>(db, claimQueries.leasedTurn(orgId, turnId), options)
    if (claimed?.row.attempts === 1) db.signal(recorded, orgId)
    if (claimed) return withKeyExpiry(db, { orgId, turnId, token: claimed.token }, claimed)
    const state = await claimQueries.findTurnState(db, orgId, turnId)
    if (!state || !['queued', 'running'].includes(state.status)) return undefined
    await delay(Math.max(100, state.leaseLeftMs ?? 0), undefined, { signal })
  }
}

export interface TurnClaim {
  claim: Claim<ClaimedTurn>
  /** Releases the turn's place on probation, if it has one. */
  leaveProbation: () => void
}

/**
 * Claims the turn. A turn whose worker died first waits, without a lease, for a place on probation. Undefined when the
 * turn no longer needs a worker.
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
  // Released while it waits, so that a crash caused by another turn does not count as a death of this turn's worker.
  await releaseWithRetry(db, { ...key, token: claimed.token }, signal)
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
