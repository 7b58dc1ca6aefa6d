import type { StreamPart } from '../../sessions/streams/stream-parts.ts'
import type { ChatToolCall } from './schemas.ts'
import { paragraphBreak } from '../../sessions/turns/reply-text.ts'

export interface Delta {
  tool_calls?: ({ index: number } & ChatToolCall)[]
  role?: 'assistant'
  content?: string
  reasoning_content?: string
}

/**
 * Converts stream parts to chat completion deltas, which cannot be retracted. Text after a tool call begins a new
 * paragraph. When the model is called again after an interruption (`reset-step`), text that repeats what was already
 * sent is left out; from the first difference on, the whole new text is sent as a new paragraph.
 */
export const createReplyDeltas = (): ((part: StreamPart) => Delta | undefined) => {
  let block = ''
  /** The text of the current step that was sent. */
  let sent = ''
  let isFirstStep = true
  /** How much of `sent` the repeated model call has produced again; undefined when it is past that. */
  let repeated: number | undefined

  const append = (piece: string): string => {
    const isNewParagraph = sent === '' && !isFirstStep
    sent += piece
    return isNewParagraph ? paragraphBreak + piece : piece
  }

  const skipRepeated = (piece: string, from: number): string => {
    if (sent.startsWith(piece, from)) {
      repeated = from + piece.length
      return ''
    }
    repeated = undefined
    const before = sent.slice(0, from)
    const rest = sent.slice(from)
    if (piece.startsWith(rest)) return append(piece.slice(rest.length))
    sent = before + piece
    return paragraphBreak + sent
  }

  const addText = (id: string, delta: string): string => {
    const isNext = block !== '' && block !== id && (repeated ?? sent.length) > 0
    block = id
    const piece = isNext ? paragraphBreak + delta : delta
    return repeated === undefined ? append(piece) : skipRepeated(piece, repeated)
  }

  return (part) => {
    if (part.type === 'reasoning-delta') return { reasoning_content: part.delta }
    if (part.type === 'start-step') {
      isFirstStep &&= sent === ''
      sent = ''
      repeated = undefined
    } else if (part.type === 'reset-step') repeated = sent === '' ? undefined : 0
    if (part.type !== 'text-delta') return undefined
    const content = addText(part.id, part.delta)
    return content === '' ? undefined : { content }
  }
}
