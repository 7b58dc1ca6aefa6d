import type {
  FastifyRequest,
  HookHandlerDoneFunction,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteOptions,
} from 'fastify'
import { createFairQueue } from '../../process/fair-queue.ts'
import { onceClosed } from '../closed.ts'
import { serviceUnavailable } from '../errors.ts'
import type { App } from '../http.ts'

/** Reading, parsing and writing this much keeps the process busy for about 10 ms. */
const largeCharacters = 262_144
/** Lists that are remembered as large. The one that was sent last is at the end. */
const maxKnown = 10_000

export interface LargeListsOptions {
  /** Whose list a request reads. Undefined on public routes. */
  readerOf: (request: FastifyRequest) => { orgId: string; userId: string } | undefined
}

const isList = ({ method, schema }: RouteOptions): boolean => {
  const { properties } = (schema?.querystring ?? {}) as { properties?: Record<string, unknown> }
  return method === 'GET' && properties?.['limit'] !== undefined
}

/**
 * Lists of an org that were large the last time are read one at a time of an org, two of a process: twenty at once would
 * make the requests of all orgs wait for a second. Their readers take turns. SERVICE_UNAVAILABLE when too many wait. Applies
 * to routes with the query parameter `limit` that are registered after it.
 */
export const registerLargeLists = (app: App, { readerOf }: LargeListsOptions): void => {
  const large = new Set<string>()
  const release = new WeakMap<FastifyRequest, () => void>()
  const queue = createFairQueue({
    running: 2,
    runningPerGroup: 1,
    waiting: 200,
    waitingPerGroup: 40,
    waitingPerMember: 20,
    busy: () =>
      serviceUnavailable('Too many large lists right now. Try again shortly, or use a smaller `limit`.', {
        headers: { 'retry-after': '5' },
      }),
  })

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
      const gone = new AbortController()
      onceClosed(reply.raw, () => gone.abort())
      void waitForTurn(request, reader, { gone: gone.signal, done })
    }
    // The response is complete then. It may take its reader long to receive it.
    const sent: onSendHookHandler = (request, _reply, payload, done) => {
      const reader = readerOf(request)
      if (reader && typeof payload === 'string') remember(listOf(reader), payload.length)
      release.get(request)?.()
      done(null, payload)
    }
    route.preHandler = [...[route.preHandler ?? []].flat(), take]
    route.onSend = [...[route.onSend ?? []].flat(), sent]
  })
}
