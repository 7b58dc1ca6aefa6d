import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { systemActor } from '../actor.ts'
import { addMember } from './members.ts'
import { endExpired } from './invitations.ts'
import { createSignInLink } from '../sign-in/links.ts'

const app = await startTestApp()

const invite = async (as: TestActor, email: string, role = 'member', more: object = {}): Promise<Answer> =>
  app.call('POST', '/api/v1/members', { as, json: { email, role, ...more }, headers: await app.stepUp(as) })

/** Signs in by a link; without a token, by a link of the operator, which has the scope of all orgs. */
const signIn = async (userId: string, token?: string) => {
  const link =
    token ?? (await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))).path.split('=')[1]
  const answer = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: link } })
  assert.equal(answer.status, 200, answer.text)
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call(method, `/api/v1${path}`, { headers: { cookie, origin: app.url, ...headers } })
}
const invitationsOf = async (browser: Awaited<ReturnType<typeof signIn>>) =>
  (await browser('GET', '/me/invitations')).body.data.items
const tokenOf = (answer: Answer): string => answer.body.data.signInLink.split('#link=')[1]
const actionsOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/audit-log', { as })).body.data.items.map(({ action }: { action: string }) => action)

describe('invitations of existing people', () => {
  test('invites a person of another org, who is not a member in any table or response until they accept', async () => {
    const [owner, person] = [await app.createOrg('Second'), await app.createOrg('First')]
    const answer = await invite(owner, person.email, 'owner', { name: 'Ada' })
    assert.equal(answer.status, 201, answer.text)
    const { id, userId, status } = answer.body.data
    assert.equal(status, 'invited')
    assert.equal(userId, person.userId)
    const list = async (query = '') =>
      (await app.call('GET', `/api/v1/members${query}`, { as: owner })).body.data.items.map(
        (item: { id: string }) => item.id,
      )
    assert.ok(!(await list()).includes(id))
    assert.deepEqual(await list('?status=invited'), [id])
    const one = await app.call('GET', `/api/v1/members/${id}`, { as: owner })
    assert.equal(one.body.data.status, 'invited')
    const inWorkspace = await app.call('GET', `/api/v1/workspaces/${owner.workspaceId}/members`, { as: owner })
    assert.ok(!inWorkspace.text.includes(userId))
    const added = await app.call('POST', `/api/v1/workspaces/${owner.workspaceId}/members`, {
      as: owner,
      json: { userId },
    })
    assert.equal(added.status, 404)
    const change = { as: owner, json: { role: 'member' }, headers: await app.stepUp(owner) }
    assert.equal((await app.call('PATCH', `/api/v1/members/${id}`, change)).status, 409)
    const rows = await app.db.rows(sql`
      select user_id from members where org_id = ${owner.orgId} and user_id = ${userId}`)
    assert.deepEqual(rows, [])

    const browser = await signIn(userId)
    assert.equal((await browser('GET', '/me', { 'x-org-id': owner.orgId })).status, 403)
    const session = (await browser('GET', '/auth/session')).body.data
    assert.deepEqual(
      session.orgs.map(({ name }: { name: string }) => name),
      ['First'],
    )
  })

  test('does not count an invited owner as an owner, so the last owner cannot be removed', async () => {
    const [owner, person] = [await app.createOrg(), await app.createOrg()]
    assert.equal((await invite(owner, person.email, 'owner')).status, 201)
    const { items } = (await app.call('GET', '/api/v1/members', { as: owner })).body.data
    const removed = await app.call('DELETE', `/api/v1/members/${items[0].id}`, { as: owner })
    assert.equal(removed.status, 409)
  })

  test('accepts an invitation once and applies its role, name and workspaces', async () => {
    const [owner, person] = [await app.createOrg('Second'), await app.createOrg('First')]
    const { id } = (await invite(owner, person.email, 'admin', { name: 'Ada' })).body.data
    const browser = await signIn(person.userId)
    const [invitation, ...more] = await invitationsOf(browser)
    assert.deepEqual(more, [])
    const { createdAt, expiresAt, ...rest } = invitation
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 30 * 86_400_000)
    const org = { id: owner.orgId, name: 'Second' }
    assert.deepEqual(rest, { id, org, role: 'admin', invitedBy: 'User' })

    const answers = await Promise.all([1, 2].map(() => browser('POST', `/me/invitations/${id}/accept`)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 404],
    )
    const me = (await browser('GET', '/me', { 'x-org-id': owner.orgId })).body.data
    assert.equal(me.role, 'admin')
    assert.equal(me.user.name, 'Ada')
    assert.equal(me.workspace.id, owner.workspaceId)
    assert.equal((await app.call('GET', `/api/v1/members/${id}`, { as: owner })).body.data.status, 'active')
    assert.deepEqual(await invitationsOf(browser), [])
    assert.ok((await actionsOf(owner)).includes('member.accepted'))
  })

  test('removes all traces of a declined invitation, and lets the org invite again', async () => {
    const [owner, person] = [await app.createOrg(), await app.createOrg()]
    const { id } = (await invite(owner, person.email)).body.data
    assert.equal((await invite(owner, person.email)).status, 409)
    const browser = await signIn(person.userId)
    assert.equal((await browser('POST', `/me/invitations/${id}/decline`)).status, 200)
    assert.equal((await app.call('GET', `/api/v1/members/${id}`, { as: owner })).status, 404)
    assert.equal((await browser('POST', `/me/invitations/${id}/accept`)).status, 404)
    assert.ok((await actionsOf(owner)).includes('member.declined'))
    assert.equal((await invite(owner, person.email)).status, 201)
  })

  test('ends an invitation after 30 days with its sign-in link, and the person can be invited again', async () => {
    const [owner, person] = [await app.createOrg('Second'), await app.createOrg('First')]
    const stepUp = await app.stepUp(owner)
    const send = async () => {
      const json = { email: person.email, role: 'member' }
      return app.call('POST', '/api/v1/members', { as: owner, json, headers: stepUp })
    }
    const age = (id: string) =>
      app.db.execute(sql`update invitations set created_at = now() - interval '30 days' where id = ${id}`)
    const sent = await send()
    const { id, createdAt, expiresAt } = sent.body.data
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 30 * 86_400_000)
    await age(id)
    const browser = await signIn(person.userId)
    assert.deepEqual(await invitationsOf(browser), [])
    for (const answer of ['accept', 'decline'])
      assert.equal((await browser('POST', `/me/invitations/${id}/${answer}`)).status, 404)
    assert.equal((await app.call('GET', `/api/v1/members/${id}`, { as: owner })).status, 404)
    const listed = await app.call('GET', '/api/v1/members?status=invited', { as: owner })
    assert.deepEqual(listed.body.data.items, [])

    const again = await send()
    assert.equal(again.status, 201, again.text)
    const link = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: tokenOf(sent) } })
    assert.equal(link.status, 401, 'the link of the first invitation has ended')
    await age(again.body.data.id)
    await endExpired(app.db)
    const rows = await app.db.rows(sql`select id from invitations where org_id = ${owner.orgId}`)
    assert.deepEqual(rows, [])
    const late = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: tokenOf(again) } })
    assert.equal(late.status, 401)
    const { items } = (await app.call('GET', '/api/v1/audit-log?action=member.invitation-withdrawn', { as: owner }))
      .body.data
    assert.deepEqual(
      items.map(({ details }: { details: object }) => details),
      [1, 2].map(() => ({ userId: person.userId, role: 'member', reason: 'expired' })),
    )
  })

  test("allows an invited person who signs in by the org's link to accept or decline the invitation only", async () => {
    const [owner, person] = [await app.createOrg('Second'), await app.createOrg('First')]
    await app.db.execute(sql`update users set name = 'What First calls them' where id = ${person.userId}`)
    const answer = await invite(owner, person.email)
    const browser = await signIn(person.userId, tokenOf(answer))
    assert.equal((await browser('GET', '/me')).status, 403)
    assert.equal((await browser('GET', '/files')).status, 403)
    assert.equal((await browser('POST', '/auth/password')).status, 403)
    const session = await browser('GET', '/auth/session')
    assert.deepEqual(session.body.data.orgs, [])
    assert.ok(!session.text.includes('What First calls them'))
    assert.equal((await browser('POST', `/me/invitations/${answer.body.data.id}/accept`)).status, 200)
    assert.equal((await browser('GET', '/me')).body.data.org.id, owner.orgId)
    assert.equal((await browser('GET', '/me', { 'x-org-id': person.orgId })).status, 403)
  })

  test('ends a withdrawn invitation and its sign-in link', async () => {
    const [owner, person] = [await app.createOrg(), await app.createOrg()]
    const answer = await invite(owner, person.email)
    const { id } = answer.body.data
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: owner })).status, 200)
    const json = { token: tokenOf(answer) }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in/link', { json })).status, 401)
    assert.deepEqual(await invitationsOf(await signIn(person.userId)), [])
    assert.ok((await actionsOf(owner)).includes('member.invitation-withdrawn'))
  })

  test('ends the invitation when the operator adds the person', async () => {
    const [owner, person] = [await app.createOrg(), await app.createOrg()]
    await invite(owner, person.email)
    const wishes = { email: person.email, role: 'member' as const }
    const member = await app.db.transaction('all orgs', (db) => addMember(db, systemActor(owner.orgId, 'test'), wishes))
    assert.equal(member.status, 'active')
    assert.deepEqual(await invitationsOf(await signIn(person.userId)), [])
  })
})

