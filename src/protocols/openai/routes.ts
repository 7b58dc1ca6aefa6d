import type { FastifyReply, FastifyRequest } from 'fastify'
import { watchDefaultAgents } from '../../agents/agents.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { sendReplay } from '../../platform/http/idempotency/idempotency.ts'
import type { StoredAnswer } from '../../platform/http/idempotency/idempotency.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import {
  ChatCompletion,
  ChatCompletionCreate,
  ChatFailure,
  ChatModel,
  ChatModelList,
  ChatModelParams,
} from './schemas.ts'
import { sendChunks } from './chunk-stream.ts'
import {
  agentOfModel,
  beginChat,
  getChatModel,
  getCompletion,
  listChatModels,
  toChatCompletion,
} from './completions.ts'
import type { BegunChat } from './completions.ts'
import { readConversation, refuseUnsupported } from './conversation.ts'
import { notYet, openAiDialect, openAiPrefix } from './failures.ts'

const tags = ['OpenAI']
const failures = Object.fromEntries(
  [400, 401, 402, 403, 404, 409, 422, 429, 500, 503].map((status) => [status, ChatFailure]),
)

/** Beyond the time that a turn has, for what comes before and after it. */
const graceMs = 60_000

const clientGone = new Error('the client went away')

/** What a repeated request takes up. Undefined when the first one was refused, which is answered again. */
const begunBefore = ({ status, body }: StoredAnswer): BegunChat | undefined =>
  status === 202 ? (JSON.parse(body) as BegunChat) : undefined

/** The part of the API that speaks OpenAI's: agents are models, and each completion is a turn. */
export const registerOpenAiRoutes = (app: App, deps: SessionDeps): void => {
  const { config, db, tails } = deps
  const firstSight = watchDefaultAgents(db, config.defaultAgentModel)
  app.errorFormats.push(openAiDialect)

  const begin = async (request: FastifyRequest, body: ChatCompletionCreate): Promise<BegunChat> => {
    const { actor } = request
    refuseUnsupported(body)
    const conversation = readConversation(body.messages)
    await firstSight(actor)
    const agent = await agentOfModel(db, actor, body.model)
    const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? null
    const begun = await beginChat({ ...deps, db: request.db }, actor, agent, conversation, maxOutputTokens)
    // From here on a repetition takes up this turn, whatever becomes of the connection.
    await request.storeAnswer(202, begun)
    return begun
  }

  const waitForRest = async (request: FastifyRequest, reply: FastifyReply, turnId: string, isFresh: boolean) => {
    const gone = new AbortController()
    const onClose = (): void => gone.abort(clientGone)
    reply.raw.once('close', onClose)
    let lost: ApiError | undefined
    const unwatch = request.watchAuthority((reason) => {
      lost = reason
      gone.abort(reason)
    })
    const signal = AbortSignal.any([gone.signal, request.server.stopping])
    const key = { orgId: request.actor.orgId, turnId }
    const rests = await tails.untilResting(key, config.turnLimitMs + graceMs, signal, isFresh)
    unwatch()
    reply.raw.off('close', onClose)
    if (lost) throw lost
    if (!rests) throw notYet('The turn has not come to its end.')
  }

  app.post(
    `${openAiPrefix}/chat/completions`,
    {
      config: { access: 'sessions:write', rateLimit: 'turns', idempotency: { resumes: true } },
      schema: {
        tags,
        summary: 'Have an agent answer a conversation, as OpenAI’s chat completions do',
        description:
          'Each completion is a turn of a session; `X-Turn-Id` and `X-Session-Id` name them. With `stream` it is answered in chunks as server-sent events.',
        body: ChatCompletionCreate,
        response: {
          200: {
            description: 'The completion, or its chunks',
            content: {
              'application/json': { schema: ChatCompletion },
              'text/event-stream': { schema: { type: 'string' } },
            },
          },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { actor, body, replay } = request
      const before = replay && begunBefore(replay)
      if (replay && !before) return sendReplay(reply, replay)
      const { turnId, sessionId } = before ?? (await begin(request, body))
      reply.headers({ 'x-turn-id': turnId, 'x-session-id': sessionId })
      if (before) reply.header('idempotency-replayed', 'true')
      // Whoever sent a key has waited for its answer to be stored, and may have missed something.
      const isFresh = !before && request.headers['idempotency-key'] === undefined
      if (body.stream === true) {
        const includeUsage = body.stream_options?.include_usage === true
        await sendChunks(db.hot, request, reply, tails, { turnId, model: body.model, includeUsage, isFresh })
        return reply
      }
      await waitForRest(request, reply, turnId, isFresh)
      const completion = await getCompletion(db.hot, actor, turnId)
      if (!completion) throw notYet('The turn has not come to its end.')
      return reply.type('application/json; charset=utf-8').send(toChatCompletion(turnId, body.model, completion))
    },
  )

  app.get(
    `${openAiPrefix}/models`,
    {
      config: { access: 'agents:read' },
      schema: { tags, summary: 'Agents as models', response: { 200: ChatModelList, ...failures } },
    },
    async ({ actor }) => {
      await firstSight(actor)
      return { object: 'list' as const, data: await listChatModels(db, actor) }
    },
  )

  app.get(
    `${openAiPrefix}/models/:model`,
    {
      config: { access: 'agents:read', what: 'Model' },
      schema: {
        tags,
        summary: 'One agent as a model',
        params: ChatModelParams,
        response: { 200: ChatModel, ...failures },
      },
    },
    async ({ actor, params }) => {
      await firstSight(actor)
      return getChatModel(db, actor, params.model)
    },
  )
}
