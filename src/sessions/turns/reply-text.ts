import type { MessagePart } from '../schemas.ts'

/** Separates the text before a tool call from the text after it. */
export const paragraphBreak = '\n\n'

export const replyText = (parts: MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join(paragraphBreak)
