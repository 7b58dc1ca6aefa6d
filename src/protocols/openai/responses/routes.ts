import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../../identity/actor.ts'
import { JsonOrEventStream } from '../../../platform/http/schemas.ts'
import type { App } from '../../../platform/http/http.ts'
import { rejectTags } from '../../../platform/http/etag.ts'
import { sendReplay } from '../../../platform/http/idempotency/idempotency.ts'
import type { SessionDeps } from '../../../sessions/deps.ts'
import { turnEvents } from '../../../sessions/events.ts'
import { longestTurnMs, waitForTurn } from '../../../sessions/streams/wait-for-turn.ts'
import { findTurnMessage } from '../../../sessions/turns/details-queries.ts'
import { getTurnWithReply } from '../../../sessions/turns/turn-details.ts'
import type { MessagePart } from '../../../sessions/schemas.ts'
import { cancelTurn } from '../../../sessions/turns/turns.ts'
import { sendChunks } from '../chunk-stream.ts'
import { agentOfModel, getCompletion } from '../completions.ts'
import { begunBefore, callerRounds } from '../continuation.ts'
import type { BegunChat } from '../continuation.ts'
import { failures, openAiPrefix, turnInProgress } from '../errors.ts'
import { beginResponse, findOwnResponse } from './begin-response.ts'
import type { FoundResponse } from './begin-response.ts'
import * as queries from './queries.ts'
import { readTextFormat, rejectUnsupportedResponse } from './request.ts'
import { responseId, toFrame, toResponse } from './response.ts'
import { DeletedResponse, InputItemList, ResponseCreate, ResponseObject, ResponseParams } from './schemas.ts'
import { createResponseWriter } from './writer.ts'

const tags = ['OpenAI']
const notEnded = 'The turn has not ended yet.'
const path = `${openAiPrefix}/responses`

/** The items that a response began with: the message of its turn, or the outputs that continued the turn. */
const inputItems = (
  { ref, details: { turn } }: FoundResponse,
  message: { id: string; parts: MessagePart[] } | undefined,
): object[] => {
  const round = callerRounds(turn).find(({ step }) => step === ref.afterStep)
  if (!round) {
    if (!message) return []
    const content = message.parts.flatMap((part): object[] =>
      part.type === 'text'
        ? [{ type: 'input_text', text: part.text }]
        : part.type === 'file'
          ? [{ type: 'input_file', file_id: part.fileId, filename: part.name }]
          : [],
    )
    return [{ id: `msg_${message.id}`, type: 'message', role: 'user', status: 'completed', content }]
  }
  return round.calls.map(({ id, output }) => ({
    id: `fco_${id}`,
    type: 'function_call_output',
    call_id: `call_${turn.id.replaceAll('-', '')}_${id}`,
    output: typeof output === 'string' ? output : JSON.stringify(output),
    status: 'completed',
  }))
}

const eventExample =
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"output_index":0,"item_id":"msg_01a1fc7d-9b47-7384-a5f6-84444f80a265","content_index":0,"delta":"Hello","logprobs":[]}\n\n'

