import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { rememberKeys } from '../../../test/support/processes/remembered-keys.ts'
import { totp } from '../../../test/support/totp.ts'
import { hashPassword, setPassword } from './passwords.ts'
import { createSignInLink } from './links.ts'

rememberKeys()
const app = await startTestApp()
const password = 'correct horse battery'
let addresses = 0
const newAddress = (): string => `org-scope-${(addresses += 1)}@corp.example`

const invite = async (as: TestActor, email: string, stepUp = true): Promise<{ id: string; link: string | null }> => {
  const headers = stepUp ? await app.stepUp(as) : {}
  const answer = await app.call('POST', '/api/v1/members', { as, json: { email, role: 'member' }, headers })
  assert.equal(answer.status, 201, answer.text)
  return { id: answer.body.data.id, link: answer.body.data.signInLink?.split('#link=')[1] ?? null }
}
const remove = async (as: TestActor, id: string): Promise<void> => {
  assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as })).status, 200)
}

/** A browser with the cookies of its sign-in and of later responses. */
const open = (first: Answer) => {
  assert.equal(first.status, 200, first.text)
  const jar = new Map<string, string>()
  const keep = (answer: Answer): Answer => {
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      jar.set(name, value)
    }
    return answer
  }
  keep(first)
  const call = async (
    method: string,
    path: string,
    json?: unknown,
    { orgId, headers: more = {} }: { orgId?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, origin: app.url, ...(orgId === undefined ? {} : { 'x-org-id': orgId }), ...more }
    return keep(await app.call(method, `/api/v1${path}`, { headers, ...(json === undefined ? {} : { json }) }))
  }
  /** The status codes of reading the files of each org. */
  const reads = async (...orgs: TestActor[]): Promise<number[]> =>
    Promise.all(orgs.map(async ({ orgId }) => (await call('GET', '/files', undefined, { orgId })).status))
  return { call, reads }
}
const byLink = (token: string | null): Promise<Answer> =>
  app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } })
const byPassword = (email: string): Promise<Answer> =>
  app.call('POST', '/api/v1/auth/sign-in', { json: { email, password } })
const choosePassword = async (browser: ReturnType<typeof open>, currentPassword?: string): Promise<void> => {
  const answer = await browser.call('POST', '/auth/password', { currentPassword, newPassword: password })
  assert.equal(answer.status, 200, answer.text)
}
const operatorLink = async (userId: string): Promise<string> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))
  return path.split('=')[1] ?? ''
}
const people = async (as: TestActor): Promise<{ email: string; userId: string }[]> =>
  (await app.call('GET', '/api/v1/members', { as })).body.data.items
/** Accepts the invitation of `org`, which is the only one that the browser sees. */
const accept = async (browser: ReturnType<typeof open>, { orgId }: TestActor): Promise<void> => {
  const { body } = await browser.call('GET', '/me/invitations')
  assert.deepEqual(
    body.data.items.map(({ org }: { org: { id: string } }) => org.id),
    [orgId],
  )
  const answer = await browser.call('POST', `/me/invitations/${body.data.items[0].id}/accept`)
  assert.equal(answer.status, 200, answer.text)
}
const userIdOf = async (as: TestActor, id: string): Promise<string> =>
  (await app.call('GET', `/api/v1/members/${id}`, { as })).body.data.userId

describe("an org's sign-in link", () => {
  test('rejects the link of an org that removed the person, also when another org added them', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const member = await invite(one, email)
    await invite(two, email, false)
    await remove(one, member.id)
    assert.equal((await byLink(member.link)).status, 401)
  })

  test('limits the session of a link to its org, also when another org adds the person before it is used', async () => {
    const [one, two] = [await app.createOrg('One'), await app.createOrg('Two')]
    const email = newAddress()
    const { link } = await invite(one, email)
    await invite(two, email)
    const browser = open(await byLink(link))
    assert.deepEqual(await browser.reads(one, two), [200, 403])
    const { body } = await browser.call('GET', '/auth/session')
    assert.deepEqual(
      body.data.orgs.map(({ id }: { id: string }) => id),
      [one.orgId],
    )
    assert.ok(!JSON.stringify(body).includes(two.orgId))
  })

  test('keeps the link of one org when another org creates one, each limited to its org', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const first = await invite(one, email)
    const second = await invite(two, email)
    const asked = open(await byLink(second.link))
    assert.deepEqual(await asked.reads(one, two), [403, 403], 'the person has not accepted yet')
    await accept(asked, two)
    assert.deepEqual(await asked.reads(one, two), [403, 200])
    assert.deepEqual(await open(await byLink(first.link)).reads(one, two), [200, 403])
  })

  test('shows other orgs of the person nothing about the use of a link', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const { link } = await invite(one, email)
    await invite(two, email, false)
    open(await byLink(link))
    const actions = async (as: TestActor): Promise<string[]> =>
      (await app.call('GET', '/api/v1/audit-log', { as })).body.data.items.map(
        ({ action }: { action: string }) => action,
      )
    assert.ok((await actions(one)).includes('user.signed-in'))
    assert.ok(!(await actions(two)).includes('user.signed-in'))
  })
})

