import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AuthorityLost } from './cast.ts'
import { believedUsage } from './believed-usage.ts'
import type { EndedStep } from './checkpoint-queries.ts'
import { costOf } from './costs.ts'
import { affordCall, promptTokensOf } from './metering.ts'
import { JsonTooDeep, maxJsonDepth, parseForeignJson } from '../../platform/http/json-depth.ts'
import { cleanJson, cleanText } from '../../platform/text/text.ts'
import { ModelFailure } from '../models/model-port.ts'
import type { FinishReason, ModelCall, ModelEvent, ModelUsage } from '../models/model-port.ts'
import { partsOf } from './progress.ts'
import { assistantMessages, estimateTokens, noteOfLeftOut, promptOf } from './prompt.ts'
import { setLeftOutExchanges } from '../turns/queries.ts'
import type { MessagePart } from '../schemas.ts'
import { reach, save, say, TimeIsUp } from './turn-run.ts'
import type { Run } from './turn-run.ts'

/** What the model wants done. `fault` says why it cannot be: its arguments were no JSON. */
export interface RequestedCall {
  callId: string
  toolName: string
  input: unknown
  fault: string | undefined
}

/** How a step came to its end. */
export interface StepOutcome {
  /** Its last call of the model, which is still to be written. Undefined when all of them are. */
  step: EndedStep | undefined
  calls: RequestedCall[]
  /** `cost`: there was no money for the call. */
  finish: FinishReason | ModelFailure | AuthorityLost | 'time' | 'cost'
}

// Letters and digits, nine of them: what the pickiest provider takes as the id of a tool call.
const callAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const newCallId = (): string => Array.from({ length: 9 }, () => callAlphabet[randomInt(callAlphabet.length)]).join('')

const maxCharacters = 1_000_000

interface Heard {
  parts: MessagePart[]
  calls: RequestedCall[]
  finish: { reason: FinishReason; usage: ModelUsage | undefined } | undefined
  characters: number
}

const parseInput = (input: string): { input: unknown; fault: string | undefined } => {
  try {
    // Models write nothing, or null, for a tool without arguments.
    return { input: cleanJson(parseForeignJson(input === '' ? '{}' : input)) ?? {}, fault: undefined }
  } catch (error) {
    const fault =
      error instanceof JsonTooDeep ? `The arguments are nested deeper than ${maxJsonDepth} levels.` : notJson
    return { input: cleanText(input), fault }
  }
}

const notJson = 'The arguments are not valid JSON.'

/** Takes down what the model says, and passes it on to whoever reads the stream. */
const createListener = (run: Run, prefix: string, heard: Heard) => {
  let open: { type: 'text' | 'reasoning'; text: string } | undefined
  let blocks = 0
  const callIds = new Map<string, string>()
  const blockId = (): string => `${prefix}.${blocks}`

  const close = (): void => {
    if (open) say(run, { type: `${open.type}-end`, id: blockId() })
    open = undefined
  }
  const hear = (type: 'text' | 'reasoning', delta: string): void => {
    if (delta === '') return
    if (open?.type !== type) {
      close()
      blocks += 1
      open = { type, text: '' }
      heard.parts.push(open)
      say(run, { type: `${type}-start`, id: blockId() })
    }
    open.text += delta
    heard.characters += delta.length
    say(run, { type: `${type}-delta`, id: blockId(), delta })
  }
  const callIdOf = (id: string, toolName: string): string => {
    const known = callIds.get(id)
    if (known !== undefined) return known
    const callId = newCallId()
    callIds.set(id, callId)
    close()
    say(run, { type: 'tool-input-start', toolCallId: callId, toolName, dynamic: true })
    return callId
  }
  const hearCall = (id: string, toolName: string, text: string): void => {
    const callId = callIdOf(id, toolName)
    // A provider may use an id again; the next call of that id is another one.
    callIds.delete(id)
    const { input, fault } = parseInput(text)
    heard.parts.push({ type: 'tool-call', toolCallId: callId, toolName, input })
    heard.calls.push({ callId, toolName, input, fault })
    const shown = { toolCallId: callId, toolName, input, dynamic: true } as const
    if (fault === undefined) say(run, { type: 'tool-input-available', ...shown })
    else say(run, { type: 'tool-input-error', ...shown, errorText: fault })
  }

  return {
    close,
    on: (event: ModelEvent): void => {
      if (event.type === 'text' || event.type === 'reasoning') hear(event.type, event.delta)
      else if (event.type === 'tool-input') {
        heard.characters += event.delta.length
        const toolCallId = callIdOf(event.id, cleanText(event.toolName))
        say(run, { type: 'tool-input-delta', toolCallId, inputTextDelta: event.delta })
      } else if (event.type === 'tool-call') hearCall(event.id, cleanText(event.toolName), event.input)
      else heard.finish = { reason: event.reason, usage: event.usage }
    },
  }
}

