import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEmptyDatabase, sharedServer } from '../../../test/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import { openDatabase, sql } from './database.ts'
import { claimKey, expireKeys, findOrgOf, recallOrgOf, releaseKeys } from './directory.ts'
import { migrate } from './migrate.ts'
import { newId } from '../ids.ts'

const app = await startTestApp({}, { work: false })
const [one, other] = await Promise.all([app.createOrg('One'), app.createOrg('Other')])

test('an id that two orgs enter at the same time belongs to exactly one of them', async () => {
  const claims = await Promise.all(
    [one, other, one, other].map(({ orgId }) =>
      app.db.transaction('all orgs', (db) => claimKey(db, 'payment', 'pi_contested', orgId)),
    ),
  )
  assert.equal(new Set(claims).size, 1)
  assert.equal(await findOrgOf(app.db, 'payment', 'pi_contested'), claims[0])
})

test('an org can neither enter nor remove the id of another org in its own transaction', async () => {
  await app.db.transaction(one, (db) => claimKey(db, 'checkout', 'cs_one', one.orgId))
  const claimed = await app.db
    .transaction(other, (db) => claimKey(db, 'checkout', 'cs_one', other.orgId))
    .catch(() => 'rejected by row-level security')
  assert.notEqual(claimed, other.orgId)
  await app.db.transaction('all orgs', (db) => releaseKeys(db, 'checkout', other.orgId, ['cs_one']))
  assert.equal(await findOrgOf(app.db, 'checkout', 'cs_one'), one.orgId)
})

test('an id that was unknown is found as soon as it is entered', async () => {
  const id = newId()
  assert.equal(await recallOrgOf(app.db.hot, 'webhook', id), undefined)
  await app.db.transaction(one, (db) => claimKey(db, 'webhook', id, one.orgId))
  assert.equal(await recallOrgOf(app.db.hot, 'webhook', id), one.orgId)
  assert.equal(await recallOrgOf(app.db.hot, 'webhook', id), one.orgId)
})

test('a deleted webhook receives no event, although a process remembers its org', async () => {
  const created = await app.call('POST', '/api/v1/webhooks', { as: one, json: { name: 'Short', source: 'custom' } })
  const { id } = created.body.data
  const receive = () => app.call('POST', `/api/v1/webhooks/receive/${id}`, { json: {} })
  assert.equal((await receive()).status, 401)
  assert.equal((await app.call('DELETE', `/api/v1/webhooks/${id}`, { as: one })).status, 200)
  assert.equal((await receive()).status, 404)
  assert.equal(await findOrgOf(app.db, 'webhook', id), undefined)
})

test('entries of OAuth states expire, and no others', async () => {
  await app.db.transaction(one, async (db) => {
    for (const key of ['old', 'new']) await claimKey(db, 'oauth_state', key, one.orgId)
    await claimKey(db, 'subscription', 'old', one.orgId)
  })
  await app.db.execute(sql`update directory set created_at = now() - interval '2 hours' where key = 'old'`)
  await expireKeys(app.db, 'oauth_state', 3_600)
  assert.deepEqual(
    await Promise.all([
      findOrgOf(app.db, 'oauth_state', 'old'),
      findOrgOf(app.db, 'oauth_state', 'new'),
      findOrgOf(app.db, 'subscription', 'old'),
    ]),
    [undefined, one.orgId, one.orgId],
  )
})

test('a row that an older version writes during an update is found by its id', async () => {
  const server = await sharedServer()
  const { connection, drop } = await createEmptyDatabase(server.connection)
  await migrate(connection)
  const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
  after(async () => {
    await db.close()
    await drop()
    await server.stop()
  })
  const [orgId, checkoutId] = [newId(), newId()]
  await db.execute(sql`insert into orgs (id, name) values (${orgId}, 'Org')`)
  await db.transaction({ orgId }, async (db) => {
    await db.execute(sql`
      insert into checkouts (org_id, id, kind, amount_cents, created_by)
      values (${orgId}, ${checkoutId}, 'deposit', 500, ${newId()})`)
    await db.execute(sql`update checkouts set session_id = 'cs_old' where org_id = ${orgId}`)
  })
  assert.equal(await findOrgOf(db, 'checkout', 'cs_old'), orgId)
})
