import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import { accept, createWebhook, deliveriesOf } from '../../../test/support/webhooks.ts'
import type { MadeWebhook } from '../../../test/support/webhooks.ts'
import type { AttemptRecord } from './queries.ts'
import * as queueQueries from './queue-queries.ts'
import { claimDeliveries, listLanes } from './queue-queries.ts'
import type { ClaimedRow, DeliveryLane, Outcome } from './queue-queries.ts'
import { disablingBy, settleDeliveries } from './settle.ts'

// Without a worker, because the tests claim and settle.
const app = await startTestApp({}, { work: false })
const owner = await app.createOrg()
const url = 'https://hooks.example.com/'
const beforeAll = '00000000-0000-0000-0000-000000000000'

const laneOf = ({ id }: MadeWebhook): DeliveryLane => ({ orgId: owner.orgId, webhookId: id })
const claim = (webhooks: MadeWebhook[], { slots = 100, laneSlots = 100, leaseSeconds = 30 } = {}) =>
  claimDeliveries(app.db.indexed, {
    lanes: webhooks.map((webhook) => ({ ...laneOf(webhook), slots: laneSlots })),
    slots,
    token: randomUUID(),
    leaseSeconds,
  })
const attemptOf = (row: ClaimedRow): AttemptRecord => ({
  number: row.attemptCount + 1,
  trigger: 'automatic',
  at: new Date().toISOString(),
  durationMs: 1,
  url,
  responseStatus: 500,
  error: null,
})
const outcome = (row: ClaimedRow, kind: Outcome['kind']): Outcome => ({
  ...row,
  kind,
  delaySeconds: 0,
  attempt: kind === 'released' ? null : JSON.stringify(attemptOf(row)),
  response: null,
  error: null,
  disableReason: null,
  failingSince: null,
  durationMs: 0,
})
const fill = async (webhook: MadeWebhook, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await accept(app, webhook, { type: 'a', n })
}

describe('claimDeliveries', () => {
  test('claims first attempts before retries, and at most as many of a webhook as it has free slots', async () => {
    const [one, two] = [await createWebhook(app, owner, { url }), await createWebhook(app, owner, { url })]
    await fill(one, 3)
    const repeated = await claim([one])
    await settleDeliveries(
      app.db,
      repeated.map((row) => outcome(row, 'retry')),
    )
    await fill(one, 2)
    await fill(two, 2)
    const rows = await claim([one, two], { slots: 4, laneSlots: 3 })
    assert.equal(rows.length, 4)
    assert.ok(rows.every(({ attemptCount }) => attemptCount === 0))
    const rest = await claim([one, two], { laneSlots: 2 })
    assert.deepEqual(
      rest.map(({ attemptCount }) => attemptCount),
      [1, 1],
    )
  })

  test('claims no delivery twice, even for concurrent claims', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 20)
    const claims = await Promise.all(Array.from({ length: 5 }, () => claim([webhook], { laneSlots: 10 })))
    const ids = claims.flat().map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(ids.length + (await claim([webhook])).length, 20)
  })

  test('claims no delivery of a paused webhook and none that is not due', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 1)
    await app.db.execute(
      sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${webhook.id}`,
    )
    assert.deepEqual(await claim([webhook]), [])
    await app.db.execute(sql`update webhook_queue set due_at = now() where webhook_id = ${webhook.id}`)
    await app.call('PATCH', `/api/v1/webhooks/${webhook.id}`, { as: owner, json: { status: 'paused' } })
    assert.deepEqual(await claim([webhook]), [])
  })
})

describe('settleDeliveries', () => {
  test('a worker whose lease has expired does not change a delivery that another worker has claimed', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 1)
    const [late] = await claim([webhook], { leaseSeconds: 0 })
    const [now] = await claim([webhook])
    assert.equal(now!.id, late!.id)
    for (const kind of ['succeeded', 'failed', 'retry', 'released'] as const) {
      await settleDeliveries(app.db, [outcome(late!, kind)])
    }
    const [delivery] = await deliveriesOf(app, owner, webhook)
    assert.equal(delivery.status, 'sending')
    assert.deepEqual(delivery.attempts, [])
    await settleDeliveries(app.db, [outcome(now!, 'succeeded')])
    await settleDeliveries(app.db, [outcome(late!, 'failed')])
    assert.equal((await deliveriesOf(app, owner, webhook))[0].status, 'succeeded')
    const { body } = await app.call('GET', `/api/v1/webhooks/${webhook.id}`, { as: owner })
    assert.equal(body.data.deliveryCount, 1)
  })
})

describe('disabling a webhook', () => {
  const statusOf = async (webhook: MadeWebhook) =>
    (await app.call('GET', `/api/v1/webhooks/${webhook.id}`, { as: owner })).body.data.status
  const failFor = (webhook: MadeWebhook, days: number) =>
    app.db.execute(sql`update webhooks set failing_since = now() - ${days} * interval '1 day' where id = ${webhook.id}`)
  const failed = (row: ClaimedRow, status = 500): Outcome => ({
    ...outcome(row, 'failed'),
    ...disablingBy(row, { succeeded: false, status }),
  })
  const auditEntries = async ({ id }: MadeWebhook) => {
    const { body } = await app.call('GET', '/api/v1/audit-log?action=webhook.disabled', { as: owner })
    return body.data.items.filter((entry: { resource: { id: string } }) => entry.resource.id === id).length
  }
  const claimed = async (count: number, days: number) => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, count)
    await failFor(webhook, days)
    return { webhook, rows: await claim([webhook]) }
  }

  test('disables each of the webhooks of a batch once, with one audit entry each', async () => {
    const [one, two, healthy] = [await claimed(3, 6), await claimed(1, 6), await claimed(1, 1)]
    const rows = [...one.rows, ...two.rows, ...healthy.rows]
    await settleDeliveries(
      app.db,
      rows.map((row) => failed(row)),
    )
    assert.deepEqual(await Promise.all([one, two, healthy].map(({ webhook }) => statusOf(webhook))), [
      'disabled',
      'disabled',
      'active',
    ])
    assert.deepEqual(await Promise.all([one, two, healthy].map(({ webhook }) => auditEntries(webhook))), [1, 1, 0])
  })

  test('does not disable a webhook that has recovered since the delivery was claimed', async () => {
    const { webhook, rows } = await claimed(3, 6)
    const [success, ...failures] = rows as [ClaimedRow, ...ClaimedRow[]]
    await settleDeliveries(app.db, [outcome(success, 'succeeded')])
    await settleDeliveries(app.db, [failed(failures[0]!)])
    await settleDeliveries(app.db, [failed(failures[1]!)])
    assert.equal(await statusOf(webhook), 'active')
  })

  test('does not disable a webhook with a success in the same batch, unless its endpoint responded with 410', async () => {
    const { webhook, rows } = await claimed(2, 6)
    await settleDeliveries(app.db, [failed(rows[0]!), outcome(rows[1]!, 'succeeded')])
    assert.equal(await statusOf(webhook), 'active')
    const withGone = await claimed(2, 0)
    await settleDeliveries(app.db, [failed(withGone.rows[0]!, 410), outcome(withGone.rows[1]!, 'succeeded')])
    assert.equal(await statusOf(withGone.webhook), 'disabled')
  })

  test('does not disable a webhook for an attempt of a worker whose lease has expired', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 1)
    const [late] = await claim([webhook], { leaseSeconds: 0 })
    await claim([webhook])
    await settleDeliveries(app.db, [failed(late!, 410)])
    assert.equal(await statusOf(webhook), 'active')
    assert.equal(await auditEntries(webhook), 0)
  })
})

describe('listLanes', () => {
  test('lists each webhook with queued deliveries once, in pages, and tells which have a due one', async () => {
    await app.db.execute(sql`delete from webhook_queue where org_id = ${owner.orgId}`)
    const webhooks: MadeWebhook[] = []
    for (let n = 0; n < 5; n++) webhooks.push(await createWebhook(app, owner, { url }))
    for (const webhook of webhooks) await fill(webhook, 3)
    const [later, paused] = webhooks as [MadeWebhook, MadeWebhook]
    await app.db.execute(
      sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${later.id}`,
    )
    await app.call('PATCH', `/api/v1/webhooks/${paused.id}`, { as: owner, json: { status: 'paused' } })
    const first = await listLanes(app.db.indexed, beforeAll, 3)
    assert.equal(first.length, 3)
    const second = await listLanes(app.db.indexed, first[2]!.webhookId, 3)
    assert.deepEqual(
      [...first, ...second].map(({ webhookId, isDue }) => [webhookId, isDue]),
      webhooks.map(({ id }) => [id, id !== later.id && id !== paused.id]),
    )
  })
})