describe('accepting and declining an invitation', () => {
  test("rejects responses to an invitation from sessions of another org's link, other people, API keys and other origins", async () => {
    const [owner, other] = [await app.createOrg(), await app.createOrg()]
    const first = await invite(other, `new-${newId()}@example.com`)
    const { userId, email, status } = first.body.data
    assert.equal(status, 'active', 'the person was new')
    const { id } = (await invite(owner, email)).body.data
    const elsewhere = await signIn(userId, tokenOf(first))
    assert.deepEqual(await invitationsOf(elsewhere), [])
    assert.equal((await elsewhere('POST', `/me/invitations/${id}/accept`)).status, 404)
    const stranger = await signIn(other.userId)
    assert.deepEqual(await invitationsOf(stranger), [])
    for (const answer of ['accept', 'decline']) {
      assert.equal((await stranger('POST', `/me/invitations/${id}/${answer}`)).status, 404)
      assert.equal((await stranger('POST', `/me/invitations/nonsense/${answer}`)).status, 404)
      assert.equal((await app.call('POST', `/api/v1/me/invitations/${id}/${answer}`, { as: other })).status, 403)
    }
    assert.equal((await app.call('GET', '/api/v1/me/invitations', { as: other })).status, 401)
    const person = await signIn(userId)
    const foreign = await person('POST', `/me/invitations/${id}/accept`, { origin: 'https://elsewhere.example' })
    assert.equal(foreign.status, 403)
    assert.equal((await person('POST', `/me/invitations/${id}/accept`)).status, 200)
  })

  test('lets only owners withdraw an invitation as owner', async () => {
    const [owner, person] = [await app.createOrg(), await app.createOrg()]
    const admin = await app.createUser(owner, 'admin')
    const { id } = (await invite(owner, person.email, 'owner')).body.data
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: admin })).status, 403)
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: owner })).status, 200)
  })
})

