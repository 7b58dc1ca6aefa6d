import { verifySlack } from '../../platform/signatures/slack.ts'
import { readForm, readJson } from './body.ts'
import { at, bySecret, isForm, textAt } from './receiver.ts'
import type { Credential, Inbound, Message, Outgoing, Receiver, ReplyRequest } from './receiver.ts'

// Three kinds of requests come to one URL: events (JSON), commands (a form) and interactivity (JSON inside a form).
const parse = (inbound: Inbound): unknown => {
  if (!isForm(inbound)) return readJson(inbound.body)
  const fields = readForm(inbound.body)
  return fields['payload'] === undefined
    ? { type: 'slash_command', ...fields }
    : readJson(Buffer.from(fields['payload']))
}

/** What people write, as opposed to what Slack tells about messages (edits, joins, deletions). */
const personalSubtypes = new Set<string | undefined>([undefined, 'file_share', 'thread_broadcast', 'me_message'])

/** `1531420618.000200`, unique in its channel and growing. */
const positionOf = (ts: string): bigint | undefined =>
  /^\d{1,12}\.\d{6}$/.test(ts) ? BigInt(ts.replace('.', '')) : undefined

const ofEvent = (payload: unknown, ownIds: string[]): Message | undefined => {
  const event = at(payload, 'event')
  const type = textAt(event, 'type')
  if (type !== 'message' && type !== 'app_mention') return undefined
  const [channel, user, text, ts] = ['channel', 'user', 'text', 'ts'].map((key) => textAt(event, key))
  if (channel === undefined || user === undefined || text === undefined || ts === undefined) return undefined
  const bot = textAt(payload, 'authorizations', 0, 'user_id')
  const isBot = textAt(event, 'bot_id') !== undefined || user === bot || ownIds.includes(user)
  if (isBot || !personalSubtypes.has(textAt(event, 'subtype'))) return undefined
  const thread = textAt(event, 'thread_ts')
  const position = positionOf(ts)
  // The mention of the app is for the app, not for the agent.
  const said = bot === undefined ? text : text.replaceAll(`<@${bot}>`, '').trim()
  return {
    chat: thread === undefined ? channel : `${channel}/${thread}`,
    title: `Slack: ${channel}`,
    sender: user,
    text: said === '' ? text : said,
    ...(position === undefined ? {} : { position }),
    replyTo: { channel, ...(thread === undefined ? {} : { thread }) },
    // A mention in a channel that the app listens to comes twice, under two event ids.
    secondId: `message:${channel}:${ts}`,
  }
}

const ofCommand = (payload: unknown): Message | undefined => {
  const [channel, user, url] = ['channel_id', 'user_id', 'response_url'].map((key) => textAt(payload, key))
  const text = textAt(payload, 'text')?.trim()
  if (channel === undefined || user === undefined || url === undefined || !text) return undefined
  // It came with a signed request, but a signature is not what decides where this server connects to.
  if (URL.parse(url)?.origin !== 'https://hooks.slack.com') return undefined
  return {
    chat: channel,
    title: `Slack: ${textAt(payload, 'channel_name') ?? channel}`,
    sender: textAt(payload, 'user_name') ?? user,
    text,
    replyTo: { url },
  }
}

const normalise = (payload: unknown, _inbound: Inbound, { settings }: Credential): Message | undefined => {
  const type = textAt(payload, 'type')
  if (type === 'event_callback') return ofEvent(payload, settings.ownIds ?? [])
  return type === 'slash_command' ? ofCommand(payload) : undefined
}

const request = ({ text, replyTo }: Outgoing): ReplyRequest => {
  const { url } = replyTo
  // The way to answer a command, also where the app is no member of the channel.
  if (typeof url === 'string') return { url, json: { response_type: 'in_channel', text } }
  return {
    method: 'POST',
    path: '/api/chat.postMessage',
    json: { channel: '{channel}', text: '{text}', thread_ts: '{thread}' },
  }
}

// Otherwise what a model writes could name channels and ping everybody in them.
const encode = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Slack apps: https://docs.slack.dev/apis/events-api. */
export const slack: Receiver = {
  provider: 'slack',
  verify: bySecret(verifySlack),
  parse,
  handshake: (payload) => {
    const challenge = textAt(payload, 'challenge')
    if (textAt(payload, 'type') !== 'url_verification' || challenge === undefined) return undefined
    return { status: 200, contentType: 'application/json; charset=utf-8', body: JSON.stringify({ challenge }) }
  },
  eventId: (payload) => textAt(payload, 'event_id') ?? textAt(payload, 'trigger_id'),
  eventType: (payload) => textAt(payload, 'event', 'type') ?? textAt(payload, 'type') ?? 'unknown',
  normalise,
  // A command shows what it is answered with, and a submitted view wants nothing in it.
  acknowledge: (payload) => (textAt(payload, 'type') === 'event_callback' ? undefined : { status: 200 }),
  reply: { maxLength: 4_000, isRepeatable: () => false, encode, request },
}
