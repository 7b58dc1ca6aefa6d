import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { expireConnections } from './jobs.ts'

const telegram = await startProvider()
const goodToken = '123456:planted-bot-token-AAAA'
const bot = (path: string): string => `/bot${goodToken}${path}`
telegram.on('GET', bot('/getMe'), { body: { ok: true, result: { id: 42, username: 'planted_bot' } } })
telegram.on('GET', '/bot*/getMe', (seen) =>
  seen.path === bot('/getMe')
    ? { body: { ok: true, result: { id: 42, username: 'planted_bot' } } }
    : { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
)

const app = await startTestApp({
  CONNECTOR_TELEGRAM_BASE_URL: telegram.url,
  CONNECTOR_GITHUB_CLIENT_ID: 'client',
  CONNECTOR_GITHUB_CLIENT_SECRET: 'planted-client-secret',
})
const api = '/api/v1'
const { db } = app

const start = (as: TestActor, json: object) => app.call('POST', `${api}/connections`, { as, json })
const submit = (as: TestActor, id: string, credentials: unknown) =>
  app.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })
const read = (as: TestActor, id: string) => app.call('GET', `${api}/connections/${id}`, { as })

const connect = async (as: TestActor, label?: string): Promise<string> => {
  const started = await start(as, { connectorSlug: 'telegram', ...(label === undefined ? {} : { label }) })
  const { id } = started.body.data.connection
  const { status, text } = await submit(as, id, { botToken: goodToken })
  assert.equal(status, 200, text)
  return id
}

const secretsOf = (id: string) =>
  db.row<{ secrets: string | null; status: string }>(sql`select secrets, status from connections where id = ${id}`)

describe('GET /connectors', () => {
  test('lists all connectors with their availability and what is missing', async () => {
    const { body } = await app.call('GET', `${api}/connectors`, { as: await app.createOrg() })
    const items = body.data.items as Record<string, unknown>[]
    assert.deepEqual(
      items.map(({ slug, authType }) => `${String(slug)} ${String(authType)}`),
      [
        'a2a api_key',
        'airtable api_key',
        'discord api_key',
        'github oauth',
        'gmail oauth',
        'google-drive oauth',
        'http api_key',
        'hubspot oauth',
        'jira oauth',
        'linear oauth',
        'mcp api_key',
        'notion oauth',
        'slack oauth',
        'stripe api_key',
        'telegram api_key',
        'twilio api_key',
        'web none',
      ],
    )
    const of = (slug: string) => items.find((item) => item['slug'] === slug)!
    assert.deepEqual([of('github')['configured'], of('github')['availability']], [true, 'available'])
    assert.ok(!('availabilityReason' in of('github')))
    assert.deepEqual([of('gmail')['configured'], of('gmail')['availability']], [false, 'not_configured'])
    assert.match(String(of('gmail')['availabilityReason']), /CONNECTOR_GMAIL_CLIENT_ID/)
    assert.deepEqual(of('gmail')['setup'], {
      variables: ['CONNECTOR_GMAIL_CLIENT_ID', 'CONNECTOR_GMAIL_CLIENT_SECRET'],
      registrationUrl: 'https://console.cloud.google.com/apis/credentials',
    })
    assert.ok(!('setup' in of('github')))
    assert.deepEqual([of('gmail')['category'], of('mcp')['category']], ['communication', 'general'])
    for (const { slug, authType, tools, credentialFields } of items) {
      assert.equal(credentialFields !== undefined, authType === 'api_key', String(slug))
      if (slug !== 'mcp' && slug !== 'a2a')
        assert.ok((tools as unknown[]).length >= 3, `${String(slug)} has ${(tools as unknown[]).length} tools`)
      for (const tool of tools as object[]) assert.deepEqual(Object.keys(tool), ['name', 'description'])
    }
    assert.ok(!JSON.stringify(body).includes('planted-client-secret'))
  })
})

