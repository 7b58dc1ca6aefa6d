import { chainHeader, hopsHeader } from '../../outbox/chain.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { newId } from '../../platform/ids.ts'
import { headerOf, rejected, sha256 } from '../../platform/signatures/signed-request.ts'
import type { SignatureVerdict } from '../../platform/signatures/signed-request.ts'
import type { InboundRequest, ProviderResponse } from '../../providers/provider.ts'
import { adapterOfSource } from '../../providers/providers.ts'
import type { ReceivingWebhook } from '../queries.ts'
import { webhookSecretColumn } from '../secrets.ts'
import { isWanted, parsePayload, storable, typeOf } from './payload.ts'
import type { NewWebhookEvent } from './queries.ts'

const maxExternalId = 255
const maxHeader = 512

/** Request headers that are stored with an event. Signatures, tokens and cookies are not. */
const storedHeaders = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'svix-id',
  'svix-timestamp',
  'x-github-event',
  'x-github-delivery',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-instance',
  'x-shopify-topic',
  'x-shopify-shop-domain',
  'x-shopify-webhook-id',
  'x-shopify-api-version',
  'x-slack-retry-num',
  'x-slack-retry-reason',
  'linear-event',
  'linear-delivery',
  'x-atlassian-webhook-identifier',
  'x-atlassian-webhook-retry',
  'i-twilio-idempotency-token',
  hopsHeader,
  chainHeader,
]

/** Verifies a request with the provider adapter of the webhook's source. */
export const verifyRequest = async (
  secrets: Sealer,
  webhook: ReceivingWebhook,
  request: InboundRequest,
): Promise<SignatureVerdict> =>
  adapterOfSource(webhook.source).verify(request, {
    // Decrypted for each request: with a cache, another process would accept a rotated secret for a while.
    secret: secrets.open(webhook.secret, webhookSecretColumn.at(webhook.orgId, webhook.id)),
    secretHash: webhook.secretHash,
    ...(webhook.publicKey === null ? {} : { publicKey: webhook.publicKey }),
  })

const reserialized = (text: string): string | undefined => {
  try {
    return JSON.stringify(parseForeignJson(text))
  } catch {
    return undefined
  }
}

/**
 * The verdict for the owner of the webhook. A wrong secret and an altered body fail in the same way; if the signature
 * fits a common alteration of the body, the reason names that alteration.
 */
export const explainRequest = async (
  secrets: Sealer,
  webhook: ReceivingWebhook,
  request: InboundRequest,
): Promise<SignatureVerdict> => {
  const verdict = await verifyRequest(secrets, webhook, request)
  if (verdict.valid) return verdict
  const text = request.body.toString('utf8')
  const alterations: [string, string | undefined][] = [
    ['as JSON that was serialized again without spaces', reserialized(text)],
    ['without the white space around it', text.trim()],
    ['with a line break at its end', `${text}\n`],
  ]
  for (const [how, body] of alterations) {
    if (body === undefined || body === text) continue
    const altered = await verifyRequest(secrets, webhook, { ...request, body: Buffer.from(body) })
    if (altered.valid) {
      return rejected(
        `The body was altered: the signature is valid for the body ${how}. Sign, send and verify the same bytes.`,
      )
    }
  }
  return verdict
}

const headersToStore = (request: InboundRequest): Record<string, string> => {
  const stored: Record<string, string> = {}
  for (const name of storedHeaders) {
    const value = headerOf(request, name)
    if (value !== undefined) stored[name] = storable(value, maxHeader)
  }
  return stored
}

const hashOf = (bytes: Buffer | string): string => `sha256:${sha256(bytes).toString('hex')}`

/** Ids that are too long for the index are hashed, because truncated ones could be equal. */
const idKeyOf = (id: string): string =>
  id.length <= maxExternalId ? `id:${storable(id, maxExternalId)}` : hashOf(Buffer.from(id))

export interface EventOptions {
  /** Replaces the type in the payload. */
  type?: string | undefined
  verdict?: SignatureVerdict
}

/** The event of a verified request. */
export const eventOf = (
  webhook: ReceivingWebhook,
  request: InboundRequest,
  payload: unknown,
  options: EventOptions = {},
): NewWebhookEvent => {
  const { eventId, sameBody, typeHeader } = adapterOfSource(webhook.source)
  const headerType = typeHeader === undefined ? undefined : headerOf(request, typeHeader)
  const type = typeOf(options.type === undefined ? payload : { type: options.type }, headerType)
  const id = eventId(payload, request)
  const signsId = options.verdict?.valid === true && options.verdict.signsId === true
  const comparesBody = !signsId && (sameBody === 'always' || (sameBody === 'with-id' && id !== undefined))
  const wanted = isWanted(webhook.events, type)
  return {
    orgId: webhook.orgId,
    webhookId: webhook.id,
    id: newId(),
    type,
    externalId: id === undefined ? null : storable(id, maxExternalId),
    idKey: id === undefined ? null : idKeyOf(id),
    bodyKey: comparesBody ? `body:${hashOf(request.body)}` : null,
    status: wanted ? 'recorded' : 'filtered',
    headers: JSON.stringify(headersToStore(request)),
    contentType: storable(headerOf(request, 'content-type') ?? '', maxHeader) || null,
    body: request.body,
    deliveryId: wanted && webhook.forwards ? newId() : null,
  }
}

/** An event that a person sends to a webhook. The default type is `webhook.test`. */
export const testEventOf = (webhook: ReceivingWebhook, type: string | undefined, given: unknown): NewWebhookEvent => {
  const defaultType = 'webhook.test'
  const payload =
    given === undefined ? { type: type ?? defaultType, message: 'A test event', webhookId: webhook.id } : given
  const body = Buffer.from(JSON.stringify(payload))
  const request = { headers: { 'content-type': 'application/json' }, body, nowMs: Date.now(), url: '' }
  const event = eventOf(webhook, request, payload, { type })
  return type === undefined && event.type === 'unknown'
    ? eventOf(webhook, request, payload, { type: defaultType })
    : event
}

/** The event of a verified request, or the response to a handshake. */
export const readRequest = (
  webhook: ReceivingWebhook,
  request: InboundRequest,
  verdict: SignatureVerdict,
): { handshake: ProviderResponse; event?: undefined } | { handshake?: undefined; event: NewWebhookEvent } => {
  const payload = parsePayload(request.body, headerOf(request, 'content-type'))
  const handshake = adapterOfSource(webhook.source).handshake?.(payload)
  return handshake ? { handshake } : { event: eventOf(webhook, request, payload, { verdict }) }
}
