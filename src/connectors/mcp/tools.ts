import { badRequest } from '../../platform/http/errors.ts'

/** What an MCP server says of one of its tools. */
export interface McpTool {
  name: string
  description: string
  /** Somebody else's JSON schema: data that is stored and passed on, never compiled. */
  inputSchema: object
}

/** What a server's tools may take of the database, of each prompt and of every walk over a schema. */
export const toolLimits = {
  tools: 128,
  nameCharacters: 128,
  /** What a model is told of a description; the rest is cut off. */
  descriptionCharacters: 1_024,
  schemaBytes: 16_384,
  /** Schemas of all tools together. */
  totalBytes: 524_288,
  schemaDepth: 32,
} as const

/** Whether a JSON value is nested deeper than so many levels. Goes level by level, without recursion. */
export const isDeeperThan = (value: unknown, maxDepth: number): boolean => {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((one): one is object => typeof one === 'object' && one !== null)
    if (containers.length > 0 && depth >= maxDepth) return true
    level = containers.flatMap((one) => Object.values(one) as unknown[])
  }
  return false
}

const rejected = (reason: string): Error => badRequest(`The tools of the MCP server cannot be used: ${reason}.`)

const checkSchema = (name: string, schema: object): void => {
  if (isDeeperThan(schema, toolLimits.schemaDepth)) {
    throw rejected(`the schema of ${name} is nested deeper than ${toolLimits.schemaDepth} levels`)
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > toolLimits.schemaBytes) {
    throw rejected(`the schema of ${name} is larger than ${toolLimits.schemaBytes} bytes`)
  }
}

const toolOf = (value: unknown): McpTool | undefined => {
  const { name, description, inputSchema } = (value ?? {}) as Partial<Record<keyof McpTool, unknown>>
  if (typeof name !== 'string') return undefined
  if (name.length > toolLimits.nameCharacters) {
    throw rejected(`a name is longer than ${toolLimits.nameCharacters} characters`)
  }
  if (!/^[\w.\-/]+$/.test(name)) return undefined
  const isSchema = typeof inputSchema === 'object' && inputSchema !== null && !Array.isArray(inputSchema)
  const schema = isSchema ? inputSchema : { type: 'object' }
  checkSchema(name, schema)
  const text = typeof description === 'string' ? description : ''
  return { name, description: text.slice(0, toolLimits.descriptionCharacters), inputSchema: schema }
}

const checkTogether = (tools: readonly McpTool[]): void => {
  if (tools.length > toolLimits.tools) throw rejected(`there are more than ${toolLimits.tools}`)
  const bytes = tools.reduce((sum, { inputSchema }) => sum + Buffer.byteLength(JSON.stringify(inputSchema)), 0)
  if (bytes > toolLimits.totalBytes) {
    throw rejected(`their schemas are larger than ${toolLimits.totalBytes} bytes together`)
  }
}

/** Adds what a page of a server's list says. Throws BAD_REQUEST with the limit that is exceeded. */
export const addTools = (tools: McpTool[], listed: readonly unknown[]): void => {
  if (tools.length + listed.length > toolLimits.tools) throw rejected(`there are more than ${toolLimits.tools}`)
  tools.push(...listed.flatMap((one) => toolOf(one) ?? []))
  checkTogether(tools)
}

/** Whether tools that were stored before there were limits are within them. */
export const areWithinLimits = (tools: readonly McpTool[]): boolean => {
  try {
    for (const { name, inputSchema } of tools) checkSchema(name, inputSchema)
    checkTogether(tools)
    return true
  } catch {
    return false
  }
}