describe("sessions and passwords that began with an org's link", () => {
  test("gives no access to an org that adds the person later by a session or password of another org's link", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const session = open(await byLink((await invite(one, email)).link))
    await choosePassword(session)
    await invite(two, email)
    assert.deepEqual(await session.reads(one, two), [200, 403])
    const again = open(await byPassword(email))
    assert.deepEqual(await again.reads(one, two), [200, 403])
    await choosePassword(again, password)
    assert.deepEqual(await again.reads(one, two), [200, 403], 'nor does changing it')
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 403])
  })

  test('gives no access to another org by a second factor, nor step-up with a key of that org', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const other = await app.createUser(two, 'member')
    const session = open(await byLink((await invite(one, other.email)).link))
    await accept(session, one)
    await choosePassword(session)
    const { body } = await session.call('POST', '/auth/two-factor', { password })
    const code = totp(body.data.secret)
    assert.equal((await session.call('POST', '/auth/two-factor/confirm', { code })).status, 200)
    assert.deepEqual(await session.reads(one, two), [200, 403])

    const halfway = open(await byPassword(other.email))
    const [backupCode] = body.data.backupCodes
    assert.equal((await halfway.call('POST', '/auth/sign-in/totp', { backupCode })).status, 200)
    assert.deepEqual(await halfway.reads(one, two), [200, 403])

    const next = totp(body.data.secret, 1)
    for (const json of [{ password }, { totpCode: next }]) {
      assert.equal((await app.call('POST', '/api/v1/auth/step-up', { as: other, json })).status, 403)
    }
    const token = (await session.call('POST', '/auth/step-up', { password })).body.data.token
    const headers = { 'x-step-up-token': token }
    const minted = await app.call('POST', '/api/v1/api-keys', { as: other, json: { name: 'x' }, headers })
    assert.equal(minted.status, 403)
  })

  test('ends the access when the org removes the person, and does not restore it when they are added again', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const member = await invite(one, email)
    await choosePassword(open(await byLink(member.link)))
    await invite(two, email)
    await remove(one, member.id)
    assert.equal((await byPassword(email)).status, 401)
    const anew = open(await byLink((await invite(one, email)).link))
    await accept(anew, one)
    assert.deepEqual(await anew.reads(one, two), [200, 403])
  })
})

/** An attacker in org `one` sets up a password and a second factor for the address before the person uses a link. */
const setUpEverything = async (one: TestActor, email: string) => {
  const session = open(await byLink((await invite(one, email)).link))
  const impostors = 'password of the impostor'
  assert.equal((await session.call('POST', '/auth/password', { newPassword: impostors })).status, 200)
  const { body } = await session.call('POST', '/auth/two-factor', { password: impostors })
  const { secret, backupCodes } = body.data
  assert.equal((await session.call('POST', '/auth/two-factor/confirm', { code: totp(secret) })).status, 200)
  return { session, impostors, secret, backupCodes }
}
const accountOf = async (browser: ReturnType<typeof open>) =>
  (await browser.call('GET', '/auth/session')).body.data.user

