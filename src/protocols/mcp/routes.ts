import type { FastifyReply, FastifyRequest } from 'fastify'
import { turnEvents } from '../../sessions/events.ts'
import { cachedEnsureDefaultAgent } from '../../agents/agents.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { JsonOrEventStream, Nothing } from '../../platform/http/schemas.ts'
import { mcpPath } from '../../identity/apps/metadata.ts'
import { mcpErrors, requireSafeOrigin } from './errors.ts'
import { RpcResponseBody, RpcBody, RpcFailure } from './schemas.ts'
import type { McpDeps } from './listen.ts'
import { createMethods } from './methods.ts'
import { idOf, parseMessage, RpcError, rpcErrorResponse, rpcResult } from './rpc.ts'
import type { RpcRequest } from './rpc.ts'
import { eraOf, oldestVersion } from './versions.ts'

const failures = Object.fromEntries([400, 401, 403, 404, 405, 429, 500, 503].map((status) => [status, RpcFailure]))

const maxInBatch = 20

const eventExample =
  'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"The agent is thinking"}}\n\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Revenue rose by 8 % in the third quarter."}],"isError":false}}\n\n'

/** The Model Context Protocol over streamable HTTP, without sessions: any process can handle any request. */
export const registerMcpRoutes = (app: App, deps: McpDeps): void => {
  const { config, db } = deps
  const ensureDefaultAgent = cachedEnsureDefaultAgent(db, config.defaultAgentModel)
  const methods = createMethods(deps)
  app.errorFormats.push(mcpErrors(config.baseUrl))

  const send = (reply: FastifyReply, response: object) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(response))

  /** The response to one request, including errors of the method. Undefined when it was already sent. */
  const respond = async (
    request: FastifyRequest,
    reply: FastifyReply,
    message: RpcRequest,
    canStream: boolean,
  ): Promise<object | undefined> => {
    const era = eraOf(request.headers, message)
    try {
      const result = await methods.handleRequest({ request, reply, era, message, canStream })
      return result && rpcResult(message.id, result)
    } catch (error) {
      // The modern revision returns 404 for an unknown method; legacy revisions return 200 with the error.
      if (!(error instanceof RpcError) || (era === 'modern' && error.code === 'NOT_FOUND')) throw error
      return rpcErrorResponse(error, message.id)
    }
  }

  const respondToOne = async (
    request: FastifyRequest,
    reply: FastifyReply,
    value: unknown,
  ): Promise<object | undefined> => {
    try {
      const message = parseMessage(value)
      if (message.kind === 'request') return await respond(request, reply, message, false)
      if (message.kind === 'notification') await methods.handleNotification(request, 'legacy', message)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return rpcErrorResponse(error, idOf(value), value)
    }
  }

  /** JSON-RPC batches exist only in the revision 2025-03-26. */
  const respondToBatch = async (request: FastifyRequest, reply: FastifyReply, batch: unknown[]) => {
    const version = request.headers['mcp-protocol-version'] ?? oldestVersion
    if (version !== oldestVersion) throw new RpcError('invalidRequest', 'The body must be one JSON-RPC message.')
    if (batch.length === 0 || batch.length > maxInBatch) {
      throw new RpcError('invalidRequest', `A batch must have 1–${maxInBatch} messages.`)
    }
    const responses: object[] = []
    for (const value of batch) {
      const response = await respondToOne(request, reply, value)
      if (response) responses.push(response)
    }
    await request.countAsRead?.()
    return responses.length === 0 ? reply.code(202).send() : send(reply, responses)
  }

  app.post(
    mcpPath,
    {
      config: {
        access: 'member',
        acceptsApps: true,
        rateLimit: 'none',
        idempotency: false,
        events: ['file.created', 'file.updated', 'file.version_created', 'session.created', ...turnEvents],
      },
      onRequest: async (request) => requireSafeOrigin(request, config.baseUrl),
      schema: {
        tags: ['MCP'],
        summary: 'Send an MCP message',
        description:
          'Serves the Model Context Protocol over streamable HTTP, in the revisions 2026-07-28 (without a handshake) and 2025-03-26 to 2025-11-25 (with one). The tools are files, agents and the connector tools of the caller, the resources are files, folders and agents, and the prompts are agents, as far as the credential permits. Errors of the protocol are JSON-RPC errors.',
        body: RpcBody,
        response: {
          200: JsonOrEventStream(
            RpcResponseBody,
            'The response, or notifications and then the response as server-sent events.',
            eventExample,
          ),
          202: Nothing,
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      await ensureDefaultAgent(request.actor)
      if (Array.isArray(body)) return respondToBatch(request, reply, body)
      if (body === undefined) throw new RpcError('parseError', 'The body is empty.')
      const message = parseMessage(body)
      if (message.kind === 'request') {
        const response = await respond(request, reply, message, true)
        await request.countAsRead?.()
        return response ? send(reply, response) : reply
      }
      const era = eraOf(request.headers, message)
      if (message.kind === 'notification') await methods.handleNotification(request, era, message)
      await request.countAsRead?.()
      return reply.code(202).send()
    },
  )
}
