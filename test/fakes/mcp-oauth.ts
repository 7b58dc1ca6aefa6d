// OAuth for a fake MCP server: resource metadata, and an authorization server that rejects clients that violate the
// specification.
import { createHash, randomBytes } from 'node:crypto'
import type { FakeMcp } from './mcp.ts'
import type { FakeProvider, Reply, Seen } from './provider.ts'

interface Registered {
  secret: string | undefined
  redirectUris: string[]
}

export interface FakeMcpOAuth {
  /** Replaces parts of the metadata of the resource and of the authorization server. */
  resource: Record<string, unknown>
  server: Record<string, unknown>
  /** The header of a 401; the default names the metadata. */
  challenge: string | undefined
  /** Tools that need a scope. */
  scopes: Record<string, string>
  clients: Map<string, Registered>
  /** Access tokens with their scopes. */
  accessTokens: Map<string, string>
  refreshTokens: Set<string>
  revoked: string[]
  /** Secrets that must not leave the server. */
  issued: string[]
  /** What the user of the browser does: checks the request and consents. */
  consent(oauthUrl: string): { code: string; state: string; iss: string | undefined; scope: string }
}

const secret = (kind: string): string => `planted-${kind}-${randomBytes(12).toString('hex')}`

export const addMcpOAuth = (provider: FakeProvider, mcp: FakeMcp, path: string): FakeMcpOAuth => {
  const issuer = `${provider.url}${path}-auth`
  const resource = provider.url + path
  const codes = new Map<string, { clientId: string; redirectUri: string; challenge: string; scope: string }>()
  const base = `${path}-auth`
  const reject = (error: string, status = 400): Reply => ({ status, body: { error } })

  const oauth: FakeMcpOAuth = {
    resource: {},
    server: {},
    challenge: undefined,
    scopes: {},
    clients: new Map(),
    accessTokens: new Map(),
    refreshTokens: new Set(),
    revoked: [],
    issued: [],
    consent: (oauthUrl) => {
      const { origin, pathname, searchParams: params } = new URL(oauthUrl)
      if (origin !== provider.url || pathname !== `${base}/authorize`) throw new Error(`not ours: ${oauthUrl}`)
      const clientId = params.get('client_id') ?? ''
      const redirectUri = params.get('redirect_uri') ?? ''
      if (params.get('response_type') !== 'code') throw new Error('response_type')
      if (oauth.clients.get(clientId)?.redirectUris.includes(redirectUri) !== true) throw new Error('redirect_uri')
      if (params.get('code_challenge_method') !== 'S256') throw new Error('PKCE')
      if (params.get('resource') !== resource) throw new Error('resource')
      const code = secret('code')
      const scope = params.get('scope') ?? ''
      codes.set(code, { clientId, redirectUri, challenge: params.get('code_challenge') ?? '', scope })
      oauth.issued.push(code)
      const hasIssuer = oauth.server['authorization_response_iss_parameter_supported'] === true
      return { code, state: params.get('state') ?? '', iss: hasIssuer ? issuer : undefined, scope }
    },
  }

  const isGood = ({ headers }: Seen): boolean =>
    oauth.accessTokens.has(headers.authorization?.replace(/^Bearer /, '') ?? '')

  mcp.guard = (seen) => {
    if (!isGood(seen)) {
      const named = `Bearer resource_metadata="${provider.url}/.well-known/oauth-protected-resource${path}"`
      return { status: 401, body: {}, headers: { 'www-authenticate': oauth.challenge ?? named } }
    }
    const { method, params } = seen.body as { method?: string; params?: { name?: string } }
    const needed = method === 'tools/call' ? oauth.scopes[params?.name ?? ''] : undefined
    const given = oauth.accessTokens.get(seen.headers.authorization?.replace(/^Bearer /, '') ?? '') ?? ''
    if (needed === undefined || given.split(' ').includes(needed)) return undefined
    const header = `Bearer error="insufficient_scope", scope="${needed}"`
    return { status: 403, body: {}, headers: { 'www-authenticate': header } }
  }

  provider.on('GET', `/.well-known/oauth-protected-resource${path}`, () => ({
    body: { resource, authorization_servers: [issuer], scopes_supported: ['read'], ...oauth.resource },
  }))
  provider.on('GET', `/.well-known/oauth-authorization-server${base}`, () => ({
    body: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      revocation_endpoint: `${issuer}/revoke`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      ...oauth.server,
    },
  }))
  // The page grants consent at once.
  provider.on('GET', `${base}/authorize`, ({ query }) => {
    const { code, state, iss } = oauth.consent(`${issuer}/authorize?${query.toString()}`)
    const back = new URL(query.get('redirect_uri') ?? '')
    back.search = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) }).toString()
    return { status: 302, body: '', headers: { location: back.href } }
  })
  provider.on('POST', `${base}/register`, ({ body }) => {
    const { redirect_uris: redirectUris = [], token_endpoint_auth_method: method } = body as {
      redirect_uris?: string[]
      token_endpoint_auth_method?: string
    }
    const id = secret('id')
    const key = method === 'none' ? undefined : secret('client-secret')
    if (key !== undefined) oauth.issued.push(key)
    oauth.clients.set(id, { secret: key, redirectUris })
    return {
      status: 201,
      body: { client_id: id, ...(key === undefined ? {} : { client_secret: key }), token_endpoint_auth_method: method },
    }
  })

  /** The client that a request authenticates as. */
  const clientOf = ({ headers, body }: Seen): string | undefined => {
    const fields = body as Record<string, string>
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
    const [id = '', key] =
      basic === undefined
        ? [fields['client_id'], fields['client_secret']]
        : Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
    const client = oauth.clients.get(id)
    return client && client.secret === key ? id : undefined
  }
  provider.on('POST', `${base}/token`, (seen) => {
    const fields = seen.body as Record<string, string>
    const clientId = clientOf(seen)
    if (clientId === undefined) return reject('invalid_client', 401)
    if (fields['resource'] !== resource) return reject('invalid_target')
    const issue = (scope: string): Reply => {
      const [accessToken, refreshToken] = [secret('access'), secret('refresh')]
      oauth.accessTokens.set(accessToken, scope)
      oauth.refreshTokens.add(refreshToken)
      oauth.issued.push(accessToken, refreshToken)
      const body = { access_token: accessToken, refresh_token: refreshToken, token_type: 'Bearer', expires_in: 3_600 }
      return { body: { ...body, scope } }
    }
    if (fields['grant_type'] === 'refresh_token') {
      return oauth.refreshTokens.delete(fields['refresh_token'] ?? '') ? issue('read') : reject('invalid_grant')
    }
    const known = codes.get(fields['code'] ?? '')
    codes.delete(fields['code'] ?? '')
    const challenge = createHash('sha256')
      .update(fields['code_verifier'] ?? '')
      .digest('base64url')
    if (!known || known.clientId !== clientId || known.redirectUri !== fields['redirect_uri']) {
      return reject('invalid_grant')
    }
    return known.challenge === challenge ? issue(known.scope) : reject('invalid_grant')
  })
  provider.on('POST', `${base}/revoke`, (seen) => {
    if (clientOf(seen) === undefined) return reject('invalid_client', 401)
    oauth.revoked.push((seen.body as Record<string, string>)['token'] ?? '')
    return { status: 200, body: {} }
  })
  return oauth
}
