import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../platform/database/database.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import type { FakeOAuth, Reply } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { callConnection } from '../connections/calls.ts'
import { freshAccess } from './refresh.ts'

const clientSecret = 'planted-client-secret'

// Jira's refresh tokens are single-use.
const jira = await startProvider()
const oauth = addOAuth(jira, {
  clientId: 'client-1',
  clientSecret,
  authorizePath: '/authorize',
  tokenPath: '/oauth/token',
  tokenBody: 'json',
  scope: 'read:jira-work offline_access',
  expiresIn: 3_600,
  rotates: true,
})
jira.on('GET', '/oauth/token/accessible-resources', (seen) =>
  oauth.isGood(seen) ? { body: [{ id: 'cloud-1', name: 'Planets', url: 'https://planets.example' }] } : { status: 401 },
)
const myself = '/ex/jira/cloud-1/rest/api/3/myself'
jira.on('GET', myself, (seen) => (oauth.isGood(seen) ? { body: { accountId: 'a1' } } : { status: 401, body: {} }))

// Google keeps its refresh tokens and does not return them again.
const google = await startProvider()
const googleOptions = {
  clientId: 'client-2',
  clientSecret,
  authorizePath: '/o/oauth2/v2/auth',
  tokenPath: '/token',
  scope: 'https://www.googleapis.com/auth/gmail.readonly',
  expiresIn: 3_600,
}
const googleOauth = addOAuth(google, googleOptions)
google.on('GET', '/gmail/v1/users/me/profile', (seen) =>
  googleOauth.isGood(seen) ? { body: { emailAddress: 'ann@example.com' } } : { status: 401, body: {} },
)
const revoked: string[] = []
google.on('POST', '/revoke', (seen) => {
  revoked.push((seen.body as { token: string }).token)
  return { body: {} }
})

const telegram = await startProvider()

const env = {
  CONNECTOR_JIRA_CLIENT_ID: 'client-1',
  CONNECTOR_JIRA_CLIENT_SECRET: clientSecret,
  CONNECTOR_JIRA_BASE_URL: jira.url,
  CONNECTOR_GMAIL_CLIENT_ID: 'client-2',
  CONNECTOR_GMAIL_CLIENT_SECRET: clientSecret,
  CONNECTOR_GMAIL_BASE_URL: google.url,
  CONNECTOR_TELEGRAM_BASE_URL: telegram.url,
}
const app = await startTestApp(env)
const second = await app.secondServer(env, { work: false })
const { db, deps } = app
const api = '/api/v1'

interface Connected {
  owner: TestActor
  ref: { orgId: string; id: string }
}

const connect = async (connectorSlug = 'jira', provider: FakeOAuth = oauth): Promise<Connected> => {
  const owner = await app.createOrg()
  const started = await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug } })
  const { code, state } = provider.consent(started.body.data.oauthUrl)
  const { id } = started.body.data.connection
  const done = await app.call('POST', `${api}/connections/${id}/oauth`, { as: owner, json: { code, state } })
  assert.equal(done.status, 200, done.text)
  return { owner, ref: { orgId: owner.orgId, id } }
}

const read = async ({ owner, ref }: Connected) =>
  (await app.call('GET', `${api}/connections/${ref.id}`, { as: owner })).body.data

const makeDue = ({ ref }: Connected) =>
  db.execute(sql`update connections set refresh_due_at = now() where id = ${ref.id}`)
/** Expires the token, here and at the provider. */
const endToken = async (connected: Connected): Promise<void> => {
  const { secrets } = await freshAccess(deps, connected.ref)
  oauth.accessTokens.delete(secrets['accessToken'] ?? '')
  googleOauth.accessTokens.delete(secrets['accessToken'] ?? '')
  await db.execute(
    sql`update connections set refresh_due_at = now(), token_expires_at = now() where id = ${connected.ref.id}`,
  )
}

const whoami = (connected: Connected, of = deps) =>
  callConnection(of, connected.ref, { method: 'GET', path: '/rest/api/3/myself' })

