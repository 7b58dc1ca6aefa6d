import { Type } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, Success, TimestampOf } from '../../platform/http/schemas.ts'

export const ReceiveParams = Type.Object({
  provider: Type.String({
    description:
      'Provider that sends the event: `telegram`, `slack`, `discord`, `twilio`, `gmail`, `github`, `linear`, `jira` or `stripe`.',
  }),
  endpointId: Type.String({ description: 'ID of the endpoint, as printed by `atrium setup-webhook`.' }),
})

export const Received = Success(
  Type.Object(
    {
      received: Type.Literal(true, { description: 'Always true.' }),
      duplicate: Type.Boolean({ description: 'Whether the event was received before. Duplicates are ignored.' }),
    },
    { description: 'Confirmation that the event is stored.' },
  ),
)

export const ConnectionParams = Type.Object({ id: IdOf('ID of the connection.') })
export const EndpointParams = Type.Object({
  id: IdOf('ID of the connection.'),
  endpointId: IdOf('ID of the endpoint.'),
})

export const Endpoint = Type.Object(
  {
    id: Id,
    connectionId: IdOf('ID of the connection.'),
    provider: Type.String({ description: 'Provider that sends the events.', examples: ['telegram'] }),
    url: Type.String({
      description: 'URL that the provider sends events to.',
      examples: ['https://atrium.example.com/api/v1/connectors/webhooks/telegram/01a1fc7d-b6bf-77bc-a8d9-6f3ea9d132c8'],
    }),
    status: Type.Enum(['pending', 'active', 'closed'], {
      description: '`pending`: being set up. `active`: receives events. `closed`: replaced by another endpoint.',
      examples: ['active'],
    }),
    agentId: Nullable(IdOf('ID of the agent that handles the events. Null: events are only recorded.')),
    target: Nullable(
      Type.String({
        description: 'What the endpoint is for at the provider, such as a repository or a phone number.',
        examples: ['@release_notes_bot'],
      }),
    ),
    createdAt: CreatedAt,
  },
  { description: 'A URL that receives the events of a connection.' },
)

export const InboundEvent = Type.Object(
  {
    id: Type.String({
      description: "The provider's ID of the event, or the hash of its body.",
      examples: ['812345678'],
    }),
    type: Type.String({ description: 'Type of the event.', examples: ['message'] }),
    status: Type.Enum(['recorded', 'waiting', 'running', 'answered', 'silent', 'failed', 'unknown'], {
      description:
        '`recorded`: nothing to do. `waiting`, `running`: a turn is queued or running. `answered`: the response was sent. `silent`: the turn ended without a response. `failed`: see `error`. `unknown`: the response may or may not have arrived.',
      examples: ['answered'],
    }),
    sender: Nullable(Type.String({ description: 'Name of the sender.', examples: ['Ada Lovelace'] })),
    turnId: Nullable(IdOf('ID of the turn that handles the event. Null without one.')),
    error: Nullable(
      Type.String({ description: 'Why handling the event failed. Null when it did not.', examples: [null] }),
    ),
    receivedAt: TimestampOf('Time when the event was received.'),
  },
  { description: 'An event that an endpoint received.' },
)

export const LinearBinding = Type.Object(
  {
    id: Id,
    organizationId: Type.String({
      description: "Linear's ID of the organization whose events are received.",
      examples: ['9f2b7c11-53a0-4e0b-8f0a-6d1f0a4f7c52'],
    }),
    organizationName: Type.String({
      description: 'Name of the organization when it was bound.',
      examples: ['Northwind'],
    }),
    connectionId: Type.String({
      description: 'ID of the connection whose token proved administration.',
      examples: ['01a1fc7d-b38d-79d1-a68c-3aedf156f4f2'],
    }),
    boundBy: Type.String({
      description: 'ID of the user who bound the organization.',
      examples: ['01a1fc7d-04f8-7996-ada7-63b7a969b102'],
    }),
    createdAt: CreatedAt,
  },
  { description: 'A Linear organization whose events this org receives.' },
)

export const LinearBindingCreate = Type.Object({
  connectionId: Type.String({
    format: 'uuid',
    description:
      'ID of your own Linear connection, made with the account of an administrator of the Linear organization.',
  }),
})
