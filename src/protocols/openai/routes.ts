import type { FastifyRequest } from 'fastify'
import { turnEvents } from '../../sessions/events.ts'
import { cachedEnsureDefaultAgent } from '../../agents/agents.ts'
import { JsonOrEventStream } from '../../platform/http/schemas.ts'
import type { App } from '../../platform/http/http.ts'
import { sendReplay } from '../../platform/http/idempotency/idempotency.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { longestTurnMs, waitForTurn } from '../../sessions/streams/wait-for-turn.ts'
import { ChatCompletion, ChatCompletionCreate, ChatModel, ChatModelList, ChatModelParams } from './schemas.ts'
import { createChatWriter, sendChunks } from './chunk-stream.ts'
import { registerResponseRoutes } from './responses/routes.ts'
import {
  agentOfModel,
  beginChat,
  getChatModel,
  getCompletion,
  listChatModels,
  toChatCompletion,
} from './completions.ts'
import { begunBefore } from './continuation.ts'
import type { BegunChat } from './continuation.ts'
import { readConversation, readStop, rejectUnsupported } from './conversation.ts'
import { readFormat } from './response-format.ts'
import { readTools } from './tools.ts'
import { registerOpenAiFileRoutes } from './file-routes.ts'
import { failures, turnInProgress, openAiErrors, openAiPrefix } from './errors.ts'

const tags = ['OpenAI']
const notEnded = 'The turn has not ended yet.'

const eventExample =
  'data: {"id":"chatcmpl-01a1fc7d-9b47-7384-a5f6-84444f80a265","object":"chat.completion.chunk","created":1795304742,"model":"agent/assistant","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}\n\ndata: [DONE]\n\n'

/** OpenAI's chat completions and models: agents are models, and each completion is a turn. */
export const registerOpenAiRoutes = (app: App, deps: SessionDeps): void => {
  const { config, db, streams } = deps
  const ensureDefaultAgent = cachedEnsureDefaultAgent(db, config.defaultAgentModel)
  app.errorFormats.push(openAiErrors)
  registerOpenAiFileRoutes(app, deps)
  registerResponseRoutes(app, { ...deps, ensureDefaultAgent })

  const begin = async (request: FastifyRequest, body: ChatCompletionCreate): Promise<BegunChat> => {
    const { actor } = request
    rejectUnsupported(body)
    const conversation = readConversation(body.messages)
    await ensureDefaultAgent(actor)
    const agent = await agentOfModel(db, actor, body.model)
    const callerTools = readTools(body)
    const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? null
    const begun = await beginChat({ ...deps, db: request.db }, actor, {
      agent,
      conversation,
      maxOutputTokens,
      callerTools,
      stopSequences: readStop(body.stop),
      responseFormat: readFormat(body.response_format),
    })
    // A repeated request continues with this turn, also when this connection breaks.
    await request.storeResponse(202, begun)
    return begun
  }

  app.post(
    `${openAiPrefix}/chat/completions`,
    {
      config: {
        access: 'sessions:write',
        rateLimit: 'turns',
        idempotency: { resumes: true },
        events: ['session.created', 'file.created', 'folder.created', ...turnEvents],
      },
      schema: {
        tags,
        summary: 'Create a chat completion',
        description:
          'Sends a conversation to an agent and returns its reply. Each completion is a turn of a session; the response headers `X-Turn-Id` and `X-Session-Id` name them. Tools of the agent run on the server. When the model calls one of `tools`, the turn waits, and the completion contains `tool_calls`: send the conversation again with their outputs. With `stream`, the reply is sent in chunks as server-sent events. Counts against the rate limit `turns`.',
        body: ChatCompletionCreate,
        response: {
          200: JsonOrEventStream(ChatCompletion, 'The completion, or its chunks with `stream`.', eventExample),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { actor, body, replay } = request
      const before = replay && begunBefore(replay)
      if (replay && !before) return sendReplay(reply, replay)
      const begun = before ?? (await begin(request, body))
      const { turnId, sessionId, afterStep } = begun
      reply.headers({ 'x-turn-id': turnId, 'x-session-id': sessionId })
      if (before) reply.header('idempotency-replayed', 'true')
      // With an Idempotency-Key, storing the response took time in which the turn may have started.
      const isFresh = !before && afterStep === undefined && request.headers['idempotency-key'] === undefined
      if (body.stream === true) {
        const includeUsage = body.stream_options?.include_usage === true
        const isValidated = readFormat(body.response_format) !== null
        const writer = createChatWriter({ ...begun, model: body.model, includeUsage })
        await sendChunks({ db: db.hot, streams }, request, reply, { ...begun, isFresh, isValidated, writer })
        return reply
      }
      const timeoutMs = longestTurnMs(config.turnLimitMs)
      if (!(await waitForTurn(request, reply, streams, { turnId, timeoutMs, isFresh }))) throw turnInProgress(notEnded)
      const completion = await getCompletion(db.hot, actor, begun)
      if (!completion) throw turnInProgress(notEnded)
      return reply.type('application/json; charset=utf-8').send(toChatCompletion(begun, body.model, completion))
    },
  )

  app.get(
    `${openAiPrefix}/models`,
    {
      config: { access: 'agents:read' },
      schema: {
        tags,
        summary: 'List agents as models',
        description: "Returns the active agents of the workspace in the shape of OpenAI's list of models.",
        response: { 200: ChatModelList, ...failures },
      },
    },
    async ({ actor }) => {
      await ensureDefaultAgent(actor)
      return { object: 'list' as const, data: await listChatModels(db, actor) }
    },
  )

  app.get(
    `${openAiPrefix}/models/:model`,
    {
      config: { access: 'agents:read', what: 'Model' },
      schema: {
        tags,
        summary: 'Retrieve an agent as a model',
        description:
          "Returns one active agent in the shape of OpenAI's models. NOT_FOUND when the agent does not exist or is inactive.",
        params: ChatModelParams,
        response: { 200: ChatModel, ...failures },
      },
    },
    async ({ actor, params }) => {
      await ensureDefaultAgent(actor)
      return getChatModel(db, actor, params.model)
    },
  )
}
