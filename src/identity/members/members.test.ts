import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { createActivity } from '../activity.ts'
import { systemActor } from '../actor.ts'
import { recordActivity } from '../queries.ts'
import { addMember } from './members.ts'
import { hashPassword, setPassword } from '../sign-in/passwords.ts'
import { createSignInLink } from '../sign-in/links.ts'

const app = await startTestApp({ RATE_LIMIT_WRITES: '0' })
const second = await app.secondServer({ RATE_LIMIT_WRITES: '0' })

const memberId = async (actor: TestActor): Promise<string> => {
  const row = await app.db.row<{ id: string }>(sql`
    select id from members where org_id = ${actor.orgId} and user_id = ${actor.userId}`)
  return row!.id
}
const setRole = async (as: TestActor, of: TestActor, role: string, on = app): Promise<Answer> =>
  on.call('PATCH', `/api/v1/members/${await memberId(of)}`, { as, json: { role }, headers: await app.stepUp(as) })
const remove = async (as: TestActor, of: TestActor, on = app): Promise<Answer> =>
  on.call('DELETE', `/api/v1/members/${await memberId(of)}`, { as })
/** Adds a member without an invitation, as the operator does. */
const addDirectly = ({ orgId }: TestActor, { email }: TestActor) =>
  app.db.transaction('all orgs', (db) => addMember(db, systemActor(orgId, 'test'), { email, role: 'member' }))
const ownersOf = async ({ orgId }: TestActor): Promise<number> => {
  const row = await app.db.row<{ count: number }>(sql`
    select count(*)::int as count from members where org_id = ${orgId} and role = 'owner'`)
  return row!.count
}

