import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import fastify from 'fastify'
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
  RouteOptions,
} from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { registerBodyIntake } from './limits/body-intake.ts'
import { registerChunkPace } from './limits/chunk-pace.ts'
import type { BodyLimits } from './limits/body-intake.ts'
import { limitConnections, limitOutstanding } from './limits/connection-limits.ts'
import type { Connections, ConnectionLimits } from './limits/connection-limits.ts'
import { diskFull } from '../process/disk-space.ts'
import { databaseUnavailable, isDatabaseUnavailable, sqlState } from '../database/errors.ts'
import { ApiError, badRequest, conflict, failureBody, notFound } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { registerDeprecation } from './deprecation.ts'
import { errorFormatOf, registerErrorFormats } from './error-formats.ts'
import { decodable, patternOf } from './paths.ts'
import { startLingeringClose } from './server/linger.ts'
import { announceStop, sendRawError, trackResponse } from './server/open-responses.ts'
import { registerJsonBody } from './json-body.ts'
import type { Log } from '../process/log.ts'
import { isNavigation, notFoundPage, notFoundPolicy } from './not-found-page.ts'
import { defaultHeaders, forgetContentHeaders, httpsOnly } from './response-headers.ts'
import { registerValidation, validationFailure } from './validation.ts'

/** The Fastify application with which areas register their routes. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** JSON bodies; uploads stream past this limit on their own routes. */
export const jsonBodyLimitBytes = 1_048_576
export const apiPrefix = '/api/v1'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the resource in the NOT_FOUND message of a malformed id: `Agent` gives "Agent not found". */
    what?: string
    /** For routes that reject a malformed id as an invalid request. Default: NOT_FOUND. */
    malformedId?: 'BAD_REQUEST'
    /** Validates a request without a body as if it had an empty object. */
    optionalBody?: true
    /** Further error codes for the API reference, such as `PAYMENT_REQUIRED`, besides those of every similar route. */
    errors?: ErrorCode[]
  }
  interface FastifyInstance {
    /** Every registered route, for the `Allow` header and for tests of all routes. */
    routeTable: RouteOptions[]
    /** Aborted when the server begins to stop. Streams and long polls must then end their responses. */
    stopping: AbortSignal
    /** Sends NOT_FOUND for a request without a route, or a page to a person who opened a wrong link. */
    sendRouteNotFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
    connections: Connections
  }
  interface FastifyRequest {
    /**
     * Counts the request against the limit `reads`. Undefined once it was counted, and on routes that count every request
     * before they read it. A rejected request is counted by the error handler; a route whose protocol reports errors in
     * successful responses calls it itself.
     */
    countAsRead: (() => Promise<void>) | undefined
  }
}

export interface HttpOptions {
  log: Log
  /** In production, the message of an internal error is generic. */
  production: boolean
  trustProxy: boolean
  /** The origin of URLs in responses. Default: the origin of the request. */
  baseUrl?: string | undefined
  connectionLimits?: ConnectionLimits
  bodyLimits?: Partial<BodyLimits>
  /** The time limit for receiving the headers of a request, from its first byte or the start of its connection. */
  headersTimeoutMs?: number
  /** Whether the disk is full, which explains an unavailable database: it restarts when it cannot write its WAL. */
  isDiskFull?: (() => boolean) | undefined
}

const collectRoutes = (app: FastifyInstance): ((path: string) => string[]) => {
  app.decorate('routeTable', [])
  app.addHook('onRoute', (route) => {
    app.routeTable.push(route)
  })
  let patterns: [RegExp, string[]][] | undefined
  return (path) => {
    patterns ??= app.routeTable.map((route) => [patternOf(route.url), [route.method].flat()])
    const methods = patterns.filter(([pattern]) => pattern.test(path)).flatMap(([, allowed]) => allowed)
    return [...new Set(methods)].toSorted()
  }
}

/**
 * The methods of routes without parameters that have exactly this path. If `/things/search` supports only GET, the router
 * sends `PATCH /things/search` to `/things/:id`; the error is then a missing route, not a malformed id.
 */
const methodsOfStatic = ({ routeTable }: FastifyInstance, path: string): string[] =>
  [...new Set(routeTable.filter(({ url }) => url === path).flatMap(({ method }) => method))].toSorted()

const fastifyMessages: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'This route does not support the Content-Type of the request.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body exceeds the size limit of this route.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body does not match Content-Length.',
  FST_ERR_CTP_EMPTY_TYPE: 'The Content-Type is missing.',
}

// The client closed the connection before the end of the body, so an error in the handler is not a server error.
const isCutOff = ({ complete, errored }: IncomingMessage): boolean =>
  !complete && errored !== null && (errored as NodeJS.ErrnoException).code === 'ECONNRESET'

