import { ProviderError } from '../../connections/provider-error.ts'
import type { Secrets } from '../../connections/secrets.ts'
import { joinScopes } from './challenge.ts'
import type { AuthorizationServer } from './discovery.ts'
import type { Client } from './registration.ts'

/**
 * The authorization server and the client of one connection, as text. The authorization server belongs to the MCP server
 * that the user named, so both are kept with the connection instead of in the configuration.
 */
export interface McpAuthorization {
  /** The URL of the MCP server. */
  url: string
  issuer: string
  resource: string
  scope: string
  authorizationEndpoint: string
  tokenEndpoint: string
  revocationEndpoint: string
  clientId: string
  clientSecret: string
  clientAuth: 'basic' | 'post' | 'none'
  /** `true` or empty. */
  sendsIssuer: string
  /** The path of the redirect URI. Absent in sign-ins that began when all providers shared one. */
  redirectPath?: string
}

/** All but the secret are one entry of a connection's secrets, which are redacted one by one in responses. */
const key = 'authorization'

export const createAuthorization = (
  url: string,
  server: AuthorizationServer,
  client: Client & { redirectPath: string },
): McpAuthorization => ({
  url,
  issuer: server.issuer,
  resource: server.resource,
  scope: server.scope ?? '',
  authorizationEndpoint: server.authorizationEndpoint,
  tokenEndpoint: server.tokenEndpoint,
  revocationEndpoint: server.revocationEndpoint ?? '',
  sendsIssuer: server.sendsIssuer ? 'true' : '',
  ...client,
})

/** The secrets of a connection without its tokens. */
export const secretsOf = ({ url, clientSecret, ...authorization }: McpAuthorization): Secrets => ({
  url,
  ...(clientSecret === '' ? {} : { clientSecret }),
  [key]: JSON.stringify(authorization),
})

/** Undefined for a connection without OAuth. */
export const authorizationOf = (secrets: Secrets): McpAuthorization | undefined => {
  const stored = secrets[key]
  if (stored === undefined) return undefined
  const rest = JSON.parse(stored) as Omit<McpAuthorization, 'url' | 'clientSecret'>
  return { ...rest, url: secrets['url'] ?? '', clientSecret: secrets['clientSecret'] ?? '' }
}

/** With a scope that the server asked for during a call. Undefined when it was granted or asked for before. */
export const withScope = (authorization: McpAuthorization, scope: string): McpAuthorization | undefined => {
  const joined = joinScopes(authorization.scope, scope) ?? ''
  return joined === (joinScopes(authorization.scope, undefined) ?? '') ? undefined : { ...authorization, scope: joined }
}

/** The authorization request (RFC 6749, 4.1.1) with PKCE (RFC 7636) for the MCP server as its resource (RFC 8707). */
export const authorizeUrlOf = (
  authorization: McpAuthorization,
  { state, challenge, redirectUri }: { state: string; challenge: string; redirectUri: string },
): string => {
  const url = new URL(authorization.authorizationEndpoint)
  const params = {
    response_type: 'code',
    client_id: authorization.clientId,
    redirect_uri: redirectUri,
    scope: authorization.scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource: authorization.resource,
  }
  for (const [name, value] of Object.entries(params)) if (value !== '') url.searchParams.set(name, value)
  // Authorization servers show the question again, and then issue refresh tokens, only if they are asked to.
  if (authorization.scope.split(' ').includes('offline_access')) url.searchParams.set('prompt', 'consent')
  return url.href
}

/**
 * Checks which authorization server has sent a code (RFC 9207): another one could have been given the code of this one, to
 * have it exchanged at its own token endpoint.
 */
export const checkIssuer = ({ issuer, sendsIssuer }: McpAuthorization, iss: string | undefined): void => {
  const isRight = iss === undefined ? sendsIssuer === '' : iss === issuer
  if (!isRight) throw new ProviderError('rejected', 'Another authorization server has responded.')
}
