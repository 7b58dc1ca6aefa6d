import { createHash } from 'node:crypto'
import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest, conflict, notFound } from '../platform/http/errors.ts'
import type { PageReader, Pages } from '../platform/sandbox/pages.ts'
import { slugOf } from '../platform/text/slug.ts'
import type { Tool, ToolScope, ToolSource } from '../tool.ts'
import { catalog } from './catalog/catalog.ts'
import { callConnection } from './connections/calls.ts'
import type { Connector, ConnectorTool, ProviderAnswer, Values } from './catalog/definition.ts'
import { callMcpTool } from './mcp/mcp.ts'
import type { Pin } from './mcp/mcp.ts'
import * as mcpQueries from './mcp/queries.ts'
import { areWithinLimits } from './mcp/tools.ts'
import * as queries from './queries.ts'
import type { ConnectionRow } from './queries.ts'
import type { AccessDeps, ConnectionRef } from './oauth/refresh.ts'
import { pick } from './connections/templates.ts'

export interface ToolDeps extends AccessDeps {
  pages: Pages
}

const schemas = new WeakMap<ConnectorTool, object>()

/** One object a tool: what is compiled for it is found by it again. */
const schemaOf = (tool: ConnectorTool): object => {
  const known = schemas.get(tool)
  if (known) return known
  const { input, required = [] } = tool
  const schema = { type: 'object', properties: input, required, additionalProperties: false }
  schemas.set(tool, schema)
  return schema
}

/** The same with a choice of the connection, where the person has several. Remembered, as it is asked for often. */
const choiceSchemas = new WeakMap<ConnectorTool, Map<string, object>>()
const schemaWithChoice = (tool: ConnectorTool, labels: string[]): object => {
  const ofTool = choiceSchemas.get(tool) ?? new Map<string, object>()
  choiceSchemas.set(tool, ofTool)
  const key = JSON.stringify(labels)
  const known = ofTool.get(key)
  if (known) return known
  const connection = { type: 'string', enum: labels, description: 'Which of the connections to use' }
  const schema = {
    type: 'object',
    properties: { ...tool.input, connection },
    required: [...(tool.required ?? []), 'connection'],
    additionalProperties: false,
  }
  // Labels come and go; what is not asked for any more must not pile up.
  if (ofTool.size >= 100) ofTool.clear()
  ofTool.set(key, schema)
  return schema
}

const answerOf = ({ answer }: ConnectorTool, given: ProviderAnswer, input: Values, pages: PageReader): unknown => {
  if (typeof answer === 'function') return answer(given, input, pages)
  const { body, truncated } = given
  if (truncated) return { truncated, beginning: body }
  return answer ? pick(body, answer) : body
}

/** What agents call the tools of a connector. */
export const toolNamesOf = ({ slug, tools }: Connector): string[] => tools.map(({ name }) => `${slug}__${name}`)

const refOf = ({ orgId, id }: ConnectionRow): ConnectionRef => ({ orgId, id })

/** How a person tells their connections of one connector apart. */
const labelOf = ({ label, accountName, id }: ConnectionRow): string => label ?? accountName ?? id

const permissionOf = (isReadOnly: boolean): Tool['permission'] =>
  isReadOnly ? 'connections:read' : 'connections:write'

/** Each connection under a name of its own: two may have the same account, or one the other's label. */
const byNames = (connections: ConnectionRow[]): Map<string, ConnectionRow> => {
  const named = new Map<string, ConnectionRow>()
  for (const connection of connections) {
    const label = labelOf(connection)
    named.set(named.has(label) ? `${label} ${connection.id}` : label, connection)
  }
  return named
}

/** The tools of a connector for the connections that a person has to it. */
const toolsFor = (deps: ToolDeps, connector: Connector, connections: ConnectionRow[]): Tool[] => {
  const [first] = connections
  if (!first) return []
  const named = byNames(connections)
  const hasChoice = named.size > 1
  return connector.tools.map((tool) => ({
    name: `${connector.slug}__${tool.name}`,
    description: `${connector.name}: ${tool.description}`,
    inputSchema: hasChoice ? schemaWithChoice(tool, [...named.keys()]) : schemaOf(tool),
    isReadOnly: tool.isReadOnly,
    permission: permissionOf(tool.isReadOnly),
    connector: connector.slug,
    isOutbound: !tool.isReadOnly,
    readsUntrusted: true,
    run: async ({ signal }, given: Values & { connection?: string }) => {
      const { connection: chosen, ...rest } = given
      const input = hasChoice ? rest : given
      const connection = hasChoice ? named.get(chosen ?? '') : first
      if (!connection) throw badRequest('There is no such connection any more.')
      const request = typeof tool.request === 'function' ? tool.request(input) : tool.request
      const answer = await callConnection(deps, refOf(connection), request, { input, signal })
      return answerOf(tool, answer, input, deps.pages.for({ orgId: connection.orgId, signal }))
    },
  }))
}

const maxNameLength = 64

