import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { verifyChain } from './chain.ts'
import { dropOldEntries } from './retention.ts'
import { sealAll } from './sealer.ts'

const app = await startTestApp({}, { work: false })
const { db } = app

// The initial partition has no beginning: without it, every month has a partition of its own.
for (const text of [
  'alter table audit_log detach partition audit_log_initial',
  'drop table audit_log_initial',
  ...[5, 4, 3, 2, 1, 0].map((n) => `select ensure_partitions(now() - ${n} * interval '1 month')`),
]) {
  await db.execute({ text, values: [] })
}

const insert = (orgId: string, ago: string, action = 'test.happened') =>
  db.execute(sql`
    insert into audit_log (org_id, id, at, actor_name, action, resource_type)
    values (${orgId}, ${newId()}, now() - ${ago}::interval, 'test', ${action}, 'test')`)

const withEntries = async (...ages: string[]): Promise<TestActor> => {
  const owner = await app.createOrg()
  for (const age of ages) await insert(owner.orgId, age)
  await sealAll(db)
  return owner
}

const actionsOf = async (owner: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/audit-log', { as: owner })).body.data.items.map(
    ({ action }: { action: string }) => action,
  )

test('drops old months of every org, and the rest of each chain is verified from its anchor', async () => {
  const owner = await withEntries('4 months', '4 months', '1 month', '1 day')
  const onlyOld = await withEntries('4 months')
  const onlyNew = await withEntries('1 day')
  const before = await verifyChain(db, owner.orgId)
  assert.ok((await dropOldEntries(db, 75)) > 0)
  const after = await verifyChain(db, owner.orgId)
  assert.deepEqual([after.entries, after.seq, after.hash, after.broken], [2, before.seq, before.hash, null])
  assert.equal((await actionsOf(owner)).length, 2)
  const emptied = await verifyChain(db, onlyOld.orgId)
  assert.deepEqual([emptied.entries, emptied.seq, emptied.broken], [0, 1, null])
  const untouched = await verifyChain(db, onlyNew.orgId)
  assert.deepEqual([untouched.entries, untouched.broken], [1, null])
  await insert(onlyOld.orgId, '0 days')
  await sealAll(db)
  const continued = await verifyChain(db, onlyOld.orgId)
  assert.deepEqual([continued.entries, continued.seq, continued.broken], [1, 2, null])
  await db.execute(sql`update audit_log set action = 'forged' where org_id = ${owner.orgId} and seq = 3`)
  assert.equal((await verifyChain(db, owner.orgId)).broken?.seq, 3)
})

test('a chain stays intact when an entry of an old month was sealed after entries of a newer one', async () => {
  await db.execute({ text: `select ensure_partitions(now() - interval '4 months')`, values: [] })
  const owner = await withEntries('1 day')
  await insert(owner.orgId, '4 months')
  await sealAll(db)
  await insert(owner.orgId, '0 days')
  await sealAll(db)
  await dropOldEntries(db, 75)
  const { seq, broken, entries } = await verifyChain(db, owner.orgId)
  assert.deepEqual([seq, broken, entries], [3, null, 1])
  assert.equal((await actionsOf(owner)).length, 2)
})

test('seals old entries before it drops them, and drops nothing that could not be sealed', async () => {
  await db.execute({ text: `select ensure_partitions(now() - interval '4 months')`, values: [] })
  const owner = await app.createOrg()
  await insert(owner.orgId, '4 months')
  await db.execute(sql`insert into audit_heads (org_id) values (${owner.orgId}) on conflict do nothing`)
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const sealer = db.transaction('all orgs', async (db) => {
    await db.row(sql`select seq from audit_heads where org_id = ${owner.orgId} for update`)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  await assert.rejects(dropOldEntries(db, 75), /not sealed yet/)
  assert.equal((await actionsOf(owner)).length, 1)
  released.resolve()
  await sealer
  await dropOldEntries(db, 75)
  const { seq, broken } = await verifyChain(db, owner.orgId)
  assert.deepEqual([seq, broken], [1, null])
  assert.equal((await actionsOf(owner)).length, 0)
})
