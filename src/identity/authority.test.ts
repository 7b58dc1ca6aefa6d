import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../platform/database/database.ts'
import type { Db, Statement } from '../platform/database/database.ts'
import { generateKey, hashKey } from '../platform/key-format.ts'
import { newId } from '../platform/ids.ts'
import { startTestApp } from '../../test/harness.ts'
import { findIssuedKeys } from './queries.ts'

const app = await startTestApp()
const second = await app.secondServer()

const issueKey = async (owner: { orgId: string; userId: string }, key: string): Promise<string> => {
  await app.db.execute(sql`
    insert into api_keys (org_id, id, user_id, name, prefix, last4, hash)
    values (${owner.orgId}, ${newId()}, ${owner.userId}, 'new', 'atr_test_', ${key.slice(-4)}, ${hashKey(key)})`)
  return key
}

describe('API keys as credentials', () => {
  test('GET /me returns the user, org, workspace and permissions of the key', async () => {
    const owner = await app.createOrg('Acme')
    const { status, body } = await app.call('GET', '/api/v1/me', { as: owner })
    assert.equal(status, 200)
    assert.equal(body.data.user.id, owner.userId)
    assert.deepEqual(body.data.org, { id: owner.orgId, logoUrl: null, name: 'Acme' })
    assert.deepEqual(body.data.workspace, { id: owner.workspaceId, name: 'Main' })
    assert.equal(body.data.role, 'owner')
    assert.equal(body.data.apiKey.id, owner.apiKeyId)
  })

  const refused: [string, Record<string, string>][] = [
    ['no Authorization header', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['a key of another environment', { authorization: `Bearer ${generateKey('live')}` }],
    ['an unknown key with a right checksum', { authorization: `Bearer ${generateKey('test')}` }],
    ['a wrong checksum', { authorization: `Bearer ${generateKey('test').slice(0, -1)}!` }],
  ]
  for (const [what, headers] of refused) {
    test(`responds with UNAUTHORIZED to ${what}`, async () => {
      const { status, body } = await app.call('GET', '/api/v1/me', { headers })
      assert.equal(status, 401)
      assert.equal(body.error.code, 'UNAUTHORIZED')
      assert.equal(body.success, false)
    })
  }

  test('rejects a revoked key at once on every server process', async () => {
    const owner = await app.createOrg()
    for (const server of [app, second])
      assert.equal((await server.call('GET', '/api/v1/me', { as: owner })).status, 200)
    await app.db.execute(sql`update api_keys set revoked_at = now() where org_id = ${owner.orgId}`)
    const answers = await Promise.all(
      [app, second].flatMap((server) =>
        Array.from({ length: 10 }, () => server.call('GET', '/api/v1/me', { as: owner })),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
  })

  test('accepts a new key at once on every server process', async () => {
    const owner = await app.createOrg()
    for (let round = 0; round < 5; round++) {
      const key = await issueKey(owner, generateKey('test'))
      assert.equal((await second.call('GET', '/api/v1/me', { as: key })).status, 200)
      assert.equal((await app.call('GET', '/api/v1/me', { as: key })).status, 200)
    }
  })

  test('accepts a key at once after its insert, although it was rejected as unknown just before', async () => {
    const owner = await app.createOrg()
    const keys = Array.from({ length: 20 }, () => generateKey('test'))
    const statuses = () =>
      Promise.all(keys.map(async (key) => (await app.call('GET', '/api/v1/me', { as: key })).status))
    assert.deepEqual(new Set(await statuses()), new Set([401]))
    for (const key of keys.slice(0, 10)) await issueKey(owner, key)
    assert.deepEqual(
      await statuses(),
      keys.map((_, place) => (place < 10 ? 200 : 401)),
    )
  })

  test('finds unknown keys by the index, so that a flood of them does not read all issued keys', async () => {
    const owner = await app.createOrg()
    await app.db.execute(sql`
      insert into api_keys (org_id, id, user_id, name, prefix, last4, hash)
      select ${owner.orgId}, gen_random_uuid(), ${owner.userId}, 'many', 'atr_test_', '0000', sha256(n::text::bytea)
      from generate_series(1, 2000) n`)
    await app.db.execute(sql`analyze api_keys`)
    let statement: Statement | undefined
    await findIssuedKeys({ rows: (sent: Statement) => ((statement = sent), Promise.resolve([])) } as unknown as Db, [
      'ab'.repeat(32),
    ])
    const plan = await app.db.transaction('all orgs', async (db) => {
      await db.execute(sql`set local plan_cache_mode = force_generic_plan`)
      await db.execute({ text: `prepare find_issued as ${statement?.text ?? ''}`, values: [] })
      return db.rows<{ queryPlan: string }>({ text: `explain execute find_issued ('{}')`, values: [] })
    })
    const text = plan.map((row) => Object.values(row)[0]).join('\n')
    assert.match(text, /Index.* Scan .*api_keys_hash_key/)
    assert.doesNotMatch(text, /Seq Scan/)
  })

  test('accepts a key again at once when its revocation is undone', async () => {
    const owner = await app.createOrg()
    const setRevoked = (revoked: boolean) =>
      app.db.execute(sql`
        update api_keys set revoked_at = case when ${revoked} then now() end where org_id = ${owner.orgId}`)
    for (const revoked of [true, false, true, false]) {
      await setRevoked(revoked)
      assert.equal((await second.call('GET', '/api/v1/me', { as: owner })).status, revoked ? 401 : 200)
    }
  })

  test('rejects an expired key that is cached as valid', async () => {
    const owner = await app.createOrg()
    assert.equal((await app.call('GET', '/api/v1/me', { as: owner })).status, 200)
    await app.db.execute(sql`update api_keys set expires_at = now() where org_id = ${owner.orgId}`)
    assert.equal((await app.call('GET', '/api/v1/me', { as: owner })).status, 401)
  })

  test('applies a changed role to the next request', async () => {
    const owner = await app.createOrg()
    assert.ok((await second.call('GET', '/api/v1/me', { as: owner })).body.data.permissions.includes('audit:read'))
    await app.db.execute(sql`update members set role = 'member' where org_id = ${owner.orgId}`)
    assert.ok(!(await second.call('GET', '/api/v1/me', { as: owner })).body.data.permissions.includes('audit:read'))
  })
})

describe('the workspace of a request', () => {
  test('gives the same response for a workspace of another org, a missing and a malformed one', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const answers = await Promise.all(
      [stranger.workspaceId, newId(), 'nonsense'].map((id) =>
        app.call('GET', '/api/v1/me', { as: owner, headers: { 'x-workspace-id': id } }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([403]))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('lets members use the workspaces they were added to, and admins all of them', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const admin = await app.createUser(owner, 'admin', { inWorkspace: false })
    const other = newId()
    await app.db.execute(sql`
      insert into workspaces (org_id, id, name, slug) values (${owner.orgId}, ${other}, 'Other', 'other')`)
    const headers = { 'x-workspace-id': other }
    assert.equal((await app.call('GET', '/api/v1/me', { as: member, headers })).status, 403)
    assert.equal((await app.call('GET', '/api/v1/me', { as: admin, headers })).body.data.workspace.name, 'Other')
    await app.db.execute(sql`
      insert into workspace_members (org_id, workspace_id, user_id) values (${owner.orgId}, ${other}, ${member.userId})`)
    assert.equal((await app.call('GET', '/api/v1/me', { as: member, headers })).body.data.workspace.name, 'Other')
  })

  test('limits a key with scopes to the permissions that its scopes and its role share', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member', { scopes: ['files:*', 'billing:manage'] })
    const { body } = await app.call('GET', '/api/v1/me', { as: member })
    assert.deepEqual(body.data.permissions, ['files:read', 'files:write'])
  })
})
