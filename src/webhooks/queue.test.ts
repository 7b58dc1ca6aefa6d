import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../platform/database.ts'
import { startTestApp } from '../../test/harness.ts'
import { accept, createWebhook, deliveriesOf } from '../../test/webhooks.ts'
import type { MadeWebhook } from '../../test/webhooks.ts'
import type { AttemptRecord } from './delivery-queries.ts'
import { claimDeliveries, listLanes, settleDeliveries } from './queue-queries.ts'
import type { ClaimedRow, Lane, Outcome } from './queue-queries.ts'

// Without a worker: the test is it.
const app = await startTestApp({}, { work: false })
const owner = await app.createOrg()
const url = 'https://hooks.example.com/'

const laneOf = ({ id }: MadeWebhook): Lane => ({ orgId: owner.orgId, webhookId: id })
const claim = (webhooks: MadeWebhook[], { room = 100, laneRoom = 100, leaseSeconds = 30 } = {}) =>
  claimDeliveries(app.db, {
    lanes: webhooks.map((webhook) => ({ ...laneOf(webhook), room: laneRoom })),
    room,
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
  gone: false,
  durationMs: 0,
})
const fill = async (webhook: MadeWebhook, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await accept(app, webhook, { type: 'a', n })
}

describe('a claim', () => {
  test('takes first attempts before repeated ones, and no more of a webhook than it has room for', async () => {
    const [one, two] = [await createWebhook(app, owner, { url }), await createWebhook(app, owner, { url })]
    await fill(one, 3)
    const repeated = await claim([one])
    await settleDeliveries(
      app.db,
      repeated.map((row) => outcome(row, 'retry')),
    )
    await fill(one, 2)
    await fill(two, 2)
    const rows = await claim([one, two], { room: 4, laneRoom: 3 })
    assert.equal(rows.length, 4)
    assert.ok(rows.every(({ attemptCount }) => attemptCount === 0))
    const rest = await claim([one, two], { laneRoom: 2 })
    assert.deepEqual(
      rest.map(({ attemptCount }) => attemptCount),
      [1, 1],
    )
  })

  test('takes nothing twice, not even for two who ask at once', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 20)
    const claims = await Promise.all(Array.from({ length: 5 }, () => claim([webhook], { laneRoom: 10 })))
    const ids = claims.flat().map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(ids.length + (await claim([webhook])).length, 20)
  })

  test('takes nothing of a webhook that is paused, nor what waits for its time', async () => {
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

describe('a worker that was too slow', () => {
  test('changes nothing of what another one has taken over', async () => {
    const webhook = await createWebhook(app, owner, { url })
    await fill(webhook, 1)
    const [late] = await claim([webhook], { leaseSeconds: 0 })
    const [now] = await claim([webhook])
    assert.equal(now!.id, late!.id)
    for (const kind of ['succeeded', 'failed', 'retry', 'released'] as const) {
      assert.deepEqual(await settleDeliveries(app.db, [outcome(late!, kind)]), [])
    }
    const [delivery] = await deliveriesOf(app, owner, webhook)
    assert.equal(delivery.status, 'sending')
    assert.deepEqual(delivery.attempts, [])
    assert.equal((await settleDeliveries(app.db, [outcome(now!, 'succeeded')])).length, 1)
    assert.deepEqual(await settleDeliveries(app.db, [outcome(late!, 'failed')]), [])
    assert.equal((await deliveriesOf(app, owner, webhook))[0].status, 'succeeded')
    const { body } = await app.call('GET', `/api/v1/webhooks/${webhook.id}`, { as: owner })
    assert.equal(body.data.deliveryCount, 1)
  })
})

describe('the look at all lanes', () => {
  test('passes each webhook once, some at a time, and says which have something due', async () => {
    await app.db.execute(sql`delete from webhook_queue where org_id = ${owner.orgId}`)
    const webhooks: MadeWebhook[] = []
    for (let n = 0; n < 5; n++) webhooks.push(await createWebhook(app, owner, { url }))
    for (const webhook of webhooks) await fill(webhook, 3)
    const [later, paused] = webhooks as [MadeWebhook, MadeWebhook]
    await app.db.execute(
      sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${later.id}`,
    )
    await app.call('PATCH', `/api/v1/webhooks/${paused.id}`, { as: owner, json: { status: 'paused' } })
    const zero = '00000000-0000-0000-0000-000000000000'
    const first = await listLanes(app.db, { orgId: zero, webhookId: zero }, 3)
    assert.equal(first.length, 3)
    const second = await listLanes(app.db, first[2]!, 3)
    assert.deepEqual(
      [...first, ...second].map(({ webhookId, isDue }) => [webhookId, isDue]),
      webhooks.map(({ id }) => [id, id !== later.id && id !== paused.id]),
    )
  })
})

describe('a backlog of one webhook', () => {
  test('is not read by who looks for, claims and settles the deliveries of the others', async () => {
    await app.db.execute(sql`delete from webhook_queue where org_id = ${owner.orgId}`)
    const behind = await createWebhook(app, owner, { url })
    await app.db.execute(sql`
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
      select ${owner.orgId}, gen_random_uuid(), ${behind.id}, gen_random_uuid(), 'a' from generate_series(1, 30000)`)
    const others: MadeWebhook[] = []
    for (let n = 0; n < 5; n++) others.push(await createWebhook(app, owner, { url }))
    // So most of what the planner hears of is one webhook's.
    await app.db.execute(sql`analyze webhook_queue`)
    const zero = '00000000-0000-0000-0000-000000000000'
    for (const webhook of others) await fill(webhook, 10)
    await app.db.transaction(async (db) => {
      const rowsRead = async () =>
        (await db.row<{ bySequence: bigint; byIndex: bigint }>(sql`
          select seq_tup_read as by_sequence, idx_tup_fetch as by_index
          from pg_stat_xact_user_tables where relname = 'webhook_queue'`))!
      const before = await rowsRead()
      const lanes = others.map((webhook) => ({ ...laneOf(webhook), room: 2 }))
      // Often enough for a plan that is made for all values.
      for (let n = 0; n < 8; n++) {
        const passed = await listLanes(db, { orgId: zero, webhookId: zero }, 500)
        assert.equal(passed.length, 6)
        const rows = await claimDeliveries(db, { lanes, room: 64, token: randomUUID(), leaseSeconds: 30 })
        await settleDeliveries(
          db,
          rows.map((row) => outcome(row, n % 2 === 0 ? 'succeeded' : 'retry')),
        )
      }
      const after = await rowsRead()
      assert.equal(after.bySequence - before.bySequence, 0n)
      assert.ok(after.byIndex - before.byIndex < 5_000n, `${after.byIndex - before.byIndex} rows`)
    })
  })
})
