import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound, serviceUnavailable, unauthorized, validationError } from '../../platform/http/errors.ts'
import { currentChain } from '../../outbox/chain.ts'
import { apiPrefix, jsonBodyLimitBytes, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { isUuid } from '../../platform/ids.ts'
import { acceptAnyJson, acceptBytes } from '../../platform/http/json-body.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { Empty, ok, Success } from '../../platform/http/schemas.ts'
import { linear } from '../../providers/linear.ts'
import type { InboundRequest, ProviderResponse } from '../../providers/provider.ts'
import { getEvent } from '../deliver/deliveries.ts'
import { eventOfLinear } from './linear.ts'
import type { WebhookDeps } from '../deps.ts'
import { findReceivingWebhook } from '../queries.ts'
import type { ReceivingWebhook } from '../queries.ts'
import { createRecorder } from './record.ts'
import type { Recorded } from './record.ts'
import { explainRequest, readRequest, testEventOf, verifyRequest } from './receive.ts'
import { Receipt, ReceiveParams, Verified, WebhookEvent, WebhookTest, WebhookVerify } from '../schemas.ts'
import { getReceivingWebhook, receiveUrlOf } from '../webhooks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The webhook of a request to a receive URL. Undefined when the body arrived after it had been read. */
    receivingWebhook: ReceivingWebhook | undefined
  }
}

const tags = ['Webhooks']
const what = 'Webhook'

// One message for a missing header, a wrong signature and a stale one. Only the owner learns the reason, from verify.
const unverified = unauthorized('The signature is missing, wrong or too old.')

const inboundOf = (request: FastifyRequest, url: string): InboundRequest => ({
  headers: request.headers,
  body: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
  nowMs: Date.now(),
  url,
})

/**
 * Unverified requests have a rate limit of their own by webhook and address, so that they cannot use up the provider's.
 */
const rejectUnverified = async (request: FastifyRequest, id: string): Promise<never> => {
  await request.takeRateLimit('receive', `unverified ${id} ${addressGroup(request.ip)}`)
  throw unverified
}

const receipt = (recorded: Recorded) => ok({ received: true as const, ...recorded })

const sendHandshake = (reply: FastifyReply, { status, contentType, body }: ProviderResponse): FastifyReply => {
  reply.code(status)
  if (contentType !== undefined) reply.header('content-type', contentType)
  return reply.send(body)
}

