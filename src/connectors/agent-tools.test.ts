import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, createAgent, openSession, say, untilStatus } from '../../test/support/chat.ts'
import { startProvider } from '../../test/fakes/provider.ts'
import type { Reply } from '../../test/fakes/provider.ts'
import { sql } from '../platform/database/database.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'

const secretKey = 'planted-secret-key'
const provider = await startProvider()
const good = (seen: { headers: { authorization?: string | undefined } }, body: unknown): Reply =>
  seen.headers.authorization === `Bearer ${secretKey}`
    ? { body }
    : { status: 401, body: { message: 'Bad credentials' } }
provider.on('GET', '/v0/meta/whoami', (seen) => good(seen, { id: 'usr1', email: 'ann@example.com' }))
provider.on('GET', '/v0/meta/bases', (seen) => good(seen, { bases: [{ id: 'app1', name: 'One' }] }))

// URLs from users pass the outbound guard. The operator's URLs do not.
const app = await startTestApp({
  CONNECTOR_AIRTABLE_BASE_URL: provider.url,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
})
const guarded = await app.secondServer({ CONNECTOR_AIRTABLE_BASE_URL: provider.url }, { work: false })
const api = '/api/v1'

const connect = async (as: TestActor, connectorSlug: string, credentials?: object, label?: string): Promise<string> => {
  const json = { connectorSlug, ...(label === undefined ? {} : { label }) }
  const started = await app.call('POST', `${api}/connections`, { as, json })
  assert.ok(started.status < 300, started.text)
  const { id } = started.body.data.connection
  if (credentials) {
    const done = await app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })
    assert.equal(done.status, 200, done.text)
  }
  return id
}

const agentFor = async (as: TestActor, allowedConnectors: string[]): Promise<string> => {
  await createAgent(app, as, { name: 'Helper', allowedConnectors })
  return (await openSession(app, as, { agentId: 'helper' })).id
}

interface Called {
  status: string
  output: { error?: string } & Record<string, unknown>
}

