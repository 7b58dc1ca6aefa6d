import { setTimeout as delay } from 'node:timers/promises'
import { reasoningEffortOf } from '../../../agents/agents.ts'
import { ModelFailure } from '../../models/model-client.ts'
import type { FinishReason, ModelCall, ModelUsage } from '../../models/model-client.ts'
import { AuthorityLost } from '../authority.ts'
import { costOf } from '../costs/costs.ts'
import { emptyResponse, receiveResponse } from './model-response.ts'
import type { ModelResponse } from './model-response.ts'
import { plausibleUsage } from '../costs/plausible-usage.ts'
import { assistantMessages, estimateTokens, leftOutNote, promptOf } from '../prompt/prompt.ts'
import type { EndedStep } from '../checkpoint-queries.ts'
import { replyPartsOf } from '../prompt/reply-parts.ts'
import { promptTokensOf } from '../costs/reservations.ts'
import { formatInstructions } from '../../output/response-format.ts'
import { checkOutput, mayRepair, repairMessages } from './output-check.ts'
import { OutputInvalid } from './step-outcome.ts'
import type { StepOutcome } from './step-outcome.ts'
import { allowsFallback } from './fallbacks.ts'
import type { CallTarget } from './fallbacks.ts'
import { TimeIsUp } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'

/** The output limit of a call: the smaller of the model's limit and the caller's. */
const outputLimit = ({ turn }: TurnContext, { model }: CallTarget): { maxOutputTokens?: number } => {
  // The prompt may use three quarters of the context window.
  const room = model.contextWindow === null ? null : Math.floor(model.contextWindow / 4)
  const limits = [model.maxOutputTokens, turn.maxOutputTokens].filter((limit) => limit !== null)
  if (room !== null && limits.length > 0) limits.push(room)
  return limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }
}

/** For models whose context window is not configured. */
const defaultContextTokens = 32_000

/** The agent's setting. Ignored when the model does not reason, as after a change of the server's configuration. */
const effortOf = ({ agent }: TurnContext, { model }: CallTarget): Pick<ModelCall, 'reasoningEffort'> => {
  const reasoningEffort = reasoningEffortOf(agent.settings)
  return reasoningEffort && model.capabilities.reasoning ? { reasoningEffort } : {}
}

/** Which tools the model must or may call; absent when it decides. Only the first step after a request can be forced. */
const toolChoiceOf = ({ turn, tools }: TurnContext, step: number): Pick<ModelCall, 'toolChoice'> => {
  const { choice = 'auto', fromStep = 1 } = turn.clientTools ?? {}
  if (choice === 'auto' || tools.length === 0) return {}
  return choice === 'none' || step === fromStep ? { toolChoice: choice } : {}
}

/** The largest part of a prompt that pictures and PDF files may be. */
const mediaShare = 0.5

/** The instructions, and the field for the format of the reply if the model has one. */
const formatFor = (
  { turn, instructions }: TurnContext,
  { model }: CallTarget,
): Pick<ModelCall, 'instructions' | 'responseFormat'> => {
  const { responseFormat } = turn
  if (responseFormat === null) return { instructions }
  if (model.capabilities.jsonSchema) return { instructions, responseFormat }
  return { instructions: [instructions, formatInstructions(responseFormat)].filter((text) => text !== '').join('\n\n') }
}

const promptFor = async (
  context: TurnContext,
  { target, step }: Pick<Attempt, 'target' | 'step'>,
): Promise<{ call: ModelCall; leftOut: number; release: () => void }> => {
  const { lease, state, tools, actor, signal, services } = context
  const { instructions, ...format } = formatFor(context, target)
  const { id: modelId, contextWindow } = target.model
  const maxPromptTokens = ((contextWindow ?? defaultContextTokens) * 3) / 4
  const room = maxPromptTokens - estimateTokens(instructions) - estimateTokens(tools)
  const conversation = { exchanges: context.exchanges, own: assistantMessages(replyPartsOf(state), modelId) }
  const { exchanges, own, media, release } = await services.attachments.load(conversation, {
    actor,
    model: target.model,
    signal,
    maxTokens: room * mediaShare,
    noteUntrusted: () => state.noteUntrusted('file'),
  })
  const { messages, leftOut } = promptOf(exchanges, own, room)
  messages.push(...repairMessages(state, step))
  const shown = [instructions, leftOutNote(leftOut)].filter((text) => text !== '').join('\n\n')
  const limits = { ...outputLimit(context, target), ...effortOf(context, target), ...toolChoiceOf(context, step) }
  const stop = context.turn.stopSequences === null ? {} : { stopSequences: context.turn.stopSequences }
  return {
    call: { orgId: lease.orgId, modelId, instructions: shown, messages, media, tools, ...format, ...limits, ...stop },
    leftOut,
    release,
  }
}

type CallEnd =
  | { status: 'completed'; reason: FinishReason }
  | { status: 'failed'; failure: ModelFailure }
  | { status: 'cancelled' }

