import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

const webhookId = IdOf('ID of the webhook.')
const name = Type.String({ description: 'Name of the webhook.' })
const eventId = IdOf('ID of the received event.')
const eventType = Type.String({ description: 'Type of the received event, as the sender calls it.' })

/** An endpoint counts as failing when no attempt has succeeded for this long. Shorter failures end with a retry. */
export const failingAfterSeconds = 300

const common = { area: 'webhooks', subject: 'webhook' } as const

export const webhookEvents = {
  'webhook.created': defineEvent({
    ...common,
    description: 'A webhook was created by a person, or by the server for the first event of a bound organization.',
    data: Type.Object({ webhookId, name, source: Type.String({ description: 'Source of its events.' }) }),
    example: { webhookId: exampleId, name: 'Orders', source: 'shopify' },
  }),
  'webhook.updated': defineEvent({
    ...common,
    description: 'Fields of a webhook were changed, or its secret was replaced (`secret`).',
    data: Type.Object({ webhookId, name, changed: ChangedFields }),
    example: { webhookId: exampleId, name: 'Orders', changed: ['url'] },
  }),
  'webhook.deleted': defineEvent({
    ...common,
    description: 'A webhook was deleted with its events and deliveries.',
    data: Type.Object({ webhookId, name }),
    example: { webhookId: exampleId, name: 'Orders' },
  }),
  'webhook.disabled': defineEvent({
    ...common,
    description:
      'The status of a webhook became `disabled`: by the server after failed deliveries, or by a request. It receives and forwards no events until it is active again.',
    data: Type.Object({
      webhookId,
      name,
      reason: Type.Union([Type.String(), Type.Null()], {
        description: 'Why the server disabled it. Null when a request did.',
      }),
    }),
    example: { webhookId: exampleId, name: 'Orders', reason: 'The endpoint responded with 410 Gone.' },
  }),
  'webhook.recovered': defineEvent({
    ...common,
    description:
      'A webhook works again: a request changed its status from `disabled` to `active`, or an attempt succeeded that began when all attempts had failed for at least five minutes.',
    data: Type.Object({
      webhookId,
      from: Type.Enum(['disabled', 'failing'], { description: 'What it recovered from.' }),
    }),
    example: { webhookId: exampleId, from: 'failing' },
  }),
  'webhook.event.received': defineEvent({
    ...common,
    description: 'A webhook received and stored an event. Duplicates and rejected requests are not reported.',
    data: Type.Object({
      webhookId,
      eventId,
      eventType,
      sizeBytes: Type.Integer({ description: 'Size of the payload in bytes.' }),
    }),
    example: { webhookId: exampleId, eventId: exampleId, eventType: 'order.created', sizeBytes: 1_284 },
  }),
  'webhook.delivery.failed': defineEvent({
    ...common,
    description: 'The server gave up a delivery: no attempt is left, or another one is pointless.',
    data: Type.Object({
      webhookId,
      deliveryId: IdOf('ID of the delivery.'),
      eventId,
      eventType,
      reason: Type.String({ description: 'Why the last attempt failed, or why none was made.' }),
    }),
    example: {
      webhookId: exampleId,
      deliveryId: exampleId,
      eventId: exampleId,
      eventType: 'order.created',
      reason: 'The endpoint responded with 500.',
    },
  }),
}
