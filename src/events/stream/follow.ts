import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EventRow } from '../../outbox/queries.ts'
import type { Database } from '../../platform/database/database.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { openEventStream } from '../../platform/http/server-sent-events.ts'
import * as queries from '../queries.ts'
import { isVisible, visibilityOf } from '../visibility.ts'
import type { EventStreams } from './event-streams.ts'

export type { EventStreams } from './event-streams.ts'

export interface FollowDeps {
  db: Database
  eventStreams: EventStreams
}

export interface Follower {
  /** The position after which the stream begins, given the last one of the log. Default: the last one. */
  startAt?: (head: bigint) => bigint
  /** The text with which the response begins. */
  begin(after: bigint): string
  /** Called in order for each event that the caller may read at that time. False leaves the event out. */
  accepts(event: EventRow): boolean
  /** The text for the events that were accepted since the last call, given their frames. */
  format?: (frames: string) => string
  /** The server stops, or the rights of the caller could not be read. */
  end(raw: ServerResponse): void
  /** The caller has lost access. */
  lost(raw: ServerResponse, error: ApiError): void
  /** The response has ended. Not called when this function rejects. */
  closed?: () => void
}

/** Streams of a person in this process that send older events. Each takes time and memory that streams of new ones do not. */
const maxBehind = 100

/**
 * Responds with the events of the org as they happen, until the client, the server or a loss of access ends it. Throws
 * TOO_MANY_REQUESTS when too many streams of the person are behind.
 */
export const followEvents = async (
  { db, eventStreams }: FollowDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  follower: Follower,
): Promise<void> => {
  const { actor, server } = request
  const head = await queries.findHead(db.hot, actor.orgId)
  const after = follower.startAt?.(head) ?? head
  let isVerifying = false
  let current: object = actor
  let visible = await visibilityOf(db.hot, actor)
  if (after < head && eventStreams.countBehind(actor.orgId, actor.userId) >= maxBehind) {
    throw tooManyRequests('Too many of your event streams are still sending older events. Try again shortly.', {
      headers: { 'retry-after': '5' },
    })
  }
  const raw = openEventStream(reply)
  raw.write(follower.begin(after))
  const subscription = eventStreams.subscribe(
    actor.orgId,
    { after, head },
    {
      userId: actor.userId,
      accepts: (event) => isVisible(visible, event) && follower.accepts(event),
      reader: () => visible.reader,
      write: (frames) => raw.write(follower.format?.(frames) ?? frames),
    },
  )
  const end = (): void => {
    subscription.close()
    if (!raw.writableEnded) follower.end(raw)
  }
  const unwatch = request.watchAuthority(
    (error) => {
      subscription.close()
      follower.lost(raw, error)
    },
    undefined,
    (standing) => {
      // Until the new rights are known, nothing is sent.
      isVerifying = true
      subscription.pause()
      current = standing
      visibilityOf(db.hot, standing).then(
        (now) => {
          // Those of a later change can be known first.
          if (current !== standing) return
          visible = now
          isVerifying = false
          subscription.resume()
        },
        // The client reconnects and continues where it was.
        end,
      )
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
    follower.closed?.()
  })
}
