import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sharedServer } from '../../../test/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import { available } from '../../../test/support/require.ts'
import { sqlState } from './errors.ts'
import { openDatabase, sql } from './database.ts'
import { migrate } from './migrate.ts'

const app = await startTestApp()
const hasPolicies = await available(
  'row-level security',
  () => process.env['ATRIUM_TEST_CITUS_URL'] === undefined,
  'unset ATRIUM_TEST_CITUS_URL: a distributed schema has no policies',
)
const [one, other] = await Promise.all([app.createOrg('One'), app.createOrg('Other')])
const agentsOf = async (org: typeof one): Promise<string> => {
  const { body } = await app.call('POST', '/api/v1/agents', { as: org, json: { name: 'Agent' } })
  return body.data.id as string
}
const [own, foreign] = hasPolicies ? [await agentsOf(one), await agentsOf(other)] : []

describe('a transaction of one org', { skip: !hasPolicies }, () => {
  test('a transaction of one org sees no row of another org, even without a condition on the org', async () => {
    const seen = await app.db.transaction(one, (db) => db.rows<{ orgId: string }>(sql`select org_id from agents`))
    assert.ok(seen.length > 0)
    assert.deepEqual(new Set(seen.map(({ orgId }) => orgId)), new Set([one.orgId]))
  })

  test('a transaction of one org cannot change or delete rows of another org', async () => {
    const changed = await app.db.transaction(one, async (db) => [
      await db.execute(sql`update agents set name = 'Taken over' where id = ${foreign}`),
      await db.execute(sql`delete from agents where id = ${foreign}`),
      await db.execute(sql`update agents set name = 'Renamed' where id = ${own}`),
    ])
    assert.deepEqual(changed, [0, 0, 1])
    const { body } = await app.call('GET', `/api/v1/agents/${foreign}`, { as: other })
    assert.equal(body.data.name, 'Agent')
  })

  test('a transaction of one org cannot insert a row of another org and is rolled back', async () => {
    const writing = app.db.transaction(one, async (db) => {
      await db.execute(sql`update agents set name = 'Written before' where id = ${own}`)
      await db.execute(sql`
        insert into audit_log (org_id, id, actor_name, action, resource_type, resource_id, ip)
        select ${other.orgId}, gen_random_uuid(), 'x', 'x', 'x', 'x', null`)
    })
    await assert.rejects(writing, (error) => sqlState(error) === '42501')
    const { body } = await app.call('GET', `/api/v1/agents/${own}`, { as: one })
    assert.notEqual(body.data.name, 'Written before')
  })

  test('a transaction of one org resets the role and the org of its connection', async () => {
    await Promise.all(Array.from({ length: 30 }, () => app.db.transaction(one, (db) => db.rows(sql`select 1`))))
    const seen = await app.db.rows<{ role: string; org: string | null }>(
      sql`select current_user as role, current_setting('atrium.org', true) as org`,
    )
    assert.notEqual(seen[0]?.role, 'atrium_tenant')
    assert.ok([null, ''].includes(seen[0]?.org ?? null))
  })

  test('a transaction of one org rejects statements marked for all orgs', async () => {
    const writing = app.db.transaction(one, (db) =>
      db.rows(sql`-- all orgs: a mistake here
      select id from agents`),
    )
    await assert.rejects(writing, /scope 'all orgs'/)
  })

  test('a transaction rejects an org ID that is not a UUID, which prevents SQL injection', async () => {
    await assert.rejects(
      app.db.transaction({ orgId: `' or true --` }, (db) => db.rows(sql`select 1`)),
      /must be a UUID/,
    )
  })
})

test('a database user without permission to create roles can migrate and work without the policies', async () => {
  const server = await sharedServer()
  const admin = openDatabase({
    connection: server.connection,
    poolSize: 1,
    hotConnections: 1,
    onError: () => undefined,
  })
  await admin.execute(sql`create role modest login nosuperuser nocreaterole`)
  await admin.execute(sql`create database modest owner modest`)
  const connection = { ...server.connection, user: 'modest', database: 'modest' }
  await migrate(connection)
  const db = openDatabase({ connection, poolSize: 2, hotConnections: 1, onError: () => undefined })
  try {
    assert.equal(await db.hasTenantPolicies(), false)
    assert.deepEqual(await db.transaction(one, (db) => db.rows(sql`select id from orgs`)), [])
  } finally {
    await db.close()
    await admin.execute(sql`drop database modest`)
    await admin.execute(sql`drop role modest`)
    await admin.close()
    await server.stop()
  }
})

test('every table with an org has a policy and the privileges of the role', { skip: !hasPolicies }, async () => {
  const bare = await app.db.rows<{ table: string }>(sql`
    select c.relname::text as table from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not (c.relrowsecurity
        and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant')
        and has_table_privilege('atrium_tenant', c.oid, 'insert'))`)
  assert.deepEqual(bare, [])
  assert.equal(await app.db.hasTenantPolicies(), true)
})
