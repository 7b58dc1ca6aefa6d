import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { rememberKeys } from '../../../test/support/processes/remembered-keys.ts'
import { totp } from '../../../test/support/totp.ts'
import { hashPassword, setPassword } from './passwords.ts'
import { deleteExpired } from './queries.ts'
import { createSignInLink } from './links.ts'

// RATE_LIMIT_SIGN_IN also limits client addresses, so every request has an address of its own.
rememberKeys()
let nowMs = Date.now()
const minutes = (count: number): number => count * 60_000
const app = await startTestApp()
const budget = 10
const limited = await app.secondServer(
  { RATE_LIMIT_SIGN_IN: String(budget), TRUST_PROXY: '1' },
  { replace: { now: () => nowMs } },
)
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

const newOwner = async (): Promise<TestActor> => {
  const owner = await app.createOrg()
  await app.db.transaction('all orgs', (db) => setPassword(db, owner.userId, passwordHash))
  return owner
}
/** A client address that no other request has used. */
const fromAnywhere = (): Record<string, string> => ({
  'x-forwarded-for': `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`,
})
const signIn = (email: string, given = password, headers: Record<string, string> = {}): Promise<Answer> =>
  limited.call('POST', '/api/v1/auth/sign-in', {
    json: { email, password: given },
    headers: { ...fromAnywhere(), ...headers },
  })
const guess = async (email: string, count: number, headers: Record<string, string> = {}): Promise<number[]> => {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await signIn(email, 'wrong password', headers)).status)
  return statuses
}
const cookiesOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
const sessionOf = async (answer: Answer) =>
  (await limited.call('GET', '/api/v1/auth/session', { headers: { cookie: cookiesOf(answer) } })).body.data
const auditOf = async (as: TestActor, action: string) =>
  (await app.call('GET', `/api/v1/audit-log?action=${action}&limit=100`, { as })).body.data.items

