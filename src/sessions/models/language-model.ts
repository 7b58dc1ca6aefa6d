import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { ModelProtocol } from '../../config/models.ts'
import { cleanJson, createTextCleaner } from '../../platform/text/text.ts'
import { toOptions } from './call-options.ts'
import type { NameOnWire } from './call-options.ts'
import type { Circuits } from './circuits.ts'
import { ModelFailure } from './model-client.ts'
import { retryAfterOf } from './retry-after.ts'
import type { FinishReason, ModelCall, ModelEvent, ModelTool, ModelUsage, ProviderOptions } from './model-client.ts'

/** Caps reported token counts, which are stored in integer columns. No model reads or writes this many tokens. */
const maxReportedTokens = 2_000_000_000
const count = (reported: number | undefined): number =>
  Number.isFinite(reported) ? Math.min(maxReportedTokens, Math.max(0, Math.trunc(reported as number))) : 0

const isCount = (reported: number | undefined): boolean => Number.isFinite(reported) && (reported as number) >= 0

/** Undefined unless the provider reported both input and output tokens. Reported zeros count as reported. */
const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage | undefined =>
  isCount(inputTokens.total) && isCount(outputTokens.total)
    ? {
        inputTokens: count(inputTokens.total),
        outputTokens: count(outputTokens.total),
        cacheReadTokens: count(inputTokens.cacheRead),
        cacheWriteTokens: count(inputTokens.cacheWrite),
      }
    : undefined

const unreadable = new Set(['AI_TypeValidationError', 'AI_JSONParseError'])

/** Converts a provider's error. The message discloses nothing about the operator's account at the provider. */
export const toModelFailure = (cause: unknown): ModelFailure => {
  if (cause instanceof ModelFailure) return cause
  const error = (cause ?? {}) as { name?: string; statusCode?: number; responseHeaders?: unknown }
  const { statusCode, responseHeaders } = error
  if (unreadable.has(error.name ?? '')) {
    return new ModelFailure('unavailable', "The model's provider sent an unreadable response.", { cause })
  }
  // The provider's client throws this error for a stream that ended without a finish event.
  const isCut = error.name === 'AI_InvalidResponseDataError' || (statusCode !== undefined && statusCode < 300)
  if (isCut) return new ModelFailure('cut', 'The model broke off in the middle of its response.', { cause })
  if (statusCode === undefined) {
    return new ModelFailure('unavailable', "The model's provider cannot be reached.", { cause })
  }
  const retryAfterMs = retryAfterOf((responseHeaders ?? {}) as Record<string, string>, Date.now())
  if (statusCode === 429) {
    const message = "The model's provider rejected the request because of its rate limit."
    return new ModelFailure('rate_limited', message, { cause, retryAfterMs })
  }
  if (statusCode >= 500 || statusCode === 408) {
    return new ModelFailure('unavailable', `The model's provider failed (${statusCode}).`, { cause, retryAfterMs })
  }
  return new ModelFailure('rejected', `The model's provider rejected the request (${statusCode}).`, { cause })
}

const finishOf = (part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ModelEvent | undefined => {
  const { unified, raw } = part.finishReason
  const usage = usageOf(part.usage)
  // The stream broke off, and the provider's client added a finish event that the provider did not send.
  if (unified === 'interrupted' || (unified === 'other' && raw === undefined && usage === undefined)) return undefined
  if (unified === 'error') throw new ModelFailure('unavailable', "The model's provider broke off with an error.")
  const reason: FinishReason = unified
  return { type: 'finish', reason, usage }
}

/** What the provider wants back with this part. Only native protocols: other servers may reject fields that they sent. */
const optionsOf = (protocol: ModelProtocol, part: LanguageModelV4StreamPart): { options?: ProviderOptions } =>
  protocol !== 'openai-compatible' && 'providerMetadata' in part && part.providerMetadata !== undefined
    ? { options: cleanJson(part.providerMetadata) as ProviderOptions }
    : {}

/** Converts the parts of one response. Keeps what belongs together: split characters, and the names of tool calls. */
const createEventReader = (protocol: ModelProtocol, ourName: NameOnWire) => {
  const inputNames = new Map<string, string>()
  const text = createTextCleaner()
  const reasoning = createTextCleaner()
  return (part: LanguageModelV4StreamPart): ModelEvent | undefined => {
    const options = optionsOf(protocol, part)
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return options.options && { type: 'text', id: part.id, delta: '', ...options }
      case 'reasoning-start':
      case 'reasoning-end':
        return options.options && { type: 'reasoning', id: part.id, delta: '', ...options }
      case 'text-delta':
        return { type: 'text', id: part.id, delta: text(part.delta), ...options }
      case 'reasoning-delta':
        return { type: 'reasoning', id: part.id, delta: reasoning(part.delta), ...options }
      case 'tool-input-start':
        inputNames.set(part.id, ourName(part.toolName))
        return undefined
      case 'tool-input-delta':
        return { type: 'tool-input', id: part.id, toolName: inputNames.get(part.id) ?? '', delta: part.delta }
      case 'tool-call':
        return {
          type: 'tool-call',
          id: part.toolCallId,
          toolName: ourName(part.toolName),
          input: part.input,
          ...options,
        }
      case 'finish':
        return finishOf(part)
      case 'error':
        throw part.error
      default:
        return undefined
    }
  }
}

/** A model, and the name and protocol of its provider. */
export interface OpenModel {
  model: LanguageModelV4
  provider: string
  protocol: ModelProtocol
}

/** A request that cannot be built is never sent: it costs nothing, and building it again would fail again. */
const requestFor = (...of: Parameters<typeof toOptions>): ReturnType<typeof toOptions> => {
  try {
    return toOptions(...of)
  } catch (cause) {
    throw new ModelFailure('rejected', 'The request for the model could not be built.', { cause })
  }
}

/** Streams one call of a model with the AI SDK's provider interface, version 4 (`LanguageModelV4`). */
export async function* streamLanguageModel(
  { model, provider, protocol, circuits }: OpenModel & { circuits: Circuits },
  call: ModelCall,
  wireName: NameOnWire,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const names = new Map(call.tools.map(({ name }: ModelTool) => [wireName(name), name]))
  const read = createEventReader(protocol, (name) => names.get(name) ?? name)
  try {
    const options = requestFor(protocol, call, wireName, signal)
    const { stream } = await circuits.guard({ provider, orgId: call.orgId }, async () => {
      try {
        return await model.doStream(options)
      } catch (error) {
        throw signal.aborted ? signal.reason : error
      }
    })
    for await (const part of stream) {
      const event = read(part)
      if (event) yield event
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw toModelFailure(error)
  }
}
