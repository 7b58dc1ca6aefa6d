import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { addMcp } from '../../../../test/fakes/mcp.ts'
import { addMcpOAuth } from '../../../../test/fakes/mcp-oauth.ts'
import { addOAuth, startProvider } from '../../../../test/fakes/provider.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { Answer, TestActor } from '../../../../test/harness.ts'
import { trustAgent } from '../../../../test/support/authority.ts'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { sql } from '../../../platform/database/database.ts'
import { oauthClientColumn } from '../../connections/secrets.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const oauth = addMcpOAuth(provider, mcp, '/mcp')
const url = `${provider.url}/mcp`
const github = await startProvider()
const githubClient = {
  clientId: 'atrium-at-github',
  clientSecret: 'planted-client-secret',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'repo',
}
const githubOAuth = addOAuth(github, githubClient)
github.on('GET', '/user', () => ({ body: { id: 583_231, login: 'octocat' } }))
const app = await startTestApp({
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  CONNECTOR_GITHUB_CLIENT_ID: githubClient.clientId,
  CONNECTOR_GITHUB_CLIENT_SECRET: githubClient.clientSecret,
  CONNECTOR_GITHUB_BASE_URL: github.url,
})
const api = '/api/v1'

beforeEach(() => {
  mcp.tools = ['search', 'write'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
  Object.assign(oauth, { resource: {}, server: {}, challenge: undefined, scopes: {} })
})

const begin = async (as: TestActor): Promise<string> => {
  const { body } = await app.call('POST', `${api}/connections`, { as, json: { connectorSlug: 'mcp' } })
  return body.data.connection.id as string
}

const submit = (as: TestActor, id: string, credentials: object = { url }): Promise<Answer> =>
  app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })

const complete = (as: TestActor, id: string, flow: object): Promise<Answer> =>
  app.call('POST', `${api}/connections/${id}/oauth`, { as, json: flow })

const get = async (as: TestActor, id: string) => (await app.call('GET', `${api}/connections/${id}`, { as })).body.data

/** Submits the URL, consents and completes. */
const connect = async (as: TestActor): Promise<string> => {
  const id = await begin(as)
  const { status, body, text } = await submit(as, id)
  assert.deepEqual([status, body.data?.status], [200, 'pending'], text)
  const { code, state } = oauth.consent(body.data.oauthUrl)
  const completed = await complete(as, id, { code, state })
  assert.equal(completed.status, 200, completed.text)
  return id
}

const run = async (as: TestActor, name: string) => {
  const slug = `helper-${Math.random().toString(36).slice(2, 8)}`
  await createAgent(app, as, { name: slug, allowedConnectors: ['mcp'] })
  await trustAgent(app, as, slug, 'mcp')
  const session = await openSession(app, as, { agentId: slug })
  const { turn } = await ask(app, as, session.id, { text: `/tool ${name} {}` })
  return turn.toolCalls[0] as { status: string; output: { error?: string } }
}

