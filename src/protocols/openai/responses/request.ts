// Converts requests of the Responses API to those of chat completions.
import type { CallerTools } from '../../../sessions/turns/caller-tools/schemas.ts'
import type { OutputFormat } from '../../../sessions/output/schemas.ts'
import { ChatError, invalid, unsupported } from '../errors.ts'
import { readConversation } from '../conversation.ts'
import type { Conversation } from '../conversation.ts'
import { readFormat } from '../response-format.ts'
import type { ChatMessage, ChatTool } from '../schemas.ts'
import { readTools } from '../tools.ts'
import type { ResponseCreate } from './schemas.ts'

type Item = Record<string, unknown>

const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown, param: string): string => {
  if (!isText(value)) throw invalid(param, `${param} must be a string`)
  return value
}

const imagePart = (part: Item, param: string): object => {
  const { image_url: url, file_id: fileId } = part
  if (isText(fileId)) return { type: 'file', file: { file_id: fileId } }
  if (!isText(url)) throw invalid(param, `${param} must have an image_url or a file_id`)
  return { type: 'image_url', image_url: { url } }
}

const filePart = (part: Item, param: string): object => {
  const { file_id: fileId, file_data: data, filename } = part
  if (part['file_url'] !== undefined) {
    throw unsupported(
      `${param}.file_url`,
      `${param}.file_url is not supported: the server fetches nothing for a client`,
    )
  }
  if (isText(fileId)) return { type: 'file', file: { file_id: fileId } }
  if (!isText(data)) throw invalid(param, `${param} must have a file_id or file_data`)
  return { type: 'file', file: { file_data: data, ...(isText(filename) ? { filename } : {}) } }
}

const contentOf = (content: unknown, param: string): string | object[] => {
  if (isText(content)) return content
  if (!Array.isArray(content)) throw invalid(param, `${param} must be a string or an array`)
  return content.map((part: unknown, at) => {
    const place = `${param}[${at}]`
    if (!isObject(part)) throw invalid(place, `${place} must be an object`)
    const { type } = part
    if (type === 'input_text' || type === 'output_text') {
      return { type: 'text', text: textOf(part['text'], `${place}.text`) }
    }
    if (type === 'refusal') return { type: 'text', text: textOf(part['refusal'], `${place}.refusal`) }
    if (type === 'input_image') return imagePart(part, place)
    if (type === 'input_file') return filePart(part, place)
    throw unsupported(`${place}.type`, `${place}.type is not supported`)
  })
}

const outputOf = (item: Item, param: string): string => {
  const content = contentOf(item['output'], `${param}.output`)
  if (isText(content)) return content
  return (content as { type: string; text?: string }[])
    .map(({ type, text }) => {
      if (type !== 'text') throw unsupported(`${param}.output`, `${param}.output must be text`)
      return text ?? ''
    })
    .join('\n')
}

const roles = new Set(['user', 'assistant', 'system', 'developer'])

const toMessage = (item: Item, param: string): ChatMessage | undefined => {
  const { type = 'message', role } = item
  if (type === 'message') {
    if (!isText(role) || !roles.has(role))
      throw invalid(`${param}.role`, `${param}.role must be user, assistant, system or developer`)
    return { role, content: contentOf(item['content'], `${param}.content`) } as ChatMessage
  }
  if (type === 'function_call') {
    const [id, name] = [textOf(item['call_id'], `${param}.call_id`), textOf(item['name'], `${param}.name`)]
    const called = { name, arguments: textOf(item['arguments'], `${param}.arguments`) }
    return { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] }
  }
  if (type === 'function_call_output') {
    const id = textOf(item['call_id'], `${param}.call_id`)
    return { role: 'tool', tool_call_id: id, content: outputOf(item, param) }
  }
  // The server keeps the reasoning of its models.
  if (type === 'reasoning') return undefined
  throw unsupported(
    `${param}.type`,
    `${param}.type is not supported: only messages, function calls and their outputs are`,
  )
}

