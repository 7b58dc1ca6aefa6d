/**
 * CORS (Fetch, section 3.3) for pages of the origins that the operator lists. It makes responses readable to them and
 * grants nothing else: `Access-Control-Allow-Credentials` is never sent, so a page has the authority of the API key that
 * it sends, and never that of the visitor's session.
 */
import type { FastifyRequest, RouteOptions } from 'fastify'
import { apiPrefix } from './http.ts'
import { patternOf } from './paths.ts'
import type { App } from './http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For public routes whose credential is in the URL: pages of the listed origins can call them without an API key. Other
     * public routes, such as sign-in, are not available to other origins.
     */
    crossOrigin?: true
  }
}

/** The headers that the API reads, besides those that pages may always send. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'Tus-Resumable',
  'Upload-Checksum',
  'Upload-Concat',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-HTTP-Method-Override',
  'X-Org-Id',
  'X-Step-Up-Token',
  'X-Workspace-Id',
].join(', ')

const responseHeaders = [
  'Accept-Ranges',
  'Allow',
  'Atrium-File-Id',
  'Content-Disposition',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'Tus-Checksum-Algorithm',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Concat',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-Request-Id',
].join(', ')

/** How long a browser may keep the response of a preflight. */
const maxAgeSeconds = 600

const isPublic = ({ config }: Pick<RouteOptions, 'config'>): boolean =>
  (config as { access?: string } | undefined)?.access === 'public'

const isOffered = (route: Pick<RouteOptions, 'config' | 'url'>): boolean =>
  route.url.startsWith(`${apiPrefix}/`) && (!isPublic(route) || route.config?.crossOrigin === true)

/** A preflight has no body; any other OPTIONS request is an unknown route. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers['access-control-request-method'] !== undefined &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) === 0

/**
 * Answers preflights, which browsers send without credentials, and adds the headers of CORS to responses. Register it
 * before every route and before the hook that rejects unknown routes.
 */
export const registerCors = (app: App, origins: readonly string[]): void => {
  if (origins.length === 0) return
  const listed = new Set(origins)
  const offered: [pattern: RegExp, methods: string[]][] = []
  app.addHook('onRoute', (route) => {
    if (isOffered(route)) offered.push([patternOf(route.url), [route.method].flat()])
  })
  const methodsOf = (path: string): string[] => [
    ...new Set(offered.filter(([pattern]) => pattern.test(path)).flatMap(([, methods]) => methods)),
  ]

  app.addHook('onRequest', (request, reply, done) => {
    const { origin, authorization } = request.headers
    const isListed = origin !== undefined && listed.has(origin)
    if (request.is404 || isPreflight(request)) {
      if (!isListed || !isPreflight(request)) return done()
      const methods = methodsOf(request.url.split('?', 1)[0] ?? '')
      if (methods.length === 0) return done()
      reply.headers({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': methods.toSorted().join(', '),
        'access-control-allow-headers': requestHeaders,
        'access-control-max-age': String(maxAgeSeconds),
        vary: 'Origin',
      })
      reply.code(204).send()
      return
    }
    const { url = '', config } = request.routeOptions
    if (!isOffered({ url, config })) return done()
    // Also without an origin, so that a cache never reuses a response for a page of another origin.
    reply.header('vary', 'Origin')
    if (isListed && (authorization !== undefined || config.crossOrigin === true)) {
      reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': responseHeaders })
    }
    done()
  })
}