describe('starting a connection', () => {
  test('starting an API key connection returns 201, pending, and the URL for the credentials', async () => {
    const owner = await app.createOrg()
    const { status, body } = await start(owner, { connectorSlug: 'telegram', label: ' Support bot ' })
    assert.equal(status, 201)
    const { connection, oauthUrl, credentialSubmitUrl } = body.data
    assert.deepEqual([connection.status, connection.label, oauthUrl], ['pending', 'Support bot', null])
    assert.equal(credentialSubmitUrl, `${app.url}${api}/connections/${connection.id}/credentials`)
    assert.deepEqual(Object.keys(connection).toSorted(), [
      'accountId',
      'accountName',
      'connectorSlug',
      'createdAt',
      'deletedAt',
      'id',
      'label',
      'lastError',
      'lastUsedAt',
      'scopes',
      'status',
      'updatedAt',
    ])
  })

  test('starting an OAuth connection returns 201, pending, and the authorize URL', async () => {
    const { status, body } = await start(await app.createOrg(), { connectorSlug: 'github' })
    assert.equal(status, 201)
    assert.equal(body.data.credentialSubmitUrl, null)
    const url = new URL(body.data.oauthUrl)
    assert.equal(url.origin + url.pathname, 'https://github.com/login/oauth/authorize')
    assert.equal(url.searchParams.get('redirect_uri'), `${app.url}${api}/connections/oauth/callback`)
    assert.ok(!body.data.oauthUrl.includes('planted-client-secret'))
  })

  test('a connection to a connector without authentication is active at once', async () => {
    const owner = await app.createOrg()
    const { status, body } = await start(owner, { connectorSlug: 'web' })
    assert.deepEqual([status, body.data.connection.status], [201, 'active'])
    assert.deepEqual([body.data.oauthUrl, body.data.credentialSubmitUrl], [null, null])
    assert.equal((await start(owner, { connectorSlug: 'web' })).status, 200)
  })

  test('starting a pending connection again returns the same one with 201 and a new URL', async () => {
    const owner = await app.createOrg()
    const first = await start(owner, { connectorSlug: 'github' })
    const second = await start(owner, { connectorSlug: 'github' })
    assert.equal(second.status, 201)
    assert.equal(second.body.data.connection.id, first.body.data.connection.id)
    assert.notEqual(second.body.data.oauthUrl, first.body.data.oauthUrl)
  })

  test('starting an active connection again returns it with 200', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { status, body } = await start(owner, { connectorSlug: 'telegram' })
    assert.equal(status, 200)
    assert.deepEqual([body.data.id, body.data.connection.id, body.data.status], [id, id, 'active'])
    assert.equal(body.data.credentialSubmitUrl, `${app.url}${api}/connections/${id}/credentials`)
  })

  test('another label, user or org makes another connection', async () => {
    const owner = await app.createOrg()
    const ids = new Set([
      await connect(owner),
      await connect(owner, 'second'),
      await connect(await app.createUser(owner)),
      await connect(await app.createOrg()),
    ])
    assert.equal(ids.size, 4)
  })

  test('forty concurrent starts make one connection', async () => {
    const owner = await app.createOrg()
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => start(owner, { connectorSlug: 'telegram', label: 'one' })),
    )
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [201])
    assert.equal(new Set(responses.map(({ body }) => body.data.connection.id)).size, 1)
    const { body } = await app.call('GET', `${api}/connections`, { as: owner })
    assert.equal(body.data.items.length, 1)
  })

  const invalid: [string, unknown][] = [
    ['no slug', {}],
    ['a slug that is not a string', { connectorSlug: 7 }],
    ['an empty slug', { connectorSlug: '' }],
    ['an unknown slug', { connectorSlug: 'nothing' }],
    ['the name of an object property as slug', { connectorSlug: 'constructor' }],
    ['a connector that is not configured', { connectorSlug: 'gmail' }],
    ['a label that is too long', { connectorSlug: 'telegram', label: 'x'.repeat(121) }],
    ['a label that is not a string', { connectorSlug: 'telegram', label: {} }],
  ]
  for (const [what, json] of invalid) {
    test(`starting a connection with ${what} is BAD_REQUEST and makes none`, async () => {
      const owner = await app.createOrg()
      const { status, body } = await app.call('POST', `${api}/connections`, { as: owner, json })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.equal((await app.call('GET', `${api}/connections`, { as: owner })).body.data.items.length, 0)
    })
  }
})

