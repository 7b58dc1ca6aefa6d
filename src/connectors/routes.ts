import type { SessionAuthority } from '../identity/sign-in/session-authority.ts'
import { sendResource } from '../platform/http/etag.ts'
import { apiPrefix, originOf } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { CursorList, IdParams, ok, Success } from '../platform/http/schemas.ts'
import type { Quotas } from '../quotas/quotas.ts'
import { getUsableConnector, listConnectors } from './connectors.ts'
import * as connections from './connections/connections.ts'
import { submitCredentials } from './connections/credentials.ts'
import { registerLinearBindingRoutes } from './endpoints/linear-binding-routes.ts'
import { registerOAuthRoutes } from './oauth/routes.ts'
import type { AccessDeps } from './oauth/refresh.ts'
import { tryToGiveBack } from './oauth/revocation.ts'
import {
  Connection,
  ConnectionCreate,
  ConnectionListQuery,
  ConnectionTools,
  ConnectorEntry,
  Credentials,
  ExistingConnection,
  RevokedConnection,
  StartedConnection,
  ToolAgreement,
} from './schemas.ts'
import { agreeToTools, toolsOfConnection } from './tools.ts'

export interface ConnectorRouteDeps extends Omit<AccessDeps, 'config'> {
  config: AccessDeps['config'] & { baseUrl: string | undefined }
  jobs: Jobs
  quotas: Quotas
  sessions: SessionAuthority
}

const tags = ['Connections']
const what = 'Connection'
const onOne = { what, malformedId: 'BAD_REQUEST' } as const

export const registerConnectorRoutes = (app: App, deps: ConnectorRouteDeps): void => {
  const { config, db, jobs } = deps
  const entries = listConnectors(deps)

  app.get(
    `${apiPrefix}/connectors`,
    {
      config: { access: 'connections:read' },
      schema: {
        tags: ['Connectors'],
        summary: 'What can be connected on this server',
        response: { 200: Success(CursorList(ConnectorEntry)) },
      },
    },
    () => ok({ items: entries, nextCursor: null }),
  )

  app.get(
    `${apiPrefix}/connections`,
    {
      config: { access: 'connections:read' },
      schema: {
        tags,
        summary: 'Your connections, newest first',
        querystring: ConnectionListQuery,
        response: { 200: Success(CursorList(Connection)) },
      },
    },
    async ({ actor, query }) => ok(await connections.listConnections(db, actor, query)),
  )

  app.post(
    `${apiPrefix}/connections`,
    {
      config: { access: 'connections:write', errors: ['PAYMENT_REQUIRED'] },
      schema: {
        tags,
        summary: 'Start a connection',
        description: 'Answers 200 when it is connected already, or broken and waiting to be repaired.',
        body: ConnectionCreate,
        response: { 200: Success(ExistingConnection), 201: Success(StartedConnection) },
      },
    },
    async (request, reply) => {
      const { connectorSlug, label } = request.body
      const connector = getUsableConnector(deps, connectorSlug)
      const options = { label, origin: originOf(request, config.baseUrl) }
      const started = await connections.startConnection(request.db, deps, request.actor, connector, options)
      const { isExisting, ...answer } = started
      if (isExisting) return reply.code(200).send(ok({ ...answer.connection, ...answer }))
      return reply.code(201).send(ok(answer))
    },
  )

  app.get(
    `${apiPrefix}/connections/:id`,
    {
      config: { access: 'connections:read', ...onOne },
      schema: { tags, summary: 'One of your connections', params: IdParams, response: { 200: Success(Connection) } },
    },
    async (request, reply) => {
      const connection = await connections.getConnection(db, request.actor, request.params.id)
      return sendResource(request, reply, connection, [connection.lastUsedAt])
    },
  )

  app.delete(
    `${apiPrefix}/connections/:id`,
    {
      config: { access: 'connections:write', ...onOne },
      schema: {
        tags,
        summary: 'Revoke a connection, here and at the provider',
        params: IdParams,
        response: { 200: Success(RevokedConnection) },
      },
    },
    async ({ actor, params: { id }, headers }) => {
      const begun = await connections.revokeConnection(db, jobs, actor, id, headers['if-match'])
      const providerRevocation = begun === 'pending' ? await tryToGiveBack(deps, { orgId: actor.orgId, id }) : begun
      return ok({ deleted: true as const, providerRevocation })
    },
  )

  app.post(
    `${apiPrefix}/connections/:id/credentials`,
    {
      config: { access: 'connections:write', ...onOne, errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'] },
      schema: {
        tags,
        summary: 'Complete or repair a connection with credentials',
        description: 'They are tried at the provider first; what it does not accept is not stored.',
        params: IdParams,
        body: Credentials,
        response: { 200: Success(Connection) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      const connection = await submitCredentials(request.db, deps, actor, params.id, body.credentials)
      return sendResource(request, reply, connection, [connection.lastUsedAt])
    },
  )

  app.get(
    `${apiPrefix}/connections/:id/tools`,
    {
      config: { access: 'connections:read', ...onOne },
      schema: {
        tags,
        summary: 'What agents can do with a connection',
        description: '`offered` is there when an MCP server has other tools than those that were agreed to.',
        params: IdParams,
        response: { 200: Success(ConnectionTools) },
      },
    },
    async ({ actor, params }) => ok(await toolsOfConnection(db, actor, params.id)),
  )

  app.post(
    `${apiPrefix}/connections/:id/tools`,
    {
      config: { access: 'connections:write', ...onOne, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Agree to the tools that an MCP server has now',
        params: IdParams,
        body: ToolAgreement,
        response: { 200: Success(ConnectionTools) },
      },
    },
    async (request) => ok(await agreeToTools(request.db, request.actor, request.params.id, request.body.hash)),
  )

  registerOAuthRoutes(app, deps)
  registerLinearBindingRoutes(app, deps)
}
