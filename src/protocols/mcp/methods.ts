import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { may } from '../../identity/actor.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { cancelAsking, digestOfRequest } from './ask.ts'
import { createCalls } from './calls.ts'
import { forEra, serverInfo, sessionName } from './exchange.ts'
import type { Exchange } from './exchange.ts'
import { describeTool, offeredTools } from './tools.ts'
import { RpcError } from './rpc.ts'
import type { RpcMessage } from './rpc.ts'
import { handshakeVersions, supportedVersions } from './versions.ts'
import type { Era } from './versions.ts'

const capabilities = { tools: { listChanged: false } }
const instructions =
  'The files of an organisation, its agents, and the tools of your own connections. Ask agents by agents_ask; agents_list says who there is.'

export interface McpMethods {
  /** The answer to a request that is answered at once. Undefined: it is on its way already. */
  answer(exchange: Exchange): Promise<object | undefined>
  hear(request: FastifyRequest, era: Era, message: Extract<RpcMessage, { kind: 'notification' }>): Promise<void>
}

/** How long a client may keep the list of tools. */
const listTtlMs = 60_000

const methodNotFound = (): RpcError =>
  new RpcError('methodNotFound', 'There is no such method here.', undefined, 'NOT_FOUND')

const initialize = ({ message, reply }: Exchange): object => {
  const { protocolVersion } = message.params
  if (typeof protocolVersion !== 'string') throw new RpcError('invalidParams', 'params.protocolVersion must be text.')
  // Only a name: nothing is kept under it. It tells one client's request 1 from another's when it is taken back.
  reply.header('mcp-session-id', randomUUID())
  const agreed = handshakeVersions.find((one) => one === protocolVersion) ?? handshakeVersions[0]
  return { protocolVersion: agreed, capabilities, serverInfo, instructions }
}

/** A hint for clients of the current revision, which must have one. */
const cacheable = (era: Era, result: object): object =>
  era === 'handshake' ? result : { ...result, ttlMs: listTtlMs, cacheScope: 'private' }

/** The methods that a server of tools has. Nothing is remembered from one request to the next. */
export const createMethods = (deps: SessionDeps): McpMethods => {
  const call = createCalls(deps)

  const answer: McpMethods['answer'] = async (exchange) => {
    const { request, era, message } = exchange
    const { method } = message
    if (method === 'tools/call') return call(exchange)
    await request.takeRateLimit('reads')
    if (method === 'tools/list') {
      if (message.params['cursor'] !== undefined) throw new RpcError('invalidParams', 'params.cursor is none of ours.')
      const tools = await offeredTools(deps, request.actor)
      return forEra(era, cacheable(era, { tools: tools.map(describeTool) }))
    }
    if (era === 'handshake' && method === 'initialize') return initialize(exchange)
    if (era === 'handshake' && method === 'ping') return {}
    if (era === 'current' && method === 'server/discover') {
      return forEra(era, cacheable(era, { supportedVersions, capabilities, instructions }))
    }
    throw methodNotFound()
  }

  const hear: McpMethods['hear'] = async (request, era, { method, params }) => {
    await request.takeRateLimit('reads')
    const { actor } = request
    const { requestId } = params
    const session = sessionName(request)
    const takesBack = era === 'handshake' && method === 'notifications/cancelled'
    if (!takesBack || session === undefined || !may(actor, 'sessions:write')) return
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    await cancelAsking(deps, actor, digestOfRequest(actor, session, requestId))
  }

  return { answer, hear }
}