describe('POST /members', () => {
  test('adds a new person to the default workspace with the address in lower case', async () => {
    const owner = await app.createOrg()
    const answer = await app.call('POST', '/api/v1/members', {
      as: owner,
      json: { email: `Ada.${owner.orgId}@Example.com`, name: 'Ada', role: 'member' },
    })
    assert.equal(answer.status, 201, answer.text)
    const { id, userId, createdAt, ...rest } = answer.body.data
    assert.deepEqual(rest, {
      email: `ada.${owner.orgId}@example.com`,
      name: 'Ada',
      role: 'member',
      status: 'active',
      expiresAt: null,
      signInLink: null,
    })
    assert.equal((await app.call('GET', `/api/v1/members/${id}`, { as: owner })).body.data.createdAt, createdAt)
    const { body } = await app.call('GET', `/api/v1/workspaces/${owner.workspaceId}/members`, { as: owner })
    assert.ok(body.data.items.some((item: { userId: string }) => item.userId === userId))
  })

  test('invites a person of another org under the given name, shows nothing of the other org, and responds with CONFLICT to a repetition', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const json = { email: stranger.email, name: 'Renamed', role: 'member' }
    const races = await Promise.all([1, 2, 3].map(() => app.call('POST', '/api/v1/members', { as: owner, json })))
    assert.deepEqual(
      races.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409],
    )
    const added = races.find(({ status }) => status === 201)
    assert.equal(added?.body.data.userId, stranger.userId)
    assert.equal(added?.body.data.name, 'Renamed')
    assert.equal(added?.body.data.status, 'invited')
    const { path: link } = await app.db.transaction('all orgs', (db) => createSignInLink(db, stranger.userId, null))
    const signIn = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: link.split('=')[1] } })
    const headers = { cookie: signIn.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url }
    const accepted = await app.call('POST', `/api/v1/me/invitations/${added?.body.data.id}/accept`, { headers })
    assert.equal(accepted.status, 200, accepted.text)
    for (const path of ['/api/v1/members', `/api/v1/workspaces/${owner.workspaceId}/members`]) {
      const { body } = await app.call('GET', path, { as: owner })
      const names = body.data.items.map(({ name }: { name: string }) => name).toSorted()
      assert.deepEqual(names, ['Renamed', 'User'], path)
    }
    assert.equal((await app.call('GET', '/api/v1/me', { as: stranger })).body.data.user.name, 'User')
  })

  test('adds a member to the named workspaces, and adds nobody when one of them is of another org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const add = (email: string, workspaceIds: string[]) =>
      app.call('POST', '/api/v1/members', { as: owner, json: { email, role: 'member', workspaceIds } })
    const [foreign, missing] = await Promise.all([
      add('a@foreign.example', [owner.workspaceId, stranger.workspaceId]),
      add('b@foreign.example', [owner.workspaceId, newId()]),
    ])
    assert.equal(foreign?.status, 404)
    assert.equal(foreign?.text, missing?.text)
    assert.equal((await add('c@foreign.example', [])).status, 201)
    const { body } = await app.call('GET', '/api/v1/members', { as: owner })
    assert.deepEqual(
      body.data.items.map(({ email }: { email: string }) => email),
      [owner.email, 'c@foreign.example'],
    )
    const one = await app.call('GET', `/api/v1/members?userId=${owner.userId}`, { as: owner })
    assert.deepEqual(
      one.body.data.items.map(({ email }: { email: string }) => email),
      [owner.email],
    )
    const inside = await app.call('GET', `/api/v1/workspaces/${owner.workspaceId}/members`, { as: owner })
    assert.equal(inside.body.data.items.length, 1)
  })

  test('requires step-up for roles other than member, and lets only owners add owners', async () => {
    const owner = await app.createOrg()
    const admin = await app.createUser(owner, 'admin')
    let number = 0
    const add = async (as: TestActor, role: string, headers: Record<string, string>): Promise<number> => {
      const email = `${(number += 1)}.${owner.orgId}@example.com`
      return (await app.call('POST', '/api/v1/members', { as, json: { email, role }, headers })).status
    }
    assert.equal(await add(admin, 'member', {}), 201)
    for (const role of ['admin', 'billing_manager', 'owner']) assert.equal(await add(owner, role, {}), 403, role)
    const headers = await app.stepUp(owner)
    for (const role of ['admin', 'billing_manager', 'owner']) assert.equal(await add(owner, role, headers), 201, role)
    const ofAdmin = await app.stepUp(admin)
    assert.equal(await add(admin, 'owner', ofAdmin), 403)
    assert.equal(await add(admin, 'admin', ofAdmin), 201)
    assert.equal(await ownersOf(owner), 2)
  })

  test('returns a one-time sign-in link to a caller who stepped up, only for a person without a password for all orgs', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const headers = await app.stepUp(owner)
    const email = `new.${owner.orgId}@example.com`
    const { body } = await app.call('POST', '/api/v1/members', { as: owner, json: { email, role: 'member' }, headers })
    const [origin, token] = body.data.signInLink.split('/sign-in#link=')
    assert.equal(origin, app.url)
    const signIn = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } })
    assert.equal(signIn.status, 200)
    const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    assert.equal((await app.call('GET', '/api/v1/me', { headers: { cookie } })).body.data.user.email, email)

    const hash = await hashPassword('a good password')
    await app.db.transaction('all orgs', (db) => setPassword(db, stranger.userId, hash))
    const foreign = { email: stranger.email, role: 'member' }
    const known = await app.call('POST', '/api/v1/members', { as: owner, json: foreign, headers })
    assert.equal(known.status, 201)
    assert.equal(known.body.data.signInLink, null, 'they have a password of the operator, which opens this org too')
  })

  test('rejects an invalid address, role or name', async () => {
    const owner = await app.createOrg()
    for (const json of [
      {},
      { email: 'a@b.example' },
      { email: 'nonsense', role: 'member' },
      { email: 'a b@c.example', role: 'member' },
      { email: 'a@b.example', role: 'king' },
      { email: 'a@b.example', role: 'member', name: ' ' },
      { email: 'a@b.example', role: 'member', workspaceIds: ['x'] },
      { email: `${'a'.repeat(250)}@b.example`, role: 'member' },
    ]) {
      const { status } = await app.call('POST', '/api/v1/members', { as: owner, json })
      assert.equal(status, 400, JSON.stringify(json))
    }
  })
})

