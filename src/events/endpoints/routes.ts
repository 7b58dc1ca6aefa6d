import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../identity/actor.ts'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, Deleted, IdParams, ok, Patch, Success } from '../../platform/http/schemas.ts'
import { createRecorder } from '../../webhooks/receive/record.ts'
import { DeliveryParams, Recover, Recovered } from '../../webhooks/schemas.ts'
import { DeliveryListQuery } from '../../webhooks/deliver/schemas.ts'
import * as endpoints from './endpoints.ts'
import type { EndpointDeps } from './endpoints.ts'
import type { EndpointRow } from './queries.ts'
import {
  EventDelivery,
  EventEndpoint,
  EventEndpointCreate,
  EventEndpointListQuery,
  EventEndpointPatch,
  EventEndpointTest,
  EventEndpointWithSecret,
  TransformPreview,
  TransformPreviewRequest,
} from './schemas.ts'
import { previewTransform } from './transform/preview.ts'

const tags = ['Events']
const what = 'Event endpoint'
const path = `${apiPrefix}/event-endpoints`

export const registerEventEndpointRoutes = (app: App, deps: EndpointDeps): void => {
  const { db } = deps
  const send = async <T extends object>(request: FastifyRequest, reply: FastifyReply, row: EndpointRow, more: T) => {
    const record = await endpoints.recordOf(db, row)
    return sendResource(request, reply, { ...record, ...more }, [
      row.deliveryCount,
      row.lastDeliveryAt,
      row.failingSince,
      record.statusReason !== null,
      record.recentResults.join('.'),
    ])
  }

  app.get(
    path,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: 'List event endpoints',
        description:
          'Returns the event endpoints of the org, newest first. Without `limit`, returns all of them, up to 1,000.',
        querystring: EventEndpointListQuery,
        response: { 200: Success(CursorList(EventEndpoint)) },
      },
    },
    async ({ actor, query }) => ok(await endpoints.listEndpoints(db, actor, query)),
  )

  app.post(
    path,
    {
      config: {
        access: 'webhooks:write',
        events: ['event_endpoint.created'],
        idempotency: { omit: ['data.secret'] },
        errors: ['PAYMENT_REQUIRED', 'FORBIDDEN', 'NOT_FOUND'],
      },
      schema: {
        tags,
        summary: 'Create an event endpoint',
        description:
          'Creates an event endpoint and returns its signing secret, which cannot be read again. Only events that the caller may read at the time of delivery are delivered. BAD_REQUEST when `url` is not a public HTTP or HTTPS URL, when a type does not exist, or when `filter` or `transform` is invalid. FORBIDDEN for a type that the caller may not read. PAYMENT_REQUIRED or FORBIDDEN when the quota `webhooks` of the org is used up.',
        body: EventEndpointCreate,
        response: { 201: Success(EventEndpointWithSecret) },
      },
    },
    async (request, reply) => {
      const { endpoint, secret } = await endpoints.createEndpoint(request.db, request.actor, deps, request.body)
      reply.code(201)
      return send(request, reply, endpoint, { secret })
    },
  )

  app.get(
    `${path}/:id`,
    {
      config: { access: 'webhooks:read', what },
      schema: {
        tags,
        summary: 'Retrieve an event endpoint',
        description: 'Returns an event endpoint. The signing secret is never returned.',
        params: IdParams,
        response: { 200: Success(EventEndpoint) },
      },
    },
    async (request, reply) =>
      send(request, reply, await endpoints.getEndpoint(db.hot, request.actor, request.params.id), {}),
  )

  app.patch(
    `${path}/:id`,
    {
      config: {
        access: 'webhooks:write',
        what,
        events: ['event_endpoint.updated'],
        errors: ['FORBIDDEN'],
      },
      schema: {
        tags,
        summary: 'Update an event endpoint',
        description:
          'Changes the fields that are sent. Who sends `url`, `types`, `workspaceIds`, `filter`, `ordering`, `expand` or `transform` becomes the owner, with whose rights events are delivered. BAD_REQUEST when `url` is not a public HTTP or HTTPS URL, when a type does not exist, or when `filter` or `transform` is invalid. FORBIDDEN for a type that the caller may not read.',
        params: IdParams,
        body: Patch(EventEndpointPatch),
        response: { 200: Success(EventEndpoint) },
      },
    },
    async (request, reply) => {
      const { actor, body, headers, params } = request
      const change = { id: params.id, patch: body, ifMatch: headers['if-match'] }
      return send(request, reply, await endpoints.updateEndpoint(db, actor, deps, change), {})
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: 'webhooks:write', what, events: ['event_endpoint.deleted'] },
      schema: {
        tags,
        summary: 'Delete an event endpoint',
        description: 'Permanently deletes an event endpoint with its deliveries.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, headers, params }) => {
      await endpoints.deleteEndpoint(db, actor, deps, { id: params.id, ifMatch: headers['if-match'] })
      return ok({ deleted: true as const })
    },
  )

  app.post(
    `${path}/:id/rotate`,
    {
      config: {
        access: 'webhooks:write',
        what,
        events: ['event_endpoint.updated'],
        idempotency: { omit: ['data.secret'] },
      },
      schema: {
        tags,
        summary: 'Rotate the secret of an event endpoint',
        description:
          'Replaces the signing secret and returns the new one, which cannot be read again. Attempts from now on are signed with it.',
        params: IdParams,
        response: { 200: Success(EventEndpointWithSecret) },
      },
    },
    async (request, reply) => {
      const { endpoint, secret } = await endpoints.rotateSecret(request.db, request.actor, deps, request.params.id)
      return send(request, reply, endpoint, { secret })
    },
  )

  app.post(
    `${path}/transform-preview`,
    {
      config: { access: 'webhooks:write', errors: ['FORBIDDEN'] },
      schema: {
        tags,
        summary: 'Check a transform',
        description:
          'Returns the result of a transform for the example of an event type, or for a given event. Nothing is sent or stored. BAD_REQUEST when the transform fails, with the position of the error. FORBIDDEN for a type that the caller may not read.',
        body: TransformPreviewRequest,
        response: { 200: Success(TransformPreview) },
      },
    },
    async ({ actor, body }) => ok(await previewTransform(actor, deps.transformer, body)),
  )

  registerEndpointDeliveryRoutes(app, deps)
}

