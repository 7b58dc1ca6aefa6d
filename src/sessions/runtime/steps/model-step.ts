import { setTimeout as delay } from 'node:timers/promises'
import { reasoningEffortOf } from '../../../agents/agents.ts'
import { ModelFailure } from '../../models/model-client.ts'
import type { FinishReason, ModelCall, ModelUsage } from '../../models/model-client.ts'
import { AuthorityLost } from '../authority.ts'
import { costOf } from '../costs/costs.ts'
import { emptyResponse, receiveResponse } from './model-response.ts'
import type { ModelResponse, RequestedCall } from './model-response.ts'
import { plausibleUsage } from '../costs/plausible-usage.ts'
import { assistantMessages, estimateTokens, leftOutNote, promptOf } from '../prompt/prompt.ts'
import type { EndedStep } from '../queries.ts'
import { replyPartsOf } from '../prompt/reply-parts.ts'
import { promptTokensOf } from '../costs/reservations.ts'
import { TimeIsUp } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'

/** How a step ended. */
export interface StepOutcome {
  /** The last model call of the step if it is not stored yet; undefined when all calls are stored. */
  ended: EndedStep | undefined
  calls: RequestedCall[]
  /** `cost`: there was not enough money for the call. */
  finish: FinishReason | ModelFailure | AuthorityLost | 'time' | 'cost'
}

/** The output limit of a call: the smaller of the model's limit and the caller's. */
const outputLimit = ({ model, turn }: TurnContext): { maxOutputTokens?: number } => {
  // The prompt may use three quarters of the context window.
  const room = model.contextWindow === null ? null : Math.floor(model.contextWindow / 4)
  const limits = [model.maxOutputTokens, turn.maxOutputTokens].filter((limit) => limit !== null)
  if (room !== null && limits.length > 0) limits.push(room)
  return limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }
}

/** The agent's setting. Ignored when the model does not reason, as after a change of the server's configuration. */
const effortOf = ({ agent, model }: TurnContext): Pick<ModelCall, 'reasoningEffort'> => {
  const reasoningEffort = reasoningEffortOf(agent.settings)
  return reasoningEffort && model.capabilities.reasoning ? { reasoningEffort } : {}
}

const promptFor = (context: TurnContext): { call: ModelCall; leftOut: number } => {
  const { turn, state, instructions, tools, exchanges, maxPromptTokens } = context
  const room = maxPromptTokens - estimateTokens(instructions) - estimateTokens(tools)
  const { messages, leftOut } = promptOf(exchanges, assistantMessages(replyPartsOf(state), turn.model), room)
  const shown = [instructions, leftOutNote(leftOut)].filter((text) => text !== '').join('\n\n')
  const limits = { ...outputLimit(context), ...effortOf(context) }
  return { call: { modelId: turn.model, instructions: shown, messages, tools, ...limits }, leftOut }
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
const wasRejected = (response: ModelResponse, end: CallEnd): boolean =>
  end.status === 'failed' &&
  response.characters === 0 &&
  ['rate_limited', 'unavailable', 'rejected'].includes(end.failure.code)

const usageOf = (
  { model }: TurnContext,
  promptTokens: number,
  response: ModelResponse,
  end: CallEnd,
): { usage: ModelUsage; isEstimate: boolean } => {
  const reported =
    end.status === 'completed' ? response.finish?.usage : wasRejected(response, end) ? noUsage : undefined
  if (reported) return plausibleUsage(reported, model, promptTokens)
  const outputTokens = response.parts.length === 0 ? 0 : estimateTokens(response.parts)
  return { usage: { ...noUsage, inputTokens: promptTokens, outputTokens }, isEstimate: true }
}

const endedStep = (context: TurnContext, attempt: Attempt, response: ModelResponse, end: CallEnd): EndedStep => {
  const { usage, isEstimate } = usageOf(context, attempt.promptTokens, response, end)
  return {
    step: attempt.step,
    attempt: attempt.attempt,
    status: end.status,
    finishReason: end.status === 'completed' ? end.reason : null,
    // An interrupted response keeps its text. Its tool calls are removed because they are not run.
    parts: end.status === 'completed' ? response.parts : response.parts.filter(({ type }) => type !== 'tool-call'),
    ...usage,
    isEstimate,
    costMicrocents: costOf(usage, context.turn.pricing),
    error: end.status === 'failed' ? { code: end.failure.code, message: end.failure.message } : null,
  }
}

const maxFailuresBeforeOutput = 3
const maxFailuresAfterOutput = 2
const backoffMs = 400

/** At most three attempts in all, but only two when text had already streamed, because readers see it change. */
const isWorthRetrying = (failure: ModelFailure, failures: number, hadOutput: boolean): boolean =>
  failure.isTransient && failures < (hadOutput ? maxFailuresAfterOutput : maxFailuresBeforeOutput)

/** Makes one model call. Its row is stored before the call, so a crash during the call leaves a row without an end. */
const callOnce = async (context: TurnContext, call: ModelCall, step: number, attempt: number): Promise<StepOutcome> => {
  const { turn, services } = context
  const promptTokens = promptTokensOf(call)
  const costMicrocents = costOf({ ...noUsage, inputTokens: promptTokens }, turn.pricing)
  services.writer.emit({ type: attempt === 1 ? 'start-step' : 'reset-step' })
  await services.writer.save({ begun: { step, attempt, inputTokens: promptTokens, costMicrocents } })
  services.faultPoint('before-model-call')
  const response = emptyResponse()
  const endWith = (end: CallEnd): EndedStep => endedStep(context, { step, attempt, promptTokens }, response, end)
  try {
    await receiveResponse(context, call, `${step}.${attempt}`, response)
    services.faultPoint('after-stream')
    const reason = response.finish?.reason ?? 'other'
    return { ended: endWith({ status: 'completed', reason }), calls: response.calls, finish: reason }
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

/** Waits before the next attempt. False at the turn's time limit; rejects when the turn ends for another reason. */
const backOff = async ({ signal }: TurnContext, failure: ModelFailure, failures: number): Promise<boolean> => {
  const pauseMs = failure.retryAfterMs ?? backoffMs * 2 ** (failures - 1) * (0.5 + Math.random())
  await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  if (!signal.aborted) return true
  if (signal.reason instanceof TimeIsUp) return false
  throw signal.reason
}

/** Runs one step: calls the model and retries transient failures. Rejects when the lease is lost. */
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
    // The next attempt streams its response from the start.
    const discarded = { ...ended, parts: [] }
    await services.writer.save({ ended: discarded })
    state.addStep(discarded)
    if (!(await backOff(context, finish, failures))) return { ended: undefined, calls: [], finish: 'time' }
  }
}
