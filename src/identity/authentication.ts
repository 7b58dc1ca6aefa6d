import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler } from 'fastify'
import { cutOff, onceClosed } from '../platform/http/closed.ts'
import { ApiError, forbidden, unauthorized } from '../platform/http/errors.ts'
import { originOf, rejectRequest } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { addressGroup } from '../platform/http/limits/network.ts'
import { isAccessToken } from '../platform/key-format.ts'
import type { NoteActivity } from './activity.ts'
import type { Actor } from './actor.ts'
import type { ApiKeyAuthority } from './authority.ts'
import type { AuthorityWatch, OnLost, OnVerified } from './authority-watch.ts'
import type { Permission } from './permissions.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'
import { rawCookie, sessionCookie } from './sign-in/session-cookie.ts'

export interface AuthenticationOptions {
  authority: ApiKeyAuthority
  sessions: SessionAuthority
  watch: AuthorityWatch
  noteActivity: NoteActivity
  baseUrl: string | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Calls `onLost` within a second after the caller has lost access: the key was revoked or has expired, the session
     * ended, or the person lost the org, the workspace or the permission `access` (default: the permission of the route).
     * Returns the function that ends the watch, which must be called when the response has ended.
     */
    watchAuthority(onLost: OnLost, access?: Permission, onVerified?: OnVerified): () => void
  }
}

const noKey = unauthorized('Send an API key as "Authorization: Bearer <key>".')
const otherAudience = unauthorized('The access token of an app is valid for the MCP server only.')
const otherOrigin = forbidden(
  "The Origin header is missing or not that of this server. A browser may send changes from this server's pages only.",
)
const bearer = /^Bearer +(\S+) *$/i
const basic = /^Basic +([\w+/]+=*) *$/i
const challenge = { 'www-authenticate': 'Basic realm="Atrium", charset="UTF-8"' }
const noPassword = unauthorized('Send an API key as the password.', { headers: challenge })

/** The password of HTTP Basic. The user name is ignored. */
const passwordIn = (authorization: string): string | undefined => {
  const encoded = basic.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : text.slice(colon + 1)
}

const keyIn = (authorization: string, acceptsBasic: boolean): string | undefined =>
  bearer.exec(authorization)?.[1] ?? (acceptsBasic ? passwordIn(authorization) : undefined)

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

const changesNothing = (request: FastifyRequest): boolean => request.method === 'GET' || request.method === 'HEAD'

/** Whether browsers use https, which decides the names of cookies. */
export const isSecure = (request: FastifyRequest, baseUrl: string | undefined): boolean =>
  baseUrl === undefined ? request.protocol === 'https' : baseUrl.startsWith('https:')

/**
 * Throws FORBIDDEN for requests from pages of other origins (CSRF): browsers send cookies with those too, but no page can
 * forge the Origin header.
 */
export const requireOwnOrigin = (request: FastifyRequest, baseUrl: string | undefined): void => {
  const { origin } = request.headers
  if (origin === undefined) throw otherOrigin
  if (origin !== originOf(request, undefined) && (baseUrl === undefined || origin !== new URL(baseUrl).origin)) {
    throw otherOrigin
  }
}

/**
 * Adds the origin of the request to a copy of the actor, because actors are cached and shared. A GET that changes
 * something calls it itself.
 */
export const withOrigin = (actor: Actor, request: FastifyRequest): Actor => ({
  ...actor,
  origin: { ip: request.ip, requestId: request.id },
})

const permit = (actor: Actor, access: Permission): void => {
  if (actor.permissions.has(access)) return
  throw forbidden(
    actor.apiKey !== null && actor.apiKey.scopes.length > 0
      ? `This request needs the permission ${access}, which this API key or your role does not have.`
      : `This request needs the permission ${access}, which your role does not have.`,
  )
}

/** A GET may name its org in the query, because links, images and media players cannot send headers. */
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

/** Watches the caller of a request without a reference to the request, which would keep its memory. */
const watchAuthority = (
  request: FastifyRequest,
  { authority, sessions, watch, baseUrl }: AuthenticationOptions,
  { onLost, onVerified, access }: { onLost: OnLost; onVerified: OnVerified | undefined; access: 'member' | Permission },
): (() => void) => {
  const { actor, headers } = request
  const acceptsBasic = request.routeOptions.config.acceptsBasic === true
  const key = headers.authorization === undefined ? undefined : keyIn(headers.authorization, acceptsBasic)
  const cookie = key === undefined ? rawCookie(headers.cookie, sessionCookie, isSecure(request, baseUrl)) : undefined
  const workspaceId = textOf(headers['x-workspace-id'])
  const { orgId } = actor
  const caller = [access, key ?? '', cookie ?? '', orgId, workspaceId ?? '', actor.workspaceId].join(' ')
  // A session is checked for the org of the request, not for the one that is its default by now.
  const lookUp = () =>
    key === undefined
      ? sessions.actorOf(cookie ?? '', orgId, workspaceId ?? actor.workspaceId ?? undefined)
      : authority.actorOf(key, workspaceId)
  return watch.add({ caller, standing: actor, access, cookie, lookUp }, onLost, onVerified)
}

/** Routes that can end the authority of people, keys and sessions. */
const changesAuthority = /^\/api\/v1\/(?:api-keys|apps|auth|me|members|workspaces)(?:\/|$)/

interface Admission {
  access: 'member' | Permission
  actor: Promise<Actor | ApiError>
  noteActivity: NoteActivity
}

