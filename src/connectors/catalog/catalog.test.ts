import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { trustAgent } from '../../../test/support/authority.ts'
import { createAgent, ask, openSession } from '../../../test/support/chat.ts'
import { expectedCalls } from '../../../test/support/connector-calls.ts'
import type { ExpectedCall } from '../../../test/support/connector-calls.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import type { FakeOAuth, FakeProvider, OAuthOptions, Reply, Seen } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { catalog } from './catalog.ts'
import { checkConnector } from './check-connector.ts'
import type { Connector, ConnectorTool } from './definition.ts'

const clientSecret = 'planted-client-secret'

interface Account {
  method: string
  path: string
  reply: unknown
  id: string
  name: string | null
}

/** OAuth endpoints and accounts, from the providers' API references. */
const oauthProviders: Record<
  string,
  Omit<OAuthOptions, 'clientId' | 'clientSecret'> & { account: Account; revoke?: string }
> = {
  github: {
    authorizePath: '/login/oauth/authorize',
    tokenPath: '/login/oauth/access_token',
    scope: 'repo',
    account: { method: 'GET', path: '/user', reply: { id: 1, login: 'octocat' }, id: '1', name: 'octocat' },
    revoke: 'DELETE /applications/client/grant',
  },
  gmail: {
    authorizePath: '/o/oauth2/v2/auth',
    tokenPath: '/token',
    scope: 'https://www.googleapis.com/auth/gmail.readonly',
    expiresIn: 3_599,
    account: {
      method: 'GET',
      path: '/gmail/v1/users/me/profile',
      reply: { emailAddress: 'a@b' },
      id: 'a@b',
      name: 'a@b',
    },
    revoke: 'POST /revoke',
  },
  'google-drive': {
    authorizePath: '/o/oauth2/v2/auth',
    tokenPath: '/token',
    scope: 'https://www.googleapis.com/auth/drive.readonly',
    expiresIn: 3_599,
    account: {
      method: 'GET',
      path: '/drive/v3/about',
      reply: { user: { permissionId: 'p1', emailAddress: 'a@b' } },
      id: 'p1',
      name: 'a@b',
    },
    revoke: 'POST /revoke',
  },
  hubspot: {
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/2026-03/token',
    scope: 'oauth',
    expiresIn: 1_800,
    account: {
      method: 'GET',
      path: '/account-info/v3/details',
      reply: { portalId: 7, uiDomain: 'app.hubspot.com' },
      id: '7',
      name: 'app.hubspot.com',
    },
    revoke: 'POST /oauth/2026-03/token/revoke',
  },
  jira: {
    authorizePath: '/authorize',
    tokenPath: '/oauth/token',
    tokenBody: 'json',
    scope: 'read:jira-work',
    expiresIn: 3_600,
    rotates: true,
    account: {
      method: 'GET',
      path: '/oauth/token/accessible-resources',
      reply: [{ id: 'account-1', name: 'Planets' }],
      id: 'account-1',
      name: 'Planets',
    },
  },
  linear: {
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    scope: 'read,write',
    expiresIn: 86_399,
    rotates: true,
    account: {
      method: 'POST',
      path: '/graphql',
      reply: { data: { viewer: { id: 'u', organization: { id: 'org-1', name: 'Planets' } } } },
      id: 'org-1',
      name: 'Planets',
    },
    revoke: 'POST /oauth/revoke',
  },
  notion: {
    authorizePath: '/v1/oauth/authorize',
    tokenPath: '/v1/oauth/token',
    clientAuth: 'basic',
    tokenBody: 'json',
    scope: '',
    account: {
      method: 'GET',
      path: '/v1/users/me',
      reply: { id: 'bot-1', bot: { workspace_name: 'Planets' } },
      id: 'bot-1',
      name: 'Planets',
    },
    revoke: 'POST /v1/oauth/revoke',
  },
  slack: {
    authorizePath: '/oauth/v2/authorize',
    tokenPath: '/api/oauth.v2.access',
    pkce: false,
    scope: 'chat:write',
    account: {
      method: 'POST',
      path: '/api/auth.test',
      reply: { ok: true, team_id: 'T1', team: 'P' },
      id: 'T1',
      name: 'P',
    },
    revoke: 'POST /api/auth.revoke',
  },
}

