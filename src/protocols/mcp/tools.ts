import { listAgents } from '../../agents/agents.ts'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import type { Tool, ToolContext } from '../../tool.ts'
import { wireName } from '../../sessions/models/wire-name.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { runTool } from '../../sessions/tools/tools.ts'
import type { ToolOutcome } from '../../sessions/tools/tools.ts'
import type { AskResult } from './ask.ts'
import { toolDetails } from './tool-details.ts'

const agentsList: Tool = {
  name: 'agents.list',
  description: 'Lists the active agents of the workspace with their descriptions.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly: true,
  permission: 'agents:read',
  run: async ({ db, actor }: ToolContext) => {
    const { items } = await listAgents(db, actor, {})
    const active = items.filter(({ isActive }) => isActive)
    return { agents: active.map(({ slug, name, description }) => ({ slug, name, description })) }
  },
}

/** Not run like other tools, because it lasts as long as a turn and reports progress. */
export const agentsAsk: Tool = {
  name: 'agents.ask',
  description:
    'Asks an agent of the workspace and returns its reply. The agent uses its own tools and may take minutes. To continue a conversation, pass its sessionId.',
  inputSchema: {
    type: 'object',
    properties: {
      agent: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        description: 'The slug of the agent; the default agent if omitted',
      },
      text: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The message to the agent' },
      sessionId: { type: 'string', format: 'uuid', description: 'The session of a conversation to continue' },
    },
    required: ['text'],
  },
  isReadOnly: false,
  permission: 'sessions:write',
  run: () => Promise.reject(new Error('agents.ask is handled before runTool')),
}

/** The tools that the caller may use: files, agents, and the tools of their own connections. */
export const offeredTools = async ({ toolbox, db }: SessionDeps, actor: Actor): Promise<Tool[]> => {
  const offered = await toolbox.offered({ db, actor, agent: null })
  return [...offered, ...[agentsList, agentsAsk].filter(({ permission }) => may(actor, permission))]
}

export const findTool = (tools: Tool[], name: string): Tool | undefined =>
  tools.find((tool) => wireName(tool.name) === name) ?? tools.find((tool) => tool.name === name)

/** `google-drive__search_files` gives "google-drive: search files". */
const titleOfName = (name: string): string => name.split('__').join(': ').replaceAll('_', ' ')

/** A tool as clients see it, with a name that all model providers accept. */
export const describeTool = ({ name, description, inputSchema, isReadOnly }: Tool): object => {
  const { title = titleOfName(name), annotations = {}, ...details } = toolDetails[name] ?? {}
  // Nothing tells which tools of other servers delete data, so all that change something count as destructive.
  const hints = { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly, openWorldHint: true }
  return {
    name: wireName(name),
    title,
    ...details,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { title, ...hints, ...annotations },
  }
}

/** Runs a tool with the caller's own authority. */
export const runForCaller = async (
  deps: SessionDeps,
  actor: Actor,
  { tool, input }: { tool: Tool; input: unknown },
  signal: AbortSignal,
): Promise<ToolOutcome> => {
  const { db, log, objects, previewer, quotas, jobs, config } = deps
  const context: ToolContext = {
    db,
    log,
    objects,
    previewer,
    quotas,
    jobs,
    config,
    actor,
    projectId: null,
    signal,
    callKey: newId(),
    turn: null,
  }
  const outcome = await runTool(tool, context, input)
  return outcome.status === 'asks' ? { status: 'failed', output: { error: 'The tool asks for input.' } } : outcome
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toolError = (message: string): object => ({ content: [{ type: 'text', text: message }], isError: true })

/** The outcome of a tool as text for models and as JSON for programs. */
export const toToolResult = ({ status, output }: ToolOutcome): object => {
  if (status === 'failed') return toolError((output as { error: string }).error)
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }],
    ...(isObject(output) ? { structuredContent: output } : {}),
    isError: false,
  }
}

export const toAskToolResult = ({ isError, ...result }: AskResult): object => {
  const texts = [result.reply, result.note ?? ''].filter((text) => text !== '')
  return { content: texts.map((text) => ({ type: 'text', text })), structuredContent: result, isError }
}
