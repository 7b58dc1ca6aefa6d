import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../platform/ids.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'

const app = await startTestApp({ RATE_LIMIT_WRITES: '0' })

const create = async (as: TestActor, name: string) => {
  const answer = await app.call('POST', '/api/v1/workspaces', { as, json: { name } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}
const namesSeenBy = async (as: TestActor): Promise<string[]> => {
  const { body } = await app.call('GET', '/api/v1/workspaces', { as })
  return body.data.items.map(({ name }: { name: string }) => name)
}

describe('POST /workspaces', () => {
  test('returns a new workspace with a slug from its name and an ETag', async () => {
    const owner = await app.createOrg()
    const answer = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: '  Müller   & Söhne ' } })
    assert.equal(answer.status, 201)
    assert.equal(answer.headers.get('etag'), '"1"')
    const { id, createdAt, updatedAt, ...rest } = answer.body.data
    assert.deepEqual(rest, { name: 'Müller & Söhne', slug: 'muller-sohne', isDefault: false })
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.equal(createdAt, updatedAt)
  })

  test('numbers slugs that are in use, also under concurrent requests, and reuses those of deleted workspaces', async () => {
    const owner = await app.createOrg()
    const made = await Promise.all(Array.from({ length: 6 }, () => create(owner, 'Team')))
    const slugs = made.map(({ slug }) => slug).toSorted((a: string, b: string) => a.localeCompare(b))
    assert.deepEqual(slugs, ['team', 'team-2', 'team-3', 'team-4', 'team-5', 'team-6'])
    const third = made.find(({ slug }) => slug === 'team-3')
    const headers = await app.stepUp(owner)
    assert.equal((await app.call('DELETE', `/api/v1/workspaces/${third.id}`, { as: owner, headers })).status, 200)
    assert.equal((await create(owner, 'Team')).slug, 'team-3')
  })

  test('allows the same slug in two orgs', async () => {
    const [one, two] = await Promise.all([app.createOrg(), app.createOrg()])
    assert.equal((await create(one, 'Team')).slug, 'team')
    assert.equal((await create(two, 'Team')).slug, 'team')
  })

  test('rejects a workspace without a valid name', async () => {
    const owner = await app.createOrg()
    for (const json of [{}, { name: '' }, { name: '   ' }, { name: 'x'.repeat(121) }, { name: 1 }, []]) {
      const { status, body } = await app.call('POST', '/api/v1/workspaces', { as: owner, json })
      assert.equal(status, 400, JSON.stringify(json))
      assert.equal(body.error.code, 'BAD_REQUEST')
    }
  })
})

describe('visibility of workspaces', () => {
  test('shows owners and admins all workspaces of their org, members their own, and nobody those of another org', async () => {
    const owner = await app.createOrg()
    const admin = await app.createUser(owner, 'admin', { inWorkspace: false })
    const member = await app.createUser(owner, 'member')
    const nowhere = await app.createUser(owner, 'billing_manager', { inWorkspace: false })
    const other = await create(owner, 'Other')
    await app.createOrg()
    assert.deepEqual(await namesSeenBy(owner), ['Main', 'Other'])
    assert.deepEqual(await namesSeenBy(admin), ['Main', 'Other'])
    assert.deepEqual(await namesSeenBy(member), ['Main'])
    assert.deepEqual(await namesSeenBy(nowhere), [])
    const added = await app.call('POST', `/api/v1/workspaces/${other.id}/members`, {
      as: admin,
      json: { userId: member.userId },
    })
    assert.equal(added.status, 201)
    assert.deepEqual(await namesSeenBy(member), ['Main', 'Other'])
  })

  test('gives the same response for a hidden workspace, a missing and a malformed id', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const hidden = await create(owner, 'Hidden')
    const stranger = await app.createOrg()
    const unseen: [TestActor, string][] = [
      [member, hidden.id],
      [member, newId()],
      [member, 'nonsense'],
      [stranger, hidden.id],
      [stranger, newId()],
    ]
    for (const suffix of ['', '/members']) {
      const answers = await Promise.all(
        unseen.map(([as, id]) => app.call('GET', `/api/v1/workspaces/${id}${suffix}`, { as })),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    }
    const headers = await app.stepUp(stranger)
    for (const [method, path, json] of [
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/members', { userId: stranger.userId }],
      ['DELETE', `/members/${owner.userId}`, undefined],
    ] as const) {
      const [foreign, missing] = await Promise.all(
        [hidden.id, newId()].map((id) =>
          app.call(method, `/api/v1/workspaces/${id}${path}`, { as: stranger, headers, ...(json && { json }) }),
        ),
      )
      assert.equal(foreign?.status, 404, method)
      assert.equal(foreign?.text, missing?.text)
    }
    assert.equal((await app.call('GET', `/api/v1/workspaces/${hidden.id}`, { as: owner })).body.data.name, 'Hidden')
  })

  test('lists workspaces page by page until the cursor is null', async () => {
    const owner = await app.createOrg()
    for (const name of ['B', 'C', 'D', 'E']) await create(owner, name)
    const seen: string[] = []
    let cursor: string | null = ''
    let pages = 0
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await app.call('GET', `/api/v1/workspaces?limit=2${query}`, { as: owner })
      seen.push(...body.data.items.map(({ name }: { name: string }) => name))
      cursor = body.data.nextCursor
      pages += 1
    }
    assert.deepEqual(seen, ['Main', 'B', 'C', 'D', 'E'])
    assert.equal(pages, 3)
    assert.equal((await app.call('GET', '/api/v1/workspaces?cursor=x', { as: owner })).status, 400)
    assert.equal((await app.call('GET', '/api/v1/workspaces?limit=101', { as: owner })).status, 400)
  })
})

