import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { badRequest } from '../../../platform/http/errors.ts'
import { parseForeignJson } from '../../../platform/http/json-depth.ts'
import { OutboundError } from '../../../platform/outbound/outbound.ts'
import type { OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { ProviderError } from '../../connections/provider-error.ts'
import type { ProviderDeps } from '../../deps.ts'
import { cleanScope } from './challenge.ts'
import type { Challenge } from './challenge.ts'

/** What a client must know of the authorization server of an MCP server. */
export interface AuthorizationServer {
  issuer: string
  /** The MCP server, as the tokens name it (RFC 8707). */
  resource: string
  /** What to ask for. Undefined: the authorization server decides. */
  scope: string | undefined
  authorizationEndpoint: string
  tokenEndpoint: string
  registrationEndpoint: string | undefined
  revocationEndpoint: string | undefined
  /** Accepts the URL of a document as the ID of a client. */
  acceptsClientDocuments: boolean
  /** Client authentication at the token endpoint. */
  authMethods: readonly string[]
  /** Names itself in its responses (RFC 9207). */
  sendsIssuer: boolean
}

const timeoutMs = 10_000
/** For all requests of one discovery. */
const totalTimeoutMs = 30_000
const maxBytes = 262_144

const Url = Type.String({ minLength: 1, maxLength: 2_048 })
const Names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 })

/** RFC 9728, section 2. */
const ResourceMetadata = Type.Object({
  resource: Url,
  authorization_servers: Type.Optional(Type.Array(Url, { maxItems: 20 })),
  scopes_supported: Type.Optional(Names),
})

/** RFC 8414, section 2, and OpenID Connect Discovery 1.0. */
const ServerMetadata = Type.Object({
  issuer: Url,
  authorization_endpoint: Url,
  token_endpoint: Url,
  registration_endpoint: Type.Optional(Url),
  revocation_endpoint: Type.Optional(Url),
  code_challenge_methods_supported: Type.Optional(Names),
  token_endpoint_auth_methods_supported: Type.Optional(Names),
  client_id_metadata_document_supported: Type.Optional(Type.Boolean()),
  authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
  scopes_supported: Type.Optional(Names),
})
type ServerMetadata = Static<typeof ServerMetadata>

interface Requests {
  /** The JSON of a document. Undefined when there is none at the URL. */
  read(url: URL): Promise<unknown>
  /** Rejects a URL to which nothing may be sent. */
  check(url: string, what: string): URL
}

const what = 'The authorization server of the MCP server'

/** Requests for documents. A server that is reached by https must not lead to one that is not. */
export const createRequests = (
  deps: ProviderDeps,
  { orgId, server, trusted }: { orgId: string; server: URL; trusted: boolean },
): Requests => {
  const deadline = AbortSignal.timeout(totalTimeoutMs)
  return {
    check: (text, name) => {
      const url = URL.parse(text)
      const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && server.protocol === 'http:')
      if (!url || !isAllowed || url.username !== '' || url.password !== '' || url.hash !== '') {
        throw badRequest(`The ${name} of the MCP server must be an https URL without a user name and a fragment.`)
      }
      return url
    },
    read: async (url) => {
      let response: OutboundResponse
      try {
        response = await deps.outbound.request(url, {
          headers: { accept: 'application/json', 'user-agent': 'Atrium' },
          timeoutMs: deps.requestTimeoutMs ?? timeoutMs,
          maxBytes,
          signal: deadline,
          orgId,
          trusted: trusted && url.origin === server.origin,
        })
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        throw new ProviderError('unavailable', `${what} could not be reached: ${error.message}`, { cause: error })
      }
      const { status, body, truncated } = response
      if (status === 429 || status >= 500) {
        throw new ProviderError('unavailable', `${what} responded with status ${status}.`)
      }
      if (status !== 200 || truncated) return undefined
      try {
        return parseForeignJson(body.toString('utf8'))
      } catch {
        return undefined
      }
    },
  }
}

const pathOf = (url: URL): string => url.pathname.replace(/\/$/, '')

/** Where the metadata of a protected resource is: as its challenge says, or at the well-known places (RFC 9728, 3). */
const resourcePlaces = (server: URL, challenge: Challenge, { check }: Requests): URL[] => {
  if (challenge.resourceMetadata !== undefined) return [check(challenge.resourceMetadata, 'resource metadata')]
  const name = '/.well-known/oauth-protected-resource'
  const places = [name + pathOf(server), name].map((path) => new URL(path, server.origin))
  return pathOf(server) === '' ? places.slice(1) : places
}