const basicOf = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Valid credentials, and the Authorization header in which the provider expects them. */
const keyProviders: Record<string, { credentials: object; authorization?: string; account?: Account }> = {
  airtable: {
    credentials: { token: 'planted-key' },
    authorization: 'Bearer planted-key',
    account: { method: 'GET', path: '/v0/meta/whoami', reply: { id: 'usr1', email: 'a@b' }, id: 'usr1', name: 'a@b' },
  },
  discord: {
    credentials: { botToken: 'planted-key' },
    authorization: 'Bot planted-key',
    account: { method: 'GET', path: '/api/v10/users/@me', reply: { id: '9', username: 'bot' }, id: '9', name: 'bot' },
  },
  http: {
    credentials: { baseUrl: 'https://api.example.com/v1', headerValue: 'Bearer planted-key' },
    authorization: 'Bearer planted-key',
  },
  stripe: {
    credentials: { secretKey: 'planted-key' },
    authorization: 'Bearer planted-key',
    account: {
      method: 'GET',
      path: '/v1/account',
      reply: { id: 'acct_1', settings: { dashboard: { display_name: 'Shop' } } },
      id: 'acct_1',
      name: 'Shop',
    },
  },
  telegram: {
    credentials: { botToken: '123:planted-key' },
    account: {
      method: 'GET',
      path: '/bot123:planted-key/getMe',
      reply: { ok: true, result: { id: 5, username: 'bot' } },
      id: '5',
      name: 'bot',
    },
  },
  twilio: {
    credentials: { accountSid: 'AC123', authToken: 'planted-key' },
    authorization: basicOf('AC123', 'planted-key'),
    account: {
      method: 'GET',
      path: '/2010-04-01/Accounts/AC123.json',
      reply: { sid: 'AC123', friendly_name: 'Shop' },
      id: 'AC123',
      name: 'Shop',
    },
  },
}

const providers = new Map<string, { provider: FakeProvider; oauth: FakeOAuth | undefined }>()
const env: Record<string, string> = {}
for (const slug of [...Object.keys(oauthProviders), ...Object.keys(keyProviders)]) {
  const provider = await startProvider()
  const prefix = `CONNECTOR_${slug.toUpperCase().replaceAll('-', '_')}`
  env[`${prefix}_BASE_URL`] = provider.url
  const options = oauthProviders[slug]
  if (options) {
    env[`${prefix}_CLIENT_ID`] = 'client'
    env[`${prefix}_CLIENT_SECRET`] = clientSecret
  }
  providers.set(slug, {
    provider,
    oauth: options && addOAuth(provider, { ...options, clientId: 'client', clientSecret }),
  })
}

const app: TestApp = await startTestApp(env)
const api = '/api/v1'

const isGood = (slug: string, seen: Seen): boolean => {
  const { oauth } = providers.get(slug)!
  const authorization = keyProviders[slug]?.authorization
  return oauth ? oauth.isGood(seen) : authorization === undefined || seen.headers.authorization === authorization
}

const serveAccount = (slug: string, { method, path, reply }: Account): void => {
  providers
    .get(slug)!
    .provider.on(method, path, (seen) => (isGood(slug, seen) ? { body: reply } : { status: 401, body: {} }))
}

