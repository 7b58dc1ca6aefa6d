import { setTimeout as delay } from 'node:timers/promises'
import { microcentsPerCent } from '../../billing/billing.ts'
import type { Database } from '../../platform/database/database.ts'
import type { JobContext } from '../../platform/jobs/jobs.ts'
import { claimLease, keepLease } from '../../platform/database/lease.ts'
import type { Claim } from '../../platform/database/lease.ts'
import { closeOpenCalls } from '../turns/cancel.ts'
import { takeFromChain } from './chain.ts'
import { AuthorityLost, loadAuthority, loadCast, renewAuthority } from './cast.ts'
import { runUnit, StrayError } from '../../platform/process/units.ts'
import { appendFrames, releaseTurn } from './checkpoint-queries.ts'
import type { Held } from './checkpoint-queries.ts'
import * as eventQueries from '../streams/queries.ts'
import { callModel } from './model-step.ts'
import type { StepOutcome } from './model-step.ts'
import { ModelFailure } from '../models/model-port.ts'
import { conclude, ended, failed, pause } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { endsInsideStep } from '../streams/stream-parts.ts'
import { createStreamLog } from '../streams/stream-log.ts'
import { beginCalls, journal, leaveOut, questionsOf, resumeCalls } from './tool-step.ts'
import { watchTurnAuthority } from '../turns/authority.ts'
import { leftMsOf, save, say, TimeIsUp, turnLease } from './turn-run.ts'
import type { Hold, Run, RunDeps } from './turn-run.ts'
import * as turnQueries from '../turns/queries.ts'
import type { ClaimedTurn, ErrorDetail } from '../turns/queries.ts'

const spentMicrocents = (run: Run): bigint => run.progress.steps.reduce((sum, step) => sum + step.costMicrocents, 0n)

const isOverBudget = (run: Run): boolean =>
  run.turn.maxCostCents !== null && spentMicrocents(run) >= BigInt(run.turn.maxCostCents) * microcentsPerCent

/** How the turn ends when its model had its last word; undefined when it goes on with tools. */
const endAfter = (run: Run, number: number, { step, calls, finish }: StepOutcome): Outcome | undefined => {
  const end = finish !== 'stop' && finish !== 'tool-calls' && finish !== 'other'
  const checkpoint = { ended: step, ...(end ? { newCalls: leaveOut(run, number, calls) } : {}) }
  if (finish === 'time') return ended('incomplete', 'max_time', checkpoint)
  if (finish === 'cost') return ended('incomplete', 'max_cost', checkpoint)
  if (finish instanceof AuthorityLost) return failed(finish.detail.code, finish.message, checkpoint)
  if (finish instanceof ModelFailure) {
    const wasCut = finish.code === 'cut' && (step?.parts.length ?? 0) > 0
    if (wasCut) return ended('incomplete', 'stream_truncated', checkpoint)
    return failed(`model_${finish.code}`, finish.message, checkpoint)
  }
  if (finish === 'length') return ended('incomplete', 'max_tokens', checkpoint)
  if (finish === 'content-filter') return ended('incomplete', 'content_filter', checkpoint)
  return calls.length === 0 ? ended('completed', 'stop', checkpoint) : undefined
}

/** The loop: a call of the model, the tools that it asked for, the next call. Answers how it ended; undefined: it waits. */
const takeSteps = async (run: Run): Promise<Outcome | undefined> => {
  const questions = await resumeCalls(run)
  if (questions.length > 0) {
    await pause(run, { callChanges: questions })
    return undefined
  }
  // The calls of a step that an earlier worker left have their outcomes now.
  if (run.progress.isInStep && run.progress.steps.at(-1)?.status === 'completed') say(run, { type: 'finish-step' })
  const completed = run.progress.steps.filter(({ status }) => status === 'completed')
  for (let step = (completed.at(-1)?.step ?? 0) + 1; ; step++) {
    if (leftMsOf(run) <= 0) return ended('incomplete', 'max_time')
    if (step > run.turn.maxSteps) return ended('incomplete', 'max_steps')
    if (isOverBudget(run)) return ended('incomplete', 'max_cost')
    // Tools took their time, too.
    const lost = run.progress.calls.length > 0 && (await renewAuthority(run))
    if (lost) throw lost
    const chainEnd = await takeFromChain(run)
    if (chainEnd) return chainEnd
    const outcome = await callModel(run, step)
    if (outcome.step) run.progress.steps.push({ ...outcome.step, startedAt: '', endedAt: '' })
    const end = endAfter(run, step, outcome)
    if (end) return end
    // The model took its time: what it asks for is run with what the agent and the person may do by now.
    const authority = await loadAuthority(run)
    if ('code' in authority) {
      const checkpoint = { ended: outcome.step, newCalls: leaveOut(run, step, outcome.calls) }
      return failed(authority.code, authority.message, checkpoint)
    }
    Object.assign(run, authority)
    const calls = journal(run, step, outcome.calls)
    const questions = await questionsOf(run, calls)
    if (questions) {
      await pause(run, { ended: outcome.step, newCalls: questions })
      return undefined
    }
    const { newCalls, finish } = beginCalls(run, calls)
    await save(run, { ended: outcome.step, newCalls })
    run.progress.calls.push(...calls)
    await finish()
    say(run, { type: 'finish-step' })
  }
}

