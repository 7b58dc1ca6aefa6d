import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import type { Seen } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { addConnection } from '../../../test/support/endpoints.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

const secret = 'lin_wh_bindings'
const linear = await startProvider()

/** Linear's user of the token that all connections of this test have. */
let viewer: unknown
const isAsked = ({ headers, body }: Seen): boolean =>
  headers.authorization === 'Bearer planted-linear-token' &&
  headers['content-type'] === 'application/json' &&
  (body as { query?: unknown }).query === 'query { viewer { admin active organization { id name } } }'
const oauth = addOAuth(linear, {
  clientId: 'client',
  clientSecret: 'secret',
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  scope: 'read,write',
})
linear.on('POST', '/graphql', (seen) =>
  isAsked(seen) || oauth.isGood(seen)
    ? { body: { data: { viewer } } }
    : { status: 400, body: { errors: [{ message: 'Cannot query that.', extensions: { code: 'INPUT_ERROR' } }] } },
)

const app = await startTestApp({
  LINEAR_WEBHOOK_SECRET: secret,
  CONNECTOR_LINEAR_CLIENT_ID: 'client',
  CONNECTOR_LINEAR_CLIENT_SECRET: 'secret',
  CONNECTOR_LINEAR_BASE_URL: linear.url,
})

const path = '/api/v1/webhooks/linear/bindings'

const administers = (id: string, name = 'Acme'): void => {
  viewer = { admin: true, active: true, organization: { id, name } }
}

const bind = (as: TestActor, connectionId: string): Promise<Answer> =>
  app.call('POST', path, { as, json: { connectionId } })

const bound = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', path, { as })).body.data.items.map((one: { organizationId: string }) => one.organizationId)

/** Sends an event of a Linear organization. */
const send = (organizationId: string): Promise<Answer> => {
  const body = JSON.stringify({ type: 'Issue', action: 'create', organizationId, webhookTimestamp: Date.now() })
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'linear-signature': signature, 'linear-delivery': newId() }
  return app.call('POST', '/api/v1/webhooks/linear', { body, headers })
}

const countEvents = async ({ orgId }: TestActor): Promise<number> =>
  (await app.db.row<{ n: number }>(sql`select count(*)::int as n from webhook_events where org_id = ${orgId}`))?.n ?? 0

const actionsOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/audit-log?limit=100', { as })).body.data.items
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('linear-binding.'))

const expectError = (response: Answer, status: number, code: string): void =>
  assert.deepEqual([response.status, response.body?.error.code], [status, code], response.text)

