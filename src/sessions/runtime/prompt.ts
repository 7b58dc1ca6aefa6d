import type { MessageRow } from '../queries.ts'
import type { MessagePart } from '../schemas.ts'
import { withAttachedFiles } from '../models/attached-files.ts'
import type { AssistantPart, PromptMessage, ToolResult } from '../models/model-port.ts'

const textOf = (parts: MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

/** What an agent said and did, in the order in which it happened, as its model reads it. */
export const assistantMessages = (parts: MessagePart[]): PromptMessage[] => {
  const messages: PromptMessage[] = []
  let said: AssistantPart[] = []
  let results: ToolResult[] = []
  const close = (): void => {
    if (said.length > 0) messages.push({ role: 'assistant', parts: said })
    if (results.length > 0) messages.push({ role: 'tool', results })
    said = []
    results = []
  }
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])))
  for (const part of parts) {
    // Providers refuse a call without its result.
    if (part.type === 'tool-call' && !answered.has(part.toolCallId)) continue
    if (part.type === 'tool-result') {
      const { toolCallId: callId, toolName, output, isError } = part
      results.push({ callId, toolName, output, isError })
      continue
    }
    if (part.type !== 'text' && part.type !== 'tool-call') continue
    if (results.length > 0) close()
    if (part.type === 'tool-call')
      said.push({ type: 'tool-call', callId: part.toolCallId, toolName: part.toolName, input: part.input })
    else if (part.text.trim() !== '') said.push({ type: 'text', text: part.text })
  }
  close()
  return messages
}

/** What was said and done in one turn, as the model of another one reads it. */
export interface Exchange {
  /** The place of the turn in its session, from 1. */
  number: number
  messages: PromptMessage[]
  tokens: number
}

/** Bytes that one token stands for, on average and on the safe side. */
const bytesPerToken = 3.5

export const estimateTokens = (value: unknown): number =>
  Math.ceil(Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) / bytesPerToken)

const fromPerson = ({ parts }: MessageRow): PromptMessage[] => [
  {
    role: 'user',
    text: withAttachedFiles(
      textOf(parts),
      parts.filter((part) => part.type === 'file'),
    ),
  },
]

/** Between agents each is the other's person: who wrote to begin a turn is not always the same one. */
const betweenAgents = ({ author, role, parts }: MessageRow, reader: string): PromptMessage[] => {
  if (author.id !== reader) return [{ role: 'user', text: textOf(parts) }]
  return role === 'assistant'
    ? assistantMessages(parts)
    : [{ role: 'assistant', parts: [{ type: 'text', text: textOf(parts) }] }]
}

/**
 * The conversation turn by turn, newest first, like `history`. `peer`: the agent that reads it, in a session between
 * agents. The oldest turn goes when the history was cut in the middle of it.
 */
export const exchangesOf = (history: MessageRow[], peer: string | undefined): Exchange[] => {
  const byTurn = Map.groupBy(history, ({ turnNumber }) => turnNumber)
  const exchanges = [...byTurn].map(([number, rows]): Exchange & { isWhole: boolean } => {
    const inOrder = rows.toReversed()
    const messages = inOrder.flatMap((row) => {
      if (peer !== undefined) return betweenAgents(row, peer)
      return row.role === 'user' ? fromPerson(row) : assistantMessages(row.parts)
    })
    return { number, messages, tokens: estimateTokens(messages), isWhole: inOrder[0]?.role === 'user' }
  })
  return exchanges.at(-1)?.isWhole === false ? exchanges.slice(0, -1) : exchanges
}

const goneResult = { leftOut: 'This result was shown before and is left out now, as it no longer fits.' }

const withoutResults = (message: PromptMessage): PromptMessage =>
  message.role === 'tool'
    ? { ...message, results: message.results.map((result) => ({ ...result, output: goneResult })) }
    : message

/** The results of one round of tools, each cut to its share. */
const shortened = (message: PromptMessage, maxTokens: number): PromptMessage => {
  if (message.role !== 'tool') return message
  const shareBytes = Math.max(200, Math.floor((maxTokens * bytesPerToken) / message.results.length))
  const results = message.results.map((result) => {
    const json = JSON.stringify(result.output)
    if (json.length <= shareBytes) return result
    return { ...result, output: { truncated: true, beginning: json.slice(0, shareBytes).toWellFormed() } }
  })
  return { ...message, results }
}

/** What the agent did in this very turn: when it is too much, its oldest results go first, and the last ones are cut. */
const fitOwn = (own: PromptMessage[], maxTokens: number): PromptMessage[] => {
  const messages = [...own]
  const tokens = messages.map(estimateTokens)
  let total = tokens.reduce((sum, one) => sum + one, 0)
  const last = messages.findLastIndex(({ role }) => role === 'tool')
  for (let i = 0; i < messages.length && total > maxTokens; i++) {
    const message = messages[i] as PromptMessage
    const before = tokens[i] as number
    const rest = maxTokens - (total - before)
    const fitted = i === last ? shortened(message, rest) : withoutResults(message)
    messages[i] = fitted
    total += estimateTokens(fitted) - before
  }
  return messages
}

export interface Prompt {
  messages: PromptMessage[]
  /** Exchanges at the beginning of the conversation that are not in it. */
  leftOut: number
}

/**
 * The conversation and what the agent did in this turn, within `maxTokens`: what is too much is left out from the oldest
 * on. An exchange goes whole or without its tools' results, so that no call stands without its result. What began the
 * turn always stays. `exchanges` is newest first, and begins with this turn's.
 */
export const promptOf = (exchanges: Exchange[], own: PromptMessage[], maxTokens: number): Prompt => {
  const [current, ...earlier] = exchanges
  if (!current) return { messages: own, leftOut: 0 }
  const fitted = fitOwn(own, maxTokens - current.tokens)
  let left = maxTokens - current.tokens - estimateTokens(fitted)
  let oldest = current.number
  const before: PromptMessage[][] = []
  for (const { number, messages, tokens } of earlier) {
    const light = tokens <= left ? messages : messages.map(withoutResults)
    const lightTokens = tokens <= left ? tokens : estimateTokens(light)
    if (lightTokens > left) break
    left -= lightTokens
    before.unshift(light)
    oldest = number
  }
  return { messages: [...before.flat(), ...current.messages, ...fitted], leftOut: oldest - 1 }
}

/** What the model is told about what it does not see. */
export const noteOfLeftOut = (leftOut: number): string =>
  leftOut === 0
    ? ''
    : `The first ${leftOut} exchanges of this conversation no longer fit and are not shown to you. When it matters, say that you do not see them.`
