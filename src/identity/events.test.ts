import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { recordedEvents } from '../../test/support/database/recorded-events.ts'
import { until } from '../../test/support/until.ts'
import { createOrg } from './members/orgs.ts'
import { generateKey } from '../platform/key-format.ts'

const app = await startTestApp()

const call = async (as: TestActor, method: string, path: string, json?: object) => {
  const headers = await app.stepUp(as)
  const answer = await app.call(method, `/api/v1${path}`, { as, headers, ...(json ? { json } : {}) })
  assert.ok(answer.status < 300, answer.text)
  return answer.body.data
}

const typesOf = async ({ orgId }: { orgId: string }): Promise<string[]> =>
  (await recordedEvents(app.db, orgId)).map(({ type }) => type)

/** The types of the events that a caller may read, when all events of the org are in the log. */
const readableBy = async (as: TestActor): Promise<string[]> => {
  const { length } = await typesOf(as)
  const owner = await app.createUser(as, 'owner')
  await until(
    async () => (await app.call('GET', '/api/v1/events?limit=100', { as: owner })).body.data.items,
    (items) => items.length === length,
  )
  const { body } = await app.call('GET', '/api/v1/events?limit=100', { as })
  return body.data.items.map(({ type }: { type: string }) => type)
}

describe('events of identity', () => {
  test('reports a new org as its workspace, owner and API key, without the key', async () => {
    const key = generateKey('test')
    const { org } = await app.db.transaction('all orgs', (db) =>
      createOrg(db, { name: 'New', owner: { email: `${crypto.randomUUID()}@example.com` }, key, madeBy: 'Test' }),
    )
    const events = await recordedEvents(app.db, org.id)
    assert.deepEqual(
      events.map(({ type, actor }) => [type, actor.name]),
      [
        ['workspace.created', 'Test'],
        ['member.added', 'Test'],
        ['api_key.created', 'Test'],
      ],
    )
    const [secret] = key.split('_').slice(-1)
    assert.ok(!JSON.stringify(events.map(({ data }) => data)).includes(secret as string))
    assert.equal(events[2]?.data['last4'], key.slice(-4))
  })

  test('reports changes of members, and nothing when a role, a name or a revoked key stays as it is', async () => {
    const owner = await app.createOrg()
    const email = `${crypto.randomUUID()}@example.com`
    const { id } = await call(owner, 'POST', '/members', { email, role: 'member' })
    await call(owner, 'PATCH', `/members/${id}`, { role: 'admin' })
    await call(owner, 'PATCH', `/members/${id}`, { role: 'admin' })
    await call(owner, 'DELETE', `/members/${id}`)
    const { id: keyId } = await call(owner, 'POST', '/api-keys', { name: 'A key' })
    await call(owner, 'DELETE', `/api-keys/${keyId}`)
    await call(owner, 'DELETE', `/api-keys/${keyId}`)
    const { id: workspaceId } = await call(owner, 'POST', '/workspaces', { name: 'Research' })
    await call(owner, 'PATCH', `/workspaces/${workspaceId}`, { name: 'Research' })
    const events = await recordedEvents(app.db, owner.orgId)
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        'member.added',
        'member.role_changed',
        'member.removed',
        'api_key.created',
        'api_key.revoked',
        'workspace.created',
      ],
    )
    assert.deepEqual(
      [events[1]?.data['previousRole'], events[1]?.data['role'], events[1]?.subjectId],
      ['member', 'admin', id],
    )
  })

  test('shows events of the API keys of others to those who may read the audit log only', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    await call(owner, 'POST', '/api-keys', { name: 'A key of the owner' })
    assert.deepEqual(await readableBy(owner), ['api_key.created'])
    assert.deepEqual(await readableBy(member), [])
  })

  test('shows events of a workspace to its members and to owners, not to other members of the org', async () => {
    const owner = await app.createOrg()
    const [inside, outside] = [await app.createUser(owner), await app.createUser(owner)]
    const { id } = await call(owner, 'POST', '/workspaces', { name: 'Research' })
    await call(owner, 'POST', `/workspaces/${id}/members`, { userId: inside.userId })
    assert.deepEqual(await readableBy(owner), ['workspace.created', 'workspace.member_added'])
    assert.deepEqual(await readableBy(inside), ['workspace.created', 'workspace.member_added'])
    assert.deepEqual(await readableBy(outside), [])
  })
})
