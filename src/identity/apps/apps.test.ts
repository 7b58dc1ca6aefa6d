import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { UnauthorizedError as ModernUnauthorized } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { rememberKeys } from '../../../test/support/processes/remembered-keys.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { hashPassword, setPassword } from '../sign-in/passwords.ts'

rememberKeys()
const app = await startTestApp({ RATE_LIMIT_SIGN_IN: '0', RATE_LIMIT_WRITES: '0' })
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)
const redirectUri = 'http://127.0.0.1:4321/callback'
const resource = `${app.url}/mcp`

type Call = (method: string, path: string, json?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** The cookies of people. */
const sessions = new Map<Call, string>()

/** A person who signs in to the console. */
const signIn = async (person: TestActor): Promise<Call> => {
  await app.db.transaction('all orgs', (db) => setPassword(db, person.userId, passwordHash))
  const json = { email: person.email, password }
  const signedIn = await app.call('POST', '/api/v1/auth/sign-in', { json, headers: { origin: app.url } })
  assert.equal(signedIn.status, 200, signedIn.text)
  const cookie = signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';', 1)[0])
    .join('; ')
  const stepUp = await app.stepUp(person)
  const call: Call = (method, path, body, headers = {}) =>
    app.call(method, `/api/v1${path}`, {
      ...(body === undefined ? {} : { json: body }),
      headers: { cookie, origin: app.url, ...stepUp, ...headers },
    })
  sessions.set(call, cookie)
  return call
}

const register = (json: object = { client_name: 'An editor', redirect_uris: [redirectUri] }) =>
  app.call('POST', '/oauth/register', { json })

const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const requestOf = (clientId: string, challenge: string, changes: Record<string, string | undefined> = {}): string => {
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'its state',
    resource,
    scope: 'files:read files:write agents:read',
    ...changes,
  }
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return new URLSearchParams(given).toString()
}

const post = (path: string, fields: Record<string, string>) =>
  app.call('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

const decide = async (as: Call, request: string, more: object = {}): Promise<URL> => {
  const answer = await as('POST', '/apps/authorization', { request, approved: true, ...more })
  assert.equal(answer.status, 200, answer.text)
  return new URL(answer.body.data.redirectTo)
}

/** A client that has a code. */
const withCode = async (as: Call, more: object = {}) => {
  const clientId = (await register()).body.client_id as string
  const { verifier, challenge } = pkce()
  const url = await decide(as, requestOf(clientId, challenge), more)
  const code = url.searchParams.get('code') ?? ''
  const fields = {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    resource,
  }
  return { clientId, fields }
}

const withTokens = async (as: Call, more: object = {}) => {
  const { clientId, fields } = await withCode(as, more)
  const { body } = await post('/oauth/token', fields)
  return { clientId, fields, access: body.access_token as string, refresh: body.refresh_token as string }
}

/** The time in which the refresh token before the current one may be used again is over. */
const endRetries = (token: string) =>
  app.db.execute(sql`
    update api_keys set app_refreshed_at = now() - interval '31 seconds' where id = ${token.split('.')[1]}`)

const refreshed = (clientId: string, token: string, more: Record<string, string> = {}) =>
  post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, resource, ...more })

const toolsOf = (token: string, headers: Record<string, string> = {}) =>
  app.call('POST', '/mcp', { as: token, json: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers })

const namesOf = async (token: string): Promise<string[]> =>
  (await toolsOf(token)).body.result.tools.map(({ name }: { name: string }) => name)

const errorOf = (answer: Answer): [number, string] => [answer.status, answer.body.error]
const invalidGrant = [400, 'invalid_grant']

/** The body of a response that should have been a stream. */
const peek = async (response: Response): Promise<string> =>
  response.headers.get('content-type')?.includes('event-stream') === true ? 'a stream' : response.clone().text()

