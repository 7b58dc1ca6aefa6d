// Stores every secret that a connection can have, uses it in successful and failing calls, and then searches all stored
// data.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../platform/database/database.ts'
import { trustAgent } from '../../../test/support/authority.ts'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { callTools, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import type { Seen } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'

const model = await startFakeModel()
const provider = await startProvider()
const clientSecret = 'planted-client-secret'
const keys = {
  airtable: 'planted-airtable-token',
  telegram: '123456:planted-telegram-token',
  twilio: 'planted-twilio-token',
  http: 'planted-http-key',
  mcp: 'planted-mcp-token',
}
const oauth = addOAuth(provider, {
  clientId: 'client',
  clientSecret,
  authorizePath: '/authorize',
  tokenPath: '/oauth/token',
  tokenBody: 'json',
  scope: 'read:jira-work',
  expiresIn: 3_600,
  rotates: true,
})
provider.on('GET', '/oauth/token/accessible-resources', { body: [{ id: 'cloud-1', name: 'Planets' }] })
provider.on('GET', '/v0/meta/whoami', { body: { id: 'usr1', email: 'a@b' } })
provider.on('GET', '/bot*/getMe', { body: { ok: true, result: { id: 1, username: 'bot' } } })
provider.on('GET', '/2010-04-01/Accounts/AC1.json', { body: { sid: 'AC1', friendly_name: 'Shop' } })

/** Returns the whole request in every encoding that the scrubber covers. */
const echo = ({ path, headers, text }: Seen) => {
  const authorization = headers.authorization ?? ''
  const plain = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
  const request = [path, decodeURIComponent(path), authorization, plain, encodeURIComponent(authorization), text]
  return { request, again: JSON.stringify(request), base64: Buffer.from(authorization).toString('base64') }
}
const echoes: [string, string, object][] = [
  ['GET', '/v0/meta/bases', {}],
  ['POST', '/bot*/getChat', { ok: true }],
  ['GET', '/2010-04-01/Accounts/AC1/Messages.json', {}],
  ['GET', '/v1/echo', {}],
  ['GET', '/ex/jira/cloud-1/rest/api/3/project/search', {}],
]
const mcp = addMcp(provider, '/mcp')
mcp.token = keys.mcp
mcp.tools = [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }]
mcp.onCall = () => ({
  content: [{ type: 'text', text: `you are ${keys.mcp}` }],
  structuredContent: { token: keys.mcp },
})

const base = { _BASE_URL: provider.url }
const app = await startTestApp({
  ...Object.fromEntries(
    ['AIRTABLE', 'TELEGRAM', 'TWILIO', 'JIRA'].map((slug) => [`CONNECTOR_${slug}_BASE_URL`, base._BASE_URL]),
  ),
  CONNECTOR_JIRA_CLIENT_ID: 'client',
  CONNECTOR_JIRA_CLIENT_SECRET: clientSecret,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: model.baseUrl,
  MODEL_FAKE_MODELS: 'm',
  MODEL_FAKE_FREE: '1',
})
const api = '/api/v1'
const responses: string[] = []

const call: typeof app.call = async (...request) => {
  const response = await app.call(...request)
  // The caller is the intended recipient of the state in an authorize URL.
  responses.push(`${JSON.stringify([...response.headers])}\n${response.text.replaceAll(/state=[\w-]+/g, '')}`)
  return response
}

