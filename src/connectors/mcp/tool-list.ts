import { badRequest } from '../../platform/http/errors.ts'
import { cleanJson, cutText } from '../../platform/text/text.ts'

/** A tool as an MCP server describes it in `tools/list`. */
export interface McpTool {
  name: string
  description: string
  /** A JSON schema from an untrusted server. It is stored and passed on, never compiled. */
  inputSchema: object
}

/** Bound what a server can add to the database, to every prompt and to code that traverses a schema. */
const toolLimits = {
  tools: 128,
  nameCharacters: 128,
  /** Longer descriptions are cut. */
  descriptionCharacters: 1_024,
  schemaBytes: 16_384,
  /** Schemas of all tools together. */
  totalBytes: 524_288,
  schemaDepth: 32,
} as const

/** Whether a JSON value has more levels. Iterative, because recursion would overflow the stack on hostile input. */
const isDeeperThan = (value: unknown, maxDepth: number): boolean => {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((one): one is object => typeof one === 'object' && one !== null)
    if (containers.length > 0 && depth >= maxDepth) return true
    level = containers.flatMap((one) => Object.values(one) as unknown[])
  }
  return false
}

const limitExceeded = (reason: string): Error => badRequest(`The tools of the MCP server exceed a limit: ${reason}.`)

const checkSchema = (name: string, schema: object): void => {
  if (isDeeperThan(schema, toolLimits.schemaDepth)) {
    throw limitExceeded(`the schema of ${name} is nested deeper than ${toolLimits.schemaDepth} levels`)
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > toolLimits.schemaBytes) {
    throw limitExceeded(`the schema of ${name} is larger than ${toolLimits.schemaBytes} bytes`)
  }
}

const toTool = (value: unknown): McpTool | undefined => {
  const { name, description, inputSchema } = (value ?? {}) as Partial<Record<keyof McpTool, unknown>>
  if (typeof name !== 'string') return undefined
  if (name.length > toolLimits.nameCharacters) {
    throw limitExceeded(`a name is longer than ${toolLimits.nameCharacters} characters`)
  }
  if (!/^[\w.\-/]+$/.test(name)) return undefined
  const isSchema = typeof inputSchema === 'object' && inputSchema !== null && !Array.isArray(inputSchema)
  const schema = isSchema ? inputSchema : { type: 'object' }
  checkSchema(name, schema)
  const text = typeof description === 'string' ? description : ''
  // The database rejects NUL and lone surrogates, in names of fields, too.
  const clean = cleanJson(schema) as object
  return { name, description: cutText(text, toolLimits.descriptionCharacters), inputSchema: clean }
}

const checkTotals = (tools: readonly McpTool[]): void => {
  if (tools.length > toolLimits.tools) throw limitExceeded(`there are more than ${toolLimits.tools} tools`)
  const bytes = tools.reduce((sum, { inputSchema }) => sum + Buffer.byteLength(JSON.stringify(inputSchema)), 0)
  if (bytes > toolLimits.totalBytes) {
    throw limitExceeded(`the schemas of all tools together are larger than ${toolLimits.totalBytes} bytes`)
  }
}

/** Adds one page of `tools/list`. Drops tools with invalid names. BAD_REQUEST names the limit that is exceeded. */
export const addTools = (tools: McpTool[], page: readonly unknown[]): void => {
  if (tools.length + page.length > toolLimits.tools) {
    throw limitExceeded(`there are more than ${toolLimits.tools} tools`)
  }
  tools.push(...page.flatMap((one) => toTool(one) ?? []))
  checkTotals(tools)
}

/** Whether stored tools are within the limits. Tools that were stored before the limits existed may not be. */
export const areWithinLimits = (tools: readonly McpTool[]): boolean => {
  try {
    for (const { name, inputSchema } of tools) checkSchema(name, inputSchema)
    checkTotals(tools)
    return true
  } catch {
    return false
  }
}
