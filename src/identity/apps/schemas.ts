import { Type } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, TimestampOf } from '../../platform/http/schemas.ts'

const name = Type.String({
  description: 'Name that the app gives itself. Nobody has verified it.',
  examples: ['Claude Code'],
})
const redirectHost = Type.String({
  description: 'Host, or scheme of an installed program, to which the browser is sent with the result.',
  examples: ['claude.ai'],
})
const Scopes = (description: string) =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50, description, examples: [['files:read', 'agents:read']] })

export const AuthorizedApp = Type.Object(
  {
    id: Id,
    name,
    clientId: Type.String({
      description: 'OAuth client ID: the URL of the metadata document of the app, or what its registration returned.',
      examples: ['https://claude.ai/oauth/mcp-oauth-client-metadata'],
    }),
    redirectHost,
    userId: IdOf('ID of the person who authorized the app.'),
    workspaceId: IdOf('ID of the workspace that the app works in.'),
    scopes: Scopes('Permissions that the app has, at most 50, as far as its person has them.'),
    lastUsedAt: Nullable(TimestampOf('Time of the last request, precise to ten minutes. Null: never used.')),
    createdAt: CreatedAt,
  },
  { description: 'An app that a person has authorized to use the MCP server.' },
)

const request = Type.String({
  minLength: 1,
  maxLength: 8_000,
  description: 'Query of the URL of the authorization endpoint, without `?`. 1–8,000 characters.',
  examples: ['response_type=code&client_id=https%3A%2F%2Fexample.com%2Fclient.json&code_challenge_method=S256'],
})
export const AuthorizationQuery = Type.Object({ request })

export const Authorization = Type.Object(
  {
    name,
    publisher: Nullable(
      Type.String({ description: 'Host that publishes the metadata of the app.', examples: ['claude.ai'] }),
      'Host that publishes the metadata of the app. Null: the app registered itself, so that nothing about it is verified.',
    ),
    redirectHost,
    isLocal: Type.Boolean({
      description: 'Whether the result is sent to a program on the computer of the person.',
      examples: [false],
    }),
    scopes: Scopes('Permissions that the app asks for, at most 50.'),
  },
  { description: 'A request of an app for authorization.' },
)

export const AuthorizationDecision = Type.Object({
  request,
  approved: Type.Boolean({ description: 'Whether the person authorizes the app.', examples: [true] }),
  workspaceId: Type.Optional(IdOf('ID of the workspace that the app works in. Default: the workspace of the request.')),
  scopes: Type.Optional(
    Scopes('Permissions that the app gets, at most 50 of those that it asks for. Default: all of them.'),
  ),
})

export const AuthorizationResult = Type.Object(
  {
    redirectTo: Type.String({
      description: 'URL that the browser opens next. It contains a code, valid for 60 s, or the error `access_denied`.',
      examples: ['https://claude.ai/api/mcp/auth_callback?error=access_denied'],
    }),
  },
  { description: 'The result for the app.' },
)
