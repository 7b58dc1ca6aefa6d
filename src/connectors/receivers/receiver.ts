import { headerOf, rejected } from '../../platform/signatures/signed-request.ts'
import type { SignedRequest, Verdict } from '../../platform/signatures/signed-request.ts'
import type { RequestTemplate } from '../catalog/definition.ts'
import { at as valueAt } from '../connections/templates.ts'

export { headerOf } from '../../platform/signatures/signed-request.ts'

/** A request as it came in. Nothing in it is believed before it is verified. */
export interface Inbound extends SignedRequest {
  /** The endpoint's URL as the provider was given it, with this request's query: never the Host that it came with. */
  url: string
}

/** What is kept of an endpoint that is not secret. */
export interface EndpointSettings {
  /** Discord: the application's public key, 64 hex digits. */
  publicKey?: string
  /** Gmail: who pushes. Anybody can have Google sign a token for any audience. */
  serviceAccount?: string
  /** The account that the agent speaks as: its own messages start no turn. */
  ownIds?: string[]
  /** What the webhook is for at the provider: a repository, a number. */
  target?: string
  /** What the provider calls its side of it, to take it back. */
  remoteId?: string
}

/** What a request is verified against. */
export interface Credential {
  url: string
  /** Empty where there is none; then nothing that needs one verifies. */
  secret: string
  settings: EndpointSettings
}

/** What the provider is answered with. */
export interface Answer {
  status: 200 | 204
  contentType?: string
  body?: string
}

/** Somebody said something, or something happened, that an agent is to know of. */
export interface Message {
  /** Which conversation of the endpoint it belongs to: each has a session of its own. */
  chat: string
  /** What the session is called. */
  title: string
  /** Who said it, as the provider calls them. */
  sender: string
  text: string
  /** Its place among the messages of the chat, where the provider numbers them. */
  position?: bigint
  /** What the answer needs to get there; kept sealed. */
  replyTo: Record<string, string | number>
  /** Names the message where the provider may tell of it in several events. */
  secondId?: string
}

/** A part of an answer that is on its way out. */
export interface Outgoing {
  text: string
  /** From 0. */
  part: number
  replyTo: Readonly<Record<string, string | number>>
}

/** A request below the connector's API, its placeholders `text` and those of `replyTo`; or one to a URL of the provider. */
export type ReplyRequest = RequestTemplate | { url: string; json: unknown }

/** How answers get back to a chat. */
export interface ReplyChannel {
  /** The most that one message takes, in UTF-16 units. */
  maxLength: number
  /** Whether sending the part twice leaves one message there. */
  isRepeatable(part: number): boolean
  /** The text as the provider wants it written, where some characters mean something to it. */
  encode?(text: string): string
  request(outgoing: Outgoing): ReplyRequest
}

/** One provider's webhooks. Every function but `verify` may trust what it is given. */
export interface Receiver {
  provider: string
  /** Whether the provider sent it. Fails closed: whatever is missing, malformed or stale is not genuine. */
  verify(inbound: Inbound, credential: Credential): Verdict | Promise<Verdict>
  /** The body read; BAD_REQUEST when it is not what the provider would send. */
  parse(inbound: Inbound): unknown
  /** The answer to a request that only asks whether somebody is there. */
  handshake?(payload: unknown, inbound: Inbound): Answer | undefined
  /** The provider's own id for the event, when it has one. */
  eventId(payload: unknown, inbound: Inbound): string | undefined
  /** The id travels outside of what is signed: a body that came before is the same event under any id. */
  isIdUnsigned?: true
  /** `message`, `pull_request.opened` */
  eventType(payload: unknown, inbound: Inbound): string
  /** What the agent is to hear; undefined when there is nothing, or when it said so itself. */
  normalise(payload: unknown, inbound: Inbound, credential: Credential): Message | undefined
  /** What an event is answered with once it is stored, where the provider reads that. */
  acknowledge?(payload: unknown): Answer | undefined
  /** Absent where there is nobody to answer. */
  reply?: ReplyChannel
}

/** The value at a path of keys, undefined as soon as one is missing: payloads have the shape that a provider likes. */
export const at = (value: unknown, ...path: (string | number)[]): unknown => valueAt(value, path.join('.'))

/** The text or number at a path, as text. */
export const textAt = (value: unknown, ...path: (string | number)[]): string | undefined => {
  const found = at(value, ...path)
  if (typeof found === 'string') return found === '' ? undefined : found
  return typeof found === 'number' ? String(found) : undefined
}

/** The whole number at a path. */
export const integerAt = (value: unknown, ...path: (string | number)[]): bigint | undefined => {
  const found = textAt(value, ...path)
  return found !== undefined && /^-?\d{1,19}$/.test(found) && BigInt.asIntN(64, BigInt(found)) === BigInt(found)
    ? BigInt(found)
    : undefined
}

export const isForm = (inbound: Inbound): boolean =>
  headerOf(inbound, 'content-type')?.toLowerCase().startsWith('application/x-www-form-urlencoded') === true

/** A check by a secret, which never passes for want of one. */
export const bySecret =
  (verify: (inbound: Inbound, secret: string) => Verdict): Receiver['verify'] =>
  (inbound, { secret }) =>
    secret === '' ? rejected('The endpoint has no secret.') : verify(inbound, secret)

/** The nouns of an event put before what is known of it, one a line; nothing for what is not there. */
export const describe = (head: string, ...lines: (string | undefined)[]): string =>
  [head, ...lines.filter((line) => line !== undefined && line.trim() !== '')].join('\n')
