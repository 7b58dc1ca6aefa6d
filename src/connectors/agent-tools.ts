import { badRequest } from '../platform/http/errors.ts'
import type { PageReader, Pages } from '../platform/sandbox/pages.ts'
import type { Tool, ToolScope, ToolSource } from '../tool.ts'
import { toolsOfAgent } from './a2a/agent-tools.ts'
import type { A2aDeps } from './a2a/client.ts'
import { catalog } from './catalog/catalog.ts'
import type { Connector, ConnectorTool, ApiResponse, Values } from './catalog/definition.ts'
import { agentToolName, schemaOf, schemaWithConnection } from './catalog/agent-schemas.ts'
import { callConnection } from './connections/calls.ts'
import { listActiveConnections } from './connections/queries.ts'
import type { ConnectionRow } from './connections/queries.ts'
import { pick } from './connections/templates.ts'
import { mcpAgentTools } from './mcp/agent-tools.ts'
import { prefixesOf } from './tool-names.ts'

interface AgentToolDeps extends A2aDeps {
  pages: Pages
}

const outputOf = ({ output }: ConnectorTool, response: ApiResponse, input: Values, pages: PageReader): unknown => {
  if (typeof output === 'function') return output(response, input, pages)
  const { body, truncated } = response
  if (truncated) return { truncated, beginning: body }
  return output ? pick(body, output) : body
}

export const toolNamesOf = ({ slug, tools }: Connector): string[] => tools.map(({ name }) => agentToolName(slug, name))

const labelOf = ({ label, accountName, id }: ConnectionRow): string => label ?? accountName ?? id

/** Connections by unique label. A repeated label gets the connection's ID as a suffix. */
const byLabel = (connections: ConnectionRow[]): Map<string, ConnectionRow> => {
  const labelled = new Map<string, ConnectionRow>()
  for (const connection of connections) {
    const label = labelOf(connection)
    labelled.set(labelled.has(label) ? `${label} ${connection.id}` : label, connection)
  }
  return labelled
}

/** The tools of a connector for a user's connections to it. */
const toolsOfConnector = (deps: AgentToolDeps, connector: Connector, connections: ConnectionRow[]): Tool[] => {
  const [first] = connections
  if (!first) return []
  const labelled = byLabel(connections)
  const hasChoice = labelled.size > 1
  const chosen = ({ connection: label }: { connection?: string }): ConnectionRow | undefined =>
    hasChoice ? labelled.get(label ?? '') : first
  return connector.tools.map((tool) => ({
    name: agentToolName(connector.slug, tool.name),
    description: `${connector.name}: ${tool.description}`,
    inputSchema: hasChoice ? schemaWithConnection(tool, [...labelled.keys()]) : schemaOf(tool),
    isReadOnly: tool.isReadOnly,
    permission: tool.isReadOnly ? 'connections:read' : 'connections:write',
    connector: connector.slug,
    isOutbound: !tool.isReadOnly,
    readsUntrusted: true,
    connectionOf: (args: { connection?: string }) => chosen(args)?.id,
    run: async ({ actor, signal }, args: Values & { connection?: string }) => {
      const { connection: _label, ...rest } = args
      const input = hasChoice ? rest : args
      const connection = chosen(args)
      if (!connection) throw badRequest('connection does not exist any more')
      const { orgId, id } = connection
      const request = typeof tool.request === 'function' ? tool.request(input) : tool.request
      const response = await callConnection(deps, { orgId, id }, request, { input, signal })
      return outputOf(tool, response, input, deps.pages.for({ orgId, userId: actor.userId, signal }))
    },
  }))
}

const listTools = async (deps: AgentToolDeps, { db, actor, agent }: ToolScope): Promise<Tool[]> => {
  const slugs = agent ? agent.allowedConnectors.filter((slug) => catalog.has(slug)) : [...catalog.keys()]
  if (slugs.length === 0) return []
  const connections = await listActiveConnections(db, actor, slugs)
  return slugs.flatMap((slug) => {
    const connector = catalog.get(slug)
    const own = connections.filter(({ connectorSlug }) => connectorSlug === slug)
    if (!connector || own.length === 0) return []
    if (connector.isMcp) return mcpAgentTools(deps, own, labelOf)
    return connector.isA2a
      ? prefixesOf(own, labelOf, 'agent').flatMap(({ connection, prefix }) => toolsOfAgent(deps, connection, prefix))
      : toolsOfConnector(deps, connector, own)
  })
}

/**
 * The connector tools of an agent in a turn: those of the calling user's own active connections to connectors in the
 * agent's `allowedConnectors`.
 */
export const createConnectorTools = (deps: AgentToolDeps): ToolSource => ({
  offered: (scope) => listTools(deps, scope),
})
