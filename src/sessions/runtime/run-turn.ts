import type { Config } from '../../config/config.ts'
import { chainOf, inChain } from '../../outbox/chain.ts'
import type { AuthorityWatch } from '../../identity/sign-in/user-authority.ts'
import { keepLease } from '../../platform/database/lease.ts'
import type { JobContext } from '../../platform/jobs/jobs.ts'
import { runUnit } from '../../platform/process/units.ts'
import { watchTurnAuthority } from '../turns/authority.ts'
import * as claimQueries from '../turns/claim-queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import { AuthorityLost } from './authority.ts'
import { closeCalls } from './steps/call-rows.ts'
import { claimTurn, releaseWithRetry, quarantineOf, turnLeaseTiming } from './claim-turn.ts'
import { openTurn } from './open-turn.ts'
import type { OpenTurnDeps } from './open-turn.ts'
import type { HandedTurn } from './handed-turn.ts'
import { prepareTurn } from './prepare-turn.ts'
import type { Probation } from './probation.ts'
import { TimeIsUp } from './turn-context.ts'
import type { LeasedTurn } from './turn-context.ts'
import { runTurnLoop } from './steps/turn-loop.ts'
import { failed } from './turn-outcome.ts'

/** The process-wide dependencies of turns. Steps see only the services that are built from them. */
export type RunTurnDeps = OpenTurnDeps & {
  config: Pick<Config, 'turnLimitMs'>
  probation: Probation
  /** Watches the authority of the turns of this process. */
  authorityWatch: AuthorityWatch
}

/** Prepares and runs a turn, and stores its end unless it waits for a person. */
const runLeasedTurn = async (deps: RunTurnDeps, leased: LeasedTurn, handed?: HandedTurn): Promise<void> => {
  const { turn, lease, state, services } = leased
  const quarantine = quarantineOf(turn)
  if (quarantine) {
    services.log.error({ orgId: lease.orgId, turnId: turn.id, code: quarantine.code }, 'a turn is not retried')
    await services.writer.finish(failed(quarantine, { callChanges: closeCalls(state.calls) }))
    return
  }
  const prepared = await prepareTurn(deps, leased, handed)
  const outcome =
    'code' in prepared ? failed(prepared, { callChanges: closeCalls(state.calls) }) : await runTurnLoop(prepared)
  if (!outcome) return
  await services.writer.finish(outcome)
  deps.keptPictures.drop({ orgId: lease.orgId, turnId: turn.id })
}

/** The turn's remaining time: the smaller of its own and that of the peer conversation it belongs to. */
const timeLeftOf = ({ workedMs, chainLeftMs }: ClaimedTurn, turnLimitMs: number): number =>
  Math.max(0, Math.min(turnLimitMs - Number(workedMs), chainLeftMs ?? Infinity))

/**
 * The handler of a turn's job, or of a turn that this process created and hands over: claims the turn and runs it until it ends, waits for a person, or loses its lease. Rejects
 * when the turn should be retried.
 */
export const runTurn = async (
  deps: RunTurnDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
  { signal: jobSignal, handed: given }: Pick<JobContext, 'signal' | 'handed'>,
): Promise<void> => {
  const { db, notifier, log, config } = deps
  const handed = given as HandedTurn | undefined
  const claimed = handed
    ? { claim: handed.claim, leaveProbation: () => undefined }
    : await claimTurn(deps, { orgId, turnId }, jobSignal)
  if (!claimed) return
  const { claim, leaveProbation } = claimed
  const { row: turn, token } = claim
  const kept = keepLease(db, claimQueries.leasedTurn(orgId, turnId), claim, turnLeaseTiming)
  const stop = new AbortController()
  const abort = (reason: Error): void => stop.abort(reason)
  const leftMs = timeLeftOf(turn, config.turnLimitMs)
  const deadlineMs = performance.now() + leftMs
  const timeLimit = setTimeout(() => abort(new TimeIsUp()), leftMs)
  const leaveNotifier = notifier.work(turnId, {
    stop: () => abort(new Error('the turn was cancelled')),
    check: kept.renewSoon,
  })
  // Handed authority was looked up before the watch.
  const watched = { orgId, turn, isLookedUpLater: handed?.authority === undefined }
  const unwatch = watchTurnAuthority(db, deps.authorityWatch, watched, (reason) => abort(new AuthorityLost(reason)))
  const signal = AbortSignal.any([kept.signal, stop.signal, jobSignal])
  const lease = { orgId, turnId, token }
  try {
    const unit = { kind: 'turn', id: turnId, orgId } as const
    const work = async (): Promise<void> =>
      runLeasedTurn(deps, await openTurn(deps, { turn, lease, deadlineMs, signal, handed, onFailure: abort }), handed)
    await runUnit(unit, abort, () => inChain(chainOf(turn), work))
  } catch (error) {
    await releaseWithRetry(db, lease, jobSignal)
    const state = await claimQueries.findTurnState(db, orgId, turnId)
    if (!state || !['queued', 'running'].includes(state.status)) return
    log.warn({ err: error, turnId }, 'a turn was interrupted and is retried')
    throw error
  } finally {
    clearTimeout(timeLimit)
    unwatch()
    leaveNotifier()
    leaveProbation()
    kept.stop()
  }
}
