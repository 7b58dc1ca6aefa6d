import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler, RouteOptions } from 'fastify'
import { badRequest, tooManyRequests } from '../errors.ts'
import type { App } from '../http.ts'
import { addressGroup } from './network.ts'
import type { LimitName, RateLimiter, RateLimitVerdict } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The limit that a request counts against, once it is authenticated. Default: `reads` for GET and HEAD, else
     * `writes`; `none` on public routes. Keyed by API key (or user), `receive` by the ids in the path, `signIn` by address.
     */
    rateLimit?: LimitName | 'none'
    /** `BAD_REQUEST` for routes whose documented error is a plain "Too many requests". */
    rateLimitCode?: 'BAD_REQUEST'
  }
  interface FastifyRequest {
    /**
     * Counts this request against a limit and rejects when the limit is exceeded. For routes whose limit depends on the
     * body (`rateLimit: 'none'`) and for second limits. `key` replaces the usual key of the limit.
     */
    takeRateLimit(limit: LimitName, key?: string): Promise<void>
    /** The reply that gets the RateLimit headers. */
    limitedReply: FastifyReply | undefined
  }
}

export interface RouteLimitsOptions {
  limiter: RateLimiter
  /** The caller that a request is counted for: an API key or the user of a session. Undefined on public routes. */
  callerOf: (request: FastifyRequest) => string | undefined
}

const keyOf = (limit: LimitName, request: FastifyRequest, callerOf: RouteLimitsOptions['callerOf']): string => {
  if (limit === 'receive') return Object.values(request.params as Record<string, string>).join('/')
  const caller = limit === 'signIn' ? undefined : callerOf(request)
  return caller ?? addressGroup(request.ip)
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers: the policy (quota and window in seconds) and the remaining quota
 * (requests allowed now, and seconds until the whole quota is available).
 */
const setFields = (reply: FastifyReply, limit: LimitName, verdict: RateLimitVerdict): void => {
  reply.header('ratelimit-policy', `"${limit}";q=${verdict.limit};w=60`)
  reply.header('ratelimit', `"${limit}";r=${verdict.remaining};t=${Math.ceil(verdict.fullInMs / 1_000)}`)
}

const rejection = (verdict: RateLimitVerdict, code: 'BAD_REQUEST' | undefined): Error => {
  const seconds = Math.max(1, Math.ceil(verdict.retryAfterMs / 1_000))
  const headers = { 'retry-after': String(seconds) }
  return code === 'BAD_REQUEST'
    ? badRequest('Too many requests', { headers })
    : tooManyRequests(`Too many requests. Try again in ${seconds} s.`, { headers })
}

const isPublic = (route: RouteOptions): boolean =>
  (route.config as { access?: string } | undefined)?.access === 'public'

const limitOf = (route: RouteOptions): LimitName | 'none' => {
  const declared = route.config?.rateLimit
  if (declared !== undefined) return declared
  if (isPublic(route)) return 'none'
  return [route.method].flat().every((method) => method === 'GET' || method === 'HEAD') ? 'reads' : 'writes'
}

/** Sets the headers of the limit. Returns the error of a request beyond the limit. */
const apply = (
  request: FastifyRequest,
  reply: FastifyReply,
  limit: LimitName,
  verdict: RateLimitVerdict,
): Error | undefined => {
  if (verdict.limit === 0) return undefined
  setFields(reply, limit, verdict)
  return verdict.allowed ? undefined : rejection(verdict, request.routeOptions.config.rateLimitCode)
}

const finish = async (work: Promise<Error | undefined>, done: HookHandlerDoneFunction): Promise<void> => {
  let rejected: Error | undefined
  try {
    rejected = await work
  } catch (error) {
    rejected = error as Error
  }
  done(rejected)
}

/** Counts the requests of every route that is registered after it. Register authentication later, so that it runs first. */
export const registerRouteLimits = (app: App, { limiter, callerOf }: RouteLimitsOptions): void => {
  app.decorateRequest('limitedReply', undefined)
  app.decorateRequest('takeRateLimit', async function take(this: FastifyRequest, limit, key) {
    const reply = this.limitedReply
    if (reply === undefined) throw new Error('takeRateLimit was called before the request was authenticated')
    this.countAsRead = undefined
    const rejected = apply(this, reply, limit, await limiter.take(limit, key ?? keyOf(limit, this, callerOf)))
    if (rejected) throw rejected
  })

  app.addHook('onRoute', (route) => {
    const limit = limitOf(route)
    const count: onRequestHookHandler = (request, reply, done) => {
      request.limitedReply = reply
      if (limit === 'none') {
        // The limit of these routes depends on a body that may not be readable.
        if (!isPublic(route)) request.countAsRead = () => request.takeRateLimit('reads')
        done()
        return
      }
      const verdict = limiter.take(limit, keyOf(limit, request, callerOf))
      // Most servers have no Redis: a count in memory must not cost a turn of the event loop.
      if (!(verdict instanceof Promise)) {
        done(apply(request, reply, limit, verdict))
        return
      }
      const later = verdict.then((shared) => apply(request, reply, limit, shared))
      void finish(later, done)
    }
    route.onRequest = [count, ...[route.onRequest ?? []].flat()]
  })
}
