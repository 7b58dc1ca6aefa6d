import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomUUID } from 'node:crypto'
import { sql } from '../../platform/database/database.ts'
import type { Database } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { systemActor } from '../../identity/actor.ts'
import { recordEvent } from '../../outbox/record.ts'
import { claimDeliveries } from '../../webhooks/deliver/claim.ts'
import * as queueQueries from '../../webhooks/deliver/queue-queries.ts'
import type { ClaimedRow, Outcome } from '../../webhooks/deliver/queue-queries.ts'
import { settleDeliveries } from '../../webhooks/deliver/settle.ts'
import { deleteOldQueued, releaseWaiting } from '../../webhooks/retention-queries.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import type { Arrival, Receiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { createEndpoint, endpointDeliveries, endpointsPath } from '../../../test/support/event-endpoints.ts'
import type { MadeEndpoint } from '../../../test/support/event-endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { openLoopback } from '../../../test/support/webhooks.ts'

// Five attempts; a failing delivery is given up after 2 s.
const schedule = '0,0,1,1'
const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: schedule })
// Its deliveries are claimed and settled by the tests, because nothing works on this database.
const idle = await startTestApp(openLoopback, { work: false })

const isDistributed = await idle.db.isDistributed()

type QueueDatabase = Pick<Database, 'indexed' | 'isDistributed' | 'signal'>
/** Statements of a distributed schema, which are right on any schema. */
const perOrg: QueueDatabase = { indexed: idle.db.indexed, signal: idle.db.signal, isDistributed: async () => true }

const record = (to: typeof app, { orgId }: TestActor, subjectId: string): Promise<void> =>
  to.db.transaction({ orgId }, (db) =>
    recordEvent(db, systemActor(orgId, 'Test'), 'agent.deleted', {
      subjectId,
      workspaceId: null,
      data: { agentId: subjectId, name: 'N', slug: 'n' },
    }),
  )

const ordered = { types: ['agent.deleted'], ordering: 'subject' }
const parsed = ({ body }: Arrival) => JSON.parse(body.toString())
const sequencesOf = (receiver: Receiver, subjectId: string): number[] =>
  receiver.arrivals
    .map(parsed)
    .filter(({ subject }) => subject.id === subjectId)
    .map(({ sequence }) => sequence)

describe('an endpoint with the ordering "subject"', () => {
  test('receives the events of each of three subjects in their order, and a failing subject does not delay the others', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const [failing, flaky, fine] = [newId(), newId(), newId()]
    const flakyAttempts = new Map<number, number>()
    // The response to the last attempt, after which the event is given up, waits for the others.
    const othersArrived = Promise.withResolvers<void>()
    receiver.answer = (response, arrival) => {
      const { subject, sequence } = parsed(arrival)
      const attempts = (flakyAttempts.get(sequence) ?? 0) + (subject.id === flaky ? 1 : 0)
      if (subject.id === flaky) flakyAttempts.set(sequence, attempts)
      if (subject.id === failing && sequencesOf(receiver, failing).length === 5) {
        void othersArrived.promise.then(() => response.writeHead(500).end())
        return
      }
      const fails = subject.id === failing || (subject.id === flaky && attempts < 2)
      response.writeHead(fails ? 500 : 204).end()
    }
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, ...ordered })
    for (let n = 0; n < 5; n += 1) for (const subject of [failing, flaky, fine]) await record(app, owner, subject)
    await until('the two others have arrived', () => {
      const [a, b] = [sequencesOf(receiver, fine), sequencesOf(receiver, flaky)]
      return a.length === 5 && b.length === 10
    })
    assert.deepEqual(new Set(sequencesOf(receiver, failing)), new Set([1]), 'the first event is not given up yet')
    assert.deepEqual(sequencesOf(receiver, fine), [1, 2, 3, 4, 5])
    assert.deepEqual(sequencesOf(receiver, flaky), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    const waiting = (await endpointDeliveries(app, owner, endpoint)).find(
      (one) => one.statusReason === 'Waiting for the delivery of an earlier event of the same subject.',
    )
    assert.ok(waiting)
    assert.equal(waiting.status, 'pending')
    assert.equal(waiting.nextAttemptAt, null)
    const retry = `${endpointsPath}/${endpoint.id}/deliveries/${waiting.id}/retry`
    assert.equal((await app.call('POST', retry, { as: owner })).body.error.code, 'VALIDATION_ERROR')
    othersArrived.resolve()
    await until('the first event was given up', () => sequencesOf(receiver, failing).includes(2))
    assert.deepEqual(sequencesOf(receiver, failing).slice(0, 6), [1, 1, 1, 1, 1, 2])
  })

  test('receives many events of a subject in order, also when they are published while others are delivered', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    await createEndpoint(app, owner, { url: receiver.url, ...ordered })
    const subjects = [newId(), newId(), newId()]
    for (let n = 0; n < 40; n += 1) await Promise.all(subjects.map((subject) => record(app, owner, subject)))
    // Forty deliveries one after another, each with its statements: a busy machine takes more than a minute on Citus.
    await until(
      () => receiver.arrivals.length,
      (count) => count >= 120,
      180_000,
    )
    for (const subject of subjects) {
      assert.deepEqual(
        sequencesOf(receiver, subject),
        Array.from({ length: 40 }, (_, n) => n + 1),
      )
    }
  })
})

