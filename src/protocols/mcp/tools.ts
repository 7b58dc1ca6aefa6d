import { listAgents } from '../../agents/agents.ts'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import type { Tool, ToolContext } from '../../tool.ts'
import { wireName } from '../../sessions/models/wire-name.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { runTool } from '../../sessions/tools/tools.ts'
import type { ToolOutcome } from '../../sessions/tools/tools.ts'
import type { Asked } from './ask.ts'

const agentsList: Tool = {
  name: 'agents.list',
  description: 'Lists the agents of the workspace that can be asked something, with what each is for.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly: true,
  permission: 'agents:read',
  run: async ({ db, actor }: ToolContext) => {
    const { items } = await listAgents(db, actor, {})
    const active = items.filter(({ isActive }) => isActive)
    return { agents: active.map(({ slug, name, description }) => ({ slug, name, description })) }
  },
}

/** Run by a way of its own: it takes as long as a turn does, and tells how far it is. */
export const agentsAsk: Tool = {
  name: 'agents.ask',
  description:
    'Asks an agent of the workspace and answers its reply. It works with its own tools and may take minutes. To go on with a conversation, name its sessionId.',
  inputSchema: {
    type: 'object',
    properties: {
      agent: { type: 'string', minLength: 1, maxLength: 255, description: 'Its slug; the default agent when left out' },
      text: { type: 'string', minLength: 1, maxLength: 100_000, description: 'What it is asked' },
      sessionId: { type: 'string', format: 'uuid', description: 'Of a conversation that is to be continued' },
    },
    required: ['text'],
  },
  isReadOnly: false,
  permission: 'sessions:write',
  run: () => Promise.reject(new Error('asking is not run as a tool')),
}

/** Everything that the caller may do here: the org's files, agents, and the tools of their own connections. */
export const offeredTools = async ({ toolbox, db }: SessionDeps, actor: Actor): Promise<Tool[]> => {
  const offered = await toolbox.offered({ db, actor, agent: null })
  return [...offered, ...[agentsList, agentsAsk].filter(({ permission }) => may(actor, permission))]
}

export const findTool = (tools: Tool[], name: string): Tool | undefined =>
  tools.find((tool) => wireName(tool.name) === name) ?? tools.find((tool) => tool.name === name)

/** A tool as clients are shown it, under a name that every model's provider takes. */
export const describeTool = ({ name, description, inputSchema, isReadOnly }: Tool): object => ({
  name: wireName(name),
  description,
  inputSchema: { ...inputSchema, type: 'object' },
  annotations: { readOnlyHint: isReadOnly },
})

/** Runs a tool in the caller's own name. */
export const runDirectly = (
  deps: SessionDeps,
  actor: Actor,
  tool: Tool,
  input: unknown,
  signal: AbortSignal,
): Promise<ToolOutcome> => {
  const { db, log, objects, previewer, quotas } = deps
  const context: ToolContext = {
    db,
    log,
    objects,
    previewer,
    quotas,
    actor,
    projectId: null,
    signal,
    callKey: newId(),
    turn: null,
  }
  return runTool(tool, context, input)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toolFailure = (message: string): object => ({ content: [{ type: 'text', text: message }], isError: true })

/** What came of a tool, as text for models and as JSON for programs. */
export const outcomeResult = ({ status, output }: ToolOutcome): object => {
  if (status === 'failed') return toolFailure((output as { error: string }).error)
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }],
    ...(isObject(output) ? { structuredContent: output } : {}),
    isError: false,
  }
}

export const askedResult = ({ isError, ...asked }: Asked): object => {
  const texts = [asked.reply, asked.note ?? ''].filter((text) => text !== '')
  return { content: texts.map((text) => ({ type: 'text', text })), structuredContent: asked, isError }
}
