import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { SignJWT } from 'jose'
import type { JWTPayload } from 'jose'
import { sql } from '../../platform/database/database.ts'
import { createAgent, until } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import { fixedBodies, malformedBody } from '../../../test/support/malformed-bodies.ts'
import { addEndpoint } from '../../../test/support/endpoints.ts'
import type { TestEndpoint } from '../../../test/support/endpoints.ts'

const google = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const next = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const outsider = generateKeyPairSync('rsa', { modulusLength: 2_048 })

// Serves the signing keys of Google and counts the requests for them.
let published = [{ ...google.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }]
let fetches = 0
let isBroken = false
const certificates = createServer((request, response) => {
  fetches += 1
  assert.equal(request.url, '/oauth2/v3/certs')
  response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' })
  response.end(isBroken ? '<html>' : JSON.stringify({ keys: published }))
}).listen(0, '127.0.0.1')
await once(certificates, 'listening')
after(() => certificates.close())
const address = certificates.address()
assert.ok(address !== null && typeof address === 'object')

const app = await startTestApp({ CONNECTOR_GMAIL_BASE_URL: `http://127.0.0.1:${address.port}` })
const owner = await app.createOrg()
const agent = await createAgent(app, owner, { name: 'Helper' })
const account = 'push@project.iam.gserviceaccount.com'
const nowS = () => Math.floor(Date.now() / 1_000)

interface Claims {
  iss?: string
  aud?: string
  email?: string
  email_verified?: unknown
  iat?: number | undefined
  exp?: number | undefined
}

const tokenFor = (
  { url }: TestEndpoint,
  claims: Claims = {},
  {
    key = google.privateKey,
    kid = 'one',
    alg = 'RS256',
  }: { key?: KeyObject | Uint8Array; kid?: string; alg?: string } = {},
): Promise<string> =>
  // Undefined claims are omitted.
  new SignJWT({
    iss: 'https://accounts.google.com',
    aud: url,
    sub: '1',
    email: account,
    email_verified: true,
    iat: nowS(),
    exp: nowS() + 3_600,
    ...claims,
  } as JWTPayload)
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .sign(key)

const notice = (emailAddress = 'ada@example.com'): string =>
  Buffer.from(JSON.stringify({ emailAddress, historyId: 9_876 })).toString('base64')

const push = (messageId: string, data: unknown = notice()) => ({
  message: { data, messageId, publishTime: '2026-11-21T00:00:00Z' },
  subscription: 'projects/project/subscriptions/mail',
})

const send = (endpoint: TestEndpoint, authorization: string | undefined, body: object = push('1'), query = '') =>
  app.call('POST', endpoint.path + query, {
    json: body,
    headers: authorization === undefined ? {} : { authorization },
  })

const open = (agentId: string | null = null) =>
  addEndpoint(app, owner, 'gmail', { agentId, settings: { serviceAccount: account } })

