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

/** Ten years. Providers use larger values for tokens that do not expire, and PostgreSQL cannot store all of them. */
const maxLifetimeSeconds = 315_360_000

const tokenError = ({ name }: Connector, status: number, response: unknown): ProviderError => {
  const error = (textAt(response, 'error') ?? textAt(response, 'status'))?.slice(0, 200)
  if (error !== undefined && status < 500 && status !== 429 && !unrelatedToGrant.has(error)) {
    const cause = new Error(error)
    return new ProviderError('invalid_credentials', `${name} did not accept the authorization.`, { cause })
  }
  const cause = new Error(`${status}: ${error ?? 'not a token response'}`)
  return new ProviderError('unavailable', `${name} did not issue a token. Try again later.`, { cause })
}

/** Accepts any 2xx with an access token, and errors with status 200, which GitHub and Slack send. */
const parseTokenResponse = (
  connector: Connector,
  { status, body }: OutboundResponse,
  auth: OAuth,
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
    secrets: { accessToken, ...(refreshToken ? { refreshToken } : {}) },
    scopes: scope === null ? [...auth.scopes] : scope.split(/[\s,]+/).filter((one) => one !== ''),
    expiresInSeconds: seconds > 0 ? Math.floor(Math.min(seconds, maxLifetimeSeconds)) : undefined,
    canRefresh: refreshToken !== undefined && refreshToken !== '',
    response,
  }
}

const requestToken = async (
  deps: ProviderDeps,
  { orgId, connector }: Pick<Access, 'orgId' | 'connector'>,
  params: Record<string, string>,
  previous?: Secrets,
): Promise<Grant> => {
  const { auth, settings, clientId, clientSecret } = configuredClient(deps, connector)
  const target =
    settings.tokenUrl === undefined
      ? providerUrl(deps, connector, auth.tokenUrl)
      : { url: new URL(settings.tokenUrl), trusted: true }
  const inBody = auth.clientAuth === 'basic' ? {} : { client_id: clientId, client_secret: clientSecret }
  const fields = { ...params, ...inBody }
  const [type, body] =
    auth.tokenBody === 'json'
      ? ['application/json', JSON.stringify(fields)]
      : ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()]
  const headers = {
    'content-type': type,
    ...(auth.clientAuth === 'basic' ? { authorization: basic(clientId, clientSecret) } : {}),
  }
  const response = await send(deps, { orgId, connector }, target, { method: 'POST', headers, body })
  return parseTokenResponse(connector, response, auth, previous)
}

/** Exchanges an authorization code. Throws a ProviderError, `invalid_credentials` when the code is not accepted. */
export const exchangeCode = (
  deps: ProviderDeps,
  connector: Connector,
  { orgId, code, verifier, redirectUri }: { orgId: string; code: string; verifier: string; redirectUri: string },
): Promise<Grant> =>
  requestToken(
    deps,
    { orgId, connector },
    {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      ...(oauthOf(connector)?.pkce === false ? {} : { code_verifier: verifier }),
    },
  )

/** Refreshes a grant. Throws a ProviderError, `invalid_credentials` when the grant has ended. */
export const refreshGrant = (deps: ProviderDeps, { orgId, connector, secrets }: GrantAccess): Promise<Grant> => {
  const refreshToken = secrets['refreshToken']
  if (refreshToken === undefined) {
    throw new ProviderError('invalid_credentials', `The token of ${connector.name} expired and cannot be refreshed.`)
  }
  return requestToken(deps, { orgId, connector }, { grant_type: 'refresh_token', refresh_token: refreshToken }, secrets)
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

/** Revokes a grant at its provider. Throws a ProviderError when the provider cannot be reached. */
export const revokeGrant = async (
  deps: ProviderDeps,
  { orgId, connector, secrets }: GrantAccess,
): Promise<RevocationOutcome> => {
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