const registerCreate = (app: App, deps: ResponseDeps): void => {
  const { config, db, streams, ensureDefaultAgent } = deps

  const begin = async (request: FastifyRequest, body: ResponseCreate): Promise<BegunChat> => {
    const { actor } = request
    rejectUnsupportedResponse(body)
    await ensureDefaultAgent(actor)
    const agent = await agentOfModel(db, actor, body.model)
    const begun = await beginResponse({ ...deps, db: request.db }, actor, { agent, body })
    await request.storeResponse(202, begun)
    return begun
  }

  app.post(
    path,
    {
      config: {
        access: 'sessions:write',
        rateLimit: 'turns',
        idempotency: { resumes: true },
        events: ['session.created', 'file.created', 'folder.created', ...turnEvents],
      },
      schema: {
        tags,
        summary: 'Create a response',
        description:
          "Sends input to an agent and returns its response, in the shape of OpenAI's Responses API. A response is a turn of a session, or what follows the outputs of function calls in it; the response headers `X-Turn-Id` and `X-Session-Id` name them. With `stream`, it is sent as server-sent events; with `background`, at once and to be polled. Counts against the rate limit `turns`.",
        body: ResponseCreate,
        response: {
          200: JsonOrEventStream(ResponseObject, 'The response, or its events with `stream`.', eventExample),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { actor, body, replay } = request
      const before = replay && begunBefore(replay)
      if (replay && !before) return sendReplay(reply, replay)
      const begun = before ?? (await begin(request, body))
      const { turnId, sessionId, afterStep = 0 } = begun
      const ref = { turnId, afterStep }
      reply.headers({ 'x-turn-id': turnId, 'x-session-id': sessionId })
      if (before) reply.header('idempotency-replayed', 'true')
      const isFresh = !before && afterStep === 0 && request.headers['idempotency-key'] === undefined
      const read = async (): Promise<FoundResponse> => readBegun(deps, actor, begun)
      if (body.stream === true) {
        const { details, record } = await read()
        const writer = createResponseWriter(ref, { ...toFrame(ref, details, record), status: 'in_progress' })
        const isValidated = readTextFormat(body) !== null
        // The turn was read since it was created, and may have ended.
        const options = { ...begun, isFresh: false, isValidated, writer }
        await sendChunks({ db: db.hot, streams }, request, reply, options)
        return reply
      }
      if (body.background !== true) {
        const timeoutMs = longestTurnMs(config.turnLimitMs)
        if (!(await waitForTurn(request, reply, streams, { turnId, timeoutMs, isFresh })))
          throw turnInProgress(notEnded)
        // Throws when the turn failed, was cancelled or waits for a person.
        if (!(await getCompletion(db.hot, actor, begun))) throw turnInProgress(notEnded)
      }
      const { details, record } = await read()
      return reply.type('application/json; charset=utf-8').send(toResponse(ref, details, record))
    },
  )
}

export interface ResponseDeps extends SessionDeps {
  ensureDefaultAgent: (actor: Actor) => Promise<void> | undefined
}

/** Also a response that is not stored, for the request that creates it. */
const readBegun = async (
  { db }: SessionDeps,
  actor: Actor,
  { turnId, afterStep = 0 }: BegunChat,
): Promise<FoundResponse> => {
  const [details, record] = await Promise.all([
    getTurnWithReply(db.hot, actor, turnId),
    queries.findResponse(db.hot, actor.orgId, turnId, afterStep),
  ])
  if (!record) throw new Error(`the turn ${turnId} has no response`)
  return { ref: { turnId, afterStep }, details, record }
}

/** OpenAI's Responses API: a response is a turn, or its part after the outputs of function calls. */
export const registerResponseRoutes = (app: App, deps: ResponseDeps): void => {
  const { db } = deps
  registerCreate(app, deps)

  app.get(
    `${path}/:id`,
    {
      config: { access: 'sessions:read', what: 'Response' },
      schema: {
        tags,
        summary: 'Retrieve a response',
        description: 'Returns a response of the caller. Its `status` says whether it has ended.',
        params: ResponseParams,
        response: { 200: ResponseObject, ...failures },
      },
    },
    async ({ actor, params }) => {
      const { ref, details, record } = await findOwnResponse(db.hot, actor, params.id)
      return toResponse(ref, details, record)
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: 'sessions:write', what: 'Response' },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Delete a response',
        description:
          'Makes a response unavailable by its ID. Its turn stays in its session, which `DELETE /api/v1/sessions/:id` deletes.',
        params: ResponseParams,
        response: { 200: DeletedResponse, ...failures },
      },
    },
    async ({ actor, params }) => {
      const { ref, record } = await findOwnResponse(db.hot, actor, params.id)
      await queries.setResponse(db, actor.orgId, ref, { ...record, isStored: false })
      return { id: responseId(ref), object: 'response' as const, deleted: true as const }
    },
  )

  app.post(
    `${path}/:id/cancel`,
    {
      config: { access: 'sessions:write', events: turnEvents, what: 'Response' },
      schema: {
        tags,
        summary: 'Cancel a response',
        description: 'Cancels the turn of a response. A response that has ended is returned as it is.',
        params: ResponseParams,
        response: { 200: ResponseObject, ...failures },
      },
    },
    async ({ actor, params }) => {
      const { ref, record } = await findOwnResponse(db.hot, actor, params.id)
      await cancelTurn(deps, actor, ref.turnId)
      const { details } = await findOwnResponse(db.hot, actor, params.id)
      return toResponse(ref, details, record)
    },
  )

  app.get(
    `${path}/:id/input_items`,
    {
      config: { access: 'sessions:read', what: 'Response' },
      schema: {
        tags,
        summary: 'List the input items of a response',
        description:
          'Returns the message of the turn, or the outputs of function calls that the response followed. Earlier messages are in the session.',
        params: ResponseParams,
        response: { 200: InputItemList, ...failures },
      },
    },
    async ({ actor, params }) => {
      const found = await findOwnResponse(db.hot, actor, params.id)
      const message = await findTurnMessage(db.hot, actor.orgId, found.details.turn)
      const data = inputItems(found, message) as { id: string }[]
      const ids = data.map(({ id }) => id)
      return { object: 'list' as const, data, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: false }
    },
  )
}
