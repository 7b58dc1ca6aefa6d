import { setTimeout as delay } from 'node:timers/promises'
import { ModelFailure } from '../../models/model-client.ts'
import type { FinishReason, ModelCall, ModelUsage } from '../../models/model-client.ts'
import { AuthorityLost } from '../authority.ts'
import { costOf } from '../costs/costs.ts'
import { emptyAnswer, receiveAnswer } from './model-answer.ts'
import type { ModelAnswer, RequestedCall } from './model-answer.ts'
import { plausibleUsage } from '../costs/plausible-usage.ts'
import { assistantMessages, estimateTokens, leftOutNote, promptOf } from '../prompt/prompt.ts'
import type { EndedStep } from '../queries.ts'
import { replyPartsOf } from '../prompt/reply-parts.ts'
import { promptTokensOf } from '../costs/reservations.ts'
import { TimeIsUp } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'

/** How a step ended. */
export interface StepOutcome {
  /** The last model call of the step, which is still to be written. Undefined when all of them are written. */
  ended: EndedStep | undefined
  calls: RequestedCall[]
  /** `cost`: there was not enough money for the call. */
  finish: FinishReason | ModelFailure | AuthorityLost | 'time' | 'cost'
}

/** The most that a call may write: the model's limit, or less when the caller asked for less. */
const outputLimit = ({ model, turn }: TurnContext): { maxOutputTokens?: number } => {
  // The prompt may use three quarters of the window.
  const room = model.contextWindow === null ? null : Math.floor(model.contextWindow / 4)
  const limits = [model.maxOutputTokens, turn.maxOutputTokens].filter((limit) => limit !== null)
  if (room !== null && limits.length > 0) limits.push(room)
  return limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }
}

const promptFor = (context: TurnContext): { call: ModelCall; leftOut: number } => {
  const { turn, state, instructions, tools, exchanges, maxPromptTokens } = context
  const room = maxPromptTokens - estimateTokens(instructions) - estimateTokens(tools)
  const { messages, leftOut } = promptOf(exchanges, assistantMessages(replyPartsOf(state)), room)
  const shown = [instructions, leftOutNote(leftOut)].filter((text) => text !== '').join('\n\n')
  return { call: { modelId: turn.model, instructions: shown, messages, tools, ...outputLimit(context) }, leftOut }
}

type CallEnd =
  | { status: 'completed'; reason: FinishReason }
  | { status: 'failed'; failure: ModelFailure }
  | { status: 'cancelled' }

