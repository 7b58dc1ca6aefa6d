import { createHash } from 'node:crypto'
import { badRequest, conflict } from '../../platform/http/errors.ts'
import { withConnection } from '../connections/calls.ts'
import { openMcp } from './client.ts'
import type { McpSession } from './client.ts'
import * as queries from './queries.ts'
import type { McpTool } from './tools.ts'
import { endpoint } from '../connections/provider.ts'
import type { Access, ProviderDeps } from '../connections/provider.ts'
import type { AccessDeps, ConnectionRef } from '../oauth/refresh.ts'
import { createScrubber } from '../connections/scrub.ts'

/** The tools of a server that a person agreed to. */
export interface Pin {
  hash: string
  tools: McpTool[]
}

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sorted(inner)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Of everything about the tools that a model is told: whoever changes a word of it changes what the model does. */
export const pinOf = (tools: McpTool[]): Pin => {
  const inOrder = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    hash: createHash('sha256')
      .update(JSON.stringify(sorted(inOrder)))
      .digest('hex'),
    tools: inOrder,
  }
}

/** Opens a session with the server of an access, and closes it when the work is done. */
const withServer = async <T>(
  deps: ProviderDeps,
  { orgId, connector, secrets }: Access,
  signal: AbortSignal | undefined,
  work: (session: McpSession) => Promise<T>,
): Promise<T> => {
  const target = { ...endpoint(deps, connector, secrets['url'] ?? ''), token: secrets['token'], orgId }
  const session = await openMcp(deps.outbound, target, signal)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

/** What a server is and what it can do, asked with credentials that may become a connection's. */
export const lookAtServer = (deps: ProviderDeps, access: Access): Promise<{ serverName: string; pin: Pin }> =>
  withServer(deps, access, undefined, async (session) => ({
    serverName: session.serverName,
    pin: pinOf(await session.listTools()),
  }))

interface Content {
  type?: unknown
  text?: unknown
  mimeType?: unknown
}

/** Pictures and sounds are named and left out: a model is told text here. */
const readable = (result: Record<string, unknown>): unknown => {
  const content = (Array.isArray(result['content']) ? result['content'] : []) as Content[]
  const parts = content.map((part) =>
    part.type === 'text' || part.type === 'resource_link'
      ? part
      : { type: part.type, mimeType: part.mimeType, omitted: true },
  )
  return {
    content: parts,
    ...(result['structuredContent'] === undefined ? {} : { structuredContent: result['structuredContent'] }),
  }
}

const textOf = (result: Record<string, unknown>): string =>
  ((Array.isArray(result['content']) ? result['content'] : []) as Content[])
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n')
    .slice(0, 2_000)

/**
 * Calls a tool of a connection's server, if its tools are still those that the person agreed to. When they are others, the
 * connection is broken until the person agrees to these: a description that has changed can make a model do anything.
 */
export const callMcpTool = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  { tool, input, pinnedHash, signal }: { tool: string; input: unknown; pinnedHash: string; signal: AbortSignal },
): Promise<unknown> =>
  withConnection(deps, ref, (access) =>
    withServer(deps, access, signal, async (session) => {
      const now = pinOf(await session.listTools())
      if (now.hash !== pinnedHash) {
        const reason = 'The tools of this MCP server are not those that were agreed to. Look at them and agree again.'
        await queries.holdForAgreement(deps.db, ref.orgId, ref.id, pinnedHash, JSON.stringify(now), reason)
        throw conflict(reason)
      }
      const result = (await session.callTool(tool, input)) as Record<string, unknown>
      const scrub = createScrubber(access)
      if (result['isError'] === true) throw badRequest(scrub(textOf(result)) || 'The tool failed.')
      return JSON.parse(scrub(JSON.stringify(readable(result)))) as unknown
    }),
  )
