import { ApiError, serviceUnavailable } from '../../platform/http/errors.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import type { Tool } from '../../sessions/tools/tools.ts'
import { cancelTurn } from '../../sessions/turns/turns.ts'
import { answerAsEvents, answerAsJson, createProgress, takesEvents, watchTurn } from './ask-stream.ts'
import type { Answering } from './ask-stream.ts'
import { beginAsking, digestOfRequest, readAnswer } from './ask.ts'
import type { Question } from './ask.ts'
import { forEra, sessionName } from './exchange.ts'
import type { Exchange } from './exchange.ts'
import { agentsAsk, askedResult, findTool, offeredTools, outcomeResult, runDirectly, toolFailure } from './tools.ts'
import { RpcError, rpcFailure, rpcResult } from './rpc.ts'
import type { RpcRequest } from './rpc.ts'

/** Beyond the time that a turn has, for what comes before and after it. */
const graceMs = 60_000
const readCall = ({ params }: RpcRequest): { name: string; input: unknown } => {
  const { name, arguments: input = {} } = params
  if (typeof name !== 'string') throw new RpcError('invalidParams', 'params.name must be text.')
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new RpcError('invalidParams', 'params.arguments must be an object.')
  }
  return { name, input }
}

const limitOf = (tool: Tool) => (tool === agentsAsk ? 'turns' : tool.isReadOnly ? 'reads' : 'writes')

/** Calls of tools. The answer, or undefined when it is on its way already. */
export const createCalls = (deps: SessionDeps): ((exchange: Exchange) => Promise<object | undefined>) => {
  const { db, config, toolbox, tails } = deps

  /** Lets an agent answer, however long it takes. A client of the current revision takes it back by hanging up. */
  const ask = async (exchange: Exchange, question: Question): Promise<object | undefined> => {
    const { request, reply, era, message, mayStream } = exchange
    const { actor } = request
    const session = era === 'handshake' ? sessionName(request) : undefined
    const digest = session === undefined ? null : digestOfRequest(actor, session, message.id)
    const turnId = await beginAsking(deps, actor, question, digest)
    const answering: Answering = mayStream && takesEvents(request) ? answerAsEvents(reply) : answerAsJson(reply)
    const meta = message.params['_meta'] as { progressToken?: unknown } | undefined
    const progress = createProgress(meta?.progressToken, answering.notify)
    const isStreaming = mayStream && takesEvents(request)
    try {
      const limitMs = config.turnLimitMs + graceMs
      const watching = { request, reply, limitMs, hear: progress.hear }
      const outcome = await watchTurn(tails, { orgId: actor.orgId, turnId }, watching)
      if (outcome === 'gone') {
        if (era === 'current') await cancelTurn(deps, actor, turnId)
        if (!isStreaming) reply.hijack()
        return undefined
      }
      const result = forEra(era, askedResult(await readAnswer(db.hot, actor, turnId)))
      if (!isStreaming) return result
      answering.end(rpcResult(message.id, result))
    } catch (error) {
      if (!isStreaming) throw error
      const known = error instanceof ApiError ? error : serviceUnavailable('The answer could not be read.')
      answering.end(rpcFailure(known, message.id))
    } finally {
      progress.stop()
    }
    return undefined
  }

  const run = async ({ request, reply, era }: Exchange, tool: Tool, input: unknown): Promise<object | undefined> => {
    const { stopping } = request.server
    const gone = new AbortController()
    const onClose = (): void => gone.abort(new Error('the client went away'))
    // In the revisions with a handshake a lost connection takes nothing back.
    if (era === 'current') reply.raw.once('close', onClose)
    const lost = new AbortController()
    const unwatch = request.watchAuthority((reason) => lost.abort(reason), tool.permission)
    try {
      const signal = AbortSignal.any([gone.signal, stopping, lost.signal])
      return forEra(era, outcomeResult(await runDirectly(deps, request.actor, tool, input, signal)))
    } catch (error) {
      if (gone.signal.aborted) {
        reply.hijack()
        return undefined
      }
      lost.signal.throwIfAborted()
      throw stopping.aborted ? serviceUnavailable('The server is stopping. Try again.', { cause: error }) : error
    } finally {
      unwatch()
      reply.raw.off('close', onClose)
    }
  }

  const call = async (exchange: Exchange): Promise<object | undefined> => {
    const { request, era, message } = exchange
    const { name, input } = readCall(message)
    const tool = findTool(await offeredTools(deps, request.actor), name)
    if (!tool) {
      await request.takeRateLimit('reads')
      throw new RpcError(
        'invalidParams',
        'There is no such tool, or none that you may use. tools/list says which there are.',
      )
    }
    await request.takeRateLimit(limitOf(tool))
    const fault = toolbox.fault(tool, input)
    if (fault !== undefined) return forEra(era, toolFailure(fault))
    if (tool !== agentsAsk) return run(exchange, tool, input)
    try {
      return await ask(exchange, input as Question)
    } catch (error) {
      // Refusals are for the model to read; what is wrong with the server or the key is not.
      if (!(error instanceof ApiError) || error.status >= 500 || error.code === 'UNAUTHORIZED') throw error
      return forEra(era, toolFailure(error.message))
    }
  }

  return call
}
