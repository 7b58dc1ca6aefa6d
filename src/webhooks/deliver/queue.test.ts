import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import { accept, createWebhook, deliveriesOf } from '../../../test/support/webhooks.ts'
import type { MadeWebhook } from '../../../test/support/webhooks.ts'
import type { AttemptRecord } from './queries.ts'
import { claimDeliveries, listLanes } from './claim.ts'
import * as queueQueries from './queue-queries.ts'
import * as laneQueries from './lane-queries.ts'
import type { DeliveryLane } from './lane-queries.ts'
import type { ClaimedRow, Outcome } from './queue-queries.ts'
import { disablingBy, settleDeliveries } from './settle.ts'

// Without a worker, because the tests claim and settle.
const app = await startTestApp({}, { work: false })
const owner = await app.createOrg()
const url = 'https://hooks.example.com/'
const beforeAll = '00000000-0000-0000-0000-000000000000'

const perOrg = { signal: app.db.signal, indexed: app.db.indexed, isDistributed: async () => true }
const isDistributed = await app.db.isDistributed()

const laneOf = ({ id }: MadeWebhook): DeliveryLane => ({ orgId: owner.orgId, webhookId: id })
const claim = (webhooks: MadeWebhook[], { slots = 100, laneSlots = 100, leaseSeconds = 30 } = {}) =>
  claimDeliveries(app.db, {
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
  chain: undefined,
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
  test('lists each webhook with due deliveries once, in pages', async () => {
    await app.db.execute(sql`delete from webhook_queue where org_id = ${owner.orgId}`)
    const webhooks: MadeWebhook[] = []
    for (let n = 0; n < 5; n++) webhooks.push(await createWebhook(app, owner, { url }))
    for (const webhook of webhooks) await fill(webhook, 3)
    const [later, paused] = webhooks as [MadeWebhook, MadeWebhook]
    await app.db.execute(
      sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${later.id}`,
    )
    await app.call('PATCH', `/api/v1/webhooks/${paused.id}`, { as: owner, json: { status: 'paused' } })
    for (const db of [app.db, perOrg]) {
      const first = await listLanes(db, beforeAll, 3)
      assert.equal(first.length, 3)
      const second = await listLanes(db, first[2]!.webhookId, 3)
      assert.deepEqual(
        [...first, ...second].filter(({ isDue }) => isDue).map(({ webhookId }) => webhookId),
        webhooks.map(({ id }) => id).filter((id) => id !== later.id && id !== paused.id),
      )
    }
  })
})

// The statements of a distributed schema are right on any schema.
describe('a distributed schema', () => {
  test('deliveries of several orgs are claimed and settled by one statement for each org', async () => {
    const orgs = [owner, await app.createOrg(), await app.createOrg()]
    await app.db.execute(sql`delete from webhook_queue where org_id = any(${orgs.map(({ orgId }) => orgId)}::uuid[])`)
    const webhooks = await Promise.all(orgs.map((org) => createWebhook(app, org, { url })))
    for (const webhook of webhooks) await fill(webhook, 3)
    const lanes = webhooks.map(({ id }, n) => ({ orgId: orgs[n]!.orgId, webhookId: id, slots: 100 }))
    const token = randomUUID()
    const few = await claimDeliveries(perOrg, { lanes, slots: 6, token, leaseSeconds: 30 })
    assert.deepEqual(
      few.map(({ webhookId }) => webhookId).toSorted(),
      webhooks.flatMap(({ id }) => [id, id]).toSorted(),
      'each org has an equal share',
    )
    const [removed, ...others] = few as [ClaimedRow, ...ClaimedRow[]]
    const disabling: Outcome = { ...outcome(removed, 'failed'), disableReason: 'The endpoint responded with 410 Gone.' }
    const outcomes = [disabling, ...others.map((row) => outcome(row, 'succeeded'))]
    await settleDeliveries(perOrg, outcomes)
    // Recording an outcome again changes nothing, as when one of several orgs failed.
    await settleDeliveries(perOrg, outcomes)
    const rest = await claimDeliveries(perOrg, { lanes, slots: 100, token, leaseSeconds: 30 })
    assert.equal(rest.length, 2, 'the third webhook is disabled')
    const states = await app.db.rows<{ id: string; status: string; deliveryCount: bigint }>(sql`
      -- all orgs: a test
      select id, status, delivery_count from webhooks where id = any(${webhooks.map(({ id }) => id)}::uuid[])`)
    assert.deepEqual(
      states.map(({ status, deliveryCount }) => `${status}: ${deliveryCount}`).toSorted(),
      webhooks.map(({ id }) => (id === removed.webhookId ? 'disabled: 2' : 'active: 2')).toSorted(),
    )
  })

  test('deliveries of other orgs are claimed when the statement of one org fails', async () => {
    const other = await app.createOrg()
    const [mine, theirs] = [await createWebhook(app, owner, { url }), await createWebhook(app, other, { url })]
    for (const webhook of [mine, theirs]) await fill(webhook, 1)
    const lanes = [
      { orgId: 'no uuid', webhookId: mine.id, slots: 1 },
      { orgId: other.orgId, webhookId: theirs.id, slots: 1 },
    ]
    const options = { slots: 64, token: randomUUID(), leaseSeconds: 30 }
    const rows = await claimDeliveries(perOrg, { ...options, lanes })
    assert.deepEqual(
      rows.map(({ webhookId }) => webhookId),
      [theirs.id],
    )
    await assert.rejects(claimDeliveries(perOrg, { ...options, lanes: lanes.slice(0, 1) }), /uuid/)
  })
})

describe('query plans', { skip: isDistributed && 'shards plan each statement' }, () => {
  const workOn = async (db: Db, others: MadeWebhook[], rounds: number): Promise<void> => {
    const lanes = others.map((webhook) => ({ ...laneOf(webhook), slots: 2 }))
    for (let n = 0; n < rounds; n++) {
      await laneQueries.listLanes(db, beforeAll, 500)
      const rows = await queueQueries.claimDeliveries(db, { lanes, slots: 64, token: randomUUID(), leaseSeconds: 30 })
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
      // Both connections make their plans now, unless they have made them before: none is given back until both are held,
      // and they work one after the other, because they settle deliveries of the same webhooks.
      let held = 0
      const both = Promise.withResolvers<void>()
      const first = Promise.withResolvers<void>()
      const planOn = async () => {
        await app.db.indexed.transaction('all orgs', async (db) => {
          const place = ++held
          if (place === 2) both.resolve()
          await (place === 1 ? both.promise : first.promise)
          await workOn(db, others, 1)
        })
        first.resolve()
      }
      await Promise.all([planOn(), planOn()])
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
