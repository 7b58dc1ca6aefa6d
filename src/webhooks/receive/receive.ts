import type { Sealer } from '../../platform/encryption/secrets.ts'
import { headerOf, rejected } from '../../platform/signatures/signed-request.ts'
import type { Verdict } from '../../platform/signatures/signed-request.ts'
import { newId } from '../../platform/ids.ts'
import type { NewEvent } from './queries.ts'
import { hopsHeader } from '../deliver/hops.ts'
import { isWanted, parsePayload, storable, typeOf } from './payload.ts'
import type { ReceiverRow } from '../queries.ts'
import { webhookSecretColumn } from '../secrets.ts'
import { bodyKeyOf, sourceOf } from './sources.ts'
import type { Handshake, Received } from './sources.ts'

const maxExternalId = 255
const maxHeader = 512

/** Headers that say something of an event and give nothing away: no signatures, no tokens, no cookies. */
const keptHeaders = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
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
]

/** Whether a request comes from whom the webhook expects. */
export const verifyRequest = (secrets: Sealer, receiver: ReceiverRow, request: Received): Verdict =>
  sourceOf(receiver.source).verify(request, {
    // Opened for every request: a secret that was rotated a moment ago opens nothing any more, in no process.
    secret: secrets.open(receiver.secret, webhookSecretColumn.at(receiver.orgId, receiver.id)),
    secretHash: receiver.secretHash,
    publicKey: receiver.publicKey,
  })

const rewritten = (text: string): string | undefined => {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}

/**
 * The verdict for the owner. An HMAC cannot say whether the secret or the body is another one; but when it fits the
 * body as programs commonly alter it, that is what happened.
 */
export const explainRequest = (secrets: Sealer, receiver: ReceiverRow, request: Received): Verdict => {
  const verdict = verifyRequest(secrets, receiver, request)
  if (verdict.valid) return verdict
  const text = request.body.toString('utf8')
  const alterations: [string, string | undefined][] = [
    ['as JSON written again without spaces', rewritten(text)],
    ['without the white space around it', text.trim()],
    ['with a line break at its end', `${text}\n`],
  ]
  for (const [how, body] of alterations) {
    if (body === undefined || body === text) continue
    if (verifyRequest(secrets, receiver, { ...request, body: Buffer.from(body) }).valid) {
      return rejected(`The body was altered: the signature fits it ${how}. Sign, send and check the same bytes.`)
    }
  }
  return verdict
}

const keptOf = (request: Received): Record<string, string> => {
  const kept: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = headerOf(request, name)
    if (value !== undefined) kept[name] = storable(value, maxHeader)
  }
  return kept
}

export interface EventOptions {
  /** What a person called it, over what it says itself. */
  type?: string | undefined
  /** How it proved itself. */
  verdict?: Verdict
}

/** The event that a verified request is. */
export const eventOf = (
  receiver: ReceiverRow,
  request: Received,
  payload: unknown,
  options: EventOptions = {},
): NewEvent => {
  const source = sourceOf(receiver.source)
  const typeHeader = source.typeHeader === undefined ? undefined : headerOf(request, source.typeHeader)
  const type = typeOf(options.type === undefined ? payload : { type: options.type }, typeHeader)
  const id = source.idOf(request, payload)
  const signsId = options.verdict?.valid === true && options.verdict.signsId === true
  const countsBody = !signsId && (source.sameBody === 'always' || (source.sameBody === 'with id' && id !== undefined))
  const wanted = isWanted(receiver.events, type)
  return {
    orgId: receiver.orgId,
    webhookId: receiver.id,
    id: newId(),
    type,
    externalId: id === undefined ? null : storable(id, maxExternalId),
    // Ids of any length stay apart.
    idKey:
      id === undefined
        ? null
        : id.length <= maxExternalId
          ? `id:${storable(id, maxExternalId)}`
          : bodyKeyOf(Buffer.from(id)),
    bodyKey: countsBody ? `body:${bodyKeyOf(request.body)}` : null,
    status: wanted ? 'recorded' : 'filtered',
    headers: JSON.stringify(keptOf(request)),
    contentType: storable(headerOf(request, 'content-type') ?? '', maxHeader) || null,
    body: request.body,
    deliveryId: wanted && receiver.forwards ? newId() : null,
  }
}

/** A verified request: an event, or a provider's question whether anybody is here. */
export const readRequest = (
  receiver: ReceiverRow,
  request: Received,
  verdict: Verdict,
): { handshake: Handshake } | { handshake?: undefined; event: NewEvent } => {
  const payload = parsePayload(request.body, headerOf(request, 'content-type'))
  const handshake = sourceOf(receiver.source).handshake?.(payload)
  return handshake ? { handshake } : { event: eventOf(receiver, request, payload, { verdict }) }
}
