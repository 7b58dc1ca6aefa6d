import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
import type { BodyLimits } from './limits/body-intake.ts'
import { limitConnections } from './limits/connection-limits.ts'
import type { Connections, ConnectionLimits } from './limits/connection-limits.ts'
import { diskFull } from '../process/disk-space.ts'
import { databaseUnavailable, isDatabaseUnavailable, sqlState } from '../database/errors.ts'
import { ApiError, badRequest, conflict, failureBody, notFound } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { registerDeprecation } from './deprecation.ts'
import { errorFormatOf, registerErrorFormats } from './error-formats.ts'
import { startLingeringClose } from './server/linger.ts'
import { registerJsonBody } from './json-body.ts'
import type { Log } from '../process/log.ts'
import { defaultHeaders, forgetContentHeaders, httpsOnly } from './response-headers.ts'
import { registerValidation, validationFailure } from './validation.ts'

/** The application as every area's routes see it. */
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
    /** What a malformed or missing id in the path is called: `Agent` gives "Agent not found". */
    what?: string
    /** For routes where a malformed id is a mistake in the request, not a thing that does not exist. */
    malformedId?: 'BAD_REQUEST'
    /** A request without a body counts as one with an empty object. */
    optionalBody?: true
    /** Refusals beyond those that every route of its shape has; for the reference (`PAYMENT_REQUIRED`). */
    errors?: ErrorCode[]
  }
  interface FastifyInstance {
    /** Every registered route, for the sweeps over all of them and for `Allow`. */
    routeTable: RouteOptions[]
    /** Aborted when the server begins to stop: what streams or waits for long ends its answer then. */
    stopping: AbortSignal
    /** The answer to a request that no route is for. */
    answerUnknown: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
    connections: Connections
  }
}

export interface HttpOptions {
  log: Log
  /** Outside production a failure says what really happened. */
  production: boolean
  trustProxy: boolean
  /** What URLs that the API hands out start with, when it is not the origin of the request. */
  baseUrl?: string | undefined
  connectionLimits?: ConnectionLimits
  bodyLimits?: Partial<BodyLimits>
  /** How long the headers of a request may take, from its first byte or the begin of its connection. */
  headersTimeoutMs?: number
  /** Whether the database may be away because its disk is full: it restarts when it cannot write its log. */
  isDiskFull?: (() => boolean) | undefined
}

/** The unfinished responses of a connection: several when requests are pipelined. */
const responses = new WeakMap<Socket, ServerResponse[]>()

const unfinishedOn = (socket: Socket): ServerResponse[] =>
  (responses.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished)

