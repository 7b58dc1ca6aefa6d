import assert from 'node:assert/strict'
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

/** How a provider of the OAuth kind is spoken to, by its own documents. */
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

/** Credentials that are good, and how the provider finds them in a request. */
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

/** Answers this very request and refuses every other one that comes the same way. */
const serve = (slug: string, call: ExpectedCall): { faults: string[] } => {
  const [method = '', target = ''] = call.asks.split(' ')
  const [path = '', query = ''] = target.split('?')
  const faults: string[] = []
  providers.get(slug)!.provider.on(method, path, (seen): Reply => {
    if (!isGood(slug, seen)) return { status: 401, body: {} }
    const check = (what: string, got: unknown, wanted: unknown): void => {
      try {
        assert.deepEqual(got, wanted)
      } catch {
        faults.push(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`)
      }
    }
    check('query', seen.query.toString(), new URLSearchParams(query).toString())
    const { query: _document, ...body } = (seen.body ?? {}) as Record<string, unknown>
    const isGraphql = path === '/graphql'
    check('body', isGraphql ? body : seen.body, call.body ?? call.form)
    if (call.form) check('type', seen.headers['content-type'], 'application/x-www-form-urlencoded')
    for (const [name, value] of Object.entries(call.headers ?? {})) check(name, seen.headers[name], value)
    return faults.length > 0 ? { status: 422, body: {} } : { body: call.replies }
  })
  return { faults }
}

const runTool = async (as: TestActor, sessionId: string, name: string, input: object) => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${name} ${JSON.stringify(input)}` })
  const [call] = turn.toolCalls
  return { status: call?.status, output: call?.output, turn }
}

describe('every tool of every connector asks its provider what the provider’s documents say', () => {
  test('and all of them are tried', () => {
    for (const [slug, { tools, isMcp }] of catalog) {
      if (isMcp || slug === 'web') continue
      assert.deepEqual(
        Object.keys(expectedCalls[slug] ?? {}).toSorted(),
        tools.map(({ name }) => name).toSorted(),
        slug,
      )
      assert.ok(tools.length >= 3, slug)
    }
  })

  for (const slug of Object.keys(expectedCalls)) {
    test(slug, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, slug)
      await createAgent(app, owner, { name: 'Helper', allowedConnectors: [slug] })
      await trustAgent(app, owner, 'helper', slug)
      const session = await openSession(app, owner, { agentId: 'helper' })
      for (const [name, call] of Object.entries(expectedCalls[slug] ?? {})) {
        const { faults } = serve(slug, call)
        const { status, output } = await runTool(owner, session.id, `${slug}__${name}`, call.input)
        assert.deepEqual(faults, [], name)
        assert.equal(status, 'done', `${name}: ${JSON.stringify(output)}`)
        assert.deepEqual(output, call.tells ?? call.replies, name)
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

describe('a grant is given back the way that its provider wants', () => {
  for (const [slug, { revoke }] of Object.entries(oauthProviders)) {
    test(`${slug}: ${revoke ?? 'not at all'}`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, slug)
      const { provider, oauth } = providers.get(slug)!
      const [method = '', path = ''] = (revoke ?? '').split(' ')
      let given: Seen | undefined
      provider.on(method, path, (seen) => {
        given = seen
        return { body: { ok: true, revoked: true } }
      })
      const { body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
      assert.equal(body.data.providerRevocation, revoke ? 'revoked' : 'unsupported')
      if (!revoke) return
      const said = `${given?.headers.authorization} ${given?.text}`
      const [access, refresh] = oauth!.issued.slice(-2) as [string, string]
      assert.ok(said.includes(access) || said.includes(refresh), said)
      if (given?.headers.authorization?.startsWith('Basic')) {
        assert.equal(given.headers.authorization, basicOf('client', clientSecret))
      }
    })
  }
})

describe('a definition', () => {
  const telegram = catalog.get('telegram') as Connector
  const [tool] = telegram.tools as [ConnectorTool]
  const template = { method: 'GET', path: '/a/{id}' } as const
  const faults: [string, Connector | undefined, RegExp][] = [
    ['that is not there', undefined, /no connector|x\.ts/],
    ['under another name than its file’s', telegram, /its slug is telegram/],
    ['with a place that is not https', { ...telegram, slug: 'x', api: { baseUrl: 'http://a.example' } }, /baseUrl/],
    ['without tools', { ...telegram, slug: 'x', tools: [] }, /no tools/],
    ['with one tool twice', { ...telegram, slug: 'x', tools: [tool, tool] }, /one name/],
    [
      'with an argument that goes nowhere',
      {
        ...telegram,
        slug: 'x',
        tools: [{ ...tool, request: template, input: { id: {}, other: {} }, required: ['id'] }],
      },
      /takes other and does nothing/,
    ],
    [
      'with a placeholder that nothing fills',
      {
        ...telegram,
        slug: 'x',
        tools: [{ ...tool, request: { ...template, query: { a: '{b}' } }, input: { id: {} }, required: ['id'] }],
      },
      /fills in \{b\}/,
    ],
    [
      'with an optional argument in its path',
      { ...telegram, slug: 'x', tools: [{ ...tool, request: template, input: { id: {} }, required: [] }] },
      /does not require it/,
    ],
    [
      'with an argument in a header',
      {
        ...telegram,
        slug: 'x',
        tools: [{ ...tool, request: { ...template, headers: { 'x-a': '{id}' } }, input: { id: {} }, required: ['id'] }],
      },
      /in a header/,
    ],
    [
      'that wants a credential that it does not ask for',
      { ...telegram, slug: 'x', api: { ...telegram.api, pathPrefix: '/{key}' } },
      /no credential/,
    ],
  ]
  for (const [what, definition, message] of faults) {
    test(`${what} stops the start`, () => assert.throws(() => checkConnector('x.ts', definition), message))
  }
})
