import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler, RouteOptions } from 'fastify'
import { badRequest, tooManyRequests } from '../errors.ts'
import type { App } from '../http.ts'
import { addressGroup } from './network.ts'
import type { LimitName, RateLimiter, Verdict } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The limit that a request counts against, once it is authenticated. Default: `reads` for GET and HEAD, else
     * `writes`; `none` on public routes. Keyed by API key (or user), `receive` by the ids in the path, `signIn` by address.
     */
    rateLimit?: LimitName | 'none'
    /** `BAD_REQUEST` for the routes whose refusal is a plain "Too many requests". */
    rateLimitCode?: 'BAD_REQUEST'
  }
  interface FastifyRequest {
    /**
     * Counts this request against a limit and rejects when it is used up; for routes whose limit depends on the body
     * (`rateLimit: 'none'`) and for second limits. `key` replaces what the limit is usually kept by.
     */
    takeRateLimit(limit: LimitName, key?: string): Promise<void>
    /** The reply that the RateLimit fields of a take go onto. */
    limitedReply: FastifyReply | undefined
  }
}

export interface RouteLimitsOptions {
  limiter: RateLimiter
  /** Whom a request is counted for: the API key, or the user of a session. Undefined on public routes. */
  callerOf: (request: FastifyRequest) => string | undefined
}

const keyOf = (limit: LimitName, request: FastifyRequest, callerOf: RouteLimitsOptions['callerOf']): string => {
  if (limit === 'receive') return Object.values(request.params as Record<string, string>).join('/')
  const caller = limit === 'signIn' ? undefined : callerOf(request)
  return caller ?? addressGroup(request.ip)
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers: the policy (quota a window of seconds) and what is left of it
 * (requests that would be allowed now, seconds until all of them are).
 */
const setFields = (reply: FastifyReply, limit: LimitName, verdict: Verdict): void => {
  reply.header('ratelimit-policy', `"${limit}";q=${verdict.limit};w=60`)
  reply.header('ratelimit', `"${limit}";r=${verdict.remaining};t=${Math.ceil(verdict.fullInMs / 1_000)}`)
}

const refusal = (verdict: Verdict, code: 'BAD_REQUEST' | undefined): Error => {
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

/** Tells the caller what is left; answers the refusal when nothing is. */
const settle = (
  request: FastifyRequest,
  reply: FastifyReply,
  limit: LimitName,
  verdict: Verdict,
): Error | undefined => {
  if (verdict.limit === 0) return undefined
  setFields(reply, limit, verdict)
  return verdict.allowed ? undefined : refusal(verdict, request.routeOptions.config.rateLimitCode)
}

const settleLater = async (
  request: FastifyRequest,
  reply: FastifyReply,
  limit: LimitName,
  verdict: Promise<Verdict>,
  done: HookHandlerDoneFunction,
): Promise<void> => {
  let refused: Error | undefined
  try {
    refused = settle(request, reply, limit, await verdict)
  } catch (error) {
    refused = error as Error
  }
  done(refused)
}

/** Counts the requests of every route that is registered after it. What is to let them in first is registered after this. */
export const registerRouteLimits = (app: App, { limiter, callerOf }: RouteLimitsOptions): void => {
  app.decorateRequest('limitedReply', undefined)
  app.decorateRequest('takeRateLimit', async function take(this: FastifyRequest, limit, key) {
    const reply = this.limitedReply
    if (reply === undefined) throw new Error('a rate limit was taken before the request was authenticated')
    const refused = settle(this, reply, limit, await limiter.take(limit, key ?? keyOf(limit, this, callerOf)))
    if (refused) throw refused
  })

  app.addHook('onRoute', (route) => {
    const limit = limitOf(route)
    const count: onRequestHookHandler = (request, reply, done) => {
      request.limitedReply = reply
      if (limit === 'none') {
        done()
        return
      }
      const verdict = limiter.take(limit, keyOf(limit, request, callerOf))
      // Counts in memory are settled without a turn of the event loop: most servers have no Redis.
      if (verdict instanceof Promise) void settleLater(request, reply, limit, verdict, done)
      else done(settle(request, reply, limit, verdict))
    }
    route.onRequest = [count, ...[route.onRequest ?? []].flat()]
  })
}