/** The client's part of the flow, as its documentation describes it. The person's part is `person`. */
const provider = (person: Call, redirected: URL[]) => {
  const kept: Record<string, unknown> = {}
  return {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'The official client', redirect_uris: [redirectUri] },
    clientInformation: () => kept['client'] as never,
    saveClientInformation: (value: unknown) => void (kept['client'] = value),
    tokens: () => kept['tokens'] as never,
    saveTokens: (value: unknown) => void (kept['tokens'] = value),
    saveCodeVerifier: (value: string) => void (kept['verifier'] = value),
    codeVerifier: () => kept['verifier'] as string,
    redirectToAuthorization: async (url: URL) => {
      assert.equal(url.origin + url.pathname, `${app.url}/authorize`)
      redirected.push(await decide(person, url.search.slice(1)))
    },
    kept,
  }
}

describe('the official clients', () => {
  test('of the legacy revisions connect with the URL only, refresh their token and call a tool', async () => {
    const person = await signIn(await app.createOrg())
    const redirected: URL[] = []
    const authProvider = provider(person, redirected)
    const open = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider })
    const first = open()
    await assert.rejects(new Client({ name: 'test', version: '1' }).connect(first), UnauthorizedError)
    const [url] = redirected
    assert.equal(url?.searchParams.get('iss'), app.url)
    await first.finishAuth(url?.searchParams.get('code') ?? '')
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(open())
    const written = await client.callTool({ name: 'files_write', arguments: { name: 'a.txt', text: 'text' } })
    assert.notEqual(written.isError, true, JSON.stringify(written))

    const before = authProvider.kept['tokens'] as { access_token: string }
    authProvider.kept['tokens'] = { ...before, access_token: 'expired' }
    assert.ok((await client.listTools()).tools.length > 0)
    assert.notEqual((authProvider.kept['tokens'] as { access_token: string }).access_token, before.access_token)
    assert.equal(redirected.length, 1, 'the person was not asked again')
    await client.close()
  })

  test('of the modern revision connect with the URL only', async () => {
    const person = await signIn(await app.createOrg())
    const redirected: URL[] = []
    const authProvider = provider(person, redirected)
    const open = () => new ModernTransport(new URL(resource), { authProvider })
    const info = { name: 'test', version: '1' }
    const first = open()
    const options = { versionNegotiation: { mode: 'auto' } } as const
    await assert.rejects(new ModernClient(info, options).connect(first), ModernUnauthorized)
    await first.finishAuth(redirected[0]?.searchParams ?? new URLSearchParams())
    const client = new ModernClient(info, options)
    await client.connect(open())
    assert.ok((await client.listTools()).tools.length > 0)
    await client.close()
  })
})

