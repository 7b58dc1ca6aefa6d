import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import * as deliveries from './deliveries.ts'
import type { WebhookDeps } from '../deps.ts'
import { DeliveryListQuery, EventListQuery, RecentEventsQuery } from './schemas.ts'
import { Delivery, DeliveryParams, EventParams, Recover, Recovered, WebhookEvent } from '../schemas.ts'

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
        summary: 'List recent events',
        description:
          'Returns the latest events of all webhooks of the org, newest first, at most 100 in a page. Events are kept for 30 days by default.',
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
        summary: 'List events of a webhook',
        description:
          'Returns the events that a webhook received, newest first. Events are kept for 30 days by default.',
        params: IdParams,
        querystring: EventListQuery,
        response: { 200: Success(CursorList(WebhookEvent)) },
      },
    },
    async ({ actor, params, query }) => ok(await deliveries.listEvents(db.replica, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id/events/:eventId`,
    {
      config: { access: 'webhooks:read', what: 'Event' },
      schema: {
        tags,
        summary: 'Retrieve an event',
        description: 'Returns an event with its full payload.',
        params: EventParams,
        response: { 200: Success(WebhookEvent) },
      },
    },
    async ({ actor, params }) => ok(await deliveries.getEvent(db, actor, params.id, params.eventId)),
  )

  app.post(
    `${apiPrefix}/webhooks/:id/events/:eventId/replay`,
    {
      config: { access: 'webhooks:write', what: 'Event', errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Replay an event',
        description:
          'Creates a new delivery of an event, also of a filtered one. VALIDATION_ERROR when the webhook forwards nowhere.',
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
        summary: 'List deliveries of a webhook',
        description:
          'Returns the deliveries of a webhook with their attempts, newest first. Finished deliveries are kept for 30 days by default.',
        params: IdParams,
        querystring: DeliveryListQuery,
        response: { 200: Success(CursorList(Delivery)) },
      },
    },
    async ({ actor, params, query }) =>
      ok(await deliveries.webhookDeliveries.list(db.replica, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id/deliveries/:deliveryId`,
    {
      config: { access: 'webhooks:read', what: 'Delivery' },
      schema: {
        tags,
        summary: 'Retrieve a delivery',
        description: 'Returns a delivery with its attempts and the last response.',
        params: DeliveryParams,
        response: { 200: Success(Delivery) },
      },
    },
    async ({ actor, params }) => ok(await deliveries.webhookDeliveries.get(db, actor, params.id, params.deliveryId)),
  )

  app.post(
    `${apiPrefix}/webhooks/:id/deliveries/:deliveryId/retry`,
    {
      config: { access: 'webhooks:write', what: 'Delivery', errors: ['VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Retry a delivery',
        description:
          'Makes one more attempt now, also for a delivery that waits for its next attempt. VALIDATION_ERROR when the delivery has succeeded or the webhook forwards nowhere.',
        params: DeliveryParams,
        response: { 202: Success(Delivery) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      reply.code(202)
      return ok(
        await deliveries.webhookDeliveries.retry(request.db, actor, deliveryWake, {
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
        summary: 'Retry failed deliveries',
        description:
          'Makes one more attempt for every failed delivery that was created since a time. VALIDATION_ERROR when the webhook forwards nowhere.',
        params: IdParams,
        body: Recover,
        response: { 202: Success(Recovered) },
      },
    },
    async (request, reply) => {
      const { actor, body, params } = request
      reply.code(202)
      const options = { webhookId: params.id, since: body.since }
      return ok({ queued: await deliveries.webhookDeliveries.recover(request.db, actor, deliveryWake, options) })
    },
  )
}
