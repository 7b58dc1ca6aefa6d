import { Type } from 'typebox'
import type { TObject } from 'typebox'
import { Event, Expanded } from '../../src/events/schemas.ts'
import { eventTypes } from '../../src/outbox/catalog.ts'
import type { EventDefinition } from '../../src/outbox/define.ts'
import type { Json } from './examples.ts'

const definitions = Object.entries(eventTypes) as [string, EventDefinition][]

/** Examples of `expanded`, of the types that have it. */
const expanded: Record<string, object> = {
  'message.created': { text: 'Hello' },
  'webhook.event.received': {
    externalId: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    headers: { 'content-type': 'application/json' },
    contentType: 'application/json',
    payload: { type: 'order.created', order: 42 },
  },
}

const wordsOf = (type: string): string[] => type.split(/[._]/)
const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `webhook.event.received` → `WebhookEventReceivedEvent` */
export const eventSchemaName = (type: string): string => `${wordsOf(type).map(capitalized).join('')}Event`

/** The body of a delivery of one type. */
const bodyOf = (type: string, { version, description, data, example }: EventDefinition): TObject => {
  const { id, orgId, workspaceId, actor, subject, sequence, position, occurredAt, chain } = Event.properties
  return Type.Object(
    {
      id: Type.String({ ...id, description: 'ID of the event, also in the header `webhook-id`.' }),
      type: Type.Literal(type, { description: 'Type of the event.' }),
      version: Type.Literal(version, { description: 'Version of the schema of `data`.' }),
      timestamp: occurredAt,
      isTest: Type.Optional(
        Type.Boolean({ description: 'True for a test event, which is not in the log.', examples: [true] }),
      ),
      orgId,
      workspaceId,
      actor,
      subject,
      sequence,
      position,
      chain,
      data: Type.Object(data.properties, { description: 'What happened.', examples: [example] }),
      ...(expanded[type] ? { expanded: Type.Optional({ ...Expanded, examples: [expanded[type]] }) } : {}),
    },
    { description },
  )
}

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description,
  example,
})

const parameters = [
  header('webhook-id', 'ID of the event, the same on every attempt.', '01a200a3-7c1f-7d3e-8f52-0d9b1c2e4a90'),
  header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.', '1795269728'),
  header(
    'webhook-signature',
    'Signature of Standard Webhooks, over the ID, the time and the body.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header(
    'atrium-event-chain',
    'The chain of the event. A request that repeats the header continues the chain, so that loops end.',
    '01a200a3-7c1f-7d3e-8f52-0d9b1c2e4a90;1;1795356128;q0m4kBm0Yt3bqz0m3M8s3kqX0b1mYdLkq0H9cQ0cTzA',
  ),
]

const responses = {
  '2XX': { description: 'Any 2xx within 15 s: the event is delivered.' },
  '410': { description: 'Disables the event endpoint.' },
  default: { description: 'Anything else, or no response: the event is sent again later.' },
}

/** What the owner of an event endpoint needs to receive events of a type. */
const requirementOf = ({ area, owner }: EventDefinition): string => {
  if (owner === undefined) return `Requires the permission \`${area}:read\` of the owner of the endpoint.`
  const own = `the permission \`${owner.area}:read\` for what belongs to the owner of the endpoint`
  return owner.isOnlyReader
    ? `Requires ${own}; what belongs to others is not sent.`
    : `Requires ${own}, and \`${area}:read\` for the rest.`
}

/**
 * The requests that Atrium sends to event endpoints, one for each event type. `convert` stores a schema as a component of
 * the document and returns a reference to it; `example` is composed from the examples of its fields.
 */
export const webhooksOf = (
  convert: (schema: TObject, name: string) => Json,
  exampleOf: (schema: Json, id: string) => Json | undefined,
): Record<string, Json> =>
  Object.fromEntries(
    definitions.map(([type, definition]): [string, Json] => {
      const name = eventSchemaName(type)
      const schema = convert(bodyOf(type, definition), name)
      const composed = exampleOf(schema, type) as Record<string, Json>
      const { isTest: _, ...example } = {
        ...composed,
        subject: { ...(composed['subject'] as Record<string, Json>), type: definition.subject },
      } as Record<string, Json>
      return [
        type,
        {
          post: {
            operationId: `on${name}`,
            summary: `Receive ${type}`,
            description: `${definition.description}\n\nSent to event endpoints that receive \`${type}\`. ${requirementOf(definition)}`,
            tags: ['Events'],
            security: [],
            parameters,
            requestBody: { required: true, content: { 'application/json': { schema, example } } },
            responses,
          },
        },
      ]
    }),
  )
