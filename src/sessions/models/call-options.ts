import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { ReasoningEffort } from '../../agents/agents.ts'
import type { ModelProtocol } from '../../config/models.ts'
import type { AssistantPart, ModelCall, PromptFile, PromptMessage, ToolResult } from './model-client.ts'

/** The name of a tool for the provider. */
export type NameOnWire = (toolName: string) => string

const partToWire = (part: AssistantPart, wireName: NameOnWire) => {
  const returned = part.options ? { providerOptions: part.options } : {}
  if (part.type !== 'tool-call') return { type: part.type, text: part.text, ...returned }
  const { callId: toolCallId, toolName, input } = part
  return { type: part.type, toolCallId, toolName: wireName(toolName), input, ...returned }
}

type Media = NonNullable<ModelCall['media']>

const filesToWire = (files: readonly PromptFile[] = [], media: Media): LanguageModelV4FilePart[] =>
  files.flatMap(({ fileId }) => {
    const { name: filename, mimeType: mediaType, bytes } = media.get(fileId) ?? {}
    if (bytes === undefined || mediaType === undefined || filename === undefined) return []
    return [{ type: 'file', filename, mediaType, data: { type: 'data', data: bytes } }]
  })

/** Chat completions have only text in results of tools, and older Gemini models too. */
const takesFilesInResults = (protocol: ModelProtocol): boolean => protocol === 'openai' || protocol === 'anthropic'

/** Text is sent as it is: tools of a caller return it, often with JSON in it that must not be quoted again. */
const outputToWire = (output: unknown, isError: boolean): LanguageModelV4ToolResultPart['output'] =>
  typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: isError ? 'error-json' : 'json', value: output as never }

const resultsToWire = (
  results: readonly ToolResult[],
  { protocol, media, wireName }: { protocol: ModelProtocol; media: Media; wireName: NameOnWire },
): LanguageModelV4Message[] => {
  const later: LanguageModelV4FilePart[] = []
  const content = results.map(({ callId, toolName, output, isError, files }): LanguageModelV4ToolResultPart => {
    const shown = filesToWire(files, media)
    const inResult = takesFilesInResults(protocol) && shown.length > 0
    if (!inResult) later.push(...shown)
    return {
      type: 'tool-result',
      toolCallId: callId,
      toolName: wireName(toolName),
      output: inResult
        ? { type: 'content', value: [{ type: 'text', text: JSON.stringify(output) }, ...shown] }
        : outputToWire(output, isError),
    }
  })
  const told = { type: 'text', text: 'The pictures that the tools returned:' } as const
  return [
    { role: 'tool', content },
    ...(later.length === 0 ? [] : [{ role: 'user' as const, content: [told, ...later] }]),
  ]
}

const toWire = (
  protocol: ModelProtocol,
  message: PromptMessage,
  media: Media,
  wireName: NameOnWire,
): LanguageModelV4Message[] => {
  if (message.role === 'user') {
    const text = { type: 'text', text: message.text } as const
    return [{ role: 'user', content: [text, ...filesToWire(message.files, media)] }]
  }
  if (message.role === 'assistant') {
    return [{ role: 'assistant', content: message.parts.map((part) => partToWire(part, wireName)) }]
  }
  return resultsToWire(message.results, { protocol, media, wireName })
}

const cacheHere = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }

/**
 * Anthropic caches a prompt up to each mark, for five minutes, and allows four: the last tool, the system prompt, the end
 * of this prompt and the end of the previous one, which the next call and this call read from the cache.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
const withCacheMarks = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
  const { prompt, tools } = options
  const last = prompt.length - 1
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant')
  const marked = new Set([0, last, ...(answer > 1 ? [answer - 1] : [])])
  return {
    ...options,
    prompt: prompt.map((message, at) => (marked.has(at) ? { ...message, ...cacheHere } : message)),
    ...(tools ? { tools: tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...cacheHere } : tool)) } : {}),
  }
}

/** Older Claude models have a number of tokens to think in, which is part of their output. */
const thinksInBudget = (name: string): boolean =>
  /^claude-(3-7|(haiku|opus|sonnet)-4-(0|1|5)(-|$)|(opus|sonnet)-4-2025)/.test(name)
