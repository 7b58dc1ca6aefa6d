import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../identity/actor.ts'
import { conflict } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { sendStream, streamsTo, wantsStream } from '../streams/event-stream.ts'
import * as eventQueries from '../streams/event-queries.ts'
import { getAnswer, getReceipt } from './receipt.ts'
import type { SessionDeps } from '../deps.ts'
import type { Tails } from '../streams/tail.ts'
import { readTurnInput } from './input.ts'
import type { Decision } from './input.ts'
import { ApprovalDecision, Cancelled, Turn, TurnAnswer, TurnCreate } from './schemas.ts'
import * as turns from './turns.ts'

const tags = ['Turns']

/** How long a JSON answer waits for the end of a turn: below the minute after which proxies give up. */
const waitMs = 55_000

const clientGone = new Error('the client went away')

interface Asked {
  turnId: string
  isFresh: boolean
}

/** Waits for the turn to rest, the client to go, or the server to stop. Rejects when the caller loses its authority. */
const waitForRest = async (
  request: FastifyRequest,
  reply: FastifyReply,
  tails: Tails,
  { turnId, isFresh }: Asked,
): Promise<void> => {
  const gone = new AbortController()
  const onClose = (): void => gone.abort(clientGone)
  reply.raw.once('close', onClose)
  let lost: ApiError | undefined
  const unwatch = request.watchAuthority((reason) => {
    lost = reason
    gone.abort(reason)
  })
  const signal = AbortSignal.any([gone.signal, request.server.stopping])
  await tails.untilResting({ orgId: request.actor.orgId, turnId }, waitMs, signal, isFresh)
  unwatch()
  reply.raw.off('close', onClose)
  if (lost) throw lost
}

export const registerTurnRoutes = (app: App, deps: SessionDeps): void => {
  const { db, tails } = deps

  /** Takes what a person decided in the AI SDK's way, as a message; answers the turn that goes on. */
  const takeDecisions = async (requestDeps: SessionDeps, actor: Actor, sessionId: string, decisions: Decision[]) => {
    const turn = await turns.findActiveTurn(db.hot, actor, sessionId)
    if (!turn) throw conflict('No turn of this session waits for a decision.')
    const after = await eventQueries.findLastSeq(db.hot, actor.orgId, turn.id)
    await turns.decide(requestDeps, actor, turn.id, decisions)
    return { turnId: turn.id, after, isFresh: false }
  }

  app.post(
    `${apiPrefix}/sessions/:id/messages`,
    {
      config: {
        access: 'sessions:write',
        what: 'Session',
        rateLimit: 'turns',
        errors: ['PAYMENT_REQUIRED', 'VALIDATION_ERROR'],
      },
      schema: {
        tags,
        summary: 'Say something and have the agent answer: a chat turn',
        description: `Answers 200 with the reply when it is there within 55 s, else 202; a turn goes on when its client goes away. With Accept: ${streamsTo} The body of the AI SDK's useChat is taken, too, and streamed to.`,
        params: IdParams,
        body: TurnCreate,
        response: { 200: Success(TurnAnswer), 202: Success(TurnAnswer) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const input = readTurnInput(body)
      const requestDeps = { ...deps, db: request.db }
      const turn =
        'decisions' in input
          ? await takeDecisions(requestDeps, actor, params.id, input.decisions)
          : { turnId: await turns.createTurn(requestDeps, actor, params.id, input, body), after: 0, isFresh: true }

      if (wantsStream(request, body.messages !== undefined)) {
        const isKeyed = request.headers['idempotency-key'] !== undefined
        if (isKeyed) {
          // By the schema, like every answer: what it does not list is not stored either.
          const answer = reply.code(202).serialize(ok(await getAnswer(db.hot, actor, turn.turnId))) as string
          await request.storeAnswer(202, JSON.parse(answer) as object)
        }
        const { orgId } = actor
        const { turnId, after, isFresh } = turn
        sendStream(request, reply, tails, { orgId, turnId }, { after, isFresh: isFresh && !isKeyed })
        return reply
      }
      if (!body.background) await waitForRest(request, reply, tails, turn)
      const answer = await getAnswer(db.hot, actor, turn.turnId)
      return reply.code('message' in answer && !body.background ? 200 : 202).send(ok(answer))
    },
  )

  app.get(
    `${apiPrefix}/turns/:id`,
    {
      config: { access: 'sessions:read', what: 'Turn' },
      schema: { tags, summary: "A turn's receipt", params: IdParams, response: { 200: Success(Turn) } },
    },
    async ({ actor, params }) => ok(await getReceipt(db.hot, actor, params.id)),
  )

  app.post(
    `${apiPrefix}/turns/:id/cancel`,
    {
      config: { access: 'sessions:write', what: 'Turn' },
      schema: {
        tags,
        summary: 'Cancel a turn',
        description: 'What it has said so far is kept. `cancelled` is false when it had ended before.',
        params: IdParams,
        response: { 200: Success(Cancelled) },
      },
    },
    async ({ actor, params, db }) => ok({ cancelled: await turns.cancelTurn({ ...deps, db }, actor, params.id) }),
  )

  app.post(
    `${apiPrefix}/sessions/:id/cancel`,
    {
      config: { access: 'sessions:write', what: 'Session' },
      schema: {
        tags,
        summary: 'Cancel the turn that is under way, and those that wait behind it',
        params: IdParams,
        response: { 200: Success(Cancelled) },
      },
    },
    async ({ actor, params, db }) => ok({ cancelled: await turns.cancelSession({ ...deps, db }, actor, params.id) }),
  )

  app.post(
    `${apiPrefix}/turns/:id/approvals`,
    {
      config: { access: 'sessions:write', what: 'Turn' },
      schema: {
        tags,
        summary: 'Decide whether a tool is run',
        description:
          'Allowed for the person for whom the turn runs and, except for a consent, for members with approvals:decide; the key must also hold the permission of the tool. The first decision counts. When the last one is taken the turn goes on. CONFLICT when the agent has changed since a consent was asked for; it is asked for again.',
        params: IdParams,
        body: ApprovalDecision,
        response: { 200: Success(TurnAnswer) },
      },
    },
    async ({ actor, params, body, db: requestDb }) => {
      await turns.decide({ ...deps, db: requestDb }, actor, params.id, [body])
      return ok(await getAnswer(db.hot, actor, params.id))
    },
  )
}