const admit = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { access, actor: pending, noteActivity }: Admission,
  done: HookHandlerDoneFunction,
): Promise<void> => {
  try {
    const actor = await pending
    if (actor instanceof ApiError) {
      rejectRequest(request, reply, actor)
      return
    }
    noteActivity(actor)
    if (access !== 'member') permit(actor, access)
    request.actor = changesNothing(request) ? actor : withOrigin(actor, request)
  } catch (error) {
    if (error instanceof ApiError) rejectRequest(request, reply, error)
    else done(error as Error)
    return
  }
  done()
}

/** Cuts off an upload when its caller loses access. A signed URL has no caller and is valid until it expires. */
const watchUpload: onRequestHookHandler = (request, reply, done) => {
  const { access, accessWithoutToken } = request.routeOptions.config
  if ((request.actor as Actor | undefined) !== undefined) {
    const needed = accessWithoutToken ?? (access as Permission)
    const unwatch = request.watchAuthority(() => cutOff(request.raw, 'the caller lost access'), needed)
    onceClosed(reply.raw, unwatch)
  }
  done()
}

/**
 * Rejects a request with a wrong password. Those of an address are limited as attempts to sign in are, and counted apart
 * from them: a drive that is still connected with a revoked key must not keep its office from signing in.
 */
const rejectPassword = async (request: FastifyRequest, reply: FastifyReply, rejected: ApiError): Promise<void> => {
  let error = rejected
  try {
    request.limitedReply = reply
    await request.takeRateLimit('signIn', `password from ${addressGroup(request.ip)}`)
    reply.headers(challenge)
  } catch (limited) {
    error = limited instanceof ApiError ? limited : rejected
    if (error.headers) reply.headers(error.headers)
  }
  rejectRequest(request, reply, error)
}

/** Authenticates by the API key that is the password of the request. */
const byPassword = async (
  request: FastifyRequest,
  reply: FastifyReply,
  {
    authority,
    access,
    noteActivity,
  }: Pick<AuthenticationOptions, 'authority' | 'noteActivity'> & Pick<Admission, 'access'>,
  done: HookHandlerDoneFunction,
): Promise<void> => {
  const { authorization } = request.headers
  if (authorization === undefined) {
    reply.headers(challenge)
    rejectRequest(request, reply, noPassword)
    return
  }
  try {
    const key = keyIn(authorization, true)
    const given =
      key === undefined || isAccessToken(key)
        ? noPassword
        : authority.actorOf(key, textOf(request.headers['x-workspace-id']))
    const actor = given instanceof ApiError ? given : await given
    if (actor instanceof ApiError) await rejectPassword(request, reply, actor)
    else await admit(request, reply, { access, actor: Promise.resolve(actor), noteActivity }, done)
  } catch (error) {
    if (error instanceof ApiError) rejectRequest(request, reply, error)
    else done(error as Error)
  }
}

/**
 * Sets `request.actor` on every route that is not public, before the body is read and validated: by the API key of the
 * Authorization header, else by the session cookie.
 */
export const registerAuthentication = (app: App, options: AuthenticationOptions): void => {
  const { authority, watch, noteActivity } = options
  app.decorateRequest('watchAuthority', function follow(this: FastifyRequest, onLost, access, onVerified) {
    const needed = access ?? (this.routeOptions.config.access as Permission | 'member')
    return watchAuthority(this, options, { onLost, onVerified, access: needed })
  })
  const checkSoon = (_request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    watch.checkSoon()
    done()
  }
  // Without a getter that throws: reading the actor on a public route fails type checks or tests, not single requests.
  app.decorateRequest('actor')
  const authenticate =
    (access: 'member' | Permission, acceptsApps: boolean): onRequestHookHandler =>
    (request, reply, done) => {
      const { authorization } = request.headers
      if (authorization === undefined) {
        void admit(request, reply, { access, actor: byCookie(request, options), noteActivity }, done)
        return
      }
      const key = bearer.exec(authorization)?.[1]
      const actor =
        key === undefined
          ? noKey
          : !acceptsApps && isAccessToken(key)
            ? otherAudience
            : authority.actorOf(key, textOf(request.headers['x-workspace-id']))
      if (actor instanceof ApiError) rejectRequest(request, reply, actor)
      else void admit(request, reply, { access, actor, noteActivity }, done)
    }
  app.addHook('onRoute', (route) => {
    const access = route.config?.access
    if (access === undefined) {
      throw new Error(`${String(route.method)} ${route.url} has no config.access`)
    }
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
    if (!isRead && changesAuthority.test(route.url)) {
      route.onResponse = [...[route.onResponse ?? []].flat(), checkSoon]
    }
    // A hook per route, because reading the route's configuration from a request takes longer than checking its key.
    if (access !== 'public' && route.config?.acceptsBasic === true) {
      const byKey: onRequestHookHandler = (request, reply, done) => {
        void byPassword(request, reply, { authority, noteActivity, access }, done)
      }
      route.onRequest = [byKey, ...[route.onRequest ?? []].flat()]
    } else if (access !== 'public') {
      route.onRequest = [authenticate(access, route.config?.acceptsApps === true), ...[route.onRequest ?? []].flat()]
    }
    const { accessWithoutToken } = route.config ?? {}
    if (accessWithoutToken !== undefined) {
      const authenticated = authenticate(accessWithoutToken, false)
      const unlessToken: onRequestHookHandler = function admitOrPass(request, reply, done) {
        if ((request.query as { token?: unknown }).token === undefined) authenticated.call(this, request, reply, done)
        else done()
      }
      route.onRequest = [unlessToken, ...[route.onRequest ?? []].flat()]
    }
    if (route.config?.upload !== undefined && (access !== 'public' || accessWithoutToken !== undefined)) {
      route.onRequest = [...[route.onRequest ?? []].flat(), watchUpload]
    }
  })
}
