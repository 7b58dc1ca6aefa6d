import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { setPassword, hashPassword } from '../../identity/sign-in/passwords.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import type { Reply } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sweepConnections } from './revocation-job.ts'

const clientSecret = 'planted-client-secret'
const github = await startProvider()
const oauth = addOAuth(github, {
  clientId: 'client-1',
  clientSecret,
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'repo,read:user',
})
github.on('GET', '/user', (seen) =>
  oauth.isGood(seen)
    ? { body: { id: 583_231, login: 'octocat' } }
    : { status: 401, body: { message: 'Bad credentials' } },
)
const grantPath = '/applications/client-1/grant'
const basic = `Basic ${Buffer.from(`client-1:${clientSecret}`).toString('base64')}`
const revokeToken = (seen: { headers: { authorization?: string | undefined }; body: unknown }) => {
  const { access_token: token } = seen.body as { access_token: string }
  if (seen.headers.authorization !== basic) return { status: 401, body: {} }
  return oauth.accessTokens.delete(token) ? { status: 204 } : { status: 404, body: {} }
}
github.on('DELETE', grantPath, revokeToken)

const slack = await startProvider()
const slackOptions = {
  clientId: 'client-2',
  clientSecret,
  authorizePath: '/oauth/v2/authorize',
  tokenPath: '/api/oauth.v2.access',
  pkce: false as const,
  scope: 'chat:write,channels:read',
  more: { ok: true, team: { id: 'T1', name: 'Planets' } },
}
const slackOauth = addOAuth(slack, slackOptions)
slack.on('POST', '/api/auth.test', (seen) =>
  slackOauth.isGood(seen)
    ? { body: { ok: true, team_id: 'T1', team: 'Planets' } }
    : { body: { ok: false, error: 'invalid_auth' } },
)

const app = await startTestApp({
  CONNECTOR_GITHUB_CLIENT_ID: 'client-1',
  CONNECTOR_GITHUB_CLIENT_SECRET: clientSecret,
  CONNECTOR_GITHUB_BASE_URL: github.url,
  CONNECTOR_SLACK_CLIENT_ID: 'client-2',
  CONNECTOR_SLACK_CLIENT_SECRET: clientSecret,
  CONNECTOR_SLACK_BASE_URL: slack.url,
})
const { db } = app
const api = '/api/v1'
const callback = `${api}/connections/oauth/callback`
const tokenPath = '/login/oauth/access_token'

interface Flow {
  id: string
  code: string
  state: string
}

/** Starts a connection and consents at the provider. Does not call the callback. */
const begin = async (as: TestActor, connectorSlug = 'github', provider = oauth): Promise<Flow> => {
  const { status, body, text } = await app.call('POST', `${api}/connections`, { as, json: { connectorSlug } })
  assert.equal(status, 201, text)
  const { code, state, redirectUri } = provider.consent(body.data.oauthUrl)
  assert.equal(redirectUri, app.url + callback)
  return { id: body.data.connection.id, code, state }
}

const complete = (as: TestActor, { id, code, state }: Flow): Promise<Answer> =>
  app.call('POST', `${api}/connections/${id}/oauth`, { as, json: { code, state } })

const connect = async (as: TestActor): Promise<string> => {
  const flow = await begin(as)
  const { status, text } = await complete(as, flow)
  assert.equal(status, 200, text)
  return flow.id
}

const read = async (as: TestActor, id: string) => (await app.call('GET', `${api}/connections/${id}`, { as })).body?.data

const visitCallback = ({ code, state }: Pick<Flow, 'code' | 'state'>, headers: Record<string, string> = {}) =>
  app.call('GET', `${callback}?${new URLSearchParams({ code, state }).toString()}`, {
    headers: { accept: 'text/html', ...headers },
  })

