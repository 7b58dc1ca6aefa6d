import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { createSignInLink } from '../sign-in/links.ts'

const app = await startTestApp()
const second = await app.secondServer({}, { work: false })

const rename = (as: TestActor, name: string) => app.call('PATCH', '/api/v1/org', { as, json: { name } })
const auditOf = async (as: TestActor, action: string) =>
  (await app.call('GET', `/api/v1/audit-log?action=${action}`, { as })).body.data.items
const eventsOf = async ({ orgId }: TestActor, type: string) =>
  (await recordedEvents(app.db, orgId)).filter((event) => event.type === type)

/** The headers of a browser in which the person has signed in. */
const signedIn = async ({ userId }: TestActor): Promise<Record<string, string>> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))
  const answer = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: path.split('=')[1] } })
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url }
}

describe('the org', () => {
  test('is renamed for every process at once, with an audit entry and an event', async () => {
    const [owner, other] = [await app.createOrg('Before'), await app.createOrg('Other')]
    const key = { as: owner }
    assert.equal((await second.call('GET', '/api/v1/me', key)).body.data.org.name, 'Before')
    const { status, body } = await rename(owner, '  After   all ')
    assert.equal(status, 200)
    assert.deepEqual([body.data.id, body.data.name], [owner.orgId, 'After all'])
    assert.ok(body.data.updatedAt > body.data.createdAt)
    assert.equal((await second.call('GET', '/api/v1/me', key)).body.data.org.name, 'After all')
    assert.deepEqual((await second.call('GET', '/api/v1/org', key)).body.data, body.data)
    const [entry, ...more] = await auditOf(owner, 'org.renamed')
    assert.deepEqual([entry.details, more], [{ from: 'Before', to: 'After all' }, []])
    const [event] = await eventsOf(owner, 'org.updated')
    assert.deepEqual(event?.data, { orgId: owner.orgId, name: 'After all', changed: ['name'] })
    assert.equal((await app.call('GET', '/api/v1/org', { as: other })).body.data.name, 'Other')
  })

  test('has no audit entry and no event when its name stays', async () => {
    const owner = await app.createOrg('Same')
    assert.equal((await rename(owner, 'Same')).status, 200)
    assert.deepEqual([await auditOf(owner, 'org.renamed'), await eventsOf(owner, 'org.updated')], [[], []])
  })

  test('rejects a name of spaces, one that is too long, and a body without a field', async () => {
    const owner = await app.createOrg('Named')
    for (const json of [{ name: '  ' }, { name: 'x'.repeat(121) }, { name: null }, {}]) {
      const { status } = await app.call('PATCH', '/api/v1/org', { as: owner, json })
      assert.equal(status, 400, JSON.stringify(json))
    }
    assert.equal((await app.call('GET', '/api/v1/org', { as: owner })).body.data.name, 'Named')
  })

  test('can be renamed while others change the authority of its members, without a deadlock', async () => {
    const owner = await app.createOrg('Busy')
    const work = Array.from({ length: 10 }, (_, n) => [
      rename(owner, `Busy ${n}`),
      app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: `Workspace ${n}` } }),
    ]).flat()
    for (const { status, text } of await Promise.all(work)) assert.ok(status < 300, text)
  })
})

describe('the own name', () => {
  test('changes in this org only, for every process at once, with an audit entry and an event', async () => {
    const [owner, elsewhere] = [await app.createOrg(), await app.createOrg()]
    const member = await app.createUser(owner, 'member')
    const before = (await second.call('GET', '/api/v1/me', { as: member })).body.data
    const headers = await signedIn(member)
    const { status, body } = await app.call('PATCH', '/api/v1/me', { headers, json: { name: 'Ada  Lovelace' } })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.data.user.name, 'Ada Lovelace')
    const after = (await second.call('GET', '/api/v1/me', { as: member })).body.data
    assert.deepEqual(after, { ...before, user: { ...before.user, name: 'Ada Lovelace' } })
    const [entry] = await auditOf(owner, 'member.renamed')
    assert.deepEqual(entry.details, { from: before.user.name, to: 'Ada Lovelace' })
    assert.equal(entry.actor.id, member.userId)
    const [event] = await eventsOf(owner, 'member.updated')
    assert.deepEqual([event?.data.userId, event?.data.name], [member.userId, 'Ada Lovelace'])
    const members = await app.call('GET', '/api/v1/members', { as: owner })
    assert.ok(members.body.data.items.some(({ name }: { name: string }) => name === 'Ada Lovelace'))
    assert.deepEqual(await eventsOf(elsewhere, 'member.updated'), [])
  })

  test('cannot be changed with an API key', async () => {
    const owner = await app.createOrg()
    const { status } = await app.call('PATCH', '/api/v1/me', { as: owner, json: { name: 'Somebody' } })
    assert.equal(status, 403)
  })
})
