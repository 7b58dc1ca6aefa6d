import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor, TestApp } from '../../../test/harness.ts'
import { rememberKeys } from '../../../test/support/processes/remembered-keys.ts'
import { fromBase32, totp } from '../../../test/support/totp.ts'
import { systemActor } from '../actor.ts'
import { addMember } from '../members/members.ts'
import { hashPassword, setPassword } from './passwords.ts'
import { deleteExpired } from './queries.ts'
import { createSignInLink } from './links.ts'

rememberKeys()
const app = await startTestApp({ RATE_LIMIT_SIGN_IN: '0' })
const second = await app.secondServer({ RATE_LIMIT_SIGN_IN: '0' })
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

const withPassword = async (actor: TestActor): Promise<TestActor> => {
  await app.db.transaction('all orgs', (db) => setPassword(db, actor.userId, passwordHash))
  return actor
}
const newOwner = async (): Promise<TestActor> => withPassword(await app.createOrg())

/** A browser that keeps cookies and sends the Origin of its page. */
const browser = (server: TestApp = app) => {
  const jar = new Map<string, string>()
  const call = async (
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await server.call(method, `/api/v1${path}`, {
      ...(json === undefined ? {} : { json }),
      headers: { cookie, origin: server.url, ...headers },
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/max-age=0/i.test(set)) jar.delete(name)
      else jar.set(name, value)
    }
    return answer
  }
  return { jar, call }
}
type Browser = ReturnType<typeof browser>

const signedIn = async (actor: TestActor, server: TestApp = app): Promise<Browser> => {
  const person = browser(server)
  const answer = await person.call('POST', '/auth/sign-in', { email: actor.email, password })
  assert.equal(answer.status, 200, answer.text)
  return person
}

const linkOf = async (actor: TestActor): Promise<string> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, actor.userId, null))
  return path.replace('/sign-in#link=', '')
}

const statuses = (answers: Answer[]): number[] => answers.map(({ status }) => status).toSorted((a, b) => a - b)

const enableTwoFactor = async (person: Browser): Promise<{ secret: string; backupCodes: string[] }> => {
  const begun = await person.call('POST', '/auth/two-factor', { password })
  assert.equal(begun.status, 201, begun.text)
  const { secret } = begun.body.data
  const confirmed = await person.call('POST', '/auth/two-factor/confirm', { code: totp(secret) })
  assert.equal(confirmed.status, 200, confirmed.text)
  return begun.body.data
}

