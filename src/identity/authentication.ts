import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler } from 'fastify'
import { ApiError, forbidden, unauthorized } from '../platform/http/errors.ts'
import { originOf, rejectRequest } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import type { Actor } from './actor.ts'
import type { Authority } from './authority.ts'
import type { AuthorityWatch, OnLost } from './authority-watch.ts'
import type { Permission } from './permissions.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'
import { rawCookie, sessionCookie } from './sign-in/session-cookie.ts'

export interface AuthenticationOptions {
  authority: Authority
  sessions: SessionAuthority
  watch: AuthorityWatch
  baseUrl: string | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Calls `onLost` within a second after the caller of a request with an actor has lost what it needs: its key was
     * revoked or has expired, its session ended, its person lost the org, the workspace or the permission. That is the
     * route's own unless another is named. Answers what ends the watch, which must be called when the answer has ended.
     */
    watchAuthority(onLost: OnLost, access?: Permission): () => void
  }
}

const noKey = unauthorized('Send an API key as "Authorization: Bearer <key>".')
const otherOrigin = forbidden(
  "A browser may change something only from this server's own pages: Origin is missing or another one.",
)
const bearer = /^Bearer +(\S+) *$/i

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

const changesNothing = (request: FastifyRequest): boolean => request.method === 'GET' || request.method === 'HEAD'

/** Whether browsers reach this server by https: its cookies have other names then. */
export const isSecure = (request: FastifyRequest, baseUrl: string | undefined): boolean =>
  baseUrl === undefined ? request.protocol === 'https' : baseUrl.startsWith('https:')

/**
 * FORBIDDEN unless the page that sent the request is our own: cookies travel with requests of other pages as well, the
 * Origin header tells them apart, and no page can forge it.
 */
export const requireOwnOrigin = (request: FastifyRequest, baseUrl: string | undefined): void => {
  const { origin } = request.headers
  if (origin === undefined) throw otherOrigin
  if (origin !== originOf(request, undefined) && (baseUrl === undefined || origin !== new URL(baseUrl).origin)) {
    throw otherOrigin
  }
}

/**
 * The actor together with the request it came by. Actors are remembered and shared, so this is a copy: 0.1 µs, paid by
 * requests that may change something. A GET that changes something calls it itself.
 */
export const withOrigin = (actor: Actor, request: FastifyRequest): Actor => ({
  ...actor,
  origin: { ip: request.ip, requestId: request.id },
})

const permit = (actor: Actor, access: Permission): void => {
  if (actor.permissions.has(access)) return
  throw forbidden(
    actor.apiKey !== null && actor.apiKey.scopes.length > 0
      ? `This needs the permission ${access}, which this API key or your role does not have.`
      : `This needs the permission ${access}, which your role does not have.`,
  )
}

/** Links, pictures and players of the console cannot send a header: a GET may name its org in the query instead. */
const orgNamedBy = (request: FastifyRequest): string | undefined => {
  const named = textOf(request.headers['x-org-id'])
  if (named !== undefined || !changesNothing(request)) return named
  return textOf((request.query as Record<string, string | string[] | undefined>)['orgId'])
}

const byCookie = async (request: FastifyRequest, { sessions, baseUrl }: AuthenticationOptions): Promise<Actor> => {
  const cookie = rawCookie(request.headers.cookie, sessionCookie, isSecure(request, baseUrl))
  if (cookie === undefined) throw noKey
  if (!changesNothing(request)) requireOwnOrigin(request, baseUrl)
  const { headers } = request
  return sessions.actorOf(cookie, orgNamedBy(request), textOf(headers['x-workspace-id']))
}

/** Follows the caller of a request for as long as its answer takes, without holding on to the request itself. */
const watchAuthority = (
  request: FastifyRequest,
  { authority, sessions, watch, baseUrl }: AuthenticationOptions,
  onLost: OnLost,
  access: 'member' | Permission,
): (() => void) => {
  const { actor, headers } = request
  const key = headers.authorization === undefined ? undefined : bearer.exec(headers.authorization)?.[1]
  const cookie = key === undefined ? rawCookie(headers.cookie, sessionCookie, isSecure(request, baseUrl)) : undefined
  const workspaceId = textOf(headers['x-workspace-id'])
  const { orgId } = actor
  const caller = [access, key ?? '', cookie ?? '', orgId, workspaceId ?? '', actor.workspaceId].join(' ')
  // A session is asked for the org that it led to, so that another one that is older now does not take its place.
  const ask = () =>
    key === undefined
      ? sessions.actorOf(cookie ?? '', orgId, workspaceId ?? actor.workspaceId ?? undefined)
      : authority.actorOf(key, workspaceId)
  return watch.add({ caller, standing: actor, access, cookie, ask }, onLost)
}

/** Routes by which people, keys and sessions lose what they may do. */
const changesAuthority = /^\/api\/v1\/(?:api-keys|auth|me|members|workspaces)(?:\/|$)/

const admit = async (
  request: FastifyRequest,
  reply: FastifyReply,
  access: 'member' | Permission,
  asking: Promise<Actor>,
  done: HookHandlerDoneFunction,
): Promise<void> => {
  try {
    const actor = await asking
    if (access !== 'member') permit(actor, access)
    request.actor = changesNothing(request) ? actor : withOrigin(actor, request)
  } catch (error) {
    if (error instanceof ApiError) rejectRequest(request, reply, error)
    else done(error as Error)
    return
  }
  done()
}

/**
 * Puts `request.actor` on every route that is not public, before anything of the request is read or validated: by the
 * key of the Authorization header, or, where there is none, by the cookie of the console.
 */
export const registerAuthentication = (app: App, options: AuthenticationOptions): void => {
  const { authority, watch } = options
  app.decorateRequest('watchAuthority', function follow(this: FastifyRequest, onLost, access) {
    return watchAuthority(this, options, onLost, access ?? (this.routeOptions.config.access as Permission | 'member'))
  })
  const lookSoon = (_request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    watch.soon()
    done()
  }
  // A getter that throws would hide the mistake of using the actor of a public route until a request hits it.
  app.decorateRequest('actor')
  const authenticate =
    (access: 'member' | Permission): onRequestHookHandler =>
    (request, reply, done) => {
      const { authorization } = request.headers
      if (authorization === undefined) {
        void admit(request, reply, access, byCookie(request, options), done)
        return
      }
      const key = bearer.exec(authorization)?.[1]
      const asking = key === undefined ? noKey : authority.actorOf(key, textOf(request.headers['x-workspace-id']))
      if (asking instanceof ApiError) rejectRequest(request, reply, asking)
      else void admit(request, reply, access, asking, done)
    }
  app.addHook('onRoute', (route) => {
    const access = route.config?.access
    if (access === undefined) {
      throw new Error(`${String(route.method)} ${route.url} does not say who may call it (config.access)`)
    }
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
    if (!isRead && changesAuthority.test(route.url)) {
      route.onResponse = [...[route.onResponse ?? []].flat(), lookSoon]
    }
    // A hook of the route: to ask a request for its route's configuration takes longer than to look at its key.
    if (access !== 'public') route.onRequest = [authenticate(access), ...[route.onRequest ?? []].flat()]
  })
}