/**
 * Listens to one call until its end. Whatever happens (the model falls silent, the turn is cancelled) nobody waits for
 * the model longer than that.
 */
const listen = async (run: Run, call: ModelCall, prefix: string, heard: Heard): Promise<void> => {
  const { modelSilenceMs } = run.deps.config
  const over = new AbortController()
  const signal = AbortSignal.any([run.signal, over.signal])
  const silence = setTimeout(() => {
    over.abort(new ModelFailure('silent', `The model said nothing for ${Math.round(modelSilenceMs / 1_000)} s.`))
  }, modelSilenceMs)
  const listener = createListener(run, prefix, heard)
  const hearAll = async (): Promise<void> => {
    for await (const event of run.deps.port.stream(call, signal)) {
      signal.throwIfAborted()
      silence.refresh()
      listener.on(event)
      if (heard.characters > 0) reach(run, 'mid-stream')
      if (heard.characters > maxCharacters) {
        heard.finish = { reason: 'length', usage: undefined }
        break
      }
    }
    if (!heard.finish) throw new ModelFailure('cut', 'The model broke off in the middle of its answer.')
  }
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    if (signal.aborted) reject(signal.reason as Error)
  })
  try {
    const hearing = hearAll()
    hearing.catch(() => undefined)
    await Promise.race([hearing, aborted])
  } finally {
    clearTimeout(silence)
    over.abort(new Error('the call is over'))
    listener.close()
  }
}

/** The most that a call may say: what the model can, or less when the caller wants less. */
const outputLimit = ({ model, turn }: Run): { maxOutputTokens?: number } => {
  // The prompt may take three quarters of the window.
  const room = model.contextWindow === null ? null : Math.floor(model.contextWindow / 4)
  const limits = [model.maxOutputTokens, turn.maxOutputTokens].filter((limit) => limit !== null)
  if (room !== null && limits.length > 0) limits.push(room)
  return limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }
}

const promptFor = (run: Run): { call: ModelCall; leftOut: number } => {
  const { turn, instructions, tools, exchanges, maxPromptTokens } = run
  const room = maxPromptTokens - estimateTokens(instructions) - estimateTokens(tools)
  const { messages, leftOut } = promptOf(exchanges, assistantMessages(partsOf(run.progress)), room)
  const told = [instructions, noteOfLeftOut(leftOut)].filter((text) => text !== '').join('\n\n')
  return { call: { modelId: turn.model, instructions: told, messages, tools, ...outputLimit(run) }, leftOut }
}

/** Lets the person see that the model no longer sees everything. */
const tellLeftOut = async (run: Run, leftOut: number): Promise<void> => {
  const { deps, held, turn } = run
  if (leftOut <= turn.leftOutExchanges) return
  turn.leftOutExchanges = leftOut
  await setLeftOutExchanges(deps.db, held, leftOut)
  say(run, { type: 'message-metadata', messageMetadata: { leftOutExchanges: leftOut } })
}

type Ended =
  | { status: 'completed'; reason: FinishReason }
  | { status: 'failed'; failure: ModelFailure }
  | { status: 'cancelled' }

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** The provider answered with a refusal and did no work: nobody is charged for that. */
const wasRefused = (heard: Heard, ended: Ended): boolean =>
  ended.status === 'failed' &&
  heard.characters === 0 &&
  ['rate_limited', 'unavailable', 'rejected'].includes(ended.failure.code)

