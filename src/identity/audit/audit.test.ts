import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { audit } from './audit.ts'
import { systemActor } from '../actor.ts'

const app = await startTestApp({ RATE_LIMIT_KEY_MINTING: '0' })

const entries = async (as: TestActor, query = '') => {
  const { status, body, text } = await app.call('GET', `/api/v1/audit-log${query}`, { as })
  assert.equal(status, 200, text)
  return body.data
}

describe('GET /audit-log', () => {
  test('lists the actor, action, resource, API key, address and request of an entry', async () => {
    const owner = await app.createOrg()
    const created = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Lab' } })
    const { items, nextCursor } = await entries(owner)
    assert.equal(nextCursor, null)
    assert.equal(items.length, 1)
    const { id, at, seq, hash, ...rest } = items[0]
    // `seq` and `hash` are set within seconds.
    assert.ok((seq === null && hash === null) || (seq === 1 && /^[0-9a-f]{64}$/.test(hash)))
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000)
    assert.deepEqual(rest, {
      actor: { id: owner.userId, name: 'User', apiKeyId: owner.apiKeyId },
      action: 'workspace.created',
      resource: { type: 'workspace', id: created.body.data.id },
      details: { name: 'Lab', slug: 'lab' },
      ip: '127.0.0.1',
      requestId: created.headers.get('x-request-id'),
    })
  })

  test('has an entry for every change of people, workspaces and keys, and none for rejected requests', async () => {
    const owner = await app.createOrg()
    const headers = await app.stepUp(owner)
    const call = async (method: string, path: string, json?: object) => {
      const { body } = await app.call(method, `/api/v1${path}`, { as: owner, headers, ...(json && { json }) })
      return body.data
    }
    const workspace = await call('POST', '/workspaces', { name: 'A' })
    await call('PATCH', `/workspaces/${workspace.id}`, { name: 'B' })
    await call('PATCH', `/workspaces/${workspace.id}`, { name: 'B' })
    const member = await call('POST', '/members', { email: 'm@example.com', role: 'member', workspaceIds: [] })
    await call('POST', `/workspaces/${workspace.id}/members`, { userId: member.userId })
    await call('DELETE', `/workspaces/${workspace.id}/members/${member.userId}`)
    await call('PATCH', `/members/${member.id}`, { role: 'admin' })
    await call('DELETE', `/members/${member.id}`)
    const key = await call('POST', '/api-keys', { name: 'K' })
    await call('DELETE', `/api-keys/${key.id}`)
    await call('DELETE', `/workspaces/${workspace.id}`)
    await call('DELETE', `/workspaces/${owner.workspaceId}`)
    await call('POST', '/members', { email: owner.email, role: 'member' })
    const { items } = await entries(owner)
    assert.deepEqual(
      items.map(({ action }: { action: string }) => action),
      [
        'workspace.deleted',
        'api-key.revoked',
        'api-key.created',
        'member.removed',
        'member.role-changed',
        'workspace.member-removed',
        'workspace.member-added',
        'member.invited',
        'member.added',
        'workspace.renamed',
        'workspace.created',
      ],
    )
    const texts = JSON.stringify(items)
    assert.ok(!texts.includes(key.key) && !texts.includes(member.signInLink.split('=')[1]))
  })

  test('filters entries by action, person and time, and continues with the cursor', async () => {
    const owner = await app.createOrg()
    const admin = await app.createUser(owner, 'admin')
    for (const as of [owner, admin, owner, admin, owner]) {
      await app.call('POST', '/api/v1/workspaces', { as, json: { name: 'W' } })
    }
    const { items: all } = await entries(owner)
    assert.equal(all.length, 5)
    const ofAdmin = await entries(owner, `?actorId=${admin.userId}`)
    assert.equal(ofAdmin.items.length, 2)
    assert.equal((await entries(owner, '?action=workspace.created')).items.length, 5)
    assert.equal((await entries(owner, '?action=workspace')).items.length, 0)
    const later = new Date(Date.now() + 60_000).toISOString()
    const earlier = new Date(Date.now() - 60_000).toISOString()
    assert.equal((await entries(owner, `?since=${later}`)).items.length, 0)
    assert.equal((await entries(owner, `?until=${earlier}`)).items.length, 0)
    assert.equal((await entries(owner, `?since=${earlier}&until=${later}`)).items.length, 5)
    const seen = []
    let cursor = ''
    do {
      const page = await entries(owner, `?limit=2${cursor}`)
      seen.push(...page.items)
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`
    } while (cursor !== '')
    // Without `seq` and `hash`, which may have been set in between.
    const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id)
    assert.deepEqual(idsOf(seen), idsOf(all))
    for (const query of ['?since=yesterday', '?actorId=x', '?cursor=x', '?limit=0']) {
      assert.equal((await app.call('GET', `/api/v1/audit-log${query}`, { as: owner })).status, 400, query)
    }
  })

  test('lists entries of the own org only', async () => {
    const owner = await app.createOrg()
    await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'W' } })
    assert.deepEqual((await entries(await app.createOrg())).items, [])
  })

  test('rolls an entry back with the transaction of its change', async () => {
    const owner = await app.createOrg()
    const actor = systemActor(owner.orgId, 'atrium command')
    const write = (fail: boolean) =>
      app.db.transaction('all orgs', async (db) => {
        await audit(db, actor, 'test.happened', { type: 'test', id: null })
        if (fail) throw new Error('rolled back')
      })
    await assert.rejects(write(true), /rolled back/)
    assert.equal((await entries(owner)).items.length, 0)
    await write(false)
    const [entry] = (await entries(owner)).items
    assert.deepEqual(entry.actor, { id: null, name: 'atrium command', apiKeyId: null })
    assert.equal(entry.ip, null)
  })
})

describe('GET /audit-log/export', () => {
  const exported = async (as: TestActor, query: string) => {
    const response = await fetch(`${app.url}/api/v1/audit-log/export${query}`, {
      headers: { authorization: `Bearer ${as.key}` },
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('returns the same entries as the list with the same filters, in CSV and in JSON lines', async () => {
    const owner = await app.createOrg()
    const made = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: '=cmd|"a",\nb' } })
    await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Other' } })
    const { items } = await entries(owner)
    const lines = await exported(owner, '?format=jsonl')
    assert.equal(lines.headers.get('content-disposition'), 'attachment; filename="audit-log.jsonl"')
    const withoutSeal = (entry: object): object => ({ ...entry, seq: null, hash: null })
    assert.deepEqual(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => withoutSeal(JSON.parse(line) as object)),
      (items as object[]).map(withoutSeal),
    )
    const query = `?resourceType=workspace&resourceId=${made.body.data.id}`
    assert.equal((await entries(owner, query)).items.length, 1)
    const { status, headers, text } = await exported(owner, query)
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8'])
    const [header = '', ...rows] = text.trimEnd().split('\r\n')
    assert.match(header, /^id,at,actorId,actorName,/)
    assert.equal(rows.length, 1)
    assert.match(rows[0] ?? '', /,workspace\.created,workspace,/)
  })

  test('text that begins like a formula is not one in CSV', async () => {
    const owner = await app.createOrg()
    await app.db.transaction({ orgId: owner.orgId }, (db) =>
      audit(db, systemActor(owner.orgId, '=1+1'), 'workspace.created', { type: 'workspace', id: null, details: {} }),
    )
    assert.match((await exported(owner, '')).text, /,'=1\+1,/)
  })

  test('has all entries of several pages once, and none of another org', async () => {
    const [owner, other] = [await app.createOrg(), await app.createOrg()]
    await app.db.transaction({ orgId: owner.orgId }, async (db) => {
      for (let n = 0; n < 2_100; n++) {
        await audit(db, systemActor(owner.orgId, `N${n}`), 'workspace.created', {
          type: 'workspace',
          id: null,
          details: {},
        })
      }
    })
    await app.call('POST', '/api/v1/workspaces', { as: other, json: { name: 'Theirs' } })
    const names = (await exported(owner, '?format=jsonl')).text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { actor: { name: string } }).actor.name)
    assert.deepEqual(names.toSorted(), Array.from({ length: 2_100 }, (_, n) => `N${n}`).toSorted())
    const member = await app.createUser(owner)
    assert.equal((await exported(member, '')).status, 403)
  })
})
