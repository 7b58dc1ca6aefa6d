import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { systemActor } from '../identity/actor.ts'
import { createPublisher } from './publisher.ts'
import { recordEvent } from './record.ts'

const app = await startTestApp({ RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0' })
const { db } = app

const record = (orgId: string, subjectId = newId(), sleepSeconds = 0): Promise<void> =>
  db.transaction({ orgId }, async (db) => {
    const data = { agentId: subjectId, name: 'N', slug: 'n' }
    await recordEvent(db, systemActor(orgId, 'Test'), 'agent.deleted', { subjectId, workspaceId: null, data })
    if (sleepSeconds > 0) await db.row(sql`select pg_sleep(${sleepSeconds})`)
  })

interface Item {
  id: string
  position: number
  sequence: number
  subject: { id: string }
}

const page = async (
  as: TestActor,
  query = '',
): Promise<{ items: Item[]; nextCursor: string | null; hasMore: boolean }> => {
  const { status, body, text } = await app.call('GET', `/api/v1/events?${query}`, { as })
  assert.equal(status, 200, text)
  return body.data
}

const untilCount = (as: TestActor, count: number): Promise<Item[]> =>
  until(
    async () => (await page(as, 'types=agent.deleted&limit=100')).items,
    (items) => items.length >= count,
  )

describe('the log of events', () => {
  test('rejects a position beyond the last event, and a workspace of another org', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    await record(owner.orgId)
    const [last] = await untilCount(owner, 1)
    const at = (query: string) => app.call('GET', `/api/v1/events?${query}`, { as: owner })
    assert.deepEqual((await at(`after=${last!.position}`)).body.data.items, [])
    const beyond = await at(`after=${last!.position + 1}`)
    assert.deepEqual([beyond.status, beyond.body.error.code], [400, 'BAD_REQUEST'])
    assert.match(beyond.body.error.message, /after must be at most 1, the position of the last event/)
    assert.equal((await at(`workspaceId=${stranger.workspaceId}`)).status, 404)
    assert.equal((await at(`workspaceId=${owner.workspaceId}`)).status, 200)
  })

  test('never shows an event before one that a reader has already seen, whichever transaction commits first', async () => {
    const owner = await app.createOrg()
    const slow = Promise.withResolvers<void>()
    const inserted = Promise.withResolvers<void>()
    const early = db.transaction(owner, async (db) => {
      const subjectId = newId()
      const data = { agentId: subjectId, name: 'early', slug: 'n' }
      await recordEvent(db, systemActor(owner.orgId, 'Test'), 'agent.deleted', { subjectId, workspaceId: null, data })
      inserted.resolve()
      await slow.promise
    })
    await inserted.promise
    // Ids of one millisecond are in any order.
    const insertedAtMs = Date.now()
    await until('the next millisecond has begun', () => Date.now() > insertedAtMs)
    await record(owner.orgId)
    const [late] = await untilCount(owner, 1)
    slow.resolve()
    await early
    const { items } = await until(
      () => page(owner, `types=agent.deleted&after=${late?.position}`),
      (found) => found.items.length > 0,
    )
    assert.equal(items.length, 1)
    assert.ok(items[0]!.position > late!.position)
    assert.ok(items[0]!.id < late!.id, 'the event that committed later has the smaller id')
  })

  // A transaction that has recorded an event still holds the lock on its subject in the areas. Here it holds none, so only
  // the positions, not the order within a subject, are compared with the order of the commits.
  test('gives every event exactly once to a consumer that reads while fifty transactions commit out of order', async () => {
    const owner = await app.createOrg()
    const seen: string[] = []
    let isDone = false
    const consumer = (async () => {
      let after: string | null = null
      for (;;) {
        const wasDone = isDone
        const next: Awaited<ReturnType<typeof page>> = await page(
          owner,
          `limit=7${after === null ? '' : `&after=${after}`}`,
        )
        seen.push(...next.items.map(({ id }) => id))
        after = next.nextCursor
        if (wasDone && next.items.length === 0 && seen.length >= 250) return
      }
    })()
    const subjects = Array.from({ length: 5 }, newId)
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        for (let round = 0; round < 5; round += 1) {
          await record(owner.orgId, subjects[n % 5], Math.random() / 50)
        }
      }).map((work) => work.catch((error: unknown) => assert.fail(String(error)))),
    )
    isDone = true
    await consumer
    assert.equal(new Set(seen).size, 250)
    assert.equal(seen.length, 250)
    const items = [
      ...(await page(owner, 'limit=100')).items,
      ...(await page(owner, 'limit=100&after=100')).items,
      ...(await page(owner, 'limit=100&after=200')).items,
    ]
    for (const subject of subjects) {
      const own = items.filter((item) => item.subject.id === subject).map(({ sequence }) => sequence)
      assert.deepEqual(
        own,
        Array.from({ length: 50 }, (_, n) => n + 1),
      )
    }
    assert.deepEqual(
      items.map(({ position }) => position),
      Array.from({ length: 250 }, (_, n) => n + 1),
    )
  })

  test('publishes the events of a process that died after its commit', async () => {
    const owner = await app.createOrg()
    const id = newId()
    await db.execute(sql`
      insert into event_outbox (org_id, id, type, actor, subject_type, subject_id, data)
      values (${owner.orgId}, ${id}, 'agent.deleted', '{"type":"system","id":null,"name":"T","apiKeyId":null}', 'agent',
        ${id}, ${JSON.stringify({ agentId: id, name: 'n', slug: 's' })}::jsonb)`)
    const [event] = await untilCount(owner, 1)
    assert.equal(event?.id, id)
  })

  test('publishes each event once when several processes publish at the same time', async () => {
    const owner = await app.createOrg()
    const others = Array.from({ length: 4 }, () => createPublisher({ db, log: app.deps.log }))
    for (const other of others) other.start()
    await Promise.all(Array.from({ length: 60 }, () => record(owner.orgId)))
    const items = await untilCount(owner, 60)
    assert.deepEqual(
      items.map(({ position }) => position),
      Array.from({ length: 60 }, (_, n) => n + 1),
    )
    await Promise.all(others.map((other) => other.stop()))
  })

  test('a change whose event gets the number of another, because the sequence of a new coordinator is behind, may be tried again', async () => {
    const owner = await app.createOrg()
    await record(owner.orgId)
    await untilCount(owner, 1)
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    // Published events are no longer in the outbox.
    const holder = db.transaction(owner, async (db) => {
      await db.row(sql`select from event_heads where org_id = ${owner.orgId} for update`)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    await record(owner.orgId)
    const taken = (await db.row<{ seq: bigint }>(sql`select seq from event_outbox where org_id = ${owner.orgId}`))!.seq
    await db.row(sql`select setval('event_outbox_seq', ${taken.toString()}::bigint, false)`)
    const create = () => app.call('POST', '/api/v1/projects', { as: owner, json: { name: `P ${newId()}` } })
    const failed = await create()
    assert.deepEqual([failed.status, failed.headers.get('retry-after')], [503, '1'], failed.text)
    assert.equal((await create()).status, 201)
    release.resolve()
    await holder
    await untilCount(owner, 2)
  })
})