const confirm = ({ code, state }: Pick<Flow, 'code' | 'state'>, headers: Record<string, string> = {}) =>
  app.call('POST', callback, {
    body: new URLSearchParams({ code, state }),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

const exchanges = (): number => github.count('POST', tokenPath)

const cookieOf = async (actor: TestActor): Promise<string> => {
  const password = 'correct horse battery'
  const hash = await hashPassword(password)
  await db.transaction('all orgs', (db) => setPassword(db, actor.userId, hash))
  const response = await app.call('POST', `${api}/auth/sign-in`, {
    json: { email: actor.email, password },
    headers: { origin: app.url },
  })
  assert.equal(response.status, 200, response.text)
  return response.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ')
}

describe('completing a connection through the API', () => {
  test('completing through the API exchanges the code and exposes no token', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    const { status, body, text } = await complete(owner, flow)
    assert.equal(status, 200, text)
    const { id, accountId, accountName, scopes, lastError } = body.data
    assert.deepEqual(
      [id, body.data.status, accountId, accountName, scopes, lastError],
      [flow.id, 'active', '583231', 'octocat', ['repo', 'read:user'], null],
    )
    const stored =
      JSON.stringify(await db.rows(sql`select * from connections`)) +
      JSON.stringify(await db.rows(sql`select * from oauth_states`))
    for (const secret of [...oauth.issued, clientSecret]) {
      assert.ok(!text.includes(secret))
      assert.ok(!stored.includes(secret))
      assert.ok(!app.logLines.join('').includes(secret))
    }
  })

  test('a provider with comma-separated scopes and without PKCE can be connected', async () => {
    const owner = await app.createOrg()
    const { body } = await complete(owner, await begin(owner, 'slack', slackOauth))
    assert.deepEqual([body.data.status, body.data.accountId, body.data.accountName], ['active', 'T1', 'Planets'])
    assert.deepEqual(body.data.scopes, ['chat:write', 'channels:read'])
  })

  test('of thousands of scopes that a provider grants, 200 are stored', async (t) => {
    const { scope: usual } = slackOptions
    t.after(() => (slackOptions.scope = usual))
    const owner = await app.createOrg()
    const granted = Array.from({ length: 5_000 }, (_, n) => `s:${n}`)
    slackOptions.scope = [...granted.slice(0, 10), 'x'.repeat(201), ...granted.slice(10)].join(',')
    const { body } = await complete(owner, await begin(owner, 'slack', slackOauth))
    assert.equal(body.data.status, 'active')
    assert.deepEqual(body.data.scopes, granted.slice(0, 200))
  })

  test('only one of twenty concurrent completions succeeds, and the code is exchanged once', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    const before = exchanges()
    const responses = await Promise.all(Array.from({ length: 20 }, () => complete(owner, flow)))
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    assert.equal(responses.filter(({ body }) => body.error?.code === 'BAD_REQUEST').length, 19)
    assert.equal(exchanges() - before, 1)
  })
})

