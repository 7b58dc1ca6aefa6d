import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { EventStream, IdParams, Nothing } from '../../platform/http/schemas.ts'
import { lastSeen, sendStream, streamsTo } from './event-stream.ts'
import type { StreamOptions } from './event-stream.ts'
import * as eventQueries from './event-queries.ts'
import type { SessionDeps } from '../deps.ts'
import type { TurnRow } from '../turns/queries.ts'
import { SessionStreamParams, StreamQuery } from '../turns/schemas.ts'
import * as turns from '../turns/turns.ts'

const tags = ['Turns']

/** The streams of turns, for whoever was not there from the beginning. */
export const registerStreamRoutes = (app: App, { db, tails }: SessionDeps): void => {
  /** The stream of a turn after a frame, or 204 when nothing follows. */
  const streamOrNothing = async (
    request: FastifyRequest,
    reply: FastifyReply,
    turn: TurnRow,
    options: StreamOptions,
  ) => {
    const { orgId } = request.actor
    const isOver = turn.endedAt !== null || turn.status === 'requires_action'
    if (isOver && !(await eventQueries.hasFramesAfter(db.hot, orgId, turn.id, options.after)))
      return reply.code(204).send()
    sendStream(request, reply, tails, { orgId, turnId: turn.id }, options)
    return reply
  }

  app.get(
    `${apiPrefix}/turns/:id/stream`,
    {
      config: { access: 'sessions:read', what: 'Turn' },
      schema: {
        tags,
        summary: "A turn's stream, from any frame on",
        description: `${streamsTo} 204 when nothing follows; kept for 24 hours. \`Last-Event-ID\` works like \`after\`.`,
        params: IdParams,
        querystring: StreamQuery,
        response: { 200: EventStream('The frames of the turn'), 204: Nothing },
      },
    },
    async (request, reply) => {
      const turn = await turns.getTurnRow(db.hot, request.actor, request.params.id)
      return streamOrNothing(request, reply, turn, { after: lastSeen(request, turn.id, request.query.after) })
    },
  )

  // The AI SDK's transport builds the second path by itself when its `api` is that of the messages.
  for (const path of ['/sessions/:id/stream', '/sessions/:id/messages/:chatId/stream']) {
    app.get(
      `${apiPrefix}${path}`,
      {
        config: { access: 'sessions:read', what: 'Session' },
        schema: {
          tags,
          summary: 'The stream of the turn that is under way in a session',
          description: `${streamsTo} It names the turn, too (\`<turn>:<number>\`), so that a reader with \`Last-Event-ID\` goes on in the same turn and gets the next one from its first frame. 204 when none is.`,
          params: path.includes('chatId') ? SessionStreamParams : IdParams,
          querystring: StreamQuery,
          response: { 200: EventStream('The frames of the turn'), 204: Nothing },
        },
      },
      async (request, reply) => {
        const turn = await turns.findActiveTurn(db.hot, request.actor, request.params.id)
        if (!turn) return reply.code(204).send()
        const after = lastSeen(request, turn.id, request.query.after)
        return streamOrNothing(request, reply, turn, { after, namesTurn: true })
      },
    )
  }
}
