import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import * as deliveries from './deliveries.ts'
import type { WebhookDeps } from '../deps.ts'
import {
  Delivery,
  DeliveryParams,
  EventParams,
  RecentEventsQuery,
  Recover,
  Recovered,
  WebhookEvent,
} from '../schemas.ts'

const tags = ['Webhooks']
const what = 'Webhook'

/** Events and their deliveries. */
export const registerDeliveryRoutes = (app: App, { db, deliveryWake }: WebhookDeps): void => {
  app.get(
    `${apiPrefix}/webhooks/events`,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: "The latest events of all the org's webhooks",
        querystring: RecentEventsQuery,
        response: { 200: Success(CursorList(WebhookEvent)) },
      },
    },
    async ({ actor, query }) => ok(await deliveries.listRecentEvents(db, actor, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id/events`,
    {
      config: { access: 'webhooks:read', what },
      schema: {
        tags,
        summary: 'Events that a webhook recorded, newest first',
        params: IdParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(WebhookEvent)) },
      },
    },
    async ({ actor, params, query }) => ok(await deliveries.listEvents(db, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id/events/:eventId`,
    {
      config: { access: 'webhooks:read', what: 'Event' },
      schema: { tags, summary: 'One event', params: EventParams, response: { 200: Success(WebhookEvent) } },
    },
    async ({ actor, params }) => ok(await deliveries.getEvent(db, actor, params.id, params.eventId)),
  )

  app.post(
    `${apiPrefix}/webhooks/:id/events/:eventId/replay`,
    {
      config: { access: 'webhooks:write', what: 'Event', errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Forward an event once more',
        params: EventParams,
        response: { 202: Success(Delivery) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      reply.code(202)
      return ok(
        await deliveries.replayEvent(request.db, actor, deliveryWake, {
          webhookId: params.id,
          eventId: params.eventId,
        }),
      )
    },
  )

  app.get(
    `${apiPrefix}/webhooks/:id/deliveries`,
    {
      config: { access: 'webhooks:read', what },
      schema: {
        tags,
        summary: 'Deliveries of a webhook, newest first',
        params: IdParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Delivery)) },
      },
    },
    async ({ actor, params, query }) => ok(await deliveries.listDeliveries(db, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id/deliveries/:deliveryId`,
    {
      config: { access: 'webhooks:read', what: 'Delivery' },
      schema: { tags, summary: 'One delivery', params: DeliveryParams, response: { 200: Success(Delivery) } },
    },
    async ({ actor, params }) => ok(await deliveries.getDelivery(db, actor, params.id, params.deliveryId)),
  )

  app.post(
    `${apiPrefix}/webhooks/:id/deliveries/:deliveryId/retry`,
    {
      config: { access: 'webhooks:write', what: 'Delivery', errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Attempt a delivery once more, now',
        params: DeliveryParams,
        response: { 202: Success(Delivery) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      reply.code(202)
      return ok(
        await deliveries.retryDelivery(request.db, actor, deliveryWake, {
          webhookId: params.id,
          id: params.deliveryId,
        }),
      )
    },
  )

  app.post(
    `${apiPrefix}/webhooks/:id/recover`,
    {
      config: { access: 'webhooks:write', what, errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Attempt all deliveries once more that were created since a time and have failed',
        params: IdParams,
        body: Recover,
        response: { 202: Success(Recovered) },
      },
    },
    async (request, reply) => {
      const { actor, body, params } = request
      reply.code(202)
      const options = { webhookId: params.id, since: body.since }
      return ok({ queued: await deliveries.recoverDeliveries(request.db, actor, deliveryWake, options) })
    },
  )
}
