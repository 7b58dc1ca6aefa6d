import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { startChatProviders } from '../../../test/fakes/chat-providers.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { createAgent } from '../../../test/support/chat.ts'
import { addEndpoint, deliver } from '../../../test/support/endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { sweepConnections } from '../oauth/revocation-job.ts'

const providers = await startChatProviders()
providers.play()
const model = await startFakeModel()
const google = await startProvider()
const oauth = addOAuth(google, {
  clientId: 'client-1',
  clientSecret: 'planted-client-secret',
  authorizePath: '/o/oauth2/v2/auth',
  tokenPath: '/token',
  scope: 'https://www.googleapis.com/auth/gmail.readonly',
  expiresIn: 3_600,
})
google.on('GET', '/gmail/v1/users/me/profile', (seen) =>
  oauth.isGood(seen) ? { body: { emailAddress: 'ann@example.com' } } : { status: 401, body: {} },
)
google.on('POST', '/revoke', (seen) => {
  oauth.accessTokens.clear()
  oauth.refreshTokens.delete((seen.body as { token: string }).token)
  return { body: {} }
})
const app = await startTestApp({
  ...providers.env,
  CONNECTOR_GMAIL_CLIENT_ID: 'client-1',
  CONNECTOR_GMAIL_CLIENT_SECRET: 'planted-client-secret',
  CONNECTOR_GMAIL_BASE_URL: google.url,
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: model.baseUrl,
  MODEL_FAKE_MODELS: 'm',
  MODEL_FAKE_FREE: '1',
})
const { db } = app
const api = '/api/v1'

const message = {
  update_id: 1,
  message: {
    message_id: 1,
    from: { id: 7, is_bot: false, first_name: 'Ada' },
    chat: { id: 7, type: 'private' },
    date: 1,
    text: 'private words',
  },
}

const remove = async (by: TestActor, { orgId, userId }: TestActor): Promise<void> => {
  const row = await db.row<{ id: string }>(sql`select id from members where org_id = ${orgId} and user_id = ${userId}`)
  const { status, text } = await app.call('DELETE', `${api}/members/${row?.id}`, { as: by })
  assert.equal(status, 200, text)
}

const stateOf = (id: string) =>
  db.row<{ status: string; hasSecrets: boolean }>(
    sql`select status, secrets is not null as has_secrets from connections where id = ${id}`,
  )
const ended = { status: 'revoked', hasSecrets: false }

const begin = async (as: TestActor) => {
  const started = await app.call('POST', `${api}/connections`, { as, json: { connectorSlug: 'gmail' } })
  const { code, state } = oauth.consent(started.body.data.oauthUrl)
  return { id: started.body.data.connection.id as string, code, state }
}

const complete = (as: TestActor, { id, code, state }: { id: string; code: string; state: string }) =>
  app.call('POST', `${api}/connections/${id}/oauth`, { as, json: { code, state } })

const connect = async (as: TestActor): Promise<string> => {
  const flow = await begin(as)
  const { status, text } = await complete(as, flow)
  assert.equal(status, 200, text)
  return flow.id
}

describe('the connections of a person who is removed from the org', () => {
  test('are revoked with their secrets, receive no events, and are audited', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const agent = await createAgent(app, owner, { name: 'Helper' })
    const endpoint = await addEndpoint(app, member, 'telegram', { agentId: agent.id })
    const kept = await addEndpoint(app, owner, 'telegram', { agentId: null })
    await remove(owner, member)
    assert.deepEqual(await stateOf(endpoint.connectionId), ended)
    assert.equal((await deliver(app, endpoint, message)).status, 404)
    const events = await db.rows(sql`select 1 as one from connector_events where endpoint_id = ${endpoint.id}`)
    assert.deepEqual([events.length, providers.messages.length], [0, 0])
    const audited = await db.rows<{ id: string; by: string }>(sql`
      select resource_id as id, user_id as by from audit_log
      where org_id = ${owner.orgId} and action = 'connection.revoked'`)
    assert.deepEqual(audited, [{ id: endpoint.connectionId, by: owner.userId }])
    assert.equal((await stateOf(kept.connectionId))?.status, 'active')
    assert.equal((await deliver(app, kept, message)).status, 200)
  })

  test('get no reply that is finished after the removal', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const agent = await createAgent(app, owner, { name: 'Slow', model: 'fake/m' })
    const endpoint = await addEndpoint(app, member, 'telegram', { agentId: agent.id })
    const { script, asked, release } = held(reply(['Too late.']))
    model.play(script)
    await deliver(app, endpoint, message)
    await asked
    await remove(owner, member)
    release()
    await until('the reply has ended', async () => {
      const row = await db.row<{ state: string }>(
        sql`select state from connector_events where endpoint_id = ${endpoint.id}`,
      )
      return row?.state === 'silent'
    })
    assert.equal(providers.messages.length, 0)
  })

  test('are revoked at their providers, and their OAuth flows cannot be completed', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'owner')
    // The second one leaves by themselves.
    for (const [leaver, by] of [
      [await app.createUser(owner, 'member'), owner],
      [other, other],
    ] as const) {
      const id = await connect(leaver)
      const restarted = await app.call('GET', `${api}/connections/${id}/oauth`, { as: leaver })
      const { code, state } = oauth.consent(restarted.body.data.oauthUrl)
      await remove(by, leaver)
      await until('the grant is revoked', async () => (await stateOf(id))?.hasSecrets === false)
      assert.deepEqual([await stateOf(id), oauth.accessTokens.size], [ended, 0])
      const exchanges = google.count('POST', '/token')
      const completed = await app.call('POST', `${api}/connections/oauth/callback`, {
        body: new URLSearchParams({ code, state }),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      assert.deepEqual([completed.status, google.count('POST', '/token')], [400, exchanges])
    }
  })
})

