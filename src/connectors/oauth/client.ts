import type { ConnectorSettings } from '../../config/connectors.ts'
import { parseForeignJson } from '../../platform/http/json-depth.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { Secrets } from '../connections/secrets.ts'
import type { Connector, OAuth, Values } from '../catalog/definition.ts'
import { endpoint, ProviderError, settingsOf } from '../connections/provider.ts'
import type { Access, ProviderDeps } from '../connections/provider.ts'
import { at, fill, fillPairs, fillText, textAt } from '../connections/templates.ts'

/** What a token endpoint gave. */
export interface Grant {
  secrets: Secrets
  scopes: string[]
  /** Undefined: it does not end by itself. */
  expiresInSeconds: number | undefined
  /** There is a refresh token. */
  canRenew: boolean
  /** The whole answer, for what else it tells. */
  answer: unknown
}

/** Whose grant it is, and what it consists of. */
type Granted = Pick<Access, 'orgId' | 'connector' | 'secrets'>

/** Shorter than the lease under which a token is renewed. */
const timeoutMs = 15_000
const maxAnswerBytes = 65_536

export const oauthOf = ({ auth }: Connector): OAuth | undefined => (auth.type === 'oauth' ? auth : undefined)

/** The client and the URLs of a connector that is configured; undefined when it is not. */
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
  if (!client) throw new ProviderError('unavailable', `${connector.name} is not configured on this server any more.`)
  return client
}

export const isConfigured = (deps: Pick<ProviderDeps, 'config'>, connector: Connector): boolean =>
  connector.auth.type !== 'oauth' || clientOf(deps, connector) !== undefined

/** Where a person goes to give their consent. */
export const authorizeUrl = (
  deps: Pick<ProviderDeps, 'config'>,
  connector: Connector,
  { state, challenge, redirectUri }: { state: string; challenge: string; redirectUri: string },
): string => {
  const { auth, settings, clientId } = configuredClient(deps, connector)
  const url =
    settings.authorizeUrl === undefined
      ? endpoint(deps, connector, auth.authorizeUrl).url
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

const post = async (
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
      timeoutMs: deps.patienceMs ?? timeoutMs,
      maxBytes: maxAnswerBytes,
      trusted: target.trusted,
    })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new ProviderError('unavailable', `${connector.name} could not be reached: ${error.message}`, error)
  }
}

const parseJson = (body: Buffer): unknown => {
  try {
    return parseForeignJson(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** What is wrong with us, our configuration or the moment; everything else that is said in the protocol is a no. */
const notAboutTheGrant = new Set([
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

/** Ten years: beyond it a provider means "for ever". */
const longestSeconds = 315_360_000

const grantOf = (
  connector: Connector,
  { status, body }: OutboundResponse,
  auth: OAuth,
  before: Secrets | undefined,
): Grant => {
  const answer = parseJson(body)
  const accessToken = textAt(answer, 'access_token')
  if (status >= 200 && status < 300 && accessToken !== null && tokenFormat.test(accessToken)) {
    // One that is not told again stays as it was (RFC 6749, 6).
    const refreshToken = textAt(answer, 'refresh_token') ?? before?.['refreshToken']
    const seconds = Number(textAt(answer, 'expires_in') ?? Number.NaN)
    const scope = textAt(answer, 'scope')
    return {
      secrets: { accessToken, ...(refreshToken ? { refreshToken } : {}) },
      scopes: scope === null ? [...auth.scopes] : scope.split(/[\s,]+/).filter((one) => one !== ''),
      expiresInSeconds: seconds > 0 ? Math.floor(Math.min(seconds, longestSeconds)) : undefined,
      canRenew: refreshToken !== undefined && refreshToken !== '',
      answer,
    }
  }
  const error = textAt(answer, 'error') ?? textAt(answer, 'status')
  const isAnswered = status < 500 && status !== 429 && error !== null
  if (isAnswered && !notAboutTheGrant.has(error)) {
    throw new ProviderError('rejected', `${connector.name} did not accept the grant.`, new Error(error.slice(0, 200)))
  }
  const told = error === null ? 'something that is no answer of a token endpoint' : error.slice(0, 200)
  throw new ProviderError('unavailable', `${connector.name} gave no token right now.`, new Error(`${status}: ${told}`))
}

const askForToken = async (
  deps: ProviderDeps,
  { orgId, connector }: Pick<Access, 'orgId' | 'connector'>,
  params: Record<string, string>,
  before?: Secrets,
): Promise<Grant> => {
  const { auth, settings, clientId, clientSecret } = configuredClient(deps, connector)
  const target =
    settings.tokenUrl === undefined
      ? endpoint(deps, connector, auth.tokenUrl)
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
  const answer = await post(deps, { orgId, connector }, target, { method: 'POST', headers, body })
  return grantOf(connector, answer, auth, before)
}

/** Exchanges a code for a grant. Throws a ProviderError: `rejected` when the provider does not take the code. */
export const exchangeCode = (
  deps: ProviderDeps,
  connector: Connector,
  { orgId, code, verifier, redirectUri }: { orgId: string; code: string; verifier: string; redirectUri: string },
): Promise<Grant> =>
  askForToken(
    deps,
    { orgId, connector },
    {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      ...(oauthOf(connector)?.pkce === false ? {} : { code_verifier: verifier }),
    },
  )

/** Gets a new token. Throws a ProviderError: `rejected` when the grant is over for good. */
export const renewGrant = (deps: ProviderDeps, { orgId, connector, secrets }: Granted): Promise<Grant> => {
  const refreshToken = secrets['refreshToken']
  if (refreshToken === undefined) {
    throw new ProviderError('rejected', `${connector.name} gave no means to renew its token, and it has ended.`)
  }
  return askForToken(deps, { orgId, connector }, { grant_type: 'refresh_token', refresh_token: refreshToken }, secrets)
}

export type Revocation = 'revoked' | 'failed' | 'unsupported'

/** A token that the provider does not know any more is as good as given back. */
const revocationOf = (connector: Connector, { status, body }: OutboundResponse): Revocation => {
  if (status === 429 || status >= 500) {
    throw new ProviderError('unavailable', `${connector.name} answered ${status} when the grant was given back.`)
  }
  const answer = parseJson(body)
  const error = textAt(answer, 'error')
  const isUnknown = status === 404 || error === 'invalid_token' || error === 'invalid_grant'
  if (isUnknown || connector.api.rejections?.includes(error ?? '')) return 'revoked'
  const hasFailed = connector.api.failure?.is === 'false' && at(answer, connector.api.failure.path) === false
  return status >= 200 && status < 300 && !hasFailed ? 'revoked' : 'failed'
}

/** Gives a grant back. Throws a ProviderError when the provider cannot be asked right now. */
export const revokeGrant = async (deps: ProviderDeps, { orgId, connector, secrets }: Granted): Promise<Revocation> => {
  const auth = oauthOf(connector)
  if (!auth?.revoke || (auth.revoke.needs !== undefined && secrets[auth.revoke.needs] === undefined)) {
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
  const answer = await post(deps, { orgId, connector }, endpoint(deps, connector, fillText(revoke.url, values)), {
    method: revoke.method,
    headers: {
      ...revoke.headers,
      ...((body ?? form) ? { 'content-type': type } : {}),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...((body ?? form) ? { body: body ?? form ?? '' } : {}),
  })
  return revocationOf(connector, answer)
}
