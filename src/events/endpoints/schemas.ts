import { Type } from 'typebox'
import type { Static } from 'typebox'
import { exampleId } from '../../outbox/types/fields.ts'
import { CreatedAt, Id, IdOf, Nullable, TimestampOf, UpdatedAt, WholeListQuery } from '../../platform/http/schemas.ts'
import { Delivery, FailingSince, RecentResults } from '../../webhooks/schemas.ts'
import { maxTransformLength } from './transform/protocol.ts'

const statusMeaning =
  '`active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events.'

const Status = Type.Enum(['active', 'paused', 'disabled'], { description: statusMeaning })
const urlExample = { examples: ['https://hooks.example.com/atrium'] }
const typesExample = { examples: [['agent.*', 'event_endpoint.disabled']] }
const filterExample = { examples: [{ path: 'data.changed', equals: 'model' }] }
const filterMeaning =
  'Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels.'

const WorkspaceIds = Type.Array(IdOf('ID of a workspace.'), {
  minItems: 1,
  maxItems: 50,
  description: 'Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces.',
  examples: [[exampleId]],
})
const Filter = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: filterMeaning,
  ...filterExample,
})
const Ordering = Type.Enum(['none', 'subject'], {
  description:
    '`none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good.',
  examples: ['none'],
})

const Expand = Type.Boolean({
  description:
    'Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false.',
  examples: [false],
})

const transformExample = '{ "text": data.name & " was changed by " & actor.name }'

const Transform = Type.String({
  minLength: 1,
  maxLength: maxTransformLength,
  description:
    'JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.',
  examples: [transformExample],
})

export const EventEndpoint = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'Name, 1–120 characters.', examples: ['Data warehouse'] }),
    url: Type.String({ description: 'URL that events are sent to.', ...urlExample }),
    types: Type.Array(Type.String(), {
      description: 'Event types that are sent, such as `agent.created`, `agent.*` or `*`.',
      ...typesExample,
    }),
    workspaceIds: Nullable(WorkspaceIds),
    filter: Nullable(Filter),
    ordering: Ordering,
    expand: Expand,
    transform: Nullable(Transform),
    status: Status,
    statusReason: Nullable(
      Type.String({
        description: 'Why nothing is delivered: the server disabled the endpoint, or the owner lost their rights.',
        examples: [null],
      }),
    ),
    owner: Type.Object(
      {
        userId: IdOf('ID of the person.'),
        apiKeyId: Nullable(IdOf('ID of the API key. Null when the URL was set in the console.')),
      },
      { description: 'Who set the URL. Only events that they may read are delivered.' },
    ),
    deliveryCount: Type.Integer({ description: 'Number of deliveries that were attempted.', examples: [128] }),
    lastDeliveryAt: Nullable(TimestampOf('Time of the last attempt. Null before the first.')),
    failingSince: FailingSince,
    recentResults: RecentResults,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'A URL that events of Atrium are sent to.' },
)

export const EventEndpointWithSecret = Type.Object(
  {
    ...EventEndpoint.properties,
    secret: Type.String({
      description: 'Signing secret. Returned only here; store it in a safe place.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  },
  { description: 'The event endpoint with its signing secret.' },
)

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 120,
    description: 'Name, 1–120 characters.',
    examples: ['Data warehouse'],
  }),
  url: Type.String({
    maxLength: 2_048,
    description: 'Public HTTP or HTTPS URL to send events to, at most 2,048 characters.',
    ...urlExample,
  }),
  types: Type.Array(Type.String({ maxLength: 255 }), {
    minItems: 1,
    maxItems: 50,
    description: 'Event types to send, such as `agent.created`, `agent.*` or `*`, 1–50 of at most 255 characters.',
    ...typesExample,
  }),
}
const optional = {
  workspaceIds: Type.Optional(Nullable(WorkspaceIds)),
  filter: Type.Optional(Nullable(Filter)),
  ordering: Type.Optional(Ordering),
  expand: Type.Optional(Expand),
  transform: Type.Optional(Nullable(Transform)),
}

export const EventEndpointCreate = Type.Object(
  { ...fields, ...optional },
  { examples: [{ name: 'Data warehouse', url: 'https://hooks.example.com/atrium', types: ['agent.*'] }] },
)
export type EventEndpointCreate = Static<typeof EventEndpointCreate>

export const EventEndpointPatch = Type.Object(
  {
    name: Type.Optional(fields.name),
    url: Type.Optional(
      Type.String({
        ...fields.url,
        description:
          'Public HTTP or HTTPS URL to send events to, at most 2,048 characters. The endpoint then delivers with the rights of the caller, also when the URL is the same.',
      }),
    ),
    types: Type.Optional(fields.types),
    ...optional,
    status: Type.Optional(Status),
  },
  { examples: [{ types: ['agent.*'], status: 'paused' }] },
)
export type EventEndpointPatch = Static<typeof EventEndpointPatch>

export const EventEndpointListQuery = WholeListQuery
export type EventEndpointListQuery = Static<typeof EventEndpointListQuery>

export const EventEndpointTest = Type.Object({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Event type, one of `GET /event-types`, at most 255 characters. Default: the first one that the endpoint receives.',
      examples: ['agent.created'],
    }),
  ),
})
export type EventEndpointTest = Static<typeof EventEndpointTest>

const AnyObject = (description: string, examples: unknown[]) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description, examples })

export const TransformPreviewRequest = Type.Object(
  {
    transform: Transform,
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Event type, one of `GET /event-types`, whose example is transformed, at most 255 characters. No default: `type` or `event` is required.',
        examples: ['agent.updated'],
      }),
    ),
    event: Type.Optional(
      AnyObject('Event to transform instead of an example, such as one with `expanded`. No default.', [
        { type: 'message.created', data: { role: 'user' }, expanded: { text: 'Hello' } },
      ]),
    ),
  },
  { examples: [{ transform: transformExample, type: 'agent.updated' }] },
)
export type TransformPreviewRequest = Static<typeof TransformPreviewRequest>

export const TransformPreview = Type.Object(
  {
    event: AnyObject('Event that was transformed.', [{ type: 'agent.updated', data: { name: 'Helper' } }]),
    result: AnyObject('Body that would be sent.', [{ text: 'Helper was changed by Ada Lovelace' }]),
  },
  { description: 'The result of a transform.' },
)

const { webhookId: _, ...deliveryFields } = Delivery.properties

export const EventDelivery = Type.Object(
  {
    ...deliveryFields,
    endpointId: IdOf('ID of the event endpoint.'),
    isTest: Type.Boolean({ description: 'Whether the event was sent by `test`, so that it is not in the log.' }),
  },
  { description: 'The delivery of an event to an event endpoint.' },
)
