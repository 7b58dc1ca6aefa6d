import type { FastifyRequest } from 'fastify'
import { notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route also exists on the content origin. All other routes exist on the API's origin only. */
    onContentOrigin?: true
  }
}

/** Whether a request is addressed to this host, by its Host header or X-Forwarded-Host of a trusted proxy. */
const isFor = (request: FastifyRequest, host: string): boolean => request.host.toLowerCase() === host

const hostOf = (contentBaseUrl: string): string => new URL(contentBaseUrl).host

export const isOnContentOrigin = (request: FastifyRequest, contentBaseUrl: string | undefined): boolean =>
  contentBaseUrl !== undefined && isFor(request, hostOf(contentBaseUrl))

/**
 * Isolates the content origin, which serves uploaded files: the API, the console and sign-in do not exist there, and
 * credentials are removed from requests before any route sees them.
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