describe('Linear bindings', () => {
  test('only the org that proved administration receives the events of a Linear organization, even if several orgs are connected to it', async () => {
    const [first, second] = [await app.createOrg('First'), await app.createOrg('Second')]
    const organizationId = newId()
    const mine = await addConnection(app, first, 'linear', organizationId)
    await addConnection(app, second, 'linear', organizationId)
    expectError(await send(organizationId), 404, 'NOT_FOUND')
    assert.deepEqual([await countEvents(first), await countEvents(second)], [0, 0])

    administers(organizationId)
    const response = await bind(first, mine)
    assert.equal(response.status, 201, response.text)
    const { id, createdAt, ...rest } = response.body.data
    assert.deepEqual(rest, { organizationId, organizationName: 'Acme', connectionId: mine, boundBy: first.userId })
    assert.ok(id && Date.parse(createdAt))
    assert.equal((await send(organizationId)).status, 200)
    assert.deepEqual([await countEvents(first), await countEvents(second)], [1, 0])
    assert.deepEqual(await bound(second), [])
    assert.deepEqual(await actionsOf(first), ['linear-binding.created'])
  })

  test('a second org cannot bind the same Linear organization, and the error does not name the org that has bound it', async () => {
    const [first, second] = [await app.createOrg('Hidden name'), await app.createOrg()]
    const organizationId = newId()
    administers(organizationId)
    await bind(first, await addConnection(app, first, 'linear', organizationId))
    const theirs = await addConnection(app, second, 'linear', organizationId)
    const response = await bind(second, theirs)
    expectError(response, 409, 'CONFLICT')
    assert.match(
      response.body.error.message,
      /Another org .* already receives the events of the Linear organization Acme/,
    )
    for (const hidden of ['Hidden name', first.orgId, first.userId]) assert.ok(!response.text.includes(hidden))
    assert.equal((await send(organizationId)).status, 200)
    assert.deepEqual([await countEvents(first), await countEvents(second)], [1, 0])
    assert.deepEqual(await actionsOf(second), [])
  })

  test('one of two orgs that bind a Linear organization at the same time succeeds', async () => {
    const orgs = await Promise.all(Array.from({ length: 5 }, () => app.createOrg()))
    const organizationId = newId()
    administers(organizationId)
    const ids = await Promise.all(orgs.map((org) => addConnection(app, org, 'linear', organizationId)))
    const responses = await Promise.all(orgs.map((org, i) => bind(org, ids[i]!)))
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409],
    )
  })

  test('only an administrator of the Linear organization can bind it', async () => {
    const org = await app.createOrg()
    const organizationId = newId()
    const connectionId = await addConnection(app, org, 'linear', organizationId)
    const organization = { id: organizationId, name: 'Acme' }
    for (const one of [
      { admin: false, active: true, organization },
      { admin: true, active: false, organization },
      { admin: 'true', active: true, organization },
      { active: true, organization },
    ]) {
      viewer = one
      expectError(await bind(org, connectionId), 403, 'FORBIDDEN')
    }
    for (const one of [
      null,
      {},
      { admin: true, active: true },
      { admin: true, active: true, organization: { id: {} } },
    ]) {
      viewer = one
      expectError(await bind(org, connectionId), 503, 'SERVICE_UNAVAILABLE')
    }
    assert.deepEqual(await bound(org), [])
    expectError(await send(organizationId), 404, 'NOT_FOUND')
  })

  test('binds the organization that Linear returns, not the one stored with the connection', async () => {
    const org = await app.createOrg()
    const [claimed, real] = [newId(), newId()]
    const connectionId = await addConnection(app, org, 'linear', claimed)
    administers(real)
    assert.equal((await bind(org, connectionId)).status, 201)
    assert.deepEqual(await bound(org), [real])
    expectError(await send(claimed), 404, 'NOT_FOUND')
  })

  test('only owners and admins can bind a Linear organization, with their own connection', async () => {
    const owner = await app.createOrg()
    const [admin, member] = [await app.createUser(owner, 'admin'), await app.createUser(owner, 'member')]
    const outsider = await app.createOrg()
    const organizationId = newId()
    administers(organizationId)
    const asked = linear.seen.length
    expectError(await bind(member, await addConnection(app, member, 'linear', organizationId)), 403, 'FORBIDDEN')
    const ofOwner = await addConnection(app, owner, 'linear', organizationId)
    for (const as of [admin, outsider]) expectError(await bind(as, ofOwner), 404, 'NOT_FOUND')
    expectError(await bind(owner, newId()), 404, 'NOT_FOUND')
    expectError(await bind(owner, 'nonsense'), 400, 'BAD_REQUEST')
    expectError(await bind(owner, await addConnection(app, owner, 'github')), 400, 'BAD_REQUEST')
    assert.equal(linear.seen.length, asked, 'Linear is not asked')
    assert.equal((await bind(admin, await addConnection(app, admin, 'linear', organizationId))).status, 201)
    assert.deepEqual(await bound(member), [organizationId])
  })

  test('another org can bind a Linear organization after the binding is removed', async () => {
    const [first, second] = [await app.createOrg(), await app.createOrg()]
    const member = await app.createUser(first, 'member')
    const organizationId = newId()
    administers(organizationId)
    const { body } = await bind(first, await addConnection(app, first, 'linear', organizationId))
    const one = `${path}/${body.data.id}`
    expectError(await app.call('DELETE', one, { as: second }), 404, 'NOT_FOUND')
    expectError(await app.call('DELETE', one, { as: member }), 403, 'FORBIDDEN')
    assert.equal((await send(organizationId)).status, 200)
    const removed = await app.call('DELETE', one, { as: first })
    assert.deepEqual([removed.status, removed.body.data], [200, { deleted: true }])
    expectError(await app.call('DELETE', one, { as: first }), 404, 'NOT_FOUND')
    expectError(await send(organizationId), 404, 'NOT_FOUND')
    assert.equal((await bind(second, await addConnection(app, second, 'linear', organizationId))).status, 201)
    assert.equal((await send(organizationId)).status, 200)
    assert.deepEqual([await countEvents(first), await countEvents(second)], [1, 1])
    assert.deepEqual(await actionsOf(first), ['linear-binding.removed', 'linear-binding.created'])
  })

  test('revoking the connection removes its binding', async () => {
    const org = await app.createOrg()
    const organizationId = newId()
    administers(organizationId)
    const connectionId = await addConnection(app, org, 'linear', organizationId)
    await bind(org, connectionId)
    assert.equal((await send(organizationId)).status, 200)
    assert.equal((await app.call('DELETE', `/api/v1/connections/${connectionId}`, { as: org })).status, 200)
    assert.deepEqual(await bound(org), [])
    expectError(await send(organizationId), 404, 'NOT_FOUND')
    assert.deepEqual(await actionsOf(org), ['linear-binding.removed', 'linear-binding.created'])
  })

  test('signing in with an account of another organization removes the binding, with one of the same keeps it', async () => {
    const [first, second] = [await app.createOrg(), await app.createOrg()]
    const organizationId = newId()
    administers(organizationId)
    const connectionId = await addConnection(app, first, 'linear', organizationId)
    await bind(first, connectionId)
    const signIn = async (): Promise<void> => {
      const at = `/api/v1/connections/${connectionId}/oauth`
      const { code, state } = oauth.consent((await app.call('GET', at, { as: first })).body.data.oauthUrl)
      assert.equal((await app.call('POST', at, { as: first, json: { code, state } })).status, 200)
    }
    await signIn()
    assert.deepEqual(await bound(first), [organizationId])
    administers(newId(), 'Elsewhere')
    await signIn()
    assert.deepEqual(await bound(first), [])
    administers(organizationId)
    assert.equal((await bind(second, await addConnection(app, second, 'linear', organizationId))).status, 201)
    assert.deepEqual(await actionsOf(first), ['linear-binding.removed', 'linear-binding.created'])
  })

  test('an org with a broken connection keeps its binding until another org proves administration', async () => {
    const [first, second] = [await app.createOrg(), await app.createOrg()]
    const organizationId = newId()
    administers(organizationId)
    const connectionId = await addConnection(app, first, 'linear', organizationId)
    await bind(first, connectionId)
    await app.db.execute(sql`
      update connections set status = 'error' where org_id = ${first.orgId} and id = ${connectionId}`)
    assert.equal((await send(organizationId)).status, 200)
    assert.equal((await bind(second, await addConnection(app, second, 'linear', organizationId))).status, 201)
    assert.equal((await send(organizationId)).status, 200)
    assert.deepEqual([await countEvents(first), await countEvents(second)], [1, 1])
    assert.deepEqual(await actionsOf(first), ['linear-binding.removed', 'linear-binding.created'])
  })

  test('the same org can bind a Linear organization again, which renews the proof', async () => {
    const org = await app.createOrg()
    const organizationId = newId()
    administers(organizationId)
    const first = await bind(org, await addConnection(app, org, 'linear', organizationId))
    const connectionId = await addConnection(app, org, 'linear', organizationId)
    administers(organizationId, 'Renamed')
    const second = await bind(org, connectionId)
    assert.deepEqual([second.status, second.body.data.id], [201, first.body.data.id])
    assert.deepEqual([second.body.data.connectionId, second.body.data.organizationName], [connectionId, 'Renamed'])
    assert.deepEqual(await bound(org), [organizationId])
  })
})
