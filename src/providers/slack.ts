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
import { at, isForm, readForm, readJson, textAt } from './payload.ts'
import { bySecret, jsonResponse } from './provider.ts'
import type { ChatAdapter, InboundMessage, InboundRequest, OutgoingPart, ReplyRequest } from './provider.ts'

const signatureHeader = 'X-Slack-Signature'
const timestampHeader = 'X-Slack-Request-Timestamp'
const toleranceSeconds = 300

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const verifySlack = (request: SignedRequest, secret: string): SignatureVerdict => {
  const timestamp = headerOf(request, timestampHeader)
  const signature = headerOf(request, signatureHeader)
  if (timestamp === undefined) return missing(timestampHeader)
  if (signature === undefined) return missing(signatureHeader)
  const stamp = parseSeconds(timestamp)
  if (stamp === undefined) return malformed(timestampHeader, '<seconds since 1970>')
  const given = signature.startsWith('v0=') ? fromHex(signature.slice(3), 32) : undefined
  if (!given) return malformed(signatureHeader, 'v0=<64 hexadecimal digits>')
  if (!isSame(given, hmac('sha256', secret, `v0:${timestamp}:`, request.body))) return mismatch
  return staleness(timestampHeader, stamp, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}

/** One URL receives events (JSON), slash commands (a form) and interactivity (JSON in the form field `payload`). */
const parse = (request: InboundRequest): unknown => {
  if (!isForm(request)) return readJson(request.body)
  const fields = readForm(request.body)
  return fields['payload'] === undefined
    ? { type: 'slash_command', ...fields }
    : readJson(Buffer.from(fields['payload']))
}

/**
 * The workspaces for whose installation of the app Slack sends an event. In a channel that workspaces share, `team_id` can
 * be another one.
 */
const teamsOf = (payload: unknown): string[] => {
  const authorizations = at(payload, 'authorizations')
  const installed = (Array.isArray(authorizations) ? (authorizations as unknown[]) : []).flatMap((one) => [
    textAt(one, 'team_id'),
    at(one, 'is_enterprise_install') === true ? textAt(one, 'enterprise_id') : undefined,
  ])
  const known = installed.filter((team) => team !== undefined)
  if (known.length > 0) return known
  return [textAt(payload, 'team_id'), textAt(payload, 'team', 'id')].filter((team) => team !== undefined)
}

/** Messages that people write; the other subtypes report edits, joins and deletions. */
const writtenSubtypes = new Set<string | undefined>([undefined, 'file_share', 'thread_broadcast', 'me_message'])

/** Timestamps such as `1531420618.000200` are unique in a channel and increase. */
const positionOf = (ts: string): bigint | undefined =>
  /^\d{1,12}\.\d{6}$/.test(ts) ? BigInt(ts.replace('.', '')) : undefined

const messageOfEvent = (payload: unknown, ownIds: readonly string[]): InboundMessage | undefined => {
  const event = at(payload, 'event')
  const type = textAt(event, 'type')
  if (type !== 'message' && type !== 'app_mention') return undefined
  const [channel, user, text, ts] = ['channel', 'user', 'text', 'ts'].map((key) => textAt(event, key))
  if (channel === undefined || user === undefined || text === undefined || ts === undefined) return undefined
  const bot = textAt(payload, 'authorizations', 0, 'user_id')
  const isBot = textAt(event, 'bot_id') !== undefined || user === bot || ownIds.includes(user)
  if (isBot || !writtenSubtypes.has(textAt(event, 'subtype'))) return undefined
  const thread = textAt(event, 'thread_ts')
  const position = positionOf(ts)
  // Without the mention of the app, which is not part of the message.
  const plain = bot === undefined ? text : text.replaceAll(`<@${bot}>`, '').trim()
  return {
    chat: thread === undefined ? channel : `${channel}/${thread}`,
    title: `Slack: ${channel}`,
    sender: user,
    text: plain === '' ? text : plain,
    ...(position === undefined ? {} : { position }),
    replyTo: { channel, ...(thread === undefined ? {} : { thread }) },
    // A mention in a channel that the app listens to is sent twice, with two event ids.
    secondId: `message:${channel}:${ts}`,
  }
}

const messageOfCommand = (payload: unknown): InboundMessage | undefined => {
  const [channel, user, url] = ['channel_id', 'user_id', 'response_url'].map((key) => textAt(payload, key))
  const text = textAt(payload, 'text')?.trim()
  if (channel === undefined || user === undefined || url === undefined || !text) return undefined
  // The URL is signed, but a signature must not decide which host this server connects to.
  if (URL.parse(url)?.origin !== 'https://hooks.slack.com') return undefined
  return {
    chat: channel,
    title: `Slack: ${textAt(payload, 'channel_name') ?? channel}`,
    sender: textAt(payload, 'user_name') ?? user,
    text,
    replyTo: { url },
  }
}

const toMessage = (
  payload: unknown,
  _request: InboundRequest,
  ownIds: readonly string[],
): InboundMessage | undefined => {
  const type = textAt(payload, 'type')
  if (type === 'event_callback') return messageOfEvent(payload, ownIds)
  return type === 'slash_command' ? messageOfCommand(payload) : undefined
}

const request = ({ text, replyTo }: OutgoingPart): ReplyRequest => {
  const { url } = replyTo
  const noPreviews = { unfurl_links: false, unfurl_media: false }
  // The response URL of a command works in channels that the app is not a member of.
  if (typeof url === 'string') return { url, json: { response_type: 'in_channel', text, ...noPreviews } }
  return {
    method: 'POST',
    path: '/api/chat.postMessage',
    json: { channel: '{channel}', text: '{text}', thread_ts: '{thread}', ...noPreviews },
  }
}

/** Escapes control sequences: unescaped, a model could write `<!channel>` and notify everyone. */
const encode = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Slack apps: https://docs.slack.dev/apis/events-api. */
export const slack: ChatAdapter = {
  verify: bySecret(verifySlack),
  parse,
  handshake: (payload) => {
    const challenge = textAt(payload, 'challenge')
    if (textAt(payload, 'type') !== 'url_verification' || challenge === undefined) return undefined
    return jsonResponse({ challenge })
  },
  // Commands and interactivity have no event id.
  eventId: (payload) => textAt(payload, 'event_id') ?? textAt(payload, 'trigger_id'),
  isOf: (payload, accountId) => {
    const teams = teamsOf(payload)
    return teams.length === 0 || teams.includes(accountId)
  },
  eventType: (payload) => textAt(payload, 'event', 'type') ?? textAt(payload, 'type') ?? 'unknown',
  toMessage,
  // Slack shows the response body of a command in the channel, and rejects one for a submitted view.
  acknowledge: (payload) => (textAt(payload, 'type') === 'event_callback' ? undefined : { status: 200 }),
  reply: { maxLength: 4_000, isRepeatable: () => false, encode, request },
}
