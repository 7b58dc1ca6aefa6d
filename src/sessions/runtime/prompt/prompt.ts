import type { MessageRow } from '../../message-queries.ts'
import type { MessagePart } from '../../schemas.ts'
import { countSkipped } from '../../branches/skipped.ts'
import type { Skipped } from '../../branches/skipped.ts'
import { withAttachedFiles } from '../../models/attached-files.ts'
import type {
  AssistantPart,
  PromptFile,
  PromptMessage,
  ProviderOptions,
  ToolResult,
} from '../../models/model-client.ts'
import { isMedia, picturesIn } from './media-files.ts'
import type { StepPart } from '../../turns/step-parts.ts'

const textOf = (parts: MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

/** What `model` wants back with a part that it sent. */
const optionsFor = (model: string | undefined, { provider }: StepPart): { options?: ProviderOptions } =>
  provider !== undefined && provider.model === model ? { options: provider.options } : {}

/** A part of a response for the model. Reasoning and empty text are shown only to the model that wants them back. */
const saidPart = (part: StepPart, returned: { options?: ProviderOptions }): AssistantPart | undefined => {
  if (part.type === 'tool-call') {
    return { type: part.type, callId: part.toolCallId, toolName: part.toolName, input: part.input, ...returned }
  }
  if (part.type !== 'text' && part.type !== 'reasoning') return undefined
  const isShown = returned.options !== undefined || (part.type === 'text' && part.text.trim() !== '')
  return isShown ? { type: part.type, text: part.text, ...returned } : undefined
}

/** The messages and tool calls of an agent, in order, in the format of `model`. */
export const assistantMessages = (parts: StepPart[], model?: string): PromptMessage[] => {
  const messages: PromptMessage[] = []
  let said: AssistantPart[] = []
  let results: ToolResult[] = []
  const close = (): void => {
    if (said.length > 0) messages.push({ role: 'assistant', parts: said })
    if (results.length > 0) messages.push({ role: 'tool', results })
    said = []
    results = []
  }
  const completed = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])))
  for (const part of parts) {
    // Providers reject a call without a result.
    if (part.type === 'tool-call' && !completed.has(part.toolCallId)) continue
    if (part.type === 'tool-result') {
      const { toolCallId: callId, toolName, output, isError } = part
      const files = isError ? [] : picturesIn(toolName, output)
      results.push({ callId, toolName, output, isError, ...(files.length === 0 ? {} : { files }) })
      continue
    }
    const spoken = saidPart(part, optionsFor(model, part))
    if (!spoken) continue
    if (results.length > 0) close()
    said.push(spoken)
  }
  close()
  return messages
}

/** The messages of one turn as the model of a later turn is shown them. */
export interface Exchange {
  /** The place of the turn in its conversation, from 1. */
  number: number
  messages: PromptMessage[]
  tokens: number
}

/** Models need about four bytes of English text per token. A smaller number overestimates, so prompts fit. */
const bytesPerToken = 3.5

export const estimateTokens = (value: unknown): number =>
  Math.ceil(Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) / bytesPerToken)

/** The pictures and PDF files of a message. */
export const filesOf = (message: PromptMessage): PromptFile[] => {
  if (message.role === 'user') return message.files ?? []
  return message.role === 'tool' ? message.results.flatMap(({ files = [] }) => files) : []
}

/** The tokens of messages with their pictures and PDF files. */
export const tokensOf = (messages: readonly PromptMessage[]): number =>
  estimateTokens(messages) + messages.flatMap(filesOf).reduce((sum, { tokens = 0 }) => sum + tokens, 0)

const fromPerson = ({ parts }: MessageRow): PromptMessage[] => {
  const files = parts.filter((part) => part.type === 'file')
  const shown = files.filter(isMedia)
  const text = withAttachedFiles(textOf(parts), files)
  return [{ role: 'user', text, ...(shown.length === 0 ? {} : { files: shown }) }]
}

/** In a session of two agents, each one's model is shown the other agent's messages as those of its user. */
const fromAgents = ({ author, role, parts }: MessageRow, reader: string): PromptMessage[] => {
  if (author.id !== reader) return [{ role: 'user', text: textOf(parts) }]
  return role === 'assistant'
    ? assistantMessages(parts)
    : [{ role: 'assistant', parts: [{ type: 'text', text: textOf(parts) }] }]
}