const toApiError = (
  error: FastifyError,
  request: FastifyRequest,
  { production, isDiskFull }: Pick<HttpOptions, 'production' | 'isDiskFull'>,
): ApiError => {
  if (error instanceof ApiError) return error
  if (error.validation) {
    if (error.validationContext === 'params') return malformedId(request.routeOptions.config)
    return validationFailure(error.validation, error.validationContext ?? 'body', error)
  }
  if (isCutOff(request.raw)) {
    return badRequest('The connection was closed before the end of the request.', { cause: error })
  }
  const state = sqlState(error)
  if (state === '22021' || state === '22P05')
    return badRequest('The request contains text that cannot be stored.', { cause: error })
  if (isDatabaseUnavailable(error)) {
    return (isDiskFull?.() === true ? diskFull(error) : databaseUnavailable(error)) as ApiError
  }
  if (state === '23505') return conflict('A resource with the same unique value already exists.', { cause: error })
  if (state === '23503') {
    return conflict('Something that the request refers to was deleted at the same time.', { cause: error })
  }
  if (state === '40001' || state === '40P01' || state === '55P03') {
    return conflict('The resource was changed by another request at the same time. Try again.', { cause: error })
  }
  if (typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500) {
    return badRequest(fastifyMessages[error.code] ?? error.message, { cause: error })
  }
  return new ApiError('INTERNAL_ERROR', production ? 'Internal server error' : error.message, { cause: error })
}

const logFailure = (log: Log, request: FastifyRequest, error: ApiError): void => {
  if (error.status < 500) return
  const fields = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    code: error.code,
    err: error.cause ?? error,
  }
  if (error.status === 503) log.warn(fields, 'request failed: dependency unavailable')
  else log.error(fields, 'request failed')
}

// Some errors are created once and thrown often (an unknown API key), so their bodies are cached.
const failureTexts = new WeakMap<ApiError, string>()
const failureText = (error: ApiError): string => {
  let text = failureTexts.get(error)
  if (text === undefined) {
    text = JSON.stringify(failureBody(error.code, error.message))
    failureTexts.set(error, text)
  }
  return text
}