describe('Gmail pushes', () => {
  test('accepts a push with a Google token of the service account for this endpoint, and fetches the keys of Google once', async () => {
    const endpoint = await open()
    const token = await tokenFor(endpoint)
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, i) => send(endpoint, `Bearer ${token}`, push(String(i % 5)))),
    )
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.equal(responses.filter(({ body }) => body.data.duplicate).length, 5)
    assert.equal(fetches, 1)
    assert.equal(
      (await send(endpoint, `Bearer ${await tokenFor(endpoint, { iss: 'accounts.google.com' })}`)).status,
      200,
    )
    assert.equal((await send(endpoint, `Bearer ${token}`, push('q'), '?a=1')).status, 200)
  })

  test('rejects a push whose token is missing, malformed, stale, from the future, or of another key, algorithm, issuer, audience or account', async () => {
    const endpoint = await open()
    const other = await open()
    const hmacKey = new TextEncoder().encode(google.publicKey.export({ type: 'spki', format: 'pem' }))
    const right = await tokenFor(endpoint)
    const [header, , signature] = right.split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const forged = Buffer.from(JSON.stringify({ email: account })).toString('base64url')
    const tokens = [
      '',
      'nonsense',
      'a.b.c',
      `${none}.${right.split('.')[1]}.`,
      `${header}.${forged}.${signature}`,
      right.slice(0, -4),
      await tokenFor(endpoint, {}, { key: outsider.privateKey }),
      await tokenFor(endpoint, {}, { key: outsider.privateKey, kid: 'unknown' }),
      await tokenFor(endpoint, {}, { key: hmacKey, alg: 'HS256' }),
      await tokenFor(endpoint, {}, { alg: 'PS256' }),
      await tokenFor(other),
      await tokenFor(endpoint, { iss: 'https://accounts.google.com.example.com' }),
      await tokenFor(endpoint, { email: 'somebody@project.iam.gserviceaccount.com' }),
      await tokenFor(endpoint, { email_verified: false }),
      await tokenFor(endpoint, { email_verified: 'true' }),
      await tokenFor(endpoint, { exp: nowS() - 120 }),
      await tokenFor(endpoint, { exp: undefined }),
      await tokenFor(endpoint, { iat: nowS() + 120 }),
      await tokenFor(endpoint, { iat: undefined }),
    ]
    for (const token of tokens) {
      const { status } = await send(endpoint, `Bearer ${token}`)
      assert.deepEqual([token.slice(0, 60), status], [token.slice(0, 60), 401])
    }
    assert.equal((await send(endpoint, undefined)).status, 401)
    assert.equal((await send(endpoint, right)).status, 401)
    const unpinned = await addEndpoint(app, owner, 'gmail')
    assert.equal((await send(unpinned, `Bearer ${await tokenFor(unpinned)}`)).status, 401)
    const stored = await app.db.row<{ n: number }>(sql`
      select count(*)::int as n from connector_events where endpoint_id in (${endpoint.id}, ${unpinned.id})`)
    assert.equal(stored?.n, 0)
  })

  test('rejects a verified body that is not a Pub/Sub push message', async () => {
    const endpoint = await open()
    const bearer = `Bearer ${await tokenFor(endpoint)}`
    for (const body of [{}, { message: {} }, push('1', '%%%'), push('1', Buffer.from('[]').toString('base64'))]) {
      assert.equal((await send(endpoint, bearer, body)).status, 400)
    }
  })

  test('never responds with 5xx to a verified push, for any content', async () => {
    const endpoint = await open()
    const authorization = `Bearer ${await tokenFor(endpoint)}`
    const check = async (body: string): Promise<void> => {
      for (const sent of [body, JSON.stringify(push('1', Buffer.from(body).toString('base64')))]) {
        const response = await app.call('POST', endpoint.path, { body: sent, headers: { authorization } })
        assert.ok(response.status < 500, `${response.status} ${response.text} for ${body.slice(0, 500)}`)
      }
    }
    for (const body of fixedBodies) await check(body)
    await fc.assert(fc.asyncProperty(malformedBody, check), { numRuns: 100 })
  })

  test('sends the agent a message about the mailbox in the session of the mailbox', async () => {
    const endpoint = await open(agent.id)
    const bearer = `Bearer ${await tokenFor(endpoint)}`
    await send(endpoint, bearer, push('1'))
    await send(endpoint, bearer, push('2'))
    const states = await until(
      () => app.db.rows<{ state: string }>(sql`select state from connector_events where endpoint_id = ${endpoint.id}`),
      (rows) => rows.length === 2 && rows.every(({ state }) => state === 'silent'),
    )
    assert.equal(states.length, 2)
    const { body } = await app.call('GET', '/api/v1/sessions', { as: owner })
    assert.deepEqual(
      body.data.items.map((session: { title: string; messageCount: number }) => [session.title, session.messageCount]),
      [['Gmail: ada@example.com', 4]],
    )
  })

  test('acknowledges and drops notices about the mailboxes of others', async () => {
    const settings = { serviceAccount: account }
    const endpoint = await addEndpoint(app, owner, 'gmail', { settings, accountId: 'Ada@example.com' })
    const bearer = `Bearer ${await tokenFor(endpoint)}`
    assert.equal((await send(endpoint, bearer, push('1', notice('eve@example.com')))).status, 200)
    assert.equal((await send(endpoint, bearer, push('2'))).status, 200)
    const stored = await app.db.rows<{ externalId: string }>(sql`
      select external_id from connector_events where endpoint_id = ${endpoint.id}`)
    assert.deepEqual(stored, [{ externalId: '2' }])
  })

  test('responds with 503 if the keys of Google cannot be fetched, and fetches a new key', async () => {
    // Another process, because the first one has cached the keys.
    const fresh = await app.secondServer(
      { CONNECTOR_GMAIL_BASE_URL: `http://127.0.0.1:${address.port}` },
      { work: false },
    )
    const endpoint = await open()
    const token = await tokenFor(endpoint, {}, { key: next.privateKey, kid: 'two' })
    const sendFresh = () =>
      fresh.call('POST', endpoint.path, { json: push('1'), headers: { authorization: `Bearer ${token}` } })
    isBroken = true
    assert.equal((await sendFresh()).status, 503)
    isBroken = false
    published = [...published, { ...next.publicKey.export({ format: 'jwk' }), kid: 'two', use: 'sig', alg: 'RS256' }]
    assert.equal((await sendFresh()).status, 200)
  })
})
