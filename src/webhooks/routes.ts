import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendResource } from '../platform/http/etag.ts'
import { apiPrefix, originOf } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { CursorList, Deleted, IdParams, ok, Patch, Success } from '../platform/http/schemas.ts'
import type { WebhookDeps } from './deps.ts'
import type { WebhookRow } from './queries.ts'
import { registerDeliveryRoutes } from './deliver/routes.ts'
import { registerReceiveRoutes } from './receive/routes.ts'
import {
  SecretRotate,
  Webhook,
  WebhookCreate,
  WebhookHealth,
  WebhookListQuery,
  WebhookPatch,
  WebhookWithSecret,
} from './schemas.ts'
import * as webhooks from './webhooks.ts'

const tags = ['Webhooks']
const what = 'Webhook'

export const registerWebhookRoutes = (app: App, deps: WebhookDeps): void => {
  const { config, db } = deps
  const send = <T extends object>(request: FastifyRequest, reply: FastifyReply, row: WebhookRow, more: T) => {
    const record = webhooks.webhookRecord(row, originOf(request, config.baseUrl))
    return sendResource(request, reply, { ...record, ...more }, [row.deliveryCount, row.lastDeliveryAt])
  }

  app.get(
    `${apiPrefix}/webhooks`,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: 'List webhooks',
        description:
          'Returns the webhooks of the org, newest first. Without `limit`, returns all of them, up to 1,000.',
        querystring: WebhookListQuery,
        response: { 200: Success(CursorList(Webhook)) },
      },
    },
    async (request) => {
      const { items, nextCursor } = await webhooks.listWebhooks(db, request.actor, request.query)
      const origin = originOf(request, config.baseUrl)
      return ok({ items: items.map((row) => webhooks.webhookRecord(row, origin)), nextCursor })
    },
  )

  app.post(
    `${apiPrefix}/webhooks`,
    {
      config: {
        events: ['webhook.created'],
        access: 'webhooks:write',
        idempotency: { omit: ['data.secret'] },
        errors: ['PAYMENT_REQUIRED'],
      },
      schema: {
        tags,
        summary: 'Create a webhook',
        description:
          'Creates a webhook and returns its signing secret, which cannot be read again. BAD_REQUEST when `url` is not a public HTTP or HTTPS URL. PAYMENT_REQUIRED or FORBIDDEN when the quota `webhooks` of the org is used up.',
        body: WebhookCreate,
        response: { 201: Success(WebhookWithSecret) },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { webhook, secret } = await webhooks.createWebhook(request.db, actor, deps, body)
      reply.code(201)
      return send(request, reply, webhook, { secret })
    },
  )

  app.get(
    `${apiPrefix}/webhooks/health`,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: 'List the health of webhooks',
        description:
          'Returns how the deliveries of each webhook go, in the order and pages of the list of webhooks: the results of the latest deliveries, and since when all attempts fail.',
        querystring: WebhookListQuery,
        response: { 200: Success(CursorList(WebhookHealth)) },
      },
    },
    async ({ actor, query }) => ok(await webhooks.listHealth(db, actor, query)),
  )

  app.get(
    `${apiPrefix}/webhooks/:id`,
    {
      config: { access: 'webhooks:read', what },
      schema: {
        tags,
        summary: 'Retrieve a webhook',
        description: 'Returns a webhook. The signing secret is never returned.',
        params: IdParams,
        response: { 200: Success(Webhook) },
      },
    },
    async (request, reply) =>
      send(request, reply, await webhooks.getWebhook(db.hot, request.actor, request.params.id), {}),
  )

  app.patch(
    `${apiPrefix}/webhooks/:id`,
    {
      config: { events: ['webhook.updated', 'webhook.disabled', 'webhook.recovered'], access: 'webhooks:write', what },
      schema: {
        tags,
        summary: 'Update a webhook',
        description:
          'Changes the fields that are sent. `status` and `enabled` are kept in sync. BAD_REQUEST when `url` is not a public HTTP or HTTPS URL.',
        params: IdParams,
        body: Patch(WebhookPatch),
        response: { 200: Success(Webhook) },
      },
    },
    async (request, reply) => {
      const { actor, body, headers, params } = request
      const row = await webhooks.updateWebhook(db, actor, deps, {
        id: params.id,
        patch: body,
        ifMatch: headers['if-match'],
      })
      return send(request, reply, row, {})
    },
  )

  app.delete(
    `${apiPrefix}/webhooks/:id`,
    {
      config: { events: ['webhook.deleted'], access: 'webhooks:write', what },
      schema: {
        tags,
        summary: 'Delete a webhook',
        description: 'Permanently deletes a webhook with its events and deliveries.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, headers, params }) => {
      await webhooks.deleteWebhook(db, actor, deps, { id: params.id, ifMatch: headers['if-match'] })
      return ok({ deleted: true as const })
    },
  )

  app.post(
    `${apiPrefix}/webhooks/:id/rotate`,
    {
      config: {
        events: ['webhook.updated'],
        access: 'webhooks:write',
        what,
        optionalBody: true,
        idempotency: { omit: ['data.secret'] },
      },
      schema: {
        tags,
        summary: 'Rotate the secret of a webhook',
        description:
          'Replaces the signing secret and returns the new one, which cannot be read again. Signatures with the old secret are rejected at once.',
        params: IdParams,
        body: SecretRotate,
        response: { 200: Success(WebhookWithSecret) },
      },
    },
    async (request, reply) => {
      const { actor, body, params } = request
      const { webhook, secret } = await webhooks.rotateSecret(request.db, actor, deps, { id: params.id, given: body })
      return send(request, reply, webhook, { secret })
    },
  )

  registerDeliveryRoutes(app, deps)
  registerReceiveRoutes(app, deps)
}
