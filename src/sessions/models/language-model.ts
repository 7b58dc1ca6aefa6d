import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { createTextCleaner } from '../../platform/text/text.ts'
import { ModelFailure } from './model-client.ts'
import type { FinishReason, ModelCall, ModelEvent, ModelTool, ModelUsage, PromptMessage } from './model-client.ts'

/** The name of a tool for the provider. */
type NameOnWire = (toolName: string) => string

const toWire = (message: PromptMessage, wireName: NameOnWire): LanguageModelV4Message => {
  if (message.role === 'user') return { role: 'user', content: [{ type: 'text', text: message.text }] }
  if (message.role === 'tool') {
    return {
      role: 'tool',
      content: message.results.map(({ callId, toolName, output, isError }) => ({
        type: 'tool-result',
        toolCallId: callId,
        toolName: wireName(toolName),
        output: { type: isError ? 'error-json' : 'json', value: output as never },
      })),
    }
  }
  return {
    role: 'assistant',
    content: message.parts.map((part) =>
      part.type === 'text'
        ? { type: 'text', text: part.text }
        : { type: 'tool-call', toolCallId: part.callId, toolName: wireName(part.toolName), input: part.input },
    ),
  }
}

const toOptions = (call: ModelCall, wireName: NameOnWire, signal: AbortSignal): LanguageModelV4CallOptions => ({
  prompt: [
    { role: 'system', content: call.instructions },
    ...call.messages.map((message) => toWire(message, wireName)),
  ],
  abortSignal: signal,
  ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: call.maxOutputTokens }),
  ...(call.tools.length === 0
    ? {}
    : {
        tools: call.tools.map(({ name, description, inputSchema }) => ({
          type: 'function',
          name: wireName(name),
          description,
          inputSchema,
        })),
      }),
})

/** Caps reported token counts, which are stored in integer columns. No model reads or writes this many tokens. */
const maxReportedTokens = 2_000_000_000
const count = (reported: number | undefined): number =>
  Number.isFinite(reported) ? Math.min(maxReportedTokens, Math.max(0, Math.trunc(reported as number))) : 0

/** Undefined unless the provider reported both input and output tokens. Reported zeros count as reported. */
const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage | undefined =>
  inputTokens.total === undefined || outputTokens.total === undefined
    ? undefined
    : {
        inputTokens: count(inputTokens.total),
        outputTokens: count(outputTokens.total),
        cacheReadTokens: count(inputTokens.cacheRead),
        cacheWriteTokens: count(inputTokens.cacheWrite),
      }

const maxRetryAfterMs = 10_000

const retryAfterOf = (headers: unknown): number | undefined => {
  const value = (headers as Record<string, string> | undefined)?.['retry-after']
  const seconds = value === undefined ? Number.NaN : Number(value)
  return seconds >= 0 ? Math.min(seconds * 1_000, maxRetryAfterMs) : undefined
}

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
  const isCut = error.name === 'AI_InvalidResponseDataError' || (statusCode !== undefined && statusCode < 400)
  if (isCut) return new ModelFailure('cut', 'The model broke off in the middle of its response.', { cause })
  if (statusCode === undefined) {
    return new ModelFailure('unavailable', "The model's provider cannot be reached.", { cause })
  }
  const retryAfterMs = retryAfterOf(responseHeaders)
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

/** Streams one call of a model with the AI SDK's provider interface, version 4 (`LanguageModelV4`). */
export async function* streamLanguageModel(
  model: LanguageModelV4,
  call: ModelCall,
  wireName: NameOnWire,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const names = new Map(call.tools.map(({ name }: ModelTool) => [wireName(name), name]))
  const ourName = (name: string): string => names.get(name) ?? name
  const inputNames = new Map<string, string>()
  const text = createTextCleaner()
  const reasoning = createTextCleaner()
  try {
    const { stream } = await model.doStream(toOptions(call, wireName, signal))
    for await (const part of stream) {
      if (part.type === 'text-delta') yield { type: 'text', delta: text(part.delta) }
      else if (part.type === 'reasoning-delta') yield { type: 'reasoning', delta: reasoning(part.delta) }
      else if (part.type === 'tool-input-start') inputNames.set(part.id, ourName(part.toolName))
      else if (part.type === 'tool-input-delta') {
        const toolName = inputNames.get(part.id) ?? ''
        yield { type: 'tool-input', id: part.id, toolName, delta: part.delta }
      } else if (part.type === 'tool-call') {
        yield { type: 'tool-call', id: part.toolCallId, toolName: ourName(part.toolName), input: part.input }
      } else if (part.type === 'error') throw part.error
      else if (part.type === 'finish') {
        const finish = finishOf(part)
        if (finish) yield finish
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw toModelFailure(error)
  }
}
