import { headerOf, rejected } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'

/** A request as it arrived. Nothing in it can be trusted before it is verified. */
export interface InboundRequest extends SignedRequest {
  /** The public URL that the provider called, with its query: Twilio signs it, Google names it as the audience. */
  url: string
}

/** What a request is verified against. */
export interface Credentials {
  /** Empty when there is none; every adapter that needs a secret then rejects. */
  secret: string
  /** SHA-256 of the secret, where it is stored; adapters that need it compute it otherwise. */
  secretHash?: Uint8Array
  /** Discord: the application's public key, 64 hexadecimal digits. */
  publicKey?: string
  /**
   * Gmail: the service account that pushes. The audience alone proves nothing, because any Google account can request a
   * token for it.
   */
  serviceAccount?: string
}

/** A response that the provider expects in its own format. */
export interface ProviderResponse {
  status: 200 | 204
  contentType?: string
  body?: string
}

/** A message, or a description of an event, for an agent. */
export interface InboundMessage {
  /** The conversation at the provider; each gets its own session. */
  chat: string
  /** Title of that session. */
  title: string
  /** The sender's name at the provider. */
  sender: string
  text: string
  /** Order among the messages of the chat, if the provider numbers them. */
  position?: bigint
  /**
   * The data that is needed to send a reply to the chat. Stored encrypted, because Slack and Discord put tokens into
   * it.
   */
  replyTo: Record<string, string | number>
  /** Identifies the message if the provider may report it in several events. */
  secondId?: string
}

/** One part of a reply. */
export interface OutgoingPart {
  text: string
  /** From 0. */
  part: number
  replyTo: Readonly<Record<string, string | number>>
}

type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

/**
 * A request to the connector's API with the placeholders `{text}` and those of `replyTo`, or a POST to an absolute URL
 * of the provider.
 */
export type ReplyRequest =
  | {
      method: 'POST' | 'PATCH'
      path: string
      json?: Template
      form?: { readonly [name: string]: Template }
    }
  | { url: string; json: unknown }

/** How replies are sent to a chat. */
export interface ReplyChannel {
  /** Longest message in UTF-16 units. */
  maxLength: number
  /** Whether sending the part twice leaves a single message. */
  isRepeatable(part: number): boolean
  /** Escapes characters that have a meaning in the provider's markup. */
  encode?(text: string): string
  /**
   * Without a preview of links: the provider fetches them before anybody has clicked, and a text that the agent has read
   * could make it write what it knows into the URL of a stranger.
   */
  request(outgoing: OutgoingPart): ReplyRequest
}

/**
 * Everything that is specific to one provider: verification, event id, event type and handshake for all events, and the
 * chat functions for the events that become turns of an agent. Only `verify` sees unverified input; the other functions
 * accept payloads of any shape, because a signature proves who sent a payload, not that it is well formed.
 */
export interface ProviderAdapter {
  /** Fails closed: a request is rejected if anything is missing, malformed or stale. */
  verify(request: InboundRequest, credentials: Credentials): SignatureVerdict | Promise<SignatureVerdict>
  /** The provider's id of the event, if it has one. */
  eventId(payload: unknown, request: InboundRequest): string | undefined
  /**
   * The event id is not covered by the signature, so a replayed body could have a new id: the same body counts as the
   * same event. `with-id`: only if an id was given, for custom senders that may omit it. Does not apply if the verdict
   * says that the id was signed.
   */
  sameBody?: 'always' | 'with-id'
  /** Header that names the event type, for webhooks whose payload does not. */
  typeHeader?: string
  /** The response to a request that only checks the URL and contains no event. */
  handshake?(payload: unknown): ProviderResponse | undefined
}

/** A provider whose events can become turns of an agent. */
export interface ChatAdapter extends ProviderAdapter {
  /** Reads the body; BAD_REQUEST if the provider would not send it. */
  parse(request: InboundRequest): unknown
  /** `message`, `pull_request.opened` */
  eventType(payload: unknown, request: InboundRequest): string
  /** A test event, which gets an empty 200 response and is not stored. */
  isPing?(request: InboundRequest): boolean
  /**
   * Whether a verified event belongs to this account of the provider, where one URL receives the events of all accounts
   * that use an app. Default: true.
   */
  isOf?(payload: unknown, accountId: string): boolean
  /** The message for the agent; undefined if there is none, or if it was sent by one of the agent's own accounts. */
  toMessage(payload: unknown, request: InboundRequest, ownIds: readonly string[]): InboundMessage | undefined
  /** The response to a stored event, if the provider acts on it. */
  acknowledge?(payload: unknown): ProviderResponse | undefined
  /** Undefined if the provider has no chat to reply to. */
  reply?: ReplyChannel
}

export const jsonResponse = (value: unknown): ProviderResponse => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})

/** Verification by the secret; rejects if there is none. */
export const bySecret =
  (
    verify: (request: InboundRequest, secret: string) => SignatureVerdict,
  ): ((request: InboundRequest, credentials: Credentials) => SignatureVerdict) =>
  (request, { secret }) =>
    secret === '' ? rejected('No secret is configured.') : verify(request, secret)

/** Event id in a header. */
export const idHeader =
  (name: string): ProviderAdapter['eventId'] =>
  (_payload, request) =>
    headerOf(request, name)

/** Describes an event for an agent, one fact a line; empty facts are left out. */
export const describeEvent = (head: string, ...lines: (string | undefined)[]): string =>
  [head, ...lines.filter((line) => line !== undefined && line.trim() !== '')].join('\n')