describe('what a member granted before they lose the right to grant it', () => {
  const memberIdOf = async ({ orgId, userId }: TestActor): Promise<string> =>
    (
      await app.db.row<{ id: string }>(sql`
        select id from members where org_id = ${orgId} and user_id = ${userId}`)
    )?.id ?? ''
  const remove = async (as: TestActor, member: TestActor): Promise<Answer> =>
    app.call('DELETE', `/api/v1/members/${await memberIdOf(member)}`, { as })
  const setRole = async (as: TestActor, member: TestActor, role: string): Promise<Answer> =>
    app.call('PATCH', `/api/v1/members/${await memberIdOf(member)}`, {
      as,
      json: { role },
      headers: await app.stepUp(as),
    })
  const useLink = async (answer: Answer): Promise<number> =>
    (await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: tokenOf(answer) } })).status

  test('withdraws the invitations of a removed owner and their unused sign-in links, and nothing of others', async () => {
    const [owner, accomplice, guest] = [await app.createOrg(), await app.createOrg(), await app.createOrg()]
    const removed = await app.createUser(owner, 'owner')
    const theirs = await invite(removed, accomplice.email, 'owner')
    const ours = await invite(owner, guest.email)
    const link = await invite(removed, `new-${newId()}@example.com`, 'owner')
    const ourLink = await invite(owner, `new-${newId()}@example.com`)
    assert.equal((await remove(owner, removed)).status, 200)
    const person = await signIn(accomplice.userId)
    assert.deepEqual(await invitationsOf(person), [])
    assert.equal((await person('POST', `/me/invitations/${theirs.body.data.id}/accept`)).status, 404)
    assert.equal(await useLink(theirs), 401)
    assert.equal(await useLink(link), 401)
    assert.equal(await useLink(ourLink), 200)
    assert.equal(
      (await (await signIn(guest.userId))('POST', `/me/invitations/${ours.body.data.id}/accept`)).status,
      200,
    )
    const { items } = (await app.call('GET', '/api/v1/audit-log?action=member.invitation-withdrawn', { as: owner }))
      .body.data
    assert.equal(items.length, 1)
    assert.equal(items[0].actor.id, owner.userId)
    assert.deepEqual(items[0].details, { userId: accomplice.userId, role: 'owner', invitedBy: removed.userId })
  })

  test('withdraws only the invitations that a changed role does not permit', async () => {
    const [owner, first, second] = [await app.createOrg(), await app.createOrg(), await app.createOrg()]
    const other = await app.createUser(owner, 'owner')
    assert.equal((await invite(other, first.email, 'owner')).status, 201)
    assert.equal((await invite(other, second.email, 'admin')).status, 201)
    const rolesOf = async (): Promise<string[]> =>
      (await app.call('GET', '/api/v1/members?status=invited', { as: owner })).body.data.items.map(
        ({ role }: { role: string }) => role,
      )
    assert.equal((await setRole(owner, other, 'admin')).status, 200)
    assert.deepEqual(await rolesOf(), ['admin'])
    assert.equal((await setRole(owner, other, 'billing_manager')).status, 200)
    assert.deepEqual(await rolesOf(), [])
  })

  test('adds nobody for an owner who loses the role while the request runs', async () => {
    const [owner, accomplice] = [await app.createOrg(), await app.createOrg()]
    const removed = await app.createUser(owner, 'owner')
    const headers = await app.stepUp(removed)
    const json = { email: accomplice.email, role: 'owner' }
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const change = app.db.transaction('all orgs', async (db) => {
      await db.execute(sql`
        select id from members where org_id = ${owner.orgId} and user_id = ${removed.userId} for update`)
      locked.resolve()
      await release.promise
      await db.execute(sql`
        update members set role = 'member' where org_id = ${owner.orgId} and user_id = ${removed.userId}`)
    })
    await locked.promise
    const pending = app.call('POST', '/api/v1/members', { as: removed, json, headers })
    await until('the request waits for the change', async () => {
      const row = await app.db.row<{ waiting: number }>(sql`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%for share%'`)
      return row?.waiting === 1
    })
    release.resolve()
    await change
    assert.equal((await pending).status, 403)
    assert.deepEqual(await invitationsOf(await signIn(accomplice.userId)), [])
  })
})