describe('PATCH /members/:id', () => {
  test('changes a role with step-up, at once on every process', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const path = `/api/v1/members/${await memberId(member)}`
    assert.equal((await app.call('PATCH', path, { as: owner, json: { role: 'admin' } })).status, 403)
    assert.equal((await second.call('GET', '/api/v1/me', { as: member })).body.data.role, 'member')
    const answer = await setRole(owner, member, 'admin')
    assert.equal(answer.status, 200)
    assert.equal(answer.body.data.role, 'admin')
    assert.equal(answer.headers.get('etag'), '"2"')
    assert.equal((await second.call('GET', '/api/v1/me', { as: member })).body.data.role, 'admin')
    const headers = { ...(await app.stepUp(owner)), 'if-match': '"1"' }
    assert.equal((await app.call('PATCH', path, { as: owner, json: { role: 'member' }, headers })).status, 409)
    for (const json of [{}, { role: 'king' }, { role: null }]) {
      assert.equal((await app.call('PATCH', path, { as: owner, json })).status, 400)
    }
  })

  test('lets only owners add, change or remove owners', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'owner')
    const admin = await app.createUser(owner, 'admin')
    const member = await app.createUser(owner, 'member')
    assert.equal((await setRole(admin, member, 'owner')).status, 403)
    assert.equal((await setRole(admin, admin, 'owner')).status, 403)
    assert.equal((await setRole(admin, other, 'member')).status, 403)
    assert.equal((await remove(admin, other)).status, 403)
    assert.equal((await setRole(admin, member, 'billing_manager')).status, 200)
    assert.equal((await setRole(owner, member, 'owner')).status, 200)
    assert.equal((await setRole(owner, other, 'member')).status, 200)
    assert.equal(await ownersOf(owner), 2)
  })
})

describe('the last owner', () => {
  test('rejects demoting and removing the last owner', async () => {
    const owner = await app.createOrg()
    for (const answer of [await setRole(owner, owner, 'admin'), await remove(owner, owner)]) {
      assert.equal(answer.status, 409)
      assert.equal(answer.body.error.code, 'CONFLICT')
    }
    assert.equal((await setRole(owner, owner, 'owner')).status, 200, 'nothing changes')
    assert.equal(await ownersOf(owner), 1)
  })

  test('keeps one owner when two owners demote or remove each other at the same time on two processes', async () => {
    for (let round = 0; round < 8; round++) {
      const one = await app.createOrg()
      const two = await app.createUser(one, 'owner')
      const answers = await Promise.all(
        round % 2 === 0
          ? [setRole(one, two, 'member'), setRole(two, one, 'member', second)]
          : [remove(one, two), setRole(two, one, 'admin', second)],
      )
      assert.equal(await ownersOf(one), 1)
      const won = answers.filter(({ status }) => status === 200)
      assert.equal(won.length, 1, JSON.stringify(answers.map(({ status, text }) => [status, text])))
    }
  })

  test('keeps one owner when two owners demote themselves at the same time', async () => {
    for (let round = 0; round < 8; round++) {
      const one = await app.createOrg()
      const two = await app.createUser(one, 'owner')
      const answers = await Promise.all([setRole(one, one, 'member'), setRole(two, two, 'member', second)])
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 409],
      )
      assert.equal(await ownersOf(one), 1)
    }
  })
})

describe('DELETE /members/:id', () => {
  test('ends the keys of a removed member at once on every process, but not those of another org', async () => {
    const owner = await app.createOrg()
    const elsewhere = await app.createOrg()
    await addDirectly(owner, elsewhere)
    const member = await app.createUser(owner, 'member')
    assert.equal((await second.call('GET', '/api/v1/me', { as: member })).status, 200)
    const answer = await remove(owner, member)
    assert.deepEqual(answer.body, { success: true, data: { deleted: true } })
    assert.equal((await second.call('GET', '/api/v1/me', { as: member })).status, 401)
    assert.equal((await remove(owner, { ...elsewhere, orgId: owner.orgId })).status, 200)
    assert.equal((await second.call('GET', '/api/v1/me', { as: elsewhere })).status, 200)
  })

  test('ends the sessions of a removed person without another org, and keeps access to another org', async () => {
    const owner = await app.createOrg()
    const elsewhere = await app.createOrg()
    await addDirectly(owner, elsewhere)
    const hash = await hashPassword('a good password')
    await app.db.transaction('all orgs', (db) => setPassword(db, elsewhere.userId, hash))
    const json = { email: elsewhere.email, password: 'a good password' }
    const signIn = await app.call('POST', '/api/v1/auth/sign-in', { json })
    const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const here = { cookie, 'x-org-id': owner.orgId }
    assert.equal((await second.call('GET', '/api/v1/me', { headers: here })).status, 200)
    await remove(owner, { ...elsewhere, orgId: owner.orgId })
    assert.equal((await second.call('GET', '/api/v1/me', { headers: here })).status, 403)
    assert.equal((await second.call('GET', '/api/v1/me', { headers: { cookie } })).status, 200)
  })

  test('rejects the removal of a member with an outdated If-Match', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const path = `/api/v1/members/${await memberId(member)}`
    const call = (tag: string) => app.call('DELETE', path, { as: owner, headers: { 'if-match': tag } })
    assert.equal((await call('"7"')).status, 409)
    assert.equal((await call('"1"')).status, 200)
  })
})