/** The well-known places of RFC 8414 and of OpenID Connect Discovery for an issuer, in the order of the MCP specification. */
const serverPlaces = (issuer: URL): URL[] => {
  const path = pathOf(issuer)
  const paths = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'].map(
    (name) => name + path,
  )
  return [...paths, ...(path === '' ? [] : [`${path}/.well-known/openid-configuration`])].map(
    (place) => new URL(place, issuer.origin),
  )
}

const findFirst = async <Schema extends TSchema>(
  places: readonly URL[],
  { read }: Requests,
  schema: Schema,
): Promise<Static<Schema> | undefined> => {
  for (const place of places) {
    const found = await read(place)
    if (Check(schema, found)) return found
  }
  return undefined
}

/** Whether the metadata of a resource is that of this server: the same origin, and its path or one above it. */
const covers = (resource: string, server: URL): boolean => {
  const url = URL.parse(resource)
  if (!url || url.origin !== server.origin || url.hash !== '') return false
  return `${pathOf(server)}/`.startsWith(`${pathOf(url)}/`)
}

/** Issuers are compared as text (RFC 8414, 3.3), except for a slash at the end, which some servers add. */
const isSameIssuer = (one: string, other: string): boolean => one.replace(/\/$/, '') === other.replace(/\/$/, '')

const withoutFragment = (server: URL): string => {
  const url = new URL(server)
  url.hash = ''
  return url.pathname === '/' && url.search === '' ? url.origin : url.href
}

const readServer = async (issuer: URL, name: string, requests: Requests): Promise<ServerMetadata> => {
  const metadata = await findFirst(serverPlaces(issuer), requests, ServerMetadata)
  if (!metadata) throw badRequest(`The MCP server asks for sign-in, and ${issuer.host} describes no OAuth endpoints.`)
  if (!isSameIssuer(metadata.issuer, name)) throw badRequest(`The metadata of ${issuer.host} names another issuer.`)
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw badRequest(`The authorization server ${issuer.host} does not support PKCE with S256, which MCP requires.`)
  }
  return metadata
}

/** The scope that is asked for: of the challenge, otherwise all of the resource, with refresh tokens where there are any. */
const scopeOf = (challenge: Challenge, supported: readonly string[] | undefined, server: ServerMetadata) => {
  const scope = challenge.scope ?? cleanScope(supported?.join(' '))
  const hasOffline = server.scopes_supported?.includes('offline_access') === true
  return scope !== undefined && hasOffline ? [...new Set([...scope.split(' '), 'offline_access'])].join(' ') : scope
}

/**
 * Finds the authorization server of an MCP server that responded with 401 (MCP 2025-11-25, authorization). Servers of the
 * revision 2025-03-26 have no resource metadata; their own origin is the issuer. BAD_REQUEST when the server describes no
 * OAuth or violates a rule that protects tokens, SERVICE_UNAVAILABLE when a server does not respond.
 */
export const discoverAuthorizationServer = async (
  server: URL,
  challenge: Challenge,
  requests: Requests,
): Promise<AuthorizationServer> => {
  const places = resourcePlaces(server, challenge, requests)
  const metadata = await findFirst(places, requests, ResourceMetadata)
  if (metadata && !covers(metadata.resource, server)) {
    throw badRequest('The resource metadata of the MCP server describes another resource.')
  }
  const name = metadata?.authorization_servers?.[0] ?? server.origin
  const issuer = requests.check(name, 'issuer')
  const found = await readServer(issuer, name, requests)
  const endpoint = (url: string, kind: string): string => requests.check(url, kind).href
  const optional = (url: string | undefined, kind: string) => (url === undefined ? undefined : endpoint(url, kind))
  return {
    issuer: found.issuer,
    resource: metadata?.resource ?? withoutFragment(server),
    scope: scopeOf(challenge, metadata?.scopes_supported, found),
    authorizationEndpoint: endpoint(found.authorization_endpoint, 'authorization endpoint'),
    tokenEndpoint: endpoint(found.token_endpoint, 'token endpoint'),
    registrationEndpoint: optional(found.registration_endpoint, 'registration endpoint'),
    revocationEndpoint: optional(found.revocation_endpoint, 'revocation endpoint'),
    acceptsClientDocuments: found.client_id_metadata_document_supported === true,
    authMethods: found.token_endpoint_auth_methods_supported ?? ['client_secret_basic'],
    sendsIssuer: found.authorization_response_iss_parameter_supported === true,
  }
}
