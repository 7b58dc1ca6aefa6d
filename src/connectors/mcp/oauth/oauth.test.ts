import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { addMcp } from '../../../../test/fakes/mcp.ts'
import { addMcpOAuth } from '../../../../test/fakes/mcp-oauth.ts'
import { startProvider } from '../../../../test/fakes/provider.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { Answer, TestActor } from '../../../../test/harness.ts'
import { trustAgent } from '../../../../test/support/authority.ts'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { sql } from '../../../platform/database/database.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const oauth = addMcpOAuth(provider, mcp, '/mcp')
const url = `${provider.url}/mcp`
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
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
    assert.deepEqual((registered?.body as { redirect_uris: string[] } | undefined)?.redirect_uris, [
      `${app.url}${api}/connections/oauth/callback`,
    ])
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
      redirectUris: [`${app.url}${api}/connections/oauth/callback`],
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

  test('the document of this server as a client names its redirect URI', async () => {
    const { status, body } = await app.call('GET', `/oauth/client.json`)
    assert.equal(status, 200)
    const document = body as unknown as Record<string, unknown>
    assert.deepEqual(
      [document['client_id'], document['redirect_uris']],
      [`${app.url}/oauth/client.json`, [`${app.url}${api}/connections/oauth/callback`]],
    )
  })
})
