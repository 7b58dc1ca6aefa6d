import { sendResource } from '../../platform/http/etag.ts'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Actor } from '../../identity/actor.ts'
import { isSecure, withOrigin } from '../../identity/authentication.ts'
import { rawCookie, sessionCookie } from '../../identity/sign-in/session-cookie.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { getUsableConnector } from '../catalog/availability.ts'
import { catalog } from '../catalog/catalog.ts'
import { getConnection, restartOAuth, startConnection } from '../connections/connections.ts'
import type { ConnectorRouteDeps } from '../deps.ts'
import { Connection, OAuthCallbackQuery, OAuthCompletion, OAuthStartQuery, OAuthUrl } from '../schemas.ts'
import { callbackPath, completeOAuth, denyOAuth, getFlow, invalidState } from './oauth.ts'
import { confirmationPage, donePage, failurePage, pagePolicy } from './pages.ts'

const tags = ['Connections']
const what = 'Connection'

const Page = {
  description: 'An HTML page.',
  content: { 'text/html': { schema: Type.String({ examples: ['<!doctype html><title>Connected</title>'] }) } },
}

const sendPage = (reply: FastifyReply, html: string, status = 200): string => {
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy)
    .serializer((text: string) => text)
  return html
}

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
    return sendPage(reply, failurePage(error.message), error.status)
  }
}

/** Limits requests by address, because each one queries the database and needs no authentication. */
const limitRate = (request: FastifyRequest): Promise<void> =>
  request.takeRateLimit('receive', `oauth ${addressGroup(request.ip)}`)

const publicConfig: FastifyContextConfig = {
  access: 'public',
  rateLimit: 'none',
  errors: ['CONFLICT', 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE'],
}

/** The redirect URI. The state identifies the flow, and only the session of its owner completes it without a question. */
const registerCallback = (app: App, deps: ConnectorRouteDeps): void => {
  const isOwnersBrowser = async (request: FastifyRequest, orgId: string, userId: string): Promise<boolean> => {
    const cookie = rawCookie(request.headers.cookie, sessionCookie, isSecure(request, deps.config.baseUrl))
    if (cookie === undefined) return false
    const actor = await deps.sessions.actorOf(cookie, orgId, undefined).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return undefined
      throw error
    })
    return actor?.userId === userId && actor.permissions.has('connections:write')
  }
  const complete = async (request: FastifyRequest, reply: FastifyReply, flow: OAuthCompletion): Promise<string> => {
    const origin = { ip: request.ip, requestId: request.id }
    const { id, connectorSlug } = await completeOAuth(deps, flow, { origin })
    return sendPage(reply, donePage(catalog.get(connectorSlug)?.name ?? connectorSlug, id))
  }

  app.get(
    callbackPath,
    {
      // A HEAD request would complete the flow, too.
      exposeHeadRoute: false,
      config: publicConfig,
      schema: {
        tags,
        summary: 'Receive the OAuth redirect',
        description:
          'Completes a connection after the provider redirects the browser. In a browser that is signed in as the owner of the connection, this happens at once. Any other browser gets a page that names the owner and the org, and asks for confirmation. Returns an HTML page in every case. The state is valid once, for 10 minutes.',
        querystring: OAuthCallbackQuery,
        response: { 200: Page },
      },
    },
    (request, reply) =>
      orFailurePage(request, reply, async () => {
        await limitRate(request)
        const { code, state, error } = request.query
        if (!state) throw invalidState()
        const flow = await getFlow(deps, state)
        if (error !== undefined || !code) {
          const { name } = await denyOAuth(deps, state)
          throw badRequest(`Access to ${name} was denied.`)
        }
        if (await isOwnersBrowser(request, flow.orgId, flow.userId)) return complete(request, reply, { code, state })
        // The base URL can contain a path.
        const action = new URL(originOf(request, deps.config.baseUrl) + callbackPath).pathname
        return sendPage(reply, confirmationPage(flow.connector.name, flow, { code, state, action }))
      }),
  )

  app.register(async (scope: App) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 16_384 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    )
    scope.post(
      callbackPath,
      {
        config: publicConfig,
        schema: {
          tags,
          summary: 'Confirm an OAuth connection',
          description:
            'Completes a connection from the confirmation page of the OAuth redirect. Returns an HTML page. BAD_REQUEST when the state was used before or is older than 10 minutes, CONFLICT when the connection was deleted or expired in the meantime.',
          body: OAuthCompletion,
          response: { 200: Page },
        },
      },
      (request, reply) =>
        orFailurePage(request, reply, async () => {
          await limitRate(request)
          return complete(request, reply, request.body)
        }),
    )
  })
}

