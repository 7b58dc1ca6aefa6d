import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, TimestampOf, UpdatedAt, WholeListQuery } from '../platform/http/schemas.ts'

/** Number of webhooks that the list returns when no limit is sent. */
export const wholeList = 1_000

const statusMeaning =
  '`active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND.'

const Status = (description: string) => Type.Enum(['active', 'paused', 'disabled'], { description })

const urlExample = { examples: ['https://hooks.example.com/orders'] }
const receiveUrl = 'https://atrium.example.com/api/v1/webhooks/receive/01a1fc7d-9fd0-79dc-a335-45f9cc19b81e'
const eventsExample = { examples: [['order.*', 'refund.created']] }
const descriptionExample = { examples: ['Orders of the web shop'] }
const typeExample = { examples: ['order.created'] }
const headersExample = {
  examples: [{ 'content-type': 'application/json', 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' }],
}
const payloadExample = { examples: [{ type: 'order.created', order: 42 }] }

export const FailingSince = Nullable(
  TimestampOf(
    'Time of the first failed attempt since the last successful one or change of `status`. Null without one.',
    null,
  ),
)

export const RecentResults = Type.Array(Type.Enum(['succeeded', 'failed']), {
  description:
    'How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included.',
  examples: [['succeeded', 'failed', 'succeeded']],
})

export const WebhookHealth = Type.Object(
  {
    id: IdOf('ID of the webhook.'),
    failingSince: FailingSince,
    recentResults: RecentResults,
    lastResult: Nullable(
      Type.Enum(['succeeded', 'failed'], {
        description: 'How the newest of `recentResults` ended. Null without one.',
        examples: ['succeeded'],
      }),
    ),
    lastResultAt: Nullable(TimestampOf('Time when the newest of `recentResults` ended. Null without one.')),
    successRate: Nullable(
      Type.Number({ description: 'Share of `recentResults` that succeeded, 0–1. Null without one.', examples: [0.95] }),
    ),
  },
  { description: 'How the deliveries of a webhook go.' },
)

export const Webhook = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'Name, 1–120 characters.', examples: ['Orders'] }),
    url: Type.String({
      description: 'URL that events are forwarded to. The same as `receiveUrl` when they are only recorded.',
      ...urlExample,
    }),
    source: Type.String({
      description: 'Provider of the events, which decides how requests are verified.',
      examples: ['custom'],
    }),
    description: Nullable(
      Type.String({ description: 'Description, at most 2,000 characters.', ...descriptionExample }),
    ),
    events: Type.Array(Type.String(), {
      description: 'Event types that are forwarded, such as `invoice.paid` or `invoice.*`. Empty: all of them.',
      ...eventsExample,
    }),
    status: Status(statusMeaning),
    statusReason: Nullable(
      Type.String({ description: 'Why the server disabled the webhook. Null when it did not.', examples: [null] }),
    ),
    enabled: Type.Boolean({ description: 'Whether `status` is `active`.', examples: [true] }),
    deliveryCount: Type.Integer({ description: 'Number of deliveries that were attempted.', examples: [128] }),
    lastDeliveryAt: Nullable(TimestampOf('Time of the last delivery. Null before the first.')),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
    receiveUrl: Type.String({
      description: 'URL that the provider sends events to. It needs no API key.',
      examples: [receiveUrl],
    }),
  },
  { description: 'A URL that receives events, with an optional URL to forward them to.' },
)

export const WebhookWithSecret = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({
      description: 'Signing secret. Returned only here; store it in a safe place.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  },
  { description: 'The webhook with its signing secret.' },
)

const name = Type.String({ minLength: 1, maxLength: 120, description: 'Name, 1–120 characters.', examples: ['Orders'] })
const source = Type.String({
  maxLength: 100,
  description:
    'Provider of the events, at most 100 characters. `github`, `gitlab`, `jira`, `stripe`, `slack`, `linear`, `shopify`, `telegram`, `twilio`, `discord`, `hmac` and `token` are verified by their own scheme, any other value by Standard Webhooks. Default `custom`.',
  examples: ['custom'],
})
const url = Nullable(
  Type.String({
    maxLength: 2_048,
    description:
      'Public HTTP or HTTPS URL to forward events to, at most 2,048 characters. Default, also for null and empty: events are only recorded.',
    ...urlExample,
  }),
)
const description = Nullable(
  Type.String({
    maxLength: 2_000,
    description: 'Description, at most 2,000 characters. Default: none.',
    ...descriptionExample,
  }),
)
const events = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description:
    'Event types to forward, such as `invoice.paid` or `invoice.*`, at most 100 of 255 characters. Default: all of them.',
  ...eventsExample,
})