interface Attempt {
  step: number
  attempt: number
  promptTokens: number
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** The provider rejected the request and did no work, so nothing is charged. */
const wasRejected = (answer: ModelAnswer, end: CallEnd): boolean =>
  end.status === 'failed' &&
  answer.characters === 0 &&
  ['rate_limited', 'unavailable', 'rejected'].includes(end.failure.code)

const usageOf = (
  { model }: TurnContext,
  promptTokens: number,
  answer: ModelAnswer,
  end: CallEnd,
): { usage: ModelUsage; isEstimate: boolean } => {
  const reported = end.status === 'completed' ? answer.finish?.usage : wasRejected(answer, end) ? noUsage : undefined
  if (reported) return plausibleUsage(reported, model, promptTokens)
  const outputTokens = answer.parts.length === 0 ? 0 : estimateTokens(answer.parts)
  return { usage: { ...noUsage, inputTokens: promptTokens, outputTokens }, isEstimate: true }
}

const endedStep = (context: TurnContext, attempt: Attempt, answer: ModelAnswer, end: CallEnd): EndedStep => {
  const { usage, isEstimate } = usageOf(context, attempt.promptTokens, answer, end)
  return {
    step: attempt.step,
    attempt: attempt.attempt,
    status: end.status,
    finishReason: end.status === 'completed' ? end.reason : null,
    // The text of an answer that broke off is kept. Its tool calls are not run, so they are not kept.
    parts: end.status === 'completed' ? answer.parts : answer.parts.filter(({ type }) => type !== 'tool-call'),
    ...usage,
    isEstimate,
    costMicrocents: costOf(usage, context.turn.pricing),
    error: end.status === 'failed' ? { code: end.failure.code, message: end.failure.message } : null,
  }
}

const maxFailuresBeforeOutput = 3
const maxFailuresAfterOutput = 2
const backoffMs = 400

/** A failed call is made at most three times in all; twice when it had begun to answer, because readers see the text change. */
const isWorthRetrying = (failure: ModelFailure, failures: number, hadOutput: boolean): boolean =>
  failure.isTransient && failures < (hadOutput ? maxFailuresAfterOutput : maxFailuresBeforeOutput)

/** Makes one model call, after its row is written: a crash during the call leaves a row that says so. */
const callOnce = async (context: TurnContext, call: ModelCall, step: number, attempt: number): Promise<StepOutcome> => {
  const { turn, services } = context
  const promptTokens = promptTokensOf(call)
  const costMicrocents = costOf({ ...noUsage, inputTokens: promptTokens }, turn.pricing)
  services.writer.emit({ type: attempt === 1 ? 'start-step' : 'reset-step' })
  await services.writer.save({ begun: { step, attempt, inputTokens: promptTokens, costMicrocents } })
  services.faultPoint('before-model-call')
  const answer = emptyAnswer()
  const endWith = (end: CallEnd): EndedStep => endedStep(context, { step, attempt, promptTokens }, answer, end)
  try {
    await receiveAnswer(context, call, `${step}.${attempt}`, answer)
    services.faultPoint('after-stream')
    const reason = answer.finish?.reason ?? 'other'
    return { ended: endWith({ status: 'completed', reason }), calls: answer.calls, finish: reason }
  } catch (error) {
    if (error instanceof TimeIsUp || error instanceof AuthorityLost) {
      const finish = error instanceof TimeIsUp ? 'time' : error
      return { ended: endWith({ status: 'cancelled' }), calls: [], finish }
    }
    if (!(error instanceof ModelFailure)) throw error
    services.log.warn({ err: error, turnId: turn.id, model: turn.model, step, attempt }, 'model call failed')
    return { ended: endWith({ status: 'failed', failure: error }), calls: [], finish: error }
  }
}

/** Waits before the next attempt. False when the turn's time is up; rejects when the turn ends for another reason. */
const backOff = async ({ signal }: TurnContext, failure: ModelFailure, failures: number): Promise<boolean> => {
  const pauseMs = failure.retryAfterMs ?? backoffMs * 2 ** (failures - 1) * (0.5 + Math.random())
  await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  if (!signal.aborted) return true
  if (signal.reason instanceof TimeIsUp) return false
  throw signal.reason
}

/** One step: calls the model, and again when it fails for a transient reason. Rejects when the lease is lost. */
export const callModel = async (context: TurnContext, step: number): Promise<StepOutcome> => {
  const { state, services } = context
  const { call, leftOut } = promptFor(context)
  await services.writer.saveLeftOut(leftOut)
  let attempt = state.steps.filter((one) => one.step === step).length
  for (let failures = 1; ; failures++) {
    attempt += 1
    const reserved = await services.reservations.reserve(context.agent, call)
    if (reserved === 'cost' || reserved instanceof ModelFailure) {
      return { ended: undefined, calls: [], finish: reserved }
    }
    const outcome = await callOnce(context, reserved, step, attempt)
    const { ended, finish } = outcome
    if (!(finish instanceof ModelFailure) || !ended) return outcome
    if (!isWorthRetrying(finish, failures, ended.parts.length > 0)) return outcome
    // The next attempt says everything anew.
    const discarded = { ...ended, parts: [] }
    await services.writer.save({ ended: discarded })
    state.addStep(discarded)
    if (!(await backOff(context, finish, failures))) return { ended: undefined, calls: [], finish: 'time' }
  }
}
