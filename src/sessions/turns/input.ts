import { badRequest } from '../../platform/http/errors.ts'
import { maxText } from './schemas.ts'
import type { TurnCreate, UiMessage } from './schemas.ts'

export interface Decision {
  approvalId: string
  approved: boolean
}

/** What a request to a session asks for: a turn about what was said, or to go on after what a person decided. */
export type TurnInput = { text: string; fileIds: string[]; isContinued?: boolean } | { decisions: Decision[] }

const storedFile = /\/api\/v1\/files\/([0-9a-f]{8}-[0-9a-f-]{27})(?:[/?#]|$)/i

const fileIdOf = (url: string | undefined): string => {
  const id = url === undefined ? undefined : storedFile.exec(url)?.[1]
  if (id === undefined) throw badRequest('Files are uploaded first: name them in fileIds, or by their storageUrl.')
  return id
}

/** The last of useChat's messages: what the person said, or the decisions that they took on the reply. */
const fromMessages = (messages: UiMessage[]): TurnInput => {
  const last = messages.at(-1)
  if (last?.role === 'user') {
    const texts = last.parts.flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : []))
    const text = texts.join('\n')
    if ([...text].length > maxText) throw badRequest(`The last of messages must have at most ${maxText} characters`)
    const files = last.parts.filter((part) => part.type === 'file').map((part) => fileIdOf(part.url))
    return { text, fileIds: files }
  }
  const decisions = (last?.parts ?? []).flatMap(({ state, approval }) =>
    state === 'approval-responded' && approval?.approved !== undefined
      ? [{ approvalId: approval.id, approved: approval.approved }]
      : [],
  )
  if (decisions.length > 0) return { decisions }
  throw badRequest("The last of messages must be a user's")
}

/** Reads a body in any shape: `{ text, fileIds }`, `{ continue: true }`, or the `{ messages }` of the AI SDK's useChat. */
export const readTurnInput = ({ text, fileIds = [], messages, continue: goesOn }: TurnCreate): TurnInput => {
  if (goesOn === true) {
    if (text !== undefined || messages !== undefined || fileIds.length > 0) {
      throw badRequest('continue stands alone: leave out text, fileIds and messages')
    }
    return { text: 'Go on.', fileIds: [], isContinued: true }
  }
  if (text === undefined && messages === undefined && fileIds.length === 0) throw badRequest('text is required')
  const input = text === undefined && messages !== undefined ? fromMessages(messages) : { text: text ?? '', fileIds }
  if ('decisions' in input) return input
  const files = [...new Set([...input.fileIds, ...fileIds].map((id) => id.toLowerCase()))]
  if (input.text.trim() === '' && files.length === 0) throw badRequest('text must not be empty')
  if (files.length > 20) throw badRequest('fileIds must have at most 20 items')
  return { text: input.text, fileIds: files }
}