const given = {
  secret: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 256,
      description: 'Signing secret that the provider issued, 8–256 characters. Default: a new secret is generated.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  ),
  publicKey: Type.Optional(
    Type.String({
      maxLength: 128,
      description:
        'Public key of the application in hexadecimal, at most 128 characters. Required to create a webhook for `discord`.',
    }),
  ),
}

export const WebhookCreate = Type.Object(
  {
    name,
    url: Type.Optional(url),
    source: Type.Optional(source),
    description: Type.Optional(description),
    events: Type.Optional(events),
    ...given,
  },
  {
    examples: [{ name: 'Orders', url: 'https://hooks.example.com/orders', events: ['order.*', 'refund.created'] }],
  },
)
export type WebhookCreate = Static<typeof WebhookCreate>

export const WebhookPatch = Type.Object(
  {
    name: Type.Optional(name),
    url: Type.Optional(url),
    source: Type.Optional(source),
    description: Type.Optional(description),
    events: Type.Optional(events),
    enabled: Type.Optional(
      Type.Boolean({
        description: 'True sets `status` to `active`, false to `paused`. Ignored when `status` is sent.',
      }),
    ),
    status: Type.Optional(Status(statusMeaning)),
  },
  { examples: [{ events: ['order.*'], status: 'paused' }] },
)
export type WebhookPatch = Static<typeof WebhookPatch>

export const SecretRotate = Type.Object(given, {
  examples: [{ secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }],
})
export type SecretRotate = Static<typeof SecretRotate>

export const WebhookListQuery = WholeListQuery
export type WebhookListQuery = Static<typeof WebhookListQuery>

const WebhookId = IdOf('ID of the webhook.')
const EventId = IdOf('ID of the event.')
const EventType = Type.String({ description: 'Type of the event.', ...typeExample })

export const WebhookEvent = Type.Object(
  {
    id: Id,
    webhookId: WebhookId,
    webhookName: Type.String({ description: 'Name of the webhook.', examples: ['Orders'] }),
    type: EventType,
    externalId: Nullable(
      Type.String({
        description: "Sender's event ID. Null without one.",
        examples: ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
      }),
    ),
    payload: Type.Unknown({
      description: 'Body of the request: JSON, the fields of a form, or text. Null in lists when larger than 64 KB.',
      ...payloadExample,
    }),
    sizeBytes: Type.Integer({ description: 'Size of the body in bytes.', examples: [35] }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the request that describe the event, with names in lower case.',
      ...headersExample,
    }),
    status: Type.Enum(['recorded', 'filtered'], {
      description: '`filtered`: the type is not in `events` of the webhook, so the event is not forwarded.',
    }),
    receivedAt: TimestampOf('Time when the event was received.'),
  },
  { description: 'An event that a webhook received.' },
)

const Duration = (of: string) =>
  Type.Integer({ description: `Duration of the ${of}, in milliseconds.`, examples: [84] })

const DeliveryResponse = Type.Object(
  {
    status: Type.Integer({ description: 'HTTP status code.', examples: [200] }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the response, with names in lower case.',
      examples: [{ 'content-type': 'application/json' }],
    }),
    body: Type.String({ description: 'First 4 KB of the body, as text.', examples: ['{"ok":true}'] }),
    truncated: Type.Boolean({ description: 'Whether the body is longer.' }),
    durationMs: Duration('request'),
  },
  { description: 'Response of the endpoint to the last attempt. Null without one.' },
)

