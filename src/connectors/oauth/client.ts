import type { ConnectorSettings } from '../../config/connectors.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { Connector, OAuth, Values } from '../catalog/definition.ts'
import { providerUrl, settingsOf } from '../connections/access.ts'
import type { Access } from '../connections/access.ts'
import { ProviderError } from '../connections/provider-error.ts'
import type { Secrets } from '../connections/secrets.ts'
import { at, fill, fillPairs, fillText, textAt } from '../connections/templates.ts'
import type { ProviderDeps } from '../deps.ts'
import { authorizationOf } from '../mcp/oauth/authorization.ts'
import type { McpAuthorization } from '../mcp/oauth/authorization.ts'
import type { RevocationOutcome } from './revocation-queries.ts'

/** A successful token response (RFC 6749, 5.1). */
export interface Grant {
  secrets: Secrets
  scopes: string[]
  /** Undefined: the token does not expire. */
  expiresInSeconds: number | undefined
  /** There is a refresh token. */
  canRefresh: boolean
  /** The whole response. Some providers return the account in it. */
  response: unknown
}

type GrantAccess = Pick<Access, 'orgId' | 'connector' | 'secrets'>

/** Shorter than the lease of a refresh (30 s) and of a revocation (25 s). */
const timeoutMs = 15_000
const maxResponseBytes = 65_536

export const oauthOf = ({ auth }: Connector): OAuth | undefined => (auth.type === 'oauth' ? auth : undefined)

/** The OAuth client of a connector. Undefined when the operator has not configured one. */
const clientOf = (
  deps: Pick<ProviderDeps, 'config'>,
  connector: Connector,
): { auth: OAuth; settings: ConnectorSettings; clientId: string; clientSecret: string } | undefined => {
  const auth = oauthOf(connector)
  const settings = settingsOf(deps, connector)
  const { clientId, clientSecret } = settings
  return auth && clientId !== undefined && clientSecret !== undefined
    ? { auth, settings, clientId, clientSecret }
    : undefined
}

const configuredClient = (deps: Pick<ProviderDeps, 'config'>, connector: Connector) => {
  const client = clientOf(deps, connector)
  if (!client) throw new ProviderError('unavailable', `${connector.name} is no longer configured on this server.`)
  return client
}

export const isConfigured = (deps: Pick<ProviderDeps, 'config'>, connector: Connector): boolean =>
  connector.auth.type !== 'oauth' || clientOf(deps, connector) !== undefined

/** The authorization request (RFC 6749, 4.1.1) with PKCE (RFC 7636). */
export const authorizeUrl = (
  deps: Pick<ProviderDeps, 'config'>,
  connector: Connector,
  { state, challenge, redirectUri }: { state: string; challenge: string; redirectUri: string },
): string => {
  const { auth, settings, clientId } = configuredClient(deps, connector)
  const url =
    settings.authorizeUrl === undefined
      ? providerUrl(deps, connector, auth.authorizeUrl).url
      : new URL(settings.authorizeUrl)
  const params = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: auth.scopes.join(auth.scopeSeparator ?? ' '),
    state,
    ...(auth.pkce === false ? {} : { code_challenge: challenge, code_challenge_method: 'S256' }),
    ...auth.authorizeParams,
  }
  for (const [name, value] of Object.entries(params)) if (value !== '') url.searchParams.set(name, value)
  return url.href
}

const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

const send = async (
  deps: ProviderDeps,
  { orgId, connector }: Pick<Access, 'orgId' | 'connector'>,
  target: { url: URL; trusted: boolean },
  request: { method: string; headers: Record<string, string>; body?: string },
): Promise<OutboundResponse> => {
  try {
    return await deps.outbound.request(target.url, {
      ...request,
      orgId,
      headers: { accept: 'application/json', 'user-agent': 'Atrium', ...request.headers },
      timeoutMs: deps.requestTimeoutMs ?? timeoutMs,
      maxBytes: maxResponseBytes,
      trusted: target.trusted,
    })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new ProviderError('unavailable', `${connector.name} could not be reached: ${error.message}`, { cause: error })
  }
}