const connect = async (as: TestActor, slug: string): Promise<string> => {
  const { oauth } = providers.get(slug)!
  const account = oauthProviders[slug]?.account ?? keyProviders[slug]?.account
  if (account) serveAccount(slug, account)
  const started = await app.call('POST', `${api}/connections`, { as, json: { connectorSlug: slug } })
  const { connection, oauthUrl } = started.body.data
  const { id } = connection
  const json = oauth ? oauth.consent(oauthUrl) : { credentials: keyProviders[slug]?.credentials }
  const done = await app.call('POST', `${api}/connections/${id}/${oauth ? 'oauth' : 'credentials'}`, { as, json })
  assert.equal(done.status, 200, done.text)
  const { status, accountId, accountName } = done.body.data
  assert.deepEqual([status, accountId, accountName], ['active', account?.id ?? null, account?.name ?? null])
  return id
}

/** Responds to the expected request, and with 422 to any other one with the same method and path. */
const serve = (slug: string, call: ExpectedCall): { mismatches: string[] } => {
  const [method = '', target = ''] = call.request.split(' ')
  const [path = '', query = ''] = target.split('?')
  const mismatches: string[] = []
  providers.get(slug)!.provider.on(method, path, (seen): Reply => {
    if (!isGood(slug, seen)) return { status: 401, body: {} }
    const check = (what: string, got: unknown, wanted: unknown): void => {
      try {
        assert.deepEqual(got, wanted)
      } catch {
        mismatches.push(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`)
      }
    }
    check('query', seen.query.toString(), new URLSearchParams(query).toString())
    const { query: _document, ...body } = (seen.body ?? {}) as Record<string, unknown>
    const isGraphql = path === '/graphql'
    check('body', isGraphql ? body : seen.body, call.body ?? call.form)
    if (call.form) check('type', seen.headers['content-type'], 'application/x-www-form-urlencoded')
    for (const [name, value] of Object.entries(call.headers ?? {})) check(name, seen.headers[name], value)
    return mismatches.length > 0 ? { status: 422, body: {} } : { body: call.response }
  })
  return { mismatches }
}

const runTool = async (as: TestActor, sessionId: string, name: string, input: object) => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${name} ${JSON.stringify(input)}` })
  const [call] = turn.toolCalls
  return { status: call?.status, output: call?.output, turn }
}

describe('requests of connector tools', () => {
  test('every tool of every connector has an expected request', () => {
    for (const [slug, { tools, isMcp, isA2a }] of catalog) {
      if (isMcp || isA2a || slug === 'web') continue
      assert.deepEqual(
        Object.keys(expectedCalls[slug] ?? {}).toSorted(),
        tools.map(({ name }) => name).toSorted(),
        slug,
      )
      assert.ok(tools.length >= 3, slug)
    }
  })

  for (const slug of Object.keys(expectedCalls)) {
    test(`the tools of ${slug} send the requests of the provider’s API reference`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, slug)
      await createAgent(app, owner, { name: 'Helper', allowedConnectors: [slug] })
      await trustAgent(app, owner, 'helper', slug)
      const session = await openSession(app, owner, { agentId: 'helper' })
      for (const [name, call] of Object.entries(expectedCalls[slug] ?? {})) {
        const { mismatches } = serve(slug, call)
        const { status, output } = await runTool(owner, session.id, `${slug}__${name}`, call.input)
        assert.deepEqual(mismatches, [], name)
        assert.equal(status, 'done', `${name}: ${JSON.stringify(output)}`)
        assert.deepEqual(output, call.output ?? call.response, name)
      }
      const { body } = await app.call('GET', `${api}/connections/${id}`, { as: owner })
      assert.equal(body.data.status, 'active')
      assert.notEqual(body.data.lastUsedAt, null)
      const { body: seen } = await app.call('GET', `${api}/sessions/${session.id}/messages?limit=100`, { as: owner })
      for (const secret of [clientSecret, 'planted-key', ...(providers.get(slug)!.oauth?.issued ?? [])]) {
        assert.ok(!JSON.stringify(seen).includes(secret))
      }
    })
  }
})

test('a message or page of more than 1 MB is shown to the model as its beginning, not as an empty one', async () => {
  for (const [slug, name] of [
    ['gmail', 'get_message'],
    ['notion', 'read_page'],
  ] as const) {
    const owner = await app.createOrg()
    await connect(owner, slug)
    await createAgent(app, owner, { name: 'Helper', allowedConnectors: [slug] })
    await trustAgent(app, owner, 'helper', slug)
    const session = await openSession(app, owner, { agentId: 'helper' })
    const call = expectedCalls[slug]![name]!
    const { mismatches } = serve(slug, { ...call, response: { planted: 'first words', more: 'x'.repeat(1_100_000) } })
    const { output } = await runTool(owner, session.id, `${slug}__${name}`, call.input)
    assert.deepEqual(mismatches, [])
    const { truncated, beginning } = output as { truncated?: boolean; beginning?: string }
    assert.equal(truncated, true)
    assert.match(beginning ?? '', /first words/)
  }
})

describe('revocation requests', () => {
  for (const [slug, { revoke }] of Object.entries(oauthProviders)) {
    test(`deleting a ${slug} connection ${revoke ? `revokes its grant by ${revoke}` : 'sends no revocation request'}`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, slug)
      const { provider, oauth } = providers.get(slug)!
      const [method = '', path = ''] = (revoke ?? '').split(' ')
      let revocation: Seen | undefined
      provider.on(method, path, (seen) => {
        revocation = seen
        return { body: { ok: true, revoked: true } }
      })
      const { body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
      assert.equal(body.data.providerRevocation, revoke ? 'revoked' : 'unsupported')
      if (!revoke) return
      const sent = `${revocation?.headers.authorization} ${revocation?.text}`
      const [access, refresh] = oauth!.issued.slice(-2) as [string, string]
      assert.ok(sent.includes(access) || sent.includes(refresh), sent)
      if (revocation?.headers.authorization?.startsWith('Basic')) {
        assert.equal(revocation.headers.authorization, basicOf('client', clientSecret))
      }
    })
  }
})

