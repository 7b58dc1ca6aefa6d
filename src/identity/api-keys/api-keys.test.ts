import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { hashKey, isWellFormedKey } from '../../platform/key-format.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'

const app = await startTestApp({ RATE_LIMIT_KEY_MINTING: '0', RATE_LIMIT_WRITES: '0' })
const second = await app.secondServer({ RATE_LIMIT_KEY_MINTING: '0' })

const mint = async (as: TestActor, json: object): Promise<Answer> =>
  app.call('POST', '/api/v1/api-keys', { as, json, headers: await app.stepUp(as) })
const withKey = (actor: TestActor, answer: Answer): TestActor => ({
  ...actor,
  key: answer.body.data.key,
  apiKeyId: answer.body.data.id,
})

describe('POST /api-keys', () => {
  test('returns the new API key once, accepts it on every process, and stores only its hash', async () => {
    const owner = await app.createOrg()
    const answer = await mint(owner, { name: 'CI' })
    assert.equal(answer.status, 201, answer.text)
    const { key, id, createdAt, ...rest } = answer.body.data
    assert.ok(isWellFormedKey(key, 'test'))
    assert.deepEqual(rest, {
      name: 'CI',
      prefix: 'atr_test_',
      last4: key.slice(-4),
      userId: owner.userId,
      workspaceId: null,
      scopes: [],
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
    })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const me = await second.call('GET', '/api/v1/me', { as: key })
    assert.equal(me.body.data.apiKey.id, id)
    const row = await app.db.row<{ text: string; hash: Buffer }>(sql`
      select k::text as text, hash from api_keys k where org_id = ${owner.orgId} and id = ${id}`)
    assert.ok(row && !row.text.includes(key) && row.hash.equals(hashKey(key)))
    const list = await app.call('GET', '/api/v1/api-keys', { as: owner })
    assert.ok(!list.text.includes(key))
    assert.ok(!list.text.includes('"key"') && !list.text.includes('hash'))
    assert.ok(list.body.data.items.some((item: { createdAt: string }) => item.createdAt === createdAt))
  })

  test('stores the workspace, scopes and expiry of a new API key', async () => {
    const owner = await app.createOrg()
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const json = {
      name: 'N',
      workspaceId: owner.workspaceId,
      scopes: ['files:read', ' agents:* ', 'files:read'],
      expiresAt,
    }
    const answer = await mint(owner, json)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(answer.body.data.scopes, ['files:read', 'agents:*'])
    assert.equal(answer.body.data.expiresAt, expiresAt)
    assert.equal(answer.body.data.workspaceId, owner.workspaceId)
    const me = await app.call('GET', '/api/v1/me', { as: answer.body.data.key })
    assert.deepEqual(me.body.data.permissions, ['files:read', 'agents:read', 'agents:write'])
    assert.equal(me.body.data.workspace.id, owner.workspaceId)
  })

  test('rejects unknown scopes, an expiry in the past and invalid names', async () => {
    const owner = await app.createOrg()
    for (const [json, status] of [
      [{}, 400],
      [{ name: '' }, 400],
      [{ name: 'N', scopes: ['everything'] }, 400],
      [{ name: 'N', scopes: ['*'] }, 400],
      [{ name: 'N', scopes: ['files:*:*'] }, 400],
      [{ name: 'N', scopes: 'files:read' }, 400],
      [{ name: 'N', expiresAt: 'tomorrow' }, 400],
      [{ name: 'N', expiresAt: new Date(Date.now() - 1000).toISOString() }, 422],
      [{ name: 'N', workspaceId: 'x' }, 400],
    ] as const) {
      assert.equal((await mint(owner, json)).status, status, JSON.stringify(json))
    }
  })

  test('gives the same response for a workspace that the caller is not in, of another org, and a missing one', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const outside = await app.createUser(owner, 'member', { inWorkspace: false })
    const answers = [
      await mint(outside, { name: 'N', workspaceId: owner.workspaceId }),
      await mint(outside, { name: 'N', workspaceId: stranger.workspaceId }),
      await mint(outside, { name: 'N', workspaceId: newId() }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404],
    )
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('rejects scopes that exceed those of the API key that creates the key', async () => {
    const owner = await app.createOrg()
    const narrow = withKey(owner, await mint(owner, { name: 'N', scopes: ['keys:*', 'files:read', 'agents:*'] }))
    for (const scopes of [
      undefined,
      [],
      ['files:write'],
      ['files:*'],
      ['keys:write', 'billing:read'],
      ['audit:read'],
    ]) {
      const answer = await mint(narrow, { name: 'More', ...(scopes && { scopes }) })
      assert.equal(answer.status, 403, JSON.stringify(scopes))
    }
    for (const scopes of [
      ['files:read'],
      ['agents:write'],
      ['agents:*', 'keys:read'],
      ['keys:*', 'files:read', 'agents:*'],
    ]) {
      assert.equal((await mint(narrow, { name: 'Less', scopes })).status, 201, JSON.stringify(scopes))
    }
    const unable = withKey(owner, await mint(owner, { name: 'N', scopes: ['keys:read'] }))
    assert.equal((await mint(unable, { name: 'N', scopes: ['keys:read'] })).status, 403)
  })

  test('limits the keys that a member creates to the permissions of the member', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const answer = await mint(member, { name: 'Mine', scopes: ['billing:*', 'audit:*'] })
    assert.equal(answer.body.data.userId, member.userId)
    const me = await app.call('GET', '/api/v1/me', { as: answer.body.data.key })
    assert.deepEqual(me.body.data.permissions, ['billing:read'])
  })

  test('responds with BAD_REQUEST "Too many requests" to the sixth attempt within a minute, counting rejected step-ups', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_KEY_MINTING: '5' })
    const owner = await app.createOrg()
    const headers = await app.stepUp(owner)
    const attempts: (readonly [number, string])[] = []
    for (let i = 0; i < 6; i++) {
      const { status, body } = await limited.call('POST', '/api/v1/api-keys', {
        as: owner,
        json: { name: 'N' },
        headers: i % 2 === 0 ? {} : headers,
      })
      attempts.push([status, body.error?.code ?? 'minted'])
    }
    assert.deepEqual(attempts, [
      [403, 'FORBIDDEN'],
      [201, 'minted'],
      [403, 'FORBIDDEN'],
      [201, 'minted'],
      [403, 'FORBIDDEN'],
      [400, 'BAD_REQUEST'],
    ])
    const { body } = await limited.call('POST', '/api/v1/api-keys', { as: owner, json: { name: 'N' }, headers })
    assert.equal(body.error.message, 'Too many requests')
  })
})