describe('OAuth state', () => {
  test('the database does not contain the state itself', async () => {
    const { state } = await begin(await app.createOrg())
    const rows = JSON.stringify(await db.rows(sql`select *, encode(state_hash, 'escape') from oauth_states`))
    assert.ok(!rows.includes(state))
  })

  const wrong: [string, (owner: TestActor, flow: Flow) => Promise<[TestActor, Flow]>][] = [
    ['that was never issued', async (owner, flow) => [owner, { ...flow, state: 'x'.repeat(43) }]],
    [
      'that has expired',
      async (owner, flow) => {
        await db.execute(
          sql`update oauth_states set expires_at = now() - interval '1 second' where connection_id = ${flow.id}`,
        )
        return [owner, flow]
      },
    ],
    [
      'that was used before',
      async (owner, flow) => {
        assert.equal((await complete(owner, flow)).status, 200)
        return [owner, flow]
      },
    ],
    [
      'of another connection of the same user',
      async (owner, flow) => {
        const other = await app.call('POST', `${api}/connections`, {
          as: owner,
          json: { connectorSlug: 'github', label: 'other' },
        })
        return [owner, { ...flow, id: other.body.data.connection.id }]
      },
    ],
    [
      'of another user’s connection',
      async (owner, flow) => {
        const other = await app.createUser(owner)
        const own = await begin(other)
        return [other, { ...flow, id: own.id }]
      },
    ],
  ]
  for (const [what, prepare] of wrong) {
    test(`a state ${what} is rejected without a request to the provider`, async () => {
      const owner = await app.createOrg()
      const [as, flow] = await prepare(owner, await begin(owner))
      const before = exchanges()
      const { status, body } = await complete(as, flow)
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.equal(exchanges(), before)
    })
  }

  test('a failed attempt by another user does not consume the state', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    const other = await app.createUser(owner)
    const own = await begin(other)
    assert.equal((await complete(other, { ...flow, id: own.id })).status, 400)
    assert.equal((await complete(other, flow)).status, 404)
    assert.equal((await complete(owner, flow)).status, 200)
  })

  test('a code for another redirect URI is rejected by the provider and nothing is stored', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    await db.execute(
      sql`update oauth_states set redirect_uri = 'https://evil.example/' where connection_id = ${flow.id}`,
    )
    const { status, body, text } = await complete(owner, flow)
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    assert.ok(!text.includes('planted-description'))
    assert.equal((await read(owner, flow.id)).status, 'pending')
  })

  test('a connection keeps the states of its five latest flows', async () => {
    const owner = await app.createOrg()
    const { id } = await begin(owner)
    for (let i = 0; i < 8; i++) await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
    const row = await db.row<{ n: number }>(
      sql`select count(*)::int as n from oauth_states where org_id = ${owner.orgId}`,
    )
    assert.equal(row?.n, 5)
  })
})