describe('signing in by password', () => {
  test('authenticates requests with the permissions of the person, by default in the org they joined first', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    const me = await person.call('GET', '/me')
    assert.equal(me.status, 200)
    assert.equal(me.body.data.user.id, owner.userId)
    assert.equal(me.body.data.org.id, owner.orgId)
    assert.equal(me.body.data.workspace.id, owner.workspaceId)
    assert.equal(me.body.data.apiKey, null)
    assert.ok(me.body.data.permissions.includes('audit:read'))
  })

  test('sets a cookie that is HttpOnly and SameSite=Lax, and with https Secure with the __Host- prefix', async () => {
    const owner = await newOwner()
    const answer = await app.call('POST', '/api/v1/auth/sign-in', { json: { email: owner.email, password } })
    const [cookie = ''] = answer.headers.getSetCookie()
    assert.match(cookie, /^atrium\.session_token=/)
    assert.match(cookie, /; HttpOnly/)
    assert.match(cookie, /; SameSite=Lax/)
    assert.match(cookie, /; Path=\//)
    assert.doesNotMatch(cookie, /Secure/)
    const tls = await app.secondServer({ RATE_LIMIT_SIGN_IN: '0', BASE_URL: 'https://atrium.example.com' })
    const behindTls = await tls.call('POST', '/api/v1/auth/sign-in', { json: { email: owner.email, password } })
    const secure = behindTls.headers.getSetCookie()
    assert.equal(secure.length, 2)
    for (const one of secure) {
      assert.match(one, /^__Host-atrium\.(session_token|browser)=/)
      assert.match(one, /; Secure/)
      assert.match(one, /; Path=\/(;|$)/)
      assert.match(one, /; HttpOnly/)
      assert.doesNotMatch(one, /Domain/i)
    }
    const [name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(secure[0] ?? '')?.slice(1) ?? []
    const me = (cookie: string) => tls.call('GET', '/api/v1/me', { headers: { cookie } })
    assert.equal((await me(`${name}=${value}`)).status, 200)
    assert.equal(
      (await me(`atrium.session_token=${value}`)).status,
      401,
      'a cookie without the prefix is ignored on https',
    )
    const session = await tls.call('GET', '/api/v1/auth/session', { headers: { cookie: `${name}=${value}` } })
    assert.equal(session.body.data.user.id, owner.userId)
    const headers = { cookie: `${name}=${value}`, origin: 'https://atrium.example.com' }
    const out = await tls.call('POST', '/api/v1/auth/sign-out', { headers })
    assert.equal(out.status, 200)
    assert.ok(out.headers.getSetCookie().some((one) => one.startsWith(`${name}=;`) && /; Secure/.test(one)))
    assert.equal((await me(`${name}=${value}`)).status, 401)
  })

  test('compares the email address without case', async () => {
    const owner = await newOwner()
    const answer = await browser().call('POST', '/auth/sign-in', { email: ` ${owner.email.toUpperCase()} `, password })
    assert.equal(answer.status, 200)
  })

  test('gives the same response for a wrong password, an unknown address and a person without a password', async () => {
    const owner = await newOwner()
    const without = await app.createOrg()
    const answers = await Promise.all(
      [
        { email: owner.email, password: 'wrong password' },
        { email: 'nobody@example.com', password },
        { email: without.email, password },
      ].map((json) => app.call('POST', '/api/v1/auth/sign-in', { json })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    for (const answer of answers) assert.deepEqual(answer.headers.getSetCookie(), [])
  })

  test('rejects sign-ins from a client address after ten attempts a minute', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_SIGN_IN: '10' })
    const attempt = () =>
      limited.call('POST', '/api/v1/auth/sign-in', { json: { email: 'a@example.com', password: 'x' } })
    const answers: number[] = []
    for (let i = 0; i < 11; i++) answers.push((await attempt()).status)
    assert.deepEqual(
      answers.slice(0, 10),
      Array.from({ length: 10 }, () => 401),
    )
    assert.equal(answers[10], 429)
  })
})