describe('token refresh', () => {
  test('fifty concurrent calls on two servers refresh an expired token once', async () => {
    const connected = await connect()
    await endToken(connected)
    const before = oauth.refreshes
    oauth.onToken = async () => {
      await delay(300)
      return undefined
    }
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => whoami(connected, i % 2 === 0 ? deps : second.deps)),
    )
    delete oauth.onToken
    assert.equal(oauth.refreshes - before, 1)
    assert.ok(responses.every(({ body }) => (body as { accountId: string }).accountId === 'a1'))
    assert.equal((await read(connected)).status, 'active')
  })

  test('a token is refreshed before it expires, each time with the latest refresh token', async () => {
    const connected = await connect()
    const before = oauth.refreshes
    const tokens = new Set<string>()
    for (let i = 0; i < 3; i++) {
      await makeDue(connected)
      const { secrets } = await freshAccess(deps, connected.ref)
      tokens.add(secrets['refreshToken'] ?? '')
    }
    assert.deepEqual([oauth.refreshes - before, tokens.size], [3, 3])
  })

  test('the refresh token is kept when the provider returns no new one', async () => {
    const connected = await connect('gmail', googleOauth)
    const { secrets } = await freshAccess(deps, connected.ref)
    for (let i = 0; i < 2; i++) {
      await endToken(connected)
      const refreshed = await freshAccess(deps, connected.ref)
      assert.equal(refreshed.secrets['refreshToken'], secrets['refreshToken'])
      assert.notEqual(refreshed.secrets['accessToken'], secrets['accessToken'])
    }
  })

  test('a token that is not due is not refreshed', async () => {
    const connected = await connect()
    const before = oauth.refreshes
    for (let i = 0; i < 3; i++) await whoami(connected)
    assert.equal(oauth.refreshes, before)
  })

  test('a token that the provider revoked early is refreshed once for ten concurrent calls', async () => {
    const connected = await connect()
    const { secrets } = await freshAccess(deps, connected.ref)
    oauth.accessTokens.delete(secrets['accessToken'] ?? '')
    const before = oauth.refreshes
    const responses = await Promise.all(Array.from({ length: 10 }, () => whoami(connected)))
    assert.equal(responses.length, 10)
    assert.equal(oauth.refreshes - before, 1)
  })

  test('another worker refreshes the token after the lease of a stopped worker expires', async () => {
    const connected = await connect()
    await endToken(connected)
    await db.execute(sql`
      update connections set lease_token = ${randomUUID()}, lease_until = ${new Date(Date.now() + 400)}
      where id = ${connected.ref.id}`)
    const before = oauth.refreshes
    assert.equal((await whoami(connected)).status, 200)
    assert.equal(oauth.refreshes - before, 1)
  })
})

describe('a grant that has ended', () => {
  test('an ended grant breaks the connection, fails its callers, and is not refreshed again', async () => {
    const connected = await connect()
    await endToken(connected)
    const { refreshTokens } = oauth
    oauth.refreshTokens = new Set()
    const before = oauth.refreshes
    const failures = await Promise.allSettled([whoami(connected), whoami(connected)])
    oauth.refreshTokens = refreshTokens
    for (const failure of failures) {
      assert.equal(failure.status, 'rejected')
      assert.match(String(failure.reason), /Jira no longer accepts the authorization\. Connect again\./)
    }
    await assert.rejects(whoami(connected))
    assert.equal(oauth.refreshes - before, 1)
    const { status, lastError } = await read(connected)
    assert.deepEqual([status, lastError], ['error', 'Jira no longer accepts the authorization. Connect again.'])

    const { body } = await app.call('GET', `${api}/connections/${connected.ref.id}/oauth`, { as: connected.owner })
    const json = oauth.consent(body.data.oauthUrl)
    await app.call('POST', `${api}/connections/${connected.ref.id}/oauth`, { as: connected.owner, json })
    assert.equal((await whoami(connected)).status, 200)
  })

  test('an ended grant is detected for a token without expiry', async () => {
    const connected = await connect('gmail', googleOauth)
    await db.execute(
      sql`update connections set refresh_due_at = null, token_expires_at = null where id = ${connected.ref.id}`,
    )
    const { secrets } = await freshAccess(deps, connected.ref)
    googleOauth.accessTokens.delete(secrets['accessToken'] ?? '')
    googleOauth.refreshTokens.delete(secrets['refreshToken'] ?? '')
    await assert.rejects(callConnection(deps, connected.ref, { method: 'GET', path: '/gmail/v1/users/me/profile' }))
    assert.equal((await read(connected)).status, 'error')
  })
})

