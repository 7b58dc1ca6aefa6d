import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { may } from '../../identity/actor.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { jsonDepth, maxJsonDepth } from '../../platform/http/json-depth.ts'
import type { Log } from '../../platform/process/log.ts'
import { describe } from '../../platform/http/validation.ts'
import type { Tool, ToolContext, ToolScope, ToolSource } from '../../tool.ts'
import { InputRequired } from '../../tool-form.ts'
import type { Form } from '../../tool-form.ts'
import { cleanJson, cleanText } from '../../platform/text/text.ts'
import { runUnit } from '../../platform/process/units.ts'
import { wireName } from '../models/wire-name.ts'

export type { Tool, ToolContext, ToolScope, ToolSource } from '../../tool.ts'

export interface ToolOutcome {
  status: 'done' | 'failed'
  output: unknown
}

/** The tool asks a person, and runs again when it has the answer. Only for calls of a turn. */
export interface AskingOutcome {
  status: 'asks'
  form: Form
}

export interface Toolbox {
  /** The tools that an agent may currently use on behalf of a person. */
  offered(scope: ToolScope): Promise<Tool[]>
  /** Validates the arguments. Returns an error for the model; undefined when they are valid. */
  inputError(tool: Tool, input: unknown): string | undefined
}

/** Tools that an agent has only when its `allowedTools` names them. */
export const builtIn = (tools: readonly Tool[]): ToolSource => ({
  offered: ({ agent }) =>
    Promise.resolve(agent ? tools.filter(({ name }) => agent.allowedTools.includes(name)) : [...tools]),
})

/** The largest number of tools that every provider accepts in one request (OpenAI: 128). */
const maxTools = 128

/**
 * Compiles the schema of each built-in tool once. Foreign schemas are never compiled. A built-in schema that does not
 * compile is a bug, and its tool is not run.
 */
const createValidators = (log: Log) => {
  const validators = new WeakMap<object, ValidateFunction | 'invalid'>()
  const ajv = new Ajv({ strict: false, verbose: true, coerceTypes: false, addUsedSchema: false, logger: false })
  addFormats.default(ajv)
  const compile = (tool: Tool): ValidateFunction | 'invalid' => {
    try {
      return ajv.compile(tool.inputSchema)
    } catch (error) {
      log.error({ err: error, tool: tool.name }, 'the input schema of a tool does not compile; the tool is not run')
      return 'invalid'
    } finally {
      // Otherwise ajv keeps every schema in memory.
      ajv.removeSchema(tool.inputSchema)
    }
  }
  return (tool: Tool): ValidateFunction | 'invalid' => {
    const validator = validators.get(tool.inputSchema) ?? compile(tool)
    validators.set(tool.inputSchema, validator)
    return validator
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The tools of all sources. When two tools have the same wire name, that of the earlier source is used. */
export const createToolbox = (sources: readonly ToolSource[], log: Log): Toolbox => {
  const validatorOf = createValidators(log)
  const toolsOf = async (source: ToolSource, scope: ToolScope): Promise<Tool[]> => {
    try {
      return await source.offered(scope)
    } catch (error) {
      log.warn({ err: error }, 'a source of tools failed; the turn goes on without its tools')
      return []
    }
  }
  return {
    offered: async (scope) => {
      const found = await Promise.all(sources.map((source) => toolsOf(source, scope)))
      const byName = new Map<string, Tool>()
      for (const tool of found.flat()) {
        const name = wireName(tool.name)
        if (!byName.has(name) && may(scope.actor, tool.permission)) byName.set(name, tool)
      }
      const { agent } = scope
      // Above the limit, the tools that `allowedTools` names have priority.
      const rank = ({ name }: Tool): number => {
        const index = agent ? agent.allowedTools.indexOf(name) : -1
        return index === -1 ? maxTools : index
      }
      return [...byName.values()].toSorted((a, b) => rank(a) - rank(b)).slice(0, maxTools)
    },
    inputError: (tool, input) => {
      if (!isObject(input)) return 'The input must be an object'
      if (tool.hasForeignSchema === true) return undefined
      const validator = validatorOf(tool)
      if (validator === 'invalid') return 'The tool cannot be used: its schema is not valid'
      if (validator(input)) return undefined
      const error = validator.errors?.[0]
      return error ? describe(error as never, 'body').replace(/^The body/, 'The input') : 'The input is not valid'
    },
  }
}

const toolTimeoutMs = 60_000
const maxOutputBytes = 65_536

/** JSON escapes of NUL and of lone surrogates. PostgreSQL rejects both, so the turn could never store its checkpoint. */
const unstorable = /\\u(?:0000|d[89a-f])/

const jsonOf = (output: unknown): string => {
  try {
    return JSON.stringify(output) ?? 'null'
  } catch (error) {
    // JSON.stringify is recursive, so a value with thousands of levels overflows the stack.
    if (error instanceof RangeError) throw badRequest(tooDeep, { cause: error })
    throw error
  }
}

const tooDeep = `The output of the tool is nested deeper than ${maxJsonDepth} levels.`

/** The output as it is stored and shown to the model: at most 64 KB, without characters that PostgreSQL rejects. */
const storableOutput = (output: unknown): unknown => {
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

const failure = (error: string): ToolOutcome => ({ status: 'failed', output: { error: cleanText(error) } })

/** Rejects with the signal's reason; never resolves. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })

/**
 * Runs a tool. An error of the tool resolves to an outcome that the model reads. Rejects only when the turn ends, and then
 * immediately, even if the tool ignores its signal.
 */
export const runTool = async (
  tool: Tool,
  context: ToolContext,
  input: unknown,
): Promise<ToolOutcome | AskingOutcome> => {
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
    return { status: 'done', output: storableOutput(await runUnit(unit, (reason) => stray.abort(reason), run)) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (timeout.aborted) return failure(`The tool did not finish within ${toolTimeoutMs / 1_000} s.`)
    if (error instanceof InputRequired) return { status: 'asks', form: error.form }
    if (error instanceof ApiError) return failure(error.message)
    log.error({ err: error, tool: tool.name }, 'tool failed')
    return failure('The tool failed.')
  }
}