describe('guessing a password', () => {
  test('blocks a password after ten attempts from any addresses, for longer after each further one', async () => {
    const owner = await newOwner()
    assert.deepEqual(await guess(owner.email, budget + 1), [...Array.from({ length: budget }, () => 401), 429])
    const rejected = await signIn(owner.email)
    assert.equal(rejected.status, 429, 'the right password is rejected too')
    assert.equal(rejected.headers.get('retry-after'), '60')
    for (const wait of [1, 2, 4, 8, 15, 15]) {
      nowMs += minutes(wait) - 1_000
      assert.deepEqual(await guess(owner.email, 1), [429], `${wait} minutes are not over`)
      nowMs += 1_000
      assert.deepEqual(await guess(owner.email, 2), [401, 429], `${wait} minutes are over`)
    }
    nowMs += minutes(15)
    assert.equal((await signIn(owner.email)).status, 200, 'the password is blocked for 15 minutes at most')
    assert.deepEqual(await guess(owner.email, 2), [401, 401], 'the success resets the count')
  })

  test('counts concurrent attempts one by one', async () => {
    const owner = await newOwner()
    const answers = await Promise.all(Array.from({ length: 25 }, () => signIn(owner.email, 'wrong password')))
    assert.equal(answers.filter(({ status }) => status === 401).length, budget)
    assert.equal(answers.filter(({ status }) => status === 429).length, 15)
  })

  test('accepts the password from a browser that signed in before while it is blocked elsewhere', async () => {
    const owner = await newOwner()
    const cookie = cookiesOf(await signIn(owner.email))
    await guess(owner.email, budget + 1)
    assert.equal((await signIn(owner.email)).status, 429)
    assert.equal((await signIn(owner.email, password, { cookie })).status, 200)
    // The cookie of another person does not help, and attempts with the right cookie are limited too.
    const foreign = cookiesOf(await signIn((await newOwner()).email))
    assert.equal((await signIn(owner.email, password, { cookie: foreign })).status, 429)
    const made = cookie.replace(/atrium\.browser=[\w-]{22}/, `atrium.browser=${'A'.repeat(22)}`)
    assert.equal((await signIn(owner.email, password, { cookie: made })).status, 429)
    assert.equal((await guess(owner.email, budget + 1, { cookie })).at(-1), 429)
  })

  test('gives the same responses, after as many attempts, for an email address that nobody has', async () => {
    const owner = await newOwner()
    const nobody = `nobody-${owner.userId}@example.com`
    assert.deepEqual(await guess(owner.email, budget + 1), await guess(nobody, budget + 1))
    const [one, other] = [await signIn(owner.email), await signIn(nobody)]
    assert.equal(one.text, other.text)
    assert.equal(one.headers.get('retry-after'), other.headers.get('retry-after'))
  })

  test("does not block sign-in links or other people's passwords", async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    await guess(owner.email, budget + 1)
    assert.equal((await signIn(other.email)).status, 200)
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
    const json = { token: path.split('=')[1] }
    assert.equal(
      (await limited.call('POST', '/api/v1/auth/sign-in/link', { json, headers: fromAnywhere() })).status,
      200,
    )
  })

  test('responds with 429 when the only password that could match is blocked, and 200 for one that is not', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = `two-passwords-${one.userId}@example.com`
    const setUpPassword = async (org: TestActor, newPassword: string): Promise<void> => {
      const json = { email, role: 'member' }
      const added = await app.call('POST', '/api/v1/members', { as: org, json, headers: await app.stepUp(org) })
      const token = added.body.data.signInLink.split('#link=')[1]
      const cookie = cookiesOf(await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } }))
      const headers = { cookie, origin: app.url }
      const { id } = added.body.data
      if (added.body.data.status === 'invited')
        await app.call('POST', `/api/v1/me/invitations/${id}/accept`, { headers })
      const set = await app.call('POST', '/api/v1/auth/password', { json: { newPassword }, headers })
      assert.equal(set.status, 200, set.text)
    }
    await setUpPassword(one, 'the password of one')
    await setUpPassword(two, 'the password of two')
    assert.deepEqual(await guess(email, 5), [401, 401, 401, 401, 401])
    // The success clears the count of the first password, so that only the second one reaches its budget.
    assert.equal((await signIn(email, 'the password of one')).status, 200)
    assert.deepEqual(await guess(email, 4), [401, 401, 401, 401])

    const blocked = await signIn(email, 'the password of two')
    assert.equal(blocked.status, 429, blocked.text)
    assert.equal(blocked.headers.get('retry-after'), '60')
    assert.equal((await signIn(email, 'wrong password')).text, blocked.text)
    assert.equal((await signIn(email, 'the password of one')).status, 200)
    nowMs += minutes(1)
    assert.equal((await signIn(email, 'the password of two')).status, 200)
  })

  test('deletes the count a day after the last attempt', async () => {
    const owner = await newOwner()
    await guess(owner.email, budget)
    await deleteExpired(app.db)
    const count = async () =>
      (await app.db.row<{ count: number }>(sql`
        select count(*)::int as count from sign_in_throttles
        where subject in (select 'password ' || id from sign_in_accounts where user_id = ${owner.userId})`))!.count
    assert.equal(await count(), 1)
    await app.db.execute(sql`
      update sign_in_throttles set updated_at = now() - interval '25 hours'
      where subject in (select 'password ' || id from sign_in_accounts where user_id = ${owner.userId})`)
    await deleteExpired(app.db)
    assert.equal(await count(), 0)
  })
})