describe('OAuth callback in a browser', () => {
  test('the callback without a session shows a confirmation page that names the owner and sends no request to the provider', async () => {
    const owner = await app.createOrg('<b>Evil & Sons</b>')
    const flow = await begin(owner)
    const before = exchanges()
    const { status, headers, text } = await visitCallback(flow)
    assert.equal(status, 200)
    assert.equal(exchanges(), before)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
    assert.ok(!policy.includes('unsafe'))
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.ok(text.includes('GitHub') && text.includes(owner.email))
    assert.ok(text.includes('&lt;b&gt;Evil &amp; Sons&lt;/b&gt;') && !text.includes('<b>Evil'))
    assert.match(text, /<form method="post" action="\/api\/v1\/connections\/oauth\/callback">/)
    assert.equal([...text.matchAll(/<form/g)].length, 1)
    assert.equal((await read(owner, flow.id)).status, 'pending')

    const done = await confirm(flow)
    assert.equal(done.status, 200)
    assert.match(done.text, /GitHub is connected/)
    assert.match(done.text, new RegExp(`data-connection-id="${flow.id}"`))
    for (const secret of [...oauth.issued, flow.state, clientSecret]) assert.ok(!done.text.includes(secret))
    assert.equal((await read(owner, flow.id)).status, 'active')
    assert.equal((await confirm(flow)).status, 400)
  })

  test('the pages of the callback are in German for a browser that prefers it', async () => {
    const owner = await app.createOrg('<b>Werft</b>')
    const german = { 'accept-language': 'de-AT, en;q=0.5' }
    const { text, headers } = await visitCallback(await begin(owner), german)
    assert.match(text, /<html lang="de">/)
    assert.match(text, /GitHub verbinden\?/)
    assert.ok(text.includes('&lt;b&gt;Werft&lt;/b&gt;') && !text.includes('<b>Werft'))
    assert.match(headers.get('vary') ?? '', /accept-language/)
    const failed = await visitCallback({ ...(await begin(owner)), state: 'unknown' }, german)
    assert.equal(failed.status, 400)
    assert.match(failed.text, /Nicht verbunden.*ungültig oder abgelaufen/s)
  })

  test('the callback with the session of the owner completes the connection', async () => {
    const owner = await app.createOrg()
    const cookie = await cookieOf(owner)
    const flow = await begin(owner)
    const { status, text } = await visitCallback(flow, { cookie })
    assert.equal(status, 200)
    assert.match(text, /GitHub is connected/)
    assert.equal((await read(owner, flow.id)).status, 'active')
  })

  test('the callback with the session of another user shows a confirmation page', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    for (const other of [await app.createUser(owner, 'admin'), await app.createOrg()]) {
      const { text } = await visitCallback(flow, { cookie: await cookieOf(other) })
      assert.match(text, /Connect GitHub\?/)
    }
    const forged = await visitCallback(flow, { cookie: 'atrium.session_token=abc.def' })
    assert.match(forged.text, /Connect GitHub\?/)
    assert.equal((await read(owner, flow.id)).status, 'pending')
  })

  test('a HEAD request to the callback does not complete the connection', async () => {
    const owner = await app.createOrg()
    const cookie = await cookieOf(owner)
    const flow = await begin(owner)
    const path = `${callback}?${new URLSearchParams({ code: flow.code, state: flow.state }).toString()}`
    assert.equal((await app.call('HEAD', path, { headers: { cookie } })).status, 404)
    assert.equal((await read(owner, flow.id)).status, 'pending')
  })

  test('an error in the callback ends the flow, and its text is not repeated', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    const query = new URLSearchParams({
      error: '<script>planted</script>',
      error_description: 'planted-description',
      state: flow.state,
    })
    const { status, text } = await app.call('GET', `${callback}?${query.toString()}`, {
      headers: { accept: 'text/html' },
    })
    assert.equal(status, 400)
    assert.match(text, /Access to GitHub was denied/)
    assert.ok(!text.includes('planted'))
    const connection = await read(owner, flow.id)
    assert.deepEqual([connection.status, connection.lastError], ['pending', 'Access to GitHub was denied.'])
    assert.equal((await complete(owner, flow)).status, 400)
  })

  test('the callback with a missing or unknown state is BAD_REQUEST, as a page for browsers and as JSON otherwise', async () => {
    for (const query of [
      '',
      '?code=x',
      '?state=x',
      '?code=x&state=planted-state',
      `?state=${'x'.repeat(600)}`,
      '?state=a&state=b',
    ]) {
      const json = await app.call('GET', callback + query)
      assert.deepEqual([json.status, json.body.error.code], [400, 'BAD_REQUEST'], query)
      assert.ok(!json.text.includes('planted'))
    }
    const { status, text, headers } = await visitCallback({ code: 'x', state: 'planted-state' })
    assert.equal(status, 400)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.ok(!text.includes('planted'))
    for (const body of ['', 'code=x', 'state=x&code=', `code=x&state=${'x'.repeat(20_000)}`]) {
      const response = await app.call('POST', callback, {
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      assert.equal(response.status, 400, body.slice(0, 30))
    }
  })
})