describe('sessions', () => {
  test('GET /auth/session returns the person and their orgs, or null without a session', async () => {
    const owner = await newOwner()
    assert.equal((await browser().call('GET', '/auth/session')).body.data, null)
    const { body } = await (await signedIn(owner)).call('GET', '/auth/session')
    const { id, email, hasPassword, twoFactorEnabled } = body.data.user
    assert.deepEqual(
      { id, email, hasPassword, twoFactorEnabled },
      { id: owner.userId, email: owner.email, hasPassword: true, twoFactorEnabled: false },
    )
    assert.deepEqual(body.data.orgs, [{ id: owner.orgId, name: 'Test org', logoUrl: null, role: 'owner' }])
    assert.ok(Date.parse(body.data.expiresAt) > Date.now() + 6 * 86_400_000)
  })

  test('ends the session at once on every process at sign-out', async () => {
    const person = await signedIn(await newOwner())
    const kept = new Map(person.jar)
    const elsewhere = browser(second)
    for (const [name, value] of kept) elsewhere.jar.set(name, value)
    assert.equal((await elsewhere.call('GET', '/me')).status, 200)
    const answer = await person.call('POST', '/auth/sign-out')
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual([...person.jar.keys()], ['atrium.browser'], 'the device cookie is no credential')
    assert.equal((await elsewhere.call('GET', '/me')).status, 401)
  })

  test('responds with UNAUTHORIZED to a modified or forged session cookie', async () => {
    const person = await signedIn(await newOwner())
    const cookie = person.jar.get('atrium.session_token') ?? ''
    const token = decodeURIComponent(cookie).split('.')[0] ?? ''
    const forged = createHmac('sha256', 'another secret').update(token).digest('base64')
    for (const value of [token, `${token}.`, encodeURIComponent(`${token}.${forged}`), `x${cookie}`, '%', '.', '']) {
      const { status } = await app.call('GET', '/api/v1/me', { headers: { cookie: `atrium.session_token=${value}` } })
      assert.equal(status, 401, value)
    }
  })

  test('responds with UNAUTHORIZED to an expired session', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    await app.db.execute(sql`update sign_in_sessions set expires_at = now() where user_id = ${owner.userId}`)
    assert.equal((await person.call('GET', '/me')).status, 401)
    assert.equal((await person.call('GET', '/auth/session')).body.data, null)
  })

  test('rejects an invalid Authorization header even with a valid session cookie', async () => {
    const person = await signedIn(await newOwner())
    assert.equal((await person.call('GET', '/me', undefined, { authorization: 'Bearer nonsense' })).status, 401)
  })

  test('selects the org by X-Org-Id, and gives the same response for another, a missing and a malformed org', async () => {
    const first = await newOwner()
    const other = await app.createOrg('Other')
    const stranger = await app.createOrg()
    await app.db.transaction('all orgs', (db) =>
      addMember(db, systemActor(other.orgId, 'test'), { email: first.email, role: 'member' }),
    )
    const person = await signedIn(first)
    const orgOf = async (id: string) => person.call('GET', '/me', undefined, { 'x-org-id': id })
    assert.equal((await orgOf(other.orgId)).body.data.org.name, 'Other')
    assert.equal((await orgOf(other.orgId)).body.data.role, 'member')
    assert.equal((await orgOf(first.orgId)).body.data.role, 'owner')
    const answers = await Promise.all([stranger.orgId, first.userId, 'nonsense'].map(orgOf))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('selects the workspace by X-Workspace-Id for sessions as for API keys', async () => {
    const owner = await newOwner()
    const stranger = await app.createOrg()
    const person = await signedIn(owner)
    const named = (id: string) => person.call('GET', '/me', undefined, { 'x-workspace-id': id })
    assert.equal((await named(owner.workspaceId)).body.data.workspace.id, owner.workspaceId)
    const answers = await Promise.all([stranger.workspaceId, owner.userId, 'nonsense'].map(named))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('applies a removal and a changed role to sessions at once', async () => {
    const owner = await newOwner()
    const member = await withPassword(await app.createUser(owner, 'admin'))
    const person = await signedIn(member, second)
    assert.ok((await person.call('GET', '/me')).body.data.permissions.includes('members:write'))
    await app.db.execute(sql`update members set role = 'member' where user_id = ${member.userId}`)
    assert.ok(!(await person.call('GET', '/me')).body.data.permissions.includes('members:write'))
    const { body } = await app.call('GET', '/api/v1/members', { as: owner })
    const { id } = body.data.items.find((item: { userId: string }) => item.userId === member.userId)
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: owner })).status, 200)
    assert.equal((await person.call('GET', '/me')).status, 401)
    assert.equal((await app.call('GET', '/api/v1/me', { as: member })).status, 401)
  })
})

describe('requests from pages of other origins', () => {
  test('requires the Origin of this server for changes by cookie, but not for reads', async () => {
    const person = await signedIn(await newOwner())
    const create = (origin: Record<string, string>) => person.call('POST', '/workspaces', { name: 'W' }, origin)
    assert.equal((await create({})).status, 201)
    for (const origin of [
      'https://evil.example',
      'null',
      '',
      `${app.url}.evil.example`,
      app.url.replace('http', 'https'),
    ]) {
      const { status, body } = await create({ origin })
      assert.equal(status, 403, origin)
      assert.equal(body.error.code, 'FORBIDDEN')
    }
    const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const without = await app.call('POST', '/api/v1/workspaces', { json: { name: 'W' }, headers: { cookie } })
    assert.equal(without.status, 403)
    assert.equal((await app.call('GET', '/api/v1/workspaces', { headers: { cookie } })).status, 200)
  })

  test('accepts the origin of BASE_URL', async () => {
    const tls = await app.secondServer({ RATE_LIMIT_SIGN_IN: '0', BASE_URL: 'https://atrium.example.com' })
    const person = await signedIn(await newOwner(), tls)
    const headers = { origin: 'https://atrium.example.com' }
    assert.equal((await person.call('POST', '/workspaces', { name: 'W' }, headers)).status, 201)
  })

  test('rejects sign-in and sign-out from other origins', async () => {
    const owner = await newOwner()
    const origin = 'https://evil.example'
    const person = await signedIn(owner)
    const answers = [
      await person.call('POST', '/auth/sign-in', { email: owner.email, password }, { origin }),
      await person.call('POST', '/auth/sign-in/link', { token: 'x' }, { origin }),
      await person.call('POST', '/auth/sign-out', undefined, { origin }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403, 403],
    )
    assert.equal((await person.call('GET', '/me')).status, 200)
  })
})

