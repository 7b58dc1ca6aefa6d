import type { Tool } from '../../tool.ts'
import type { ConnectionRow } from '../connections/queries.ts'
import type { AccessDeps } from '../deps.ts'
import { prefixesOf, serverToolName } from '../tool-names.ts'
import { withPictures } from '../tool-pictures.ts'
import { featureToolsOf } from './features.ts'
import { callMcpTool, runFeatureTool } from './mcp.ts'
import type { PinnedTools } from './pinned-tools.ts'
import { areWithinLimits } from './tool-list.ts'

type McpConnection = ConnectionRow & { pinnedTools: unknown }

const maxCached = 200
const cache = new Map<string, PinnedTools>()

/** Returns the same objects for the same hash. Undefined for tools beyond the limits. */
const readPinnedTools = (stored: unknown): PinnedTools | undefined => {
  const pinned = stored as PinnedTools | null
  if (!pinned) return undefined
  const cached = cache.get(pinned.hash)
  if (cached) return cached
  if (!areWithinLimits(pinned.tools)) return undefined
  if (cache.size >= maxCached) cache.clear()
  cache.set(pinned.hash, pinned)
  return pinned
}

/** The accepted tools of one MCP server. `prefix` distinguishes several servers. */
const toolsOfServer = (deps: AccessDeps, connection: McpConnection, prefix: string): Tool[] => {
  const pinned = readPinnedTools(connection.pinnedTools)
  if (!pinned) return []
  const { orgId, id } = connection
  const ref = { orgId, id }
  const serverName = connection.accountName ?? 'MCP server'
  const own = pinned.tools.map((tool): Tool => ({
    name: serverToolName('mcp', prefix, tool.name),
    description: `${serverName}: ${tool.description}`,
    inputSchema: tool.inputSchema,
    hasForeignSchema: true,
    // The server's own `readOnlyHint` is not trustworthy.
    isReadOnly: false,
    permission: 'connections:write',
    connector: connection.connectorSlug,
    connectionOf: () => id,
    isOutbound: true,
    readsUntrusted: true,
    run: async ({ signal, turn }, input: Readonly<Record<string, unknown>>) => {
      const answers = turn?.answers
      const call = { tool: tool.name, input, pinnedHash: pinned.hash, signal, server: serverName, answers }
      const { output, pictures } = await callMcpTool(deps, ref, call)
      return { ...output, content: await withPictures(output.content, pictures, turn) }
    },
  }))
  // The cache of tools is by hash, which does not contain the features.
  const { features } = connection.pinnedTools as PinnedTools
  const nameOf = (name: string): string => serverToolName('mcp', prefix, name)
  const ours = featureToolsOf(features, nameOf, new Set(own.map(({ name }) => name))).map((tool): Tool => ({
    name: nameOf(tool.name),
    description: `${serverName}: ${tool.description}`,
    inputSchema: tool.inputSchema,
    isReadOnly: tool.isReadOnly,
    permission: tool.isReadOnly ? 'connections:read' : 'connections:write',
    connector: connection.connectorSlug,
    connectionOf: () => id,
    // A URI and the arguments of a prompt can carry what the turn has read.
    isOutbound: !tool.isReadOnly,
    readsUntrusted: true,
    run: ({ signal }, input: Readonly<Record<string, unknown>>) =>
      runFeatureTool(deps, ref, { tool, input, pinnedHash: pinned.hash, signal }),
  }))
  return [...own, ...ours]
}

/** The tools of all MCP connections of a user. With several, the names contain the label of the connection. */
export const mcpAgentTools = (
  deps: AccessDeps,
  connections: McpConnection[],
  labelOf: (connection: ConnectionRow) => string,
): Tool[] =>
  prefixesOf(connections, labelOf, 'server').flatMap(({ connection, prefix }) =>
    toolsOfServer(deps, connection, prefix),
  )
