import { Type } from 'typebox'
import { Id, Nullable, Success, Timestamp } from '../../platform/http/schemas.ts'

export const ReceiveParams = Type.Object({
  provider: Type.String({ description: 'telegram, slack, discord, twilio, gmail, github, linear, jira or stripe' }),
  endpointId: Type.String({ description: 'As `atrium setup-webhook` made it' }),
})

export const Received = Success(
  Type.Object({
    received: Type.Literal(true),
    duplicate: Type.Boolean({ description: 'It came before, and was dropped' }),
  }),
)

export const ConnectionParams = Type.Object({ id: Id })
export const EndpointParams = Type.Object({ id: Id, endpointId: Id })

export const Endpoint = Type.Object({
  id: Id,
  connectionId: Id,
  provider: Type.String(),
  url: Type.String({ description: 'Where the provider sends its events' }),
  status: Type.Enum(['pending', 'active', 'closed'], {
    description: 'pending while it is being set up, closed when another one has taken its place',
  }),
  agentId: Nullable(Id),
  target: Nullable(Type.String({ description: 'What it is for at the provider: a repository, a number' })),
  createdAt: Timestamp,
})

export const InboundEvent = Type.Object({
  id: Type.String({ description: "The provider's own id, or the hash of the body" }),
  type: Type.String(),
  status: Type.Enum(['recorded', 'waiting', 'running', 'answered', 'silent', 'failed', 'unknown'], {
    description:
      'recorded: nothing to do; waiting and running: a turn is on its way; answered: the answer was sent; silent: it ended without one; failed: see error; unknown: the answer may or may not have arrived',
  }),
  sender: Nullable(Type.String()),
  turnId: Nullable(Id),
  error: Nullable(Type.String()),
  receivedAt: Timestamp,
})

export const LinearBinding = Type.Object({
  id: Id,
  organizationId: Type.String({ description: "Linear's id of the organization whose events are received" }),
  organizationName: Type.String({ description: 'Its name when it was bound' }),
  connectionId: Type.String({ description: 'The connection whose token proved administration' }),
  boundBy: Type.String({ description: 'The id of the user who bound it' }),
  createdAt: Timestamp,
})

export const LinearBindingCreate = Type.Object({
  connectionId: Type.String({
    format: 'uuid',
    description: 'Your own Linear connection, made with the account of an administrator of the Linear organization',
  }),
})
