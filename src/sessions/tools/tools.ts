import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { may } from '../../identity/actor.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { jsonDepth, maxJsonDepth } from '../../platform/http/json-depth.ts'
import type { Log } from '../../platform/process/log.ts'
import { describe } from '../../platform/http/validation.ts'
import type { Tool, ToolContext, ToolScope, ToolSource } from '../../tool.ts'
import { cleanJson, cleanText } from '../../platform/text/text.ts'
import { runUnit } from '../../platform/process/units.ts'
import { wireName } from '../models/wire-name.ts'

export type { Tool, ToolContext, ToolScope, ToolSource } from '../../tool.ts'

export interface ToolOutcome {
  status: 'done' | 'failed'
  output: unknown
}

export interface Toolbox {
  /** The tools that an agent may use in a person's name, now. */
  offered(scope: ToolScope): Promise<Tool[]>
  /** What is wrong with the arguments, for the model; undefined when nothing is. */
  fault(tool: Tool, input: unknown): string | undefined
}

/** Tools that an agent uses when its `allowedTools` names them. */
export const builtIn = (tools: readonly Tool[]): ToolSource => ({
  offered: ({ agent }) =>
    Promise.resolve(agent ? tools.filter(({ name }) => agent.allowedTools.includes(name)) : [...tools]),
})

/** What the pickiest provider takes. */
const maxTools = 128

/**
 * Compiles the schemas of our own tools, each once. Foreign schemas never get here. One of ours that cannot be compiled is
 * a bug: its tool is not run.
 */
const createChecks = (log: Log) => {
  const checks = new WeakMap<object, ValidateFunction | 'invalid'>()
  const ajv = new Ajv({ strict: false, verbose: true, coerceTypes: false, addUsedSchema: false, logger: false })
  addFormats.default(ajv)
  const compile = (tool: Tool): ValidateFunction | 'invalid' => {
    try {
      return ajv.compile(tool.inputSchema)
    } catch (error) {
      log.error({ err: error, tool: tool.name }, 'the schema of a tool cannot be compiled, the tool is not run')
      return 'invalid'
    } finally {
      // Or ajv keeps every schema that it ever saw.
      ajv.removeSchema(tool.inputSchema)
    }
  }
  return (tool: Tool): ValidateFunction | 'invalid' => {
    const check = checks.get(tool.inputSchema) ?? compile(tool)
    checks.set(tool.inputSchema, check)
    return check
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The tools of all sources together. Of two with one name toward models that of the earlier source counts. */
export const createToolbox = (sources: readonly ToolSource[], log: Log): Toolbox => {
  const checkOf = createChecks(log)
  const ask = async (source: ToolSource, scope: ToolScope): Promise<Tool[]> => {
    try {
      return await source.offered(scope)
    } catch (error) {
      log.warn({ err: error }, 'a source of tools failed, and the turn goes on without them')
      return []
    }
  }
  return {
    offered: async (scope) => {
      const found = await Promise.all(sources.map((source) => ask(source, scope)))
      const byName = new Map<string, Tool>()
      for (const tool of found.flat()) {
        const name = wireName(tool.name)
        if (!byName.has(name) && may(scope.actor, tool.permission)) byName.set(name, tool)
      }
      const { agent } = scope
      const place = ({ name }: Tool): number => {
        const at = agent ? agent.allowedTools.indexOf(name) : -1
        return at === -1 ? maxTools : at
      }
      return [...byName.values()].toSorted((a, b) => place(a) - place(b)).slice(0, maxTools)
    },
    fault: (tool, input) => {
      if (!isObject(input)) return 'The input must be an object'
      if (tool.hasForeignSchema === true) return undefined
      const check = checkOf(tool)
      if (check === 'invalid') return 'The tool cannot be used: its schema is not valid'
      if (check(input)) return undefined
      const error = check.errors?.[0]
      return error ? describe(error as never, 'body').replace(/^The body/, 'The input') : 'The input is not valid'
    },
  }
}

const toolTimeoutMs = 60_000
const maxOutputBytes = 65_536

/** How JSON writes NUL and halves of surrogate pairs, which PostgreSQL does not take: a turn would never get past them. */
const unstorable = /\\u(?:0000|d[89a-f])/

const jsonOf = (output: unknown): string => {
  try {
    return JSON.stringify(output) ?? 'null'
  } catch (error) {
    // JSON.stringify is recursive: a value of a few thousand levels exhausts the stack.
    if (error instanceof RangeError) throw badRequest(tooDeep, { cause: error })
    throw error
  }
}

const tooDeep = `The answer of the tool is nested deeper than ${maxJsonDepth} levels.`

const capped = (output: unknown): unknown => {
  const json = jsonOf(output)
  if (Buffer.byteLength(json) <= maxOutputBytes) {
    if (jsonDepth(json) > maxJsonDepth) throw badRequest(tooDeep)
    return unstorable.test(json) ? cleanJson(JSON.parse(json)) : (output ?? null)
  }
  return {
    truncated: true,
    beginning: Buffer.from(json)
      .subarray(0, maxOutputBytes - 1_024)
      .toString('utf8'),
  }
}

const told = (error: string): ToolOutcome => ({ status: 'failed', output: { error: cleanText(error) } })

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
  const { log, signal, actor, turn, callKey } = context
  const timeout = AbortSignal.timeout(toolTimeoutMs)
  const stray = new AbortController()
  const either = AbortSignal.any([signal, timeout, stray.signal])
  const unit = { kind: 'tool', id: turn?.id ?? callKey, orgId: actor.orgId } as const
  const run = async (): Promise<unknown> => {
    const running = tool.run({ ...context, signal: either }, input as never)
    running.catch(() => undefined)
    return Promise.race([running, untilAborted(either)])
  }
  try {
    return { status: 'done', output: capped(await runUnit(unit, (reason) => stray.abort(reason), run)) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (timeout.aborted) return told(`The tool did not answer within ${toolTimeoutMs / 1_000} s.`)
    if (error instanceof ApiError) return told(error.message)
    log.error({ err: error, tool: tool.name }, 'tool failed')
    return told('The tool failed.')
  }
}