test('the catalog lists every file in definitions/ under its file name', async () => {
  const files = await readdir(new URL('definitions/', import.meta.url))
  assert.deepEqual([...catalog.keys()], files.map((file) => file.replace(/\.ts$/, '')).toSorted())
})

describe('definition check', () => {
  const telegram = catalog.get('telegram') as Connector
  const [tool] = telegram.tools as [ConnectorTool]
  const template = { method: 'GET', path: '/a/{id}' } as const
  const withTool = (changed: Partial<ConnectorTool>): Connector => ({ ...telegram, tools: [{ ...tool, ...changed }] })
  const invalid: [string, Connector, RegExp][] = [
    ['a base URL without https', { ...telegram, api: { baseUrl: 'http://a.example' } }, /telegram: .*baseUrl/],
    ['no tools', { ...telegram, tools: [] }, /tools is empty/],
    ['the same tool twice', { ...telegram, tools: [tool, tool] }, /two tools share a name/],
    [
      'an unused argument',
      withTool({ request: template, input: { id: {}, other: {} }, required: ['id'] }),
      /does not use its input other/,
    ],
    [
      'an undeclared required argument',
      withTool({ request: template, input: { id: {} }, required: ['id', 'other'] }),
      /requires other, which is not in its input/,
    ],
    [
      'a placeholder without an argument',
      withTool({ request: { ...template, query: { a: '{b}' } }, input: { id: {} }, required: ['id'] }),
      /uses \{b\}/,
    ],
    [
      'an optional argument in its path',
      withTool({ request: template, input: { id: {} }, required: [] }),
      /does not require it/,
    ],
    [
      'an argument in a header',
      withTool({ request: { ...template, headers: { 'x-a': '{id}' } }, input: { id: {} }, required: ['id'] }),
      /in a header/,
    ],
    [
      'an API that uses an unknown credential',
      { ...telegram, api: { ...telegram.api, pathPrefix: '/{key}' } },
      /\{key\}, which is not a credential/,
    ],
  ]
  for (const [what, definition, message] of invalid) {
    test(`a connector definition with ${what} is rejected`, () =>
      assert.throws(() => checkConnector(definition), message))
  }
})
