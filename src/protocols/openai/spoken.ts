import type { Frame } from '../../sessions/streams/frames.ts'
import { paragraphBreak } from '../../sessions/turns/reply-text.ts'

export interface Delta {
  role?: 'assistant'
  content?: string
  reasoning_content?: string
}

/**
 * Turns the frames of a turn into what is new in them, for a reader from whom nothing can be taken back. Text after a
 * pause, such as the use of a tool, begins a new paragraph. When the model is called again, what it repeats of its first
 * words is left out; from where it says something else, all that it says is a new paragraph.
 */
export const createSpoken = (): ((frame: Frame) => Delta | undefined) => {
  let block = ''
  /** Of the step under way, as it went out. */
  let out = ''
  let isFirstStep = true
  /** How much of `out` was said again since the model was called again; undefined when it is past that. */
  let repeated: number | undefined

  const speak = (piece: string): string => {
    const begins = out === '' && !isFirstStep
    out += piece
    return begins ? paragraphBreak + piece : piece
  }

  const repeat = (piece: string, from: number): string => {
    if (out.startsWith(piece, from)) {
      repeated = from + piece.length
      return ''
    }
    repeated = undefined
    const before = out.slice(0, from)
    const rest = out.slice(from)
    if (piece.startsWith(rest)) return speak(piece.slice(rest.length))
    out = before + piece
    return paragraphBreak + out
  }

  const hear = (id: string, delta: string): string => {
    const isNext = block !== '' && block !== id && (repeated ?? out.length) > 0
    block = id
    const piece = isNext ? paragraphBreak + delta : delta
    return repeated === undefined ? speak(piece) : repeat(piece, repeated)
  }

  return (frame) => {
    if (frame.type === 'reasoning-delta') return { reasoning_content: frame.delta }
    if (frame.type === 'start-step') {
      isFirstStep &&= out === ''
      out = ''
      repeated = undefined
    } else if (frame.type === 'reset-step') repeated = out === '' ? undefined : 0
    if (frame.type !== 'text-delta') return undefined
    const content = hear(frame.id, frame.delta)
    return content === '' ? undefined : { content }
  }
}