describe('the queue of an endpoint with the ordering "subject"', () => {
  const claim = (
    { id }: MadeEndpoint,
    owner: TestActor,
    { leaseSeconds = 30, db = idle.db }: { leaseSeconds?: number; db?: QueueDatabase } = {},
  ): Promise<ClaimedRow[]> =>
    claimDeliveries(db, {
      lanes: [{ orgId: owner.orgId, webhookId: id, slots: 100 }],
      slots: 100,
      token: randomUUID(),
      leaseSeconds,
    })
  const outcomeOf = (row: ClaimedRow, kind: Outcome['kind']): Outcome => ({
    ...row,
    chain: undefined,
    kind,
    delaySeconds: 0,
    attempt: kind === 'released' ? null : '{}',
    response: null,
    error: null,
    disableReason: null,
    failingSince: null,
    durationMs: 0,
  })
  const settle = (rows: ClaimedRow[], kind: Outcome['kind'], db: QueueDatabase = idle.db): Promise<void> =>
    settleDeliveries(
      db,
      rows.map((row) => outcomeOf(row, kind)),
    )
  const queuedOf = ({ id }: MadeEndpoint) =>
    idle.db.rows<{ id: string; isWaiting: boolean; orderNumber: bigint }>(sql`
      -- all orgs: a test
      select id, due_at = 'infinity' as is_waiting, order_number from webhook_queue where webhook_id = ${id}
      order by order_number`)
  const setUp = async (count: number) => {
    const owner = await idle.createOrg()
    const endpoint = await createEndpoint(idle, owner, { url: 'http://127.0.0.1:9/', ...ordered })
    const subject = newId()
    for (let n = 0; n < count; n += 1) await record(idle, owner, subject)
    await until('they are queued', async () => (await queuedOf(endpoint)).length === count)
    return { owner, endpoint, subject }
  }

  test('returns the same delivery after the worker that had claimed it was killed, not the next one', async () => {
    const { owner, endpoint } = await setUp(3)
    const [first, ...others] = await claim(endpoint, owner, { leaseSeconds: 0 })
    assert.deepEqual(others, [])
    // The lease has expired; the killed worker recorded nothing.
    const [again, ...more] = await claim(endpoint, owner)
    assert.equal(again?.id, first?.id)
    assert.deepEqual(more, [])
    await settle([first as ClaimedRow], 'succeeded')
    assert.deepEqual(await claim(endpoint, owner), [], 'the outcome of the killed worker does not count')
    await settle([again as ClaimedRow], 'retry')
    const [third] = await claim(endpoint, owner)
    assert.equal(third?.id, first?.id)
    await settle([third as ClaimedRow], 'failed')
    const [next, ...rest] = await claim(endpoint, owner)
    assert.notEqual(next?.id, first?.id)
    assert.deepEqual(rest, [])
  })

  for (const [db, how] of [
    [idle.db, 'one statement for all orgs'],
    [perOrg, 'a statement for each org, as on a distributed schema'],
  ] as const) {
    test(`has no delivery that waits for ever, whatever is published while deliveries end, with ${how}`, async () => {
      const { owner, endpoint, subject } = await setUp(1)
      const total = 60
      const publish = (async () => {
        for (let n = 1; n < total; n += 1) await record(idle, owner, subject)
      })()
      const seen: string[] = []
      await until('all have been claimed', async () => {
        const rows = await claim(endpoint, owner, { db })
        assert.ok(rows.length <= 1)
        seen.push(...rows.map(({ id }) => id))
        await settle(rows, 'succeeded', db)
        return seen.length === total
      })
      await publish
      assert.equal(new Set(seen).size, total)
      assert.deepEqual(await queuedOf(endpoint), [])
    })
  }

  test('continues with the next delivery when retention has deleted the one before it', async () => {
    const { endpoint } = await setUp(2)
    const [old] = await queuedOf(endpoint)
    await idle.db.execute(sql`
      -- all orgs: a test
      update webhook_queue set event_id = '00000000-0000-7000-8000-000000000000' where id = ${old!.id}`)
    await deleteOldQueued(idle.db, 30, 100)
    await releaseWaiting(idle.db)
    const [left, ...others] = await queuedOf(endpoint)
    assert.deepEqual(others, [])
    assert.equal(left?.isWaiting, false)
  })

  const skip = isDistributed && 'shards plan each statement'
  test(
    'is read by index only: a long queue of one subject does not slow down claims of another',
    { skip },
    async () => {
      const { owner, endpoint, subject } = await setUp(1)
      // To the statistics, each org has one delivery: an index that begins with org_id seems as good as any other.
      await idle.db.execute(sql`-- all orgs: a test
        delete from webhook_queue where org_id <> ${owner.orgId}`)
      await idle.db.execute(sql`-- all orgs: a test
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'agent.deleted'
      from generate_series(1, 10)`)
      await idle.db.execute(sql`analyze webhook_queue`)
      await idle.db.execute(sql`
      insert into webhook_queue (org_id, id, webhook_id, event_id, event_type, order_key, order_number, due_at)
      select ${owner.orgId}, gen_random_uuid(), ${endpoint.id}, gen_random_uuid(), 'agent.deleted',
        ${`${endpoint.id}/agent/${subject}`}, 1 + n, 'infinity' from generate_series(1, 20000) n`)
      const other = newId()
      await record(idle, owner, other)
      await until('it is queued', async () => {
        const rows = await idle.db.rows(sql`
        -- all orgs: a test
        select id from webhook_queue where order_key = ${`${endpoint.id}/agent/${other}`}`)
        return rows.length === 1
      })
      await idle.db.indexed.transaction('all orgs', async (db) => {
        const rowsRead = async () =>
          (await db.row<{ bySequence: bigint; byIndex: bigint }>(sql`
          select seq_tup_read as by_sequence, idx_tup_fetch as by_index
          from pg_stat_xact_user_tables where relname = 'webhook_queue'`))!
        const before = await rowsRead()
        const lanes = [{ orgId: owner.orgId, webhookId: endpoint.id, slots: 100 }]
        const rows = await queueQueries.claimDeliveries(db, {
          lanes,
          slots: 100,
          token: randomUUID(),
          leaseSeconds: 30,
        })
        assert.equal(rows.length, 2)
        const outcomes = rows.map((row) => outcomeOf(row, 'succeeded'))
        await queueQueries.settleDeliveries(db, outcomes)
        await queueQueries.releaseNext(
          db,
          rows.map(({ orgId, orderKey }) => ({ orgId, orderKey: orderKey as string })),
        )
        const after = await rowsRead()
        assert.equal(after.bySequence - before.bySequence, 0n)
        assert.ok(after.byIndex - before.byIndex < 100n, `${after.byIndex - before.byIndex} rows`)
      })
      assert.equal((await claim(endpoint, owner)).length, 1, 'the next one of the long queue')
    },
  )
})