describe('credentials', () => {
  test('credentials are tested at the provider, stored sealed, and not returned', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { body, text } = await read(owner, id)
    const { status, accountId, accountName, scopes } = body.data
    assert.deepEqual([status, accountId, accountName, scopes], ['active', '42', 'planted_bot', []])
    assert.ok(!text.includes('planted-bot-token'))
    const row = await secretsOf(id)
    assert.match(row?.secrets ?? '', /^v1\./)
    assert.ok(!JSON.stringify(row).includes('planted-bot-token'))
    assert.ok(!app.logLines.join('').includes('planted-bot-token'))
  })

  const invalid: [string, unknown][] = [
    ['that the provider does not accept', { botToken: '99999:wrong-planted-token' }],
    ['without a required field', {}],
    ['with an unknown field', { botToken: goodToken, planted: 'x' }],
    ['that are empty', { botToken: '   ' }],
    ['with a line break', { botToken: `${goodToken}\r\nX-Injected: 1` }],
    ['with path separators', { botToken: '../../secret' }],
    ['that are not strings', { botToken: 7 }],
    ['in a list', ['a']],
    ['that are null', null],
  ]
  for (const [what, credentials] of invalid) {
    test(`credentials ${what} are BAD_REQUEST and are not stored`, async () => {
      const owner = await app.createOrg()
      const { id } = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
      const { status, body, text } = await submit(owner, id, credentials)
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], text)
      assert.ok(!text.includes('planted'), text)
      assert.deepEqual(await secretsOf(id), { secrets: null, status: 'pending' })
    })
  }

  test('credentials that the provider rejects do not replace the stored ones', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const before = await secretsOf(id)
    assert.equal((await submit(owner, id, { botToken: '1:wrong' })).status, 400)
    assert.deepEqual(await secretsOf(id), before)
    assert.equal((await read(owner, id)).body.data.status, 'active')
  })

  for (const [what, reply] of [
    ['responds with 500', { status: 500, body: '<h1>planted-error-page</h1>' }],
    ['closes the connection', 'hang up'],
    ['limits the rate', { status: 429, body: {} }],
  ] as const) {
    test(`submitting credentials is SERVICE_UNAVAILABLE while the provider ${what}`, async () => {
      const owner = await app.createOrg()
      const { id } = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
      telegram.on('GET', '/bot1:slow/getMe', reply)
      const { status, body, text } = await submit(owner, id, { botToken: '1:slow' })
      assert.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'])
      assert.ok(!text.includes('planted'))
      assert.equal((await secretsOf(id))?.secrets, null)
    })
  }

  test('credentials are not stored when the provider responds with garbage', async () => {
    const owner = await app.createOrg()
    const { id } = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
    telegram.on('GET', '/bot1:garbage/getMe', { body: '<h1>planted welcome</h1>' })
    const { status, text } = await submit(owner, id, { botToken: '1:garbage' })
    assert.equal(status, 400)
    assert.ok(!text.includes('planted'))
    assert.equal((await secretsOf(id))?.secrets, null)
  })

  test('an OAuth connection rejects credentials, and an API key connection rejects OAuth', async () => {
    const owner = await app.createOrg()
    const github = (await start(owner, { connectorSlug: 'github' })).body.data.connection
    assert.equal((await submit(owner, github.id, { token: 'x' })).status, 400)
    const bot = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
    const { status, body } = await app.call('GET', `${api}/connections/${bot.id}/oauth`, { as: owner })
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    const redirected = await app.call('GET', `${api}/connections/oauth/start?connector=telegram`, { as: owner })
    assert.equal(redirected.status, 400)
  })
})