describe('signing in by a link', () => {
  test('accepts a sign-in link once, and only the newest one', async () => {
    const owner = await app.createOrg()
    const older = await linkOf(owner)
    const token = await linkOf(owner)
    assert.equal((await browser().call('POST', '/auth/sign-in/link', { token: older })).status, 401)
    const races = await Promise.all(
      Array.from({ length: 4 }, () => browser().call('POST', '/auth/sign-in/link', { token })),
    )
    assert.deepEqual(statuses(races), [200, 401, 401, 401])
    assert.equal((await browser().call('POST', '/auth/sign-in/link', { token })).status, 401)
  })

  test('rejects a sign-in link after 24 hours, and stores only its hash', async () => {
    const owner = await app.createOrg()
    const token = await linkOf(owner)
    const row = await app.db.row<{ hours: number; text: string }>(sql`
      select round(extract(epoch from expires_at - now()) / 3600)::int as hours, l::text as text
      from sign_in_links l where user_id = ${owner.userId}`)
    assert.equal(row?.hours, 24)
    assert.ok(!row.text.includes(token))
    await app.db.execute(sql`update sign_in_links set expires_at = now() where user_id = ${owner.userId}`)
    assert.equal((await browser().call('POST', '/auth/sign-in/link', { token })).status, 401)
  })

  test('lets a person who signed in by a link set the first password and step up with it', async () => {
    const owner = await app.createOrg()
    const person = browser()
    await person.call('POST', '/auth/sign-in/link', { token: await linkOf(owner) })
    assert.equal((await person.call('GET', '/auth/session')).body.data.user.hasPassword, false)
    assert.equal((await person.call('POST', '/auth/password', { newPassword: 'short' })).status, 400)
    const chosen = await person.call('POST', '/auth/password', { newPassword: password })
    assert.equal(chosen.status, 200, chosen.text)
    assert.equal((await person.call('POST', '/auth/step-up', { password })).status, 200)
  })
})

describe('changing the password', () => {
  test('changes the password with the current one, ends other sessions and keeps this one', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    const other = await signedIn(owner)
    const next = 'another good password'
    const wrong = await person.call('POST', '/auth/password', { currentPassword: 'wrong', newPassword: next })
    assert.equal(wrong.status, 403)
    assert.equal((await person.call('POST', '/auth/password', { newPassword: next })).status, 403)
    const changed = await person.call('POST', '/auth/password', { currentPassword: password, newPassword: next })
    assert.equal(changed.status, 200, changed.text)
    assert.equal((await person.call('GET', '/me')).status, 200)
    assert.equal((await other.call('GET', '/me')).status, 401)
    assert.equal((await browser().call('POST', '/auth/sign-in', { email: owner.email, password })).status, 401)
    const again = await browser().call('POST', '/auth/sign-in', { email: owner.email, password: next })
    assert.equal(again.status, 200)
  })

  test('changes it once when two requests of a session arrive at the same time, and rejects the other', async () => {
    const owner = await newOwner()
    for (let round = 0; round < 3; round += 1) {
      const person = await signedIn(owner)
      const json = { currentPassword: password, newPassword: password }
      const answers = await Promise.all([1, 2, 3].map(() => person.call('POST', '/auth/password', json)))
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      assert.equal(statuses[0], 200)
      assert.ok(
        statuses.slice(1).every((status) => status === 401 || status === 403),
        String(statuses),
      )
    }
  })

  test('accepts a password of 8 emoji and rejects one of 129 letters', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    const change = (newPassword: string) =>
      person.call('POST', '/auth/password', { currentPassword: password, newPassword })
    assert.equal((await change('🐎🔋🐎🔋🐎🔋🐎')).status, 400)
    assert.equal((await change('x'.repeat(129))).status, 400)
    assert.equal((await change('🐎'.repeat(128))).status, 200)
    const answer = await browser().call('POST', '/auth/sign-in', { email: owner.email, password: '🐎'.repeat(128) })
    assert.equal(answer.status, 200)
  })

  test('rejects a password change by an API key, which would allow step-up with a stolen key', async () => {
    const owner = await app.createOrg()
    for (const [path, json] of [
      ['/auth/password', { newPassword: password }],
      ['/auth/two-factor', { password }],
      ['/auth/two-factor/confirm', { code: '123456' }],
    ] as const) {
      assert.equal((await app.call('POST', `/api/v1${path}`, { as: owner, json })).status, 403, path)
    }
  })
})