/** The same, within the time of the turn and while it may go on: what still runs or waits then is left behind. */
const takeStepsWithinLimits = async (run: Run): Promise<Outcome | undefined> => {
  try {
    return await takeSteps(run)
  } catch (error) {
    const checkpoint = { callChanges: closeOpenCalls(run.progress.calls) }
    if (error instanceof TimeIsUp) return ended('incomplete', 'max_time', checkpoint)
    if (error instanceof StrayError) {
      return failed('internal', 'Something failed in the server while it worked on this turn.', checkpoint)
    }
    if (error instanceof AuthorityLost) return failed(error.detail.code, error.message, checkpoint)
    throw error
  }
}

/** Attempts without a person in between, those included that were given back in order. */
const maxAttempts = 8

/** The second death shows that something about the turn may kill its workers, and with them the turns of others. */
const maxWorkerDeaths = 2

/** Why a turn that was tried too often is not tried again. */
const quarantineOf = ({ workerDeaths, attempts, restedAttempts }: ClaimedTurn): ErrorDetail | undefined => {
  if (workerDeaths >= maxWorkerDeaths) {
    return {
      code: 'worker_died',
      message: `The server process that worked on this turn died ${workerDeaths} times, so the turn is not tried again. Check what its tools last did, change the request, and send it as a new message.`,
    }
  }
  if (attempts - restedAttempts <= maxAttempts) return undefined
  return { code: 'internal', message: 'The server stopped again and again while it worked on this turn.' }
}

/** Everything from the claim to the end, while the turn is ours. */
const takeTurn = async (hold: Hold): Promise<void> => {
  const { turn, deps } = hold
  const quarantine = quarantineOf(turn)
  if (quarantine) {
    deps.log.error({ orgId: hold.held.orgId, turnId: turn.id, code: quarantine.code }, 'a turn is not tried again')
    const checkpoint = { callChanges: closeOpenCalls(hold.progress.calls) }
    await conclude(hold, failed(quarantine.code, quarantine.message, checkpoint))
    return
  }
  const cast = await loadCast(hold)
  const outcome = 'code' in cast ? failed(cast.code, cast.message) : await takeStepsWithinLimits({ ...hold, ...cast })
  if (outcome) await conclude(hold, outcome)
}

/** Claims the turn; waits while a worker that died, or another that is still at it, has it. Undefined: nothing to do. */
const claimTurn = async (
  deps: RunDeps,
  orgId: string,
  turnId: string,
  signal: AbortSignal,
): Promise<Claim<ClaimedTurn> | undefined> => {
  const { db } = deps
  for (;;) {
    const options = { ...turnQueries.turnClaim(turnLease.leaseMs), timing: turnLease }
    const claim = await claimLease<ClaimedTurn>(db, turnQueries.leasedTurn(orgId, turnId), options)
    if (claim) return claim
    const state = await turnQueries.findTurnState(db, orgId, turnId)
    if (!state || !['queued', 'running'].includes(state.status)) return undefined
    await delay(Math.max(100, state.leaseLeftMs ?? 0), undefined, { signal })
  }
}

const openHold = async (
  deps: RunDeps,
  orgId: string,
  claim: Claim<ClaimedTurn>,
  signal: AbortSignal,
  onBroken: (reason: Error) => void,
): Promise<Hold> => {
  const { db, notifier } = deps
  const { row: turn, token } = claim
  turn.untrustedFrom ??= turn.earlierUntrustedFrom
  const held = { orgId, turnId: turn.id, token }
  const isFirst = turn.attempts === 1
  const [steps, calls, lastSeq, mark] = isFirst
    ? [[], [], 0, undefined]
    : await Promise.all([
        turnQueries.listSteps(db, orgId, turn.id),
        turnQueries.listCalls(db, orgId, turn.id),
        eventQueries.findLastSeq(db, orgId, turn.id),
        eventQueries.findLastStepBoundary(db, orgId, turn.id),
      ])
  const stream = createStreamLog({
    lastSeq,
    append: (frames) => appendFrames(db, held, frames),
    publish: (update) => notifier.publish(turn.id, update),
    isRead: () => notifier.isRead(turn.id),
    onFailure: onBroken,
  })
  // A turn only waits so long within a step that its frames are removed.
  const isInStep = mark ? endsInsideStep(mark.frames.split('\n')) : steps.length > 0
  const progress = { steps, calls, isInStep }
  const hold: Hold = { deps, turn, held, progress, stream, signal, startedAtMs: performance.now() }
  const { id: turnId, sessionId, replyId } = turn
  if (lastSeq === 0) say(hold, { type: 'start', messageId: replyId, messageMetadata: { turnId, sessionId } })
  return hold
}