describe('POST /members/:id/sign-in-link', () => {
  const renew = async (as: TestActor, id: string, headers?: Record<string, string>) =>
    app.call('POST', `/api/v1/members/${id}/sign-in-link`, { as, headers: headers ?? (await app.stepUp(as)) })
  const statusOf = async (link: string) =>
    (await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: link.split('#link=')[1] } })).status

  test('returns a new link for a person who has never signed in, and the earlier one stops working', async () => {
    const owner = await app.createOrg()
    const added = (await invite(owner, 'new-link@example.com')).body.data
    assert.equal((await renew(owner, added.id, {})).body.error.code, 'FORBIDDEN')
    const { status, body } = await renew(owner, added.id)
    assert.equal(status, 201)
    assert.notEqual(await statusOf(added.signInLink), 200)
    assert.equal(await statusOf(body.data.signInLink), 200)
    const again = await renew(owner, added.id)
    assert.equal(again.body.error.code, 'CONFLICT')
    const entries = (await app.call('GET', '/api/v1/audit-log?action=member.sign-in-link-created', { as: owner })).body
    assert.equal(entries.data.items.length, 1)
    assert.doesNotMatch(JSON.stringify(entries), /link=/)
  })

  test('an invited person gets one, a member who signed in, an owner whom an admin names and a foreign id do not', async () => {
    const [owner, elsewhere] = [await app.createOrg(), await app.createOrg()]
    const invited = (await invite(owner, elsewhere.email)).body.data
    assert.equal(invited.status, 'invited')
    assert.equal((await renew(owner, invited.id)).status, 201)
    const admin = await app.createUser(owner, 'admin')
    const { items } = (await app.call('GET', '/api/v1/members', { as: owner })).body.data
    const idOf = ({ userId }: TestActor) => items.find((one: { userId: string }) => one.userId === userId).id
    assert.equal((await renew(admin, idOf(owner))).status, 403)
    assert.equal((await renew(elsewhere, invited.id)).status, 404)
    await app.db.execute(sql`update users set signed_in_at = now() where id = ${admin.userId}`)
    assert.equal((await renew(owner, idOf(admin))).status, 409)
  })
})
