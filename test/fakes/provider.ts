// A provider on loopback: an OAuth server as strict as the real ones, and an API whose responses the tests define.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'

export interface Seen {
  method: string
  /** Still percent-encoded. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  text: string
  /** Parsed according to the content type. */
  body: unknown
}

/** A response: the body is sent as JSON, or as HTML if it is a string. `hang up` closes the connection. */
export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang up'

export type Handler = (seen: Seen, response: ServerResponse) => Reply | Promise<Reply>

export interface FakeProvider {
  /** `http://127.0.0.1:<port>` */
  url: string
  seen: Seen[]
  /** Sets the response for a method and a path; replaces an earlier one. `*` matches one segment. */
  on(method: string, path: string, handler: Handler | Reply): void
  /** Number of requests with this method and path. */
  count(method: string, path: string): number
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const parseBody = (text: string, type = ''): unknown => {
  if (text === '') return undefined
  if (type.startsWith('application/json')) return JSON.parse(text) as unknown
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  return text
}

const matches = (pattern: string, path: string): boolean =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('[^/]+')}$`,
  ).test(path)

/** Listens until the last test of the file has ended. Other paths get a 404 in HTML. */
export const startProvider = async (): Promise<FakeProvider> => {
  const seen: Seen[] = []
  const handlers: { method: string; path: string; handler: Handler | Reply }[] = []
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const text = await readBody(request)
    const { method = '', headers } = request
    const one = { method, path, query: new URLSearchParams(query), headers, text, body: undefined as unknown }
    one.body = parseBody(text, headers['content-type'])
    seen.push(one)
    const found = handlers.findLast((handler) => handler.method === method && matches(handler.path, path))
    const reply = found
      ? typeof found.handler === 'function'
        ? await found.handler(one, response)
        : found.handler
      : { status: 404, body: '<html>no such page</html>' }
    if (response.headersSent) return
    if (reply === 'hang up') {
      response.destroy()
      return
    }
    const { status = 200, body, headers: more = {} } = reply
    const isText = typeof body === 'string'
    const type = isText ? 'text/html' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...more })
    response.end(body === undefined ? '' : isText ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the provider is not listening')
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    on: (method, path, handler) => void handlers.push({ method, path, handler }),
    count: (method, path) => seen.filter((one) => one.method === method && matches(path, one.path)).length,
  }
}

export interface OAuthOptions {
  clientId: string
  clientSecret: string
  authorizePath: string
  tokenPath: string
  /** Client authentication. Default: in the body, and only there. */
  clientAuth?: 'basic'
  tokenBody?: 'json'
  pkce?: false
  scope: string
  /** Seconds. Undefined: tokens do not expire and there is no refresh token. */
  expiresIn?: number
  /** Refresh tokens are single-use. */
  rotates?: boolean
  /** Tokens expire, but there is no refresh token. */
  withoutRefresh?: boolean
  /** Further fields of the token response. */
  more?: object
}

interface Grant {
  accessToken: string
  refreshToken: string
}

export interface FakeOAuth {
  /** Acts as the user who consents in the browser. Throws for an invalid authorize URL. */
  consent(oauthUrl: string): { code: string; state: string; redirectUri: string }
  /** Currently valid tokens. */
  accessTokens: Set<string>
  refreshTokens: Set<string>
  /** Every token and code that was issued, to search for leaks. */
  issued: string[]
  /** Number of refresh requests. */
  refreshes: number
  /** Called before a token is issued. Can delay or replace the response. */
  onToken?: (grantType: string) => Promise<Reply | undefined>
  isGood(seen: Seen): boolean
  options: OAuthOptions
}

const secret = (prefix: string): string => `${prefix}-${randomBytes(24).toString('hex')}`

const required = (params: URLSearchParams, name: string): string => {
  const values = params.getAll(name)
  if (values.length !== 1 || !values[0]) throw new Error(`the authorize URL has ${values.length} of ${name}`)
  return values[0]
}

const clientOf = (seen: Seen, fields: Record<string, string>, { clientAuth }: OAuthOptions): [unknown, unknown] => {
  const { authorization } = seen.headers
  if (clientAuth === 'basic') {
    if ('client_secret' in fields) return ['', '']
    const [id, key] = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':')
    return [decodeURIComponent(id ?? ''), decodeURIComponent(key ?? '')]
  }
  return authorization === undefined ? [fields['client_id'], fields['client_secret']] : ['', '']
}

/** Adds an OAuth server to a provider that enforces RFC 6749 and RFC 7636. */
export const addOAuth = (provider: FakeProvider, options: OAuthOptions): FakeOAuth => {
  const codes = new Map<string, { redirectUri: string; challenge: string | null }>()
  const oauth: FakeOAuth = {
    accessTokens: new Set(),
    refreshTokens: new Set(),
    issued: [],
    refreshes: 0,
    options,
    isGood: ({ headers }) => oauth.accessTokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''),
    consent: (oauthUrl) => {
      const url = new URL(oauthUrl)
      if (url.origin !== provider.url || url.pathname !== options.authorizePath)
        throw new Error(`not ours: ${oauthUrl}`)
      const params = url.searchParams
      if (required(params, 'response_type') !== 'code') throw new Error('response_type')
      if (required(params, 'client_id') !== options.clientId) throw new Error('client_id')
      const state = required(params, 'state')
      if (state.length < 32) throw new Error('the state can be guessed')
      const redirectUri = required(params, 'redirect_uri')
      const challenge = options.pkce === false ? null : required(params, 'code_challenge')
      if (challenge !== null && required(params, 'code_challenge_method') !== 'S256') throw new Error('plain PKCE')
      if (url.href.includes(options.clientSecret)) throw new Error('the client secret is in the authorize URL')
      const code = secret('code')
      codes.set(code, { redirectUri, challenge })
      oauth.issued.push(code)
      return { code, state, redirectUri }
    },
  }

  const issue = (refreshToken?: string): Reply => {
    const grant: Grant = { accessToken: secret('access'), refreshToken: refreshToken ?? secret('refresh') }
    oauth.accessTokens.add(grant.accessToken)
    oauth.issued.push(grant.accessToken, grant.refreshToken)
    const ends = options.expiresIn !== undefined
    if (ends) oauth.refreshTokens.add(grant.refreshToken)
    return {
      body: {
        access_token: grant.accessToken,
        token_type: 'bearer',
        scope: options.scope,
        // A server that does not rotate refresh tokens returns none on a refresh.
        ...(ends && !options.withoutRefresh && refreshToken === undefined ? { refresh_token: grant.refreshToken } : {}),
        ...(ends ? { expires_in: options.expiresIn } : {}),
        ...options.more,
      },
    }
  }
  const reject = (error: string, status = 400): Reply => ({
    status,
    body: { error, error_description: 'planted-description' },
  })

  provider.on('POST', options.tokenPath, async (seen) => {
    const type = options.tokenBody === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
    if (!seen.headers['content-type']?.startsWith(type)) return reject('invalid_request', 415)
    if (!seen.headers.accept?.includes('application/json')) return { body: 'access_token=nobody-reads-this' }
    const fields = seen.body as Record<string, string>
    const [id, key] = clientOf(seen, fields, options)
    if (id !== options.clientId || key !== options.clientSecret) return reject('invalid_client', 401)
    const override = await oauth.onToken?.(fields['grant_type'] ?? '')
    if (override) return override
    if (fields['grant_type'] === 'authorization_code') {
      const known = codes.get(fields['code'] ?? '')
      codes.delete(fields['code'] ?? '')
      if (!known || known.redirectUri !== fields['redirect_uri']) return reject('invalid_grant')
      const verifier = fields['code_verifier'] ?? ''
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      if (known.challenge !== null && (verifier.length < 43 || challenge !== known.challenge))
        return reject('invalid_grant')
      if (known.challenge === null && verifier !== '') return reject('invalid_request')
      return issue()
    }
    if (fields['grant_type'] === 'refresh_token') {
      oauth.refreshes += 1
      const token = fields['refresh_token'] ?? ''
      if (!oauth.refreshTokens.has(token)) return reject('invalid_grant')
      if (!options.rotates) return issue(token)
      oauth.refreshTokens.delete(token)
      return issue()
    }
    return reject('unsupported_grant_type')
  })
  return oauth
}
