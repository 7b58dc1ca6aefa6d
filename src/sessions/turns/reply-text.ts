import type { MessagePart } from '../schemas.ts'

/** Between what an agent says before and after it used a tool. */
export const paragraphBreak = '\n\n'

/** A reply as one text. */
export const replyText = (parts: MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join(paragraphBreak)