interface Attempt {
  step: number
  attempt: number
  promptTokens: number
  target: CallTarget
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** The provider rejected the request and did no work, so nothing is charged. */
const wasRejected = (response: ModelResponse, end: CallEnd): boolean =>
  end.status === 'failed' &&
  response.characters === 0 &&
  ['rate_limited', 'unavailable', 'rejected'].includes(end.failure.code)

const usageOf = (
  { target, promptTokens }: Attempt,
  response: ModelResponse,
  end: CallEnd,
): { usage: ModelUsage; isEstimate: boolean } => {
  const reported =
    end.status === 'completed' ? response.finish?.usage : wasRejected(response, end) ? noUsage : undefined
  if (reported) return plausibleUsage(reported, target.model, promptTokens)
  const written = [...response.parts, ...response.openInputs.values()]
  const outputTokens = written.length === 0 ? 0 : estimateTokens(written)
  return { usage: { ...noUsage, inputTokens: promptTokens, outputTokens }, isEstimate: true }
}

const endedStep = (attempt: Attempt, response: ModelResponse, end: CallEnd): EndedStep => {
  const { usage, isEstimate } = usageOf(attempt, response, end)
  return {
    step: attempt.step,
    attempt: attempt.attempt,
    status: end.status,
    finishReason: end.status === 'completed' ? end.reason : null,
    // An interrupted response keeps its text. Its tool calls are removed because they are not run.
    parts: end.status === 'completed' ? response.parts : response.parts.filter(({ type }) => type !== 'tool-call'),
    ...usage,
    isEstimate,
    costMicrocents: costOf(usage, attempt.target.pricing),
    fallback: attempt.target.fallback,
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
const callOnce = async (
  context: TurnContext,
  call: ModelCall,
  { step, attempt, target }: Omit<Attempt, 'promptTokens'>,
): Promise<StepOutcome & { hadOutput: boolean }> => {
  const { turn, services } = context
  const promptTokens = promptTokensOf(call)
  const costMicrocents = costOf({ ...noUsage, inputTokens: promptTokens }, target.pricing)
  services.writer.emit({ type: attempt === 1 ? 'start-step' : 'reset-step' })
  await services.writer.save({
    begun: { step, attempt, inputTokens: promptTokens, costMicrocents, fallback: target.fallback },
  })
  services.faultPoint('before-model-call')
  const response = emptyResponse()
  const endWith = (end: CallEnd) => ({
    ended: endedStep({ step, attempt, promptTokens, target }, response, end),
    hadOutput: response.characters > 0,
  })
  try {
    await receiveResponse(context, call, `${step}.${attempt}`, response)
    services.faultPoint('after-stream')
    const reason = response.finish?.reason ?? 'other'
    return { ...endWith({ status: 'completed', reason }), calls: response.calls, finish: reason }
  } catch (error) {
    if (error instanceof TimeIsUp || error instanceof AuthorityLost) {
      const finish = error instanceof TimeIsUp ? 'time' : error
      return { ...endWith({ status: 'cancelled' }), calls: [], finish }
    }
    if (!(error instanceof ModelFailure)) throw error
    services.log.warn({ err: error, turnId: turn.id, model: call.modelId, step, attempt }, 'model call failed')
    return { ...endWith({ status: 'failed', failure: error }), calls: [], finish: error }
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

/** Makes one call with the files of the conversation, if there is enough money for it. */
const callWithFiles = async (
  context: TurnContext,
  at: Omit<Attempt, 'promptTokens'>,
): Promise<StepOutcome & { hadOutput: boolean; hadFiles: boolean }> => {
  const { services, agent } = context
  const { call, leftOut, release } = await promptFor(context, at)
  const hadFiles = (call.media?.size ?? 0) > 0
  try {
    await services.writer.saveLeftOut(leftOut)
    const reserved = await services.reservations.reserve(agent, call, at.target)
    if (reserved === 'cost' || reserved instanceof ModelFailure) {
      return { ended: undefined, calls: [], finish: reserved, hadOutput: false, hadFiles }
    }
    return { ...(await callOnce(context, reserved, at)), hadFiles }
  } finally {
    release()
  }
}

/** Stores a call without its response: the next attempt streams its response from the start. */
const discard = async ({ state, services }: TurnContext, ended: EndedStep): Promise<void> => {
  const discarded = { ...ended, parts: [] }
  await services.writer.save({ ended: discarded })
  state.addStep(discarded)
}

/** Runs one step: calls the model, retries transient failures, and calls the next model of the agent. Rejects when the lease is lost. */
export const callModel = async (context: TurnContext, step: number): Promise<StepOutcome> => {
  const { state, services, agent } = context
  let target = services.fallbacks.current(context.model)
  let attempt = state.steps.filter((one) => one.step === step).length
  for (let failures = 1; ; failures++) {
    attempt += 1
    const { hadOutput, hadFiles, ...received } = await callWithFiles(context, { step, attempt, target })
    const outcome = await checkOutput(context, received)
    const { ended, finish } = outcome
    if (finish instanceof OutputInvalid && ended && mayRepair(context, finish, ended)) {
      await discard(context, ended)
      continue
    }
    if (!(finish instanceof ModelFailure) || !ended) return outcome
    const next = allowsFallback(finish, hadOutput) ? await services.fallbacks.next(agent, target) : undefined
    // A file that a provider rejects must not end every later turn of the conversation.
    const triesWithoutFiles = hadFiles && finish.code === 'rejected'
    if (!next && !triesWithoutFiles && !isWorthRetrying(finish, failures, ended.parts.length > 0)) return outcome
    await discard(context, ended)
    if (triesWithoutFiles) services.attachments.giveUp(target.model.id)
    else if (next) {
      services.writer.emit({ type: 'message-metadata', messageMetadata: { model: next.model.id } })
      target = next
      failures = 0
    } else if (!(await backOff(context, finish, failures))) return { ended: undefined, calls: [], finish: 'time' }
  }
}
