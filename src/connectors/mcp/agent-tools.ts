import { createHash } from 'node:crypto'
import { slugOf } from '../../platform/text/slug.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { CallingTurn, Tool } from '../../tool.ts'
import type { ConnectionRow } from '../connections/queries.ts'
import type { AccessDeps } from '../deps.ts'
import { featureToolsOf } from './features.ts'
import { callMcpTool, runFeatureTool } from './mcp.ts'
import type { McpResult } from './mcp.ts'
import type { PinnedTools } from './pinned-tools.ts'
import { areWithinLimits } from './tool-list.ts'

type McpConnection = ConnectionRow & { pinnedTools: unknown }

const maxNameLength = 64

/** Model providers accept names of 64 characters of `A-Za-z0-9_-`. A hash of the whole name replaces what is cut off. */
export const mcpToolName = (prefix: string, name: string): string => {
  const whole = `mcp__${prefix}${name}`
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (clean.length <= maxNameLength) return clean
  return `${clean.slice(0, maxNameLength - 9)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
}

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

const maxPictures = 4

/** Names the pictures in the output by the ids under which the turn keeps them, and says why others are not shown. */
const withPictures = async ({ output, pictures }: McpResult, turn: CallingTurn | null): Promise<unknown> => {
  const content: unknown[] = [...output.content]
  for (const { place, bytes } of turn === null ? [] : pictures.slice(0, maxPictures)) {
    const { mimeType } = content[place] as { mimeType?: unknown }
    try {
      content[place] = { type: 'image', mimeType, pictureId: await turn?.keepPicture(bytes) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      content[place] = { type: 'image', mimeType, omitted: true, error: error.message }
    }
  }
  return { ...output, content }
}

/** The accepted tools of one MCP server. `prefix` distinguishes several servers. */
const toolsOfServer = (deps: AccessDeps, connection: McpConnection, prefix: string): Tool[] => {
  const pinned = readPinnedTools(connection.pinnedTools)
  if (!pinned) return []
  const { orgId, id } = connection
  const ref = { orgId, id }
  const serverName = connection.accountName ?? 'MCP server'
  const own = pinned.tools.map((tool): Tool => ({
    name: mcpToolName(prefix, tool.name),
    description: `${serverName}: ${tool.description}`,
    inputSchema: tool.inputSchema,
    hasForeignSchema: true,
    // The server's own `readOnlyHint` is not trustworthy.
    isReadOnly: false,
    permission: 'connections:write',
    connector: connection.connectorSlug,
    isOutbound: true,
    readsUntrusted: true,
    run: async ({ signal, turn }, input: Readonly<Record<string, unknown>>) => {
      const answers = turn?.answers
      const call = { tool: tool.name, input, pinnedHash: pinned.hash, signal, server: serverName, answers }
      return withPictures(await callMcpTool(deps, ref, call), turn)
    },
  }))
  // The cache of tools is by hash, which does not contain the features.
  const { features } = connection.pinnedTools as PinnedTools
  const nameOf = (name: string): string => mcpToolName(prefix, name)
  const ours = featureToolsOf(features, nameOf, new Set(own.map(({ name }) => name))).map((tool): Tool => ({
    name: nameOf(tool.name),
    description: `${serverName}: ${tool.description}`,
    inputSchema: tool.inputSchema,
    isReadOnly: tool.isReadOnly,
    permission: tool.isReadOnly ? 'connections:read' : 'connections:write',
    connector: connection.connectorSlug,
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
): Tool[] => {
  const used = new Set<string>()
  return connections.flatMap((connection) => {
    if (connections.length === 1) return toolsOfServer(deps, connection, '')
    const slug = slugOf(labelOf(connection), 'server').replaceAll('-', '_')
    let prefix = slug
    for (let n = 2; used.has(prefix); n++) prefix = `${slug}_${n}`
    used.add(prefix)
    return toolsOfServer(deps, connection, `${prefix}__`)
  })
}
