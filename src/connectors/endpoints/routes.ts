import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { notFound } from '../../platform/http/errors.ts'
import { apiPrefix, jsonBodyLimitBytes } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { acceptBytes } from '../../platform/http/json-body.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { CursorList, CursorQuery, Nothing, ok, Success } from '../../platform/http/schemas.ts'
import * as endpointQueries from './queries.ts'
import type { EndpointRow } from './queries.ts'
import { ConnectionParams, Endpoint, EndpointParams, InboundEvent, ReceiveParams, Received } from './schemas.ts'
import { createEndpointReader, getEndpoint, receive } from './endpoints.ts'
import type { OpenEndpoint, ReceiveDeps, RetentionSettings } from './endpoints.ts'
import * as eventQueries from './event-queries.ts'
import * as queries from '../connections/queries.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The endpoint of a request to its public URL. Undefined when the body arrived after it had been read. */
    endpoint: OpenEndpoint | undefined
  }
}

const tags = ['Connections']

const toEndpoint = ({ settings, ...row }: EndpointRow) => ({ ...row, target: settings.target ?? null })

/** The public route that receives events. Each provider is verified by its own scheme. */
const registerReceiveRoute = (app: App, deps: ReceiveDeps): void => {
  app.register(async (scope: App) => {
    acceptBytes(scope)
    scope.decorateRequest('endpoint', undefined)
    scope.post(
      `${apiPrefix}/connectors/webhooks/:provider/:endpointId`,
      {
        bodyLimit: jsonBodyLimitBytes,
        // Before the body is read, so that nothing is buffered for an endpoint that does not exist.
        onRequest: async (request) => {
          const endpoint = await getEndpoint(deps, request.params)
          // A body can take minutes, in which the connection is revoked or the endpoint replaced.
          if (request.raw.complete) request.endpoint = endpoint
        },
        // The handler counts the request: unverified ones must not use up the provider's limit.
        config: {
          events: ['connector.event.received'],
          access: 'public',
          rateLimit: 'none',
          what: 'Endpoint',
          errors: ['BAD_REQUEST', 'UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE'],
        },
        schema: {
          tags,
          summary: 'Receive a provider event',
          description:
            'Receives an event from a provider. Requests are verified by the scheme of the provider: UNAUTHORIZED when the signature is wrong. Duplicates are acknowledged and ignored. The shape of the response depends on the provider: empty for a Slack command, TwiML for Twilio, an interaction for Discord. Verified requests count against the rate limit `receive`.',
          params: ReceiveParams,
          response: { 200: Received, 204: Nothing },
        },
      },
      async (request, reply) => {
        const { params, headers, body, url, ip } = request
        const id = `${params.provider}/${params.endpointId.toLowerCase()}`
        const queryAt = url.indexOf('?')
        const endpoint = request.endpoint ?? (await getEndpoint(deps, params))
        const limitKeys = {
          verified: id,
          // A limit of their own by endpoint and address.
          unverified: `unverified ${id} ${addressGroup(ip)}`,
          // With those of webhooks of the org.
          chained: `chained ${endpoint.row.orgId}`,
        }
        const response = await receive(deps, {
          endpoint,
          headers,
          body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
          query: queryAt === -1 ? '' : url.slice(queryAt),
          nowMs: Date.now(),
          count: (as) => request.takeRateLimit('receive', limitKeys[as]),
        })
        reply.code(response.status)
        if (response.contentType !== undefined) reply.header('content-type', response.contentType)
        // Serialized already; the response schema describes the responses to most providers.
        return reply.send((response.body ?? '') as never)
      },
    )
  })
}

/** NOT_FOUND unless the connection is the caller's own. */
const requireConnection = async (db: Db, actor: Actor, id: string): Promise<void> => {
  if (!(await queries.findConnection(db, actor, id))) throw notFound('Connection')
}

export const registerEndpointRoutes = (
  app: App,
  deps: Omit<ReceiveDeps, 'readEndpoint'> & { config: RetentionSettings },
): void => {
  const { config, db } = deps
  registerReceiveRoute(app, { ...deps, readEndpoint: createEndpointReader(deps) })

  app.get(
    `${apiPrefix}/connections/:id/endpoints`,
    {
      config: { access: 'connections:read', what: 'Connection', malformedId: 'BAD_REQUEST' },
      schema: {
        tags,
        summary: 'List endpoints of a connection',
        description:
          'Returns the URLs that the provider sends the events of this connection to. The list has one page.',
        params: ConnectionParams,
        response: { 200: Success(CursorList(Endpoint)) },
      },
    },
    async ({ actor, params }) => {
      await requireConnection(db.hot, actor, params.id)
      const rows = await endpointQueries.listEndpoints(db, actor.orgId, params.id)
      // One page, because a connection has few endpoints.
      return ok({ items: rows.map(toEndpoint), nextCursor: null })
    },
  )

  app.get(
    `${apiPrefix}/connections/:id/endpoints/:endpointId/events`,
    {
      config: { access: 'connections:read', what: 'Endpoint', malformedId: 'BAD_REQUEST' },
      schema: {
        tags,
        summary: 'List events of an endpoint',
        description:
          'Returns the events that an endpoint received within the retention of the server (8 days by default), newest first, and how they were handled.',
        params: EndpointParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(InboundEvent)) },
      },
    },
    async ({ actor, params, query }) => {
      await requireConnection(db.hot, actor, params.id)
      const endpoints = await endpointQueries.listEndpoints(db, actor.orgId, params.id)
      if (!endpoints.some(({ id }) => id === params.endpointId)) throw notFound('Endpoint')
      const { limit, cursor } = query
      const [before] = cursor === undefined ? [] : decodeCursor(cursor, ['number'])
      const rows = await eventQueries.listEvents(
        db,
        { orgId: actor.orgId, endpointId: params.endpointId },
        { limit: limit + 1, days: config.retention.connectorEventsDays, before },
      )
      const items = rows.slice(0, limit)
      const last = items.at(-1)
      return ok({
        items: items.map(({ externalId, state, ...event }) => ({ ...event, id: externalId, status: state })),
        nextCursor: rows.length > limit && last ? encodeCursor([Number(last.seq)]) : null,
      })
    },
  )
}
