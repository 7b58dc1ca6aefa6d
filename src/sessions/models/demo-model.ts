import { setImmediate as yieldToOthers, setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { planAnswer } from './demo-answer.ts'
import type { DemoAnswer, DemoCall } from './demo-answer.ts'

const bytesPerToken = 4

const tokensOf = (value: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / bytesPerToken)

const failure = (statusCode: number): Error =>
  Object.assign(new Error(`the demo model fails with ${statusCode} as requested`), { statusCode })

/** Pieces of up to three words, so that answers stream like those of other models. */
const pieces = (text: string): string[] => text.match(/(?:\S+\s*){1,3}|\s+/g) ?? []

/** The same as in the catalog. `/tokens` may report more, but a lower limit of a call is kept. */
const maxOutputTokens = 8_192

const limitOf = ({ maxOutputTokens: limit = maxOutputTokens }: LanguageModelV4CallOptions): number =>
  limit < maxOutputTokens ? limit : Infinity

/** The text, cut where the output limit ends it. */
const withinLimit = (text: string, limit: number): string =>
  limit === Infinity
    ? text
    : Buffer.from(text)
        .subarray(0, limit * bytesPerToken)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')

const usageOf = (options: LanguageModelV4CallOptions, answer: DemoAnswer) => {
  const [input, wanted, cacheRead, cacheWrite] = answer.tokens ?? [
    tokensOf(options.prompt) + (options.tools ? tokensOf(options.tools) : 0),
    tokensOf(answer.text) + tokensOf(answer.calls),
    0,
    0,
  ]
  const output = Math.min(wanted, limitOf(options))
  return {
    inputTokens: { total: input, noCache: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}

// An id needs to be unique in its call only. Fixed ids keep answers reproducible.
const callParts = (call: DemoCall, place: number): LanguageModelV4StreamPart[] => {
  const toolCallId = `demo${place}`
  return [
    { type: 'tool-input-start', id: toolCallId, toolName: call.toolName },
    { type: 'tool-input-delta', id: toolCallId, delta: call.input },
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName: call.toolName, input: call.input },
  ]
}

async function* streamAnswer(
  answer: DemoAnswer,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const limit = limitOf(options)
  const text = withinLimit(answer.text, limit)
  const isCut = text !== answer.text || (answer.tokens?.[1] ?? 0) > limit
  const words = pieces(text)
  const sent = answer.fail === 'cut' ? words.slice(0, Math.ceil(words.length / 2)) : words
  const signal = options.abortSignal
  const pauseMs = answer.slowMs / Math.max(1, sent.length)
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
  if (answer.fail === 'cut') return
  if (sent.length > 0) yield { type: 'text-end', id: 'answer' }
  for (const [place, call] of answer.calls.entries()) yield* callParts(call, place)
  const unified = answer.calls.length > 0 ? 'tool-calls' : isCut ? 'length' : 'stop'
  yield { type: 'finish', finishReason: { unified, raw: unified }, usage: usageOf(options, answer) }
}

/**
 * The built-in model: no network, no weights, and the same answer to the same question. It makes a new installation
 * useful and tests reproducible. demo-answer.ts plans the answer. With `allowsTestCommands`, a message can make the model
 * slow or make it fail.
 */
export const createDemoModel = (modelId: string, allowsTestCommands: boolean): LanguageModelV4 => {
  const begin = (options: LanguageModelV4CallOptions): DemoAnswer => {
    const answer = planAnswer(options.prompt, options.tools ?? [], allowsTestCommands)
    if (answer.fail === '429') throw failure(429)
    if (answer.fail === '500') throw failure(500)
    return answer
  }
  return {
    specificationVersion: 'v4',
    provider: 'atrium',
    modelId,
    supportedUrls: {},
    doStream: async (options) => {
      await yieldToOthers()
      return { stream: ReadableStream.from(streamAnswer(begin(options), options)) }
    },
    doGenerate: async (options) => {
      const answer = begin(options)
      const unified = answer.calls.length > 0 ? 'tool-calls' : 'stop'
      return {
        content: [
          { type: 'text', text: answer.text },
          ...answer.calls.map(({ toolName, input }, place) => ({
            type: 'tool-call' as const,
            toolCallId: `demo${place}`,
            toolName,
            input,
          })),
        ],
        finishReason: { unified, raw: unified },
        usage: usageOf(options, answer),
        warnings: [],
      }
    },
  }
}
