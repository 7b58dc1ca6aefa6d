import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { newId } from '../../../platform/ids.ts'
import { createSignInLink } from '../links.ts'

const app = await startTestApp({ RATE_LIMIT_SIGN_IN: '0' })
const path = '/api/v1/auth/sessions'

/** Signs the person in, and returns the headers of the browser. */
const signIn = async ({ userId }: TestActor, agent: string, orgScope: string[] | null = null) => {
  const link = await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, orgScope))
  const json = { token: link.path.split('=')[1] }
  const answer = await app.call('POST', '/api/v1/auth/sign-in/link', { json, headers: { 'user-agent': agent } })
  assert.equal(answer.status, 200, answer.text)
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url }
}
type Headers = Awaited<ReturnType<typeof signIn>>

const listed = async (headers: Headers) => (await app.call('GET', path, { headers })).body.data.items
const agentsOf = async (headers: Headers): Promise<string[]> =>
  (await listed(headers)).map(({ userAgent }: { userAgent: string }) => userAgent)
const isSignedIn = async (headers: Headers): Promise<boolean> =>
  (await app.call('GET', '/api/v1/me', { headers })).status === 200

test('a person sees their own sessions, the current one first, without the tokens of the others', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  await signIn(owner, 'Phone')
  const laptop = await signIn(owner, 'Laptop')
  await signIn(stranger, 'Stranger')
  const items = await listed(laptop)
  assert.deepEqual(
    items.map(({ userAgent, isCurrent }: Record<string, unknown>) => [userAgent, isCurrent]),
    [
      ['Laptop', true],
      ['Phone', false],
    ],
  )
  const fields = ['createdAt', 'expiresAt', 'id', 'ipAddress', 'isCurrent', 'lastUsedAt', 'userAgent']
  assert.deepEqual(Object.keys(items[1]).toSorted(), fields)
})

test('a session that a person ends is rejected at once, and the audit log has an entry', async () => {
  const owner = await app.createOrg()
  const [phone, laptop] = [await signIn(owner, 'Phone'), await signIn(owner, 'Laptop')]
  const [, { id }] = await listed(laptop)
  const ended = await app.call('DELETE', `${path}/${id}`, { headers: laptop })
  assert.deepEqual([ended.status, ended.body.data], [200, { deleted: true }])
  assert.deepEqual([await isSignedIn(phone), await isSignedIn(laptop)], [false, true])
  assert.equal((await app.call('DELETE', `${path}/${id}`, { headers: laptop })).status, 404)
  const log = await app.call('GET', '/api/v1/audit-log?action=user.session-ended', { as: owner })
  assert.deepEqual(
    log.body.data.items.map(({ details, resource }: Record<string, unknown>) => [details, resource]),
    [[{ sessions: 1 }, { type: 'user', id: owner.userId }]],
  )
})

test('a person ends all other sessions at once, and those of other people stay', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  const others = [await signIn(owner, 'Phone'), await signIn(owner, 'Tablet')]
  const [laptop, foreign] = [await signIn(owner, 'Laptop'), await signIn(stranger, 'Stranger')]
  const ended = await app.call('DELETE', path, { headers: laptop })
  assert.deepEqual([ended.status, ended.body.data], [200, { ended: 2 }])
  for (const other of others) assert.equal(await isSignedIn(other), false)
  assert.deepEqual([await isSignedIn(laptop), await isSignedIn(foreign)], [true, true])
  assert.deepEqual((await app.call('DELETE', path, { headers: laptop })).body.data, { ended: 0 })
})

test('a session of another person, a missing and a malformed ID are NOT_FOUND, and nothing ends', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  const [laptop, foreign] = [await signIn(owner, 'Laptop'), await signIn(stranger, 'Stranger')]
  const [{ id: foreignId }] = await listed(foreign)
  const texts = new Set<string>()
  for (const id of [foreignId, newId(), 'malformed']) {
    const { status, text } = await app.call('DELETE', `${path}/${id}`, { headers: laptop })
    assert.equal(status, 404)
    texts.add(text)
  }
  assert.equal(texts.size, 1)
  assert.equal(await isSignedIn(foreign), true)
})

test('a session of the link of one org neither sees nor ends the sessions for other orgs', async () => {
  const owner = await app.createOrg()
  const wide = await signIn(owner, 'All orgs')
  const narrow = await signIn(owner, 'One org', [owner.orgId])
  const same = await signIn(owner, 'The same org', [owner.orgId])
  assert.deepEqual((await agentsOf(narrow)).toSorted(), ['One org', 'The same org'])
  assert.equal((await agentsOf(wide)).length, 3)
  const wideId = (await listed(wide))[0].id
  assert.equal((await app.call('DELETE', `${path}/${wideId}`, { headers: narrow })).status, 404)
  assert.deepEqual((await app.call('DELETE', path, { headers: narrow })).body.data, { ended: 1 })
  assert.deepEqual([await isSignedIn(wide), await isSignedIn(same)], [true, false])
})

test('API keys, requests without a session and pages of other origins can do nothing with sessions', async () => {
  const owner = await app.createOrg()
  const laptop = await signIn(owner, 'Laptop')
  assert.equal((await app.call('GET', path, { as: owner })).status, 401)
  assert.equal((await app.call('GET', path)).status, 401)
  for (const origin of ['https://evil.example', '']) {
    assert.equal((await app.call('DELETE', path, { headers: { ...laptop, origin } })).status, 403)
  }
})
