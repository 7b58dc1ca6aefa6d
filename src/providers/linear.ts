import {
  accepted,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  rejected,
  staleness,
} from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { readJson, textAt } from './payload.ts'
import { bySecret, describeEvent } from './provider.ts'
import type { ChatAdapter, InboundMessage, InboundRequest } from './provider.ts'

const signatureHeader = 'Linear-Signature'
const maxQuoted = 4_000

/** Linear's recommendation. */
const recommendedToleranceSeconds = 60

/**
 * Linear retries a failed delivery after one minute and does not document that a retry gets a new timestamp: with 60 s
 * the first retry of an event for an agent would be stale.
 */
const retryToleranceSeconds = 300

/** Milliseconds since 1970, read from the signed body. */
const timestampOf = (body: Buffer): number | undefined => {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    const timestamp = (value as { webhookTimestamp?: unknown } | null)?.webhookTimestamp
    return typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : undefined
  } catch {
    return undefined
  }
}

/** https://linear.app/developers/webhooks#securing-webhooks */
export const verifyLinear = (
  request: SignedRequest,
  secret: string,
  toleranceSeconds = recommendedToleranceSeconds,
): SignatureVerdict => {
  const value = headerOf(request, signatureHeader)
  if (value === undefined) return missing(signatureHeader)
  const given = fromHex(value, 32)
  if (!given) return malformed(signatureHeader, '<64 hexadecimal digits>')
  if (!isSame(given, hmac('sha256', secret, request.body))) return mismatch
  const timestamp = timestampOf(request.body)
  if (timestamp === undefined) return rejected('The body has no webhookTimestamp in milliseconds.')
  return staleness('webhookTimestamp', timestamp / 1_000, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}

const eventType = (payload: unknown): string =>
  [textAt(payload, 'type') ?? 'unknown', textAt(payload, 'action')]
    .filter((part) => part !== undefined)
    .join('.')
    .toLowerCase()

const idOfVersion = (payload: unknown): string | undefined => {
  const id = textAt(payload, 'data', 'id')
  const version = textAt(payload, 'data', 'updatedAt')
  return id === undefined || version === undefined ? undefined : `${eventType(payload)}:${id}:${version}`
}

const toMessage = (
  payload: unknown,
  _request: InboundRequest,
  ownIds: readonly string[],
): InboundMessage | undefined => {
  const actorId = textAt(payload, 'actor', 'id')
  const subject =
    textAt(payload, 'data', 'issue', 'id') ?? textAt(payload, 'data', 'issueId') ?? textAt(payload, 'data', 'id')
  if (subject === undefined || (actorId !== undefined && ownIds.includes(actorId))) return undefined
  const name = textAt(payload, 'data', 'issue', 'identifier') ?? textAt(payload, 'data', 'identifier')
  const sender = textAt(payload, 'actor', 'name') ?? 'Linear'
  return {
    chat: subject,
    title: `Linear: ${name ?? textAt(payload, 'data', 'title') ?? textAt(payload, 'data', 'name') ?? subject}`,
    sender,
    text: describeEvent(
      `Linear event ${eventType(payload)} by ${sender}`,
      [name, textAt(payload, 'data', 'title') ?? textAt(payload, 'data', 'issue', 'title')]
        .filter((part) => part !== undefined)
        .join(' '),
      (textAt(payload, 'data', 'body') ?? textAt(payload, 'data', 'description'))?.slice(0, maxQuoted),
      textAt(payload, 'url'),
    ),
    replyTo: {},
  }
}

/** Linear: https://linear.app/developers/webhooks. */
export const linear: ChatAdapter = {
  verify: bySecret((request, secret) => verifyLinear(request, secret)),
  parse: ({ body }) => readJson(body),
  eventId: (_payload, request) => headerOf(request, 'Linear-Delivery'),
  sameBody: 'always',
  typeHeader: 'Linear-Event',
  eventType,
  toMessage,
}

/** Linear as a connector, which accepts retries; a replay within 300 s is recognized by its body. */
export const linearWithRetries: ChatAdapter = {
  ...linear,
  verify: bySecret((request, secret) => verifyLinear(request, secret, retryToleranceSeconds)),
  eventId: (payload, request) => headerOf(request, 'Linear-Delivery') ?? idOfVersion(payload),
}