/** Names go to providers that take 64 characters of `A-Za-z0-9_-`; what is cut off is stood for by a hash of all. */
const mcpName = (middle: string, name: string): string => {
  const whole = `mcp__${middle}${name}`
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (clean.length <= maxNameLength) return clean
  return `${clean.slice(0, maxNameLength - 9)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
}

const pinned = new Map<string, Pin>()

/** The objects that were read before, for pins that are the same. Tools beyond the limits are none. */
const knownPin = (value: unknown): Pin | undefined => {
  const pin = value as Pin | null
  if (!pin) return undefined
  const known = pinned.get(pin.hash)
  if (known) return known
  if (!areWithinLimits(pin.tools)) return undefined
  if (pinned.size >= 200) pinned.clear()
  pinned.set(pin.hash, pin)
  return pin
}

/** The tools of one MCP server, as the person agreed to them. `middle` tells several servers apart. */
const mcpTools = (deps: AccessDeps, connection: ConnectionRow & { pinnedTools: unknown }, middle: string): Tool[] => {
  const pin = knownPin(connection.pinnedTools)
  return (pin?.tools ?? []).map((tool) => ({
    name: mcpName(middle, tool.name),
    description: `${connection.accountName ?? 'MCP server'}: ${tool.description}`,
    inputSchema: tool.inputSchema,
    hasForeignSchema: true,
    // A server may say of its tools what it likes.
    isReadOnly: false,
    permission: permissionOf(false),
    connector: connection.connectorSlug,
    isOutbound: true,
    readsUntrusted: true,
    run: ({ signal }, input: Values) =>
      callMcpTool(deps, refOf(connection), { tool: tool.name, input, pinnedHash: pin?.hash ?? '', signal }),
  }))
}

/** All MCP connections of a person. With one, its tools go by their own names; with several, by the connection's as well. */
const allMcpTools = (deps: AccessDeps, connections: (ConnectionRow & { pinnedTools: unknown })[]): Tool[] => {
  const taken = new Set<string>()
  return connections.flatMap((connection) => {
    if (connections.length === 1) return mcpTools(deps, connection, '')
    const slug = slugOf(labelOf(connection), 'server').replaceAll('-', '_')
    let middle = slug
    for (let n = 2; taken.has(middle); n++) middle = `${slug}_${n}`
    taken.add(middle)
    return mcpTools(deps, connection, `${middle}__`)
  })
}

const offered = async (deps: ToolDeps, { db, actor, agent }: ToolScope): Promise<Tool[]> => {
  const slugs = agent ? agent.allowedConnectors.filter((slug) => catalog.has(slug)) : [...catalog.keys()]
  if (slugs.length === 0) return []
  const connections = await queries.listActiveConnections(db, actor, slugs)
  return slugs.flatMap((slug) => {
    const connector = catalog.get(slug)
    const own = connections.filter(({ connectorSlug }) => connectorSlug === slug)
    if (!connector || own.length === 0) return []
    return connector.isMcp ? allMcpTools(deps, own) : toolsFor(deps, connector, own)
  })
}

/**
 * What agents do with the connections of the person whose turn it is: those whose connector is in the agent's
 * `allowedConnectors`, active at that moment, and nobody else's.
 */
export const createConnectorTools = (deps: ToolDeps): ToolSource => ({ offered: (scope) => offered(deps, scope) })

interface ShownTool {
  name: string
  description: string
  inputSchema: unknown
}

export interface ConnectionTools {
  hash: string | null
  items: ShownTool[]
  offered: { hash: string; items: ShownTool[] } | null
}

const shownPin = ({ hash, tools }: Pin): { hash: string; items: ShownTool[] } => ({
  hash,
  items: (areWithinLimits(tools) ? tools : []).map((tool) => ({ ...tool, name: mcpName('', tool.name) })),
})

/** What agents can do with the caller's connection; of an MCP server, also what it has now where that is something else. */
export const toolsOfConnection = async (db: Db, actor: Actor, id: string): Promise<ConnectionTools> => {
  const row = await mcpQueries.findPins(db, actor, id)
  if (!row) throw notFound('Connection')
  const connector = catalog.get(row.connectorSlug)
  if (connector?.isMcp) {
    const [now, next] = [row.pinnedTools as Pin | null, row.offeredTools as Pin | null]
    return { hash: null, items: [], ...(now && shownPin(now)), offered: next && shownPin(next) }
  }
  const items = (connector?.tools ?? []).map((tool) => ({
    name: `${row.connectorSlug}__${tool.name}`,
    description: tool.description,
    inputSchema: schemaOf(tool),
  }))
  return { hash: null, items, offered: null }
}

/** Agrees to what an MCP server has now. CONFLICT when that is not what `hash` names, or nothing waits for it. */
export const agreeToTools = async (db: Database, actor: Actor, id: string, hash: string): Promise<ConnectionTools> => {
  await toolsOfConnection(db, actor, id)
  await db.transaction(actor, async (db) => {
    if (!(await mcpQueries.agree(db, actor, id, hash))) {
      throw conflict('These are not the tools that wait for an agreement. Read them again.')
    }
    await audit(db, actor, 'connection.tools-agreed', { type: 'connection', id }, { hash })
  })
  return toolsOfConnection(db, actor, id)
}
