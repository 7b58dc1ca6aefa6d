import { createHash } from 'node:crypto'
import { storeInlineFile } from '../../files/files.ts'
import type { InlineFile } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { isUuid } from '../../platform/ids.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { maxText } from '../../sessions/turns/schemas.ts'
import { invalid, unsupported } from './errors.ts'
import { readInlineFile } from './inline-parts.ts'
import type { ChatCompletionCreate, ChatContentPart, ChatMessage } from './schemas.ts'
import { checkToolName } from './tools.ts'

/** A call of a tool of the caller, with its output if the conversation contains it. */
export interface ConversationCall {
  id: string
  name: string
  /** The arguments as JSON text. */
  input: string
  output?: string
}

export interface ConversationMessage {
  role: 'user' | 'assistant'
  text: string
  fileIds: string[]
  /** Files within the request, which are not stored yet. */
  inline: InlineFile[]
  /** Of an assistant message. */
  calls: ConversationCall[]
}

/** A request carries the whole conversation; its last message is new. */
export interface Conversation {
  /** The caller's system and developer messages, which are added to the agent's system prompt. */
  instructions: string | null
  /** The earlier messages, oldest first. */
  history: ConversationMessage[]
  /** Undefined when the history ends with the outputs of tool calls. */
  newMessage: ConversationMessage | undefined
}

const partText = (part: ChatContentPart, param: string): string => {
  if (part.type === 'text') return part.text ?? ''
  if (part.type === 'file' || part.type === 'image_url') return ''
  throw unsupported(
    param,
    `${param} is of the type ${JSON.stringify(part.type.slice(0, 40))}: only text, image_url and file are supported`,
  )
}

const storedFiles = (part: ChatContentPart, param: string): string[] => {
  if (part.type !== 'file' || part.file?.file_data !== undefined) return []
  const id = part.file?.file_id
  if (id === undefined || !isUuid(id)) {
    throw invalid(`${param}.file`, `${param}.file.file_id must be the id of an uploaded file`)
  }
  return [id.toLowerCase()]
}

type ReadMessage = Omit<ConversationMessage, 'role'> & { role: string }

const readContent = ({ role, content }: ChatMessage, at: number): Omit<ReadMessage, 'role' | 'calls'> => {
  const param = `messages[${at}].content`
  if (typeof content === 'string') return { text: content, fileIds: [], inline: [] }
  const parts = content ?? []
  const text = parts.map((part, place) => partText(part, `${param}[${place}]`)).filter((one) => one !== '')
  const fileIds = parts.flatMap((part, place) => storedFiles(part, `${param}[${place}]`))
  const inline = parts.flatMap((part, place) => readInlineFile(part, `${param}[${place}]`) ?? [])
  if (fileIds.length + inline.length > 0 && role !== 'user')
    throw unsupported(param, `${param}: only messages with the role user may contain files`)
  return { text: text.join('\n'), fileIds: [...new Set(fileIds)], inline }
}

const readCalls = ({ role, tool_calls: given }: ChatMessage, at: number): ConversationCall[] => {
  const param = `messages[${at}].tool_calls`
  if (given === undefined || given === null || given.length === 0) return []
  if (role !== 'assistant') throw invalid(param, `${param}: only messages with the role assistant may have tool calls`)
  return given.map(({ id, type, function: called }, place) => {
    if (type !== 'function' || called === undefined) {
      throw unsupported(`${param}[${place}].type`, `${param}[${place}].type must be function`)
    }
    return { id, name: checkToolName(called.name, `${param}[${place}].function.name`), input: called.arguments }
  })
}

/** Adds the output of a tool message to its call, which is in the assistant message before it. */
const addOutput = (messages: ConversationMessage[], message: ChatMessage, at: number): void => {
  const { tool_call_id: id } = message
  const call = messages.at(-1)?.calls.find((one) => one.id === id)
  if (!call) {
    throw invalid(
      `messages[${at}].tool_call_id`,
      `messages[${at}].tool_call_id must be the id of a call of the assistant message before it`,
    )
  }
  if (call.output !== undefined) {
    throw invalid(`messages[${at}].tool_call_id`, `messages[${at}].tool_call_id must name a call without an output`)
  }
  call.output = readContent(message, at).text
}

const readMessages = (messages: ChatMessage[]): { instructions: string[]; read: ConversationMessage[] } => {
  const instructions: string[] = []
  const read: ConversationMessage[] = []
  for (const [at, message] of messages.entries()) {
    const { role } = message
    if (role === 'function') {
      throw unsupported(`messages[${at}]`, `messages[${at}] has the role function: use tools and the role tool`)
    }
    if (role === 'tool') {
      addOutput(read, message, at)
      continue
    }
    const content = readContent(message, at)
    const { text, fileIds, inline } = content
    if ([...text].length > maxText) {
      throw invalid(`messages[${at}].content`, `messages[${at}].content must have at most ${maxText} characters`)
    }
    const calls = readCalls(message, at)
    if (role === 'system' || role === 'developer') instructions.push(text)
    else if (text.trim() !== '' || fileIds.length + inline.length + calls.length > 0)
      read.push({ role, ...content, calls })
  }
  return { instructions, read }
}

