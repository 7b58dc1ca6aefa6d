import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CreatedAt, Id, Nullable, TimestampOf, UpdatedAt, WholeListQuery } from '../platform/http/schemas.ts'

const Described = Type.Object({
  name: Type.String({ description: 'Name of the tool.', examples: ['create_issue'] }),
  description: Type.String({ description: 'What the tool does.', examples: ['Create an issue in a repository'] }),
})

export const ConnectorEntry = Type.Object(
  {
    slug: Type.String({ description: 'Stable identifier of the connector.', examples: ['github'] }),
    name: Type.String({ description: 'Display name.', examples: ['GitHub'] }),
    description: Type.String({
      description: 'What agents can do with the connector.',
      examples: ['Repositories, issues, pull requests and files'],
    }),
    category: Type.Union(
      [
        Type.Literal('communication'),
        Type.Literal('development'),
        Type.Literal('documents'),
        Type.Literal('business'),
        Type.Literal('general'),
      ],
      { description: 'What the connector is for. `general` connects any service.', examples: ['development'] },
    ),
    authType: Type.Union([Type.Literal('oauth'), Type.Literal('api_key'), Type.Literal('none')], {
      description: 'How a connection is authorized.',
    }),
    configured: Type.Boolean({
      description: 'Whether the server has the OAuth client that the connector needs, or it needs none.',
      examples: [true],
    }),
    availability: Type.Union([Type.Literal('available'), Type.Literal('not_configured'), Type.Literal('coming_soon')], {
      description: 'Whether the connector can be used on this server.',
    }),
    availabilityReason: Type.Optional(
      Type.String({ description: 'Why the connector is not available. Absent when it is.' }),
    ),
    setup: Type.Optional(
      Type.Object(
        {
          variables: Type.Array(Type.String(), {
            description: 'Variables that the operator sets.',
            examples: [['CONNECTOR_GITHUB_CLIENT_ID', 'CONNECTOR_GITHUB_CLIENT_SECRET']],
          }),
          registrationUrl: Type.String({
            description: 'Page of the provider where the operator registers the OAuth client.',
            examples: ['https://github.com/settings/developers'],
          }),
        },
        { description: 'What is missing. Present for `not_configured` connectors only.' },
      ),
    ),
    tools: Type.Array(Described, {
      description: 'Tools of the connector. Empty for `mcp`, where each server has its own.',
    }),
    credentialFields: Type.Optional(
      Type.Array(
        Type.Object({
          key: Type.String({ description: 'Key of the field in `credentials`.', examples: ['token'] }),
          label: Type.String({ description: 'Label of the form field.', examples: ['Personal access token'] }),
          required: Type.Boolean({ description: 'Whether a value is required.', examples: [true] }),
          secret: Type.Boolean({ description: 'Whether the form should hide the value.', examples: [true] }),
          help: Type.Optional(
            Type.String({ description: 'Where to find the value.', examples: ['airtable.com/create/tokens'] }),
          ),
        }),
        { description: 'Credentials to ask for. Present for `api_key` connectors only.' },
      ),
    ),
  },
  {
    description: 'A connector of the catalog.',
    examples: [
      {
        slug: 'github',
        name: 'GitHub',
        category: 'development',
        description: 'Repositories, issues, pull requests and files',
        authType: 'oauth',
        configured: true,
        availability: 'available',
        tools: [{ name: 'create_issue', description: 'Create an issue in a repository' }],
      },
    ],
  },
)
export type ConnectorEntry = Static<typeof ConnectorEntry>

const maxLabel = 120

const slug = { examples: ['airtable'] }
const labelExample = { examples: ['Team'] }

/** The public fields of a connection. Credentials are not among them, so the serialiser drops them. */
export const Connection = Type.Object(
  {
    id: Id,
    connectorSlug: Type.String({ description: 'Slug of the connector.', ...slug }),
    label: Nullable(
      Type.String({ description: 'Label that distinguishes several connections to one connector.', ...labelExample }),
    ),
    status: Type.Union(
      [
        Type.Literal('pending'),
        Type.Literal('active'),
        Type.Literal('error'),
        Type.Literal('expired'),
        Type.Literal('revoked'),
      ],
      {
        description:
          '`pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted.',
        examples: ['active'],
      },
    ),
    accountName: Nullable(
      Type.String({
        description: 'Name of the account at the provider. Null while pending.',
        examples: ['Ada Lovelace'],
      }),
    ),
    accountId: Nullable(
      Type.String({
        description: 'ID of the account at the provider. Null while pending.',
        examples: ['usrL2PNC5o3H4lBEi'],
      }),
    ),
    scopes: Type.Array(Type.String(), {
      description: 'Scopes that the provider granted. Empty for connectors without scopes.',
      examples: [[]],
    }),
    lastUsedAt: Nullable(TimestampOf('Time of the last use. Null before the first.', null)),
    lastError: Nullable(
      Type.String({ description: 'Last error of the provider. Null without one.', examples: [null] }),
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
    deletedAt: Nullable(TimestampOf('Time of deletion. Null before that.', null)),
  },
  { description: 'Your account at a provider.' },
)

export const ConnectionListQuery = WholeListQuery
export type ConnectionListQuery = Static<typeof ConnectionListQuery>

const label = Type.Optional(
  Type.String({
    maxLength: maxLabel,
    description:
      'Label that distinguishes several connections to one connector, at most 120 characters. Default: none.',
    ...labelExample,
  }),
)

export const ConnectionCreate = Type.Object({
  connectorSlug: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Slug of a connector from `GET /connectors`, 1–100 characters.',
    ...slug,
  }),
  label,
})
export type ConnectionCreate = Static<typeof ConnectionCreate>

