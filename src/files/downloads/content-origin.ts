import type { FastifyRequest } from 'fastify'
import { notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Also answered on the origin of its own for what users uploaded. All other routes exist on the API's origin only. */
    onContentOrigin?: true
  }
}

/** Whether a request is addressed to this origin, by its Host header, or by X-Forwarded-Host of a trusted proxy. */
const isFor = (request: FastifyRequest, host: string): boolean => request.host.toLowerCase() === host

const hostOf = (contentBaseUrl: string): string => new URL(contentBaseUrl).host

export const isOnContentOrigin = (request: FastifyRequest, contentBaseUrl: string | undefined): boolean =>
  contentBaseUrl !== undefined && isFor(request, hostOf(contentBaseUrl))

/**
 * Keeps the origin of user content apart: whatever a file makes a browser do there, the API, the console and sign-in do
 * not exist on it, and credentials that a request carries are not seen by any route.
 */
export const registerContentOrigin = (app: App, contentBaseUrl: string | undefined): void => {
  if (contentBaseUrl === undefined) return
  const host = hostOf(contentBaseUrl)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isFor(request, host)) return done()
    delete request.raw.headers.cookie
    delete request.raw.headers.authorization
    const { onContentOrigin } = request.routeOptions.config
    return done(onContentOrigin ? undefined : notFound('Route'))
  })
}
