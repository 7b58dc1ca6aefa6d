import { randomInt } from 'node:crypto'
import { JsonTooDeep, maxJsonDepth, parseForeignJson } from '../../../platform/http/json-depth.ts'
import { cleanJson, cleanText } from '../../../platform/text/text.ts'
import { ModelFailure } from '../../models/model-client.ts'
import type { FinishReason, ModelCall, ModelEvent, ModelUsage, ProviderOptions } from '../../models/model-client.ts'
import type { StepPart } from '../../turns/step-parts.ts'
import { createStopFilter } from './stop-sequences.ts'
import type { TurnContext } from '../turn-context.ts'
import type { TurnWriter } from '../turn-writer.ts'

/** A tool call that the model requested. `inputError` is set when its arguments cannot be parsed, so it cannot run. */
export interface RequestedCall {
  callId: string
  toolName: string
  input: unknown
  inputError: string | undefined
}

/** A model's response so far. It is filled while events stream in, so a failed call keeps the partial response. */
export interface ModelResponse {
  parts: StepPart[]
  calls: RequestedCall[]
  /** The arguments so far of calls that are not complete, by the provider's id. */
  openInputs: Map<string, string>
  /** Undefined until the response is complete. `usage` is undefined when the provider did not report it. */
  finish: { reason: FinishReason; usage: ModelUsage | undefined } | undefined
  characters: number
}

export const emptyResponse = (): ModelResponse => ({
  parts: [],
  calls: [],
  openInputs: new Map(),
  finish: undefined,
  characters: 0,
})

// Mistral has the strictest format for tool call ids: exactly nine letters and digits.
const callAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
export const newCallId = (): string =>
  Array.from({ length: 9 }, () => callAlphabet[randomInt(callAlphabet.length)]).join('')

/** Ends a response that would otherwise never stop. */
const maxCharacters = 1_000_000

/** What the rows and lines of a part count besides its text: a response could have a million calls without arguments. */
const charactersOfPart = 200

const isTooLong = ({ characters, parts }: ModelResponse): boolean =>
  characters + charactersOfPart * parts.length > maxCharacters

const parseInput = (input: string): Pick<RequestedCall, 'input' | 'inputError'> => {
  try {
    // Models send an empty string or null for a tool without arguments.
    return { input: cleanJson(parseForeignJson(input === '' ? '{}' : input)) ?? {}, inputError: undefined }
  } catch (error) {
    const isTooDeep = error instanceof JsonTooDeep
    const inputError = isTooDeep
      ? `The arguments are nested deeper than ${maxJsonDepth} levels.`
      : 'The arguments are not valid JSON.'
    return { input: cleanText(input), inputError }
  }
}

interface CallNames {
  modelId: string
  stopSequences: readonly string[]
  prefix: string
}

type TextPart = Extract<StepPart, { type: 'text' | 'reasoning' }>

/** Adds options to those that the part has, and counts their size, so that a response cannot grow by them without limit. */
const createOptionKeeper =
  (model: string, response: ModelResponse) =>
  (part: StepPart, options: ProviderOptions | undefined): void => {
    if (options === undefined) return
    response.characters += JSON.stringify(options).length
    part.provider ??= { model, options: {} }
    for (const [protocol, fields] of Object.entries(options)) {
      part.provider.options[protocol] = { ...part.provider.options[protocol], ...fields }
    }
  }

type CallPart = Extract<StepPart, { type: 'tool-call' }>

const keepCall = (response: ModelResponse, part: CallPart, inputError: string | undefined): void => {
  const { toolCallId: callId, toolName, input } = part
  response.characters += toolName.length
  response.parts.push(part)
  response.calls.push({ callId, toolName, input, inputError })
}

const keepInput = (response: ModelResponse, { id, delta }: { id: string; delta: string }): void => {
  response.characters += delta.length
  response.openInputs.set(id, (response.openInputs.get(id) ?? '') + delta)
}

