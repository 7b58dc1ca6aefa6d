import { randomInt } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import type { App } from '../../platform/http/http.ts'
import { EventStream } from '../../platform/http/schemas.ts'
import { endWithLastEvent, openEventStream } from '../../platform/http/server-sent-events.ts'
import * as queries from '../queries.ts'
import { EventStreamQuery } from '../schemas.ts'
import { checkPatterns, isVisible, matchesAny, visibilityOf } from '../visibility.ts'
import type { EventStreams } from './event-streams.ts'

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

export const registerEventStreamRoutes = (
  app: App,
  { db, eventStreams }: { db: Database; eventStreams: EventStreams },
): void => {
  const stream = async (request: FastifyRequest, reply: FastifyReply, query: EventStreamQuery): Promise<void> => {
    const { actor, server } = request
    const patterns = checkPatterns(query.types?.split(',') ?? [])
    const head = await queries.findHead(db.hot, actor.orgId)
    const start = startOf(request, query.after) ?? head
    // A position of another database, such as one from before a restored backup, would hide events until it is reached.
    const after = start > head ? head : start
    let isVerifying = false
    let visible = await visibilityOf(db.hot, actor)
    const raw = openEventStream(reply)
    // Tells the client where the stream begins, so that it can continue there before the first event.
    raw.write(`id: ${after}\nevent: open\ndata: {}\n\n`)
    const subscription = eventStreams.subscribe(actor.orgId, after, {
      accepts: (event) => isVisible(visible, event) && matchesAny(patterns, event.type),
      write: (text) => raw.write(text),
    })
    // The reader keeps its rights, so its client continues after the last id that it got, at another process.
    const end = (): void => {
      subscription.close()
      endWithLastEvent(raw, `retry: ${retryMs()}\nevent: end\ndata: {}\n\n`)
    }
    const unwatch = request.watchAuthority(
      ({ message }) => {
        subscription.close()
        endWithLastEvent(raw, `event: error\ndata: ${JSON.stringify({ message })}\n\n`)
      },
      undefined,
      (standing) => {
        // Until the new rights are known, nothing is sent.
        isVerifying = true
        subscription.pause()
        visibilityOf(db.hot, standing).then((now) => {
          visible = now
          isVerifying = false
          subscription.resume()
        }, end)
      },
    )
    server.stopping.addEventListener('abort', end)
    // The server can stop while the rights are read: the stream would delay the stop until its deadline.
    if (server.stopping.aborted) end()
    raw.on('drain', () => {
      if (!isVerifying) subscription.resume()
    })
    onceClosed(raw, () => {
      server.stopping.removeEventListener('abort', end)
      unwatch()
      subscription.close()
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