/** The index of the message that began the last exchange; -1 when no user has written. */
export const lastUserIndex = (messages: readonly ConversationMessage[]): number =>
  messages.findLastIndex(({ role }) => role === 'user')

const maxFiles = 20
/** Different stored files of the whole conversation. Each is looked up twice. */
const maxStoredFiles = 1_000

/** Reads the messages. BAD_REQUEST for what agents do not support, such as audio. */
export const readConversation = (messages: ChatMessage[]): Conversation => {
  const { instructions, read } = readMessages(messages)
  const joined = instructions.filter((one) => one.trim() !== '').join('\n\n')
  if ([...joined].length > maxText) {
    throw invalid('messages', `system and developer messages must have at most ${maxText} characters in total`)
  }
  if (read.flatMap(({ inline }) => inline).length > maxFiles) {
    throw invalid('messages', `messages must contain at most ${maxFiles} pictures and files in total`)
  }
  if (new Set(read.flatMap(({ fileIds }) => fileIds)).size > maxStoredFiles) {
    throw invalid('messages', `messages must name at most ${maxStoredFiles} different files`)
  }
  const conversation = { instructions: joined === '' ? null : joined, history: read }
  const calls = read.at(-1)?.calls ?? []
  if (calls.length > 0 && lastUserIndex(read) !== -1) {
    const open = calls.find(({ output }) => output === undefined)
    if (open) throw invalid('messages', `messages must contain a tool message for the call ${open.id.slice(0, 64)}`)
    return { ...conversation, newMessage: undefined }
  }
  const newMessage = read.pop()
  if (newMessage?.role !== 'user')
    throw invalid('messages', 'The last item of messages must have the role user and must not be empty')
  if (newMessage.fileIds.length + newMessage.inline.length > maxFiles) {
    throw invalid('messages', `The last item of messages must have at most ${maxFiles} files`)
  }
  return { ...conversation, newMessage }
}

/** Stores the files within a conversation. The same bytes are the same file, so a repeated history is recognised. */
export const storeInlineFiles = async (
  deps: SessionDeps,
  actor: Actor,
  { history, newMessage, ...conversation }: Conversation,
): Promise<Conversation> => {
  const store = async (message: ConversationMessage): Promise<ConversationMessage> => {
    const fileIds = [...message.fileIds]
    for (const file of message.inline) fileIds.push((await storeInlineFile(deps, actor, file)).fileId)
    return { ...message, fileIds: [...new Set(fileIds)], inline: [] }
  }
  const stored: ConversationMessage[] = []
  for (const message of history) stored.push(await store(message))
  return { ...conversation, history: stored, newMessage: newMessage && (await store(newMessage)) }
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)

/**
 * Rejects unsupported parameters that would change the reply. Sampling parameters (`temperature`, `seed`, …)
 * are ignored like unknown fields, because the agent determines them.
 */
export const rejectUnsupported = (body: ChatCompletionCreate): void => {
  if (isSet(body.n) && body.n !== 1) throw unsupported('n', 'n must be 1: agents return one choice')
  for (const param of ['functions', 'function_call'] as const) {
    if (isSet(body[param])) throw unsupported(param, `${param} is not supported: use tools and tool_choice`)
  }
  if (isSet(body.logprobs)) throw unsupported('logprobs', 'logprobs is not supported')
  if (isSet(body.audio)) throw unsupported('audio', 'audio is not supported')
  const modalities = body.modalities as unknown[] | null | undefined
  if (modalities?.some((one) => one !== 'text')) throw unsupported('modalities', 'modalities must be ["text"]')
}

const maxStopSequences = 4
const maxStopLength = 100

/** `stop`: a text, or up to four, before which each response of the model ends. */
export const readStop = (stop: unknown): string[] | null => {
  const given = typeof stop === 'string' ? [stop] : (stop ?? [])
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== '' && one.length <= maxStopLength
  if (!Array.isArray(given) || given.length > maxStopSequences || !given.every(isText)) {
    throw invalid('stop', `stop must be a string of 1–${maxStopLength} characters or up to ${maxStopSequences} of them`)
  }
  return given.length === 0 ? null : given
}

const forComparison = ({ role, text, fileIds, calls }: ConversationMessage): unknown[] => [
  role,
  text.trim(),
  fileIds,
  ...(calls.length === 0 ? [] : [calls.map(({ id, output }) => [id, output ?? null])]),
]

/**
 * Identifies the turn that replied to a conversation when a client sends the conversation again with more messages.
 * `owner` (user, workspace, agent) keeps the conversations of different people and agents apart.
 */
export const conversationDigest = (owner: string[], messages: ConversationMessage[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['chat', owner, messages.map(forComparison)]))
    .digest()