/** Adds a model's events to the response and emits them to the stream. `prefix` keeps the ids of text blocks unique. */
const createCollector = (
  writer: TurnWriter,
  { modelId, prefix, stopSequences }: CallNames,
  response: ModelResponse,
) => {
  const keepOptions = createOptionKeeper(modelId, response)
  let open: { id: string; part: TextPart; isShown: boolean } | undefined
  /** Options can arrive after a later block has begun. */
  const texts = new Map<string, TextPart>()
  let blocks = 0
  const stop = createStopFilter(stopSequences)
  const callIds = new Map<string, string>()
  const blockId = (): string => `${prefix}.${blocks}`

  const showText = (block: NonNullable<typeof open>, delta: string): void => {
    if (delta === '') return
    const { type } = block.part
    if (!block.isShown) writer.emit({ type: `${type}-start`, id: blockId() })
    block.isShown = true
    block.part.text += delta
    response.characters += delta.length
    writer.emit({ type: `${type}-delta`, id: blockId(), delta })
  }
  const close = (): void => {
    if (open?.part.type === 'text') showText(open, stop.end())
    if (open?.isShown) writer.emit({ type: `${open.part.type}-end`, id: blockId() })
    open = undefined
  }
  const begin = (type: TextPart['type'], id: string): NonNullable<typeof open> => {
    close()
    blocks += 1
    open = { id, part: { type, text: '' }, isShown: false }
    texts.set(`${type} ${id}`, open.part)
    response.parts.push(open.part)
    return open
  }
  const addText = ({ type, id, delta, options }: Extract<ModelEvent, { type: TextPart['type'] }>): void => {
    if (delta === '') {
      const known = texts.get(`${type} ${id}`)
      if (options) keepOptions(known ?? begin(type, id).part, options)
      return
    }
    const block = open?.part.type === type && open.id === id ? open : begin(type, id)
    keepOptions(block.part, options)
    showText(block, type === 'text' && stopSequences.length > 0 ? stop.add(delta) : delta)
  }
  const callIdOf = (id: string, toolName: string): string => {
    const known = callIds.get(id)
    if (known !== undefined) return known
    const callId = newCallId()
    callIds.set(id, callId)
    close()
    writer.emit({ type: 'tool-input-start', toolCallId: callId, toolName, dynamic: true })
    return callId
  }
  const addCall = (id: string, toolName: string, text: string, options: ProviderOptions | undefined): void => {
    const callId = callIdOf(id, toolName)
    // A provider may reuse an id for another call.
    callIds.delete(id)
    response.openInputs.delete(id)
    const { input, inputError } = parseInput(text)
    const part: CallPart = { type: 'tool-call', toolCallId: callId, toolName, input }
    keepOptions(part, options)
    keepCall(response, part, inputError)
    const shown = { toolCallId: callId, toolName, input, dynamic: true } as const
    if (inputError === undefined) writer.emit({ type: 'tool-input-available', ...shown })
    else writer.emit({ type: 'tool-input-error', ...shown, errorText: inputError })
  }

  return {
    close,
    isStopped: () => stop.isStopped,
    add: (event: ModelEvent): void => {
      if (event.type === 'tool-input') {
        keepInput(response, event)
        const toolCallId = callIdOf(event.id, cleanText(event.toolName))
        writer.emit({ type: 'tool-input-delta', toolCallId, inputTextDelta: event.delta })
      } else if (event.type === 'tool-call') addCall(event.id, cleanText(event.toolName), event.input, event.options)
      else if (event.type === 'finish') response.finish = { reason: event.reason, usage: event.usage }
      else addText(event)
    },
  }
}

/** Rejects with the signal's reason; never resolves. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })

/**
 * Fills `response` from one model call until the call ends. Rejects immediately when the model sends nothing for
 * `modelSilenceMs` or when the turn ends, even if the provider's client ignores the signal.
 */
export const receiveResponse = async (
  { limits, services, signal: turnSignal }: TurnContext,
  call: ModelCall,
  prefix: string,
  response: ModelResponse,
): Promise<void> => {
  const { modelSilenceMs } = limits
  const over = new AbortController()
  const signal = AbortSignal.any([turnSignal, over.signal])
  const silence = setTimeout(() => {
    over.abort(new ModelFailure('silent', `The model sent nothing for ${Math.round(modelSilenceMs / 1_000)} s.`))
  }, modelSilenceMs)
  const names = { modelId: call.modelId, prefix, stopSequences: call.stopSequences ?? [] }
  const collector = createCollector(services.writer, names, response)
  const receiveAll = async (): Promise<void> => {
    for await (const event of services.models.stream(call, signal)) {
      signal.throwIfAborted()
      silence.refresh()
      collector.add(event)
      if (response.characters > 0) services.faultPoint('mid-stream')
      if (collector.isStopped()) {
        // Not waiting for the tokens that the provider reports at the end: it would charge for what nobody reads.
        response.finish ??= { reason: 'stop', usage: undefined }
        break
      }
      if (isTooLong(response)) {
        response.finish = { reason: 'length', usage: undefined }
        break
      }
    }
    if (!response.finish) throw new ModelFailure('cut', 'The model broke off in the middle of its response.')
  }
  const aborted = untilAborted(signal)
  try {
    const receiving = receiveAll()
    receiving.catch(() => undefined)
    await Promise.race([receiving, aborted])
  } finally {
    clearTimeout(silence)
    over.abort(new Error('the model call is over'))
    collector.close()
  }
}
