import type { ServerResponse } from 'node:http'
import type {
  FastifyRequest,
  HookHandlerDoneFunction,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteOptions,
} from 'fastify'
import { onceClosed } from '../closed.ts'
import type { App } from '../http.ts'
import { createReadQueue, readBusy } from './read-queue.ts'

/** Reading, parsing and writing this much keeps the process busy for about 10 ms. */
const largeCharacters = 262_144
/** Lists that are remembered as large. The one that was sent last is at the end. */
const maxKnown = 10_000
/** Characters of large lists of one org that its clients have not received yet. */
const maxUnreceived = 16_777_216
const defaultStallMs = 60_000
const tooMany = 'Too many large lists right now. Try again shortly, or use a smaller `limit`.'

export interface LargeListsOptions {
  /** Whose list a request reads. Undefined on public routes. */
  readerOf: (request: FastifyRequest) => { orgId: string; userId: string } | undefined
  /** A client that receives nothing of a large list for this long is disconnected. */
  stallMs?: number
}

/** Ends a response of which the client receives nothing for `stallMs`. */
const endStalled = (response: ServerResponse, stallMs: number): void => {
  const { socket } = response
  let before = -1
  const check = (): void => {
    const received = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0)
    if (received === before) response.destroy()
    before = received
  }
  const timer = setInterval(check, stallMs / 2).unref()
  onceClosed(response, () => clearInterval(timer))
}

/** The characters of large lists that the clients of an org have not received. */
const createUnreceived = (stallMs: number) => {
  const ofOrg = new Map<string, number>()
  const count = (orgId: string, characters: number): void => {
    const sum = (ofOrg.get(orgId) ?? 0) + characters
    if (sum > 0) ofOrg.set(orgId, sum)
    else ofOrg.delete(orgId)
  }
  return {
    of: (orgId: string): number => ofOrg.get(orgId) ?? 0,
    /** Until the response is closed. */
    add: (orgId: string, characters: number, response: ServerResponse): void => {
      count(orgId, characters)
      onceClosed(response, () => count(orgId, -characters))
      endStalled(response, stallMs)
    },
  }
}

const isList = ({ method, schema }: RouteOptions): boolean => {
  const { properties } = (schema?.querystring ?? {}) as { properties?: Record<string, unknown> }
  return method === 'GET' && properties?.['limit'] !== undefined
}

/**
 * Lists of an org that were large the last time are read one at a time of an org, two of a process: twenty at once would
 * make the requests of all orgs wait for a second. Their readers take turns. SERVICE_UNAVAILABLE when too many wait, or when
 * the clients of the org have not received what they asked for. Applies to routes with the query parameter `limit` that are
 * registered after it.
 */
export const registerLargeLists = (app: App, { readerOf, stallMs = defaultStallMs }: LargeListsOptions): void => {
  const large = new Set<string>()
  const release = new WeakMap<FastifyRequest, () => void>()
  const unreceived = createUnreceived(stallMs)
  const queue = createReadQueue(tooMany)

  const remember = (list: string, characters: number): void => {
    large.delete(list)
    if (characters < largeCharacters) return
    large.add(list)
    const [oldest] = large
    if (large.size > maxKnown && oldest !== undefined) large.delete(oldest)
  }

  const waitForTurn = async (
    request: FastifyRequest,
    reader: { orgId: string; userId: string },
    { gone, done }: { gone: AbortSignal; done: HookHandlerDoneFunction },
  ): Promise<void> => {
    const sent = Promise.withResolvers<void>()
    release.set(request, sent.resolve)
    gone.addEventListener('abort', () => sent.resolve())
    const start = (): Promise<void> => {
      done()
      return sent.promise
    }
    try {
      await queue.run(start, { group: reader.orgId, member: reader.userId, signal: gone })
    } catch (error) {
      done(error as Error)
    }
  }

  app.addHook('onRoute', (route) => {
    if (!isList(route)) return
    const listOf = ({ orgId }: { orgId: string }): string => `${orgId} ${route.url}`
    const take: preHandlerHookHandler = (request, reply, done) => {
      const reader = readerOf(request)
      if (!reader || !large.has(listOf(reader))) {
        done()
        return
      }
      if (unreceived.of(reader.orgId) > maxUnreceived) {
        done(readBusy(tooMany))
        return
      }
      const gone = new AbortController()
      onceClosed(reply.raw, () => gone.abort())
      void waitForTurn(request, reader, { gone: gone.signal, done })
    }
    // The response is complete then. It may take its reader long to receive it.
    const sent: onSendHookHandler = (request, reply, payload, done) => {
      const reader = readerOf(request)
      if (reader && typeof payload === 'string') {
        remember(listOf(reader), payload.length)
        if (payload.length >= largeCharacters) unreceived.add(reader.orgId, payload.length, reply.raw)
      }
      release.get(request)?.()
      done(null, payload)
    }
    route.preHandler = [...[route.preHandler ?? []].flat(), take]
    route.onSend = [...[route.onSend ?? []].flat(), sent]
  })
}
