import {
  accepted,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  parseSeconds,
  staleness,
} from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { at, readJson, textAt } from './payload.ts'
import { bySecret, describeEvent } from './provider.ts'
import type { ChatAdapter, InboundMessage } from './provider.ts'

const signatureHeader = 'Stripe-Signature'
const toleranceSeconds = 300

/** https://docs.stripe.com/webhooks#verify-manually; the key is the whole secret, including `whsec_`. */
export const verifyStripe = (request: SignedRequest, secret: string): SignatureVerdict => {
  const value = headerOf(request, signatureHeader)
  if (value === undefined) return missing(signatureHeader)
  const fields = value.split(',').map((field) => field.trim())
  const valuesOf = (name: string): string[] =>
    fields.filter((field) => field.startsWith(`${name}=`)).map((field) => field.slice(name.length + 1))
  const [timestamp = '', ...others] = valuesOf('t')
  const seconds = parseSeconds(timestamp)
  const given = valuesOf('v1').map((text) => fromHex(text, 32))
  const isWellFormed = given.length > 0 && given.every((one) => one !== undefined)
  if (seconds === undefined || others.length > 0 || !isWellFormed) {
    return malformed(signatureHeader, 't=<seconds since 1970>,v1=<64 hexadecimal digits>')
  }
  const expected = hmac('sha256', secret, `${timestamp}.`, request.body)
  if (!given.some((one) => isSame(one, expected))) return mismatch
  return staleness(`t of ${signatureHeader}`, seconds, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}

const toMessage = (event: unknown): InboundMessage | undefined => {
  const type = textAt(event, 'type')
  const object = at(event, 'data', 'object')
  const id = textAt(object, 'id')
  if (type === undefined || id === undefined) return undefined
  const kind = textAt(object, 'object') ?? 'object'
  const amount = textAt(object, 'amount') ?? textAt(object, 'amount_due') ?? textAt(object, 'amount_total')
  const customer = textAt(object, 'customer')
  return {
    // All events of a customer share a session.
    chat: customer ?? id,
    title: `Stripe: ${customer ?? id}`,
    sender: 'Stripe',
    text: describeEvent(
      `Stripe event ${type} on the ${kind} ${id}${at(event, 'livemode') === false ? ' (test mode)' : ''}`,
      amount === undefined ? undefined : `amount: ${amount} ${textAt(object, 'currency') ?? ''}`.trim(),
      customer === undefined ? undefined : `customer: ${customer}`,
      textAt(object, 'status') === undefined ? undefined : `status: ${textAt(object, 'status')}`,
    ),
    replyTo: {},
  }
}

/** Stripe: https://docs.stripe.com/webhooks. */
export const stripe: ChatAdapter = {
  verify: bySecret(verifyStripe),
  parse: ({ body }) => readJson(body),
  eventId: (event) => textAt(event, 'id'),
  eventType: (event) => textAt(event, 'type') ?? 'unknown',
  toMessage,
}
