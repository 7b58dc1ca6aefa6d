import { randomInt } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { EventStream } from '../../platform/http/schemas.ts'
import { endWithLastEvent } from '../../platform/http/server-sent-events.ts'
import { EventStreamQuery } from '../schemas.ts'
import { checkPatterns, matchesAny } from '../visibility.ts'
import { followEvents } from './follow.ts'
import type { FollowDeps } from './follow.ts'

/** Spreads the clients of a process that stops over the time in which the others accept them. */
const retryMs = (): number => randomInt(1_000, 3_000)

const position = /^\d{1,15}$/

/** The position after which the stream begins: the later one of the header and the query. Undefined: now. */
const startOf = ({ headers }: FastifyRequest, after: string | undefined): bigint | undefined => {
  const seen = headers['last-event-id']
  const positions = [after, seen]
    .filter((one) => typeof one === 'string' && position.test(one))
    .map((one) => BigInt(one as string))
  return positions.reduce<bigint | undefined>(
    (latest, one) => (latest === undefined || one > latest ? one : latest),
    undefined,
  )
}

export const registerEventStreamRoutes = (app: App, deps: FollowDeps): void => {
  const stream = async (request: FastifyRequest, reply: FastifyReply, query: EventStreamQuery): Promise<void> => {
    const patterns = checkPatterns(query.types?.split(',') ?? [])
    await followEvents(deps, request, reply, {
      startAt: (head) => {
        const start = startOf(request, query.after) ?? head
        // A position of another database, such as one from before a restored backup, would hide events until it is reached.
        return start > head ? head : start
      },
      // Tells the client where the stream begins, so that it can continue there before the first event.
      begin: (after) => `id: ${after}\nevent: open\ndata: {}\n\n`,
      accepts: (event) => matchesAny(patterns, event.type),
      // The reader keeps its rights, so its client continues after the last id that it got, at another process.
      end: (raw) => endWithLastEvent(raw, `retry: ${retryMs()}\nevent: end\ndata: {}\n\n`),
      lost: (raw, { message }) => endWithLastEvent(raw, `event: error\ndata: ${JSON.stringify({ message })}\n\n`),
    })
  }

  app.get(
    `${apiPrefix}/events/stream`,
    {
      config: { access: 'member' },
      schema: {
        tags: ['Events'],
        summary: 'Stream events of the org',
        description:
          'Returns the events that the caller may read as server-sent events, as they happen: `id:` is the position, `data:` the event. Continues after `after` or the header `Last-Event-ID`, whichever is larger, without a gap; by default it begins now. Ends with an event `error` when the caller loses access, and with an event `end` when the client should reconnect, because the server stops.',
        querystring: EventStreamQuery,
        response: { 200: EventStream('Events as they happen.') },
      },
    },
    async (request, reply) => {
      await stream(request, reply, request.query)
      return reply
    },
  )
}