const registerEndpointDeliveryRoutes = (app: App, { db, deliveryWake, quotas }: EndpointDeps): void => {
  const recorder = createRecorder(db, quotas, deliveryWake)
  const shown = async (actor: Actor, delivery: endpoints.ShownDelivery) => {
    const [record] = await endpoints.recordsOfDeliveries(db, actor, delivery.webhookId, [delivery])
    return ok(record as NonNullable<typeof record>)
  }

  app.post(
    `${path}/:id/test`,
    {
      config: {
        access: 'webhooks:write',
        what,
        optionalBody: true,
        errors: ['VALIDATION_ERROR', 'PAYMENT_REQUIRED', 'FORBIDDEN'],
      },
      schema: {
        tags,
        summary: 'Send a test event to an event endpoint',
        description:
          'Sends an event of a type with example data and `isTest: true`, and returns its delivery. The event is not in the log. VALIDATION_ERROR when the endpoint is disabled.',
        params: IdParams,
        body: EventEndpointTest,
        response: { 202: Success(EventDelivery) },
      },
    },
    async ({ actor, body, db: ofRequest, params }, reply) => {
      reply.code(202)
      return shown(actor, await endpoints.sendTest(ofRequest, actor, recorder, { id: params.id, type: body?.type }))
    },
  )

  app.get(
    `${path}/:id/deliveries`,
    {
      config: { access: 'webhooks:read', what },
      schema: {
        tags,
        summary: 'List deliveries of an event endpoint',
        description:
          'Returns the deliveries of an event endpoint with their attempts, newest first. Finished deliveries are kept for 30 days by default.',
        params: IdParams,
        querystring: DeliveryListQuery,
        response: { 200: Success(CursorList(EventDelivery)) },
      },
    },
    async ({ actor, params, query }) => {
      const { items, nextCursor } = await endpoints.endpointDeliveries.list(db.replica, actor, params.id, query)
      const records = await endpoints.recordsOfDeliveries(db.replica, actor, params.id, items)
      return ok({ items: records, nextCursor })
    },
  )

  app.get(
    `${path}/:id/deliveries/:deliveryId`,
    {
      config: { access: 'webhooks:read', what: 'Delivery' },
      schema: {
        tags,
        summary: 'Retrieve a delivery of an event endpoint',
        description:
          'Returns a delivery with its attempts and the last response. `body` and `headers` of the response are empty for callers who may not read every event of its type; for the owner of the endpoint, only when they may not read this event.',
        params: DeliveryParams,
        response: { 200: Success(EventDelivery) },
      },
    },
    async ({ actor, params }) =>
      shown(actor, await endpoints.endpointDeliveries.get(db, actor, params.id, params.deliveryId)),
  )

  app.post(
    `${path}/:id/deliveries/:deliveryId/retry`,
    {
      config: { access: 'webhooks:write', what: 'Delivery', errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Retry a delivery of an event endpoint',
        description:
          'Makes one more attempt now, also for a delivery that waits for its next attempt. VALIDATION_ERROR when the delivery has succeeded, or waits for an earlier one of the same subject.',
        params: DeliveryParams,
        response: { 202: Success(EventDelivery) },
      },
    },
    async (request, reply) => {
      const { id: webhookId, deliveryId: id } = request.params
      reply.code(202)
      const { retry } = endpoints.endpointDeliveries
      return shown(request.actor, await retry(request.db, request.actor, deliveryWake, { webhookId, id }))
    },
  )

  app.post(
    `${path}/:id/recover`,
    {
      config: { access: 'webhooks:write', what },
      schema: {
        tags,
        summary: 'Retry failed deliveries of an event endpoint',
        description: 'Makes one more attempt for every failed delivery that was created since a time.',
        params: IdParams,
        body: Recover,
        response: { 202: Success(Recovered) },
      },
    },
    async (request, reply) => {
      const { actor, body, params } = request
      reply.code(202)
      const { recover } = endpoints.endpointDeliveries
      const options = { webhookId: params.id, since: body.since }
      return ok({ queued: await recover(request.db, actor, deliveryWake, options) })
    },
  )
}