// Clients that send something other than HTTP get the envelope as well. When a response is being sent on the connection,
// it is closed without one, because the envelope would end up inside that response.
const answerRaw = (socket: Socket, status: string, message: string): void => {
  if (!socket.writable || unfinishedOn(socket).some(({ headersSent }) => headersSent)) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(failureBody('BAD_REQUEST', message))
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/:[A-Za-z]+/g, '[^/]+')
      .replaceAll('*', '.*')}$`,
  )

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
 * The methods of a route whose path is this one to the letter. `PATCH /things/search` meets the route of `/things/:id`
 * when `/things/search` only takes GET, and it is no id that is missing there.
 */
const methodsOfStatic = ({ routeTable }: FastifyInstance, path: string): string[] =>
  [...new Set(routeTable.filter(({ url }) => url === path).flatMap(({ method }) => method))].toSorted()

const announceStop = (app: FastifyInstance): void => {
  const stop = new AbortController()
  // Every stream that is open listens.
  setMaxListeners(0, stop.signal)
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.decorate('stopping', stop.signal)
  app.addHook('preClose', (done) => {
    // Fastify adds `Connection: close` to the responses of later requests only.
    for (const response of [...sockets].flatMap(unfinishedOn)) {
      if (!response.headersSent) response.setHeader('connection', 'close')
    }
    stop.abort()
    done()
  })
}

const fastifyMessages: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The Content-Type is not one that this route takes.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than this route takes.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length said.',
  FST_ERR_CTP_EMPTY_TYPE: 'The Content-Type is missing.',
}

// The client hung up inside its body. Whatever that broke further in is no failure of ours.
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
    return badRequest('The request was cut off before its end.', { cause: error })
  }
  const state = sqlState(error)
  if (state === '22021' || state === '22P05')
    return badRequest('The request contains text that cannot be stored.', { cause: error })
  if (state === '23505') return conflict('It collides with something that exists already.', { cause: error })
  if (state === '40001' || state === '40P01' || state === '55P03') {
    return conflict('Another change to the same thing got in between. Try again.', { cause: error })
  }
  if (isDatabaseUnavailable(error)) {
    return (isDiskFull?.() === true ? diskFull(error) : databaseUnavailable(error)) as ApiError
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

// Errors that are thrown again and again (a wrong key) are made once, and so are their bodies.
const failureTexts = new WeakMap<ApiError, string>()
const failureText = (error: ApiError): string => {
  let text = failureTexts.get(error)
  if (text === undefined) {
    text = JSON.stringify(failureBody(error.code, error.message))
    failureTexts.set(error, text)
  }
  return text
}

const answerFailure = (request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply => {
  reply.header('content-type', 'application/json; charset=utf-8')
  const format = errorFormatOf(request)
  if (!format) return reply.code(error.status).send(failureText(error))
  const { body, status = error.status, headers = {} } = format.failure(error, request)
  return reply.code(status).headers(headers).send(JSON.stringify(body))
}

/**
 * Answers a refusal from within an `onRequest` hook, before anything was said about a body. A flood of wrong keys is
 * answered here, so past the error handler, which costs three times as much.
 */
export const rejectRequest = (request: FastifyRequest, reply: FastifyReply, error: ApiError): void => {
  if (startLingeringClose(request.raw)) reply.header('connection', 'close')
  void answerFailure(request, reply, error)
}

const sendError = (reply: FastifyReply, error: ApiError, defaults: Readonly<Record<string, string>>): FastifyReply => {
  forgetContentHeaders(reply, defaults)
  if (error.headers) reply.headers(error.headers)
  if (startLingeringClose(reply.request.raw)) reply.header('connection', 'close')
  return answerFailure(reply.request, reply, error)
}

const malformedId = ({ what = 'Resource', malformedId }: FastifyContextConfig): ApiError =>
  malformedId === 'BAD_REQUEST' ? badRequest('The id in the path is not a UUID.') : notFound(what)

const rejectNul = (request: FastifyRequest): void => {
  if (request.raw.url?.includes('%00')) throw badRequest('The query contains NUL.')
}

const isDecodable = (path: string): boolean => {
  if (path.includes('%00')) return false
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * A path that cannot be decoded (`%`, `%zz`, `%ff`) or has NUL in it names nothing, but the route that it looks like
 * has to say so, in its own words and after asking for a key. So its percent signs are taken literally.
 */
const decodable = (url: string): string => {
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return isDecodable(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length)
}

/** A browser on a bad line needs a second or two for its headers. */
const headersTimeoutMs = 15_000

const createServer = (options: HttpOptions, defaults: Readonly<Record<string, string>>): App =>
  fastify({
    logger: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: jsonBodyLimitBytes,
    // One hop: the address is what the nearest proxy saw. Of a longer list the caller may have written the rest.
    trustProxy: options.trustProxy && ((_address, hop) => hop === 0),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A client may take its time with 100 MB, but not for ever. Bodies of other requests have a deadline of their own.
    requestTimeout: 3_600_000,
    keepAliveTimeout: 72_000,
    // Node answers a missing Host with an empty 400; the first hook answers it with the envelope.
    // Deadlines are looked at in this interval; by default only every 30 s.
    http: {
      requireHostHeader: false,
      headersTimeout: options.headersTimeoutMs ?? headersTimeoutMs,
      connectionsCheckingInterval: Math.min(2_000, options.headersTimeoutMs ?? headersTimeoutMs),
    },
    // As long as a URL can be: an id of any length is answered by its route.
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
        answerRaw(socket, '431 Request Header Fields Too Large', 'The headers are too large.')
      else if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
        answerRaw(socket, '408 Request Timeout', 'The request took too long to arrive.')
      else answerRaw(socket, '400 Bad Request', 'This is not an HTTP request that can be understood.')
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? ''

/** An HTTP server that knows envelopes, validation and ids, and no route. */
export const createHttp = (options: HttpOptions): App => {
  const defaults = defaultHeaders(options.baseUrl?.startsWith('https:') === true)
  // Without a base URL only a proxy can tell whether the client came by https.
  const asksProxy = options.trustProxy && options.baseUrl === undefined
  const app = createServer(options, defaults)
  // An expectation other than 100-continue: Node would answer an empty 417; it may be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  announceStop(app)
  app.decorate('connections', limitConnections(app.server, options.connectionLimits ?? { max: 0, maxPerAddress: 0 }))
  registerBodyIntake(app, options.bodyLimits)
  const methodsOf = collectRoutes(app)
  registerJsonBody(app)
  registerValidation(app)
  registerDeprecation(app)
  registerErrorFormats(app)
  const answerUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsOf(pathOf(request))
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    return sendError(reply, notFound('Route'), defaults)
  }
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    responses.set(socket, [...unfinishedOn(socket), reply.raw])
    reply.header('x-request-id', request.id)
    reply.headers(defaults)
    if (asksProxy && request.protocol === 'https') reply.header('strict-transport-security', httpsOnly)
    const { headers, httpVersionMinor } = request.raw
    done(headers.host === undefined && httpVersionMinor > 0 ? badRequest('The Host header is missing.') : undefined)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    rejectNul(request)
    if (request.routeOptions.config.optionalBody === true && (request.rawBody?.length ?? 0) === 0) request.body = {}
    done()
  })
  app.decorate('answerUnknown', answerUnknown)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // Whatever was wrong with the body of a request that leads nowhere.
    if (request.is404) return answerUnknown(request, reply)
    const allowed = error.validationContext === 'params' ? methodsOfStatic(app, pathOf(request)) : []
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '))
      return sendError(reply, notFound('Route'), defaults)
    }
    const known = toApiError(error, request, options)
    logFailure(options.log, request, known)
    return sendError(reply, known, defaults)
  })
  app.setNotFoundHandler(answerUnknown)
  return app
}

/** Answers requests without a route before their body is read. Register it after the hook that counts requests. */
export const rejectUnknownEarly = (app: App): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) app.answerUnknown(request, reply)
    else done()
  })
}

const hostName = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/** The origin that URLs in an answer start with: configured, or that of the request itself. */
export const originOf = (request: FastifyRequest, baseUrl: string | undefined): string => {
  if (baseUrl !== undefined) return baseUrl
  const { host } = request
  if (!hostName.test(host)) throw badRequest('The Host header is not a host name.')
  // Whatever else a proxy claims.
  return `${request.protocol === 'https' ? 'https' : 'http'}://${host}`
}