const budgetShares: Record<Exclude<ReasoningEffort, 'none'>, number> = { low: 0.2, medium: 0.4, high: 0.6 }
const minBudget = 1_024
const usualMaxOutputTokens = 16_384

/**
 * These models reject thinking in the middle of a turn whose earlier responses do not begin with it, as after a change of
 * the setting.
 */
const canThink = (prompt: LanguageModelV4Prompt): boolean =>
  prompt
    .slice(prompt.findLastIndex(({ role }) => role === 'user') + 1)
    .every((message) => message.role !== 'assistant' || message.content[0]?.type === 'reasoning')

const anthropicReasoning = (
  name: string,
  effort: ReasoningEffort,
  { prompt, maxOutputTokens }: LanguageModelV4CallOptions,
): Partial<LanguageModelV4CallOptions> => {
  if (effort === 'none') return { reasoning: 'none' }
  if (!thinksInBudget(name)) {
    return { providerOptions: { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort } } }
  }
  const limit = maxOutputTokens ?? usualMaxOutputTokens
  if (limit < 2 * minBudget || !canThink(prompt)) return {}
  const budgetTokens = Math.max(minBudget, Math.floor(limit * budgetShares[effort]))
  // The client adds the budget to the limit, for which the money is reserved.
  return {
    maxOutputTokens: limit - budgetTokens,
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
  }
}

const reasoningOf = (
  protocol: ModelProtocol,
  { modelId, reasoningEffort: effort }: ModelCall,
  options: LanguageModelV4CallOptions,
): Partial<LanguageModelV4CallOptions> => {
  if (effort === undefined) return {}
  // Anthropic rejects a forced call together with thinking.
  const isForced = options.toolChoice?.type === 'required' || options.toolChoice?.type === 'tool'
  if (protocol === 'anthropic' && isForced) return {}
  if (protocol === 'anthropic') return anthropicReasoning(modelId.slice(modelId.indexOf('/') + 1), effort, options)
  const shown = effort === 'none' ? {} : { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
  return { reasoning: effort, ...(protocol === 'google' ? shown : {}) }
}

const toolChoiceOf = (
  { toolChoice }: ModelCall,
  wireName: NameOnWire,
): Pick<LanguageModelV4CallOptions, 'toolChoice'> => {
  if (toolChoice === undefined) return {}
  return typeof toolChoice === 'object'
    ? { toolChoice: { type: 'tool', toolName: wireName(toolChoice.name) } }
    : { toolChoice: { type: toolChoice } }
}

/** OpenAI rejects most schemas with `strict`, which its clients set by default. */
const formatOf = (protocol: ModelProtocol, { responseFormat }: ModelCall): Partial<LanguageModelV4CallOptions> => {
  if (responseFormat === undefined) return {}
  const { schema, name, description, strict = false } = responseFormat
  const named = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
  return {
    responseFormat: { type: 'json', schema, ...named },
    ...(protocol === 'openai-compatible'
      ? { providerOptions: { openaiCompatible: { strictJsonSchema: strict } } }
      : {}),
  }
}

/** The call in the format of the AI SDK's provider interface, for a provider of this protocol. */
export const toOptions = (
  protocol: ModelProtocol,
  call: ModelCall,
  wireName: NameOnWire,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions => {
  const tools = call.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name: wireName(name),
    description,
    inputSchema,
  }))
  const plain: LanguageModelV4CallOptions = {
    prompt: [
      { role: 'system', content: call.instructions },
      ...call.messages.flatMap((message) => toWire(protocol, message, call.media ?? new Map(), wireName)),
    ],
    abortSignal,
    // The Responses API of OpenAI has none.
    ...(call.stopSequences && protocol !== 'openai' ? { stopSequences: [...call.stopSequences] } : {}),
    ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: call.maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools, ...toolChoiceOf(call, wireName) }),
    // OpenAI keeps responses for 30 days otherwise. Without that, it returns its reasoning encrypted.
    ...(protocol === 'openai'
      ? { providerOptions: { openai: { store: false, strictJsonSchema: call.responseFormat?.strict ?? false } } }
      : {}),
    ...formatOf(protocol, call),
  }
  const options = { ...plain, ...reasoningOf(protocol, call, plain) }
  return protocol === 'anthropic' ? withCacheMarks(options) : options
}