describe('members of other orgs', () => {
  test('gives the same response for members of other orgs, missing and malformed ids', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const headers = await app.stepUp(owner)
    const foreign = await memberId(stranger)
    for (const [method, json] of [['GET'], ['PATCH', { role: 'member' }], ['DELETE']] as const) {
      const answers = await Promise.all(
        [foreign, newId(), 'nonsense'].map((id) =>
          app.call(method, `/api/v1/members/${id}`, { as: owner, headers, ...(json && { json }) }),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]), method)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    }
    assert.equal(await ownersOf(stranger), 1)
  })
})

describe('what the list of members tells', () => {
  const listOf = async (as: TestActor) => (await app.call('GET', '/api/v1/members', { as })).body.data.items
  const storedAt = async ({ orgId, userId }: TestActor) =>
    (
      await app.db.row<{ at: string | null }>(sql`
        select last_active_at::text as at from members where org_id = ${orgId} and user_id = ${userId}`)
    )?.at

  test('owners and admins see when members were active, accurate to an hour; others do not', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    assert.equal(
      (await listOf(owner)).find((one: { userId: string }) => one.userId === member.userId).lastActiveAt,
      null,
    )
    await listOf(member)
    await until('the activity is stored', async () => (await storedAt(member)) !== null)
    const first = await storedAt(member)
    const seen = (await listOf(owner)).find((one: { userId: string }) => one.userId === member.userId)
    assert.equal(new Date(seen.lastActiveAt).getTime(), new Date(first ?? 0).getTime())
    for (const one of await listOf(member)) assert.equal(one.lastActiveAt, null)
    // Requests within the hour write nothing, those of another process neither.
    await recordActivity(app.db, member.orgId, member.userId)
    assert.equal(await storedAt(member), first)
    await app.db.execute(sql`
      update members set last_active_at = '2026-01-01T00:00:00Z' where org_id = ${member.orgId} and user_id = ${member.userId}`)
    await recordActivity(app.db, member.orgId, member.userId)
    assert.notEqual(await storedAt(member), '2026-01-01 00:00:00+00')
  })

  test('a process stores the activity of a person and org once an hour', async () => {
    const owner = await app.createOrg()
    let ms = 0
    let writes = 0
    const db = { execute: () => Promise.resolve((writes += 1)) }
    const note = createActivity(db as never, { now: () => ms, onError: (error) => assert.fail(String(error)) })
    const actor = { orgId: owner.orgId, userId: owner.userId } as never
    note(actor)
    ms = 3_599_999
    note(actor)
    assert.equal(writes, 1)
    ms = 3_600_000
    note(actor)
    note({ orgId: 'another org', userId: owner.userId } as never)
    assert.equal(writes, 3)
  })

  test('lists at most 20 workspaces of each member, and to members only those of their own', async () => {
    const owner = await app.createOrg()
    const [ada, bob] = [await app.createUser(owner, 'member'), await app.createUser(owner, 'member')]
    const created = []
    for (let index = 0; index < 21; index += 1) {
      const json = { name: `Team ${String(index).padStart(2, '0')}` }
      const { body } = await app.call('POST', '/api/v1/workspaces', { as: owner, json })
      created.push(body.data.id)
    }
    const join = async (workspaceId: string, { userId }: TestActor) =>
      app.call('POST', `/api/v1/workspaces/${workspaceId}/members`, { as: owner, json: { userId } })
    for (const id of created) await join(id, ada)
    await join(created[3], bob)
    const workspacesOf = async (as: TestActor, { userId }: TestActor) => {
      const { workspaces, workspaceCount } = (await listOf(as)).find((one: { userId: string }) => one.userId === userId)
      return [workspaceCount, workspaces.map(({ name }: { name: string }) => name)]
    }
    const [count, names] = await workspacesOf(owner, ada)
    const isInMain = names.includes('Main')
    assert.deepEqual([count, names.length], [isInMain ? 22 : 21, 20])
    const [, seen] = await workspacesOf(bob, ada)
    assert.deepEqual(seen, isInMain ? ['Main', 'Team 03'] : ['Team 03'])
  })
})
