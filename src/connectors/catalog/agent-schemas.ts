import type { ConnectorTool } from './definition.ts'

/** The name by which agents call a tool of a connector. */
export const agentToolName = (slug: string, tool: string): string => `${slug}__${tool}`

const schemas = new WeakMap<ConnectorTool, object>()

/** The JSON schema of a tool's arguments. Returns the same object each time, because validators are cached by it. */
export const schemaOf = (tool: ConnectorTool): object => {
  const cached = schemas.get(tool)
  if (cached) return cached
  const { input, required = [] } = tool
  const schema = { type: 'object', properties: input, required, additionalProperties: false }
  schemas.set(tool, schema)
  return schema
}

const maxCachedPerTool = 100
const choiceSchemas = new WeakMap<ConnectorTool, Map<string, object>>()

/** Adds the required argument `connection`, for a user with several connections. Cached, like `schemaOf`. */
export const schemaWithConnection = (tool: ConnectorTool, labels: string[]): object => {
  const ofTool = choiceSchemas.get(tool) ?? new Map<string, object>()
  choiceSchemas.set(tool, ofTool)
  const key = JSON.stringify(labels)
  const cached = ofTool.get(key)
  if (cached) return cached
  const connection = { type: 'string', enum: labels, description: 'Which connection to use' }
  const schema = {
    type: 'object',
    properties: { ...tool.input, connection },
    required: [...(tool.required ?? []), 'connection'],
    additionalProperties: false,
  }
  // Users rename connections, so the number of keys has no other bound.
  if (ofTool.size >= maxCachedPerTool) ofTool.clear()
  ofTool.set(key, schema)
  return schema
}