const parseJson = (body: Buffer): unknown => {
  try {
    return parseForeignJson(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Errors of our configuration or of the provider. All other errors mean that the provider rejects the grant. */
const unrelatedToGrant = new Set([
  'invalid_client',
  'invalid_client_id',
  'bad_client_secret',
  'incorrect_client_credentials',
  'unauthorized_client',
  'invalid_request',
  'unsupported_grant_type',
  'redirect_uri_mismatch',
  'temporarily_unavailable',
  'server_error',
  'slow_down',
  'ratelimited',
  'internal_error',
])

const tokenFormat = /^[\x21-\x7e]{1,16384}$/

/** A shorter lifetime would be refreshed again before its token is used. A rejected token is refreshed anyway. */
const minLifetimeSeconds = 60
/** Ten years. Providers use larger values for tokens that do not expire, and PostgreSQL cannot store all of them. */
const maxLifetimeSeconds = 315_360_000

/** A client that was registered for one connection ends with it: the user must connect again for a new one. */
const endsDiscovered = new Set(['invalid_client', 'unauthorized_client'])

const tokenError = ({ name, isMcp }: Connector, status: number, response: unknown): ProviderError => {
  const error = (textAt(response, 'error') ?? textAt(response, 'status'))?.slice(0, 200)
  const concernsGrant =
    error !== undefined && (!unrelatedToGrant.has(error) || (isMcp === true && endsDiscovered.has(error)))
  if (concernsGrant && status < 500 && status !== 429) {
    const cause = new Error(error)
    return new ProviderError('invalid_credentials', `${name} did not accept the authorization.`, { cause })
  }
  const cause = new Error(`${status}: ${error ?? 'not a token response'}`)
  return new ProviderError('unavailable', `${name} did not issue a token. Try again later.`, { cause })
}

/** A token response of an MCP server, which anybody can run, may have 64 KB. Each list of connections shows the scopes. */
const maxScopes = 200
const maxScopeLength = 200

const scopesOf = (scope: string): string[] =>
  scope
    .split(/[\s,]+/)
    .filter((one) => one !== '' && one.length <= maxScopeLength)
    .slice(0, maxScopes)

/** Accepts any 2xx with an access token, and errors with status 200, which GitHub and Slack send. */
const parseTokenResponse = (
  connector: Connector,
  { status, body }: OutboundResponse,
  defaultScopes: readonly string[],
  previous: Secrets | undefined,
): Grant => {
  const response = parseJson(body)
  const accessToken = textAt(response, 'access_token')
  if (status < 200 || status > 299 || accessToken === null || !tokenFormat.test(accessToken)) {
    throw tokenError(connector, status, response)
  }
  // A response without a refresh token keeps the previous one (RFC 6749, 6).
  const refreshToken = textAt(response, 'refresh_token') ?? previous?.['refreshToken']
  const seconds = Number(textAt(response, 'expires_in') ?? Number.NaN)
  const scope = textAt(response, 'scope')
  return {
    secrets: { ...previous, accessToken, ...(refreshToken ? { refreshToken } : {}) },
    scopes: scope === null ? [...defaultScopes] : scopesOf(scope),
    expiresInSeconds:
      seconds > 0 ? Math.floor(Math.min(Math.max(seconds, minLifetimeSeconds), maxLifetimeSeconds)) : undefined,
    canRefresh: refreshToken !== undefined && refreshToken !== '',
    response,
  }
}

/** Where and as what this server requests tokens. */
interface TokenClient {
  endpoint: { url: URL; trusted: boolean }
  clientId: string
  /** Empty for a public client. */
  clientSecret: string
  clientAuth: 'basic' | 'post' | 'none'
  body: 'form' | 'json'
  /** The scopes of a grant whose response names none (RFC 6749, 5.1). */
  scopes: readonly string[]
  /** Parameters of every request. */
  params: Readonly<Record<string, string>>
}

/** Client authentication in the body (RFC 6749, 2.3.1); a public client names itself there. */
const fieldsOf = ({
  clientAuth,
  clientId,
  clientSecret,
}: Pick<TokenClient, 'clientAuth' | 'clientId' | 'clientSecret'>): Record<string, string> => {
  if (clientAuth === 'basic') return {}
  return { client_id: clientId, ...(clientAuth === 'post' ? { client_secret: clientSecret } : {}) }
}

/** The client that the operator configured. */
const catalogClient = (deps: ProviderDeps, connector: Connector): TokenClient => {
  const { auth, settings, clientId, clientSecret } = configuredClient(deps, connector)
  return {
    endpoint:
      settings.tokenUrl === undefined
        ? providerUrl(deps, connector, auth.tokenUrl)
        : { url: new URL(settings.tokenUrl), trusted: true },
    clientId,
    clientSecret,
    clientAuth: auth.clientAuth ?? 'post',
    body: auth.tokenBody ?? 'form',
    scopes: auth.scopes,
    params: {},
  }
}

/** The client at the authorization server of an MCP server. */
const discoveredClient = ({ tokenEndpoint, resource, scope, ...client }: McpAuthorization): TokenClient => ({
  endpoint: { url: new URL(tokenEndpoint), trusted: false },
  clientId: client.clientId,
  clientSecret: client.clientSecret,
  clientAuth: client.clientAuth,
  body: 'form',
  scopes: scope.split(' ').filter((one) => one !== ''),
  params: { resource },
})

const requestToken = async (
  deps: ProviderDeps,
  { orgId, connector }: Pick<Access, 'orgId' | 'connector'>,
  client: TokenClient,
  { grant, previous }: { grant: Record<string, string>; previous?: Secrets },
): Promise<Grant> => {
  const { clientId, clientSecret, clientAuth } = client
  const fields: Record<string, string> = { ...grant, ...client.params, ...fieldsOf(client) }
  const [type, body] =
    client.body === 'json'
      ? ['application/json', JSON.stringify(fields)]
      : ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()]
  const headers = {
    'content-type': type,
    ...(clientAuth === 'basic' ? { authorization: basic(clientId, clientSecret) } : {}),
  }
  const response = await send(deps, { orgId, connector }, client.endpoint, { method: 'POST', headers, body })
  return parseTokenResponse(connector, response, client.scopes, previous)
}

/** What the exchange of an authorization code needs. */
interface Exchange {
  orgId: string
  code: string
  verifier: string
  redirectUri: string
  /** For a discovered authorization server. */
  authorization: McpAuthorization | undefined
}

/** Exchanges an authorization code. Throws a ProviderError, `invalid_credentials` when the code is not accepted. */
export const exchangeCode = (
  deps: ProviderDeps,
  connector: Connector,
  { orgId, code, verifier, redirectUri, authorization }: Exchange,
): Promise<Grant> => {
  const client = authorization ? discoveredClient(authorization) : catalogClient(deps, connector)
  const proof: { code_verifier?: string } = oauthOf(connector)?.pkce === false ? {} : { code_verifier: verifier }
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...proof }
  return requestToken(deps, { orgId, connector }, client, { grant })
}

/** Refreshes a grant. Throws a ProviderError, `invalid_credentials` when the grant has ended. */
export const refreshGrant = (deps: ProviderDeps, { orgId, connector, secrets }: GrantAccess): Promise<Grant> => {
  const refreshToken = secrets['refreshToken']
  if (refreshToken === undefined) {
    throw new ProviderError('invalid_credentials', `The token of ${connector.name} expired and cannot be refreshed.`)
  }
  const authorization = authorizationOf(secrets)
  const client = authorization ? discoveredClient(authorization) : catalogClient(deps, connector)
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
  return requestToken(deps, { orgId, connector }, client, { grant, previous: secrets })
}

/** A token that is unknown to the provider counts as revoked. */
const revocationOutcome = (connector: Connector, { status, body }: OutboundResponse): RevocationOutcome => {
  if (status === 429 || status >= 500) {
    throw new ProviderError('unavailable', `${connector.name} responded with status ${status} to a revocation.`)
  }
  const response = parseJson(body)
  const error = textAt(response, 'error')
  const isUnknown = status === 404 || error === 'invalid_token' || error === 'invalid_grant'
  if (isUnknown || connector.api.credentialErrors?.includes(error ?? '')) return 'revoked'
  const hasFailed = connector.api.failure?.is === 'false' && at(response, connector.api.failure.path) === false
  return status >= 200 && status < 300 && !hasFailed ? 'revoked' : 'failed'
}

/** Revokes a token at a discovered authorization server (RFC 7009). */
const revokeDiscovered = async (
  deps: ProviderDeps,
  { orgId, connector, secrets }: GrantAccess,
  authorization: McpAuthorization,
): Promise<RevocationOutcome> => {
  const { revocationEndpoint, clientId, clientSecret, clientAuth } = authorization
  const [token, hint] =
    secrets['refreshToken'] === undefined
      ? [secrets['accessToken'], 'access_token']
      : [secrets['refreshToken'], 'refresh_token']
  if (revocationEndpoint === '' || token === undefined) return 'unsupported'
  const form = { token, token_type_hint: hint, ...fieldsOf(authorization) }
  const target = { url: new URL(revocationEndpoint), trusted: false }
  const response = await send(deps, { orgId, connector }, target, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(clientAuth === 'basic' ? { authorization: basic(clientId, clientSecret) } : {}),
    },
    body: new URLSearchParams(form).toString(),
  })
  return revocationOutcome(connector, response)
}