describe('query plans', () => {
  const workOn = async (db: Db, others: MadeWebhook[], rounds: number): Promise<void> => {
    const lanes = others.map((webhook) => ({ ...laneOf(webhook), slots: 2 }))
    for (let n = 0; n < rounds; n++) {
      await listLanes(db, beforeAll, 500)
      const rows = await claimDeliveries(db, { lanes, slots: 64, token: randomUUID(), leaseSeconds: 30 })
      await queueQueries.settleDeliveries(
        db,
        rows.map((row) => outcome(row, n % 2 === 0 ? 'succeeded' : 'retry')),
      )
    }
  }
  const backlogOf = async (webhook: MadeWebhook): Promise<void> => {
    await app.db.execute(sql`
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
      select ${owner.orgId}, gen_random_uuid(), ${webhook.id}, gen_random_uuid(), 'a' from generate_series(1, 30000)`)
  }

  // The statistics must not matter, because the plans are made once and kept.
  for (const statistics of ['of an empty table', 'of a table that belongs to one webhook'] as const) {
    test(`a backlog of one webhook is not read for the deliveries of others, with statistics ${statistics}`, async () => {
      await app.db.execute(sql`alter table webhook_queue set (autovacuum_enabled = off)`)
      await app.db.execute(sql`delete from webhook_queue`)
      const behind = await createWebhook(app, owner, { url })
      const others: MadeWebhook[] = []
      for (let n = 0; n < 5; n++) others.push(await createWebhook(app, owner, { url }))
      if (statistics === 'of a table that belongs to one webhook') await backlogOf(behind)
      await app.db.execute(sql`vacuum analyze webhook_queue`)
      // Both connections make their plans now, unless they have made them before.
      await Promise.all([workOn(app.db.indexed, others, 1), workOn(app.db.indexed, others, 1)])
      if (statistics === 'of an empty table') await backlogOf(behind)
      for (const webhook of others) await fill(webhook, 10)
      await app.db.indexed.transaction('all orgs', async (db) => {
        const rowsRead = async () =>
          (await db.row<{ bySequence: bigint; byIndex: bigint }>(sql`
            select seq_tup_read as by_sequence, idx_tup_fetch as by_index
            from pg_stat_xact_user_tables where relname = 'webhook_queue'`))!
        const before = await rowsRead()
        await workOn(db, others, 8)
        const after = await rowsRead()
        assert.equal(after.bySequence - before.bySequence, 0n)
        assert.ok(after.byIndex - before.byIndex < 1_000n, `${after.byIndex - before.byIndex} rows`)
      })
      const { body } = await app.call('GET', `/api/v1/webhooks/${others[0]!.id}`, { as: owner })
      assert.ok(body.data.deliveryCount > 0)
    })
  }
})
