import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertExact, deposit, openPaid, spend } from '../../../test/support/billing.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { dropOldRecords } from './retention.ts'
import { verifyOrg } from './verify.ts'

const app = await startTestApp()
const { db } = app

test('the ledger, the reports and the balance stay exact when the records of old months are dropped', async () => {
  const owner = await app.createOrg()
  const { orgId } = owner
  await deposit(app, owner, 5_000)
  const session = await openPaid(app, owner)
  for (const cost of [12_345, 3_655]) await spend(app, owner, session.id, cost)
  const before = await assertExact(app, owner)
  // Moves the records to a month that ended long ago, and the past to a partition of its own.
  for (const text of [
    'alter table usage_records detach partition usage_records_initial',
    `select ensure_partitions(now() - interval '6 months')`,
    `select ensure_partitions()`,
    `insert into usage_records select org_id,
      (left(uuid_at(now() - interval '6 months')::text, 18) || right(turn_id::text, 18))::uuid, step, attempt, at, agent_id,
      project_id, model, operation, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, is_estimate, is_byok,
      provider_cost_microcents, platform_fee_microcents, charged_microcents from usage_records_initial`,
    'drop table usage_records_initial',
  ]) {
    await db.execute({ text, values: [] })
  }
  const count = async () => (await db.rows(sql`select from usage_records where org_id = ${orgId}`)).length
  assert.equal(await count(), 2)
  assert.deepEqual(await verifyOrg(db, orgId), [])
  assert.ok((await dropOldRecords(db, 100)) > 0)
  assert.equal(await count(), 0)
  assert.deepEqual(await verifyOrg(db, orgId), [])
  const after = await assertExact(app, owner)
  assert.deepEqual([after.balance, after.usage], [before.balance, before.usage])
  await spend(app, owner, session.id, 10_000)
  assert.deepEqual(await verifyOrg(db, orgId), [])
  await db.execute(sql`update usage_records_removed set calls = calls - 1 where org_id = ${orgId}`)
  assert.notDeepEqual(await verifyOrg(db, orgId), [])
})
