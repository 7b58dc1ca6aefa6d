import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'
import { eventsOf, typesOf } from '../../../test/support/events.ts'
import { sql } from '../../platform/database/database.ts'
import { freshAccess, markBroken } from '../oauth/refresh.ts'

const telegram = await startProvider()
const token = '123456:planted-bot-token-AAAA'
telegram.on('GET', '/bot*/getMe', ({ path }) =>
  path === `/bot${token}/getMe`
    ? { body: { ok: true, result: { id: 42, username: 'planted_bot' } } }
    : { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
)
const app = await startTestApp({ CONNECTOR_TELEGRAM_BASE_URL: telegram.url, RATE_LIMIT_READS: '0' })
const api = '/api/v1/connections'

test('a connection records its creation, each time it works, breaks, and its end, without account and secrets', async () => {
  const owner = await app.createOrg()
  const started = await app.call('POST', api, {
    as: owner,
    json: { connectorSlug: 'telegram', label: 'planted label' },
  })
  const { id } = started.body.data.connection
  // Returns the same connection.
  await app.call('POST', api, { as: owner, json: { connectorSlug: 'telegram', label: 'planted label' } })
  const submit = (botToken: string) =>
    app.call('POST', `${api}/${id}/credentials`, { as: owner, json: { credentials: { botToken } } })
  assert.equal((await submit('1:wrong')).status, 400)
  assert.equal((await submit(token)).status, 200)
  const ref = { orgId: owner.orgId, id }
  const access = await freshAccess(app.deps, ref)
  await Promise.all([markBroken(app.deps, access, 'Expired.'), markBroken(app.deps, access, 'Expired.')])
  assert.equal((await submit(token)).status, 200)
  await markBroken(app.deps, access, 'Late.')
  for (const status of [200, 404]) {
    assert.equal((await app.call('DELETE', `${api}/${id}`, { as: owner })).status, status)
  }
  const events = await eventsOf(app, owner, id, 'connection.revoked')
  assert.deepEqual(typesOf(events), [
    'connection.created',
    'connection.connected',
    'connection.broken',
    'connection.connected',
    'connection.revoked',
  ])
  assert.deepEqual(events[2]?.data, { connectionId: id, connector: 'telegram', reason: 'credentials' })
  assert.ok(!/planted/.test(JSON.stringify(events)))
  const rows = await app.db.rows(sql`select from events where org_id = ${owner.orgId} and subject_id = ${id}`)
  assert.equal(rows.length, events.length)
})
