import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { Answer, TestActor } from '../../test/harness.ts'
import { totp } from '../../test/totp.ts'
import { hashPassword, setPassword } from './passwords.ts'
import { createSignInLink } from './sign-in-links.ts'

const app = await startTestApp()
const password = 'correct horse battery'
let people = 0
const newAddress = (): string => `reach-${(people += 1)}@corp.example`

const invite = async (as: TestActor, email: string, stepUp = true): Promise<{ id: string; link: string | null }> => {
  const headers = stepUp ? await app.stepUp(as) : {}
  const answer = await app.call('POST', '/api/v1/members', { as, json: { email, role: 'member' }, headers })
  assert.equal(answer.status, 201, answer.text)
  return { id: answer.body.data.id, link: answer.body.data.signInLink?.split('#link=')[1] ?? null }
}
const remove = async (as: TestActor, id: string): Promise<void> => {
  assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as })).status, 200)
}

/** A browser that sends the cookies of its sign-in, and of what replaced them since. */
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
  const call = async (method: string, path: string, json?: unknown, orgId?: string): Promise<Answer> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, origin: app.url, ...(orgId === undefined ? {} : { 'x-org-id': orgId }) }
    return keep(await app.call(method, `/api/v1${path}`, { headers, ...(json === undefined ? {} : { json }) }))
  }
  /** The status of reading the files of each org. */
  const reads = async (...orgs: TestActor[]): Promise<number[]> =>
    Promise.all(orgs.map(async ({ orgId }) => (await call('GET', '/files', undefined, orgId)).status))
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
const userIdOf = async (as: TestActor, id: string): Promise<string> =>
  (await app.call('GET', `/api/v1/members/${id}`, { as })).body.data.userId

describe("an org's sign-in link", () => {
  test('is worth nothing once that org removed the person, whoever else added them', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const member = await invite(one, email)
    await invite(two, email, false)
    await remove(one, member.id)
    assert.equal((await byLink(member.link)).status, 401)
  })

  test('opens that org and no other, also when another org adds the person before it is used', async () => {
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

  test('is not ended by the link of another org, and each opens its own', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const first = await invite(one, email)
    const second = await invite(two, email)
    assert.deepEqual(await open(await byLink(second.link)).reads(one, two), [403, 200])
    assert.deepEqual(await open(await byLink(first.link)).reads(one, two), [200, 403])
  })

  test('tells the other orgs of the person nothing of its use', async () => {
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

describe("what an org's link opened", () => {
  test('does not carry into an org that adds the person later: neither session nor password', async () => {
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

  test('does not carry over by a second factor, and neither steps up with a key of the other org', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const other = await app.createUser(two, 'member')
    const session = open(await byLink((await invite(one, other.email)).link))
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

  test('ends when the org removes the person; added again, they are let in anew', async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const member = await invite(one, email)
    await choosePassword(open(await byLink(member.link)))
    await invite(two, email)
    await remove(one, member.id)
    assert.equal((await byPassword(email)).status, 401)
    const { link } = await invite(one, email)
    assert.deepEqual(await open(await byLink(link)).reads(one, two), [200, 403])
  })
})

describe('a person of two orgs', () => {
  test("opens both with one password, once they know it in a session of the other org's link", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    await choosePassword(open(await byLink((await invite(one, email)).link)))
    const member = await invite(two, email)
    const session = open(await byLink(member.link))
    const wrong = { currentPassword: 'not the password', newPassword: password }
    assert.equal((await session.call('POST', '/auth/password', wrong)).status, 403)
    assert.equal((await session.call('POST', '/auth/password', { newPassword: password })).status, 403)
    assert.deepEqual(await session.reads(one, two), [403, 200])
    await choosePassword(session, password)
    assert.deepEqual(await session.reads(one, two), [200, 200])
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 200])
    await remove(two, member.id)
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 403])
  })

  test("opens both with the operator's link and with the operator's password", async () => {
    const [one, two] = [await app.createOrg(), await app.createOrg()]
    const email = newAddress()
    const session = open(await byLink((await invite(one, email)).link))
    await choosePassword(session)
    const userId = await userIdOf(two, (await invite(two, email)).id)
    assert.deepEqual(await open(await byLink(await operatorLink(userId))).reads(one, two), [200, 200])
    const hash = await hashPassword(password)
    await app.db.transaction('all orgs', (db) => setPassword(db, userId, hash))
    assert.deepEqual(await session.reads(one), [401])
    assert.deepEqual(await open(await byPassword(email)).reads(one, two), [200, 200])
  })
})