describe('metadata', () => {
  test('is found from the response to a request without a token', async () => {
    const { status, headers } = await app.call('POST', '/mcp', { json: {} })
    assert.equal(status, 401)
    const challenge = headers.get('www-authenticate') ?? ''
    const found = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
    assert.equal(found, `${app.url}/.well-known/oauth-protected-resource/mcp`)
    assert.match(challenge, /scope="files:read /)
    const described = await app.call('GET', new URL(found).pathname)
    assert.equal(described.body.resource, resource)
    assert.deepEqual(described.body.authorization_servers, [app.url])
    const server = (await app.call('GET', '/.well-known/oauth-authorization-server')).body
    assert.equal(server.issuer, app.url)
    assert.deepEqual(server.code_challenge_methods_supported, ['S256'])
  })

  test('repeats no Host header that a client has forged', async () => {
    for (const path of ['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server']) {
      const [answer] = await sendRaw(
        app.url,
        `GET /.well-known/${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      )
      assert.equal(answer?.status, 404)
      assert.doesNotMatch(JSON.stringify(answer), /evil/)
    }
    const [answer] = await sendRaw(
      app.url,
      'POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    )
    assert.equal(answer?.status, 401)
    assert.doesNotMatch(JSON.stringify(answer), /evil/)
  })
})

describe('registration', () => {
  test('stores nothing, however often a client registers', async () => {
    const count = () => app.db.row<{ n: bigint }>({ text: 'select count(*) as n from api_keys', values: [] })
    const before = await count()
    for (let n = 0; n < 20; n += 1) assert.equal((await register()).status, 201)
    assert.deepEqual(await count(), before)
  })

  test('is limited for each address, without using up its sign-in attempts', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_SIGN_IN: '2' })
    const json = { redirect_uris: [redirectUri] }
    const statuses: number[] = []
    for (let n = 0; n < 3; n += 1) statuses.push((await limited.call('POST', '/oauth/register', { json })).status)
    assert.deepEqual(statuses, [201, 201, 429])
    const attempt = { json: { email: 'nobody@example.com', password }, headers: { origin: limited.url } }
    assert.equal((await limited.call('POST', '/api/v1/auth/sign-in', attempt)).status, 401)
  })

  test('rejects redirect URIs that a browser would run or open as content', async () => {
    const bad = [
      'javascript:alert(1)',
      'javascript://%0aalert(1)',
      'JavaScript://x',
      'data:text/html,x',
      'blob:https://x/y',
      'file:///etc/passwd',
      'http://example.com/cb',
      'http://127.0.0.1.example.com/cb',
      'https://user:pw@example.com/',
      'https://example.com/#fragment',
      'https://example.com/\n',
      'https://a.example\\@b.example/',
      'smb://host/share',
      'ms-msdt:/x',
      'itms-services://x',
      'chrome-extension://x/y',
      'search-ms:/x',
      'microsoft-edge:/https://x',
      'x-apple.systempreferences:/x',
      'googlechrome://x',
      'chrome-untrusted://x',
      'livescript:/x',
      'sip:/x',
      'rtsp://x/y',
      'https:example.com/cb',
      'https:/example.com/cb',
      'example',
      '',
    ]
    for (const uri of bad) assert.equal((await register({ redirect_uris: [uri] })).status, 400, uri)
    assert.equal((await register({ redirect_uris: [] })).status, 400)
    assert.equal((await register({ redirect_uris: Array.from({ length: 17 }, () => redirectUri) })).status, 400)
    assert.equal((await register({ redirect_uris: [`https://example.com/${'x'.repeat(600)}`] })).status, 400)
    assert.equal((await register({ redirect_uris: ['cursor://anysphere.cursor/callback'] })).status, 201)
  })
})

describe('the consent of a person', () => {
  test('shows the name as text of one line, and where the result is sent', async () => {
    const person = await signIn(await app.createOrg())
    const { body } = await register({ client_name: '<b>A\u202Eb\n', redirect_uris: ['https://app.example.com/cb'] })
    const request = requestOf(body.client_id, pkce().challenge, { redirect_uri: 'https://app.example.com/cb' })
    const shown = await person('GET', `/apps/authorization?request=${encodeURIComponent(request)}`)
    assert.deepEqual(shown.body.data, {
      name: '<b>Ab',
      publisher: null,
      redirectHost: 'app.example.com',
      isLocal: false,
      scopes: ['files:read', 'files:write', 'agents:read'],
    })
  })

  test('names a client without visible characters in its name as unnamed', async () => {
    const nameFor = async (given: string): Promise<string> =>
      (await register({ client_name: given, redirect_uris: [redirectUri] })).body.client_name
    for (const blank of ['', '  ', '\u3164', '\u2800\u115F', '\uFFA0 \u00A0', '\u0301', '\u200B\u2060', '\uFE0F']) {
      assert.equal(await nameFor(blank), 'Unnamed app', JSON.stringify(blank))
    }
    assert.equal(await nameFor(`An${' '.repeat(60)}\t editor`), 'An editor')
    assert.equal(await nameFor('x'.repeat(79) + '\u{1F600}'), 'x'.repeat(79))
  })

  test('is rejected for an invalid request, which redirects nobody', async () => {
    const person = await signIn(await app.createOrg())
    const clientId = (await register()).body.client_id as string
    const { challenge } = pkce()
    const changes: Record<string, string | undefined>[] = [
      { redirect_uri: 'http://127.0.0.1:4321/other' },
      { redirect_uri: 'https://evil.example/callback' },
      { redirect_uri: 'http://localhost:4321/callback' },
      { redirect_uri: 'http://u:p@127.0.0.1:4321/callback' },
      { redirect_uri: undefined },
      { code_challenge: undefined },
      { code_challenge_method: 'plain' },
      { code_challenge_method: undefined },
      { response_type: 'token' },
      { resource: 'https://other.example/mcp' },
      { scope: 'members:write' },
      { client_id: `${clientId}x` },
      { client_id: `W10.${clientId.split('.')[1]}` },
      { client_id: 'https://127.0.0.1/client.json' },
      { client_id: 'https://169.254.169.254/latest' },
      { client_id: 'https://localhost/client.json' },
    ]
    for (const change of changes) {
      const request = requestOf(clientId, challenge, change)
      const answer = await person('POST', '/apps/authorization', { request, approved: true })
      assert.equal(answer.status, 400, JSON.stringify(change))
      assert.doesNotMatch(answer.text, /redirectTo/)
    }
    const twice = `${requestOf(clientId, challenge)}&redirect_uri=https%3A%2F%2Fevil.example`
    assert.equal((await person('POST', '/apps/authorization', { request: twice, approved: true })).status, 400)
  })

  test('accepts another port of a loopback address', async () => {
    const person = await signIn(await app.createOrg())
    const clientId = (await register()).body.client_id as string
    const uri = 'http://127.0.0.1:9/callback'
    const url = await decide(person, requestOf(clientId, pkce().challenge, { redirect_uri: uri }))
    assert.equal(url.origin + url.pathname, uri)
  })

  test('names the host of a client that publishes its metadata, and reads that with limits', async () => {
    const owner = await app.createOrg()
    const person = await signIn(owner)
    const id = 'https://app.example.com/client.json'
    const document = { client_id: id, client_name: 'Published', redirect_uris: [redirectUri] }
    let response: { status?: number; truncated?: boolean; type?: string; document: object } = { document }
    const asked: { maxBytes: number; timeoutMs: number }[] = []
    const outbound = {
      ...app.deps.outbound,
      request: async (_url: string | URL, options: { maxBytes: number; timeoutMs: number }) => {
        asked.push(options)
        const { status = 200, truncated = false, type = 'application/json; charset=utf-8' } = response
        const headers = { 'content-type': type }
        return { status, truncated, headers, durationMs: 1, body: Buffer.from(JSON.stringify(response.document)) }
      },
    }
    const server = await app.secondServer({}, { replace: { outbound } })
    const cookie = sessions.get(person) ?? ''
    const request = requestOf(id, pkce().challenge, { resource: `${server.url}/mcp` })
    const show = () =>
      server.call('GET', `/api/v1/apps/authorization?request=${encodeURIComponent(request)}`, { headers: { cookie } })
    const shown = await show()
    assert.equal(shown.body.data.publisher, 'app.example.com')
    assert.equal(shown.body.data.name, 'Published')
    assert.ok(asked.every(({ maxBytes, timeoutMs }) => maxBytes <= 16_384 && timeoutMs <= 5_000))
    const invalid = [
      { document: { ...document, client_id: 'https://other.example.com/client.json' } },
      { document: { ...document, redirect_uris: ['javascript:alert(1)'] } },
      { document: { ...document, token_endpoint_auth_method: 'private_key_jwt' } },
      { document, status: 302 },
      { document, truncated: true },
      { document, type: 'text/html' },
    ]
    for (const next of invalid) {
      response = next
      assert.equal((await show()).status, 400, JSON.stringify(next))
    }
  })

  test('can be denied, which tells the app and creates no code', async () => {
    const person = await signIn(await app.createOrg())
    const clientId = (await register()).body.client_id as string
    const url = await decide(person, requestOf(clientId, pkce().challenge), { approved: false })
    assert.equal(url.searchParams.get('error'), 'access_denied')
    assert.equal(url.searchParams.get('state'), 'its state')
    assert.equal(url.searchParams.get('code'), null)
  })

  test('needs a session, and the Origin of this server', async () => {
    const owner = await app.createOrg()
    const person = await signIn(owner)
    const clientId = (await register()).body.client_id as string
    const json = { request: requestOf(clientId, pkce().challenge), approved: true }
    const byKey = await app.call('POST', '/api/v1/apps/authorization', { as: owner, json })
    assert.equal(byKey.status, 403)
    const withoutStepUp = await person('POST', '/apps/authorization', json, { 'x-step-up-token': '' })
    assert.equal(withoutStepUp.status, 403)
    assert.match(withoutStepUp.body.error.message, /step-up/)
    const fromOther = await person('POST', '/apps/authorization', json, { origin: 'https://evil.example' })
    assert.equal(fromOther.status, 403)
  })

  test('is asked for on a page that no other page can frame', async () => {
    const { headers } = await app.call('GET', '/authorize?client_id=x')
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  })

  test('is limited to workspaces of the person, and to scopes that the app asked for', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const person = await signIn(owner)
    const clientId = (await register()).body.client_id as string
    const request = requestOf(clientId, pkce().challenge)
    const decision = { request, approved: true }
    const elsewhere = { ...decision, workspaceId: stranger.workspaceId }
    assert.equal((await person('POST', '/apps/authorization', elsewhere)).status, 403)
    for (const scopes of [[], ['members:write'], ['connections:read']]) {
      assert.equal((await person('POST', '/apps/authorization', { ...decision, scopes })).status, 400)
    }
    const { access } = await withTokens(person, { scopes: ['agents:read', 'billing:manage'] })
    assert.deepEqual(await namesOf(access), ['agents_list'])
  })
})

describe('an authorization code', () => {
  test('is accepted once; a second use revokes the tokens', async () => {
    const person = await signIn(await app.createOrg())
    const { fields } = await withCode(person)
    const first = await post('/oauth/token', fields)
    assert.equal(first.status, 200, first.text)
    assert.equal((await toolsOf(first.body.access_token)).status, 200)
    assert.deepEqual(errorOf(await post('/oauth/token', fields)), invalidGrant)
    assert.equal((await toolsOf(first.body.access_token)).status, 401)
  })

  test('is rejected for another client, redirect URI, verifier or resource, and then still valid for its client', async () => {
    const person = await signIn(await app.createOrg())
    const { fields } = await withCode(person)
    const other = (await register({ redirect_uris: [redirectUri] })).body.client_id as string
    const changes: Record<string, string>[] = [
      { client_id: other },
      { redirect_uri: 'http://127.0.0.1:4322/callback' },
      { code_verifier: pkce().verifier },
      { code_verifier: '' },
      { code: `${fields.code.slice(0, -2)}xx` },
    ]
    for (const change of changes) {
      assert.deepEqual(
        errorOf(await post('/oauth/token', { ...fields, ...change })),
        invalidGrant,
        JSON.stringify(change),
      )
    }
    const elsewhere = await post('/oauth/token', { ...fields, resource: 'https://other.example/mcp' })
    assert.deepEqual(errorOf(elsewhere), [400, 'invalid_target'])
    assert.equal((await post('/oauth/token', fields)).status, 200)
  })

  test('expires', async () => {
    const owner = await app.createOrg()
    const { fields } = await withCode(await signIn(owner))
    await app.db.execute({
      text: `update api_keys set expires_at = now() where org_id = $1 and app_client_id is not null`,
      values: [owner.orgId],
    })
    assert.deepEqual(errorOf(await post('/oauth/token', fields)), invalidGrant)
  })
})

describe('the tokens of an app', () => {
  test('are valid for the MCP server only, in the workspace that the person chose', async () => {
    const owner = await app.createOrg()
    const { access } = await withTokens(await signIn(owner))
    const created = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Elsewhere' } })
    assert.equal((await toolsOf(access)).status, 200)
    assert.equal((await toolsOf(access, { 'x-workspace-id': created.body.data.id })).status, 403)
    for (const path of ['/api/v1/me', '/api/v1/files', '/api/v1/api-keys', '/api/v1/apps', '/api/openai/v1/models']) {
      assert.equal((await app.call('GET', path, { as: access })).status, 401, path)
    }
  })

  test('are stored as hashes', async () => {
    const owner = await app.createOrg()
    const { access, refresh, fields } = await withTokens(await signIn(owner))
    const rows = await app.db.rows({ text: 'select k::text from api_keys k where org_id = $1', values: [owner.orgId] })
    const stored = JSON.stringify(rows)
    for (const secret of [access, refresh, refresh.split('.')[2] as string, fields.code]) {
      assert.ok(!stored.includes(secret) && !stored.includes(Buffer.from(secret).toString('hex')))
      assert.ok(!app.logLines.some((line) => line.includes(secret)))
    }
  })

  test('rotate; a refresh token that is used twice revokes all tokens of the authorization', async () => {
    const person = await signIn(await app.createOrg())
    const { clientId, access, refresh } = await withTokens(person)
    const second = await refreshed(clientId, refresh)
    assert.equal(second.status, 200, second.text)
    assert.equal((await toolsOf(access)).status, 401, 'the previous access token has ended')
    assert.equal((await toolsOf(second.body.access_token)).status, 200)
    await endRetries(refresh)
    assert.deepEqual(errorOf(await refreshed(clientId, refresh)), invalidGrant)
    assert.equal((await toolsOf(second.body.access_token)).status, 401)
    assert.deepEqual(errorOf(await refreshed(clientId, second.body.refresh_token)), invalidGrant)
  })

  test('are issued again to a client that lost the response, and those of the lost response end', async () => {
    const person = await signIn(await app.createOrg())
    const { clientId, refresh } = await withTokens(person)
    const lost = await refreshed(clientId, refresh)
    await refreshed(clientId, refresh)
    const third = await refreshed(clientId, refresh)
    assert.equal(third.status, 200, third.text)
    assert.equal((await toolsOf(third.body.access_token)).status, 200)
    assert.equal((await toolsOf(lost.body.access_token)).status, 401)
    const next = await refreshed(clientId, third.body.refresh_token)
    assert.equal(next.status, 200, next.text)
    assert.deepEqual(errorOf(await refreshed(clientId, refresh)), invalidGrant, 'only the last one may be used again')
    assert.equal((await toolsOf(next.body.access_token)).status, 401)
  })

  test('of a client and of a thief who repeats its refresh end when the client refreshes again', async () => {
    const person = await signIn(await app.createOrg())
    const { clientId, refresh } = await withTokens(person)
    const own = await refreshed(clientId, refresh)
    const stolen = await refreshed(clientId, refresh)
    assert.equal(stolen.status, 200, stolen.text)
    assert.deepEqual(errorOf(await refreshed(clientId, own.body.refresh_token)), invalidGrant)
    assert.equal((await toolsOf(stolen.body.access_token)).status, 401)
    assert.deepEqual(errorOf(await refreshed(clientId, stolen.body.refresh_token)), invalidGrant)
  })

  test('cannot be refreshed by another client, with more scopes, or revoked by a guess', async () => {
    const person = await signIn(await app.createOrg())
    const { clientId, access, refresh } = await withTokens(person)
    const other = (await register({ redirect_uris: [redirectUri] })).body.client_id as string
    assert.deepEqual(errorOf(await refreshed(other, refresh)), invalidGrant)
    const more = await refreshed(clientId, refresh, { scope: 'files:read members:write' })
    assert.deepEqual(errorOf(more), [400, 'invalid_scope'])
    const [orgId, id] = refresh.split('.')
    const guess = `${orgId}.${id}.${'A'.repeat(43)}.${'A'.repeat(43)}`
    assert.deepEqual(errorOf(await refreshed(clientId, guess)), invalidGrant)
    assert.equal((await post('/oauth/revoke', { token: guess, client_id: clientId })).status, 200)
    assert.equal((await post('/oauth/revoke', { token: access, client_id: other })).status, 200)
    assert.equal((await toolsOf(access)).status, 200)
  })

  test('can be revoked by the app, with either token', async () => {
    const person = await signIn(await app.createOrg())
    for (const which of ['access', 'refresh'] as const) {
      const tokens = await withTokens(person)
      assert.equal((await post('/oauth/revoke', { token: tokens[which], client_id: tokens.clientId })).status, 200)
      assert.equal((await toolsOf(tokens.access)).status, 401)
      assert.deepEqual(errorOf(await refreshed(tokens.clientId, tokens.refresh)), invalidGrant)
    }
  })

  test('end the streams of the app when it is revoked', async () => {
    const owner = await app.createOrg()
    const { access } = await withTokens(await signIn(owner))
    const response = await fetch(resource, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${access}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { resourcesListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    assert.match(response.headers.get('content-type') ?? '', /event-stream/, await peek(response))
    const [{ id }] = (await app.call('GET', '/api/v1/apps', { as: owner })).body.data.items
    assert.equal((await app.call('DELETE', `/api/v1/apps/${id}`, { as: owner })).status, 200)
    // Ends only when the server ends the stream.
    assert.match(await response.text(), /"code":-401/)
  })

  test('end with the membership, at once', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const { clientId, access, refresh } = await withTokens(await signIn(member))
    assert.equal((await toolsOf(access)).status, 200)
    const { items } = (await app.call('GET', '/api/v1/members', { as: owner })).body.data
    const { id } = items.find(({ userId }: { userId: string }) => userId === member.userId)
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: owner })).status, 200)
    assert.equal((await toolsOf(access)).status, 401)
    assert.deepEqual(errorOf(await refreshed(clientId, refresh)), invalidGrant)
  })
})

