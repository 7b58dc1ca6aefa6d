import { createHash } from 'node:crypto'
import { isUuid } from '../../platform/ids.ts'
import { maxText } from '../../sessions/turns/schemas.ts'
import type { ChatCompletionCreate, ChatContentPart, ChatMessage } from './schemas.ts'
import { ChatError, unsupported } from './failures.ts'

export interface Said {
  role: 'user' | 'assistant'
  text: string
  fileIds: string[]
}

/** What a caller sends each time: the whole conversation, of which the last message is new. */
export interface Conversation {
  /** What the caller instructs beside the agent's own instructions. */
  instructions: string | null
  /** What was said before, oldest first. */
  history: Said[]
  said: Said
}

const invalid = (param: string, message: string): ChatError => new ChatError('BAD_REQUEST', message, { param })

const partText = (part: ChatContentPart, param: string): string => {
  if (part.type === 'text') return part.text ?? ''
  if (part.type === 'file') return ''
  throw unsupported(
    param,
    `${param} is of the type ${JSON.stringify(part.type.slice(0, 40))}: only text and file are taken`,
  )
}

const partFiles = (part: ChatContentPart, param: string): string[] => {
  if (part.type !== 'file') return []
  const id = part.file?.file_id
  if (id === undefined || !isUuid(id)) {
    throw invalid(`${param}.file`, `${param}.file.file_id must be the id of a file that was uploaded before`)
  }
  return [id.toLowerCase()]
}

const readMessage = ({ role, content }: ChatMessage, at: number): Omit<Said, 'role'> & { role: string } => {
  const param = `messages[${at}].content`
  if (typeof content === 'string') return { role, text: content, fileIds: [] }
  const parts = content ?? []
  const text = parts.map((part, place) => partText(part, `${param}[${place}]`)).filter((one) => one !== '')
  const fileIds = parts.flatMap((part, place) => partFiles(part, `${param}[${place}]`))
  if (fileIds.length > 0 && role !== 'user') throw unsupported(param, `${param}: files come with a user's message`)
  return { role, text: text.join('\n'), fileIds: [...new Set(fileIds)] }
}

/** Reads the messages. BAD_REQUEST for what agents cannot take: pictures, results of the caller's own tools. */
export const readConversation = (messages: ChatMessage[]): Conversation => {
  const instructions: string[] = []
  const spoken: Said[] = []
  for (const [at, message] of messages.entries()) {
    const { role, text, fileIds } = readMessage(message, at)
    if (role === 'tool' || role === 'function') {
      throw unsupported(`messages[${at}]`, `messages[${at}] is the result of a tool: agents run their tools themselves`)
    }
    if ([...text].length > maxText) {
      throw invalid(`messages[${at}].content`, `messages[${at}].content must have at most ${maxText} characters`)
    }
    if (role === 'system' || role === 'developer') instructions.push(text)
    else if (text.trim() !== '' || fileIds.length > 0) spoken.push({ role: role as Said['role'], text, fileIds })
  }
  const said = spoken.pop()
  if (said?.role !== 'user') throw invalid('messages', "The last of messages must be a user's, and not empty")
  if (said.fileIds.length > 20) throw invalid('messages', 'The last of messages must have at most 20 files')
  const told = instructions.filter((one) => one.trim() !== '').join('\n\n')
  if ([...told].length > maxText) {
    throw invalid('messages', `Instructions must have at most ${maxText} characters together`)
  }
  return { instructions: told === '' ? null : told, history: spoken, said }
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)

/**
 * Refuses what would change the answer and cannot be done. What only tunes a model (`temperature`, `seed`, …) is the
 * agent's business and goes unheard, as fields that we do not know do.
 */
export const refuseUnsupported = (body: ChatCompletionCreate): void => {
  if (isSet(body.n) && body.n !== 1) throw unsupported('n', 'n must be 1: an agent gives one answer')
  for (const param of ['tools', 'functions'] as const) {
    if (isSet(body[param])) {
      throw unsupported(param, `${param} cannot be sent: an agent uses the tools that it is allowed on the server`)
    }
  }
  if (isSet(body.stop)) throw unsupported('stop', 'stop cannot be sent: the agent decides where its answer ends')
  if (isSet(body.logprobs)) throw unsupported('logprobs', 'logprobs are not available')
  if (isSet(body.audio)) throw unsupported('audio', 'audio is not available')
  const modalities = body.modalities as unknown[] | null | undefined
  if (modalities?.some((one) => one !== 'text')) throw unsupported('modalities', 'modalities must be ["text"]')
  const format = body.response_format as { type?: unknown } | null | undefined
  if (isSet(format) && format?.type !== 'text') {
    throw unsupported('response_format', 'response_format must be { "type": "text" }')
  }
}

const forComparison = ({ role, text, fileIds }: Said): unknown[] => [role, text.trim(), fileIds]

/**
 * What finds the turn that answered a conversation, when the conversation comes back longer. `whose` keeps those of
 * different people and agents apart.
 */
export const digestOf = (whose: string[], spoken: Said[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['chat', whose, spoken.map(forComparison)]))
    .digest()
