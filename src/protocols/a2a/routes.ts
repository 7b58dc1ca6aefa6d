import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cachedEnsureDefaultAgent, findAgent } from '../../agents/agents.ts'
import type { AgentRow } from '../../agents/agents.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { ApiError, notFound, serviceUnavailable } from '../../platform/http/errors.ts'
import { originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { endWithLastEvent, openEventStream } from '../../platform/http/server-sent-events.ts'
import { turnEvents } from '../../sessions/events.ts'
import { idOf, rpcErrorResponse } from '../mcp/rpc.ts'
import { RpcFailure } from '../mcp/schemas.ts'
import { toAgentCard } from './card.ts'
import { a2aErrors, a2aPrefix } from './errors.ts'
import { createHandler } from './handler.ts'
import { mistakeInParams } from './params.ts'
import { Card, CardParams, TaskAnswer, TaskCall } from './schemas.ts'
import { hasSeveralSchemes } from './push/schemes.ts'
import { loadSdk, malformed } from './sdk.ts'
import type { SendDeps } from './send.ts'
import type { Sdk } from './sdk.ts'

const tags = ['A2A']
const what = 'Agent'
const failures = Object.fromEntries(
  [400, 401, 402, 403, 404, 409, 422, 429, 500, 503].map((status) => [status, RpcFailure]),
)
const currentVersion = '1.0'
const oldVersion = '0.3'

const isVersion = (version: string): version is typeof currentVersion | typeof oldVersion =>
  version === currentVersion || version === oldVersion

type RpcStream = AsyncGenerator<object, void>

const isStream = (response: object): response is RpcStream => Symbol.asyncIterator in response

/** Waits until the client has read what was written. False when it has disconnected. */
const isDrained = async (raw: FastifyReply['raw'], wasWritten: boolean): Promise<boolean> => {
  if (raw.destroyed) return false
  if (wasWritten) return true
  const { promise, resolve } = Promise.withResolvers<void>()
  raw.once('drain', resolve)
  const stopWaiting = onceClosed(raw, resolve)
  await promise
  // A stream that a client reads slowly waits often, and every wait would leave a listener.
  raw.off('drain', resolve)
  stopWaiting()
  return !raw.destroyed
}

/**
 * The library turns every error into a response of HTTP status 200. Those that are not of the protocol are kept, so that
 * they get the status and headers that they have in the rest of the API.
 */
const keepFailures = ({ errors }: Sdk, handler: A2ARequestHandler) => {
  let failure: unknown
  const keep =
    <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await method(...args)
      } catch (error) {
        if (!(error instanceof errors.A2AError)) failure = error
        throw error
      }
    }
  const kept = {
    sendMessage: keep(handler.sendMessage),
    getTask: keep(handler.getTask),
    cancelTask: keep(handler.cancelTask),
    listTasks: keep(handler.listTasks),
    createTaskPushNotificationConfig: keep(handler.createTaskPushNotificationConfig),
    getTaskPushNotificationConfig: keep(handler.getTaskPushNotificationConfig),
    listTaskPushNotificationConfigs: keep(handler.listTaskPushNotificationConfigs),
    deleteTaskPushNotificationConfig: keep(handler.deleteTaskPushNotificationConfig),
  }
  return { handler: { ...handler, ...kept }, failed: () => failure }
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : serviceUnavailable('The task could not be read.', { cause: error })

/**
 * Sends the responses of a stream as server-sent events. The first one is awaited before, so that a rejection has its own
 * HTTP status and content type.
 */
const sendStream = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { stream, toError }: { stream: RpcStream; toError: (error: unknown) => object },
): Promise<object | undefined> => {
  const id = idOf(request.body)
  /** The response to an error of the protocol; undefined for other errors. */
  const rejection = (error: unknown): object | undefined =>
    error instanceof Error && 'reason' in error ? { jsonrpc: '2.0', id, error: toError(error) } : undefined
  let first: IteratorResult<object, void>
  try {
    first = await stream.next()
  } catch (error) {
    const rejected = rejection(error)
    if (rejected) return rejected
    throw error
  }
  if (first.done) {
    reply.hijack()
    return undefined
  }
  const raw = openEventStream(reply)
  const send = (response: object) => isDrained(raw, raw.write(`data: ${JSON.stringify(response)}\n\n`))
  try {
    let isOpen = await send(first.value)
    while (isOpen) {
      const { done, value } = await stream.next()
      if (done) break
      isOpen = await send(value)
    }
    raw.end()
  } catch (error) {
    const last = rejection(error) ?? rpcErrorResponse(asApiError(error), id)
    endWithLastEvent(raw, `data: ${JSON.stringify(last)}\n\n`)
  } finally {
    await stream.return()
  }
  return undefined
}

/** The library reports parameters of a wrong type as an internal error, with the message of its own exception. */
const withReadableError = (response: object, { errors }: Sdk): object => {
  const { error } = response as { error?: { code?: number } }
  if (error?.code !== errors.A2A_ERROR_CODE.INTERNAL_ERROR) return response
  return { ...response, error: { code: errors.A2A_ERROR_CODE.INVALID_PARAMS, message: 'params could not be read.' } }
}

