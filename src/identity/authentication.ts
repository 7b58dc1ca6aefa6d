import type { FastifyRequest } from 'fastify'
import { forbidden, unauthorized } from '../platform/errors.ts'
import type { App } from '../platform/http.ts'
import type { Actor } from './actor.ts'
import type { Authority } from './authority.ts'
import type { Permission } from './permissions.ts'

const noKey = unauthorized('Send an API key as "Authorization: Bearer <key>".')
const bearer = /^Bearer +(\S+) *$/i

const keyOf = (request: FastifyRequest): string => {
  const header = request.headers.authorization
  const key = header === undefined ? undefined : bearer.exec(header)?.[1]
  if (key === undefined) throw noKey
  return key
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

/** Puts `request.actor` on every route that is not public, before anything of the request is read or validated. */
export const registerAuthentication = (app: App, authority: Authority): void => {
  // A getter that throws would hide the mistake of using the actor of a public route until a request hits it.
  app.decorateRequest('actor')
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined) {
      throw new Error(`${String(route.method)} ${route.url} does not say who may call it (config.access)`)
    }
  })
  app.addHook('onRequest', async (request) => {
    const { access } = request.routeOptions.config
    if (access === undefined || access === 'public') return
    const workspaceId = request.headers['x-workspace-id']
    const actor = await authority.actorOf(keyOf(request), typeof workspaceId === 'string' ? workspaceId : undefined)
    if (access !== 'member') permit(actor, access)
    request.actor = request.method === 'GET' || request.method === 'HEAD' ? actor : withOrigin(actor, request)
  })
}