/** The public routes that receive events, and the routes that test and verify them. */
export const registerReceiveRoutes = (app: App, deps: WebhookDeps): void => {
  const { config, db, deliveryWake, quotas, secrets } = deps
  const recorder = createRecorder(db, quotas, deliveryWake)
  const findEnabled = async (id: string): Promise<ReceivingWebhook> => {
    const webhook = isUuid(id) ? await findReceivingWebhook(db.hot, id) : undefined
    if (!webhook || webhook.status === 'disabled') throw notFound(what)
    return webhook
  }
  app.decorateRequest('receivingWebhook', undefined)

  app.register(async (scope: App) => {
    // Verified and forwarded byte for byte.
    acceptBytes(scope)

    scope.post(
      `${apiPrefix}/webhooks/receive/:webhookId`,
      {
        bodyLimit: jsonBodyLimitBytes,
        // Before the body is read, so that nothing is buffered for a webhook that does not exist.
        onRequest: async (request) => {
          const webhook = await findEnabled(request.params.webhookId)
          // A body can take minutes, in which the secret is rotated or the webhook deleted.
          if (request.raw.complete) request.receivingWebhook = webhook
        },
        // The handler counts the request when the signature has been verified.
        config: {
          events: ['webhook.event.received'],
          access: 'public',
          what,
          rateLimit: 'none',
          errors: ['UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'BAD_REQUEST', 'FORBIDDEN', 'PAYMENT_REQUIRED'],
        },
        schema: {
          tags,
          summary: 'Receive an event',
          description:
            "Receives an event of up to 1 MB from a provider. Requests are verified by the scheme of the webhook's `source`: UNAUTHORIZED when the signature is missing, wrong or too old. The event is stored before the response. Duplicates are acknowledged and not stored again. NOT_FOUND for a disabled webhook. PAYMENT_REQUIRED or FORBIDDEN when the quota `eventsKept` of the org is used up. Verified requests count against the rate limit `receive`.",
          params: ReceiveParams,
          response: { 200: Success(Receipt), 204: Empty('Response to a health check of the provider.') },
        },
      },
      async (request, reply) => {
        const { webhookId } = request.params
        const webhook = request.receivingWebhook ?? (await findEnabled(webhookId))
        const inbound = inboundOf(request, originOf(request, config.baseUrl) + request.url)
        const verdict = await verifyRequest(secrets, webhook, inbound)
        if (!verdict.valid) return rejectUnverified(request, webhookId)
        await request.takeRateLimit('receive', webhookId)
        const { handshake, event } = readRequest(webhook, inbound, verdict)
        if (handshake) return sendHandshake(reply, handshake)
        // Events that deliveries of Atrium cause: those of all webhooks of the org together.
        if (currentChain()) await request.takeRateLimit('receive', `chained ${webhook.orgId}`)
        return receipt(await recorder.record(event))
      },
    )

    scope.post(
      `${apiPrefix}/webhooks/linear`,
      {
        bodyLimit: jsonBodyLimitBytes,
        onRequest: async (request) => {
          const isSigned = request.headers['linear-signature'] !== undefined
          if (config.linearWebhookSecret !== undefined && !isSigned) await rejectUnverified(request, 'linear')
        },
        config: {
          events: ['webhook.created', 'webhook.event.received'],
          access: 'public',
          what,
          rateLimit: 'none',
          errors: ['UNAUTHORIZED', 'SERVICE_UNAVAILABLE', 'NOT_FOUND', 'FORBIDDEN', 'PAYMENT_REQUIRED'],
        },
        schema: {
          tags,
          summary: 'Receive a Linear event',
          description:
            'Receives events of a Linear application. Requests are verified with the header `Linear-Signature`: UNAUTHORIZED when it is wrong. An event is stored in the org that has bound its Linear organization, under the webhook `Linear`. NOT_FOUND when no org has bound it, SERVICE_UNAVAILABLE when Linear is not set up on this server.',
          response: { 200: Success(Receipt) },
        },
      },
      async (request) => {
        if (config.linearWebhookSecret === undefined) {
          throw serviceUnavailable('Linear webhooks are not configured on this server.')
        }
        const inbound = inboundOf(request, '')
        const verdict = await linear.verify(inbound, { secret: config.linearWebhookSecret })
        if (!verdict.valid) return rejectUnverified(request, 'linear')
        const event = await eventOfLinear(deps, inbound)
        await request.takeRateLimit('receive', event.webhookId)
        return receipt(await recorder.record(event))
      },
    )
  })

  app.post(
    `${apiPrefix}/webhooks/test`,
    {
      config: {
        events: ['webhook.event.received'],
        access: 'webhooks:write',
        what,
        errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'PAYMENT_REQUIRED'],
      },
      schema: {
        tags,
        summary: 'Send a test event',
        description:
          'Stores a test event for a webhook, which is forwarded like a received one. VALIDATION_ERROR when the webhook is disabled.',
        body: WebhookTest,
        response: { 201: Success(WebhookEvent) },
      },
    },
    async (request, reply) => {
      const { actor } = request
      const { webhookId, type, payload } = request.body
      const webhook = await getReceivingWebhook(db, actor, webhookId)
      if (webhook.status === 'disabled') {
        throw validationError('The webhook is disabled and receives no events. Activate it first.')
      }
      const event = testEventOf(webhook, type, payload)
      // Without keys, because a person who sends a test event twice expects two events.
      await recorder.recordIn(request.db, { ...event, externalId: null, idKey: null, bodyKey: null })
      reply.code(201)
      return ok(await getEvent(db, actor, webhookId, event.id))
    },
  )

  app.register(async (scope: App) => {
    acceptAnyJson(scope)
    scope.post(
      `${apiPrefix}/webhooks/verify`,
      {
        config: { access: 'webhooks:read', what, errors: ['NOT_FOUND'] },
        schema: {
          tags,
          summary: 'Verify a signature',
          description:
            'Checks a signed request against the secret of a webhook and explains what is wrong with it. Nothing is stored.',
          body: WebhookVerify,
          response: { 200: Success(Verified) },
        },
      },
      async (request) => {
        const { webhookId, payload, headers, url } = request.body
        const webhook = await getReceivingWebhook(db, request.actor, webhookId)
        const verdict = await explainRequest(secrets, webhook, {
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
          body: Buffer.from(payload, 'utf8'),
          nowMs: Date.now(),
          url: url ?? receiveUrlOf(originOf(request, config.baseUrl), webhookId),
        })
        return ok({ valid: verdict.valid, reason: verdict.valid ? null : verdict.reason })
      },
    )
  })
}
