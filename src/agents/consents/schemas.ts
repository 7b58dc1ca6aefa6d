import { Type } from 'typebox'
import { CreatedAt, Id, Nullable, TimestampOf, UpdatedAt } from '../../platform/http/schemas.ts'

export const ConsentParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The agent's UUID or its slug." }),
  connectorSlug: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The slug of a connector, such as `github`. At most 255 characters.',
  }),
})

const ask = 'Whether tools that change something ask for approval after the agent has read untrusted content.'

export const ConsentPut = Type.Object({
  askAfterUntrustedContent: Type.Optional(
    Type.Boolean({
      description: `${ask} Default: the value of the existing consent; true for a new consent.`,
      examples: [true],
    }),
  ),
  authorityVersion: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The `authorityVersion` of the agent that you read. CONFLICT when the agent has changed since. Default: the current version.',
      examples: [3],
    }),
  ),
})

export const Consent = Type.Object(
  {
    connectorSlug: Type.String({ description: 'Slug of the connector.', examples: ['github'] }),
    authorityVersion: Type.Integer({
      description: 'The `authorityVersion` of the agent that the consent was given for.',
      examples: [3],
    }),
    isValid: Type.Boolean({
      description: 'Whether the consent still applies. False after another person has changed how the agent acts.',
      examples: [true],
    }),
    askAfterUntrustedContent: Type.Boolean({ description: ask, examples: [true] }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'Permission for an agent to use your connections to one connector.' },
)

export const ConsentList = Type.Object(
  {
    items: Type.Array(Consent, { description: 'Your consents for the agent.' }),
    nextCursor: Nullable(Type.String({ description: 'Always null: the list has one page.', examples: [null] })),
    authority: Type.Object(
      {
        version: Type.Integer({ description: 'The `authorityVersion` of the agent now.', examples: [3] }),
        changedBy: Nullable(
          Type.Object(
            {
              id: Id,
              name: Type.String({ description: 'Name of the user.', examples: ['Ada Lovelace'] }),
            },
            { description: 'The user who last changed how the agent acts. Null when unknown.' },
          ),
        ),
        changedAt: TimestampOf('Time of that change.'),
      },
      { description: 'The last change of how the agent acts.' },
    ),
  },
  { description: 'Your consents for an agent, with its current version.' },
)