describe('PATCH /workspaces/:id', () => {
  test('renames a workspace, keeps its slug and changes its ETag', async () => {
    const owner = await app.createOrg()
    const { id } = await create(owner, 'Before')
    const headers = { 'if-match': '"1"' }
    const answer = await app.call('PATCH', `/api/v1/workspaces/${id}`, { as: owner, json: { name: 'After' }, headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.data.name, 'After')
    assert.equal(answer.body.data.slug, 'before')
    assert.equal(answer.headers.get('etag'), '"2"')
    const stale = await app.call('PATCH', `/api/v1/workspaces/${id}`, { as: owner, json: { name: 'Late' }, headers })
    assert.equal(stale.status, 409)
    const cached = { 'if-none-match': '"2"' }
    assert.equal((await app.call('GET', `/api/v1/workspaces/${id}`, { as: owner, headers: cached })).status, 304)
    assert.equal((await app.call('PATCH', `/api/v1/workspaces/${id}`, { as: owner, json: {} })).status, 400)
  })
})

describe('DELETE /workspaces/:id', () => {
  test('deletes a workspace with step-up, which hides it and rejects its use', async () => {
    const owner = await app.createOrg()
    const { id } = await create(owner, 'Gone')
    assert.equal((await app.call('DELETE', `/api/v1/workspaces/${id}`, { as: owner })).status, 403)
    assert.equal((await app.call('GET', `/api/v1/workspaces/${id}`, { as: owner })).status, 200)
    const headers = await app.stepUp(owner)
    const stale = { ...headers, 'if-match': '"9"' }
    assert.equal((await app.call('DELETE', `/api/v1/workspaces/${id}`, { as: owner, headers: stale })).status, 409)
    const answer = await app.call('DELETE', `/api/v1/workspaces/${id}`, { as: owner, headers })
    assert.deepEqual(answer.body, { success: true, data: { deleted: true } })
    assert.equal((await app.call('GET', `/api/v1/workspaces/${id}`, { as: owner })).status, 404)
    assert.equal((await app.call('DELETE', `/api/v1/workspaces/${id}`, { as: owner, headers })).status, 404)
    assert.deepEqual(await namesSeenBy(owner), ['Main'])
    const inside = await app.call('GET', '/api/v1/me', { as: owner, headers: { 'x-workspace-id': id } })
    assert.equal(inside.status, 403)
  })

  test('rejects the deletion of the default workspace', async () => {
    const owner = await app.createOrg()
    const headers = await app.stepUp(owner)
    const answer = await app.call('DELETE', `/api/v1/workspaces/${owner.workspaceId}`, { as: owner, headers })
    assert.equal(answer.status, 403)
    assert.equal(answer.body.error.code, 'FORBIDDEN')
    assert.deepEqual(await namesSeenBy(owner), ['Main'])
  })
})

describe('members of a workspace', () => {
  test('adds a member to a workspace once, lists and removes them', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member', { inWorkspace: false })
    const path = `/api/v1/workspaces/${owner.workspaceId}/members`
    const json = { userId: member.userId }
    const races = await Promise.all(Array.from({ length: 3 }, () => app.call('POST', path, { as: owner, json })))
    assert.deepEqual(
      races.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 201],
    )
    const [first] = races
    const { createdAt, ...record } = first!.body.data
    assert.deepEqual(record, { userId: member.userId, email: member.email, name: 'User', role: 'member' })
    assert.ok(createdAt)
    const { body } = await app.call('GET', path, { as: member })
    assert.deepEqual(
      new Set(body.data.items.map(({ userId }: { userId: string }) => userId)),
      new Set([owner.userId, member.userId]),
    )
    const one = `${path}/${member.userId}`
    assert.deepEqual((await app.call('DELETE', one, { as: owner })).body.data, { deleted: true })
    assert.equal((await app.call('GET', path, { as: member })).status, 404)
    const missing = await Promise.all(
      [member.userId, newId(), 'nonsense'].map((id) => app.call('DELETE', `${path}/${id}`, { as: owner })),
    )
    assert.deepEqual(new Set(missing.map(({ status }) => status)), new Set([404]))
    assert.equal(new Set(missing.map(({ text }) => text)).size, 1)
  })

  test('gives the same response for adding a person of another org and an unknown person', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const path = `/api/v1/workspaces/${owner.workspaceId}/members`
    const [foreign, missing] = await Promise.all(
      [stranger.userId, newId()].map((userId) => app.call('POST', path, { as: owner, json: { userId } })),
    )
    assert.equal(foreign?.status, 404)
    assert.equal(foreign?.text, missing?.text)
    assert.equal((await app.call('POST', path, { as: owner, json: { userId: 'x' } })).status, 400)
  })
})
