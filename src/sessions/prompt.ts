import type { MessageRow } from './queries.ts'
import type { MessagePart } from './schemas.ts'
import { withAttachedFiles } from './models/attached-files.ts'
import type { AssistantPart, PromptMessage, ToolResult } from './models/model-port.ts'

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
  for (const part of parts) {
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

const toPrompt = ({ role, parts }: MessageRow): PromptMessage[] =>
  role === 'user'
    ? [
        {
          role: 'user',
          text: withAttachedFiles(
            textOf(parts),
            parts.filter((part) => part.type === 'file'),
          ),
        },
      ]
    : assistantMessages(parts)

/** Bytes that one token stands for, on average and on the safe side. */
const bytesPerToken = 3.5

export const estimateTokens = (value: unknown): number =>
  Math.ceil(Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) / bytesPerToken)

/**
 * The conversation up to a turn, oldest first, without the oldest turns when it is longer than `maxTokens`. A turn goes
 * whole, so that no tool call is left without its result; the turn itself always stays. `history` is newest first.
 */
export const promptOf = (history: MessageRow[], turnNumber: number, maxTokens: number): PromptMessage[] => {
  const messages: PromptMessage[] = []
  let left = maxTokens
  for (let i = 0; i < history.length;) {
    const number = history[i]?.turnNumber
    const rows: MessageRow[] = []
    for (; history[i]?.turnNumber === number; i++) rows.unshift(history[i] as MessageRow)
    const turn = rows.flatMap(toPrompt)
    left -= estimateTokens(turn)
    if (left < 0 && number !== turnNumber) break
    messages.unshift(...turn)
  }
  return messages
}
