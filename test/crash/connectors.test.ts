// `kill -9` after a request to the provider and before the commit of its result.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { freshAccess } from '../../src/connectors/oauth/refresh.ts'
import { sql } from '../../src/platform/database/database.ts'
import { addOAuth, startProvider } from '../fakes/provider.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { until } from '../support/until.ts'
import type { Options } from './connectors-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const client = { clientId: 'client', clientSecret: 'planted-client-secret' }
const google = await startProvider()
const googleOauth = addOAuth(google, {
  ...client,
  authorizePath: '/o/oauth2/v2/auth',
  tokenPath: '/token',
  scope: 'https://www.googleapis.com/auth/gmail.readonly',
  expiresIn: 3_600,
})
google.on('GET', '/gmail/v1/users/me/profile', { body: { emailAddress: 'ann@example.com' } })
const revokedTokens: string[] = []
google.on('POST', '/revoke', (seen) => {
  revokedTokens.push((seen.body as { token: string }).token)
  return { body: {} }
})
const jira = await startProvider()
const jiraOauth = addOAuth(jira, {
  ...client,
  authorizePath: '/authorize',
  tokenPath: '/oauth/token',
  tokenBody: 'json',
  scope: 'read:jira-work',
  expiresIn: 3_600,
  rotates: true,
})
jira.on('GET', '/oauth/token/accessible-resources', { body: [{ id: 'cloud-1', name: 'Planets' }] })

const env = {
  CONNECTOR_GMAIL_CLIENT_ID: client.clientId,
  CONNECTOR_GMAIL_CLIENT_SECRET: client.clientSecret,
  CONNECTOR_GMAIL_BASE_URL: google.url,
  CONNECTOR_JIRA_CLIENT_ID: client.clientId,
  CONNECTOR_JIRA_CLIENT_SECRET: client.clientSecret,
  CONNECTOR_JIRA_BASE_URL: jira.url,
}
const app = await startTestApp(env)
const { db, deps, connection, config } = app
const api = '/api/v1'

const startMortal = async (dieAt: Options['dieAt']): Promise<{ child: ChildProcess; url: string }> => {
  const options = { connection, env: { NODE_ENV: 'test', PORT: '0', DATA_DIR: config.dataDir, ...env }, dieAt }
  const child = fork(new URL('connectors-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  const [url] = (await once(child, 'message', { signal: AbortSignal.timeout(120_000) })) as [string]
  return { child, url }
}

const waitForKill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) {
    await once(child, 'exit', { signal: AbortSignal.timeout(120_000) })
  }
  assert.equal(child.signalCode, 'SIGKILL')
}

interface Connecting {
  owner: TestActor
  id: string
  flow: { code: string; state: string }
}

const begin = async (connectorSlug: string): Promise<Connecting> => {
  const owner = await app.createOrg()
  const { body } = await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug } })
  const flow = (connectorSlug === 'jira' ? jiraOauth : googleOauth).consent(body.data.oauthUrl)
  return { owner, id: body.data.connection.id, flow }
}

const complete = ({ owner, id, flow }: Connecting) =>
  app.call('POST', `${api}/connections/${id}/oauth`, { as: owner, json: flow })

const read = async ({ owner, id }: Connecting) =>
  (await app.call('GET', `${api}/connections/${id}`, { as: owner })).body.data

const connect = async (connectorSlug: string): Promise<Connecting> => {
  const connecting = await begin(connectorSlug)
  const { status, text } = await complete(connecting)
  assert.equal(status, 200, text)
  return connecting
}

const signInAgain = async (connecting: Connecting): Promise<void> => {
  const { owner, id } = connecting
  const oauth = (await read(connecting)).connectorSlug === 'jira' ? jiraOauth : googleOauth
  const { body } = await app.call('GET', `${api}/connections/${id}/oauth`, { as: owner })
  assert.equal((await complete({ ...connecting, flow: oauth.consent(body.data.oauthUrl) })).status, 200)
  assert.equal((await read(connecting)).status, 'active')
}

describe('kill -9 of a server', () => {
  test('a kill between the code exchange and its commit leaves the connection pending and the code consumed', async () => {
    const { child, url } = await startMortal('after-exchange')
    const connecting = await begin('gmail')
    const { owner, id, flow } = connecting
    const requests = google.count('POST', '/token')
    const cut = fetch(`${url}${api}/connections/${id}/oauth`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(flow),
    })
    await assert.rejects(cut)
    await waitForKill(child)
    assert.equal(google.count('POST', '/token') - requests, 1)

    const rows = JSON.stringify(await db.rows(sql`select * from connections where id = ${id}`))
    assert.deepEqual([(await read(connecting)).status, JSON.parse(rows)[0].secrets], ['pending', null])
    for (const secret of googleOauth.issued) assert.ok(!rows.includes(secret))
    const again = await complete(connecting)
    assert.deepEqual([again.status, again.body.error.code], [400, 'BAD_REQUEST'])
    assert.equal(google.count('POST', '/token') - requests, 1, 'no second request with the same code')
    await signInAgain(connecting)
  })

  for (const [slug, oauth, outcome] of [
    ['gmail', googleOauth, 'active'],
    // Jira rotates refresh tokens, so the lost one was the only valid one and the user must sign in again.
    ['jira', jiraOauth, 'error'],
  ] as const) {
    test(`a kill between a token refresh at ${slug} and its commit leaves a connection that is ${outcome}`, async () => {
      const connecting = await connect(slug)
      const { owner, id } = connecting
      await db.execute(sql`update connections set refresh_due_at = now(), token_expires_at = now() where id = ${id}`)
      const before = oauth.refreshes
      const { child } = await startMortal('after-refresh')
      child.send({ orgId: owner.orgId, id })
      await waitForKill(child)
      assert.equal(oauth.refreshes - before, 1)

      // Ends the lease of the killed server, which takes 30 s otherwise.
      await db.execute(sql`update connections set lease_until = ${new Date()} where id = ${id}`)
      const access = await freshAccess(deps, { orgId: owner.orgId, id }).catch((error: Error) => error)
      assert.equal(oauth.refreshes - before, 2)
      const { status, lastError } = await read(connecting)
      assert.equal(status, outcome)
      if (outcome === 'active') {
        assert.ok(!(access instanceof Error) && oauth.accessTokens.has(access.secrets['accessToken'] ?? ''))
      } else {
        assert.match(lastError, /Connect again/)
        await signInAgain(connecting)
      }
    })
  }

  test('a kill between a deletion and the response of the provider leaves the connection revoked, and the grant is revoked later', async () => {
    const connecting = await connect('gmail')
    const { owner, id } = connecting
    const { child, url } = await startMortal('before-revocation')
    const headers = { authorization: `Bearer ${owner.key}` }
    await assert.rejects(fetch(`${url}${api}/connections/${id}`, { method: 'DELETE', headers }))
    await waitForKill(child)
    assert.equal(revokedTokens.length, 0)
    assert.equal((await app.call('GET', `${api}/connections/${id}`, { as: owner })).status, 404)
    await assert.rejects(freshAccess(deps, { orgId: owner.orgId, id }), { code: 'CONFLICT' })

    await db.execute(sql`update connections set lease_until = ${new Date()} where id = ${id}`)
    await db.execute(sql`update pgboss.job set start_after = now() where name = 'connection.revoke'`)
    await until('the grant is revoked', () => revokedTokens.length === 1)
    await until('the secrets are deleted', async () => {
      const row = await db.row<{ secrets: string | null }>(sql`select secrets from connections where id = ${id}`)
      return row?.secrets === null
    })
  })
})
