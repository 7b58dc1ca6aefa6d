import { Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'

export const ConsentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug" }),
  connectorSlug: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The slug of a connector, such as `github`',
  }),
})

const version = 'The `authorityVersion` of the agent'

export const ConsentPut = Type.Object({
  askAfterUntrustedContent: Type.Optional(
    Type.Boolean({
      description:
        'Whether tools that change something ask for approval once the agent has read untrusted content. As before when left out; true for a new consent',
    }),
  ),
  authorityVersion: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `${version} that you looked at; CONFLICT when the agent has changed since`,
    }),
  ),
})

export const Consent = Type.Object({
  connectorSlug: Type.String(),
  authorityVersion: Type.Integer({ description: `${version} that it was given for` }),
  isValid: Type.Boolean({ description: 'False once somebody else has changed how the agent acts' }),
  askAfterUntrustedContent: Type.Boolean({
    description: 'Whether tools that change something ask for approval once the agent has read untrusted content',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const ConsentList = Type.Object({
  items: Type.Array(Consent),
  nextCursor: Nullable(Type.String()),
  authority: Type.Object({
    version: Type.Integer({ description: `${version} now` }),
    changedBy: Nullable(Type.Object({ id: Id, name: Type.String() })),
    changedAt: Timestamp,
  }),
})