test('a token without refresh token is used until it expires, and then breaks the connection', async () => {
  oauth.options.withoutRefresh = true
  const connected = await connect()
  delete oauth.options.withoutRefresh
  const row = await db.row<{ isSame: boolean }>(
    sql`select refresh_due_at = token_expires_at as is_same from connections where id = ${connected.ref.id}`,
  )
  assert.equal(row?.isSame, true)
  assert.equal((await whoami(connected)).status, 200)
  const before = oauth.refreshes
  await endToken(connected)
  await assert.rejects(whoami(connected), { code: 'CONFLICT' })
  assert.equal(oauth.refreshes, before)
  assert.equal((await read(connected)).status, 'error')
})

describe('token endpoint failures during a refresh', () => {
  const failures: [string, Reply][] = [
    ['responds with 500', { status: 500, body: '<h1>planted error page</h1>' }],
    ['responds with garbage', { body: 'planted garbage' }],
    ['limits the rate', { status: 429, body: { error: 'rate_limited' } }],
    ['rejects the client', { status: 401, body: { error: 'invalid_client' } }],
    ['closes the connection', 'hang up'],
  ]
  for (const [what, reply] of failures) {
    test(`a token endpoint that ${what} breaks no connection: the token is used until it expires, without another attempt`, async () => {
      const connected = await connect()
      await makeDue(connected)
      let requests = 0
      oauth.onToken = () => {
        requests += 1
        return Promise.resolve(reply)
      }
      try {
        for (let i = 0; i < 3; i++) assert.equal((await whoami(connected)).status, 200)
        assert.equal(requests, 1)
        await db.execute(sql`update connections set token_expires_at = now() where id = ${connected.ref.id}`)
        await assert.rejects(whoami(connected), { code: 'SERVICE_UNAVAILABLE' })
        assert.equal(requests, 1)
      } finally {
        delete oauth.onToken
      }
      assert.equal((await read(connected)).status, 'active')
      await makeDue(connected)
      assert.equal((await whoami(connected)).status, 200)
      assert.ok(!app.logLines.join('').includes('planted error page'))
    })
  }
})

test('an outage of the token endpoint does not break a connection whose token the provider has ended, and the token is not used for the account check', async () => {
  const connected = await connect()
  const { secrets } = await freshAccess(deps, connected.ref)
  oauth.accessTokens.delete(secrets['accessToken'] ?? '')
  const account = '/oauth/token/accessible-resources'
  const before = [jira.count('GET', myself), jira.count('GET', account)]
  oauth.onToken = () => Promise.resolve({ status: 503, body: {} })
  try {
    await assert.rejects(whoami(connected), {
      code: 'SERVICE_UNAVAILABLE',
      message: 'Jira did not issue a new token. Try again in a minute.',
    })
  } finally {
    delete oauth.onToken
  }
  assert.deepEqual([jira.count('GET', myself) - 1, jira.count('GET', account)], before)
  assert.equal((await read(connected)).status, 'active')
  assert.equal((await whoami(connected)).status, 200)
})