/** A message of the assistant and its calls are one message of a chat, also when items of other kinds are between them. */
const joinAssistant = (messages: ChatMessage[]): ChatMessage[] => {
  const joined: ChatMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    const isSame = last?.role === 'assistant' && message.role === 'assistant' && message.tool_calls
    if (!isSame) joined.push(message)
    else
      joined[joined.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), ...(message.tool_calls ?? [])] }
  }
  return joined
}

export interface GivenOutput {
  id: string
  output: string
}

export interface ResponseInput {
  /** The whole conversation, or only the new message when the request continues a response. */
  messages: ChatMessage[]
  /** The outputs that `input` consists of; undefined when it has other items. */
  outputs: GivenOutput[] | undefined
}

/** Reads input without references. */
export const readInput = (input: ResponseCreate['input']): ResponseInput => {
  if (isText(input)) return { messages: [{ role: 'user', content: input }], outputs: undefined }
  const messages = input.flatMap((item, at) => toMessage(item, `input[${at}]`) ?? [])
  const isOutputs = messages.length > 0 && messages.every(({ role }) => role === 'tool')
  const outputs = messages.map(({ tool_call_id: id, content }) => ({ id: id ?? '', output: content as string }))
  return { messages: joinAssistant(messages), outputs: isOutputs ? outputs : undefined }
}

/** Calls a reader of chat completions. Its errors name `input` in place of `messages`, which clients did not send. */
const forInput = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ChatError) || error.fields.param?.startsWith('messages') !== true) throw error
    throw new ChatError(error.code, error.message.replaceAll(/\bmessages\b(?:\[\d+\])?/g, 'input'), {
      ...error.fields,
      param: 'input',
    })
  }
}

export const readInputConversation = (messages: ChatMessage[], instructions: string | null): Conversation => {
  const given: ChatMessage[] = instructions === null ? [] : [{ role: 'system', content: instructions }]
  return forInput(() => readConversation([...given, ...messages]))
}

const toTool = (tool: Item, at: number): ChatTool => {
  const { type, name, description, parameters } = tool
  if (type !== 'function') {
    throw unsupported(`tools[${at}].type`, `tools[${at}].type must be function: hosted tools are not supported`)
  }
  return { type, function: { name, description, parameters } } as ChatTool
}

export const readFunctions = ({
  tools,
  tool_choice: choice,
  parallel_tool_calls: isParallel,
}: ResponseCreate): CallerTools | undefined => {
  for (const [at, { name, description, parameters }] of (tools ?? []).entries()) {
    const isValid =
      (name === undefined || isText(name)) &&
      (description === undefined || description === null || isText(description)) &&
      (parameters === undefined || parameters === null || isObject(parameters))
    if (!isValid)
      throw invalid(`tools[${at}]`, `tools[${at}] must have a name, and may have a description and parameters`)
  }
  const named =
    isObject(choice) && choice['type'] === 'function'
      ? { type: 'function', function: { name: choice['name'] } }
      : choice
  return readTools({ tools: (tools ?? []).map(toTool), tool_choice: named, parallel_tool_calls: isParallel } as never)
}

/** `text.format`. The schema is beside its name, unlike in chat completions. */
export const readTextFormat = ({ text }: ResponseCreate): OutputFormat | null => {
  const format = text?.['format']
  if (!isObject(format)) return null
  const { type, ...schema } = format
  try {
    return readFormat(type === 'json_schema' ? { type, json_schema: schema } : format)
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    throw invalid('text.format', error.message.replace('response_format', 'text.format'))
  }
}

const rejected = ['conversation', 'prompt', 'max_tool_calls', 'top_logprobs', 'context_management'] as const

/** Rejects parameters that would change the response. Sampling parameters and unknown fields are ignored. */
export const rejectUnsupportedResponse = (body: ResponseCreate): void => {
  const fields = body as Item
  for (const param of rejected) {
    const value = fields[param]
    if (value !== undefined && value !== null && value !== 0) throw unsupported(param, `${param} is not supported`)
  }
  const other = body.include?.find((one) => one !== 'reasoning.encrypted_content')
  if (other !== undefined) throw unsupported('include', `include must not contain ${other.slice(0, 64)}`)
}
