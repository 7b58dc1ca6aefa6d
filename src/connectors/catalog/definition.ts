import type { PageReader } from '../../platform/sandbox/pages.ts'

/** What comes out of a template's placeholders: tool arguments, credentials, parts of a token. */
export type Values = Readonly<Record<string, unknown>>

/**
 * JSON with placeholders. A text that is nothing but `{name}` becomes the value as it is, or is left out with its key
 * when there is none; `{name}` inside a longer text becomes a part of it.
 */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

/** One request to the provider, below the connector's API. */
export interface RequestTemplate {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/repos/{owner}/{repo}/issues`: each placeholder stays in its segment; `{path*}` takes several. */
  path: string
  /** Not below the API's `pathPrefix`. */
  outsidePrefix?: true
  query?: { readonly [name: string]: Template }
  /** At most one of these two. */
  json?: Template
  form?: { readonly [name: string]: Template }
  /** Constants: no argument ever reaches a header. */
  headers?: Readonly<Record<string, string>>
}

/** A request that no template can say. The path is in segments, so that none of them can become two. */
export interface BuiltRequest {
  method: RequestTemplate['method']
  /** Absolute, in place of the connector's API; for what a person or a model names. Always through the outbound guard. */
  url?: string
  segments?: readonly string[]
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  json?: unknown
  headers?: Readonly<Record<string, string>>
}

/** What the provider answered, its secrets taken out. */
export interface ProviderAnswer {
  status: number
  contentType: string
  /** Parsed when it is JSON, else text. */
  body: unknown
  /** Where a request of an absolute URL ended up. */
  url: string
  /** It was longer than 1 MB. */
  truncated: boolean
}

export interface ConnectorTool {
  /** a-z, 0-9 and underscores. Agents know it as `<slug>__<name>`. */
  name: string
  description: string
  /** JSON schema of an object that allows no other properties. */
  input: { readonly [property: string]: JsonSchema }
  required?: readonly string[]
  /** Changes nothing at the provider, so it may be run again when nobody knows whether it ran. */
  isReadOnly: boolean
  /** Made of the arguments; credentials are seen by `api` alone. */
  request: RequestTemplate | ((input: Values) => BuiltRequest)
  /**
   * The parts of the answer that are told, as `items.title`, lists taken item by item. Everything when left out. A
   * function that needs a page of HTML read has it read by `pages`, which does so in another process.
   */
  answer?: readonly string[] | ((answer: ProviderAnswer, input: Values, pages: PageReader) => unknown)
}

export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** Who the provider says that a credential belongs to. */
export interface Account {
  /** Asked of the provider, placeholders being credentials; `token`: told with the token. */
  from: RequestTemplate | 'token'
  /** Asked only when this credential was given. */
  when?: string
  /** Where in the answer: `viewer.organization.id`. */
  id?: string
  name?: string
}

export interface OAuth {
  type: 'oauth'
  authorizeUrl: string
  tokenUrl: string
  scopes: readonly string[]
  /** A space, unless the provider wants another. */
  scopeSeparator?: ','
  /** Further parameters of the authorize URL (`access_type`). */
  authorizeParams?: Readonly<Record<string, string>>
  /** How the client shows who it is at the token endpoint. In the body unless said otherwise. */
  clientAuth?: 'basic'
  /** How the token endpoint is spoken to. A form unless said otherwise. */
  tokenBody?: 'json'
  /** PKCE is used unless the provider breaks on it. */
  pkce?: false
  account: Account
  /** How a grant is given back; placeholders: clientId, clientSecret, accessToken, refreshToken, token (the last of both). */
  revoke?: {
    method: RequestTemplate['method']
    url: string
    auth?: 'bearer' | 'client'
    form?: { readonly [name: string]: Template }
    json?: Template
    headers?: Readonly<Record<string, string>>
    /** What a grant must have for it. */
    needs?: 'refreshToken'
  }
}

export interface CredentialField {
  key: string
  label: string
  required: boolean
  /** Hidden while it is typed, and cut out of everything that the provider answers. */
  secret: boolean
  help?: string
  /** What it is when it is left out. */
  fallback?: string
}

export interface ApiKey {
  type: 'api_key'
  fields: readonly CredentialField[]
  /** How the provider is asked whether it takes the credentials. */
  check?: Account
}

export interface NoAuth {
  type: 'none'
}

/** How the provider is spoken to. Placeholders are credential fields, or `accessToken` and `accountId`. */
export interface Api {
  /** `https://api.github.com`. Left out where a credential says where the provider is. */
  baseUrl?: string
  /** The credential that says where the provider is. */
  baseUrlField?: string
  /** Before every path: `/bot{token}`. */
  pathPrefix?: string
  /** On every request. */
  headers?: Readonly<Record<string, string>>
  /** User and password of HTTP Basic. */
  basic?: readonly [string, string]
  /** A 2xx that is a failure all the same. */
  failure?: { path: string; is: 'present' | 'false' }
  /** Where in an answer the provider says what went wrong, the first that is there. */
  errorMessage?: readonly string[]
  /** What it says there when it does not take the credentials, where its status does not tell. */
  rejections?: readonly string[]
}

/** One connector: everything that Atrium knows of a provider, its inbound receiver apart. */
export interface Connector {
  slug: string
  name: string
  description: string
  auth: OAuth | ApiKey | NoAuth
  api: Api
  /** Empty where each connection brings its own (MCP). */
  tools: readonly ConnectorTool[]
  /** Its connections are MCP servers, whose tools are the connection's. */
  isMcp?: true
  /** The adapter under src/connectors/receivers that verifies the provider's events. */
  receiver?: string
  /** Why it cannot be used yet. */
  comingSoon?: string
}
