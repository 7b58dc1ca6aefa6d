import { createHash } from 'node:crypto'
import { isUuid } from '../../platform/ids.ts'
import { maxText } from '../../sessions/turns/schemas.ts'
import type { ChatCompletionCreate, ChatContentPart, ChatMessage } from './schemas.ts'
import { ChatError, unsupported } from './errors.ts'

export interface ConversationMessage {
  role: 'user' | 'assistant'
  text: string
  fileIds: string[]
}

/** A request carries the whole conversation; its last message is new. */
export interface Conversation {
  /** The caller's system and developer messages, which are added to the agent's system prompt. */
  instructions: string | null
  /** The earlier messages, oldest first. */
  history: ConversationMessage[]
  newMessage: ConversationMessage
}

const invalid = (param: string, message: string): ChatError => new ChatError('BAD_REQUEST', message, { param })

const partText = (part: ChatContentPart, param: string): string => {
  if (part.type === 'text') return part.text ?? ''
  if (part.type === 'file') return ''
  throw unsupported(
    param,
    `${param} is of the type ${JSON.stringify(part.type.slice(0, 40))}: only text and file are supported`,
  )
}

const partFiles = (part: ChatContentPart, param: string): string[] => {
  if (part.type !== 'file') return []
  const id = part.file?.file_id
  if (id === undefined || !isUuid(id)) {
    throw invalid(`${param}.file`, `${param}.file.file_id must be the id of an uploaded file`)
  }
  return [id.toLowerCase()]
}

const readMessage = (
  { role, content }: ChatMessage,
  at: number,
): Omit<ConversationMessage, 'role'> & { role: string } => {
  const param = `messages[${at}].content`
  if (typeof content === 'string') return { role, text: content, fileIds: [] }
  const parts = content ?? []
  const text = parts.map((part, place) => partText(part, `${param}[${place}]`)).filter((one) => one !== '')
  const fileIds = parts.flatMap((part, place) => partFiles(part, `${param}[${place}]`))
  if (fileIds.length > 0 && role !== 'user')
    throw unsupported(param, `${param}: only messages with the role user may contain files`)
  return { role, text: text.join('\n'), fileIds: [...new Set(fileIds)] }
}

/** Reads the messages. BAD_REQUEST for what agents do not support, such as images and results of the caller's own tools. */
export const readConversation = (messages: ChatMessage[]): Conversation => {
  const instructions: string[] = []
  const messagesRead: ConversationMessage[] = []
  for (const [at, message] of messages.entries()) {
    const { role, text, fileIds } = readMessage(message, at)
    if (role === 'tool' || role === 'function') {
      throw unsupported(`messages[${at}]`, `messages[${at}] is a tool result: agents run their tools on the server`)
    }
    if ([...text].length > maxText) {
      throw invalid(`messages[${at}].content`, `messages[${at}].content must have at most ${maxText} characters`)
    }
    if (role === 'system' || role === 'developer') instructions.push(text)
    else if (text.trim() !== '' || fileIds.length > 0)
      messagesRead.push({ role: role as ConversationMessage['role'], text, fileIds })
  }
  const newMessage = messagesRead.pop()
  if (newMessage?.role !== 'user')
    throw invalid('messages', 'The last item of messages must have the role user and must not be empty')
  if (newMessage.fileIds.length > 20) throw invalid('messages', 'The last item of messages must have at most 20 files')
  const joined = instructions.filter((one) => one.trim() !== '').join('\n\n')
  if ([...joined].length > maxText) {
    throw invalid('messages', `system and developer messages must have at most ${maxText} characters in total`)
  }
  return { instructions: joined === '' ? null : joined, history: messagesRead, newMessage }
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)

/**
 * Rejects unsupported parameters that would change the reply. Sampling parameters (`temperature`, `seed`, …)
 * are ignored like unknown fields, because the agent determines them.
 */
export const rejectUnsupported = (body: ChatCompletionCreate): void => {
  if (isSet(body.n) && body.n !== 1) throw unsupported('n', 'n must be 1: agents return one choice')
  for (const param of ['tools', 'functions'] as const) {
    if (isSet(body[param])) {
      throw unsupported(param, `${param} is not supported: agents use the tools that are configured on the server`)
    }
  }
  if (isSet(body.stop)) throw unsupported('stop', 'stop is not supported')
  if (isSet(body.logprobs)) throw unsupported('logprobs', 'logprobs is not supported')
  if (isSet(body.audio)) throw unsupported('audio', 'audio is not supported')
  const modalities = body.modalities as unknown[] | null | undefined
  if (modalities?.some((one) => one !== 'text')) throw unsupported('modalities', 'modalities must be ["text"]')
  const format = body.response_format as { type?: unknown } | null | undefined
  if (isSet(format) && format?.type !== 'text') {
    throw unsupported('response_format', 'response_format must be { "type": "text" }')
  }
}

const forComparison = ({ role, text, fileIds }: ConversationMessage): unknown[] => [role, text.trim(), fileIds]

/**
 * Identifies the turn that replied to a conversation when a client sends the conversation again with more messages.
 * `owner` (user, workspace, agent) keeps the conversations of different people and agents apart.
 */
export const conversationDigest = (owner: string[], messages: ConversationMessage[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['chat', owner, messages.map(forComparison)]))
    .digest()