const sendFailure = (request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply => {
  reply.header('content-type', 'application/json; charset=utf-8')
  const format = errorFormatOf(request)
  if (!format) return reply.code(error.status).send(failureText(error))
  const { body, status = error.status, headers = {} } = format.failure(error, request)
  return reply
    .code(status)
    .headers(headers)
    .send(typeof body === 'string' ? body : JSON.stringify(body))
}

/**
 * Sends an error from an `onRequest` hook. It bypasses Fastify's error handler, which takes three times as long; that
 * matters for a flood of requests with invalid keys.
 */
export const rejectRequest = (request: FastifyRequest, reply: FastifyReply, error: ApiError): void => {
  if (startLingeringClose(request.raw)) reply.header('connection', 'close')
  void sendFailure(request, reply, error)
}

const sendError = (reply: FastifyReply, error: ApiError, defaults: Readonly<Record<string, string>>): FastifyReply => {
  forgetContentHeaders(reply, defaults)
  if (error.headers) reply.headers(error.headers)
  if (startLingeringClose(reply.request.raw)) reply.header('connection', 'close')
  return sendFailure(reply.request, reply, error)
}

const sendPage = (reply: FastifyReply, defaults: Readonly<Record<string, string>>): FastifyReply => {
  forgetContentHeaders(reply, defaults)
  const { language, page } = notFoundPage(reply.request)
  reply.headers({
    'content-security-policy': notFoundPolicy,
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    vary: 'accept-language',
  })
  return reply.code(404).send(page)
}

const malformedId = ({ what = 'Resource', malformedId }: FastifyContextConfig): ApiError =>
  malformedId === 'BAD_REQUEST' ? badRequest('The id in the path is not a UUID.') : notFound(what)

const rejectNul = (request: FastifyRequest): void => {
  if (request.raw.url?.includes('%00')) throw badRequest('The query contains NUL.')
}

/** A browser on a slow connection needs one or two seconds for its headers. */
const headersTimeoutMs = 15_000

const createServer = (options: HttpOptions, defaults: Readonly<Record<string, string>>): App =>
  fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: jsonBodyLimitBytes,
    // Only the last address of X-Forwarded-For is trusted: the nearest proxy added it, and the client can forge the others.
    trustProxy: options.trustProxy && ((_address, index) => index === 0),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // One hour for an upload of 100 MB on a slow connection. Other bodies have shorter deadlines (body-intake.ts).
    requestTimeout: 3_600_000,
    keepAliveTimeout: 72_000,
    // For a missing Host, Node.js responds with an empty 400; the first hook sends the error envelope instead.
    // Node.js checks deadlines at this interval. Its default is 30 s.
    http: {
      requireHostHeader: false,
      headersTimeout: options.headersTimeoutMs ?? headersTimeoutMs,
      connectionsCheckingInterval: Math.min(2_000, options.headersTimeoutMs ?? headersTimeoutMs),
    },
    // The maximum length of a URL, so that ids of any length match their route.
    routerOptions: { maxParamLength: 16_384 },
    rewriteUrl: (request) => decodable(request.url ?? '/'),
    frameworkErrors: (_error, request, reply) => {
      reply.header('x-request-id', request.id)
      void sendError(reply, notFound('Resource'), defaults)
    },
    clientErrorHandler: (error, socket) => {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ECONNRESET') return
      if (code === 'HPE_HEADER_OVERFLOW')
        sendRawError(socket, '431 Request Header Fields Too Large', 'The headers are too large.')
      else if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
        sendRawError(socket, '408 Request Timeout', 'The request took too long to arrive.')
      else sendRawError(socket, '400 Bad Request', 'The request is not valid HTTP.')
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

/** RFC 9112, 3.2. Node.js uses the first of several Host headers, and a proxy may use another one. */
const hostFault = ({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): ApiError | undefined => {
  if (headers.host === undefined) return httpVersionMinor > 0 ? badRequest('The Host header is missing.') : undefined
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 ? badRequest('The Host header occurs more than once.') : undefined
}

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? ''

/** Creates an HTTP server with error envelopes, validation and request ids, and without routes. */
export const createHttp = (options: HttpOptions): App => {
  const defaults = defaultHeaders(options.baseUrl?.startsWith('https:') === true)
  // Without a base URL, only the proxy knows whether the client uses https.
  const asksProxy = options.trustProxy && options.baseUrl === undefined
  const app = createServer(options, defaults)
  // Ignores expectations other than 100-continue, as RFC 9110, 10.1.1 allows. Node.js would respond with an empty 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  announceStop(app)
  app.decorate('connections', limitConnections(app.server, options.connectionLimits ?? { max: 0, maxPerAddress: 0 }))
  limitOutstanding(app.server)
  registerChunkPace(app.server)
  registerBodyIntake(app, options.bodyLimits)
  const methodsOf = collectRoutes(app)
  registerJsonBody(app)
  registerValidation(app)
  registerDeprecation(app)
  registerErrorFormats(app)
  const sendRouteNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsOf(pathOf(request))
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    return isNavigation(request) ? sendPage(reply, defaults) : sendError(reply, notFound('Route'), defaults)
  }
  app.addHook('onRequest', (request, reply, done) => {
    trackResponse(request.raw.socket, reply.raw)
    reply.header('x-request-id', request.id)
    reply.headers(defaults)
    if (asksProxy && request.protocol === 'https') reply.header('strict-transport-security', httpsOnly)
    done(hostFault(request.raw))
  })
  app.addHook('preValidation', (request, _reply, done) => {
    rejectNul(request)
    if (request.routeOptions.config.optionalBody === true && (request.rawBody?.length ?? 0) === 0) request.body = {}
    done()
  })
  app.decorate('sendRouteNotFound', sendRouteNotFound)
  app.decorateRequest('countAsRead', undefined)
  const fail = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // For an unknown route, NOT_FOUND takes precedence over errors of the body.
    if (request.is404) return sendRouteNotFound(request, reply)
    const allowed = error.validationContext === 'params' ? methodsOfStatic(app, pathOf(request)) : []
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '))
      return sendError(reply, notFound('Route'), defaults)
    }
    const known = toApiError(error, request, options)
    logFailure(options.log, request, known)
    return sendError(reply, known, defaults)
  }
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const counted = request.countAsRead?.()
    if (counted === undefined) return fail(error, request, reply)
    return counted.then(
      () => fail(error, request, reply),
      (limited: FastifyError) => fail(limited, request, reply),
    )
  })
  app.setNotFoundHandler(sendRouteNotFound)
  return app
}

/** Sends NOT_FOUND for requests without a route before their body is read. Register it after the metrics hook. */
export const rejectUnknownEarly = (app: App): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) app.sendRouteNotFound(request, reply)
    else done()
  })
}

const hostName = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/** The origin of URLs in a response: the configured base URL, else the origin of the request. */
export const originOf = (request: FastifyRequest, baseUrl: string | undefined): string => {
  if (baseUrl !== undefined) return baseUrl
  const { host } = request
  if (!hostName.test(host)) throw badRequest('The Host header is not a host name.')
  // A proxy can send any protocol name; only http and https are valid in URLs.
  return `${request.protocol === 'https' ? 'https' : 'http'}://${host}`
}