describe('sign-in at MCP servers', () => {
  test('a server that asks for sign-in is connected by its URL and the consent of the user alone', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { status, accountName, scopes } = await get(owner, id)
    assert.deepEqual([status, accountName, scopes], ['active', 'Fake', ['read']])
    assert.equal((await run(owner, 'mcp__search')).status, 'done')
    const registered = provider.seen.findLast(({ path }) => path.endsWith('/register'))
    const [redirectUri = ''] = (registered?.body as { redirect_uris: string[] } | undefined)?.redirect_uris ?? []
    assert.match(redirectUri.slice(app.url.length), /^\/oauth\/callback\/[\w-]{22}$/)
  })

  test('nothing is stored before the sign-in is complete, and neither responses nor rows contain a token', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    const { body } = await submit(owner, id)
    const before = await app.db.row<{ secrets: string | null }>(sql`select secrets from connections where id = ${id}`)
    assert.equal(before?.secrets, null)
    const { code, state } = oauth.consent(body.data.oauthUrl)
    const { text } = await complete(owner, id, { code, state })
    const rows = JSON.stringify(
      [
        await app.db.rows(sql`select * from connections where id = ${id}`),
        await app.db.rows(sql`select * from oauth_states`),
        await app.db.rows(sql`select * from audit_log where org_id = ${owner.orgId}`),
      ],
      // The number of an audit entry is a bigint as soon as the entry is sealed.
      (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
    )
    for (const secret of oauth.issued) assert.ok(!text.includes(secret) && !rows.includes(secret))
    // A state is valid once.
    assert.equal((await complete(owner, id, { code, state })).status, 400)
  })

  test('a token that the server no longer accepts is refreshed, and the call runs', async () => {
    const owner = await app.createOrg()
    await connect(owner)
    oauth.accessTokens.clear()
    assert.equal((await run(owner, 'mcp__search')).status, 'done')
  })

  test('a call that the server has accepted is not sent again when its token ends before the response', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { guard } = mcp
    let accepted = 0
    mcp.guard = (seen) => {
      const rejection = guard?.(seen)
      if (!rejection && (seen.body as { method?: string }).method === 'tools/call') {
        accepted += 1
        oauth.accessTokens.clear()
      }
      return rejection
    }
    // The answer of the client is rejected with 401.
    mcp.asks = { method: 'ping' }
    try {
      const { status, output } = await run(owner, 'mcp__write')
      assert.deepEqual([status, accepted], ['failed', 1])
      assert.match(output.error ?? '', /did not complete its response/)
    } finally {
      mcp.guard = guard
      mcp.asks = undefined
    }
    assert.equal((await get(owner, id)).status, 'active')
    assert.equal((await run(owner, 'mcp__write')).status, 'done')
  })

  test('a sign-in that has ended breaks the connection, and signing in again repairs it', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    oauth.accessTokens.clear()
    oauth.refreshTokens.clear()
    assert.equal((await run(owner, 'mcp__search')).status, 'failed')
    assert.equal((await get(owner, id)).status, 'error')
    const { status, body } = await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
    assert.equal(status, 200)
    const { code, state } = oauth.consent(body.data.oauthUrl)
    assert.equal((await complete(owner, id, { code, state })).body.data.status, 'active')
    assert.equal((await run(owner, 'mcp__search')).status, 'done')
  })

  test('a registered client that the server has forgotten ends the sign-in, and the URL registers a new one', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    oauth.accessTokens.clear()
    oauth.clients.clear()
    assert.equal((await run(owner, 'mcp__search')).status, 'failed')
    assert.equal((await get(owner, id)).status, 'error')
    const { body } = await submit(owner, id)
    const { code, state } = oauth.consent(body.data.oauthUrl)
    assert.equal((await complete(owner, id, { code, state })).body.data.status, 'active')
  })

  test('a call that needs another scope asks the user to sign in again, once', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    oauth.scopes = { write: 'write' }
    const { status, output } = await run(owner, 'mcp__write')
    assert.equal(status, 'failed')
    assert.match(output.error ?? '', /asks for more permissions: “write”/)
    const { status: broken, lastError } = await get(owner, id)
    assert.equal(broken, 'error')
    assert.match(lastError, /Sign in again/)
    const { body } = await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
    const { code, state, scope } = oauth.consent(body.data.oauthUrl)
    assert.equal(scope, 'read write')
    await complete(owner, id, { code, state })
    assert.equal((await run(owner, 'mcp__write')).status, 'done')
    // A scope that was asked for already does not break the connection: asking again would not help.
    for (const token of oauth.accessTokens.keys()) oauth.accessTokens.set(token, 'read')
    assert.equal((await run(owner, 'mcp__write')).status, 'failed')
    assert.equal((await get(owner, id)).status, 'active')
  })

  test('deleting the connection revokes its refresh token at the authorization server', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    assert.equal(body.data.providerRevocation, 'revoked')
    assert.ok(oauth.refreshTokens.has(oauth.revoked.at(-1) ?? ''))
  })

  test('a client of the user is used instead of a registered one, with its secret', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    const clientSecret = 'planted-secret-of-the-user'
    oauth.clients.set('of-the-user', {
      secret: clientSecret,
      redirectUris: [`${app.url}/oauth/callback/mcp`],
    })
    const methods = ['toString', 'client_secret_post']
    oauth.server = { registration_endpoint: undefined, token_endpoint_auth_methods_supported: methods }
    const registrations = provider.count('POST', '/mcp-auth/register')
    const { body } = await submit(owner, id, { url, clientId: 'of-the-user', clientSecret })
    assert.ok(!body.data.oauthUrl.includes(clientSecret))
    const { code, state } = oauth.consent(body.data.oauthUrl)
    assert.equal((await complete(owner, id, { code, state })).body.data.status, 'active')
    assert.equal(provider.count('POST', '/mcp-auth/register'), registrations)
  })

  test('a code of another authorization server is rejected when the server names itself', async () => {
    const owner = await app.createOrg()
    oauth.server = { authorization_response_iss_parameter_supported: true }
    for (const iss of [undefined, 'https://evil.example']) {
      const id = await begin(owner)
      const { body } = await submit(owner, id)
      const { code, state } = oauth.consent(body.data.oauthUrl)
      const { status } = await complete(owner, id, { code, state, ...(iss === undefined ? {} : { iss }) })
      assert.equal(status, 400)
    }
    const id = await begin(owner)
    const { body } = await submit(owner, id)
    const { code, state, iss } = oauth.consent(body.data.oauthUrl)
    assert.equal((await complete(owner, id, { code, state, iss })).body.data.status, 'active')
  })

  for (const [whose, credentials] of [
    ['that registers clients', {}],
    ['at which the user has registered a client', { clientId: 'of-the-user' }],
  ] as const) {
    test(`a server ${whose} does not get the code of another provider, whose page it shows to the user`, async () => {
      const [victim, attacker] = [await app.createOrg(), await app.createOrg()]
      const id = await begin(victim)
      const { body } = await submit(victim, id, { url, ...credentials })
      const state = new URL(body.data.oauthUrl).searchParams.get('state') ?? ''
      // The page of the server sends the browser to GitHub, with the client of Atrium and the challenge of a flow of the
      // attacker, who could complete that flow with the code.
      const own = await app.call('POST', `${api}/connections`, { as: attacker, json: { connectorSlug: 'github' } })
      const page = new URL(own.body.data.oauthUrl)
      page.searchParams.set('state', state)
      const { code, redirectUri } = githubOAuth.consent(page.href)
      const exchanges = provider.count('POST', '/mcp-auth/token')
      const back = await fetch(`${redirectUri}?${new URLSearchParams({ code, state }).toString()}`)
      assert.equal(back.status, 400)
      const confirmed = await fetch(redirectUri, { method: 'POST', body: new URLSearchParams({ code, state }) })
      assert.equal(confirmed.status, 400)
      assert.equal(provider.count('POST', '/mcp-auth/token'), exchanges)
      assert.equal((await get(victim, id)).status, 'pending')
    })
  }

  const rejected: [string, () => void, RegExp][] = [
    [
      'describes another resource',
      () => (oauth.resource = { resource: 'https://evil.example/mcp' }),
      /another resource/,
    ],
    ['names another issuer', () => (oauth.server = { issuer: 'https://evil.example' }), /another issuer/],
    ['has no PKCE', () => (oauth.server = { code_challenge_methods_supported: ['plain'] }), /PKCE/],
    [
      'has a page of code as its endpoint',
      () => (oauth.server = { authorization_endpoint: 'javascript:alert(1)' }),
      /https/,
    ],
    ['registers no clients', () => (oauth.server = { registration_endpoint: undefined }), /client ID of your own/],
    [
      'has metadata in a private network',
      () => (oauth.challenge = 'Bearer resource_metadata="http://10.1.2.3/x"'),
      /public/,
    ],
  ]
  for (const [what, prepare, message] of rejected) {
    test(`a server whose authorization server ${what} is rejected, and nothing is stored`, async () => {
      const owner = await app.createOrg()
      const id = await begin(owner)
      prepare()
      const { status, body } = await submit(owner, id)
      assert.ok([400, 503].includes(status), String(status))
      assert.match(body.error.message, message)
      assert.equal((await get(owner, id)).status, 'pending')
    })
  }

  test('members of the org cannot complete or see the sign-in of another person', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    const { body } = await submit(owner, id)
    const { code, state } = oauth.consent(body.data.oauthUrl)
    const other = await app.createOrg()
    assert.equal((await complete(other, id, { code, state })).status, 404)
    assert.equal((await submit(other, id)).status, 404)
    assert.equal((await complete(owner, id, { code, state })).status, 200)
  })

  test('the browser completes a sign-in at the redirect URI of its authorization server only', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    const { body } = await submit(owner, id)
    const { code, state } = oauth.consent(body.data.oauthUrl)
    const redirectUri = new URL(body.data.oauthUrl).searchParams.get('redirect_uri') ?? ''
    const query = new URLSearchParams({ code, state })
    for (const other of [`${api}/connections/oauth/callback`, '/oauth/callback/mcp']) {
      assert.equal((await fetch(`${app.url}${other}?${query.toString()}`)).status, 400)
    }
    const page = await fetch(`${redirectUri}?${query.toString()}`)
    assert.equal(page.status, 200)
    assert.ok((await page.text()).includes(`action="${new URL(redirectUri).pathname}"`))
    assert.equal((await fetch(redirectUri, { method: 'POST', body: query })).status, 200)
    assert.equal((await get(owner, id)).status, 'active')
  })

  test('a sign-in that began when all providers shared a redirect URI is completed and repeated there', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    const shared = `${app.url}${api}/connections/oauth/callback`
    oauth.clients.set('earlier', { secret: undefined, redirectUris: [shared] })
    const { body } = await submit(owner, id)
    const { searchParams } = new URL(body.data.oauthUrl)
    const row = await app.db.row<{ id: string; client: string }>(sql`
      select id, client from oauth_states where org_id = ${owner.orgId} and connection_id = ${id}`)
    const at = oauthClientColumn.at(owner.orgId, row?.id ?? '')
    const { redirectPath: _, ...earlier } = JSON.parse(app.deps.secrets.open(row?.client ?? '', at))
    const client = app.deps.secrets.seal(JSON.stringify({ ...earlier, clientId: 'earlier' }), at)
    await app.db.execute(sql`
      update oauth_states set client = ${client}, redirect_uri = ${shared}
      where org_id = ${owner.orgId} and connection_id = ${id}`)
    searchParams.set('client_id', 'earlier')
    searchParams.set('redirect_uri', shared)
    const visit = async (oauthUrl: string): Promise<number> => {
      const { code, state } = oauth.consent(oauthUrl)
      return (await fetch(shared, { method: 'POST', body: new URLSearchParams({ code, state }) })).status
    }
    assert.equal(await visit(`${provider.url}/mcp-auth/authorize?${searchParams.toString()}`), 200)
    const again = await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
    assert.equal(await visit(again.body.data.oauthUrl), 200)
  })

  test('the documents of this server as a client name one redirect URI each', async () => {
    const shared = await app.call('GET', '/oauth/client.json')
    const document = shared.body as unknown as Record<string, unknown>
    assert.deepEqual(
      [shared.status, document['client_id'], document['redirect_uris']],
      [200, `${app.url}/oauth/client.json`, [`${app.url}${api}/connections/oauth/callback`]],
    )
    const key = 'A'.repeat(22)
    const own = await app.call('GET', `/oauth/clients/${key}`)
    const { client_id: id, redirect_uris: uris } = own.body as unknown as Record<string, unknown>
    assert.deepEqual(
      [own.status, id, uris],
      [200, `${app.url}/oauth/clients/${key}`, [`${app.url}/oauth/callback/${key}`]],
    )
    assert.equal((await app.call('GET', '/oauth/clients/mcp')).status, 404)
  })
})