test('grants of one org whose provider does not respond leave workers for the revocations of other orgs', async () => {
  const revoke = async (orgOwner: TestActor, count: number): Promise<void> => {
    const leavers: TestActor[] = []
    for (let n = 0; n < count; n++) {
      const leaver = await app.createUser(orgOwner, 'member')
      await connect(leaver)
      leavers.push(leaver)
    }
    for (const leaver of leavers) await remove(orgOwner, leaver)
  }
  const [slow, other] = [await app.createOrg(), await app.createOrg()]
  const silence = Promise.withResolvers<object>()
  let [waiting, over] = [0, 0]
  google.on('POST', '/revoke', (_seen, response) => {
    waiting += 1
    response.on('close', () => (over += 1))
    return silence.promise
  })
  await revoke(slow, 8)
  await until('revocations wait for the provider', async () => waiting > 0)
  const before = { over: -1 }
  google.on('POST', '/revoke', () => {
    before.over = over
    return { body: {} }
  })
  await revoke(other, 1)
  await until('the grant of the other org is revoked', async () => before.over >= 0)
  assert.equal(before.over, 0)
  silence.resolve({ body: {} })
})

describe('the connections of a person whom an earlier version has removed', () => {
  const removeOnly = ({ orgId, userId }: TestActor) =>
    db.execute(sql`delete from members where org_id = ${orgId} and user_id = ${userId}`)

  test('receive no events and complete no OAuth flow, and the hourly job revokes them', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const endpoint = await addEndpoint(app, member, 'telegram', { agentId: null })
    const flow = await begin(member)
    const own = await connect(owner)
    await removeOnly(member)
    assert.equal((await deliver(app, endpoint, message)).status, 404)
    const callback = { code: flow.code, state: flow.state }
    const shown = await app.call(
      'GET',
      `${api}/connections/oauth/callback?${new URLSearchParams(callback).toString()}`,
      {
        headers: { accept: 'text/html' },
      },
    )
    const confirmed = await app.call('POST', `${api}/connections/oauth/callback`, {
      body: new URLSearchParams(callback),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.deepEqual([shown.status, confirmed.status], [400, 400])
    await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, sweepConnections, {}))
    for (const id of [endpoint.connectionId, flow.id]) {
      await until('the connection is revoked', async () => (await stateOf(id))?.status === 'revoked')
      assert.deepEqual(await stateOf(id), ended)
    }
    assert.equal((await stateOf(own))?.status, 'active')
  })

  test('are revoked by the hourly job for the orgs after one that fails', async () => {
    const left = async () => {
      const member = await app.createUser(await app.createOrg(), 'member')
      const flow = await begin(member)
      await removeOnly(member)
      return { orgId: member.orgId, id: flow.id }
    }
    const [broken, right] = [await left(), await left()]
    assert.ok(broken.orgId < right.orgId)
    await db.execute(sql`create table broken_connections as select ${broken.id}::uuid as id`)
    await db.execute(sql`
      create function reject_change() returns trigger language plpgsql security definer as $$
      begin
        if exists (select from broken_connections b where b.id = new.id) then raise exception 'broken'; end if;
        return new;
      end $$`)
    await db.execute(
      sql`create trigger reject_change before update on connections for each row execute function reject_change()`,
    )
    try {
      await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, sweepConnections, {}))
      await until('the connection of the second org is revoked', async () => {
        return (await stateOf(right.id))?.status === 'revoked'
      })
      assert.ok(app.logLines.some((line) => line.includes('could not be swept') && line.includes(broken.orgId)))
    } finally {
      await db.execute(sql`drop trigger reject_change on connections`)
    }
    assert.notEqual((await stateOf(broken.id))?.status, 'revoked')
  })
})
