import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { cancelAsk, digestOfRequest } from './ask.ts'
import { createCalls } from './calls.ts'
import { complete } from './completion.ts'
import { createListen } from './listen.ts'
import type { McpDeps } from './listen.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { toRevisionResult, serverInfo, sessionName } from './rpc-context.ts'
import type { RpcContext } from './rpc-context.ts'
import { describeTool, offeredTools } from './tools.ts'
import { RpcError } from './rpc.ts'
import type { RpcMessage } from './rpc.ts'
import { legacyVersions, supportedVersions } from './versions.ts'
import type { Era } from './versions.ts'

/** Only the modern revision has a subscription that needs no session: subscriptions/listen. */
const capabilitiesOf = (era: Era): object => {
  const listChanged = era === 'modern'
  return {
    tools: { listChanged },
    resources: { subscribe: listChanged, listChanged },
    prompts: { listChanged },
    completions: {},
  }
}
const instructions =
  'The files (also as resources) and agents of an organisation, and the tools of your own connections. List agents with agents_list, ask one with agents_ask.'

export interface McpMethods {
  /** The result of a request. Undefined when the response was already sent. */
  handleRequest(context: RpcContext): Promise<object | undefined>
  handleNotification(
    request: FastifyRequest,
    era: Era,
    message: Extract<RpcMessage, { kind: 'notification' }>,
  ): Promise<void>
}

/** How long a client may cache a list or a resource. */
const listTtlMs = 60_000

const methodNotFound = (): RpcError => new RpcError('methodNotFound', 'Method not found.', undefined, 'NOT_FOUND')

const initialize = ({ message, reply }: RpcContext): object => {
  const { protocolVersion } = message.params
  if (typeof protocolVersion !== 'string')
    throw new RpcError('invalidParams', 'params.protocolVersion must be a string.')
  // No session state is stored. The id distinguishes the request ids of two clients when one of them cancels a request.
  reply.header('mcp-session-id', randomUUID())
  const agreed = legacyVersions.find((one) => one === protocolVersion) ?? legacyVersions[0]
  return { protocolVersion: agreed, capabilities: capabilitiesOf('legacy'), serverInfo, instructions }
}

/** Cache hints, which the modern revision requires. */
const cacheable = (era: Era, result: object): object =>
  era === 'legacy' ? result : { ...result, ttlMs: listTtlMs, cacheScope: 'private' }

type Read = (actor: Actor, params: Record<string, unknown>, era: Era) => Promise<object>

/** The JSON-RPC methods of the server. They keep no state between requests. */
export const createMethods = (deps: McpDeps): McpMethods => {
  const call = createCalls(deps)
  const listen = createListen(deps)
  const { db } = deps

  const listTools: Read = async (actor, { cursor }) => {
    if (cursor !== undefined) throw new RpcError('invalidParams', 'params.cursor is not a cursor of this list.')
    return { tools: (await offeredTools(deps, actor)).map(describeTool) }
  }

  /** The methods whose results clients may cache. */
  const reads: Partial<Record<string, Read>> = {
    'tools/list': listTools,
    'prompts/list': (actor, params) => listPrompts(db, actor, params),
    'resources/list': (actor, params) => listResources(db, actor, params),
    'resources/templates/list': (actor, params) => Promise.resolve(listTemplates(actor, params)),
    'resources/read': (actor, params, era) => readResource(deps, actor, era, params),
  }

  const handleRequest: McpMethods['handleRequest'] = async (context) => {
    const { request, era, message } = context
    const { method } = message
    if (method === 'tools/call') return call(context)
    await request.takeRateLimit('reads')
    const read = Object.hasOwn(reads, method) ? reads[method] : undefined
    if (read) return toRevisionResult(era, cacheable(era, await read(request.actor, message.params, era)))
    if (method === 'completion/complete') {
      return toRevisionResult(era, await complete(db, request.actor, message.params))
    }
    if (method === 'prompts/get') {
      return toRevisionResult(era, await getPrompt(db, request.actor, message.params))
    }
    if (era === 'legacy' && method === 'initialize') return initialize(context)
    if (era === 'legacy' && method === 'ping') return {}
    if (era === 'modern' && method === 'server/discover') {
      return toRevisionResult(
        era,
        cacheable(era, { supportedVersions, capabilities: capabilitiesOf(era), instructions }),
      )
    }
    if (era === 'modern' && method === 'subscriptions/listen') return listen(context)
    throw methodNotFound()
  }

  const handleNotification: McpMethods['handleNotification'] = async (request, era, { method, params }) => {
    await request.takeRateLimit('reads')
    const { actor } = request
    const { requestId } = params
    const session = sessionName(request)
    const isCancellation = era === 'legacy' && method === 'notifications/cancelled'
    if (!isCancellation || session === undefined || !may(actor, 'sessions:write')) return
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    await cancelAsk(deps, actor, digestOfRequest(actor, session, requestId))
  }

  return { handleRequest, handleNotification }
}
