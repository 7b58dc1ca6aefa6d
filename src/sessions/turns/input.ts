import { badRequest } from '../../platform/http/errors.ts'
import { maxText } from './schemas.ts'
import type { TurnCreate, UiMessage } from './schemas.ts'

export interface Decision {
  approvalId: string
  approved: boolean
  /** Values for the fields of a form. */
  answer?: Record<string, unknown> | undefined
}

export interface UserMessage {
  text: string
  fileIds: string[]
  /** Set by `continue: true`: resume the last turn, which a limit ended. */
  isContinued?: boolean
  /** The message that this one replaces; without text and files, it is sent again. */
  replaces?: string | undefined
  /** The reply that `useChat` replaces; null for the last one. */
  regenerates?: string | null | undefined
}

/** A request to a session: a user's message that starts a turn, or decisions that continue one. */
export type TurnInput = UserMessage | { decisions: Decision[] }

const storedFile = /\/api\/v1\/files\/([0-9a-f]{8}-[0-9a-f-]{27})(?:[/?#]|$)/i

const fileIdOf = (url: string | undefined): string => {
  const id = url === undefined ? undefined : storedFile.exec(url)?.[1]
  if (id === undefined)
    throw badRequest('url must be the storageUrl of an uploaded file, or the file must be listed in fileIds')
  return id
}

/** Reads the last of useChat's messages: a user's message, or a reply with the user's decisions in it. */
const fromMessages = (messages: UiMessage[]): TurnInput => {
  const last = messages.at(-1)
  if (last?.role === 'user') {
    const texts = last.parts.flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : []))
    const text = texts.join('\n')
    if ([...text].length > maxText)
      throw badRequest(`The last item of messages must have at most ${maxText} characters`)
    const files = last.parts.filter((part) => part.type === 'file').map((part) => fileIdOf(part.url))
    return { text, fileIds: files }
  }
  const decisions = (last?.parts ?? []).flatMap(({ state, approval }) =>
    state === 'approval-responded' && approval?.approved !== undefined
      ? [{ approvalId: approval.id, approved: approval.approved }]
      : [],
  )
  if (decisions.length > 0) return { decisions }
  throw badRequest('The last item of messages must have the role user')
}

/** Reads a request body: `{ text, fileIds }`, `{ continue: true }`, or the `{ messages }` of the AI SDK's useChat. */
export const readTurnInput = (body: TurnCreate): TurnInput => {
  const { text, fileIds = [], messages, replaces, trigger, messageId = null, continue: isContinued } = body
  if (replaces !== undefined && messages !== undefined) throw badRequest('replaces must not be combined with messages')
  if (isContinued === true) {
    if (text !== undefined || messages !== undefined || fileIds.length > 0 || replaces !== undefined) {
      throw badRequest('continue must not be combined with text, fileIds, messages or replaces')
    }
    return { text: 'Go on.', fileIds: [], isContinued: true }
  }
  if (text === undefined && messages === undefined && fileIds.length === 0) {
    if (replaces !== undefined) return { text: '', fileIds: [], replaces }
    throw badRequest('text is required')
  }
  const input = text === undefined && messages !== undefined ? fromMessages(messages) : { text: text ?? '', fileIds }
  if ('decisions' in input) return input
  const files = [...new Set([...input.fileIds, ...fileIds].map((id) => id.toLowerCase()))]
  if (input.text.trim() === '' && files.length === 0) throw badRequest('text must not be empty')
  if (files.length > 20) throw badRequest('fileIds must have at most 20 items')
  const regenerates = text === undefined && trigger === 'regenerate-message' ? messageId : undefined
  return {
    text: input.text,
    fileIds: files,
    ...(replaces !== undefined && { replaces }),
    ...(regenerates !== undefined && { regenerates }),
  }
}