test('a rotated token survives a statement that fails', async () => {
  const connected = await connect()
  await endToken(connected)
  // As a lost connection or a failover: one update fails, the next one succeeds.
  await db.execute(sql`create sequence failed_updates`)
  await db.execute(sql`
    create function fail_once() returns trigger language plpgsql as $$
    begin
      if new.secrets is distinct from old.secrets and nextval('failed_updates') = 1 then
        raise exception using errcode = '57P01', message = 'terminating connection due to administrator command';
      end if;
      return new;
    end $$`)
  await db.execute(sql`create trigger fail_once before update on connections for each row execute function fail_once()`)
  try {
    assert.equal((await whoami(connected)).status, 200)
    const row = await db.row<{ n: bigint }>(sql`select last_value as n from failed_updates`)
    assert.ok(Number(row?.n) >= 2)
  } finally {
    await db.execute(sql`drop trigger fail_once on connections`)
  }
  assert.equal((await whoami(connected)).status, 200)
  assert.equal((await read(connected)).status, 'active')
})

test('a call that the provider has carried out succeeds although its time cannot be stored', async () => {
  const connected = await connect()
  await db.execute(sql`
    create function reject_use() returns trigger language plpgsql as $$
    begin
      if new.last_used_at is distinct from old.last_used_at then raise exception 'broken'; end if;
      return new;
    end $$`)
  await db.execute(
    sql`create trigger reject_use before update on connections for each row execute function reject_use()`,
  )
  try {
    assert.equal((await whoami(connected)).status, 200)
  } finally {
    await db.execute(sql`drop trigger reject_use on connections`)
  }
  assert.equal((await read(connected)).lastUsedAt, null)
})

test('a rotated token is stored although the connection begins to wait for the acceptance of changed tools', async () => {
  const connected = await connect()
  await makeDue(connected)
  oauth.onToken = async () => {
    delete oauth.onToken
    // As another call with the token that has not expired: an MCP server offers other tools.
    await db.execute(
      sql`update connections set status = 'error', last_error = 'Review.' where id = ${connected.ref.id}`,
    )
    return undefined
  }
  await assert.rejects(freshAccess(deps, connected.ref), { code: 'CONFLICT', message: 'Review.' })
  const { status, lastError } = await read(connected)
  assert.deepEqual([status, lastError], ['error', 'Review.'])
  await db.execute(sql`update connections set status = 'active', last_error = null where id = ${connected.ref.id}`)
  await endToken(connected)
  assert.equal((await whoami(connected)).status, 200)
})

test('a token that has not expired is used while the worker that refreshes it is dead, unless the provider rejects it', async () => {
  const connected = await connect()
  const lease = (seconds: number) =>
    db.execute(sql`
      update connections
      set refresh_due_at = now(), lease_token = ${randomUUID()}, lease_until = now() + make_interval(secs => ${seconds})
      where id = ${connected.ref.id}`)
  await lease(60)
  const refreshes = oauth.refreshes
  assert.equal((await whoami(connected)).status, 200)
  const { secrets } = await freshAccess(deps, connected.ref)
  assert.equal(oauth.refreshes, refreshes)
  oauth.accessTokens.delete(secrets['accessToken'] ?? '')
  await lease(1)
  assert.equal((await whoami(connected)).status, 200)
  assert.equal(oauth.refreshes - refreshes, 1)
})

describe('a slow provider', () => {
  const impatient = { ...deps, requestTimeoutMs: 200 }

  test('a token request times out and does not break the connection', async () => {
    const connected = await connect()
    await endToken(connected)
    oauth.onToken = () => new Promise(() => undefined)
    try {
      await assert.rejects(whoami(connected, impatient), { code: 'SERVICE_UNAVAILABLE' })
    } finally {
      delete oauth.onToken
    }
    assert.equal((await read(connected)).status, 'active')
    await makeDue(connected)
    assert.equal((await whoami(connected)).status, 200)
  })

  test('an API request times out, and the signal of the caller aborts it', async () => {
    const connected = await connect()
    jira.on('GET', '/ex/jira/cloud-1/slow', () => new Promise(() => undefined))
    const slow = { method: 'GET', path: '/slow' } as const
    await assert.rejects(callConnection(impatient, connected.ref, slow), /Jira could not be reached: .* in time/)
    const cancel = new AbortController()
    const waiting = callConnection(deps, connected.ref, slow, { signal: cancel.signal })
    cancel.abort(new Error('the turn was cancelled'))
    await assert.rejects(waiting, /the turn was cancelled/)
    assert.equal((await read(connected)).status, 'active')
  })
})