describe('GET /connections/oauth/start', () => {
  test('the start link creates or reuses the connection and redirects to the provider', async () => {
    const owner = await app.createOrg()
    const path = `${api}/connections/oauth/start?connector=github&label=work`
    const locations = [await app.call('GET', path, { as: owner }), await app.call('GET', path, { as: owner })].map(
      ({ status, headers }) => {
        assert.equal(status, 302)
        return headers.get('location') ?? ''
      },
    )
    const flows = locations.map((location) => oauth.consent(location))
    const { body } = await app.call('GET', `${api}/connections`, { as: owner })
    assert.deepEqual(
      body.data.items.map((item: { label: string; status: string }) => [item.label, item.status]),
      [['work', 'pending']],
    )
    const { code, state } = flows[0]!
    assert.equal((await confirm({ code, state })).status, 200)
    assert.equal((await read(owner, body.data.items[0].id)).status, 'active')
    // Signing in again reconnects the same connection.
    const again = await app.call('GET', path, { as: owner })
    assert.equal(again.status, 302)
    assert.equal((await app.call('GET', `${api}/connections`, { as: owner })).body.data.items.length, 1)
  })

  test('the start link accepts a session cookie and is UNAUTHORIZED without credentials', async () => {
    const owner = await app.createOrg()
    const path = `${api}/connections/oauth/start?connector=github`
    const response = await app.call('GET', path, { headers: { cookie: await cookieOf(owner) } })
    assert.equal(response.status, 302)
    assert.equal((await app.call('GET', path)).status, 401)
  })

  test('the start link connects nothing for a page of another site, and shows the connector in the console', async () => {
    const owner = await app.createOrg()
    const path = `${api}/connections/oauth/start?connector=github&label=planted`
    const cookie = await cookieOf(owner)
    for (const site of ['cross-site', 'same-site']) {
      const response = await app.call('GET', path, { headers: { cookie, 'sec-fetch-site': site } })
      const location = `${app.url}/connections?connect=github`
      assert.deepEqual([response.status, response.headers.get('location')], [302, location])
    }
    const { body } = await app.call('GET', `${api}/connections`, { as: owner })
    assert.deepEqual(body.data.items, [])
    const own = await app.call('GET', path, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
    assert.doesNotMatch(own.headers.get('location') ?? '', /\/connections\?connect=/)
  })

  test('the start link is BAD_REQUEST for a connector that is unknown, not configured or without OAuth', async () => {
    const owner = await app.createOrg()
    for (const query of ['', '?connector=', '?connector=nothing', '?connector=gmail', '?connector=telegram']) {
      const { status, body } = await app.call('GET', `${api}/connections/oauth/start${query}`, { as: owner })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], query)
    }
  })
})

describe('token endpoint failures', () => {
  const failures: [string, Parameters<typeof github.on>[2]][] = [
    ['responds with 500', { status: 500, body: '<h1>planted error page</h1>' }],
    ['responds with HTML', { body: '<h1>planted page</h1>' }],
    ['returns a malformed token', { body: { access_token: 'planted\r\nX-Injected: 1' } }],
    ['closes the connection', 'hang up'],
    ['rejects the client', { status: 401, body: { error: 'invalid_client', error_description: 'planted' } }],
  ]
  for (const [what, reply] of failures) {
    test(`a token endpoint that ${what} is SERVICE_UNAVAILABLE and nothing is stored`, async () => {
      const owner = await app.createOrg()
      const flow = await begin(owner)
      oauth.onToken = () => Promise.resolve(reply as never)
      const { status, body, text } = await complete(owner, flow)
      delete oauth.onToken
      assert.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'], text)
      assert.ok(!text.includes('planted'))
      assert.ok(!app.logLines.join('').includes('planted page'))
      assert.equal((await read(owner, flow.id)).status, 'pending')
    })
  }

  test('a grant without an account is revoked at the provider', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    github.on('GET', '/user', { body: '<html>maintenance</html>' })
    const good = new Set(oauth.accessTokens)
    const { status } = await complete(owner, flow)
    github.on('GET', '/user', (seen) =>
      oauth.isGood(seen)
        ? { body: { id: 583_231, login: 'octocat' } }
        : { status: 401, body: { message: 'Bad credentials' } },
    )
    assert.equal(status, 400)
    assert.deepEqual(oauth.accessTokens, good, 'the new token is revoked')
    assert.equal((await read(owner, flow.id)).status, 'pending')
  })
})

test('a flow that fails does not revoke the grant of another flow of its connection, which has completed', async () => {
  const owner = await app.createOrg()
  const [first, second] = [await begin(owner), await begin(owner)]
  assert.equal(first.id, second.id)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const account = (seen: Parameters<typeof oauth.isGood>[0]): Reply =>
    oauth.isGood(seen) ? { body: { id: 583_231, login: 'octocat' } } : { status: 401, body: {} }
  github.on('GET', '/user', async () => {
    asked.resolve()
    await answer.promise
    return { status: 503, body: {} }
  })
  const late = complete(owner, second)
  await asked.promise
  github.on('GET', '/user', account)
  assert.equal((await complete(owner, first)).status, 200)
  const before = github.count('DELETE', grantPath)
  answer.resolve()
  assert.equal((await late).status, 503)
  assert.equal(github.count('DELETE', grantPath), before)
  assert.equal((await read(owner, first.id)).status, 'active')
})

