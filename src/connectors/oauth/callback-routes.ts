import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isSecure } from '../../identity/authentication.ts'
import { rawCookie, sessionCookie } from '../../identity/sign-in/session-cookie.ts'
import { ApiError, badRequest, notFound } from '../../platform/http/errors.ts'
import { originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { preferredLanguage } from '../../platform/text/languages.ts'
import type { Language } from '../../platform/text/languages.ts'
import { catalog } from '../catalog/catalog.ts'
import type { ConnectorRouteDeps } from '../deps.ts'
import {
  clientDocument,
  clientDocumentPath,
  clientDocumentsPath,
  clientPlaceWith,
  discoveredCallbackPath,
} from '../mcp/oauth/registration.ts'
import { OAuthCallbackQuery, OAuthCompletion } from '../schemas.ts'
import { callbackPath, completeOAuth, denyOAuth, getFlow, invalidState } from './oauth.ts'
import { confirmationPage, donePage, failurePage, pagePolicy } from './pages.ts'

const tags = ['Connections']

const Page = {
  description: 'An HTML page.',
  content: { 'text/html': { schema: Type.String({ examples: ['<!doctype html><title>Connected</title>'] }) } },
}

const clientDocumentSchema = {
  hide: true,
  tags,
  summary: 'Client metadata of this server',
  response: { 200: Type.Unknown({ description: 'A client ID metadata document.' }) },
}

const sendPage = (reply: FastifyReply, html: string, status = 200): string => {
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy)
    .header('vary', 'accept-language')
    .serializer((text: string) => text)
  return html
}

const languageOf = ({ headers }: FastifyRequest): Language => preferredLanguage(headers['accept-language'])

const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true

/** Responds to API errors with a page when the client accepts HTML, otherwise with the error envelope. */
const orFailurePage = async (
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<string>,
): Promise<string> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || !wantsPage(request)) throw error
    return sendPage(reply, failurePage(languageOf(request), error), error.status)
  }
}

/** Limits requests by address, because each one queries the database and needs no authentication. */
const limitRate = (request: FastifyRequest): Promise<void> =>
  request.takeRateLimit('receive', `oauth ${addressGroup(request.ip)}`)

