import type { FastifyRequest } from 'fastify'
import { originOf } from '../../platform/http/http.ts'
import type { Permission } from '../permissions.ts'

export const mcpPath = '/mcp'
export const registrationPath = '/oauth/register'
export const tokenPath = '/oauth/token'
export const revocationPath = '/oauth/revoke'
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'
export const serverMetadataPath = '/.well-known/oauth-authorization-server'

/** What apps can be allowed to do: the permissions that the MCP server uses. */
export const appScopes = [
  'files:read',
  'files:write',
  'agents:read',
  'sessions:read',
  'sessions:write',
  'connections:read',
  'connections:write',
] as const satisfies readonly Permission[]

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * The issuer and the base of all URLs. Without BASE_URL only a client on this machine has one: any other Host header may be
 * forged, and metadata that repeats it would send people to an attacker's page.
 */
export const issuerOf = (request: FastifyRequest, baseUrl: string | undefined): string | undefined => {
  if (baseUrl !== undefined) return baseUrl.replace(/\/$/, '')
  return loopback.test(request.host) ? originOf(request, undefined) : undefined
}

export const resourceOf = (issuer: string): string => issuer + mcpPath

/** The WWW-Authenticate header of the MCP server (RFC 6750 and RFC 9728). */
export const challengeOf = (request: FastifyRequest, baseUrl: string | undefined): string => {
  const issuer = issuerOf(request, baseUrl)
  if (issuer === undefined) return 'Bearer realm="atrium"'
  // RFC 6750, 3: a request without credentials gets no error code.
  const error = request.headers.authorization === undefined ? '' : ', error="invalid_token"'
  const metadata = `${issuer}${resourceMetadataPath}${mcpPath}`
  return `Bearer realm="atrium"${error}, resource_metadata="${metadata}", scope="${appScopes.join(' ')}"`
}

/** RFC 9728. */
export const resourceMetadata = (issuer: string) => ({
  resource: resourceOf(issuer),
  authorization_servers: [issuer],
  scopes_supported: appScopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Atrium',
})

/** RFC 8414. */
export const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: issuer + tokenPath,
  registration_endpoint: issuer + registrationPath,
  revocation_endpoint: issuer + revocationPath,
  scopes_supported: appScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
})