const oauthUrl = {
  description: "URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes.",
  examples: ['https://github.com/login/oauth/authorize?client_id=Iv1.8a61f9b3a7aba766&state=s3Vq0mXb'],
}

const nextStep = {
  connection: Connection,
  oauthUrl: Nullable(
    Type.String({ description: `${oauthUrl.description} Null for other connectors.`, examples: [null] }),
  ),
  credentialSubmitUrl: Nullable(
    Type.String({
      description: 'URL to POST the credentials to. Null for OAuth connectors.',
      examples: ['https://atrium.example.com/api/v1/connections/01a1fc7d-b38d-79d1-a68c-3aedf156f4f2/credentials'],
    }),
  ),
}

export const StartedConnection = Type.Object(nextStep, { description: 'A pending connection with its next step.' })

/**
 * The fields of the connection are returned at the top level and in `connection`, because the API contract allows both.
 */
export const ExistingConnection = Type.Object(
  { ...Connection.properties, ...nextStep },
  { description: 'The existing connection. Its fields are in `data` and in `data.connection`.' },
)

export const RevokedConnection = Type.Object(
  {
    deleted: Type.Literal(true, { description: 'Always true.' }),
    providerRevocation: Type.Union(
      [Type.Literal('revoked'), Type.Literal('pending'), Type.Literal('failed'), Type.Literal('unsupported')],
      {
        description:
          '`revoked`: the provider revoked access. `pending`: the provider did not respond; retried for about an hour. `failed`: the provider did not revoke access; remove Atrium in its settings. `unsupported`: the provider has no revocation.',
      },
    ),
  },
  { description: 'Confirmation that the connection is deleted.' },
)

export const SubmittedConnection = Type.Object(
  {
    ...Connection.properties,
    oauthUrl: Type.Optional(
      Nullable(
        Type.String({
          description:
            'Only for MCP servers that ask for sign-in: URL of the consent page. Open it in a browser. Valid once, for 10 minutes. Nothing is stored before the sign-in is complete.',
          examples: ['https://auth.example.com/authorize?client_id=s6BhdRkqt3&state=s3Vq0mXb'],
        }),
      ),
    ),
  },
  { description: 'The connection, or the connection before a sign-in that completes it.' },
)

export const Credentials = Type.Object({
  credentials: Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), {
    description:
      'A value for each field of `credentialFields` that is required, at most 8,192 characters each. Unknown fields are rejected.',
    examples: [{ token: 'patA1b2C3d4E5f6G7' }],
  }),
})

export const OAuthUrl = Type.Object({ oauthUrl: Type.String(oauthUrl) }, { description: 'The next step.' })

const oauthCode = {
  description: 'Authorization code from the redirect of the provider, at most 4,096 characters.',
  examples: ['4/0AeanS0b8nF2Kq'],
}
const oauthState = {
  description: 'State from the redirect of the provider, at most 512 characters. Valid once, for 10 minutes.',
  examples: ['s3Vq0mXb'],
}

const oauthIssuer = {
  description:
    'Issuer from the redirect of the provider (RFC 9207), at most 2,048 characters. Required when the authorization server sends one.',
  examples: ['https://auth.example.com'],
}

export const OAuthCompletion = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 4_096, ...oauthCode }),
  state: Type.String({ minLength: 1, maxLength: 512, ...oauthState }),
  iss: Type.Optional(Type.String({ maxLength: 2_048, ...oauthIssuer })),
})
export type OAuthCompletion = Static<typeof OAuthCompletion>

export const OAuthStartQuery = Type.Object({
  connector: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Slug of an OAuth connector, 1–100 characters.',
  }),
  label,
})

/** The query parameters of the redirect (RFC 6749, section 4.1.2). */
export const OAuthCallbackQuery = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 4_096, ...oauthCode })),
  state: Type.Optional(Type.String({ maxLength: 512, ...oauthState })),
  iss: Type.Optional(Type.String({ maxLength: 2_048, ...oauthIssuer })),
  error: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description: 'Error code of the provider, such as `access_denied`. At most 4,096 characters.',
    }),
  ),
})
export type OAuthCallbackQuery = Static<typeof OAuthCallbackQuery>

const inputSchema = Type.Unknown({
  description: 'JSON Schema of the arguments.',
  examples: [{ type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }],
})
const toolDescription = Type.String({ description: 'What the tool does.', examples: ['Search the documentation'] })

export const ConnectionTools = Type.Object(
  {
    hash: Nullable(
      Type.String({
        description: 'Hash of the accepted tools. Null for connectors whose tools never change.',
        examples: ['b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'],
      }),
    ),
    items: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name by which agents call the tool.', examples: ['mcp__search'] }),
        description: toolDescription,
        inputSchema,
      }),
      { description: 'Tools that agents can use.' },
    ),
    offered: Nullable(
      Type.Object({
        hash: Type.String({
          description: 'Hash of the offered tools. Send it to accept them.',
          examples: ['7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730'],
        }),
        items: Type.Array(
          Type.Object({
            name: Type.String({ description: 'Name of the tool at the MCP server.', examples: ['search'] }),
            description: toolDescription,
            inputSchema,
          }),
          { description: 'Tools that the MCP server offers now.' },
        ),
      }),
      'Tools of an MCP server that differ from the accepted ones. Null when they are the same.',
    ),
  },
  { description: 'Tools of a connection.' },
)

export const ToolAgreement = Type.Object({
  hash: Type.String({
    minLength: 1,
    maxLength: 128,
    description: '`offered.hash` of the tools to accept, 1–128 characters.',
    examples: ['7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730'],
  }),
})
