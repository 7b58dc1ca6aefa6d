import { isUuid } from '../../platform/ids.ts'
import { readCallerTools } from '../../sessions/turns/caller-tools/caller-tools.ts'
import type { CallerTool, CallerTools, ToolChoice } from '../../sessions/turns/caller-tools/schemas.ts'
import { invalid, unsupported } from './errors.ts'
import type { ChatCompletionCreate, ChatTool, ChatToolCall } from './schemas.ts'

const namePattern = /^[A-Za-z0-9_-]{1,64}$/

export const checkToolName = (name: unknown, param: string): string => {
  if (typeof name !== 'string' || !namePattern.test(name))
    throw invalid(param, `${param} must be 1–64 letters, digits, underscores and dashes`)
  return name
}

const readTool = ({ type, function: given }: ChatTool, at: number): CallerTool => {
  const param = `tools[${at}]`
  if (type !== 'function') {
    throw unsupported(`${param}.type`, `${param}.type must be function: other tools are not supported`)
  }
  if (given === undefined) throw invalid(`${param}.function`, `${param}.function is required`)
  const { name, description, parameters } = given
  return {
    name: checkToolName(name, `${param}.function.name`),
    ...(description === undefined || description === null ? {} : { description }),
    inputSchema: parameters ?? { type: 'object', properties: {} },
  }
}

const readChoice = (choice: unknown): ToolChoice => {
  if (choice === undefined || choice === null) return 'auto'
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const { type, function: named } = choice as { type?: unknown; function?: { name?: unknown } }
  if (type === 'function' && typeof named?.name === 'string') return { name: named.name }
  throw unsupported('tool_choice', 'tool_choice must be auto, none, required, or name a function')
}

/** The tools of a request; undefined without any. */
export const readTools = (body: ChatCompletionCreate): CallerTools | undefined => {
  const tools = body.tools ?? []
  const choice = readChoice(body.tool_choice)
  if (tools.length === 0 && choice !== 'auto' && choice !== 'none') {
    throw invalid('tool_choice', 'tool_choice requires tools')
  }
  const read = readCallerTools(tools.map(readTool), choice)
  return read && body.parallel_tool_calls === false ? { ...read, isParallel: false } : read
}

/** Names the turn, so that the outputs of its calls find it. */
const toolCallId = (turnId: string, callId: string): string => `call_${turnId.replaceAll('-', '')}_${callId}`

const idPattern = /^call_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([a-z0-9]{1,20})$/

/** The turn and the call of an id that this server gave out; undefined for any other id. */
export const parseToolCallId = (id: string): { turnId: string; callId: string } | undefined => {
  const [, a, b, c, d, e, callId] = idPattern.exec(id) ?? []
  const turnId = [a, b, c, d, e].join('-')
  return callId !== undefined && isUuid(turnId) ? { turnId, callId } : undefined
}

export const toChatToolCall = (
  turnId: string,
  { id, toolName, input }: { id: string; toolName: string; input: unknown },
): ChatToolCall => ({
  id: toolCallId(turnId, id),
  type: 'function',
  function: { name: toolName, arguments: JSON.stringify(input) },
})