test('no secret of a connection is in a response, tool result, prompt, error, log line or in the database', async () => {
  const owner = await app.createOrg()
  const credentials: Record<string, object> = {
    airtable: { token: keys.airtable },
    telegram: { botToken: keys.telegram },
    twilio: { accountSid: 'AC1', authToken: keys.twilio },
    http: { baseUrl: `${provider.url}/v1`, headerValue: `Bearer ${keys.http}` },
    mcp: { url: `${provider.url}/mcp`, token: keys.mcp },
  }
  const ids: string[] = []
  for (const slug of [...Object.keys(credentials), 'jira']) {
    const headers = { 'idempotency-key': `start-${slug}` }
    const started = await call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: slug }, headers })
    const { connection, oauthUrl } = started.body.data
    const json = slug === 'jira' ? oauth.consent(oauthUrl) : { credentials: credentials[slug] }
    const path = `${api}/connections/${connection.id}/${slug === 'jira' ? 'oauth' : 'credentials'}`
    for (const key of ['first', 'first', 'second'].slice(0, slug === 'jira' ? 2 : 3)) {
      const { status, text } = await call('POST', path, {
        as: owner,
        json,
        headers: { 'idempotency-key': `${slug}-${key}` },
      })
      assert.equal(status, 200, text)
    }
    ids.push(connection.id)
  }

  const tools: [string, object][] = [
    ['airtable__list_bases', {}],
    ['telegram__get_chat', { chat_id: 1 }],
    ['twilio__list_messages', {}],
    ['http__get', { path: '/echo' }],
    ['jira__list_projects', {}],
    ['mcp__echo', {}],
  ]
  const allowedConnectors = [...Object.keys(credentials), 'jira']
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m', allowedConnectors })
  for (const slug of allowedConnectors) await trustAgent(app, owner, 'helper', slug)
  const session = await openSession(app, owner, { agentId: 'helper' })
  const use = async (): Promise<{ toolName: string; status: string }[]> => {
    const calls = tools.map(([name, input], i) => ({ id: `c${i}-${Math.random()}`, name, args: JSON.stringify(input) }))
    model.play(callTools(...calls), reply(['Done.']))
    const { turn } = await ask(app, owner, session.id, { text: 'Go on.' })
    responses.push(
      JSON.stringify(model.requests),
      (await app.call('GET', `${api}/turns/${turn.id}/stream`, { as: owner })).text,
    )
    assert.equal(model.requests.length, 2)
    return turn.toolCalls
  }

  for (const [method, path, more] of echoes) provider.on(method, path, (seen) => ({ body: { ...echo(seen), ...more } }))
  assert.deepEqual([...new Set((await use()).map(({ status }) => status))], ['done'])
  for (const [method, path] of echoes) {
    provider.on(method, path, (seen) => {
      const { again } = echo(seen)
      return {
        status: 400,
        body: { ok: false, error: again, message: again, description: again, errorMessages: [again] },
      }
    })
  }
  mcp.onCall = () => ({ content: [{ type: 'text', text: `no: ${keys.mcp}` }], isError: true })
  assert.deepEqual([...new Set((await use()).map(({ status }) => status))], ['failed'])
  for (const [method, path] of echoes) provider.on(method, path, 'hang up')
  mcp.token = 'another'
  assert.deepEqual([...new Set((await use()).map(({ status }) => status))], ['failed'])

  await call('GET', `${api}/connections`, { as: owner })
  await call('GET', `${api}/sessions/${session.id}/messages?limit=100`, { as: owner })
  await call('GET', `${api}/audit-log?limit=100`, { as: owner })
  for (const id of ids) {
    await call('GET', `${api}/connections/${id}`, { as: owner })
    await call('GET', `${api}/connections/${id}/tools`, { as: owner })
  }
  const last = await call('DELETE', `${api}/connections/${ids[0]}`, { as: owner })
  assert.equal(last.status, 200)

  const secrets = [
    ...Object.values(keys),
    ...oauth.issued,
    clientSecret,
    Buffer.from(`AC1:${keys.twilio}`).toString('base64'),
  ]
  assert.ok(secrets.length >= 9)
  const tables = await app.db.rows<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`)
  assert.ok(tables.length > 30)
  const database: string[] = []
  for (const { name } of tables) {
    const rows = await app.db.rows<{ row: string }>(sql`select t::text as row from ${raw(name)} t`)
    database.push(...rows.map(({ row }) => `${name}: ${row}`))
  }
  const places: [string, string[]][] = [
    ['a response or a prompt', responses],
    ['the log', app.logLines],
    ['the database', database],
  ]
  for (const [where, texts] of places) {
    assert.ok(texts.length > 10, where)
    for (const text of texts) {
      for (const secret of secrets) assert.ok(!text.includes(secret), `${where} has ${secret}: ${text.slice(0, 500)}`)
    }
  }
  assert.ok(responses.join('').includes('[redacted]'), 'the providers returned the secrets')
})
