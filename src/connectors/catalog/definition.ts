import type { PageReader } from '../../platform/sandbox/pages.ts'

/** Values of placeholders in templates: tool arguments, credentials, fields of a token response. */
export type Values = Readonly<Record<string, unknown>>

/**
 * JSON with placeholders. A string that is only `{name}` is replaced by the value in its own type, or omitted with its
 * key when there is no value. `{name}` inside a longer string is replaced by the value as text.
 */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

/** One request to the provider, relative to the base URL of the connector's API. */
export interface RequestTemplate {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/repos/{owner}/{repo}/issues`: each placeholder fills one segment; `{path*}` fills several. */
  path: string
  /** Omits the API's `pathPrefix`. */
  outsidePrefix?: true
  query?: { readonly [name: string]: Template }
  /** `json` and `form` exclude each other. */
  json?: Template
  form?: { readonly [name: string]: Template }
  /** Constants only: headers must not contain arguments. */
  headers?: Readonly<Record<string, string>>
}

/** A request that a template cannot express. Each path segment is encoded, so that no segment can become two. */
export interface BuiltRequest {
  method: RequestTemplate['method']
  /** An absolute URL that a user or a model names, instead of the connector's API. Sent without credentials. */
  url?: string
  /** An absolute URL of the origin of the connection's base URL. Sent with credentials. */
  endpoint?: string
  segments?: readonly string[]
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  json?: unknown
  headers?: Readonly<Record<string, string>>
}

/** The provider's response, with the connection's secrets redacted. */
export interface ApiResponse {
  status: number
  contentType: string
  /** Parsed when it is JSON, otherwise text. */
  body: unknown
  /** The final URL, after redirects. */
  url: string
  /** The body was longer than 1 MB and was cut. */
  truncated: boolean
}

/** An output that reads parsed JSON. A body that was cut is text, of which the model receives the beginning. */
export const fromJson =
  (read: (body: unknown) => unknown) =>
  ({ body, truncated }: ApiResponse): unknown =>
    truncated ? { truncated, beginning: body } : read(body)

export interface ConnectorTool {
  /** a-z, 0-9 and underscores. Agents call it `<slug>__<name>`. */
  name: string
  description: string
  /** Properties of the JSON schema of the arguments. Other properties are not allowed. */
  input: { readonly [property: string]: JsonSchema }
  required?: readonly string[]
  /** Changes nothing at the provider, so it can be repeated when it is unknown whether it ran. */
  isReadOnly: boolean
  /** Built from the arguments only. Credentials are added by `api`. */
  request: RequestTemplate | ((input: Values) => BuiltRequest)
  /**
   * The paths of the response that the model receives, such as `items.title`, applied to each item of a list. Default:
   * the whole body. A function parses HTML with `pages`, which does it in a sandboxed process.
   */
  output?: readonly string[] | ((response: ApiResponse, input: Values, pages: PageReader) => unknown)
}

export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** How to find the provider account of a set of credentials. */
export interface Account {
  /** A request whose placeholders are credentials, or `token`: the token response contains the account. */
  from: RequestTemplate | 'token'
  /** Only send the request when this credential is set. */
  when?: string
  /** Path in the response: `viewer.organization.id`. */
  id?: string
  name?: string
}

export interface OAuth {
  type: 'oauth'
  /** The provider's page where operators register the OAuth client. */
  registrationUrl: string
  authorizeUrl: string
  tokenUrl: string
  scopes: readonly string[]
  /** Default: a space. */
  scopeSeparator?: ','
  /** Further parameters of the authorize URL (`access_type`). */
  authorizeParams?: Readonly<Record<string, string>>
  /** Client authentication at the token endpoint. Default: `client_id` and `client_secret` in the body. */
  clientAuth?: 'basic'
  /** Encoding of token requests. Default: a form. */
  tokenBody?: 'json'
  /** Disables PKCE, for providers that reject it. */
  pkce?: false
  account: Account
  /**
   * The request that revokes a grant. Placeholders: clientId, clientSecret, accessToken, refreshToken, and token, which
   * is the refresh token if there is one, otherwise the access token.
   */
  revoke?: {
    method: RequestTemplate['method']
    url: string
    auth?: 'bearer' | 'client'
    form?: { readonly [name: string]: Template }
    json?: Template
    headers?: Readonly<Record<string, string>>
    /** Only grants with this token can be revoked. */
    requires?: 'refreshToken'
  }
}

export interface CredentialField {
  key: string
  label: string
  required: boolean
  /** Masked in input fields, and redacted in the provider's responses. */
  secret: boolean
  help?: string
  /** Default value. */
  fallback?: string
}

export interface ApiKeyAuth {
  type: 'api_key'
  fields: readonly CredentialField[]
  /** The request that tests the credentials. */
  check?: Account
}

interface NoAuth {
  type: 'none'
}

/** The provider's API. Placeholders are credential fields, or `accessToken` and `accountId`. */
export interface Api {
  /** `https://api.github.com`. Omitted when a credential contains it. */
  baseUrl?: string
  /** The credential field that contains the base URL. */
  baseUrlField?: string
  /** Before every path: `/bot{token}`. */
  pathPrefix?: string
  /** Sent with every request. A header is left out when one of its credentials is not set. */
  headers?: Readonly<Record<string, string>>
  /** User name and password of HTTP Basic authentication. */
  basic?: readonly [string, string]
  /** Marks a 2xx response as an error, such as `ok: false` of Slack. */
  failure?: { path: string; is: 'present' | 'false' }
  /** Paths of the error message in a response. The first that exists is used. */
  errorMessage?: readonly string[]
  /** Error messages that mean "invalid credentials", for providers that do not respond with 401. */
  credentialErrors?: readonly string[]
}

/** What a connector is for. `general` connects any service. */
export const categories = ['communication', 'development', 'documents', 'business', 'general'] as const
export type Category = (typeof categories)[number]

/** One connector: how Atrium authenticates with a provider and calls its API. */
export interface Connector {
  slug: string
  name: string
  category: Category
  description: string
  auth: OAuth | ApiKeyAuth | NoAuth
  api: Api
  /** Empty for MCP and A2A, where they depend on the server of each connection. */
  tools: readonly ConnectorTool[]
  /** Connections of this connector are MCP servers. */
  isMcp?: true
  /** Connections of this connector are remote agents. */
  isA2a?: true
  /** Why it cannot be used yet. */
  comingSoon?: string
}
