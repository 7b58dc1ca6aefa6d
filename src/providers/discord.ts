import { createPublicKey, verify as verifySignature } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import {
  accepted,
  fromHex,
  headerOf,
  malformed,
  missing,
  parseSeconds,
  rejected,
  staleness,
} from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { at, integerAt, readJson, textAt } from './payload.ts'
import { jsonResponse } from './provider.ts'
import type {
  ChatAdapter,
  Credentials,
  InboundMessage,
  InboundRequest,
  OutgoingPart,
  ProviderResponse,
  ReplyRequest,
} from './provider.ts'

const signatureHeader = 'X-Signature-Ed25519'
const timestampHeader = 'X-Signature-Timestamp'
const toleranceSeconds = 300

/** Parses an application's public key; undefined unless it is 64 hexadecimal digits. */
export const discordKey = (publicKey: string): KeyObject | undefined => {
  const bytes = fromHex(publicKey, 32)
  if (!bytes) return undefined
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })
}

/** https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers */
export const verifyDiscord = (request: SignedRequest, key: KeyObject): SignatureVerdict => {
  const timestamp = headerOf(request, timestampHeader)
  const signature = headerOf(request, signatureHeader)
  if (timestamp === undefined) return missing(timestampHeader)
  if (signature === undefined) return missing(signatureHeader)
  const stamp = parseSeconds(timestamp)
  if (stamp === undefined) return malformed(timestampHeader, '<seconds since 1970>')
  const given = fromHex(signature, 64)
  if (!given) return malformed(signatureHeader, '<128 hexadecimal digits>')
  if (!verifySignature(null, Buffer.concat([Buffer.from(timestamp), request.body]), key, given)) {
    return rejected(
      'The signature does not match: the public key belongs to another application, or the body was altered.',
    )
  }
  return staleness(timestampHeader, stamp, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}

// Interactions and webhook events share one URL and number their types differently. Only an interaction has a token.
const isInteraction = (payload: unknown): boolean =>
  textAt(payload, 'token') !== undefined && textAt(payload, 'id') !== undefined

const interactionTypes: ReadonlyMap<string | undefined, string> = new Map([
  ['1', 'ping'],
  ['2', 'application_command'],
  ['3', 'message_component'],
  ['4', 'application_command_autocomplete'],
  ['5', 'modal_submit'],
])
const typeOf = (payload: unknown): string | undefined => textAt(payload, 'type')

/** Both pings: type 1 without an event for interactions, type 0 for webhook events. */
const handshake = (payload: unknown): ProviderResponse | undefined => {
  const type = typeOf(payload)
  if (type === '1' && at(payload, 'event') === undefined) return jsonResponse({ type: 1 })
  return type === '0' ? { status: 204, contentType: 'application/json; charset=utf-8' } : undefined
}

/** The values of a command's options, including those of subcommands. */
const optionsOf = (options: unknown): string[] => {
  if (!Array.isArray(options)) return []
  return options.flatMap((option) => {
    const value = at(option, 'value')
    const inner = optionsOf(at(option, 'options'))
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isPlain ? [String(value), ...inner] : inner
  })
}

/** The text of the message that a message command was used on. */
const resolvedText = (data: unknown): string | undefined =>
  textAt(data, 'resolved', 'messages', textAt(data, 'target_id') ?? '', 'content')

const toMessage = (payload: unknown): InboundMessage | undefined => {
  if (!isInteraction(payload) || typeOf(payload) !== '2') return undefined
  const [channel, application, token] = ['channel_id', 'application_id', 'token'].map((key) => textAt(payload, key))
  const person = at(payload, 'member', 'user') ?? at(payload, 'user')
  const data = at(payload, 'data')
  const text = optionsOf(at(data, 'options')).join(' ').trim() || resolvedText(data)
  if (channel === undefined || application === undefined || token === undefined) return undefined
  if (at(person, 'bot') === true) return undefined
  const position = integerAt(payload, 'id')
  return {
    chat: channel,
    title: `Discord: ${textAt(payload, 'channel', 'name') ?? channel}`,
    sender: textAt(person, 'global_name') ?? textAt(person, 'username') ?? 'Somebody',
    // A command without options is the whole message.
    text: text === undefined || text === '' ? `/${textAt(data, 'name') ?? 'command'}` : text,
    ...(position === undefined ? {} : { position }),
    replyTo: { application, token },
  }
}

/** The response to an interaction, which Discord expects within 3 s. */
const acknowledge = (payload: unknown): ProviderResponse => {
  if (!isInteraction(payload)) return { status: 204 }
  const type = typeOf(payload)
  // Shows "Thinking …" until the reply replaces it.
  if (type === '2') return jsonResponse({ type: 5 })
  if (type === '4') return jsonResponse({ type: 8, data: { choices: [] } })
  return jsonResponse({ type: 6 })
}

/** `SUPPRESS_EMBEDS` of https://docs.discord.com/developers/resources/message#message-object-message-flags */
const withoutPreviews = 4

// The first part replaces "Thinking …", however often it is sent; the other parts are new messages. No mention notifies
// anyone, because a model could write @everyone.
const request = ({ part }: OutgoingPart): ReplyRequest => ({
  method: part === 0 ? 'PATCH' : 'POST',
  path: part === 0 ? '/webhooks/{application}/{token}/messages/@original' : '/webhooks/{application}/{token}',
  json: { content: '{text}', flags: withoutPreviews, allowed_mentions: { parse: [] } },
})

const verify = (request: InboundRequest, { publicKey }: Credentials): SignatureVerdict => {
  const key = publicKey === undefined ? undefined : discordKey(publicKey)
  return key ? verifyDiscord(request, key) : rejected("The application's public key is not configured.")
}

/** Discord applications: https://docs.discord.com/developers/interactions/receiving-and-responding. */
export const discord: ChatAdapter = {
  verify,
  parse: ({ body }) => readJson(body),
  handshake,
  eventId: (payload) => textAt(payload, 'id'),
  eventType: (payload) =>
    (isInteraction(payload) ? interactionTypes.get(typeOf(payload)) : textAt(payload, 'event', 'type')) ?? 'unknown',
  toMessage,
  acknowledge,
  reply: { maxLength: 2_000, isRepeatable: (part) => part === 0, request },
}
