import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

/** As many as the list of webhooks answers in one go when no limit is named. */
export const wholeList = 1_000

const Status = Type.Enum(['active', 'paused', 'disabled'])

export const Webhook = Type.Object({
  id: Id,
  name: Type.String(),
  url: Type.String({ description: 'Where events are forwarded to; the receive URL when nowhere' }),
  source: Type.String({ description: 'Decides how requests are verified' }),
  description: Nullable(Type.String()),
  events: Type.Array(Type.String(), { description: 'Types that are let through; empty: all of them' }),
  status: Status,
  statusReason: Nullable(Type.String({ description: 'Why the server itself disabled it' })),
  enabled: Type.Boolean({ description: 'Whether the status is active' }),
  deliveryCount: Type.Integer({ description: 'Deliveries that were attempted' }),
  lastDeliveryAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  receiveUrl: Type.String({ description: 'Where providers send events to; needs no API key' }),
})

export const WebhookWithSecret = Type.Object({
  ...Webhook.properties,
  secret: Type.String({ description: 'Told this once' }),
})

const name = Type.String({ minLength: 1, maxLength: 120 })
const source = Type.String({
  maxLength: 100,
  description:
    'github, gitlab, jira, stripe, slack, linear, shopify, telegram, twilio, discord, hmac or token verify by that native scheme; custom and anything else by Standard Webhooks',
})
const url = Nullable(
  Type.String({ maxLength: 2_048, description: 'A public http(s) URL. Null or empty: events are only recorded' }),
)
const description = Nullable(Type.String({ maxLength: 2_000 }))
const events = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description: 'Types to let through, such as `invoice.paid` or `invoice.*`; empty: all',
})

const given = {
  secret: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 256,
      description: 'For sources whose provider makes the secret; left out, one is made',
    }),
  ),
  publicKey: Type.Optional(Type.String({ maxLength: 128, description: 'For discord: hexadecimal' })),
}

export const WebhookCreate = Type.Object({
  name,
  url: Type.Optional(url),
  source: Type.Optional(source),
  description: Type.Optional(description),
  events: Type.Optional(events),
  ...given,
})
export type WebhookCreate = Static<typeof WebhookCreate>

export const WebhookPatch = Type.Object({
  name: Type.Optional(name),
  url: Type.Optional(url),
  source: Type.Optional(source),
  description: Type.Optional(description),
  events: Type.Optional(events),
  enabled: Type.Optional(Type.Boolean({ description: 'Counts only without `status`' })),
  status: Type.Optional(Status),
})
export type WebhookPatch = Static<typeof WebhookPatch>

export const SecretRotate = Type.Object(given)
export type SecretRotate = Static<typeof SecretRotate>

export const WebhookListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Unset: everything, up to ${wholeList} items` }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' })),
})
export type WebhookListQuery = Static<typeof WebhookListQuery>

export const RecentEventsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
  cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' })),
})

export const WebhookEvent = Type.Object({
  id: Id,
  webhookId: Id,
  webhookName: Type.String(),
  type: Type.String(),
  externalId: Nullable(Type.String({ description: "The provider's id of the event" })),
  payload: Type.Unknown({ description: 'JSON, the fields of a form, or text; null in lists when larger than 64 KB' }),
  sizeBytes: Type.Integer({ description: 'Length of the body' }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Those that say something of the event' }),
  status: Type.Enum(['recorded', 'filtered'], { description: 'filtered: its type is off the allowlist' }),
  receivedAt: Timestamp,
})

const DeliveryResponse = Type.Object({
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String({ description: 'Its first 4 KB as text' }),
  truncated: Type.Boolean(),
  durationMs: Type.Integer(),
})

const Attempt = Type.Object({
  number: Type.Integer(),
  trigger: Type.Enum(['automatic', 'manual']),
  at: Timestamp,
  durationMs: Type.Integer(),
  url: Type.String(),
  responseStatus: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
})

export const Delivery = Type.Object({
  id: Id,
  webhookId: Id,
  eventId: Id,
  eventType: Type.String(),
  url: Nullable(Type.String()),
  status: Type.Enum(['pending', 'sending', 'succeeded', 'failed', 'held'], {
    description: 'held: the webhook is paused or disabled',
  }),
  statusReason: Nullable(Type.String({ description: 'What it waits for, or why it was given up' })),
  retryCount: Type.Integer({ description: 'Attempts after the first' }),
  nextAttemptAt: Nullable(Timestamp),
  response: Nullable(DeliveryResponse),
  error: Nullable(Type.String({ description: 'Why the last attempt failed' })),
  attempts: Type.Array(Attempt),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const EventParams = Type.Object({ id: Id, eventId: Id })
export const DeliveryParams = Type.Object({ id: Id, deliveryId: Id })

export const Recover = Type.Object({
  since: Type.String({ format: 'date-time', description: 'Failed deliveries that were created since then' }),
})
export const Recovered = Type.Object({ queued: Type.Integer() })

export const WebhookTest = Type.Object({
  webhookId: Id,
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  payload: Type.Optional(Type.Unknown({ description: 'Any JSON' })),
})
export type WebhookTest = Static<typeof WebhookTest>

export const WebhookVerify = Type.Object({
  webhookId: Id,
  payload: Type.String({ description: 'The raw body' }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'By names in any case' }),
  url: Type.Optional(
    Type.String({ maxLength: 4_096, description: 'For twilio: the URL that was called; the receive URL if left out' }),
  ),
})
export type WebhookVerify = Static<typeof WebhookVerify>

export const Verified = Type.Object({
  valid: Type.Boolean(),
  reason: Nullable(Type.String({ description: 'What is wrong' })),
})

export const Receipt = Type.Object({
  received: Type.Literal(true),
  eventId: Id,
  duplicate: Type.Boolean({ description: 'It was here already; `eventId` is that of the first' }),
})

export const ReceiveParams = Type.Object({ webhookId: Id })