const endedStep = (
  run: Run,
  at: { step: number; attempt: number; promptTokens: number },
  heard: Heard,
  ended: Ended,
): EndedStep => {
  const told = ended.status === 'completed' ? heard.finish?.usage : wasRefused(heard, ended) ? noUsage : undefined
  const counted = {
    inputTokens: at.promptTokens,
    outputTokens: heard.parts.length === 0 ? 0 : estimateTokens(heard.parts),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  const { usage, isEstimate } = told
    ? believedUsage(told, run.model, at.promptTokens)
    : { usage: counted, isEstimate: true }
  return {
    step: at.step,
    attempt: at.attempt,
    status: ended.status,
    finishReason: ended.status === 'completed' ? ended.reason : null,
    // What was said before it broke off is worth keeping; what was asked for by then is not done.
    parts: ended.status === 'completed' ? heard.parts : heard.parts.filter(({ type }) => type !== 'tool-call'),
    ...usage,
    isEstimate,
    costMicrocents: costOf(usage, run.turn.pricing),
    error: ended.status === 'failed' ? { code: ended.failure.code, message: ended.failure.message } : null,
  }
}

const maxFailuresBeforeOutput = 3
const maxFailuresAfterOutput = 2
const backoffMs = 400

/** Whether a failed call is made again: twice when nothing was heard, once when its first words can be taken back. */
const isWorthRetrying = (failure: ModelFailure, failures: number, hadOutput: boolean): boolean =>
  failure.isTransient && failures < (hadOutput ? maxFailuresAfterOutput : maxFailuresBeforeOutput)

/** Makes one call of the model, after its row is written. */
const callOnce = async (run: Run, call: ModelCall, step: number, attempt: number): Promise<StepOutcome> => {
  const promptTokens = promptTokensOf(call)
  const usage = { inputTokens: promptTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  say(run, { type: attempt === 1 ? 'start-step' : 'reset-step' })
  const costMicrocents = costOf(usage, run.turn.pricing)
  await save(run, { begun: { step, attempt, inputTokens: promptTokens, costMicrocents } })
  reach(run, 'before-model-call')
  const heard: Heard = { parts: [], calls: [], finish: undefined, characters: 0 }
  const at = { step, attempt, promptTokens }
  try {
    await listen(run, call, `${step}.${attempt}`, heard)
    reach(run, 'after-stream')
    const reason = heard.finish?.reason ?? 'other'
    return { step: endedStep(run, at, heard, { status: 'completed', reason }), calls: heard.calls, finish: reason }
  } catch (error) {
    if (error instanceof TimeIsUp || error instanceof AuthorityLost) {
      const finish = error instanceof TimeIsUp ? 'time' : error
      return { step: endedStep(run, at, heard, { status: 'cancelled' }), calls: [], finish }
    }
    if (!(error instanceof ModelFailure)) throw error
    run.deps.log.warn({ err: error, turnId: run.turn.id, model: run.turn.model, step, attempt }, 'model call failed')
    return { step: endedStep(run, at, heard, { status: 'failed', failure: error }), calls: [], finish: error }
  }
}

/** Waits before the next attempt. False when the time of the turn is up. */
const backOff = async (run: Run, failure: ModelFailure, failures: number): Promise<boolean> => {
  const pauseMs = failure.retryAfterMs ?? backoffMs * 2 ** (failures - 1) * (0.5 + Math.random())
  await delay(pauseMs, undefined, { signal: run.signal }).catch(() => undefined)
  if (!run.signal.aborted) return true
  if (run.signal.reason instanceof TimeIsUp) return false
  throw run.signal.reason
}

/**
 * One step: the model is called, and called again when it fails on something that passes. Rejects when the turn is not
 * ours any more.
 */
export const callModel = async (run: Run, step: number): Promise<StepOutcome> => {
  const { call, leftOut } = promptFor(run)
  await tellLeftOut(run, leftOut)
  let attempt = run.progress.steps.filter((one) => one.step === step).length
  for (let failures = 1; ; failures++) {
    attempt += 1
    const affordable = await affordCall(run, call)
    if (affordable === 'cost' || affordable instanceof ModelFailure) {
      return { step: undefined, calls: [], finish: affordable }
    }
    const outcome = await callOnce(run, affordable, step, attempt)
    const { step: ended, finish } = outcome
    if (!(finish instanceof ModelFailure) || !ended) return outcome
    if (!isWorthRetrying(finish, failures, ended.parts.length > 0)) return outcome
    const forgotten = { ...ended, parts: [] }
    await save(run, { ended: forgotten })
    run.progress.steps.push({ ...forgotten, startedAt: '', endedAt: '' })
    if (!(await backOff(run, finish, failures))) return { step: undefined, calls: [], finish: 'time' }
  }
}