describe('a revoked connection', () => {
  test('a connection that is revoked during a refresh stays revoked, and the late token is revoked', async () => {
    const connected = await connect('gmail', googleOauth)
    await endToken(connected)
    let refreshed = ''
    googleOauth.onToken = async () => {
      delete googleOauth.onToken
      const { status } = await app.call('DELETE', `${api}/connections/${connected.ref.id}`, { as: connected.owner })
      assert.equal(status, 200)
      return undefined
    }
    const before = revoked.length
    await assert.rejects(freshAccess(deps, connected.ref), { code: 'CONFLICT' })
    refreshed = googleOauth.issued.at(-1) ?? ''
    assert.equal(revoked.length - before, 2, 'once by the deletion, once for the late token')
    assert.ok(refreshed !== '')
    const row = await db.row<{ status: string; secrets: string | null }>(
      sql`select status, secrets from connections where id = ${connected.ref.id}`,
    )
    assert.deepEqual(row, { status: 'revoked', secrets: null })
  })

  test('a revoked connection is never refreshed or used again', async () => {
    const connected = await connect()
    await app.call('DELETE', `${api}/connections/${connected.ref.id}`, { as: connected.owner })
    const [before, calls] = [oauth.refreshes, jira.count('GET', myself)]
    await assert.rejects(whoami(connected), { code: 'CONFLICT', message: 'The connection was revoked.' })
    assert.deepEqual([oauth.refreshes, jira.count('GET', myself)], [before, calls])
  })
})

describe('an API key that the provider no longer accepts', () => {
  const connectBot = async (): Promise<Connected> => {
    const owner = await app.createOrg()
    telegram.on('GET', '/bot*/getMe', { body: { ok: true, result: { id: 1, username: 'bot' } } })
    const started = await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: 'telegram' } })
    const { id } = started.body.data.connection
    const json = { credentials: { botToken: '1:planted-bot-token' } }
    assert.equal((await app.call('POST', `${api}/connections/${id}/credentials`, { as: owner, json })).status, 200)
    return { owner, ref: { orgId: owner.orgId, id } }
  }
  const unauthorized: Reply = { status: 401, body: { ok: false, description: 'Unauthorized' } }
  const send = ({ ref }: Connected) =>
    callConnection(deps, ref, { method: 'POST', path: '/getChat', json: { chat_id: 1 } })

  test('a rejected API key breaks the connection', async () => {
    const connected = await connectBot()
    telegram.on('GET', '/bot*/getMe', unauthorized)
    telegram.on('POST', '/bot*/getChat', unauthorized)
    await assert.rejects(send(connected), (error: Error) => {
      assert.equal(error.message, 'Telegram responded with status 401: Unauthorized')
      return true
    })
    const { status, lastError } = await read(connected)
    assert.deepEqual([status, lastError], ['error', 'Telegram no longer accepts the credentials. Connect again.'])
    await assert.rejects(send(connected), { code: 'CONFLICT' })
  })

  test('a 401 for one request does not break the connection while the account check succeeds', async () => {
    const connected = await connectBot()
    telegram.on('POST', '/bot*/getChat', unauthorized)
    await assert.rejects(send(connected))
    assert.equal((await read(connected)).status, 'active')
  })
})

test('a token with a lifetime below one second is used, and not refreshed without end', async () => {
  googleOptions.expiresIn = 0.5
  const { ref } = await connect('gmail', googleOauth)
  const before = google.count('POST', '/token')
  await freshAccess(deps, ref)
  googleOptions.expiresIn = 3_600
  assert.ok(google.count('POST', '/token') - before <= 1)
})
