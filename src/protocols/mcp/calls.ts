import { onceClosed } from '../../platform/http/closed.ts'
import { ApiError, serviceUnavailable } from '../../platform/http/errors.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { longestTurnMs } from '../../sessions/streams/wait-for-turn.ts'
import type { Tool } from '../../sessions/tools/tools.ts'
import { cancelTurn } from '../../sessions/turns/turns.ts'
import { eventResponse, jsonResponse, createProgress, acceptsEvents, waitForTurnEnd } from './ask-response.ts'
import type { RpcResponse } from './ask-response.ts'
import { startAsk, digestOfRequest, getAskResult } from './ask.ts'
import type { AskInput } from './ask.ts'
import { toRevisionResult, sessionName } from './rpc-context.ts'
import type { RpcContext } from './rpc-context.ts'
import { agentsAsk, toAskToolResult, findTool, offeredTools, toToolResult, runForCaller, toolError } from './tools.ts'
import { RpcError, rpcErrorResponse, rpcResult } from './rpc.ts'
import type { RpcRequest } from './rpc.ts'

const readCall = ({ params }: RpcRequest): { name: string; input: unknown } => {
  const { name, arguments: input = {} } = params
  if (typeof name !== 'string') throw new RpcError('invalidParams', 'params.name must be a string.')
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new RpcError('invalidParams', 'params.arguments must be an object.')
  }
  return { name, input }
}

const limitOf = (tool: Tool) => (tool === agentsAsk ? 'turns' : tool.isReadOnly ? 'reads' : 'writes')

/** Handles tools/call. Resolves to the result, or undefined when the response was already sent. */
export const createCalls = (deps: SessionDeps): ((context: RpcContext) => Promise<object | undefined>) => {
  const { db, config, toolbox, streams } = deps

  /** Runs agents.ask to the end of its turn. A client of the modern revision cancels it by closing the connection. */
  const ask = async (context: RpcContext, input: AskInput): Promise<object | undefined> => {
    const { request, reply, era, message, canStream } = context
    const { actor } = request
    const session = era === 'legacy' ? sessionName(request) : undefined
    const digest = session === undefined ? null : digestOfRequest(actor, session, message.id)
    const turnId = await startAsk(deps, actor, input, digest)
    const isStreaming = canStream && acceptsEvents(request)
    const response: RpcResponse = isStreaming ? eventResponse(reply) : jsonResponse(reply)
    const meta = message.params['_meta'] as { progressToken?: unknown } | undefined
    const progress = createProgress(meta?.progressToken, response.notify)
    try {
      const timeoutMs = longestTurnMs(config.turnLimitMs)
      const options = { request, reply, timeoutMs, onPart: progress.onPart }
      const outcome = await waitForTurnEnd(streams, { orgId: actor.orgId, turnId }, options)
      if (outcome === 'disconnected') {
        if (era === 'modern') await cancelTurn(deps, actor, turnId)
        if (!isStreaming) reply.hijack()
        return undefined
      }
      const result = toRevisionResult(era, toAskToolResult(await getAskResult(db.hot, actor, turnId)))
      if (!isStreaming) return result
      response.end(rpcResult(message.id, result))
    } catch (error) {
      if (!isStreaming) throw error
      const known = error instanceof ApiError ? error : serviceUnavailable('The reply could not be read.')
      response.end(rpcErrorResponse(known, message.id))
    } finally {
      progress.stop()
    }
    return undefined
  }

  const run = async ({ request, reply, era }: RpcContext, tool: Tool, input: unknown): Promise<object | undefined> => {
    const { stopping } = request.server
    const disconnected = new AbortController()
    const onClose = (): void => disconnected.abort(new Error('the client closed the connection'))
    // In the legacy revisions a closed connection does not cancel a request.
    const unwatchClient = era === 'modern' ? onceClosed(reply.raw, onClose) : undefined
    const lost = new AbortController()
    const unwatch = request.watchAuthority((reason) => lost.abort(reason), tool.permission)
    try {
      const signal = AbortSignal.any([disconnected.signal, stopping, lost.signal])
      return toRevisionResult(era, toToolResult(await runForCaller(deps, request.actor, { tool, input }, signal)))
    } catch (error) {
      if (disconnected.signal.aborted) {
        reply.hijack()
        return undefined
      }
      lost.signal.throwIfAborted()
      throw stopping.aborted ? serviceUnavailable('The server is stopping. Try again.', { cause: error }) : error
    } finally {
      unwatch()
      unwatchClient?.()
    }
  }

  const call = async (context: RpcContext): Promise<object | undefined> => {
    const { request, era, message } = context
    const { name, input } = readCall(message)
    const tool = findTool(await offeredTools(deps, request.actor), name)
    if (!tool) {
      await request.takeRateLimit('reads')
      throw new RpcError(
        'invalidParams',
        'The tool does not exist or you may not use it. tools/list returns the available tools.',
      )
    }
    await request.takeRateLimit(limitOf(tool))
    const invalid = toolbox.inputError(tool, input)
    if (invalid !== undefined) return toRevisionResult(era, toolError(invalid))
    if (tool !== agentsAsk) return run(context, tool, input)
    try {
      return await ask(context, input as AskInput)
    } catch (error) {
      // The model can react to a rejected request, but not to a failure of the server or of the API key.
      if (!(error instanceof ApiError) || error.status >= 500 || error.code === 'UNAUTHORIZED') throw error
      return toRevisionResult(era, toolError(error.message))
    }
  }

  return call
}
