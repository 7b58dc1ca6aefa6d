import { findAgent } from '../../../agents/agents.ts'
import type { ModelCatalog } from '../../../agents/agents.ts'
import type { Actor } from '../../../identity/actor.ts'
import type { Database } from '../../../platform/database/database.ts'
import { badRequest, validationError } from '../../../platform/http/errors.ts'
import { cleanJson, cleanText } from '../../../platform/text/text.ts'
import type { Tool } from '../../../tool.ts'
import { wireName } from '../../models/wire-name.ts'
import type { Toolbox } from '../../tools/tools.ts'
import type { CallRow } from '../call-queries.ts'
import { maxDescription } from './schemas.ts'
import type { CallerTool, CallerTools, ToolChoice } from './schemas.ts'

/** The most tools that every provider accepts, those of the agent included. */
export const maxTools = 128

/** All definitions together, as JSON: they are part of every prompt of the turn. */
const maxToolsBytes = 65_536

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Providers accept only schemas of objects. A schema without a type gets it. */
const objectSchema = (name: string, schema: Record<string, unknown>): Record<string, unknown> => {
  const { type = 'object' } = schema
  if (type !== 'object') throw badRequest(`The inputSchema of the tool ${name} must be of the type object`)
  if (schema['properties'] !== undefined && !isObject(schema['properties'])) {
    throw badRequest(`properties in the inputSchema of the tool ${name} must be an object`)
  }
  return { ...schema, type }
}

/** Checks the tools of a request. Undefined without any; BAD_REQUEST when they contradict each other or are too large. */
export const readCallerTools = (
  given: readonly CallerTool[] | undefined,
  choice: ToolChoice = 'auto',
): CallerTools | undefined => {
  if (given === undefined || given.length === 0) {
    if (choice === 'auto' || choice === 'none') return undefined
    throw badRequest('toolChoice requires tools')
  }
  const tools = given.map(({ name, description, inputSchema }): CallerTool => {
    if (description !== undefined && description.length > maxDescription) {
      throw badRequest(`The description of the tool ${name} must have at most ${maxDescription} characters`)
    }
    const schema = cleanJson(objectSchema(name, inputSchema)) as Record<string, unknown>
    return { name, ...(description === undefined ? {} : { description: cleanText(description) }), inputSchema: schema }
  })
  const names = new Set(tools.map(({ name }) => name))
  if (names.size < tools.length) throw badRequest('tools must have different names')
  if (Buffer.byteLength(JSON.stringify(tools)) > maxToolsBytes) {
    throw badRequest(`tools must have at most ${maxToolsBytes} bytes as JSON`)
  }
  if (typeof choice === 'object' && !names.has(choice.name)) {
    throw badRequest(`toolChoice names the tool ${choice.name}, which is not in tools`)
  }
  return { tools, choice, fromStep: 1 }
}

export interface ToolCheckDeps {
  db: Database
  models: ModelCatalog
  toolbox: Toolbox
}

/**
 * BAD_REQUEST when a tool has the name of one of the agent's own tools, VALIDATION_ERROR when the agent's model cannot call
 * tools. An agent that does not exist is left to the creation of the turn.
 */
export const checkCallerTools = async (
  { db, models, toolbox }: ToolCheckDeps,
  actor: Actor,
  agentId: string,
  { tools }: CallerTools,
): Promise<void> => {
  const agent = await findAgent(db.hot, actor, agentId)
  if (!agent) return
  const model = models.find(agent.model)
  if (model && !model.capabilities.tools) throw validationError(`The agent's model ${agent.model} cannot call tools.`)
  const offered = await toolbox.offered({ db, actor, agent })
  const own = new Set(offered.map(({ name }) => wireName(name)))
  if (offered.length + tools.length > maxTools) {
    throw badRequest(
      `tools must have at most ${maxTools - offered.length} items: the agent has ${offered.length} tools of its own`,
    )
  }
  const taken = tools.find(({ name }) => own.has(name))
  if (taken) throw badRequest(`tools must not have the name ${taken.name}, which a tool of the agent has`)
}

const toTool = ({ name, description, inputSchema }: CallerTool): Tool => ({
  name,
  description: description ?? name,
  inputSchema,
  hasForeignSchema: true,
  isOfCaller: true,
  isReadOnly: false,
  permission: 'sessions:write',
  run: () => Promise.reject(new Error('a tool of the caller does not run on the server')),
})

/**
 * The agent's tools and those of the caller. A tool that the agent got after the turn was created, with the name of a tool
 * of the caller, is left out: the calls of that name go to the caller.
 */
export const withCallerTools = (own: Tool[], callers: CallerTools | null): Tool[] => {
  if (callers === null) return own
  const names = new Set(callers.tools.map(({ name }) => name))
  const others = own.filter(({ name }) => !names.has(wireName(name)))
  return [...others.slice(0, maxTools - callers.tools.length), ...callers.tools.map(toTool)]
}

export const isOfCaller = (callers: CallerTools | null, { toolName }: Pick<CallRow, 'toolName'>): boolean =>
  callers !== null && callers.tools.some(({ name }) => name === toolName)

/** Whether a call was handed to the caller and has no output yet. */
export const awaitsOutput = (callers: CallerTools | null, call: Pick<CallRow, 'toolName' | 'status'>): boolean =>
  call.status === 'started' && isOfCaller(callers, call)