/** Revokes a grant at its provider. Throws a ProviderError when the provider cannot be reached. */
export const revokeGrant = async (
  deps: ProviderDeps,
  { orgId, connector, secrets }: GrantAccess,
): Promise<RevocationOutcome> => {
  const discovered = authorizationOf(secrets)
  if (discovered) return revokeDiscovered(deps, { orgId, connector, secrets }, discovered)
  const auth = oauthOf(connector)
  if (!auth?.revoke || (auth.revoke.requires !== undefined && secrets[auth.revoke.requires] === undefined)) {
    return 'unsupported'
  }
  const { clientId, clientSecret } = configuredClient(deps, connector)
  const { revoke } = auth
  const token = secrets['refreshToken'] ?? secrets['accessToken']
  const values: Values = { ...secrets, token, clientId, clientSecret }
  const body = revoke.json === undefined ? undefined : JSON.stringify(fill(revoke.json, values))
  const form = revoke.form && new URLSearchParams(fillPairs(revoke.form, values)).toString()
  const authorization =
    revoke.auth === 'bearer'
      ? `Bearer ${secrets['accessToken']}`
      : revoke.auth === 'client'
        ? basic(clientId, clientSecret)
        : undefined
  const type = body === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
  const target = providerUrl(deps, connector, fillText(revoke.url, values))
  const response = await send(deps, { orgId, connector }, target, {
    method: revoke.method,
    headers: {
      ...revoke.headers,
      ...((body ?? form) ? { 'content-type': type } : {}),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...((body ?? form) ? { body: body ?? form ?? '' } : {}),
  })
  return revocationOutcome(connector, response)
}
