import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

const Described = Type.Object({ name: Type.String(), description: Type.String() })

export const ConnectorEntry = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  authType: Type.Union([Type.Literal('oauth'), Type.Literal('api_key'), Type.Literal('none')]),
  configured: Type.Boolean({ description: 'Its OAuth client is set on this server, or it needs none' }),
  availability: Type.Union([Type.Literal('available'), Type.Literal('not_configured'), Type.Literal('coming_soon')]),
  availabilityReason: Type.Optional(Type.String({ description: 'Only when it is not available' })),
  tools: Type.Array(Described, { description: 'Empty where each connection brings its own (MCP)' }),
  credentialFields: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String(),
        label: Type.String(),
        required: Type.Boolean(),
        secret: Type.Boolean({ description: 'To be hidden while it is typed' }),
        help: Type.Optional(Type.String()),
      }),
      { description: 'Only for `api_key`' },
    ),
  ),
})
export type ConnectorEntry = Static<typeof ConnectorEntry>

const maxLabel = 120

/** All that may leave of a connection. What it is connected with is not in it, and so is dropped. */
export const Connection = Type.Object({
  id: Id,
  connectorSlug: Type.String(),
  label: Nullable(Type.String()),
  status: Type.Union([
    Type.Literal('pending'),
    Type.Literal('active'),
    Type.Literal('error'),
    Type.Literal('expired'),
    Type.Literal('revoked'),
  ]),
  accountName: Nullable(Type.String()),
  accountId: Nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  lastUsedAt: Nullable(Timestamp),
  lastError: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deletedAt: Nullable(Timestamp),
})

export const ConnectionListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Unset: everything, up to 1,000' })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' })),
})
export type ConnectionListQuery = Static<typeof ConnectionListQuery>

const label = Type.Optional(
  Type.String({ maxLength: maxLabel, description: 'Tells several connections to one connector apart' }),
)

export const ConnectionCreate = Type.Object({
  connectorSlug: Type.String({ minLength: 1, maxLength: 100 }),
  label,
})
export type ConnectionCreate = Static<typeof ConnectionCreate>

const nextStep = {
  connection: Connection,
  oauthUrl: Nullable(Type.String({ description: 'To be opened in a browser' })),
  credentialSubmitUrl: Nullable(Type.String({ description: 'Where to POST the credentials' })),
}

export const StartedConnection = Type.Object(nextStep)

/** The connection's own fields stand beside `connection`: the contract can be read either way. */
export const ExistingConnection = Type.Object({ ...Connection.properties, ...nextStep })

export const RevokedConnection = Type.Object({
  deleted: Type.Literal(true),
  providerRevocation: Type.Union(
    [Type.Literal('revoked'), Type.Literal('pending'), Type.Literal('failed'), Type.Literal('unsupported')],
    { description: 'What came of giving the grant back to the provider; `pending` is tried again' },
  ),
})

export const Credentials = Type.Object({
  credentials: Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), {
    description: "A value for each of the connector's credentialFields that is required, and for no others",
  }),
})

export const OAuthUrl = Type.Object({ oauthUrl: Type.String() })

export const OAuthCompletion = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 4_096 }),
  state: Type.String({ minLength: 1, maxLength: 512 }),
})
export type OAuthCompletion = Static<typeof OAuthCompletion>

export const OAuthStartQuery = Type.Object({
  connector: Type.String({ minLength: 1, maxLength: 100, description: 'Slug of the connector' }),
  label,
})

/** What a provider may send a browser back with. */
export const OAuthCallbackQuery = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 4_096 })),
  state: Type.Optional(Type.String({ maxLength: 512 })),
  error: Type.Optional(Type.String({ maxLength: 4_096 })),
})

export const ConnectionTools = Type.Object({
  hash: Nullable(Type.String({ description: 'Of the tools that were agreed to; null where they never change' })),
  items: Type.Array(
    Type.Object({
      name: Type.String({ description: 'As agents call it' }),
      description: Type.String(),
      inputSchema: Type.Unknown(),
    }),
  ),
  offered: Nullable(
    Type.Object({
      hash: Type.String(),
      items: Type.Array(Type.Object({ name: Type.String(), description: Type.String(), inputSchema: Type.Unknown() })),
    }),
  ),
})

export const ToolAgreement = Type.Object({
  hash: Type.String({ minLength: 1, maxLength: 128, description: 'offered.hash of the tools that you agree to' }),
})