describe('failed sign-ins', () => {
  test('reports failed sign-ins once, at the next sign-in, with count, time and addresses', async () => {
    const owner = await newOwner()
    assert.equal((await sessionOf(await signIn(owner.email))).failedSignIns, null)
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.2']
    for (const address of addresses) await guess(owner.email, 1, { 'x-forwarded-for': address })
    const { failedSignIns } = await sessionOf(await signIn(owner.email))
    assert.equal(failedSignIns.count, 3)
    assert.equal(failedSignIns.lastAt, new Date(nowMs).toISOString())
    assert.deepEqual(failedSignIns.addresses.toSorted(), ['192.0.2.1', '192.0.2.2'])
    assert.equal((await sessionOf(await signIn(owner.email))).failedSignIns, null)
  })

  test('reports the last five addresses of failed sign-ins', async () => {
    const owner = await newOwner()
    for (let i = 1; i <= 7; i++) await guess(owner.email, 1, { 'x-forwarded-for': `192.0.2.${i}` })
    const { failedSignIns } = await sessionOf(await signIn(owner.email))
    assert.equal(failedSignIns.count, 7)
    assert.deepEqual(
      failedSignIns.addresses.toSorted(),
      [3, 4, 5, 6, 7].map((i) => `192.0.2.${i}`),
    )
  })

  test("writes failed sign-ins by an unknown actor to the audit log of the orgs in the password's scope only", async () => {
    const [owner, other] = [await newOwner(), await app.createOrg()]
    await guess(owner.email, 1, { 'x-forwarded-for': '192.0.2.9' })
    const [entry, ...more] = await auditOf(owner, 'user.sign-in-failed')
    assert.deepEqual(more, [])
    assert.deepEqual(entry.actor, { id: null, name: 'unknown', apiKeyId: null })
    assert.equal(entry.resource.id, owner.userId)
    assert.equal(entry.ip, '192.0.2.9')
    assert.deepEqual(entry.details, { by: 'password' })
    assert.deepEqual(await auditOf(other, 'user.sign-in-failed'), [])
  })

  test('reports and audits a failed sign-in by a wrong code', async () => {
    const owner = await newOwner()
    const cookie = cookiesOf(await signIn(owner.email))
    const call = (path: string, json: object, headers: Record<string, string>) =>
      limited.call('POST', `/api/v1${path}`, { json, headers: { origin: limited.url, ...fromAnywhere(), ...headers } })
    const begun = await call('/auth/two-factor', { password }, { cookie })
    const { secret } = begun.body.data
    assert.equal((await call('/auth/two-factor/confirm', { code: totp(secret) }, { cookie })).status, 200)
    const halfway = cookiesOf(await signIn(owner.email))
    assert.equal((await call('/auth/sign-in/totp', { code: '000000' }, { cookie: halfway })).status, 401)
    const done = await call('/auth/sign-in/totp', { code: totp(secret, 1) }, { cookie: halfway })
    assert.equal(done.status, 200, done.text)
    assert.equal((await sessionOf(done)).failedSignIns.count, 1)
    const [entry] = await auditOf(owner, 'user.sign-in-failed')
    assert.deepEqual(entry.details, { by: 'code' })
  })
})

describe('guessing at step-up', () => {
  const stepUp = (as: TestActor, given: string): Promise<Answer> =>
    limited.call('POST', '/api/v1/auth/step-up', { as, json: { password: given }, headers: fromAnywhere() })

  test('blocks step-up for the API key that guesses, audits it, and does not block sessions of the person', async () => {
    const owner = await newOwner()
    const signedIn = await signIn(owner.email)
    // Set directly, because the limit per minute of the person in this org would be reached first.
    const subject = `proof ${owner.userId} ${owner.orgId}`
    await app.db.execute(sql`
      insert into sign_in_throttles (subject, source, attempts, blocked_until, updated_at)
      values (${subject}, ${`key ${owner.apiKeyId}`}, 9, ${new Date(nowMs)}, ${new Date(nowMs)})`)
    assert.equal((await stepUp(owner, 'wrong password')).status, 403)
    assert.equal((await stepUp(owner, password)).status, 429)
    const bySession = await limited.call('POST', '/api/v1/auth/step-up', {
      json: { password },
      headers: { cookie: cookiesOf(signedIn), origin: limited.url },
    })
    assert.equal(bySession.status, 200, bySession.text)
    assert.equal((await auditOf(owner, 'user.step-up-failed')).length, 1)
    nowMs += minutes(1)
    assert.equal((await stepUp(owner, password)).status, 200)
  })
})
