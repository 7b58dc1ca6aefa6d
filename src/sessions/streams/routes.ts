import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { EventStream, IdParams, Nothing } from '../../platform/http/schemas.ts'
import { lastSeenSeq, sendStream, streamsTo } from './send-stream.ts'
import type { StreamOptions } from './send-stream.ts'
import * as eventQueries from './queries.ts'
import type { SessionDeps } from '../deps.ts'
import type { TurnRow } from '../turns/queries.ts'
import { SessionStreamParams, StreamQuery } from '../turns/schemas.ts'
import * as turns from '../turns/turns.ts'

const tags = ['Turns']

/** Streams of turns that are already in progress, or that ended within the last 24 hours. */
export const registerStreamRoutes = (app: App, { db, streams }: SessionDeps): void => {
  const streamOrNothing = async (
    request: FastifyRequest,
    reply: FastifyReply,
    turn: TurnRow,
    options: Omit<StreamOptions, 'turnId'>,
  ) => {
    const isOver = turn.endedAt !== null || turn.status === 'requires_action'
    if (isOver && !(await eventQueries.hasEventsAfter(db.hot, request.actor.orgId, turn.id, options.after)))
      return reply.code(204).send()
    sendStream(request, reply, streams, { turnId: turn.id, ...options })
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
      return streamOrNothing(request, reply, turn, { after: lastSeenSeq(request, turn.id, request.query.after) })
    },
  )

  // The AI SDK's transport derives the second path from the URL of the messages.
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
        const after = lastSeenSeq(request, turn.id, request.query.after)
        return streamOrNothing(request, reply, turn, { after, includesTurnId: true })
      },
    )
  }
}
