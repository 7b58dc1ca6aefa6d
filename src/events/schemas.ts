import { Type } from 'typebox'
import type { Static } from 'typebox'
import { exampleId } from '../outbox/types/fields.ts'
import { Id, IdOf, ListQuery, Nullable, TimestampOf } from '../platform/http/schemas.ts'

const Position = Type.Integer({
  description: 'Position in the log of the org, from 1. Increases in the order in which events became visible.',
  examples: [1042],
})

export const EventActor = Type.Object(
  {
    type: Type.Enum(['user', 'system'], { description: '`system`: the server itself or a command of the operator.' }),
    id: Nullable(IdOf('ID of the user. Null for `system`.')),
    name: Type.String({ description: 'Name at the time of the event.', examples: ['Ada Lovelace'] }),
    apiKeyId: Nullable(IdOf('ID of the API key. Null without one.')),
  },
  { description: 'Who caused the event.' },
)

export const Event = Type.Object(
  {
    id: Id,
    type: Type.String({ description: 'Type, one of `GET /event-types`.', examples: ['agent.updated'] }),
    version: Type.Integer({ description: 'Version of the schema of `data`.', examples: [1] }),
    orgId: IdOf('ID of the org.'),
    workspaceId: Nullable(IdOf('ID of the workspace. Null for an event of the whole org.')),
    actor: EventActor,
    subject: Type.Object(
      { type: Type.String({ description: 'Type of resource.', examples: ['agent'] }), id: IdOf('ID of the resource.') },
      { description: 'What the event is about.' },
    ),
    position: Position,
    sequence: Type.Integer({ description: 'Number of the event among those of its subject, from 1.', examples: [3] }),
    occurredAt: TimestampOf('Time of the change.', '2026-11-21T14:02:11.480Z'),
    chain: Type.Object(
      {
        id: IdOf('ID of the first event of the chain.'),
        depth: Type.Integer({ description: 'Number of events before this one.', examples: [0] }),
      },
      { description: 'The events that led to this one; see the loop guard in the guide on events.' },
    ),
    isDelivered: Type.Boolean({
      description: 'False when the loop guard stopped the event: it is recorded and not delivered.',
      examples: [true],
    }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Fields of the type; `GET /event-types` has their schema.',
      examples: [{ agentId: exampleId, name: 'Helper', slug: 'helper', changed: ['model'] }],
    }),
  },
  { description: 'Something that happened in Atrium.' },
)

export const Expanded = Type.Optional(
  Nullable(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types.',
      examples: [{ text: 'Hello' }],
    }),
  ),
)

export const ExpandedEvent = Type.Object({ ...Event.properties, expanded: Expanded }, { description: 'An event.' })

export const EventQuery = Type.Object({
  expand: Type.Optional(
    Type.Boolean({ description: 'Whether to return `expanded`. Default: false.', examples: [true] }),
  ),
})

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      description:
        '`nextCursor` of the previous page, or the `position` of an event. BAD_REQUEST beyond the last event. Default: the first event that is kept, or with `order=desc` the last one is returned first.',
      examples: ['1042'],
    }),
  ),
  order: Type.Enum(['asc', 'desc'], { default: 'asc', description: 'Oldest or newest first. Default `asc`.' }),
  limit: ListQuery.properties.limit,
  types: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description:
        'Event types separated by commas, such as `file.*,agent.created`, at most 50 types and 2,000 characters. Default: all.',
    }),
  ),
  workspaceId: Type.Optional(IdOf('Only events of this workspace, and of the whole org.')),
  subjectId: Type.Optional(IdOf('Only events about this resource.')),
})
export type EventListQuery = Static<typeof EventListQuery>

export const EventStreamQuery = Type.Pick(EventListQuery, ['after', 'types'])
export type EventStreamQuery = Static<typeof EventStreamQuery>

export const EventList = Type.Object(
  {
    items: Type.Array(Event, { description: 'Events of this page.' }),
    nextCursor: Nullable(
      Type.String({
        description:
          'Send it as `after` to continue. Also set on the last page: events that happen later follow it. Null before the first event of the org.',
        examples: ['1042'],
      }),
    ),
    hasMore: Type.Boolean({ description: 'Whether more events follow now. A page can be empty although they do.' }),
  },
  { description: 'A page of the log.' },
)

export const EventTypeRecord = Type.Object(
  {
    type: Type.String({ description: 'Name of the type.', examples: ['agent.updated'] }),
    version: Type.Integer({ description: 'Version of `dataSchema`.', examples: [1] }),
    description: Type.String({ description: 'When the event occurs.', examples: ['Fields of an agent were changed.'] }),
    permission: Type.String({ description: 'Permission that a reader needs.', examples: ['agents:read'] }),
    ownerPermission: Nullable(
      Type.String({ examples: ['keys:read'] }),
      'Permission with which the person to whom the subject belongs, such as an API key or a connection, may read its events. Null: the subject belongs to nobody.',
    ),
    isOwnerOnly: Type.Boolean({ description: 'Whether only that person may read the event.', examples: [false] }),
    subject: Type.String({ description: 'Type of resource that the event is about.', examples: ['agent'] }),
    dataSchema: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'JSON Schema (2020-12) of `data`.',
    }),
    exampleData: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'Example of `data`.' }),
  },
  { description: 'A type of event.' },
)