describe('authorized apps', () => {
  test('are listed for their person and for admins, not among API keys, and can be revoked at once', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const colleague = await app.createUser(owner, 'member')
    const { access } = await withTokens(await signIn(member))
    const listOf = async (as: TestActor) => (await app.call('GET', '/api/v1/apps', { as })).body.data.items
    const [listed] = await listOf(member)
    assert.equal(listed.name, 'An editor')
    assert.equal(listed.redirectHost, '127.0.0.1:4321')
    assert.deepEqual(listed.scopes, ['files:read', 'files:write', 'agents:read'])
    assert.equal((await listOf(owner)).length, 1)
    assert.deepEqual(await listOf(colleague), [])
    const keys = (await app.call('GET', '/api/v1/api-keys', { as: member })).body.data.items
    assert.ok(!keys.some(({ id }: { id: string }) => id === listed.id))
    assert.equal((await app.call('DELETE', `/api/v1/api-keys/${listed.id}`, { as: owner })).status, 404)
    assert.equal((await app.call('DELETE', `/api/v1/apps/${listed.id}`, { as: colleague })).status, 404)
    assert.equal((await toolsOf(access)).status, 200)
    assert.equal((await app.call('DELETE', `/api/v1/apps/${listed.id}`, { as: owner })).status, 200)
    assert.equal((await toolsOf(access)).status, 401)
    assert.deepEqual(await listOf(member), [])
    const entries = await until(
      async () => (await app.call('GET', '/api/v1/audit-log', { as: owner })).body.data.items,
      (items) => items.some(({ action }: { action: string }) => action === 'app.revoked'),
    )
    assert.ok(entries.some(({ action }: { action: string }) => action === 'app.authorized'))
  })
})