const publicConfig: FastifyContextConfig = {
  access: 'public',
  rateLimit: 'none',
  errors: ['CONFLICT', 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE'],
  events: ['connection.connected'],
}

const Discovered = Type.Object({ server: Type.String({ minLength: 1, maxLength: 64 }) })
const discoveredRoute = `${discoveredCallbackPath}/:server`

/** The documents that describe this server as a client. Authorization servers fetch them, and they change rarely. */
const registerClientDocuments = (app: App, { config }: Pick<ConnectorRouteDeps, 'config'>): void => {
  const cached = (reply: FastifyReply): FastifyReply => reply.header('cache-control', 'public, max-age=3600')

  app.get(clientDocumentPath, { config: { access: 'public' }, schema: clientDocumentSchema }, (request, reply) => {
    const origin = originOf(request, config.baseUrl)
    const place = { documentUrl: origin + clientDocumentPath, redirectUri: origin + callbackPath }
    return cached(reply).send(clientDocument(origin, place))
  })
  app.get(
    `${clientDocumentsPath}/:server`,
    { config: { access: 'public', what: 'Client' }, schema: { ...clientDocumentSchema, params: Discovered } },
    (request, reply) => {
      const origin = originOf(request, config.baseUrl)
      const place = clientPlaceWith(origin, request.params.server)
      if (!place) throw notFound('Client')
      return cached(reply).send(clientDocument(origin, place))
    },
  )
}

/** The redirect URIs. The state identifies the flow, and only the session of its owner completes it without a question. */
export const registerCallbackRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  const isOwnersBrowser = async (request: FastifyRequest, orgId: string, userId: string): Promise<boolean> => {
    const cookie = rawCookie(request.headers.cookie, sessionCookie, isSecure(request, deps.config.baseUrl))
    if (cookie === undefined) return false
    const actor = await deps.sessions.actorOf(cookie, orgId, undefined).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return undefined
      throw error
    })
    return actor?.userId === userId && actor.permissions.has('connections:write')
  }
  const complete = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { path, ...flow }: OAuthCompletion & { path: string },
  ): Promise<string> => {
    const origin = { ip: request.ip, requestId: request.id }
    const { id, connectorSlug } = await completeOAuth(deps, flow, { path, origin })
    return sendPage(reply, donePage(languageOf(request), catalog.get(connectorSlug)?.name ?? connectorSlug, id))
  }
  const receive = (
    request: FastifyRequest,
    reply: FastifyReply,
    { path, code, state, iss, error }: OAuthCallbackQuery & { path: string },
  ): Promise<string> =>
    orFailurePage(request, reply, async () => {
      await limitRate(request)
      if (!state) throw invalidState()
      const flow = await getFlow(deps, state, path)
      if (error !== undefined || !code) {
        const { name } = await denyOAuth(deps, state)
        throw badRequest(`Access to ${name} was denied.`)
      }
      if (await isOwnersBrowser(request, flow.orgId, flow.userId)) {
        return complete(request, reply, { path, code, state, ...(iss === undefined ? {} : { iss }) })
      }
      // The base URL can contain a path.
      const action = new URL(originOf(request, deps.config.baseUrl) + path).pathname
      return sendPage(reply, confirmationPage(languageOf(request), flow.provider, flow, { code, state, iss, action }))
    })
  const confirm = (request: FastifyRequest, reply: FastifyReply, flow: OAuthCompletion & { path: string }) =>
    orFailurePage(request, reply, async () => {
      await limitRate(request)
      return complete(request, reply, flow)
    })
  const receiveSchema = {
    tags,
    summary: 'Receive the OAuth redirect',
    description:
      'Completes a connection after the provider redirects the browser. In a browser that is signed in as the owner of the connection, this happens at once. Any other browser gets a page that names the owner and the org, and asks for confirmation. Returns an HTML page in every case. The state is valid once, for 10 minutes.',
    querystring: OAuthCallbackQuery,
    response: { 200: Page },
  }
  const confirmSchema = {
    tags,
    summary: 'Confirm an OAuth connection',
    description:
      'Completes a connection from the confirmation page of the OAuth redirect. Returns an HTML page. BAD_REQUEST when the state was used before or is older than 10 minutes, CONFLICT when the connection was deleted or expired in the meantime.',
    body: OAuthCompletion,
    response: { 200: Page },
  }
  // A HEAD request would complete the flow, too.
  const exposeHeadRoute = false

  registerClientDocuments(app, deps)
  app.get(callbackPath, { exposeHeadRoute, config: publicConfig, schema: receiveSchema }, (request, reply) =>
    receive(request, reply, { ...request.query, path: callbackPath }),
  )
  app.get(
    discoveredRoute,
    {
      exposeHeadRoute,
      config: { ...publicConfig, what: 'Connection' },
      schema: { ...receiveSchema, hide: true, params: Discovered },
    },
    (request, reply) =>
      receive(request, reply, { ...request.query, path: `${discoveredCallbackPath}/${request.params.server}` }),
  )

  app.register(async (scope: App) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 16_384 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    )
    scope.post(callbackPath, { config: publicConfig, schema: confirmSchema }, (request, reply) =>
      confirm(request, reply, { ...request.body, path: callbackPath }),
    )
    scope.post(
      discoveredRoute,
      {
        config: { ...publicConfig, what: 'Connection' },
        schema: { ...confirmSchema, hide: true, params: Discovered },
      },
      (request, reply) =>
        confirm(request, reply, { ...request.body, path: `${discoveredCallbackPath}/${request.params.server}` }),
    )
  })
}
