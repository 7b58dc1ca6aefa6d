import { systemActor } from '../../identity/actor.ts'
import { recordEvent } from '../../outbox/record.ts'
import { badRequest, conflict } from '../../platform/http/errors.ts'
import { providerUrl } from '../connections/access.ts'
import type { Access, ConnectionRef, FreshAccess } from '../connections/access.ts'
import { withConnection } from '../connections/calls.ts'
import { createScrubber } from '../connections/scrub.ts'
import type { AccessDeps, ProviderDeps } from '../deps.ts'
import { openSession } from './client.ts'
import type { McpSession } from './client.ts'
import { pinTools } from './pinned-tools.ts'
import type { PinnedTools } from './pinned-tools.ts'
import * as queries from './queries.ts'

/** Opens a session with the server of a connection, and closes it after `work`. */
const withSession = async <T>(
  deps: ProviderDeps,
  { orgId, connector, secrets }: Access,
  signal: AbortSignal | undefined,
  work: (session: McpSession) => Promise<T>,
): Promise<T> => {
  const target = { ...providerUrl(deps, connector, secrets['url'] ?? ''), token: secrets['token'], orgId }
  const session = await openSession(deps.outbound, target, signal)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

/** The name and the tools of a server, requested with credentials that are not stored yet. */
export const inspectServer = (
  deps: ProviderDeps,
  access: Access,
): Promise<{ serverName: string; tools: PinnedTools }> =>
  withSession(deps, access, undefined, async (session) => ({
    serverName: session.serverName,
    tools: pinTools(await session.listTools()),
  }))

interface Content {
  type?: unknown
  text?: unknown
  mimeType?: unknown
  data?: unknown
}

/** The output of a tool, and its pictures with their places in `content`. */
export interface McpResult {
  output: { content: unknown[] }
  pictures: { place: number; bytes: Buffer }[]
}

const picturesOf = (content: readonly Content[]): McpResult['pictures'] =>
  content.flatMap(({ type, data }, place) =>
    type === 'image' && typeof data === 'string' ? [{ place, bytes: Buffer.from(data, 'base64') }] : [],
  )

const contentOf = (result: Record<string, unknown>): Content[] =>
  Array.isArray(result['content']) ? (result['content'] as Content[]) : []

/** Replaces images, audio and embedded resources by a note, because tool results are text. */
const toToolOutput = (result: Record<string, unknown>): unknown => {
  const parts = contentOf(result).map((part) =>
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
  contentOf(result)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n')
    .slice(0, 2_000)

/** Marks the connection as broken, unless other tools have been accepted in the meantime. */
const breakConnection = (
  { db }: AccessDeps,
  { ref, connector }: FreshAccess,
  tools: { pinnedHash: string; offered: string; reason: string },
): Promise<void> =>
  db.transaction(ref, async (db) => {
    const broken = await queries.requireAcceptance(db, ref, tools)
    if (!broken) return
    await recordEvent(db, systemActor(ref.orgId, 'Atrium'), 'connection.broken', {
      subjectId: ref.id,
      workspaceId: null,
      ownerId: broken.userId,
      data: { connectionId: ref.id, connector: connector.slug, reason: 'tools' },
    })
  })

/**
 * Calls a tool of a connection's server if the server still lists the accepted tools. Otherwise the connection is broken
 * until the user accepts the new ones, because a changed description can make a model do anything (tool poisoning).
 */
export const callMcpTool = async (
  deps: AccessDeps,
  ref: ConnectionRef,
  { tool, input, pinnedHash, signal }: { tool: string; input: unknown; pinnedHash: string; signal: AbortSignal },
): Promise<McpResult> =>
  withConnection(deps, ref, (access) =>
    withSession(deps, access, signal, async (session) => {
      const offered = pinTools(await session.listTools())
      if (offered.hash !== pinnedHash) {
        const reason = 'The tools of this MCP server have changed. Review and accept them.'
        await breakConnection(deps, access, { pinnedHash, offered: JSON.stringify(offered), reason })
        throw conflict(reason)
      }
      const result = (await session.callTool(tool, input)) as Record<string, unknown>
      const scrub = createScrubber(access)
      if (result['isError'] === true) throw badRequest(scrub(textOf(result)) || 'The tool failed.')
      const output = JSON.parse(scrub(JSON.stringify(toToolOutput(result)))) as McpResult['output']
      return { output, pictures: picturesOf(contentOf(result)) }
    }),
  )