describe('POST /api-keys under an Idempotency-Key', () => {
  test('creates one API key for repeated requests and repeats the response without the key', async () => {
    const owner = await app.createOrg()
    const headers = { ...(await app.stepUp(owner)), 'idempotency-key': 'once' }
    const json = { name: 'Once' }
    const first = await app.call('POST', '/api/v1/api-keys', { as: owner, json, headers })
    assert.equal(first.status, 201, first.text)
    const again = await app.call('POST', '/api/v1/api-keys', { as: owner, json, headers })
    assert.equal(again.status, 201)
    const { key, ...record } = first.body.data
    assert.ok(key)
    assert.deepEqual(again.body.data, record)
    const stored = await app.db.row<{ text: string }>(sql`
      select k::text as text from idempotency_keys k where org_id = ${owner.orgId}`)
    assert.ok(stored && !stored.text.includes(key))
    const { body } = await app.call('GET', '/api/v1/api-keys', { as: owner })
    assert.equal(body.data.items.length, 2)
  })
})

describe('GET /api-keys', () => {
  test('lists own keys for members and all keys of the org for owners and admins, newest first, revoked ones included', async () => {
    const owner = await app.createOrg()
    const admin = await app.createUser(owner, 'admin')
    const member = await app.createUser(owner, 'member')
    const billing = await app.createUser(owner, 'billing_manager')
    await app.createOrg()
    const idsSeenBy = async (as: TestActor): Promise<string[]> => {
      const { body } = await app.call('GET', '/api/v1/api-keys', { as })
      return body.data.items.map(({ id }: { id: string }) => id)
    }
    const all = [billing.apiKeyId, member.apiKeyId, admin.apiKeyId, owner.apiKeyId]
    assert.deepEqual(await idsSeenBy(owner), all)
    assert.deepEqual(await idsSeenBy(admin), all)
    assert.deepEqual(await idsSeenBy(member), [member.apiKeyId])
    assert.deepEqual(await idsSeenBy(billing), [billing.apiKeyId])
    await app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: owner })
    const { body } = await app.call('GET', '/api/v1/api-keys?limit=2', { as: owner })
    assert.deepEqual(
      body.data.items.map(({ id }: { id: string }) => id),
      all.slice(0, 2),
    )
    assert.ok(body.data.items[1].revokedAt)
    const rest = await app.call('GET', `/api/v1/api-keys?limit=2&cursor=${body.data.nextCursor}`, { as: owner })
    assert.deepEqual(
      rest.body.data.items.map(({ id }: { id: string }) => id),
      all.slice(2),
    )
    assert.equal(rest.body.data.nextCursor, null)
  })
})

describe('DELETE /api-keys/:id', () => {
  test('revokes a key at once on every process, and changes nothing when repeated', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    assert.equal((await second.call('GET', '/api/v1/me', { as: member })).status, 200)
    const path = `/api/v1/api-keys/${member.apiKeyId}`
    const first = await app.call('DELETE', path, { as: owner })
    assert.deepEqual(first.body, { success: true, data: { deleted: true } })
    for (const server of [app, second])
      assert.equal((await server.call('GET', '/api/v1/me', { as: member })).status, 401)
    const again = await app.call('DELETE', path, { as: owner })
    assert.equal(again.status, 200)
    assert.equal(again.text, first.text)
    const { body } = await app.call('GET', '/api/v1/audit-log?action=api-key.revoked', { as: owner })
    assert.equal(body.data.items.length, 1)
  })

  test('lets a key revoke itself, and no member revoke the key of another', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const other = await app.createUser(owner, 'member')
    const stranger = await app.createOrg()
    const answers = await Promise.all(
      [other.apiKeyId, owner.apiKeyId, stranger.apiKeyId, newId(), 'nonsense'].map((id) =>
        app.call('DELETE', `/api/v1/api-keys/${id}`, { as: member }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal((await app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: member })).status, 200)
    assert.equal((await app.call('GET', '/api/v1/me', { as: member })).status, 401)
    for (const as of [other, owner, stranger]) assert.equal((await app.call('GET', '/api/v1/me', { as })).status, 200)
  })
})

test('logs no API key', async () => {
  const owner = await app.createOrg()
  const { key } = (await mint(owner, { name: 'N' })).body.data
  await app.call('GET', '/api/v1/me', { as: key })
  assert.ok(app.logLines.every((line) => !line.includes(key) && !line.includes(owner.key)))
})