describe('a connection', () => {
  test('a connection that is not completed within an hour expires and does not block a new one', async () => {
    const owner = await app.createOrg()
    const { id } = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
    await db.execute(sql`update connections set pending_until = now() - interval '1 second' where id = ${id}`)
    assert.equal((await read(owner, id)).body.data.status, 'expired')
    const { status, body } = await submit(owner, id, { botToken: goodToken })
    assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
    const next = await start(owner, { connectorSlug: 'telegram' })
    assert.equal(next.status, 201)
    assert.notEqual(next.body.data.connection.id, id)
    assert.equal((await secretsOf(id))?.status, 'expired')
  })

  test('a job expires overdue connections and their OAuth states', async () => {
    const owner = await app.createOrg()
    const { id } = (await start(owner, { connectorSlug: 'github' })).body.data.connection
    const other = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
    await db.execute(sql`update connections set pending_until = now() - interval '1 second' where id = ${id}`)
    await db.execute(sql`update oauth_states set expires_at = now() where connection_id = ${id}`)
    await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, expireConnections, {}))
    await until('the connection is expired', async () => (await secretsOf(id))?.status === 'expired')
    assert.equal((await secretsOf(other.id))?.status, 'pending')
    const left = await db.row<{ n: number }>(
      sql`select count(*)::int as n from oauth_states where connection_id = ${id}`,
    )
    assert.equal(left?.n, 0)
  })

  test('a connection is not deleted with an outdated If-Match', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { headers } = await read(owner, id)
    const etag = headers.get('etag') ?? ''
    assert.equal((await submit(owner, id, { botToken: goodToken })).status, 200)
    const remove = (ifMatch: string) =>
      app.call('DELETE', `${api}/connections/${id}`, { as: owner, headers: { 'if-match': ifMatch } })
    assert.equal((await remove(etag)).status, 409)
    assert.equal((await read(owner, id)).body.data.status, 'active')
    assert.equal((await remove('*')).status, 200)
  })

  test('a repeated idempotency key returns the first response', async () => {
    const owner = await app.createOrg()
    const options = { as: owner, json: { connectorSlug: 'telegram' }, headers: { 'idempotency-key': 'one' } }
    const first = await app.call('POST', `${api}/connections`, options)
    const second = await app.call('POST', `${api}/connections`, options)
    assert.deepEqual([second.status, second.text], [201, first.text])
  })

  test('deleting a connection revokes it, deletes its secrets, and frees its label', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { status, body } = await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
    assert.deepEqual([status, body.data], [200, { deleted: true, providerRevocation: 'unsupported' }])
    assert.deepEqual(await secretsOf(id), { secrets: null, status: 'revoked' })
    assert.equal((await read(owner, id)).status, 404)
    assert.equal((await app.call('DELETE', `${api}/connections/${id}`, { as: owner })).status, 404)
    assert.equal((await submit(owner, id, { botToken: goodToken })).status, 404)
    assert.notEqual(await connect(owner), id)
  })

  test('a connection that is deleted during the test of its credentials stays deleted', async () => {
    const owner = await app.createOrg()
    const { id } = (await start(owner, { connectorSlug: 'telegram' })).body.data.connection
    telegram.on('GET', '/bot1:late/getMe', async () => {
      await app.call('DELETE', `${api}/connections/${id}`, { as: owner })
      return { body: { ok: true, result: { id: 1, username: 'late' } } }
    })
    assert.equal((await submit(owner, id, { botToken: '1:late' })).status, 404)
    assert.deepEqual(await secretsOf(id), { secrets: null, status: 'revoked' })
  })

  test('a connection is NOT_FOUND for every other user of the org, including the owner of the org', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const id = await connect(member)
    const missing = await read(owner, newId())
    assert.equal(missing.status, 404)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/oauth'],
      ['GET', '/tools'],
    ] as const) {
      const response = await app.call(method, `${api}/connections/${id}${path}`, { as: owner })
      assert.equal(response.text, missing.text, method + path)
    }
    assert.equal((await submit(owner, id, { botToken: goodToken })).text, missing.text)
    assert.equal((await app.call('GET', `${api}/connections`, { as: owner })).body.data.items.length, 0)
    assert.equal((await read(member, id)).body.data.status, 'active')
  })

  test('a malformed connection ID is BAD_REQUEST on every route', async () => {
    const owner = await app.createOrg()
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/credentials'],
      ['GET', '/oauth'],
      ['POST', '/oauth'],
      ['GET', '/tools'],
      ['POST', '/tools'],
    ] as const) {
      const json = { credentials: {}, code: 'x', state: 'x', hash: 'x' }
      const options = method === 'POST' ? { as: owner, json } : { as: owner }
      const { status, body } = await app.call(method, `${api}/connections/not-a-uuid${path}`, options)
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], method + path)
    }
  })

  test('connections are listed newest first, in pages, without deleted ones', async () => {
    const owner = await app.createOrg()
    const ids: string[] = []
    for (const label of ['a', 'b', 'c', 'd']) ids.unshift(await connect(owner, label))
    await app.call('DELETE', `${api}/connections/${ids[1]}`, { as: owner })
    const left = ids.filter((_, place) => place !== 1)
    const listed: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await app.call('GET', `${api}/connections?limit=2${query}`, { as: owner })
      listed.push(...body.data.items.map(({ id }: { id: string }) => id))
      cursor = body.data.nextCursor
    }
    assert.deepEqual(listed, left)
  })
})
