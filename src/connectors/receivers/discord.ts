import { discordKey, verifyDiscord } from '../../platform/signatures/discord.ts'
import { rejected } from '../../platform/signatures/signed-request.ts'
import type { Verdict } from '../../platform/signatures/signed-request.ts'
import { readJson } from './body.ts'
import { at, integerAt, textAt } from './receiver.ts'
import type { Answer, Credential, Inbound, Message, Outgoing, Receiver, ReplyRequest } from './receiver.ts'

const json = (value: unknown): Answer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})

// Interactions and webhook events come to one URL and number their types differently. Only an interaction has a token.
const isInteraction = (payload: unknown): boolean =>
  textAt(payload, 'token') !== undefined && textAt(payload, 'id') !== undefined

const interactionTypes: Record<number, string> = {
  1: 'ping',
  2: 'application_command',
  3: 'message_component',
  4: 'application_command_autocomplete',
  5: 'modal_submit',
}
const typeOf = (payload: unknown): number => Number(at(payload, 'type'))

const handshake = (payload: unknown): Answer | undefined => {
  if (isInteraction(payload)) return typeOf(payload) === 1 ? json({ type: 1 }) : undefined
  if (typeOf(payload) === 0) return { status: 204, contentType: 'application/json; charset=utf-8' }
  // The older of the two pings, told apart by having no event in it.
  return typeOf(payload) === 1 && at(payload, 'event') === undefined ? json({ type: 1 }) : undefined
}

/** What was typed into a command: the values of its options, subcommands included. */
const optionsOf = (options: unknown): string[] => {
  if (!Array.isArray(options)) return []
  return options.flatMap((option) => {
    const value = at(option, 'value')
    const inner = optionsOf(at(option, 'options'))
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isPlain ? [String(value), ...inner] : inner
  })
}

/** A command on a message is about what that message says. */
const resolvedText = (data: unknown): string | undefined =>
  textAt(data, 'resolved', 'messages', textAt(data, 'target_id') ?? '', 'content')

const normalise = (payload: unknown): Message | undefined => {
  if (!isInteraction(payload) || typeOf(payload) !== 2) return undefined
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
    // A command without options is all that was said.
    text: text === undefined || text === '' ? `/${textAt(data, 'name') ?? 'command'}` : text,
    ...(position === undefined ? {} : { position }),
    replyTo: { application, token },
  }
}

/** What an interaction must be answered with within three seconds. */
const acknowledge = (payload: unknown): Answer => {
  if (!isInteraction(payload)) return { status: 204 }
  const type = typeOf(payload)
  // "Thinking …": the answer replaces it.
  if (type === 2) return json({ type: 5 })
  if (type === 4) return json({ type: 8, data: { choices: [] } })
  return json({ type: 6 })
}

// The first part replaces the "thinking", however often it is sent; the others follow it. Nobody is to be pinged because
// a model wrote @everyone.
const request = ({ part }: Outgoing): ReplyRequest => ({
  method: part === 0 ? 'PATCH' : 'POST',
  path: part === 0 ? '/webhooks/{application}/{token}/messages/@original' : '/webhooks/{application}/{token}',
  json: { content: '{text}', allowed_mentions: { parse: [] } },
})

/** Discord tells an application's key when the endpoint is made; without one nothing is genuine. */
const verify = (inbound: Inbound, { settings }: Credential): Verdict => {
  const key = settings.publicKey === undefined ? undefined : discordKey(settings.publicKey)
  return key ? verifyDiscord(inbound, key) : rejected('The endpoint has no public key.')
}

/** Discord applications: https://docs.discord.com/developers/interactions/receiving-and-responding. */
export const discord: Receiver = {
  provider: 'discord',
  verify,
  parse: ({ body }) => readJson(body),
  handshake,
  eventId: (payload) => (isInteraction(payload) ? textAt(payload, 'id') : undefined),
  eventType: (payload) =>
    (isInteraction(payload) ? interactionTypes[typeOf(payload)] : textAt(payload, 'event', 'type')) ?? 'unknown',
  normalise,
  acknowledge,
  reply: { maxLength: 2_000, isRepeatable: (part) => part === 0, request },
}
