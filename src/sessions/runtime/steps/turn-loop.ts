import { StrayError } from '../../../platform/process/units.ts'
import { ModelFailure } from '../../models/model-client.ts'
import { AuthorityLost } from '../authority.ts'
import { closeCalls } from './call-rows.ts'
import { isOverBudget } from '../costs/costs.ts'
import { callModel } from './model-step.ts'
import { OutputInvalid } from './step-outcome.ts'
import type { StepOutcome } from './step-outcome.ts'
import {
  askAboutCalls,
  awaitsAnswer,
  cancelCalls,
  handToCaller,
  planCalls,
  resumeCalls,
  runCalls,
} from './tool-calls.ts'
import { renewAuthority, TimeIsUp } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'
import { isOfCaller } from '../../turns/caller-tools/caller-tools.ts'
import { ended, failed } from '../turn-outcome.ts'
import type { TurnOutcome } from '../turn-outcome.ts'

/** How the turn ends after a step; undefined when it continues with the tools that the model requested. */
const endAfter = (context: TurnContext, number: number, step: StepOutcome): TurnOutcome | undefined => {
  const { finish, calls } = step
  const continues = finish === 'stop' || finish === 'tool-calls' || finish === 'other'
  const newCalls = continues ? {} : { newCalls: cancelCalls(context, number, calls) }
  const checkpoint = { ended: step.ended, ...newCalls }
  if (finish === 'time') return ended('incomplete', 'max_time', checkpoint)
  if (finish === 'cost') return ended('incomplete', 'max_cost', checkpoint)
  if (finish instanceof AuthorityLost) return failed(finish.detail, checkpoint)
  if (finish instanceof ModelFailure) {
    const wasCut = finish.code === 'cut' && (step.ended?.parts.length ?? 0) > 0
    if (wasCut) return ended('incomplete', 'stream_truncated', checkpoint)
    return failed({ code: `model_${finish.code}`, message: finish.message }, checkpoint)
  }
  if (finish instanceof OutputInvalid) return failed(finish.detail, checkpoint)
  if (finish === 'length') return ended('incomplete', 'max_tokens', checkpoint)
  if (finish === 'content-filter') return ended('incomplete', 'content_filter', checkpoint)
  return calls.length === 0 ? ended('completed', 'stop', checkpoint) : undefined
}

/** With outputs of the caller, too: the whole turn is in memory while it runs. */
const mostSteps = 256

/** The last step in which the caller's tools were called, so that the caller has let the turn go on after it; 0 for none. */
const callerStep = ({ turn, state }: TurnContext): number =>
  state.calls.findLast((call) => call.attempts > 0 && isOfCaller(turn.clientTools, call))?.step ?? 0

/** The outcome of a turn that has reached a limit; undefined when another step may begin. */
const limitReached = (context: TurnContext, step: number): TurnOutcome | undefined => {
  if (context.limits.leftMs() <= 0) return ended('incomplete', 'max_time')
  if (step - callerStep(context) > context.turn.maxSteps || step > mostSteps) return ended('incomplete', 'max_steps')
  return isOverBudget(context.turn, context.state.steps) ? ended('incomplete', 'max_cost') : undefined
}

/** Lets the turn wait when a tool has asked the person for input; its question is stored with the call. */
const waitForAnswer = async (context: TurnContext): Promise<boolean> => {
  if (!awaitsAnswer(context)) return false
  await context.services.writer.pause({})
  return true
}

/** Continues the unfinished tool calls of an earlier worker. Undefined when the turn waits for a person or the caller. */
const resumeStep = async (context: TurnContext): Promise<TurnContext | undefined> => {
  const { state, services } = context
  const resumed = await resumeCalls(context)
  if (resumed.questions.length > 0) {
    await services.writer.pause({ callChanges: resumed.questions })
    return undefined
  }
  if (await waitForAnswer(resumed.context)) return undefined
  if (await handToCaller(resumed.context)) return undefined
  // All calls of the step have results now, so the step ends in the stream.
  if (state.isInStep && state.steps.at(-1)?.status === 'completed') services.writer.emit({ type: 'finish-step' })
  return resumed.context
}

/**
 * The loop of a turn: calls the model, runs the tools that it requests, and calls it again. Returns how the turn ends;
 * undefined when it waits for a person or for outputs of the caller.
 */
const runSteps = async (prepared: TurnContext): Promise<TurnOutcome | undefined> => {
  const { state, services } = prepared
  const resumed = await resumeStep(prepared)
  if (!resumed) return undefined
  let context = resumed
  const lastCompleted = state.steps.findLast(({ status }) => status === 'completed')
  for (let step = (lastCompleted?.step ?? 0) + 1; ; step++) {
    const limit = limitReached(context, step)
    if (limit) return limit
    if (state.calls.length > 0) {
      // Authority may have changed while the tools ran.
      const renewed = await renewAuthority(context)
      if (renewed instanceof AuthorityLost) throw renewed
      context = renewed
    }
    const sharedLimit = await services.sharedBudget.countCall()
    if (sharedLimit) return ended('incomplete', sharedLimit)
    const outcome = await callModel(context, step)
    if (outcome.ended) state.addStep(outcome.ended)
    const end = endAfter(context, step, outcome)
    if (end) return end
    // Authority may also have changed during the model call. The tools run with the current authority.
    const renewed = await renewAuthority(context)
    if (renewed instanceof AuthorityLost) {
      return failed(renewed.detail, { ended: outcome.ended, newCalls: cancelCalls(context, step, outcome.calls) })
    }
    context = renewed
    const calls = planCalls(context, step, outcome.calls)
    const newCalls = await askAboutCalls(context, calls)
    if (newCalls) {
      await services.writer.pause({ ended: outcome.ended, newCalls })
      return undefined
    }
    await runCalls(context, outcome.ended, calls)
    if (await waitForAnswer(context)) return undefined
    if (await handToCaller(context)) return undefined
    services.writer.emit({ type: 'finish-step' })
  }
}

const strayError = { code: 'internal', message: 'An error in the server ended this turn.' }

/**
 * Runs the steps of a turn until it ends or waits for a person (undefined). Closes open tool calls at the time limit and
 * when authority is lost. Rejects when the lease is lost or the turn should be retried.
 */
export const runTurnLoop = async (context: TurnContext): Promise<TurnOutcome | undefined> => {
  try {
    return await runSteps(context)
  } catch (error) {
    const checkpoint = { callChanges: closeCalls(context.state.calls) }
    if (error instanceof TimeIsUp) return ended('incomplete', 'max_time', checkpoint)
    if (error instanceof StrayError) return failed(strayError, checkpoint)
    if (error instanceof AuthorityLost) return failed(error.detail, checkpoint)
    throw error
  }
}
