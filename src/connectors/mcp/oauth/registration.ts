import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { badRequest } from '../../../platform/http/errors.ts'
import { parseForeignJson } from '../../../platform/http/json-depth.ts'
import { OutboundError } from '../../../platform/outbound/outbound.ts'
import type { OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { ProviderError } from '../../connections/provider-error.ts'
import type { ProviderDeps } from '../../deps.ts'
import type { AuthorizationServer } from './discovery.ts'

/** A client at an authorization server. An empty secret: a public client, which PKCE protects. */
export interface Client {
  clientId: string
  clientSecret: string
  clientAuth: 'basic' | 'post' | 'none'
}

/** The path of the document that describes this server as a client of sign-ins that began before `clientPlaceOf`. */
export const clientDocumentPath = '/oauth/client.json'
/** The path of the documents of `clientPlaceOf`. */
export const clientDocumentsPath = '/oauth/clients'
/** Not below the redirect URI of the catalog: GitHub accepts every path below the registered one. */
export const discoveredCallbackPath = '/oauth/callback'

/** The URLs of this server as a client. */
export interface ClientPlace {
  /** Of the document that describes it. */
  documentUrl: string
  redirectUri: string
  /** Of the redirect URI, without the origin of this server. */
  redirectPath: string
}

const placeOf = (origin: string, key: string): ClientPlace => {
  const redirectPath = `${discoveredCallbackPath}/${key}`
  return { documentUrl: `${origin}${clientDocumentsPath}/${key}`, redirectUri: origin + redirectPath, redirectPath }
}

/**
 * Each authorization server has a redirect URI of its own (RFC 9700, 4.4.2). Otherwise the page of a hostile one could
 * send the browser to another server, and get the code that comes back from there. Clients that users have registered
 * share one, because they have to enter it before the issuer is known.
 */
export const clientPlaceOf = (origin: string, issuer: string, isOfUser: boolean): ClientPlace =>
  placeOf(origin, isOfUser ? 'mcp' : createHash('sha256').update(issuer).digest('base64url').slice(0, 22))

/** The place with this key in its paths. Undefined for text that is no key. */
export const clientPlaceWith = (origin: string, key: string): ClientPlace | undefined =>
  /^[\w-]{22}$/.test(key) ? placeOf(origin, key) : undefined

const timeoutMs = 15_000
const maxBytes = 65_536
const name = 'Atrium'

/** RFC 7591, section 3.2.1. */
const Registered = Type.Object({
  client_id: Type.String({ minLength: 1, maxLength: 2_048, pattern: '^[\\x20-\\x7e]+$' }),
  client_secret: Type.Optional(Type.String({ maxLength: 2_048, pattern: '^[\\x20-\\x7e]*$' })),
  token_endpoint_auth_method: Type.Optional(Type.String({ maxLength: 100 })),
})

/** The metadata of this server as a client, with which it registers. */
export const clientMetadata = (redirectUri: string) => ({
  client_name: name,
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  // OpenID Connect Dynamic Client Registration, section 2: web clients have https redirect URIs only.
  application_type: redirectUri.startsWith('https:') ? 'web' : 'native',
  token_endpoint_auth_method: 'none',
})

/**
 * The document whose URL is the ID of this server at authorization servers that accept documents. They fetch it, so the
 * server must have a public https URL.
 */
export const clientDocument = (
  origin: string,
  { documentUrl, redirectUri }: Pick<ClientPlace, 'documentUrl' | 'redirectUri'>,
) => ({
  client_id: documentUrl,
  client_uri: origin,
  ...clientMetadata(redirectUri),
})

/** Client authentication with a secret, by the method that the server prefers of those that we have. */
const methodWith = (clientSecret: string, methods: readonly string[], named?: string): Client['clientAuth'] => {
  if (clientSecret === '') return 'none'
  const known = { client_secret_basic: 'basic', client_secret_post: 'post' } as const
  const first = [named, ...methods].find((method) => method !== undefined && Object.hasOwn(known, method))
  return known[(first ?? 'client_secret_basic') as keyof typeof known]
}

const register = async (
  deps: ProviderDeps,
  orgId: string,
  server: AuthorizationServer,
  redirectUri: string,
): Promise<Client> => {
  const { registrationEndpoint, authMethods } = server
  if (registrationEndpoint === undefined) {
    throw badRequest('The authorization server of the MCP server registers no clients. Enter a client ID of your own.')
  }
  const wanted = ['none', 'client_secret_basic', 'client_secret_post'].find((method) => authMethods.includes(method))
  const body = {
    ...clientMetadata(redirectUri),
    token_endpoint_auth_method: wanted ?? 'none',
    ...(server.scope === undefined ? {} : { scope: server.scope }),
  }
  let response: OutboundResponse
  try {
    response = await deps.outbound.request(registrationEndpoint, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': name },
      body: JSON.stringify(body),
      timeoutMs: deps.requestTimeoutMs ?? timeoutMs,
      maxBytes,
      orgId,
    })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new ProviderError('unavailable', `The client could not be registered: ${error.message}`, { cause: error })
  }
  if (response.status === 429 || response.status >= 500) {
    throw new ProviderError('unavailable', `The registration of the client failed with status ${response.status}.`)
  }
  let registered: unknown
  try {
    registered = parseForeignJson(response.body.toString('utf8'))
  } catch {
    registered = undefined
  }
  if (response.status > 299 || !Check(Registered, registered)) {
    throw badRequest(
      'The authorization server of the MCP server did not register a client. Enter a client ID of your own.',
    )
  }
  const { client_id: clientId, client_secret: clientSecret = '' } = registered
  return {
    clientId,
    clientSecret,
    clientAuth: methodWith(clientSecret, authMethods, registered.token_endpoint_auth_method),
  }
}

interface ClientRequest {
  orgId: string
  /** Of the user, registered by hand. */
  clientId: string | undefined
  clientSecret: string | undefined
  place: ClientPlace
}

/**
 * The client for an authorization server: that of the user, this server's document, or a newly registered one. BAD_REQUEST
 * when none of them is possible.
 */
export const findClient = async (
  deps: ProviderDeps,
  server: AuthorizationServer,
  { orgId, clientId, clientSecret = '', place: { documentUrl, redirectUri } }: ClientRequest,
): Promise<Client> => {
  if (clientId !== undefined) {
    return { clientId, clientSecret, clientAuth: methodWith(clientSecret, server.authMethods) }
  }
  if (server.acceptsClientDocuments && documentUrl.startsWith('https:')) {
    return { clientId: documentUrl, clientSecret: '', clientAuth: 'none' }
  }
  return register(deps, orgId, server, redirectUri)
}