export const registerOAuthRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  const { config, db } = deps
  const origin = (request: FastifyRequest): string => originOf(request, config.baseUrl)
  registerCallback(app, deps)

  app.get(
    `${apiPrefix}/connections/oauth/start`,
    {
      exposeHeadRoute: false,
      config: { access: 'connections:write', rateLimit: 'writes', errors: ['PAYMENT_REQUIRED'] },
      schema: {
        tags,
        summary: 'Start an OAuth connection in a browser',
        description:
          'Creates or repairs a connection and redirects the browser to the consent page of the provider. BAD_REQUEST for a connector without OAuth. PAYMENT_REQUIRED or FORBIDDEN when the quota `connections` of the org is used up.',
        querystring: OAuthStartQuery,
        response: { 302: Type.Null({ description: 'Redirect to the consent page of the provider.' }) },
      },
    },
    async (request, reply) => {
      const actor: Actor = withOrigin(request.actor, request)
      const connector = getUsableConnector(deps, request.query.connector)
      if (connector.auth.type !== 'oauth') throw badRequest(`${connector.name} does not support OAuth.`)
      const options = { connector, label: request.query.label, origin: origin(request), isRestart: true }
      const { oauthUrl } = await startConnection(db, deps, actor, options)
      return reply.redirect(oauthUrl ?? '', 302)
    },
  )

  app.get(
    `${apiPrefix}/connections/:id/oauth`,
    {
      exposeHeadRoute: false,
      config: {
        access: 'connections:write',
        rateLimit: 'writes',
        what,
        malformedId: 'BAD_REQUEST',
        errors: ['CONFLICT'],
      },
      schema: {
        tags,
        summary: 'Retrieve the OAuth URL of a connection',
        description:
          "Returns a new URL of the provider's consent page, to complete or repair a connection. It is valid once, for 10 minutes. BAD_REQUEST for a connector without OAuth. CONFLICT when the connection has expired: start a new one.",
        params: IdParams,
        response: { 200: Success(OAuthUrl) },
      },
    },
    async (request) => {
      const actor = withOrigin(request.actor, request)
      return ok({ oauthUrl: await restartOAuth(db, deps, actor, { id: request.params.id, origin: origin(request) }) })
    },
  )

  app.post(
    `${apiPrefix}/connections/:id/oauth`,
    {
      config: {
        access: 'connections:write',
        what,
        malformedId: 'BAD_REQUEST',
        errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags,
        summary: 'Complete an OAuth connection',
        description:
          'Completes a connection with the code and state that the provider sent to a redirect that your program caught. BAD_REQUEST when the state was used before or is older than 10 minutes, CONFLICT when the connection was deleted or expired in the meantime, SERVICE_UNAVAILABLE when the provider does not respond.',
        params: IdParams,
        body: OAuthCompletion,
        response: { 200: Success(Connection) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const { id: connectionId } = await getConnection(db, actor, params.id)
      const { orgId, userId } = actor
      const owner = { orgId, connectionId, userId }
      const origin = { ip: request.ip, requestId: request.id }
      const connection = await completeOAuth({ ...deps, db: request.db }, body, { owner, origin })
      return sendResource(request, reply, connection, [connection.lastUsedAt])
    },
  )
}
