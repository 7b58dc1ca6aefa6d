import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { Previewer } from '../files/preview/previewer.ts'
import { may } from '../identity/actor.ts'
import type { Actor } from '../identity/actor.ts'
import type { Permission } from '../identity/permissions.ts'
import type { Database } from '../platform/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import { describe } from '../platform/validation.ts'

/** What a tool works with. The actor is the person whose turn it is: a tool reaches what they reach, and no more. */
export interface ToolContext {
  db: Database
  log: Log
  objects: ObjectStore
  previewer: Previewer
  actor: Actor
  /** The project of the session. */
  projectId: string | null
  /** Aborted when the turn ends or the tool takes too long. */
  signal: AbortSignal
}

export interface Tool {
  /** Letters, digits, dots, dashes, underscores; what an agent's `allowedTools` names. */
  name: string
  description: string
  /** JSON schema of an object: what the model is told and what its arguments are checked against. */
  inputSchema: object
  /** Changes nothing, so it may be run again when nobody knows whether it ran. */
  isReadOnly: boolean
  /** What the person must be allowed for the agent to be offered it. */
  permission: Permission
  /** Answers JSON. An ApiError is told to the model; anything else is logged and told as a failure. */
  run(context: ToolContext, input: never): Promise<unknown>
}

export interface ToolOutcome {
  status: 'done' | 'failed'
  output: unknown
}

export interface Toolbox {
  /** The tools that an agent may use in this person's name. */
  offered(allowed: readonly string[], actor: Actor): Tool[]
  /** What is wrong with the arguments, for the model; undefined when nothing is. */
  fault(tool: Tool, input: unknown): string | undefined
}

/** All tools that agents can be allowed. */
export const createToolbox = (tools: Tool[]): Toolbox => {
  const ajv = new Ajv({ strict: false, verbose: true, coerceTypes: false })
  addFormats.default(ajv)
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const checks = new Map<Tool, ValidateFunction>(tools.map((tool) => [tool, ajv.compile(tool.inputSchema)]))
  return {
    offered: (allowed, actor) =>
      allowed.flatMap((name) => {
        const tool = byName.get(name)
        return tool && may(actor, tool.permission) ? [tool] : []
      }),
    fault: (tool, input) => {
      const check = checks.get(tool)
      if (!check || check(input)) return undefined
      const error = check.errors?.[0]
      return error ? describe(error as never, 'body').replace(/^The body/, 'The input') : 'The input is not valid'
    },
  }
}

const toolTimeoutMs = 60_000
const maxOutputBytes = 65_536

const capped = (output: unknown): unknown => {
  const json = JSON.stringify(output) ?? 'null'
  if (Buffer.byteLength(json) <= maxOutputBytes) return output ?? null
  return {
    truncated: true,
    beginning: Buffer.from(json)
      .subarray(0, maxOutputBytes - 1_024)
      .toString('utf8'),
  }
}

const told = (error: string): ToolOutcome => ({ status: 'failed', output: { error } })

/** Resolves never; rejects with the signal's reason. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })

/**
 * Runs a tool. What goes wrong in it is an outcome that the model hears of. Rejects only when the turn itself ends; then
 * nobody waits for the tool, whether it heeds its signal or not.
 */
export const runTool = async (tool: Tool, context: ToolContext, input: unknown): Promise<ToolOutcome> => {
  const { log, signal } = context
  const timeout = AbortSignal.timeout(toolTimeoutMs)
  const either = AbortSignal.any([signal, timeout])
  try {
    const running = tool.run({ ...context, signal: either }, input as never)
    running.catch(() => undefined)
    return { status: 'done', output: capped(await Promise.race([running, untilAborted(either)])) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (timeout.aborted) return told(`The tool did not answer within ${toolTimeoutMs / 1_000} s.`)
    if (error instanceof ApiError) return told(error.message)
    log.error({ err: error, tool: tool.name }, 'tool failed')
    return told('The tool failed.')
  }
}
