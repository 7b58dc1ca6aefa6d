import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Actor } from '../../identity/actor.ts'
import { withOrigin } from '../../identity/authentication.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { getUsableConnector } from '../catalog/availability.ts'
import { getConnection, restartOAuth, startConnection } from '../connections/connections.ts'
import type { ConnectorRouteDeps } from '../deps.ts'
import { Connection, OAuthCompletion, OAuthStartQuery, OAuthUrl } from '../schemas.ts'
import { completeOAuth } from './oauth.ts'

/** Browsers say so. Such a page could otherwise connect an account of a person who has clicked nothing. */
const isFromAnotherSite = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site'

const tags = ['Connections']
const what = 'Connection'

export const registerOAuthRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  const { config, db } = deps
  const origin = (request: FastifyRequest): string => originOf(request, config.baseUrl)

  app.get(
    `${apiPrefix}/connections/oauth/start`,
    {
      exposeHeadRoute: false,
      config: {
        access: 'connections:write',
        rateLimit: 'writes',
        errors: ['PAYMENT_REQUIRED'],
        events: ['connection.created'],
      },
      schema: {
        tags,
        summary: 'Start an OAuth connection in a browser',
        description:
          'Creates or repairs a connection and redirects the browser to the consent page of the provider. A browser that another site sent is redirected to the console instead, where the person starts the connection. BAD_REQUEST for a connector without OAuth. PAYMENT_REQUIRED or FORBIDDEN when the quota `connections` of the org is used up.',
        querystring: OAuthStartQuery,
        response: {
          302: Type.Null({ description: 'Redirect to the consent page of the provider, or to the console.' }),
        },
      },
    },
    async (request, reply) => {
      const actor: Actor = withOrigin(request.actor, request)
      const connector = getUsableConnector(deps, request.query.connector)
      if (connector.auth.type !== 'oauth') throw badRequest(`${connector.name} does not support OAuth.`)
      if (isFromAnotherSite(request))
        return reply.redirect(`${origin(request)}/connections?connect=${connector.slug}`, 302)
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
        events: ['connection.connected'],
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