test('a second connection that fails does not revoke the grant of the first one, which may have the same account', async () => {
  const owner = await app.createOrg()
  const first = await connect(owner)
  const json = { connectorSlug: 'github', label: 'second' }
  const { body } = await app.call('POST', `${api}/connections`, { as: owner, json })
  const flow = { id: body.data.connection.id, ...oauth.consent(body.data.oauthUrl) }
  const before = github.count('DELETE', grantPath)
  github.on('GET', '/user', { status: 503, body: {} })
  assert.equal((await complete(owner, flow)).status, 503)
  github.on('GET', '/user', (seen) =>
    oauth.isGood(seen) ? { body: { id: 583_231, login: 'octocat' } } : { status: 401, body: {} },
  )
  assert.equal(github.count('DELETE', grantPath), before)
  assert.equal((await read(owner, first)).status, 'active')
})

describe('deleting an OAuth connection', () => {
  const secretsOf = (id: string) =>
    db.row<{ secrets: string | null; outcome: string }>(
      sql`select secrets, provider_revocation as outcome from connections where id = ${id}`,
    )

  test('deleting a connection revokes its grant at the provider', async () => {
    const owner = await app.createOrg()
    const good = new Set(oauth.accessTokens)
    const id = await connect(owner)
    const { status, body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    assert.deepEqual([status, body.data], [200, { deleted: true, providerRevocation: 'revoked' }])
    assert.deepEqual(oauth.accessTokens, good)
    assert.deepEqual(await secretsOf(id), { secrets: null, outcome: 'revoked' })
  })

  test('a connection is deleted while the provider is down, and the grant is revoked later', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const requests = github.count('DELETE', grantPath)
    github.on('DELETE', grantPath, { status: 500, body: 'planted error page' })
    const { status, body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    assert.deepEqual([status, body.data], [200, { deleted: true, providerRevocation: 'pending' }])
    assert.equal(await read(owner, id), undefined)
    assert.equal(github.count('DELETE', grantPath) - requests, 1)
    github.on('DELETE', grantPath, revokeToken)
    await db.execute(
      sql`update pgboss.job set start_after = now() where name = 'connection.revoke' and state in ('created', 'retry')`,
    )
    await until('the grant is revoked', async () => (await secretsOf(id))?.outcome === 'revoked')
    assert.equal((await secretsOf(id))?.secrets, null)
  })

  const deleteWhileDown = async (): Promise<string> => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    github.on('DELETE', grantPath, { status: 500, body: 'planted error page' })
    const { body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    github.on('DELETE', grantPath, revokeToken)
    assert.equal(body.data.providerRevocation, 'pending')
    return id
  }

  test('a grant is revoked although the worker that began it was killed and its lease outlasts the start of its job', async () => {
    const id = await deleteWhileDown()
    await db.execute(sql`
      update connections set lease_token = ${randomUUID()}, lease_until = now() + interval '2 seconds' where id = ${id}`)
    await db.execute(sql`
      update pgboss.job set start_after = now() where name = 'connection.revoke' and state in ('created', 'retry')`)
    await until('the grant is revoked', async () => (await secretsOf(id))?.outcome === 'revoked')
    assert.equal((await secretsOf(id))?.secrets, null)
  })

  test('the hourly job revokes a grant whose job is lost', async () => {
    const id = await deleteWhileDown()
    await db.execute(sql`
      update pgboss.job set state = 'failed', completed_on = now()
      where name = 'connection.revoke' and state in ('created', 'retry') and data->>'id' = ${id}`)
    await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, sweepConnections, {}))
    await until('the grant is revoked', async () => (await secretsOf(id))?.outcome === 'revoked')
    assert.equal((await secretsOf(id))?.secrets, null)
  })

  const outcomes: [string, Reply, string][] = [
    ['confirms', { status: 204 }, 'revoked'],
    ['responds that the token is unknown', { status: 404, body: {} }, 'revoked'],
    ['responds with invalid_token', { status: 400, body: { error: 'invalid_token' } }, 'revoked'],
    ['rejects the client', { status: 401, body: { message: 'planted' } }, 'failed'],
    ['responds with 403', { status: 403, body: {} }, 'failed'],
  ]
  for (const [what, reply, outcome] of outcomes) {
    test(`a deletion ends as ${outcome} when the provider ${what}, and deletes the secrets`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner)
      github.on('DELETE', grantPath, reply)
      const { body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
      github.on('DELETE', grantPath, revokeToken)
      assert.deepEqual(body.data, { deleted: true, providerRevocation: outcome })
      assert.deepEqual(await secretsOf(id), { secrets: null, outcome })
    })
  }

  test('a deletion during the code exchange wins, and the late grant is revoked', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    const good = new Set(oauth.accessTokens)
    oauth.onToken = async () => {
      delete oauth.onToken
      assert.equal((await app.call('DELETE', `${api}/connections/${flow.id}`, { as: owner })).status, 200)
      return undefined
    }
    const { status, body } = await complete(owner, flow)
    assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
    assert.deepEqual(oauth.accessTokens, good)
    assert.equal((await secretsOf(flow.id))?.secrets, null)
  })

  test('deleting a connection ends its pending OAuth flows', async () => {
    const owner = await app.createOrg()
    const flow = await begin(owner)
    await app.call('DELETE', `${api}/connections/${flow.id}`, { as: owner })
    assert.equal((await confirm(flow)).status, 400)
    assert.equal((await visitCallback(flow)).status, 400)
  })
})

