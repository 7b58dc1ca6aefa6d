import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound, serviceUnavailable, unauthorized, validationError } from '../../platform/http/errors.ts'
import { apiPrefix, jsonBodyLimitBytes, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { isUuid } from '../../platform/ids.ts'
import { takeAnyJson, takeBytes } from '../../platform/http/json-body.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { Empty, ok, Success } from '../../platform/http/schemas.ts'
import { verifyLinear } from '../../platform/signatures/linear.ts'
import { getEvent } from '../deliver/deliveries.ts'
import { eventOfLinear } from './linear.ts'
import { findReceiver } from '../queries.ts'
import type { ReceiverRow } from '../queries.ts'
import { createRecorder } from './record.ts'
import type { Recorded } from './record.ts'
import { eventOf, explainRequest, readRequest, verifyRequest } from './receive.ts'
import type { WebhookDeps } from '../routes.ts'
import { Receipt, ReceiveParams, Verified, WebhookEvent, WebhookTest, WebhookVerify } from '../schemas.ts'
import type { Handshake, Received } from './sources.ts'
import { getOwnReceiver, receiveUrlOf } from '../webhooks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The webhook of a request to its receive URL. */
    receiver: ReceiverRow | undefined
  }
}

const tags = ['Webhooks']
const what = 'Webhook'

// The same for a header that is missing, a signature that is wrong and one that is stale: only the owner is told which,
// by verify.
const refused = unauthorized('The signature is missing, wrong or too old.')

const receivedOf = (request: FastifyRequest, url: string): Received => ({
  headers: request.headers,
  body: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
  nowMs: Date.now(),
  url,
})

/** Strangers have a count of their own, by webhook and address: they must not use up what the provider needs. */
const refuseUnverified = async (request: FastifyRequest, id: string): Promise<never> => {
  await request.takeRateLimit('receive', `unverified ${id} ${addressGroup(request.ip)}`)
  throw refused
}

const receipt = (recorded: Recorded) => ok({ received: true as const, ...recorded })

const sendHandshake = (reply: FastifyReply, { status, body }: Handshake): FastifyReply => {
  reply.code(status).header('content-type', 'application/json; charset=utf-8')
  return reply.send(body === undefined ? undefined : JSON.stringify(body))
}

/** The doors for providers, and for trying them. */
export const registerReceiveRoutes = (app: App, deps: WebhookDeps): void => {
  const { config, db, quotas, secrets, wakeup } = deps
  const recorder = createRecorder(db, quotas, wakeup)
  app.decorateRequest('receiver', undefined)

  app.register(async (scope: App) => {
    // What is verified and forwarded is what came.
    takeBytes(scope)

    scope.post(
      `${apiPrefix}/webhooks/receive/:webhookId`,
      {
        bodyLimit: jsonBodyLimitBytes,
        // Looked up before the body is read: nothing is buffered for a webhook that does not exist.
        onRequest: async (request) => {
          const { webhookId } = request.params
          const receiver = isUuid(webhookId) ? await findReceiver(db.hot, webhookId) : undefined
          if (!receiver || receiver.status === 'disabled') throw notFound(what)
          request.receiver = receiver
        },
        // Counted once the signature has been verified.
        config: {
          access: 'public',
          what,
          rateLimit: 'none',
          errors: ['UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'BAD_REQUEST', 'FORBIDDEN', 'PAYMENT_REQUIRED'],
        },
        schema: {
          tags,
          summary: 'Where a provider sends events to; the signature is the proof',
          params: ReceiveParams,
          response: { 200: Success(Receipt), 204: Empty('A health check of the provider') },
        },
      },
      async (request, reply) => {
        const { webhookId } = request.params
        const receiver = request.receiver as ReceiverRow
        const received = receivedOf(request, originOf(request, config.baseUrl) + request.url)
        const verdict = verifyRequest(secrets, receiver, received)
        if (!verdict.valid) return refuseUnverified(request, webhookId)
        await request.takeRateLimit('receive', webhookId)
        const read = readRequest(receiver, received, verdict)
        if (read.handshake) return sendHandshake(reply, read.handshake)
        return receipt(await recorder.record(read.event))
      },
    )

    scope.post(
      `${apiPrefix}/webhooks/linear`,
      {
        bodyLimit: jsonBodyLimitBytes,
        onRequest: async (request) => {
          const isSigned = request.headers['linear-signature'] !== undefined
          if (config.linearWebhookSecret !== undefined && !isSigned) await refuseUnverified(request, 'linear')
        },
        config: {
          access: 'public',
          what,
          rateLimit: 'none',
          errors: ['UNAUTHORIZED', 'SERVICE_UNAVAILABLE', 'NOT_FOUND', 'FORBIDDEN', 'PAYMENT_REQUIRED'],
        },
        schema: {
          tags,
          summary: "Receive the events of a Linear application's webhook",
          description:
            'An event is recorded in the one org that has bound the Linear organization it comes from, under its webhook Linear; NOT_FOUND when no org has bound it.',
          response: { 200: Success(Receipt) },
        },
      },
      async (request) => {
        if (config.linearWebhookSecret === undefined) {
          throw serviceUnavailable('The receiver for Linear is not configured on this server.')
        }
        const received = receivedOf(request, '')
        if (!verifyLinear(received, config.linearWebhookSecret).valid) {
          return refuseUnverified(request, 'linear')
        }
        const event = await eventOfLinear(deps, received)
        await request.takeRateLimit('receive', event.webhookId)
        return receipt(await recorder.record(event))
      },
    )
  })

  app.post(
    `${apiPrefix}/webhooks/test`,
    {
      config: { access: 'webhooks:write', what, errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'PAYMENT_REQUIRED'] },
      schema: {
        tags,
        summary: 'Record an event of your own, which goes the way of a received one',
        body: WebhookTest,
        response: { 201: Success(WebhookEvent) },
      },
    },
    async (request, reply) => {
      const { actor } = request
      const { webhookId, type, payload } = request.body
      const receiver = await getOwnReceiver(db, actor, webhookId)
      if (receiver.status === 'disabled') throw validationError('The webhook is disabled and receives nothing.')
      const sent =
        payload !== undefined ? payload : { type: type ?? 'webhook.test', message: 'A test event', webhookId }
      const body = Buffer.from(JSON.stringify(sent))
      const received = { headers: { 'content-type': 'application/json' }, body, nowMs: Date.now(), url: '' }
      const isNameless = type === undefined && eventOf(receiver, received, sent).type === 'unknown'
      const event = eventOf(receiver, received, sent, { type: isNameless ? 'webhook.test' : type })
      // A person who sends the same twice means it.
      const { eventId } = await recorder.record({ ...event, externalId: null, idKey: null, bodyKey: null })
      reply.code(201)
      return ok(await getEvent(db, actor, webhookId, eventId))
    },
  )

  app.register(async (scope: App) => {
    takeAnyJson(scope)
    scope.post(
      `${apiPrefix}/webhooks/verify`,
      {
        config: { access: 'webhooks:read', what, errors: ['NOT_FOUND'] },
        schema: {
          tags,
          summary: 'Check a signed payload, and hear what is wrong with it; nothing is recorded',
          body: WebhookVerify,
          response: { 200: Success(Verified) },
        },
      },
      async (request) => {
        const { webhookId, payload, headers, url } = request.body
        const receiver = await getOwnReceiver(db, request.actor, webhookId)
        const verdict = explainRequest(secrets, receiver, {
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
