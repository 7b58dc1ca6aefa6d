import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { recordEvent } from '../../outbox/record.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { conflict, notFound } from '../../platform/http/errors.ts'
import { listAgentTools } from '../a2a/agent-tools.ts'
import { catalog } from '../catalog/catalog.ts'
import { agentToolName, schemaOf } from '../catalog/agent-schemas.ts'
import { featureToolsOf } from '../mcp/features.ts'
import type { PinnedTools } from '../mcp/pinned-tools.ts'
import * as mcpQueries from '../mcp/queries.ts'
import { areWithinLimits } from '../mcp/tool-list.ts'
import { serverToolName } from '../tool-names.ts'

interface ListedTool {
  name: string
  description: string
  inputSchema: unknown
}

interface ToolList {
  hash: string
  items: ListedTool[]
}

interface ConnectionToolLists {
  hash: string | null
  items: ListedTool[]
  /** The tools of an MCP server that wait for acceptance. */
  offered: ToolList | null
}

const nameOf = (name: string): string => serverToolName('mcp', '', name)

const toList = ({ hash, tools, features }: PinnedTools): ToolList => {
  if (!areWithinLimits(tools)) return { hash, items: [] }
  const own = tools.map((tool) => ({ ...tool, name: nameOf(tool.name) }))
  const ours = featureToolsOf(features, nameOf, new Set(own.map(({ name }) => name)))
  return {
    hash,
    items: [
      ...own,
      ...ours.map(({ name, description, inputSchema }) => ({ name: nameOf(name), description, inputSchema })),
    ],
  }
}

/** The tools of the caller's connection. For an MCP server, also the changed tools that wait for acceptance. */
export const toolsOfConnection = async (db: Db, actor: Actor, id: string): Promise<ConnectionToolLists> => {
  const row = await mcpQueries.findPinnedTools(db, actor, id)
  if (!row) throw notFound('Connection')
  const connector = catalog.get(row.connectorSlug)
  if (connector?.isMcp) {
    const [pinned, offered] = [row.pinnedTools as PinnedTools | null, row.offeredTools as PinnedTools | null]
    return { hash: null, items: [], ...(pinned && toList(pinned)), offered: offered && toList(offered) }
  }
  if (connector?.isA2a) return { hash: null, items: listAgentTools(row.pinnedTools), offered: null }
  const items = (connector?.tools ?? []).map((tool) => ({
    name: agentToolName(row.connectorSlug, tool.name),
    description: tool.description,
    inputSchema: schemaOf(tool),
  }))
  return { hash: null, items, offered: null }
}

/** Accepts the changed tools of an MCP server. CONFLICT when no tools with this hash wait for acceptance. */
export const acceptTools = async (
  db: Database,
  actor: Actor,
  id: string,
  hash: string,
): Promise<ConnectionToolLists> => {
  await toolsOfConnection(db, actor, id)
  await db.transaction(actor, async (db) => {
    if (!(await mcpQueries.accept(db, actor, id, hash))) {
      throw conflict('hash is not the hash of the tools that wait for acceptance. List the tools again.')
    }
    await audit(db, actor, 'connection.tools-agreed', { type: 'connection', id, details: { hash } })
    const { connectorSlug = '' } = (await mcpQueries.findPinnedTools(db, actor, id)) ?? {}
    const data = { connectionId: id, connector: connectorSlug }
    await recordEvent(db, actor, 'connection.connected', {
      subjectId: id,
      workspaceId: null,
      ownerId: actor.userId,
      data,
    })
  })
  return toolsOfConnection(db, actor, id)
}