interface Reading {
  /** The agent that reads the history, in a session between agents. */
  peer?: string | undefined
  /** The turns that the history leaves out. */
  skipped?: Skipped | null
}

/** Groups `history` by turn, newest first. The oldest turn is dropped when the history begins in the middle of it. */
export const exchangesOf = (history: MessageRow[], { peer, skipped = null }: Reading = {}): Exchange[] => {
  const byTurn = Map.groupBy(history, ({ turnNumber }) => turnNumber)
  const exchanges = [...byTurn].map(([turnNumber, rows]): Exchange & { isWhole: boolean } => {
    const number = turnNumber - countSkipped(skipped, turnNumber)
    const inOrder = rows.toReversed()
    const messages = inOrder.flatMap((row) => {
      if (peer !== undefined) return fromAgents(row, peer)
      return row.role === 'user' ? fromPerson(row) : assistantMessages(row.parts)
    })
    return { number, messages, tokens: estimateTokens(messages), isWhole: inOrder[0]?.role === 'user' }
  })
  return exchanges.at(-1)?.isWhole === false ? exchanges.slice(0, -1) : exchanges
}

const omittedResult = { leftOut: 'This result was shown before. It is left out now because it no longer fits.' }

const withoutResults = (message: PromptMessage): PromptMessage =>
  message.role === 'tool'
    ? { ...message, results: message.results.map((result) => ({ ...result, output: omittedResult, files: [] })) }
    : message

/** The tool results of one step, each truncated to an equal share of `maxTokens`. */
const truncated = (message: PromptMessage, maxTokens: number): PromptMessage => {
  if (message.role !== 'tool') return message
  const shareBytes = Math.max(200, Math.floor((maxTokens * bytesPerToken) / message.results.length))
  const results = message.results.map((result) => {
    const json = JSON.stringify(result.output)
    if (json.length <= shareBytes) return result
    return { ...result, output: { truncated: true, beginning: json.slice(0, shareBytes).toWellFormed() } }
  })
  return { ...message, results }
}

/** The messages of the current turn within `maxTokens`: its oldest results are left out and the last ones truncated. */
const fitOwn = (own: PromptMessage[], maxTokens: number): PromptMessage[] => {
  const messages = [...own]
  const tokens = messages.map((message) => tokensOf([message]))
  let total = tokens.reduce((sum, one) => sum + one, 0)
  const last = messages.findLastIndex(({ role }) => role === 'tool')
  for (let i = 0; i < messages.length && total > maxTokens; i++) {
    const message = messages[i] as PromptMessage
    const before = tokens[i] as number
    const rest = maxTokens - (total - before)
    const fitted = i === last ? truncated(message, rest) : withoutResults(message)
    messages[i] = fitted
    total += tokensOf([fitted]) - before
  }
  return messages
}

export interface Prompt {
  messages: PromptMessage[]
  /** The number of oldest exchanges that are left out. */
  leftOut: number
}

/**
 * The conversation and the current turn within `maxTokens`. The oldest exchanges are left out first. An exchange is shown
 * whole or with a placeholder for each tool result, so that every call has a result. The message that started the turn
 * always remains. `exchanges` is newest first and begins with the exchange of the current turn.
 */
export const promptOf = (exchanges: readonly Exchange[], own: PromptMessage[], maxTokens: number): Prompt => {
  const [current, ...earlier] = exchanges
  if (!current) return { messages: own, leftOut: 0 }
  const fitted = fitOwn(own, maxTokens - current.tokens)
  let roomTokens = maxTokens - current.tokens - tokensOf(fitted)
  let oldest = current.number
  const before: PromptMessage[][] = []
  for (const { number, messages, tokens } of earlier) {
    const shown = tokens <= roomTokens ? messages : messages.map(withoutResults)
    const shownTokens = tokens <= roomTokens ? tokens : tokensOf(shown)
    if (shownTokens > roomTokens) break
    roomTokens -= shownTokens
    before.unshift(shown)
    oldest = number
  }
  return { messages: [...before.flat(), ...current.messages, ...fitted], leftOut: oldest - 1 }
}

/** Tells the model that the beginning of the conversation is left out. */
export const leftOutNote = (leftOut: number): string =>
  leftOut === 0
    ? ''
    : `The first ${leftOut} exchanges of this conversation no longer fit and are not shown to you. When it matters, say that you do not see them.`