const giveBackTries = 60

/**
 * Gives the turn back, so that whoever takes it up next need not wait for the lease to run out, and does not take this
 * worker for dead: after an outage of the database that is tried until it answers, for a minute.
 */
const giveBack = async (db: Database, held: Held, jobSignal: AbortSignal): Promise<void> => {
  for (let tries = 1; tries <= giveBackTries; tries++) {
    try {
      await releaseTurn(db, held)
      return
    } catch {
      if (jobSignal.aborted) return
      await delay(1_000, undefined, { signal: jobSignal }).catch(() => undefined)
    }
  }
}

interface TakenTurn {
  claim: Claim<ClaimedTurn>
  /** Gives up the place among turns on probation, if it has one. */
  leaveProbation: () => void
}

/** Claims the turn. One whose worker died waits until few such turns are at work here; until then nobody has it. */
const claimInOrder = async (
  deps: RunDeps,
  orgId: string,
  turnId: string,
  signal: AbortSignal,
): Promise<TakenTurn | undefined> => {
  const claim = await claimTurn(deps, orgId, turnId, signal)
  if (!claim) return undefined
  const { workerDeaths } = claim.row
  if (workerDeaths === 0 || workerDeaths >= maxWorkerDeaths) return { claim, leaveProbation: () => undefined }
  const entered = deps.probation.tryEnter()
  if (entered) return { claim, leaveProbation: entered }
  // Given back, so that it is not counted again when what has the place ends this process.
  await giveBack(deps.db, { orgId, turnId, token: claim.token }, signal)
  const leaveProbation = await deps.probation.enter(signal)
  try {
    const again = await claimTurn(deps, orgId, turnId, signal)
    if (again) return { claim: again, leaveProbation }
  } catch (error) {
    leaveProbation()
    throw error
  }
  leaveProbation()
  return undefined
}

/**
 * The job of a turn: claims it and works on it until it ends, waits for a person, or is not ours any more. Rejects when
 * the turn is to be taken up again.
 */
export const workOnTurn = async (
  deps: RunDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
  { signal: jobSignal }: Pick<JobContext, 'signal'>,
): Promise<void> => {
  const { db, notifier, log, config } = deps
  const taken = await claimInOrder(deps, orgId, turnId, jobSignal)
  if (!taken) return
  const { claim, leaveProbation } = taken
  const lease = keepLease(db, turnQueries.leasedTurn(orgId, turnId), claim, turnLease)
  const stop = new AbortController()
  const { workedMs, chainLeftMs } = claim.row
  const leftMs = Math.max(0, Math.min(config.turnLimitMs - Number(workedMs), chainLeftMs ?? Infinity))
  const limit = setTimeout(() => stop.abort(new TimeIsUp()), leftMs)
  const leave = notifier.work(turnId, () => stop.abort(new Error('the turn was cancelled')))
  const unwatch = watchTurnAuthority(db, deps.authority, { orgId, turn: claim.row }, (why) =>
    stop.abort(new AuthorityLost(why)),
  )
  const signal = AbortSignal.any([lease.signal, stop.signal, jobSignal])
  try {
    const unit = { kind: 'turn', id: turnId, orgId } as const
    const abort = (reason: Error): void => stop.abort(reason)
    await runUnit(unit, abort, async () => takeTurn(await openHold(deps, orgId, claim, signal, abort)))
  } catch (error) {
    await giveBack(db, { orgId, turnId, token: claim.token }, jobSignal)
    const state = await turnQueries.findTurnState(db, orgId, turnId)
    if (!state || !['queued', 'running'].includes(state.status)) return
    log.warn({ err: error, turnId }, 'a turn was interrupted and is taken up again')
    throw error
  } finally {
    clearTimeout(limit)
    unwatch()
    leave()
    leaveProbation()
    lease.stop()
  }
}
