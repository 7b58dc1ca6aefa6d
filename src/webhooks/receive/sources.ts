import { discordKey, verifyDiscord } from '../../platform/signatures/discord.ts'
import { verifyGithub } from '../../platform/signatures/github.ts'
import { verifyGitlab } from '../../platform/signatures/gitlab.ts'
import { verifyHmac } from '../../platform/signatures/hmac.ts'
import { verifyJira } from '../../platform/signatures/jira.ts'
import { verifyLinear } from '../../platform/signatures/linear.ts'
import { verifyShopify } from '../../platform/signatures/shopify.ts'
import { headerOf, rejected, sha256 } from '../../platform/signatures/signed-request.ts'
import type { SignedRequest, Verdict } from '../../platform/signatures/signed-request.ts'
import { verifySlack } from '../../platform/signatures/slack.ts'
import { standardKey, verifyStandardWebhook } from '../../platform/signatures/standard-webhooks.ts'
import { verifyStripe } from '../../platform/signatures/stripe.ts'
import { verifyTelegram } from '../../platform/signatures/telegram.ts'
import { verifyToken } from '../../platform/signatures/token.ts'
import { verifyTwilio } from '../../platform/signatures/twilio.ts'
import { fieldOf } from './payload.ts'

/** What a webhook verifies with. */
export interface Credentials {
  secret: string
  secretHash: Buffer
  publicKey: string | null
}

export interface Received extends SignedRequest {
  /** The public URL that the sender used, with its query. */
  url: string
}

/** What has to be answered in the provider's own words, and is no event. */
export interface Handshake {
  status: number
  body: object | undefined
}

/** How the requests of one source are read. */
export interface Source {
  verify(request: Received, credentials: Credentials): Verdict
  /** The provider's id of the event. */
  idOf(request: SignedRequest, payload: unknown): string | undefined
  /**
   * The id travels outside what is signed, so that the same body under another id is the same event: always, or only
   * when an id is given, for senders that need not give one. Not where the verdict says that the id was signed.
   */
  sameBody?: 'always' | 'with id'
  /** Header that says what kind of event it is. */
  typeHeader?: string
  handshake?(payload: unknown): Handshake | undefined
}

const header =
  (name: string) =>
  (request: SignedRequest): string | undefined =>
    headerOf(request, name)

const field =
  (name: string) =>
  (_request: SignedRequest, payload: unknown): string | undefined =>
    fieldOf(payload, name)

const bySecret =
  (verify: (request: SignedRequest, secret: string) => Verdict): Source['verify'] =>
  (request, { secret }) =>
    verify(request, secret)

const standard: Source = {
  verify: (request, { secret }) => {
    const key = standardKey(secret)
    if (key) return verifyStandardWebhook(request, key)
    return rejected('The secret of this webhook is not of the form whsec_<base64>. Rotate it to get one that is.')
  },
  idOf: header('webhook-id'),
}

const slackChallenge = (payload: unknown): Handshake | undefined => {
  const challenge = fieldOf(payload, 'challenge')
  if (fieldOf(payload, 'type') !== 'url_verification' || challenge === undefined) return undefined
  return { status: 200, body: { challenge } }
}

/** The PING of interactions, and that of webhook events on the same URL. */
const discordPing = (payload: unknown): Handshake | undefined => {
  const type = fieldOf(payload, 'type')
  if (type === '1' && !Object.hasOwn(payload as object, 'event')) return { status: 200, body: { type: 1 } }
  return type === '0' ? { status: 204, body: undefined } : undefined
}

const twilioId = (_request: SignedRequest, payload: unknown): string | undefined => {
  const id = fieldOf(payload, 'MessageSid') ?? fieldOf(payload, 'CallSid')
  const status = fieldOf(payload, 'MessageStatus') ?? fieldOf(payload, 'CallStatus') ?? fieldOf(payload, 'SmsStatus')
  return id === undefined ? undefined : [id, status].filter((part) => part !== undefined).join(':')
}

const named: Record<string, Source> = {
  github: {
    verify: bySecret(verifyGithub),
    idOf: header('X-GitHub-Delivery'),
    sameBody: 'always',
    typeHeader: 'X-GitHub-Event',
  },
  gitlab: {
    verify: bySecret(verifyGitlab),
    idOf: (request) => headerOf(request, 'webhook-id') ?? headerOf(request, 'X-Gitlab-Event-UUID'),
    sameBody: 'always',
    typeHeader: 'X-Gitlab-Event',
  },
  jira: {
    verify: bySecret(verifyJira),
    idOf: header('X-Atlassian-Webhook-Identifier'),
    sameBody: 'always',
  },
  stripe: { verify: bySecret(verifyStripe), idOf: field('id') },
  slack: { verify: bySecret(verifySlack), idOf: field('event_id'), handshake: slackChallenge },
  linear: {
    verify: bySecret(verifyLinear),
    idOf: header('Linear-Delivery'),
    sameBody: 'always',
    typeHeader: 'Linear-Event',
  },
  shopify: {
    verify: bySecret(verifyShopify),
    idOf: header('X-Shopify-Webhook-Id'),
    sameBody: 'always',
    typeHeader: 'X-Shopify-Topic',
  },
  telegram: { verify: bySecret(verifyTelegram), idOf: field('update_id') },
  twilio: { verify: (request, { secret }) => verifyTwilio(request, secret), idOf: twilioId },
  discord: {
    verify: (request, { publicKey }) => {
      const key = discordKey(publicKey ?? '')
      return key ? verifyDiscord(request, key) : rejected('This webhook has no public key. Rotate it and give one.')
    },
    idOf: field('id'),
    handshake: discordPing,
  },
  hmac: { verify: bySecret(verifyHmac), idOf: header('webhook-id'), sameBody: 'with id' },
  token: {
    verify: (request, { secretHash }) => verifyToken(request, secretHash),
    idOf: header('webhook-id'),
    sameBody: 'with id',
  },
}

/** Sources that nobody has heard of sign like `custom`. */
export const sourceOf = (name: string): Source => {
  const key = name.toLowerCase()
  return Object.hasOwn(named, key) ? (named[key] ?? standard) : standard
}

export const isStandardSource = (name: string): boolean => sourceOf(name) === standard

/** What tells a body from another when ids do not count. */
export const bodyKeyOf = (body: Buffer): string => `sha256:${sha256(body).toString('hex')}`