test('signing in again reconnects a broken connection under the same ID', async () => {
  const owner = await app.createOrg()
  const id = await connect(owner)
  await db.execute(sql`update connections set status = 'error', last_error = 'It broke.' where id = ${id}`)
  const existing = await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: 'github' } })
  assert.deepEqual([existing.status, existing.body.data.id, existing.body.data.status], [200, id, 'error'])
  const { body } = await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
  const { code, state } = oauth.consent(body.data.oauthUrl)
  assert.equal((await complete(owner, { id, code, state })).status, 200)
  const connection = await read(owner, id)
  assert.deepEqual([connection.status, connection.lastError], ['active', null])
})

test('configured authorize and token URLs are used with their path and query', async () => {
  const elsewhere = await startProvider()
  const own = addOAuth(elsewhere, {
    clientId: 'client-1',
    clientSecret,
    authorizePath: '/sso/authorize',
    tokenPath: '/sso/token',
    scope: 'repo',
  })
  const server = await app.secondServer(
    {
      CONNECTOR_GITHUB_CLIENT_ID: 'client-1',
      CONNECTOR_GITHUB_CLIENT_SECRET: clientSecret,
      CONNECTOR_GITHUB_BASE_URL: elsewhere.url,
      CONNECTOR_GITHUB_AUTHORIZE_URL: `${elsewhere.url}/sso/authorize?tenant=7`,
      CONNECTOR_GITHUB_TOKEN_URL: `${elsewhere.url}/sso/token?tenant=7`,
      BASE_URL: 'https://atrium.example.com',
    },
    { work: false },
  )
  elsewhere.on('GET', '/user', (seen) => (own.isGood(seen) ? { body: { id: 7, login: 'ann' } } : { status: 401 }))
  const owner = await app.createOrg()
  const started = await server.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: 'github' } })
  const { connection, oauthUrl } = started.body.data
  assert.equal(new URL(oauthUrl).searchParams.get('tenant'), '7')
  const { code, state, redirectUri } = own.consent(oauthUrl)
  assert.equal(redirectUri, 'https://atrium.example.com/api/v1/connections/oauth/callback')
  const done = await server.call('POST', `${api}/connections/${connection.id}/oauth`, {
    as: owner,
    json: { code, state },
  })
  assert.deepEqual([done.status, done.body.data.accountName], [200, 'ann'])
  assert.equal(elsewhere.seen.find(({ path }) => path === '/sso/token')?.query.get('tenant'), '7')
})
