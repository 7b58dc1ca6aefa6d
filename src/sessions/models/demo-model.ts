import { setImmediate as yieldToOthers, setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { planResponse } from './demo-response.ts'
import type { DemoResponse, DemoCall } from './demo-response.ts'

const bytesPerToken = 4

const tokensOf = (value: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / bytesPerToken)

const failure = (statusCode: number): Error =>
  Object.assign(new Error(`the demo model fails with ${statusCode} as requested`), { statusCode })

/** Pieces of up to three words, so that responses stream like those of other models. */
const pieces = (text: string): string[] => text.match(/(?:\S+\s*){1,3}|\s+/g) ?? []

/** The limit in the catalog. `/tokens` may report more, unless the call has a lower limit. */
const maxOutputTokens = 8_192

const limitOf = ({ maxOutputTokens: limit = maxOutputTokens }: LanguageModelV4CallOptions): number =>
  limit < maxOutputTokens ? limit : Infinity

/** The text up to the output limit. */
const withinLimit = (text: string, limit: number): string =>
  limit === Infinity
    ? text
    : Buffer.from(text)
        .subarray(0, limit * bytesPerToken)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')

const usageOf = (options: LanguageModelV4CallOptions, response: DemoResponse) => {
  const [input, wanted, cacheRead, cacheWrite] = response.tokens ?? [
    tokensOf(options.prompt) + (options.tools ? tokensOf(options.tools) : 0),
    tokensOf(response.text) + tokensOf(response.calls),
    0,
    0,
  ]
  const output = Math.min(wanted, limitOf(options))
  return {
    inputTokens: { total: input, noCache: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}

// An id must be unique only within its call. Fixed ids keep responses reproducible.
const callParts = (call: DemoCall, place: number): LanguageModelV4StreamPart[] => {
  const toolCallId = `demo${place}`
  return [
    { type: 'tool-input-start', id: toolCallId, toolName: call.toolName },
    { type: 'tool-input-delta', id: toolCallId, delta: call.input },
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName: call.toolName, input: call.input },
  ]
}

async function* streamResponse(
  response: DemoResponse,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const limit = limitOf(options)
  const text = withinLimit(response.text, limit)
  const isCut = text !== response.text || (response.tokens?.[1] ?? 0) > limit
  const words = pieces(text)
  const sent = response.fail === 'cut' ? words.slice(0, Math.ceil(words.length / 2)) : words
  const signal = options.abortSignal
  const pauseMs = response.slowMs / Math.max(1, sent.length)
  const pause = (): Promise<void> =>
    pauseMs > 0 ? delay(pauseMs, undefined, signal ? { signal } : {}) : Promise.resolve()
  yield { type: 'stream-start', warnings: [] }
  if (sent.length > 0) yield { type: 'text-start', id: 'answer' }
  for (const delta of sent) {
    signal?.throwIfAborted()
    yield { type: 'text-delta', id: 'answer', delta }
    await pause()
  }
  if (sent.length === 0) await pause()
  if (response.fail === 'cut') return
  if (sent.length > 0) yield { type: 'text-end', id: 'answer' }
  for (const [place, call] of response.calls.entries()) yield* callParts(call, place)
  const unified = response.calls.length > 0 ? 'tool-calls' : isCut ? 'length' : 'stop'
  yield { type: 'finish', finishReason: { unified, raw: unified }, usage: usageOf(options, response) }
}

/**
 * The built-in model: no network, no weights, and the same response to the same message. It makes a new installation
 * useful and tests reproducible. demo-response.ts plans the response. With `allowsTestCommands`, a message can make the model
 * slow or make it fail.
 */
export const createDemoModel = (modelId: string, allowsTestCommands: boolean): LanguageModelV4 => {
  const begin = (options: LanguageModelV4CallOptions): DemoResponse => {
    const response = planResponse(options.prompt, options.tools ?? [], allowsTestCommands)
    if (response.fail === '429') throw failure(429)
    if (response.fail === '500') throw failure(500)
    return response
  }
  return {
    specificationVersion: 'v4',
    provider: 'atrium',
    modelId,
    supportedUrls: {},
    doStream: async (options) => {
      await yieldToOthers()
      return { stream: ReadableStream.from(streamResponse(begin(options), options)) }
    },
    doGenerate: async (options) => {
      const response = begin(options)
      const unified = response.calls.length > 0 ? 'tool-calls' : 'stop'
      return {
        content: [
          { type: 'text', text: response.text },
          ...response.calls.map(({ toolName, input }, place) => ({
            type: 'tool-call' as const,
            toolCallId: `demo${place}`,
            toolName,
            input,
          })),
        ],
        finishReason: { unified, raw: unified },
        usage: usageOf(options, response),
        warnings: [],
      }
    },
  }
}