describe('two-factor authentication', () => {
  test('sets up two-factor authentication with the password and a code, and requires it at every later sign-in', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    assert.equal((await person.call('POST', '/auth/two-factor', { password: 'wrong' })).status, 403)
    const begun = await person.call('POST', '/auth/two-factor', { password })
    const { secret, otpauthUri, backupCodes } = begun.body.data
    assert.match(otpauthUri, /^otpauth:\/\/totp\/Atrium:/)
    assert.equal(new URL(otpauthUri).searchParams.get('secret'), secret)
    assert.equal(new Set(backupCodes).size, 10)
    assert.equal((await person.call('POST', '/auth/two-factor/confirm', { code: '000000' })).status, 401)
    assert.equal((await person.call('GET', '/auth/session')).body.data.user.twoFactorEnabled, false)
    const plain = await browser().call('POST', '/auth/sign-in', { email: owner.email, password })
    assert.equal(plain.body.data.twoFactorRequired, false, 'not on before it is confirmed')

    assert.equal((await person.call('POST', '/auth/two-factor/confirm', { code: totp(secret) })).status, 200)
    assert.equal((await person.call('GET', '/auth/session')).body.data.user.twoFactorEnabled, true)
    assert.equal((await person.call('POST', '/auth/two-factor', { password })).status, 409)

    const again = browser()
    const halfway = await again.call('POST', '/auth/sign-in', { email: owner.email, password })
    assert.equal(halfway.body.data.twoFactorRequired, true)
    assert.ok(!again.jar.has('atrium.session_token'))
    assert.equal((await again.call('GET', '/me')).status, 401)
    assert.equal((await again.call('POST', '/auth/sign-in/totp', { code: '000000' })).status, 401)
    const done = await again.call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })
    assert.equal(done.status, 200, done.text)
    assert.equal((await again.call('GET', '/me')).status, 200)
  })

  test('responds with CONFLICT to the confirmation of a second factor that is on, and audits nothing', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    const begun = await person.call('POST', '/auth/two-factor', { password })
    const { secret } = begun.body.data
    // Codes of two time steps, so that neither is rejected because the other one was used.
    const confirm = (shift: number): Promise<Answer> =>
      person.call('POST', '/auth/two-factor/confirm', { code: totp(secret, shift) })
    assert.equal((await confirm(0)).status, 200)
    for (const shift of [1, 0]) assert.equal((await confirm(shift)).status, 409)
    const entries = await app.call('GET', '/api/v1/audit-log?action=user.two-factor-enabled', { as: owner })
    assert.equal(entries.body.data.items.length, 1)
  })

  test('accepts a code once, for sign-in and step-up together', async () => {
    const owner = await newOwner()
    const { secret } = await enableTwoFactor(await signedIn(owner))
    const code = totp(secret, 1)
    const halfway = async (): Promise<Browser> => {
      const person = browser()
      await person.call('POST', '/auth/sign-in', { email: owner.email, password })
      return person
    }
    const people = await Promise.all([halfway(), halfway(), halfway()])
    const races = await Promise.all(people.map((person) => person.call('POST', '/auth/sign-in/totp', { code })))
    assert.deepEqual(statuses(races), [200, 401, 401])
    const looks = await Promise.all(people.map((person) => person.call('GET', '/me')))
    assert.deepEqual(statuses(looks), [200, 401, 401])
    const stepUp = await app.call('POST', '/api/v1/auth/step-up', { as: owner, json: { totpCode: code } })
    assert.equal(stepUp.status, 403)
    const older = await app.call('POST', '/api/v1/auth/step-up', { as: owner, json: { totpCode: totp(secret) } })
    assert.equal(older.status, 403, 'a code older than the last accepted one')
  })

  test('ends sign-ins that wait for a code when the password changes', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    const { secret } = await enableTwoFactor(person)
    const halfway = async (): Promise<Browser> => {
      const one = browser()
      const { body } = await one.call('POST', '/auth/sign-in', { email: owner.email, password })
      assert.equal(body.data.twoFactorRequired, true)
      return one
    }
    const [before, later] = [await halfway(), await halfway()]
    const change = { currentPassword: password, newPassword: password }
    assert.equal((await person.call('POST', '/auth/password', change)).status, 200)
    assert.equal((await before.call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })).status, 401)
    const last = await halfway()
    await app.db.transaction('all orgs', (db) => setPassword(db, owner.userId, passwordHash))
    for (const one of [later, last]) {
      assert.equal((await one.call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })).status, 401)
    }
    assert.equal((await (await halfway()).call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })).status, 200)
  })

  test('ends a sign-in after five wrong codes', async () => {
    const owner = await newOwner()
    const { secret } = await enableTwoFactor(await signedIn(owner))
    const person = browser()
    await person.call('POST', '/auth/sign-in', { email: owner.email, password })
    for (let i = 0; i < 5; i++) {
      assert.equal((await person.call('POST', '/auth/sign-in/totp', { code: '000000' })).status, 401)
    }
    assert.equal((await person.call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })).status, 401)
    assert.equal((await person.call('GET', '/me')).status, 401)
  })

  test('compares ten wrong codes at most when twenty arrive at the same time', async () => {
    const owner = await newOwner()
    await enableTwoFactor(await signedIn(owner))
    const guesses = Array.from({ length: 20 })
    const people = guesses.map(() => browser())
    for (const one of people) await one.call('POST', '/auth/sign-in', { email: owner.email, password })
    const wrong = { code: '000000' }
    const codes = await Promise.all(people.map((person) => person.call('POST', '/auth/sign-in/totp', wrong)))
    assert.deepEqual(statuses(codes), [...guesses.fill(401, 0, 10).fill(429, 10)])
    await app.db.execute(sql`update two_factors set locked_until = now() where user_id = ${owner.userId}`)
    const json = { totpCode: '000000' }
    const proofs = await Promise.all(people.map(() => app.call('POST', '/api/v1/auth/step-up', { as: owner, json })))
    assert.deepEqual(statuses(proofs), [...guesses.fill(403, 0, 10).fill(429, 10)])
  })

  test('locks the second factor for sign-in and step-up after ten wrong codes in a row', async () => {
    const owner = await newOwner()
    const { secret } = await enableTwoFactor(await signedIn(owner))
    const stepUp = (totpCode: string) => app.call('POST', '/api/v1/auth/step-up', { as: owner, json: { totpCode } })
    for (let i = 0; i < 10; i++) assert.equal((await stepUp('000000')).status, 403)
    assert.equal((await stepUp(totp(secret, 1))).status, 429)
    const person = browser()
    await person.call('POST', '/auth/sign-in', { email: owner.email, password })
    assert.equal((await person.call('POST', '/auth/sign-in/totp', { code: totp(secret, 1) })).status, 429)
    await app.db.execute(sql`update two_factors set locked_until = now() where user_id = ${owner.userId}`)
    assert.equal((await stepUp(totp(secret, 1))).status, 200)
  })

  test('accepts a backup code once in place of a code', async () => {
    const owner = await newOwner()
    const { backupCodes } = await enableTwoFactor(await signedIn(owner))
    const attempt = async (): Promise<number> => {
      const person = browser()
      await person.call('POST', '/auth/sign-in', { email: owner.email, password })
      return (await person.call('POST', '/auth/sign-in/totp', { backupCode: backupCodes[0] })).status
    }
    assert.equal(await attempt(), 200)
    assert.equal(await attempt(), 401)
  })

  test('requires the second factor for sign-in links too', async () => {
    const owner = await newOwner()
    await enableTwoFactor(await signedIn(owner))
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
    const person = browser()
    const answer = await person.call('POST', '/auth/sign-in/link', { token: path.split('=')[1] })
    assert.equal(answer.body.data.twoFactorRequired, true)
    assert.equal((await person.call('GET', '/me')).status, 401)
  })

  test('removes two-factor authentication only with step-up', async () => {
    const owner = await newOwner()
    const person = await signedIn(owner)
    await enableTwoFactor(person)
    assert.equal((await person.call('DELETE', '/auth/two-factor')).status, 403)
    const { body } = await person.call('POST', '/auth/step-up', { password })
    const headers = { 'x-step-up-token': body.data.token }
    const removed = await person.call('DELETE', '/auth/two-factor', undefined, headers)
    assert.equal(removed.status, 200, removed.text)
    assert.equal((await person.call('DELETE', '/auth/two-factor', undefined, headers)).status, 409)
    const plain = await browser().call('POST', '/auth/sign-in', { email: owner.email, password })
    assert.equal(plain.body.data.twoFactorRequired, false)
  })

  test('keeps two-factor authentication on when an API key is used with the password to remove it', async () => {
    const owner = await newOwner()
    await enableTwoFactor(await signedIn(owner))
    const stepped = await app.call('POST', '/api/v1/auth/step-up', { as: owner, json: { password } })
    const headers = { 'x-step-up-token': stepped.body.data.token }
    const removed = await app.call('DELETE', '/api/v1/auth/two-factor', { as: owner, headers })
    assert.equal(removed.status, 403, removed.text)
    const again = await browser().call('POST', '/auth/sign-in', { email: owner.email, password })
    assert.equal(again.body.data.twoFactorRequired, true)
  })

  test('stores the TOTP secret and the backup codes encrypted', async () => {
    const owner = await newOwner()
    const { secret, backupCodes } = await enableTwoFactor(await signedIn(owner))
    const row = await app.db.row<{ text: string }>(sql`
      select t::text as text from two_factors t where user_id = ${owner.userId}`)
    const plain = fromBase32(secret).toString()
    assert.ok(row)
    for (const text of [secret, plain, ...backupCodes]) assert.ok(!row.text.includes(text))
  })
})

