import {
  accepted,
  fromBase64,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  rejected,
  sha256,
} from '../platform/signatures/signed-request.ts'
import { maxFormFields, parseFormFields } from '../platform/http/form-fields.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { isForm, readForm, readJson, textAt } from './payload.ts'
import { bySecret } from './provider.ts'
import type { ChatAdapter, InboundMessage, InboundRequest, ReplyRequest } from './provider.ts'

const signatureHeader = 'X-Twilio-Signature'

const standardPorts: Record<string, string> = { 'https:': '443', 'http:': '80' }

/** Twilio signs the URL as it was entered, with or without the port: all spellings are tried. */
const spellingsOf = (url: string): string[] => {
  const parsed = URL.parse(url)
  if (!parsed) return [url]
  const rest = `${parsed.pathname}${parsed.search}`
  const port = parsed.port === '' ? standardPorts[parsed.protocol] : parsed.port
  const origin = `${parsed.protocol}//${parsed.hostname}`
  return [...new Set([url, `${origin}${rest}`, `${origin}:${port}${rest}`])]
}

/** All parameters sorted by name, each with its distinct sorted values, without separators. */
const concatenated = (form: URLSearchParams): string =>
  [...Map.groupBy(form, ([name]) => name)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, pairs]) =>
      [...new Set(pairs.map(([, value]) => value))]
        .toSorted()
        .map((value) => name + value)
        .join(''),
    )
    .join('')

/**
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security. `url` is the public URL that Twilio was given, with the
 * query of this request. A form is signed together with the URL; of any other body the URL contains the hash.
 */
export const verifyTwilio = (request: SignedRequest & { url: string }, authToken: string): SignatureVerdict => {
  const value = headerOf(request, signatureHeader)
  if (value === undefined) return missing(signatureHeader)
  const given = fromBase64(value, 20)
  if (!given) return malformed(signatureHeader, '<base64 of 20 bytes>')
  const hasForm = isForm(request)
  // Limits the work for a request that is not verified yet.
  const form = hasForm ? parseFormFields(request.body) : undefined
  if (hasForm && form === undefined) return rejected(`The form has more than ${maxFormFields} fields.`)
  const signed = form ? concatenated(form) : ''
  if (!spellingsOf(request.url).some((url) => isSame(given, hmac('sha1', authToken, url, signed)))) {
    return rejected(
      'The signature does not match: it was made with another auth token or for another URL, or the parameters were altered.',
    )
  }
  if (hasForm) return accepted
  const named = URL.parse(request.url)?.searchParams.get('bodySHA256')
  if (named === null || named === undefined) return rejected('The parameter bodySHA256 is missing from the URL.')
  const hash = fromHex(named, 32)
  return hash && isSame(hash, sha256(request.body)) ? accepted : mismatch
}

const parse = (request: InboundRequest): unknown =>
  isForm(request) ? readForm(request.body) : request.body.length === 0 ? {} : readJson(request.body)

const statusOf = (fields: unknown): string | undefined =>
  textAt(fields, 'MessageStatus') ?? textAt(fields, 'SmsStatus') ?? textAt(fields, 'CallStatus')

/** Each status of a message or call is an event. */
const eventId = (fields: unknown): string | undefined => {
  const sid = textAt(fields, 'MessageSid') ?? textAt(fields, 'SmsSid') ?? textAt(fields, 'CallSid')
  if (sid === undefined) return undefined
  const status = statusOf(fields)
  return status === undefined ? sid : `${sid}:${status}`
}

const toMessage = (
  fields: unknown,
  _request: InboundRequest,
  ownIds: readonly string[],
): InboundMessage | undefined => {
  const [from, to, account] = ['From', 'To', 'AccountSid'].map((key) => textAt(fields, key))
  const text = textAt(fields, 'Body')
  const status = textAt(fields, 'MessageStatus') ?? textAt(fields, 'SmsStatus') ?? 'received'
  if (from === undefined || to === undefined || account === undefined || text === undefined) return undefined
  if (textAt(fields, 'MessageSid') === undefined && textAt(fields, 'SmsSid') === undefined) return undefined
  // Any other status belongs to a message that this account sent.
  if ((status !== 'received' && status !== 'receiving') || ownIds.includes(from)) return undefined
  return {
    chat: `${from}/${to}`,
    title: `Twilio: ${textAt(fields, 'ProfileName') ?? from}`,
    sender: textAt(fields, 'ProfileName') ?? from,
    text,
    replyTo: { to: from, from: to, account },
  }
}

const request = (): ReplyRequest => ({
  method: 'POST',
  path: '/Messages.json',
  form: { To: '{to}', From: '{from}', Body: '{text}' },
})

/** Twilio messages and calls: https://www.twilio.com/docs/usage/webhooks. */
export const twilio: ChatAdapter = {
  verify: bySecret(verifyTwilio),
  parse,
  eventId,
  eventType: (fields) => {
    const kind = textAt(fields, 'CallSid') === undefined ? 'message' : 'call'
    return `${kind}.${statusOf(fields) ?? 'received'}`
  },
  toMessage,
  // Empty TwiML: the reply is sent later, as a message.
  acknowledge: () => ({ status: 200, contentType: 'text/xml; charset=utf-8', body: '<Response/>' }),
  reply: { maxLength: 1_600, isRepeatable: () => false, request },
}

/** Twilio as a connector. Its other events have an id or the Sid of a resource, and each is delivered once. */
export const twilioWithOtherEvents: ChatAdapter = {
  ...twilio,
  eventId: (fields) => eventId(fields) ?? textAt(fields, 'id') ?? textAt(fields, 'Sid'),
}
