import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { EventStream, IdParams, Nothing } from '../../platform/http/schemas.ts'
import { formatForUseChat, lastSeenSeq, sendStream } from './send-stream.ts'
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
        summary: 'Stream a turn',
        description:
          'Returns a turn as server-sent events: the UI message stream of the AI SDK, version 1, with an `id:` on every frame. Continues after `after` or the header `Last-Event-ID`, whichever is larger. Returns 204 when no frames follow. Frames are kept for 24 hours.',
        params: IdParams,
        querystring: StreamQuery,
        response: { 200: EventStream('The stream of the turn.'), 204: Nothing },
      },
    },
    async (request, reply) => {
      const turn = await turns.getTurnRow(db.hot, request.actor, request.params.id)
      return streamOrNothing(request, reply, turn, { after: lastSeenSeq(request, turn.id, request.query.after) })
    },
  )

  // The AI SDK's transport derives this path from the URL of the messages.
  const resumePath = '/sessions/:id/messages/:chatId/stream'
  const paths = [
    [
      '/sessions/:id/stream',
      IdParams,
      'Stream the running turn of a session',
      'Returns the running turn as server-sent events: the UI message stream of the AI SDK, version 1. Each `id:` is `<turn>:<number>`, so a client that reconnects with `Last-Event-ID` continues in the same turn and gets the next turn from its first frame. Returns 204 when no turn is running.',
    ],
    [
      resumePath,
      SessionStreamParams,
      'Resume a stream of useChat',
      'Returns the stream of the running turn, at the URL that `useChat` of the AI SDK asks for. The response is that of `GET /sessions/{id}/stream`, but without `reset-step` and `tool-approval-response`, which version 6 of the AI SDK cannot read, unless the request has `X-AI-SDK-Version: 7`.',
    ],
  ] as const
  for (const [path, params, summary, description] of paths) {
    app.get(
      `${apiPrefix}${path}`,
      {
        config: { access: 'sessions:read', what: 'Session' },
        schema: {
          tags,
          summary,
          description,
          params,
          querystring: StreamQuery,
          response: { 200: EventStream('The stream of the turn.'), 204: Nothing },
        },
      },
      async (request, reply) => {
        const turn = await turns.findActiveTurn(db.hot, request.actor, request.params.id)
        if (!turn) return reply.code(204).send()
        const after = lastSeenSeq(request, turn.id, request.query.after)
        const format = path === resumePath ? formatForUseChat(request) : 'complete'
        return streamOrNothing(request, reply, turn, { after, includesTurnId: true, format })
      },
    )
  }
}