test('writes sign-ins, second factors and password changes to the audit log', async () => {
  const owner = await newOwner()
  const person = await signedIn(owner)
  await enableTwoFactor(person)
  await person.call('POST', '/auth/password', { currentPassword: password, newPassword: 'another good password' })
  const { body } = await app.call('GET', '/api/v1/audit-log', { as: owner })
  const actions = body.data.items.map(({ action }: { action: string }) => action)
  assert.deepEqual(actions, ['user.password-changed', 'user.two-factor-enabled', 'user.signed-in'])
  assert.equal(body.data.items[0].actor.id, owner.userId)
  assert.equal(body.data.items[0].ip, '127.0.0.1')
})

test('deletes expired sessions, links and tokens, and keeps others', async () => {
  const owner = await newOwner()
  const [gone, kept] = [await signedIn(owner), await signedIn(owner)]
  const halfway = browser()
  await enableTwoFactor(kept)
  await halfway.call('POST', '/auth/sign-in', { email: owner.email, password })
  await linkOf(owner)
  await app.stepUp(owner)
  const counts = () =>
    app.db.row<Record<string, number>>(sql`
      select (select count(*)::int from sign_in_sessions where user_id = ${owner.userId}) as sessions,
        (select count(*)::int from sign_in_verifications where value = ${owner.userId}) as challenges,
        (select count(*)::int from sign_in_links where user_id = ${owner.userId}) as links,
        (select count(*)::int from step_up_tokens where user_id = ${owner.userId}) as tokens`)
  await deleteExpired(app.db)
  assert.deepEqual(await counts(), { sessions: 2, challenges: 1, links: 1, tokens: 1 })
  await app.db.execute(sql`update sign_in_links set expires_at = now() where user_id = ${owner.userId}`)
  await app.db.execute(sql`update step_up_tokens set expires_at = now() where user_id = ${owner.userId}`)
  await app.db.execute(sql`update sign_in_verifications set expires_at = now() where value = ${owner.userId}`)
  const cookie = decodeURIComponent(gone.jar.get('atrium.session_token') ?? '')
  await app.db.execute(sql`update sign_in_sessions set expires_at = now() where token = ${cookie.split('.')[0]}`)
  await deleteExpired(app.db)
  assert.deepEqual(await counts(), { sessions: 1, challenges: 0, links: 0, tokens: 0 })
  assert.equal((await kept.call('GET', '/me')).status, 200)
})

test('logs no password, code, token or cookie', () => {
  const lines = [...app.logLines, ...second.logLines].join('\n')
  assert.ok(!lines.includes(password))
  assert.ok(!lines.includes('session_token='))
})