const run = async (as: TestActor, sessionId: string, tool: string, input: object = {}): Promise<Called> => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${tool} ${JSON.stringify(input)}` })
  return turn.toolCalls[0]
}

const airtable = { token: secretKey }

describe('connector tools of agents', () => {
  test("an agent uses the current user's connections to the connectors that the agent allows", async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const session = await agentFor(owner, ['airtable'])
    const { status, output } = await run(owner, session, 'airtable__list_bases')
    assert.deepEqual([status, output], ['done', { bases: [{ id: 'app1', name: 'One' }] }])
  })

  test('an agent has no tools of other connectors and of other users’ connections', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const requests = provider.count('GET', '/v0/meta/bases')
    const session = await agentFor(owner, ['web', 'nothing'])
    assert.match((await run(owner, session, 'airtable__list_bases')).output.error ?? '', /no tool/i)

    const member = await app.createUser(owner)
    const created = await app.call('POST', `${api}/agents`, {
      as: owner,
      json: { name: 'Other', allowedConnectors: ['airtable'] },
    })
    const { id } = await openSession(app, member, { agentId: created.body.data.id })
    assert.match((await run(member, id, 'airtable__list_bases')).output.error ?? '', /no tool/i)
    assert.equal(provider.count('GET', '/v0/meta/bases'), requests)
  })

  test('an agent has only the tools that the permissions of the caller allow', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner, 'member', {
      scopes: ['sessions:*', 'agents:*', 'connections:read'],
    })
    await createAgent(app, reader, { name: 'Helper', allowedConnectors: ['airtable'] })
    const started = await app.call('POST', `${api}/connections`, { as: reader, json: { connectorSlug: 'airtable' } })
    assert.equal(started.status, 403)
    const whole = await app.createUser(owner)
    await connect(whole, 'airtable', airtable)
    await app.db.transaction('all orgs', async (db) => {
      const { sql } = await import('../platform/database/database.ts')
      await db.execute(sql`update connections set user_id = ${reader.userId} where user_id = ${whole.userId}`)
    })
    const { id } = await openSession(app, reader, { agentId: 'helper' })
    assert.equal((await run(reader, id, 'airtable__list_bases')).status, 'done')
    const input = { base: `app${'A'.repeat(14)}`, table: 'T', fields: {} }
    assert.match((await run(reader, id, 'airtable__create_record', input)).output.error ?? '', /no tool/i)
  })

  test('a tool of a revoked connection fails without a request to the provider', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner, 'airtable', airtable)
    const session = await agentFor(owner, ['airtable'])
    const requests = provider.count('GET', '/v0/meta/bases')
    await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    const { status, output } = await run(owner, session, 'airtable__list_bases')
    assert.equal(status, 'failed')
    assert.match(output.error ?? '', /no tool|not use/i)
    assert.equal(provider.count('GET', '/v0/meta/bases'), requests)
  })

  test('secrets are redacted in provider errors that the model receives', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const session = await agentFor(owner, ['airtable'])
    provider.on('GET', '/v0/meta/bases', (seen) => ({
      status: 422,
      body: {
        error: { message: `You sent ${seen.headers.authorization} (${Buffer.from(secretKey).toString('base64')})` },
      },
    }))
    const rejected = await run(owner, session, 'airtable__list_bases')
    assert.deepEqual(rejected.output, {
      error: 'Airtable responded with status 422: You sent Bearer [redacted] ([redacted])',
    })

    provider.on('GET', '/v0/meta/bases', (seen) => ({ body: { bases: [{ name: seen.headers.authorization }] } }))
    const echoed = await run(owner, session, 'airtable__list_bases')
    assert.deepEqual(echoed.output, { bases: [{ name: 'Bearer [redacted]' }] })

    provider.on('GET', '/v0/meta/bases', { status: 429, body: {}, headers: { 'retry-after': '30' } })
    const limited = await run(owner, session, 'airtable__list_bases')
    assert.deepEqual(limited.output, { error: 'Airtable limits the rate of requests. Try again in 30 s.' })

    provider.on('GET', '/v0/meta/bases', { status: 302, body: '', headers: { location: 'http://169.254.169.254/' } })
    const redirected = await run(owner, session, 'airtable__list_bases')
    assert.deepEqual(redirected.output, { error: 'Airtable responded with a redirect (302).' })
    provider.on('GET', '/v0/meta/bases', (seen) => good(seen, { bases: [{ id: 'app1', name: 'One' }] }))

    const { text } = await app.call('GET', `${api}/sessions/${session}/messages?limit=100`, { as: owner })
    assert.ok(!text.includes(secretKey))
    assert.ok(!app.logLines.join('').includes(secretKey))
  })

  test('tool output is cut at 64 KB', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const session = await agentFor(owner, ['airtable'])
    provider.on('GET', '/v0/meta/bases', { body: { bases: [{ id: 'x'.repeat(900_000) }] } })
    const long = await run(owner, session, 'airtable__list_bases')
    assert.equal(long.output['truncated'], true)
    assert.ok(JSON.stringify(long.output).length < 70_000)
    provider.on('GET', '/v0/meta/bases', { body: { bases: [{ id: 'x'.repeat(3_000_000) }] } })
    const endless = await run(owner, session, 'airtable__list_bases')
    assert.equal(endless.output['truncated'], true)
    assert.ok(JSON.stringify(endless.output).length < 70_000)
    provider.on('GET', '/v0/meta/bases', (seen) => good(seen, { bases: [{ id: 'app1', name: 'One' }] }))
  })

  test('a tool has the argument connection when the user has several connections to its connector', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable, 'work')
    await connect(owner, 'airtable', airtable, 'home')
    const session = await agentFor(owner, ['airtable'])
    const vague = await run(owner, session, 'airtable__list_bases')
    assert.match(vague.output.error ?? '', /connection is required/)
    const unknown = await run(owner, session, 'airtable__list_bases', { connection: 'other' })
    assert.match(unknown.output.error ?? '', /work.*home/)
    assert.equal((await run(owner, session, 'airtable__list_bases', { connection: 'home' })).status, 'done')
    // A connection without a label uses its account name, which is the label of another one here.
    await connect(owner, 'airtable', airtable, 'ann@example.com')
    const unnamed = await connect(owner, 'airtable', airtable)
    for (const connection of ['ann@example.com', `ann@example.com ${unnamed}`]) {
      assert.equal((await run(owner, session, 'airtable__list_bases', { connection })).status, 'done', connection)
    }
  })
})

describe('a call that waits for approval', () => {
  const base = `app${'A'.repeat(14)}`
  const record = { base, table: 'T', fields: { a: 'salary' } }
  let used: string[] = []
  provider.on('POST', `/v0/${base}/T`, (seen) => {
    used.push(seen.headers.authorization ?? '')
    return { body: { id: `rec${'A'.repeat(14)}`, fields: {} } }
  })
  const plan = async (as: TestActor, input: object) => {
    await createAgent(app, as, { name: 'Helper', allowedConnectors: ['airtable'], settings: { approvals: ['*'] } })
    const { id } = await openSession(app, as, { agentId: 'helper' })
    const text = `/tool airtable__create_record ${JSON.stringify(input)}`
    const said = await say(app, as, id, { text, background: true })
    assert.equal(said.status, 202, said.text)
    const turn = await untilStatus(app, as, said.body.data.turn.id, 'requires_action')
    return { turnId: turn.id, approvalId: turn.approvals[0].approvalId }
  }
  const approve = async (as: TestActor, { turnId, approvalId }: { turnId: string; approvalId: string }) => {
    const json = { approvalId, approved: true }
    const approved = await app.call('POST', `${api}/turns/${turnId}/approvals`, { as, json })
    assert.equal(approved.status, 200, approved.text)
    return (await untilStatus(app, as, turnId, 'completed', 'failed')).toolCalls[0] as Called
  }
  const remove = async (as: TestActor, id: string): Promise<void> =>
    assert.equal((await app.call('DELETE', `${api}/connections/${id}`, { as })).status, 200)
  const unavailable = /connection that this call was made for is not available/

  test('is not made with another account when the one it names is deleted or broken before the approval', async () => {
    used = []
    for (const end of ['deleted', 'broken']) {
      const owner = await app.createOrg()
      const work = await connect(owner, 'airtable', airtable, 'work')
      await connect(owner, 'airtable', airtable, 'private')
      const waiting = await plan(owner, { connection: 'work', ...record })
      if (end === 'deleted') await remove(owner, work)
      else await app.db.execute(sql`update connections set status = 'error' where id = ${work}`)
      const { status, output } = await approve(owner, waiting)
      assert.equal(status, 'failed')
      assert.match(output.error ?? '', unavailable)
    }
    assert.deepEqual(used, [])
  })

  test('is not made with another account that gets its label or takes the place of the only one', async () => {
    used = []
    const owner = await app.createOrg()
    for (const input of [record, { connection: 'work', ...record }]) {
      const first = await connect(owner, 'airtable', airtable, 'work')
      const waiting = await plan(owner, input)
      await remove(owner, first)
      await connect(owner, 'airtable', airtable, 'work')
      const { status, output } = await approve(owner, waiting)
      assert.equal(status, 'failed')
      assert.match(output.error ?? '', unavailable)
      // The next call has to choose between two.
      await connect(owner, 'airtable', airtable, 'private')
    }
    assert.deepEqual(used, [])
  })

  test('is made with its account when the person connects another one before the approval', async () => {
    used = []
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable, 'work')
    await connect(owner, 'airtable', airtable, 'private')
    const waiting = await plan(owner, { connection: 'work', ...record })
    await connect(owner, 'airtable', airtable, 'third')
    assert.equal((await approve(owner, waiting)).status, 'done')
    assert.deepEqual(used, [`Bearer ${secretKey}`])
  })

  test('is not made with an input that the current schema of its tool does not accept', async () => {
    used = []
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const waiting = await plan(owner, record)
    await app.db.execute(sql`
      update tool_calls set input = input - 'table' where org_id = ${owner.orgId} and turn_id = ${waiting.turnId}`)
    const { status, output } = await approve(owner, waiting)
    assert.equal(status, 'failed')
    assert.match(output.error ?? '', /table is required/)
    assert.deepEqual(used, [])
  })
})

describe('tool arguments', () => {
  const base = `app${'A'.repeat(14)}`
  const record = `rec${'A'.repeat(14)}`
  const wrong: [string, string, object, RegExp][] = [
    ['missing', 'airtable__list_tables', {}, /base is required/],
    ['in the wrong format', 'airtable__list_tables', { base: '../../v0/other' }, /base/],
    ['of the wrong type', 'airtable__list_records', { base, table: { a: 1 } }, /table/],
    [
      'unknown',
      'airtable__list_bases',
      { authorization: 'Bearer mine', host: 'evil.example' },
      /additional|not valid|must NOT/i,
    ],
    ['`..`', 'airtable__list_records', { base, table: '..' }, /valid path segment/],
    ['`.`', 'airtable__get_record', { base, table: '.', record }, /valid path segment/],
  ]
  for (const [what, tool, input, message] of wrong) {
    test(`${what} arguments fail the tool call without a request to the provider`, async () => {
      const owner = await app.createOrg()
      await connect(owner, 'airtable', airtable)
      const session = await agentFor(owner, ['airtable'])
      const before = provider.seen.length
      const { status, output } = await run(owner, session, tool, input)
      assert.equal(status, 'failed')
      assert.match(output.error ?? '', message)
      assert.equal(provider.seen.length, before)
    })
  }

  test('an argument with separators stays within its path segment', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'airtable', airtable)
    const session = await agentFor(owner, ['airtable'])
    provider.on('GET', `/v0/${base}/*`, { body: { records: [] } })
    const tables = [
      'a/b',
      'a%2fb',
      'a?x=1',
      'a#b',
      '%2e%2e',
      '..%2f',
      '..\\x',
      'a;b',
      'ä 😀',
      '@evil.example',
      'http://evil.example/',
      '\\\\evil',
    ]
    for (const table of tables) {
      const { status, output } = await run(owner, session, 'airtable__list_records', { base, table })
      assert.equal(status, 'done', JSON.stringify(output))
      const { path, query, headers } = provider.seen.at(-1)!
      assert.equal(decodeURIComponent(path.slice(`/v0/${base}/`.length)), table)
      assert.equal(path.split('/').length, 4, path)
      assert.equal(query.toString(), '')
      assert.equal(headers.host, new URL(provider.url).host)
    }
  })
})

describe('the HTTP connector', () => {
  const connectHttp = async (credentials: object) => {
    const owner = await app.createOrg()
    await connect(owner, 'http', credentials)
    return { owner, session: await agentFor(owner, ['http']) }
  }

  test('HTTP requests stay below the base URL for every path argument', async () => {
    const { owner, session } = await connectHttp({
      baseUrl: `${provider.url}/v9/`,
      headerName: 'X-Key',
      headerValue: secretKey,
    })
    provider.on('GET', '/v9/users', (seen) => ({
      body: { key: seen.headers['x-key'], cookie: seen.headers['cookie'] ?? null },
    }))
    const { output } = await run(owner, session, 'http__get', { path: '/users' })
    assert.deepEqual(output, { key: '[redacted]', cookie: null })
    const before = provider.seen.length
    for (const path of ['/../admin', '..', '/a/./b', '/a/../../b', './x']) {
      const { output: rejected } = await run(owner, session, 'http__get', { path })
      assert.match(rejected.error ?? '', /valid path segment/, path)
    }
    assert.equal(provider.seen.length, before)
    for (const path of [
      '//evil.example/x',
      'http://evil.example/x',
      '/%2e%2e/admin',
      '/x?admin=1',
      '/x#y',
      '\\..\\x',
      '/%2f..%2f',
    ]) {
      await run(owner, session, 'http__get', { path })
      const seen = provider.seen.at(-1)!
      assert.ok(seen.path.startsWith('/v9/'), seen.path)
      assert.equal(seen.query.toString(), '')
    }
    assert.equal(provider.seen.length, before + 7, 'each request was sent to this server')
  })

  const wrong: [string, object][] = [
    ['a base URL that is not a URL', { baseUrl: 'nonsense' }],
    ['an ftp URL', { baseUrl: 'ftp://example.com' }],
    ['a file URL', { baseUrl: 'file:///etc/passwd' }],
    ['a user name in the base URL', { baseUrl: 'https://user:pass@example.com' }],
    ['a query in the base URL', { baseUrl: 'https://example.com/?a=1' }],
    ['a fragment in the base URL', { baseUrl: 'https://example.com/#a' }],
    ['a Host header', { baseUrl: 'https://example.com', headerName: 'Host', headerValue: 'x' }],
    ['a Content-Length header', { baseUrl: 'https://example.com', headerName: 'Content-Length', headerValue: '1' }],
    ['an invalid header name', { baseUrl: 'https://example.com', headerName: 'X: Y', headerValue: 'x' }],
    ['an invalid header value', { baseUrl: 'https://example.com', headerValue: 'ключ' }],
  ]
  for (const [what, credentials] of wrong) {
    test(`HTTP credentials with ${what} are BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, 'http')
      const { status, body } = await app.call('POST', `${api}/connections/${id}/credentials`, {
        as: owner,
        json: { credentials },
      })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    })
  }

  for (const baseUrl of [
    'http://127.0.0.1:9',
    'http://[::1]',
    'http://169.254.169.254',
    'http://10.0.0.1',
    'http://localhost',
    'http://[::ffff:127.0.0.1]',
    'http://0177.0.0.1',
    'http://2130706433',
    'https://8.8.8.8:22',
  ]) {
    test(`the base URL ${baseUrl} is BAD_REQUEST unless the operator allows its network`, async () => {
      const owner = await app.createOrg()
      const id = await connect(owner, 'http')
      const json = { credentials: { baseUrl } }
      const { status, body } = await guarded.call('POST', `${api}/connections/${id}/credentials`, { as: owner, json })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    })
  }

  test('HTTP credentials are tested at the test path', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner, 'http')
    provider.on('GET', '/v9/me', (seen) => good(seen, {}))
    const submit = (headerValue: string) =>
      app.call('POST', `${api}/connections/${id}/credentials`, {
        as: owner,
        json: { credentials: { baseUrl: `${provider.url}/v9`, headerValue, checkPath: 'me' } },
      })
    assert.equal((await submit('Bearer wrong')).status, 400)
    assert.equal((await submit(`Bearer ${secretKey}`)).status, 200)
  })
})

describe('the web connector', () => {
  const page = `<!doctype html><html><head><title>A &amp; B</title><style>x{}</style><script>alert(1)</script></head>
<body><h1>Head</h1><p>One&nbsp;two<br>three &lt;b&gt;</p><script>if (a < b) {}</script><!-- no --><ul><li><a href="/x?y=1&amp;z=2">Link <b>x</b></a></li>
<li><a href='javascript:alert(1)'>bad</a></li></ul></body></html>`

  test('the web connector reads text, links and JSON, and follows up to five redirects', async () => {
    const owner = await app.createOrg()
    await connect(owner, 'web')
    const session = await agentFor(owner, ['web'])
    provider.on('GET', '/page', { body: page })
    provider.on('GET', '/old', { status: 301, body: '', headers: { location: '/page' } })
    provider.on('GET', '/loop', { status: 302, body: '', headers: { location: '/loop' } })
    provider.on('GET', '/data', { body: { a: 1 } })
    const read = await run(owner, session, 'web__read_page', { url: `${provider.url}/old` })
    assert.deepEqual(read.output, {
      url: `${provider.url}/page`,
      title: 'A & B',
      text: `# Head\n\nOne two\nthree <b>\n\n- Link x (${provider.url}/x?y=1&z=2)\n- bad`,
      truncated: false,
    })
    const links = await run(owner, session, 'web__list_links', { url: `${provider.url}/page` })
    assert.deepEqual(links.output['links'], [{ url: `${provider.url}/x?y=1&z=2`, text: 'Link x' }])
    const json = await run(owner, session, 'web__get_json', { url: `${provider.url}/data` })
    assert.deepEqual(json.output['json'], { a: 1 })
    assert.match(
      (await run(owner, session, 'web__read_page', { url: `${provider.url}/loop` })).output.error ?? '',
      /redirected more than 5 times/,
    )
    assert.match(
      (await run(owner, session, 'web__read_page', { url: 'http://10.0.0.1/' })).output.error ?? '',
      /not on the public/,
    )
    assert.match((await run(owner, session, 'web__read_page', { url: 'file:///etc/passwd' })).output.error ?? '', /url/)
  })
})