const Attempt = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the attempt, from 1.', examples: [1] }),
    trigger: Type.Enum(['automatic', 'manual'], { description: 'Whether a person requested the attempt.' }),
    at: TimestampOf('Time of the attempt.'),
    durationMs: Duration('attempt'),
    url: Type.String({ description: 'URL that the event was sent to.', ...urlExample }),
    responseStatus: Nullable(
      Type.Integer({ description: 'HTTP status code of the response. Null without one.', examples: [200] }),
    ),
    error: Nullable(Type.String({ description: 'Why the attempt failed. Null when it succeeded.', examples: [null] })),
  },
  { description: 'An attempt to deliver the event.' },
)

export const Delivery = Type.Object(
  {
    id: Id,
    webhookId: WebhookId,
    eventId: EventId,
    eventType: EventType,
    url: Nullable(
      Type.String({
        description: 'URL that the event is sent to. Null when the webhook forwards nowhere.',
        ...urlExample,
      }),
    ),
    status: Type.Enum(['pending', 'sending', 'succeeded', 'failed', 'held'], {
      description:
        '`pending`: waits for an attempt. `sending`: an attempt is running. `failed`: no attempts are left. `held`: the webhook is paused or disabled; sent when it is active again.',
      examples: ['succeeded'],
    }),
    statusReason: Nullable(
      Type.String({ description: 'Explanation of the status. Null when there is nothing to add.', examples: [null] }),
    ),
    retryCount: Type.Integer({ description: 'Number of attempts after the first.', examples: [0] }),
    nextAttemptAt: Nullable(TimestampOf('Time of the next attempt. Null when none is planned.', null)),
    response: Nullable(DeliveryResponse),
    error: Nullable(
      Type.String({ description: 'Why the last attempt failed. Null when it succeeded.', examples: [null] }),
    ),
    attempts: Type.Array(Attempt, { description: 'Attempts, oldest first.' }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'The delivery of an event to the URL of a webhook.' },
)

export const EventParams = Type.Object({ id: WebhookId, eventId: EventId })
export const DeliveryParams = Type.Object({ id: WebhookId, deliveryId: IdOf('ID of the delivery.') })

export const Recover = Type.Object({
  since: Type.String({
    format: 'date-time',
    description: 'Retry failed deliveries that were created at this time or later.',
    examples: ['2026-11-21T00:00:00.000Z'],
  }),
})
export const Recovered = Type.Object(
  { queued: Type.Integer({ description: 'Number of deliveries that are retried.', examples: [17] }) },
  { description: 'The number of retried deliveries.' },
)

export const WebhookTest = Type.Object({
  webhookId: WebhookId,
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Type of the event, 1–255 characters. Default `webhook.test`.',
      ...typeExample,
    }),
  ),
  payload: Type.Optional(
    Type.Unknown({
      description: 'Payload of the event: any JSON value. Default: an object with a test message.',
      ...payloadExample,
    }),
  ),
})
export type WebhookTest = Static<typeof WebhookTest>

export const WebhookVerify = Type.Object(
  {
    webhookId: WebhookId,
    payload: Type.String({ description: 'Body of the request, byte for byte.' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the request. Letter case of the names is ignored.',
    }),
    url: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description:
          'For `twilio`: the URL that was called, at most 4,096 characters. Default: the `receiveUrl` of the webhook.',
      }),
    ),
  },
  {
    examples: [
      {
        webhookId: '01a1fc7d-9fd0-79dc-a335-45f9cc19b81e',
        payload: '{"type":"order.created","order":42}',
        headers: {
          'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
          'webhook-timestamp': '1795305600',
          'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
        },
      },
    ],
  },
)
export type WebhookVerify = Static<typeof WebhookVerify>

export const Verified = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether the signature is valid.' }),
    reason: Nullable(
      Type.String({
        description: 'Why the signature is not valid. Null when it is.',
        examples: ['The header webhook-signature is missing.'],
      }),
    ),
  },
  { description: 'The result of the verification.' },
)

export const Receipt = Type.Object(
  {
    received: Type.Literal(true, { description: 'Always true.' }),
    eventId: IdOf('ID of the stored event. For a duplicate, of the first one.'),
    duplicate: Type.Boolean({ description: 'Whether the event was received before.' }),
  },
  { description: 'Confirmation that the event is stored.' },
)

export const ReceiveParams = Type.Object({ webhookId: WebhookId })
