import { createHash } from 'node:crypto'
import type { CallingTurn, Tool, ToolContext } from '../../tool.ts'
import type { ConnectionRow } from '../connections/queries.ts'
import { serverToolName } from '../tool-names.ts'
import { withPictures } from '../tool-pictures.ts'
import type { RemoteAgent } from './agent-card.ts'
import { cancelTask, getTask, sendMessage } from './client.ts'
import type { A2aDeps, Target } from './client.ts'
import { isWorking } from './messages.ts'
import type { RemoteTask } from './messages.ts'

/** What the connection of a remote agent stores of its card. */
export interface PinnedAgent {
  agent: RemoteAgent
}

type Connection = ConnectionRow & { pinnedTools: unknown }

interface Input {
  text: string
  taskId?: string
  contextId?: string
}

type Context = Pick<ToolContext, 'signal' | 'callKey' | 'turn'>

interface AgentTool {
  name: string
  description(agent: RemoteAgent): string
  inputSchema: object
  isReadOnly: boolean
  run(deps: A2aDeps, target: Target, input: Input, context: Context): Promise<RemoteTask>
}

const id = (description: string): object => ({ type: 'string', minLength: 1, maxLength: 1_024, description })
const schema = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const taskOnly = schema({ taskId: id('The task') }, ['taskId'])

/** The same for every execution of one call, so that an agent which compares messages starts one task only. */
const messageIdOf = (callKey: string): string => createHash('sha256').update(`a2a ${callKey}`).digest('hex')

const tools: readonly AgentTool[] = [
  {
    name: 'send_message',
    description: ({ name, description }) =>
      `Sends a message to the remote agent ${name} and returns its reply or its task. ${description}`.trim(),
    inputSchema: schema(
      {
        text: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The message' },
        contextId: id('Of an earlier result: continues that conversation'),
        taskId: id('Of a result with the state input-required: replies to its question'),
      },
      ['text'],
    ),
    isReadOnly: false,
    run: (deps, target, { text, taskId, contextId }, { signal, callKey, turn }) => {
      const message = { messageId: messageIdOf(callKey), text, taskId, contextId }
      return sendMessage(deps, target, message, { signal, leftMs: turn?.leftMs ?? Number.POSITIVE_INFINITY })
    },
  },
  {
    name: 'get_task',
    description: ({ name }) => `Returns the current state and the output of a task of the remote agent ${name}.`,
    inputSchema: taskOnly,
    // The ID is text of the model, which could carry what the turn has read.
    isReadOnly: false,
    run: (deps, target, { taskId = '' }, { signal }) => getTask(deps, target, taskId, signal),
  },
  {
    name: 'cancel_task',
    description: ({ name }) => `Cancels a task of the remote agent ${name}.`,
    inputSchema: taskOnly,
    isReadOnly: false,
    run: (deps, target, { taskId = '' }, { signal }) => cancelTask(deps, target, taskId, signal),
  },
]

const nameOf = (prefix: string, name: string): string => serverToolName('a2a', prefix, name)

const agentOf = (stored: unknown): RemoteAgent | undefined => (stored as PinnedAgent | null)?.agent

/** The tools for a remote agent, as they are listed. */
export const listAgentTools = (
  stored: unknown,
  prefix = '',
): { name: string; description: string; inputSchema: object }[] => {
  const agent = agentOf(stored)
  if (!agent) return []
  return tools.map(({ name, description, inputSchema }) => ({
    name: nameOf(prefix, name),
    description: description(agent),
    inputSchema,
  }))
}

const noteOf = (task: RemoteTask): string | undefined => {
  if (isWorking(task)) return 'The agent is still working on the task. Its result can be read with get_task later.'
  if (task.state === 'input-required') return 'The agent asks a question. Reply with send_message and this taskId.'
  if (task.state === 'auth-required') return 'The agent waits for an authorization, which a person has to give there.'
  return undefined
}

const outputOf = async ({ pictures, ...task }: RemoteTask, turn: CallingTurn | null): Promise<unknown> => {
  const note = noteOf({ pictures, ...task })
  return { ...task, content: await withPictures(task.content, pictures, turn), ...(note === undefined ? {} : { note }) }
}

/** The tools of one remote agent. `prefix` distinguishes several agents. */
export const toolsOfAgent = (deps: A2aDeps, connection: Connection, prefix: string): Tool[] => {
  const agent = agentOf(connection.pinnedTools)
  if (!agent) return []
  const { orgId, id: connectionId } = connection
  const target = { ref: { orgId, id: connectionId }, agent }
  return tools.map((tool) => ({
    name: nameOf(prefix, tool.name),
    description: tool.description(agent),
    inputSchema: tool.inputSchema,
    isReadOnly: tool.isReadOnly,
    permission: 'connections:write' as const,
    connector: connection.connectorSlug,
    connectionOf: () => connectionId,
    isOutbound: true,
    readsUntrusted: true,
    run: async (context, input: Input) => outputOf(await tool.run(deps, target, input, context), context.turn),
  }))
}
