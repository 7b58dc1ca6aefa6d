import type { Actor } from '../../identity/actor.ts'
import { decisionEvents } from '../events.ts'
import { conflict } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, JsonOrEventStream, ok, Success } from '../../platform/http/schemas.ts'
import { formatForUseChat, sendStream, wantsStream } from '../streams/send-stream.ts'
import * as eventQueries from '../streams/queries.ts'
import { getTurnWithReply, getTurnDetails } from './turn-details.ts'
import type { SessionDeps } from '../deps.ts'
import { waitForTurn } from '../streams/wait-for-turn.ts'
import { readTurnInput } from './input.ts'
import { decide } from './decisions.ts'
import type { Decision } from './input.ts'
import { ApprovalDecision } from './approval-schemas.ts'
import { Cancelled, Turn, TurnAnswer, TurnCreate } from './schemas.ts'
import * as turns from './turns.ts'

const tags = ['Turns']

/** How long a JSON response waits for the end of a turn: less than the 60 s after which many proxies time out. */
const timeoutMs = 55_000

export const registerTurnRoutes = (app: App, deps: SessionDeps): void => {
  const { db, streams } = deps

  /** Applies decisions from the AI SDK's message format. Returns the turn that continues and its stream position. */
  const applyDecisions = async (requestDeps: SessionDeps, actor: Actor, sessionId: string, decisions: Decision[]) => {
    const turn = await turns.findActiveTurn(db.hot, actor, sessionId)
    if (!turn) throw conflict('No turn of this session is waiting for a decision.')
    const after = await eventQueries.findLastSeq(db.hot, actor.orgId, turn.id)
    await decide(requestDeps, actor, turn.id, decisions)
    return { turnId: turn.id, after, isFresh: false }
  }

  app.post(
    `${apiPrefix}/sessions/:id/messages`,
    {
      config: {
        events: decisionEvents,
        access: 'sessions:write',
        what: 'Session',
        rateLimit: 'turns',
        errors: ['PAYMENT_REQUIRED', 'VALIDATION_ERROR'],
      },
      schema: {
        tags,
        summary: 'Send a message',
        description:
          'Sends a message to the agent of the session and creates a turn. Returns 200 with the reply when the turn ends within 55 seconds, otherwise 202; the turn continues when the client disconnects. With `Accept: text/event-stream`, or with the body of `useChat` of the AI SDK, returns the UI message stream of the AI SDK, version 1, with an `id:` on every frame; `useChat` gets the parts that version 6 of the AI SDK knows, and all parts with `X-AI-SDK-Version: 7`. PAYMENT_REQUIRED when the balance or a spending limit does not cover a paid model. VALIDATION_ERROR when the agent is inactive or its model is not available. Counts against the rate limit `turns`.',
        params: IdParams,
        body: TurnCreate,
        response: {
          200: JsonOrEventStream(Success(TurnAnswer), 'The turn and its reply, or the stream of the turn.'),
          202: Success(TurnAnswer),
        },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const input = readTurnInput(body)
      const requestDeps = { ...deps, db: request.db }
      const turn =
        'decisions' in input
          ? await applyDecisions(requestDeps, actor, params.id, input.decisions)
          : {
              turnId: await turns.createTurn(requestDeps, actor, { sessionId: params.id, ...input }, body),
              after: 0,
              isFresh: true,
            }

      const isFromUseChat = body.messages !== undefined
      if (wantsStream(request, isFromUseChat)) {
        const isKeyed = request.headers['idempotency-key'] !== undefined
        if (isKeyed) {
          // Serialised by the response schema, so that only documented fields are stored.
          const response = reply.code(202).serialize(ok(await getTurnWithReply(db.hot, actor, turn.turnId))) as string
          await request.storeResponse(202, JSON.parse(response) as object)
        }
        const format = isFromUseChat ? formatForUseChat(request) : 'complete'
        sendStream(request, reply, streams, { ...turn, isFresh: turn.isFresh && !isKeyed, format })
        return reply
      }
      if (!body.background) await waitForTurn(request, reply, streams, { ...turn, timeoutMs })
      const result = await getTurnWithReply(db.hot, actor, turn.turnId)
      return reply.code('message' in result && !body.background ? 200 : 202).send(ok(result))
    },
  )

  app.get(
    `${apiPrefix}/turns/:id`,
    {
      config: { access: 'sessions:read', what: 'Turn' },
      schema: {
        tags,
        summary: 'Retrieve a turn',
        description:
          'Returns a turn with its model calls, tool calls, tokens, cost and the decisions that it waits for.',
        params: IdParams,
        response: { 200: Success(Turn) },
      },
    },
    async ({ actor, params }) => ok(await getTurnDetails(db.hot, actor, params.id)),
  )

  app.post(
    `${apiPrefix}/turns/:id/cancel`,
    {
      config: { events: ['message.created', 'turn.cancelled'], access: 'sessions:write', what: 'Turn' },
      schema: {
        tags,
        summary: 'Cancel a turn',
        description:
          'Cancels a turn at once. Output until then is kept as the reply. `cancelled` is false when the turn had ended otherwise.',
        params: IdParams,
        response: { 200: Success(Cancelled) },
      },
    },
    async ({ actor, params, db }) => ok({ cancelled: await turns.cancelTurn({ ...deps, db }, actor, params.id) }),
  )

  app.post(
    `${apiPrefix}/sessions/:id/cancel`,
    {
      config: { events: ['message.created', 'turn.cancelled'], access: 'sessions:write', what: 'Session' },
      schema: {
        tags,
        summary: 'Cancel the turns of a session',
        description:
          'Cancels the running turn of the session and all queued ones. Output until then is kept as the reply. `cancelled` is false when nothing was running.',
        params: IdParams,
        response: { 200: Success(Cancelled) },
      },
    },
    async ({ actor, params, db }) => ok({ cancelled: await turns.cancelSession({ ...deps, db }, actor, params.id) }),
  )

  app.post(
    `${apiPrefix}/turns/:id/approvals`,
    {
      config: { events: decisionEvents, access: 'sessions:write', what: 'Turn' },
      schema: {
        tags,
        summary: 'Decide an approval',
        description:
          'Approves or denies a tool call that the turn waits for. Allowed for the user of the turn and, except for a consent, for callers with the permission `approvals:decide`; the caller also needs the permission of the tool. The turn continues after the last decision. CONFLICT when it was decided otherwise before, and when the agent has changed since a consent was requested.',
        params: IdParams,
        body: ApprovalDecision,
        response: { 200: Success(TurnAnswer) },
      },
    },
    async ({ actor, params, body, db: requestDb }) => {
      await decide({ ...deps, db: requestDb }, actor, params.id, [body])
      return ok(await getTurnWithReply(db.hot, actor, params.id))
    },
  )
}
