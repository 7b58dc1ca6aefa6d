import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { getUsableConnector } from '../catalog/availability.ts'
import type { ConnectorRouteDeps } from '../deps.ts'
import { tryRevocation } from '../oauth/revocation.ts'
import {
  Connection,
  ConnectionCreate,
  ConnectionListQuery,
  Credentials,
  ExistingConnection,
  RevokedConnection,
  StartedConnection,
  SubmittedConnection,
} from '../schemas.ts'
import * as connections from './connections.ts'
import { submitCredentials } from './credentials.ts'

const tags = ['Connections']
const what = 'Connection'
const onOne = { what, malformedId: 'BAD_REQUEST' } as const

export const registerConnectionRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  const { config, db, jobs } = deps

  app.get(
    `${apiPrefix}/connections`,
    {
      config: { access: 'connections:read' },
      schema: {
        tags,
        summary: 'List connections',
        description:
          'Returns your connections, newest first. Without `limit`, returns all of them, up to 1,000. Credentials are never returned.',
        querystring: ConnectionListQuery,
        response: { 200: Success(CursorList(Connection)) },
      },
    },
    async ({ actor, query }) => ok(await connections.listConnections(db, actor, query)),
  )

  app.post(
    `${apiPrefix}/connections`,
    {
      config: {
        events: ['connection.created', 'connection.connected'],
        access: 'connections:write',
        errors: ['PAYMENT_REQUIRED'],
      },
      schema: {
        tags,
        summary: 'Start a connection',
        description:
          'Creates a pending connection and returns its next step: `oauthUrl` to open in a browser, or `credentialSubmitUrl` to send credentials to. Returns 200 with the existing connection when one with this label is active or broken. BAD_REQUEST for an unknown connector and for one that is not set up on this server. PAYMENT_REQUIRED or FORBIDDEN when the quota `connections` of the org is used up.',
        body: ConnectionCreate,
        response: { 200: Success(ExistingConnection), 201: Success(StartedConnection) },
      },
    },
    async (request, reply) => {
      const { connectorSlug, label } = request.body
      const connector = getUsableConnector(deps, connectorSlug)
      const options = { connector, label, origin: originOf(request, config.baseUrl) }
      const started = await connections.startConnection(request.db, deps, request.actor, options)
      const { isExisting, ...response } = started
      if (isExisting) return reply.code(200).send(ok({ ...response.connection, ...response }))
      return reply.code(201).send(ok(response))
    },
  )

  app.get(
    `${apiPrefix}/connections/:id`,
    {
      config: { access: 'connections:read', ...onOne },
      schema: {
        tags,
        summary: 'Retrieve a connection',
        description:
          'Returns one of your connections. NOT_FOUND for connections of other people, BAD_REQUEST for a malformed ID.',
        params: IdParams,
        response: { 200: Success(Connection) },
      },
    },
    async (request, reply) => {
      const connection = await connections.getConnection(db, request.actor, request.params.id)
      return sendResource(request, reply, connection, [connection.lastUsedAt])
    },
  )

  app.delete(
    `${apiPrefix}/connections/:id`,
    {
      config: { events: ['connection.revoked'], access: 'connections:write', ...onOne },
      schema: {
        tags,
        summary: 'Delete a connection',
        description:
          'Deletes a connection, so that no agent can use it from now on, and revokes access at the provider. `providerRevocation` reports the result. Its endpoints are closed.',
        params: IdParams,
        response: { 200: Success(RevokedConnection) },
      },
    },
    async ({ actor, params: { id }, headers }) => {
      const state = await connections.revokeConnection(db, jobs, actor, { id, ifMatch: headers['if-match'] })
      const providerRevocation = state === 'pending' ? await tryRevocation(deps, { orgId: actor.orgId, id }) : state
      return ok({ deleted: true as const, providerRevocation })
    },
  )

  app.post(
    `${apiPrefix}/connections/:id/credentials`,
    {
      config: {
        events: ['connection.connected'],
        access: 'connections:write',
        ...onOne,
        errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags,
        summary: 'Submit credentials',
        description:
          'Completes or repairs a connection with credentials. The server tests them at the provider first. For an MCP server that asks for sign-in, `oauthUrl` is the page that completes the connection. BAD_REQUEST when the provider rejects them, SERVICE_UNAVAILABLE when it does not respond; nothing is stored in both cases. CONFLICT when the connection has expired: start a new one.',
        params: IdParams,
        body: Credentials,
        response: { 200: Success(SubmittedConnection) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const context = { db: request.db, deps, actor, origin: originOf(request, config.baseUrl) }
      const submitted = { id: params.id, credentials: body.credentials }
      const { connection, oauthUrl } = await submitCredentials(context, submitted)
      const resource = oauthUrl === undefined ? connection : { ...connection, oauthUrl }
      return sendResource(request, reply, resource, [connection.lastUsedAt])
    },
  )
}