describe("a password and a second factor that were set up by one org's link", () => {
  test("does not require the password and second factor of one org for another org's link, session, step-up or first password", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const { session, impostors } = await setUpEverything(one, email)
    const answer = await byLink((await invite(two, email)).link)
    assert.equal(answer.body.data.twoFactorRequired, false)
    const person = open(answer)
    await accept(person, two)
    assert.deepEqual(await person.reads(one, two), [403, 200])
    const before = await accountOf(person)
    assert.equal(before.hasPassword, false)
    assert.equal(before.twoFactorEnabled, false)
    await choosePassword(person)

    const again = await byPassword(email)
    assert.equal(again.body.data.twoFactorRequired, false)
    assert.deepEqual(await open(again).reads(one, two), [403, 200])
    assert.equal(
      (await person.call('POST', '/auth/step-up', { password: impostors }, { orgId: two.orgId })).status,
      403,
    )
    assert.equal((await person.call('POST', '/auth/step-up', { password }, { orgId: two.orgId })).status, 200)
    assert.deepEqual(await session.reads(one, two), [200, 403], 'the other session and its scope are unchanged')
  })

  test('keeps the password and second factor of one org independent of changes in another org', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const { session, impostors } = await setUpEverything(one, email)
    const person = open(await byLink((await invite(two, email)).link))
    await accept(person, two)
    await choosePassword(person)
    const token = (await person.call('POST', '/auth/step-up', { password })).body.data.token

    const change = { currentPassword: impostors, newPassword: 'another of the impostor' }
    assert.equal((await session.call('POST', '/auth/password', change)).status, 200)
    assert.deepEqual(await person.reads(one, two), [403, 200])
    const headers = { 'x-step-up-token': token }
    assert.equal((await person.call('POST', '/api-keys', { name: 'N' }, { orgId: two.orgId, headers })).status, 201)
    assert.equal((await accountOf(session)).twoFactorEnabled, true)

    await choosePassword(person, password)
    assert.deepEqual(await session.reads(one, two), [200, 403])
    const begun = await person.call('POST', '/auth/two-factor', { password })
    const code = totp(begun.body.data.secret)
    assert.equal((await person.call('POST', '/auth/two-factor/confirm', { code })).status, 200)
    const proof = await person.call('POST', '/auth/step-up', { password })
    const stepped = { 'x-step-up-token': proof.body.data.token }
    assert.equal(
      (await person.call('DELETE', '/auth/two-factor', undefined, { orgId: two.orgId, headers: stepped })).status,
      200,
    )
    assert.equal((await accountOf(session)).twoFactorEnabled, true)
    assert.equal((await accountOf(person)).twoFactorEnabled, false)
  })

  test("replaces passwords and second factors of single orgs by the password set after the operator's link, which requires neither", async () => {
    const one = await app.createOrg()
    const email = newAddress()
    const { session } = await setUpEverything(one, email)
    const { userId } = (await people(one)).find((member) => member.email === email)!
    const answer = await byLink(await operatorLink(userId))
    assert.equal(answer.body.data.twoFactorRequired, false)
    const person = open(answer)
    await choosePassword(person)
    assert.deepEqual(await session.reads(one), [401])
    const byOld = { email, password: 'password of the impostor' }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in', { json: byOld })).status, 401)
    const byNew = await byPassword(email)
    assert.equal(byNew.body.data.twoFactorRequired, false)
    assert.deepEqual(await open(byNew).reads(one), [200])
  })

  test('extends a password and second factor to a second org only when both are proved there, and then requires both in both', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const { impostors: current, secret } = await setUpEverything(one, email)
    const person = open(await byLink((await invite(two, email)).link))
    await accept(person, two)
    const change = { currentPassword: current, newPassword: password }
    assert.equal((await person.call('POST', '/auth/password', change)).status, 403, 'the code is missing')
    const wrong = { ...change, totpCode: '000000' }
    assert.equal((await person.call('POST', '/auth/password', wrong)).status, 403)
    assert.deepEqual(await person.reads(one, two), [403, 200])
    const both = { ...change, totpCode: totp(secret, 1) }
    assert.equal((await person.call('POST', '/auth/password', both)).status, 200)
    assert.deepEqual(await person.reads(one, two), [200, 200])
    assert.equal((await byPassword(email)).body.data.twoFactorRequired, true)
  })
})

describe('people in two orgs', () => {
  test("extends a password to both orgs when the person proves it in a session of the other org's link", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    await choosePassword(open(await byLink((await invite(one, email)).link)))
    const member = await invite(two, email)
    const session = open(await byLink(member.link))
    await accept(session, two)
    const wrong = { currentPassword: 'not the password', newPassword: password }
    assert.equal((await session.call('POST', '/auth/password', wrong)).status, 403)
    assert.deepEqual(await session.reads(one, two), [403, 200])
    await choosePassword(session, password)
    assert.deepEqual(await session.reads(one, two), [200, 200])
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 200])
    await remove(two, member.id)
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 403])
  })

  test("gives access to both orgs by the operator's link and password", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const session = open(await byLink((await invite(one, email)).link))
    await choosePassword(session)
    const userId = await userIdOf(two, (await invite(two, email)).id)
    const byOperator = open(await byLink(await operatorLink(userId)))
    await accept(byOperator, two)
    assert.deepEqual(await byOperator.reads(one, two), [200, 200])
    const hash = await hashPassword(password)
    await app.db.transaction('all orgs', (db) => setPassword(db, userId, hash))
    assert.deepEqual(await session.reads(one), [401])
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 200])
  })
})