const sendJson = (reply: FastifyReply, value: object) =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(value))

/** The error of a revision that is not supported. */
const versionError = ({ errors }: Sdk, request: FastifyRequest): object => {
  const message = 'A2A-Version must be 1.0 or 0.3, which is the default.'
  const error = errors.toJsonRpcError(new errors.VersionNotSupportedError({ message }))
  return { jsonrpc: '2.0', id: idOf(request.body), error }
}

const paramsError = ({ errors }: Sdk, request: FastifyRequest, message: string): object => ({
  jsonrpc: '2.0',
  id: idOf(request.body),
  error: { code: errors.A2A_ERROR_CODE.INVALID_PARAMS, message },
})

/** The Agent2Agent protocol: each active agent is an A2A agent, each turn a task and each session a context. */
export const registerA2aRoutes = (app: App, deps: Omit<SendDeps, 'sdk'>): void => {
  const { config, db } = deps
  const ensureDefaultAgent = cachedEnsureDefaultAgent(db, config.defaultAgentModel)
  app.errorFormats.push(a2aErrors)

  const getActiveAgent = async ({ actor }: FastifyRequest, name: string): Promise<AgentRow> => {
    await ensureDefaultAgent(actor)
    const agent = await findAgent(db.hot, actor, name)
    if (!agent?.isActive) throw notFound(what)
    return agent
  }

  app.get(
    `${a2aPrefix}/:agent/.well-known/agent-card.json`,
    {
      config: { access: 'agents:read', what },
      schema: {
        tags,
        summary: 'Retrieve the card of an agent',
        description:
          'Returns the agent card of an active agent for clients of the A2A protocol, revisions 1.0 and 0.3. Unlike cards of public agents, it needs an API key.',
        params: CardParams,
        response: { 200: Card, ...failures },
      },
    },
    async (request, reply) => {
      const agent = await getActiveAgent(request, request.params.agent)
      const url = `${originOf(request, config.baseUrl)}${a2aPrefix}/${encodeURIComponent(agent.slug)}`
      // Another workspace has another agent at the same path.
      reply.header('cache-control', 'private, no-cache')
      return sendJson(reply, toAgentCard(agent, url))
    },
  )

  app.post(
    `${a2aPrefix}/:agent`,
    {
      config: {
        access: 'member',
        rateLimit: 'none',
        idempotency: false,
        events: ['session.created', 'file.created', 'folder.created', ...turnEvents],
        what,
      },
      schema: {
        tags,
        summary: 'Send a message between agents',
        description:
          'Serves the Agent2Agent protocol by JSON-RPC, in the revisions 1.0 (header `A2A-Version: 1.0`) and 0.3 (without the header). A task is a turn of the agent, and its context the session. Errors of the protocol are JSON-RPC errors.',
        params: CardParams,
        body: TaskCall,
        response: {
          200: {
            description: 'The response, or the updates of a task as server-sent events.',
            content: {
              'application/json': { schema: TaskAnswer },
              'text/event-stream': {
                schema: {
                  type: 'string',
                  examples: [
                    'data: {"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"01a1fc7d-9b47-7384-a5f6-84444f80a265","contextId":"01a1fc7d-9b40-7b9d-8fd1-6b7b2c9f1a11","artifact":{"artifactId":"reply","parts":[{"text":"Hello"}]}}}}\n\n',
                  ],
                },
              },
            },
          },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const agent = await getActiveAgent(request, request.params.agent)
      const send = async (response: object) => {
        // The methods count what they accept.
        await request.countAsRead?.()
        return sendJson(reply, response)
      }
      const sdk = await loadSdk()
      // An empty header is the same as none, as in the server of the official library.
      const version = String(request.headers['a2a-version'] || oldVersion)
      if (!isVersion(version)) return send(versionError(sdk, request))
      const mistake = mistakeInParams(request.body)
      if (mistake !== undefined) return send(paramsError(sdk, request, mistake))
      const call = { request, reply, agent, revision: version }
      const { handler, failed } = keepFailures(sdk, createHandler({ ...deps, sdk }, call))
      const transport =
        version === oldVersion
          ? new sdk.LegacyJsonRpcTransportHandler(handler)
          : new sdk.JsonRpcTransportHandler(handler)
      const toError = (error: unknown): object =>
        version === oldVersion
          ? sdk.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
          : sdk.JsonRpcTransportHandler.mapToJSONRPCError(error)
      const body = request.body as Record<string, unknown>
      if (hasSeveralSchemes(body)) {
        const error = toError(malformed(sdk, 'pushNotificationConfig.authentication.schemes must have one scheme'))
        return send({ jsonrpc: '2.0', id: idOf(body), error })
      }
      const answer = await transport.handle(body, new sdk.ServerCallContext({ requestedVersion: version }))
      const response = isStream(answer) ? await sendStream(request, reply, { stream: answer, toError }) : answer
      const failure = failed()
      if (failure !== undefined && !reply.sent) throw failure
      return response ? send(withReadableError(response, sdk)) : reply
    },
  )
}
