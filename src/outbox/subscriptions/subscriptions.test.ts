import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { startTestApp } from '../../../test/harness.ts'
import { createAgent, eventsAbout, renameAgent } from '../../../test/support/event-endpoints.ts'
import { until } from '../../../test/support/until.ts'
import type { Deps } from '../../deps.ts'
import { systemActor } from '../../identity/actor.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { JobContext } from '../../platform/jobs/jobs.ts'
import { chainHeader, maxDepth } from '../chain.ts'
import { recordEvent } from '../record.ts'
import { defineSubscription, sweepEvents } from './subscriptions.ts'
import type { EventOf } from './subscriptions.ts'

type Handled = EventOf<'agent.created' | 'agent.updated' | 'agent.deleted'>
type Handler = (event: Handled, context: JobContext) => Promise<void>

/** What the subscription does with the events of an org; nothing by default. */
const handlers = new Map<string, Handler>()
/** The events that were handled completely, by subject, in their order. */
const handled = new Map<string, number[]>()
const handledBy = (id: string): number[] => handled.get(id) ?? []

const agents = defineSubscription({
  name: 'test-agents',
  types: ['agent.created', 'agent.updated', 'agent.deleted'],
  retryLimit: 2,
  handle: async (_deps: Deps, event, context) => {
    await handlers.get(event.orgId)?.(event, context)
    handled.set(event.subjectId, [...handledBy(event.subjectId), Number(event.sequence)])
  },
})
const others: string[] = []
const second = defineSubscription({
  name: 'test-second',
  types: ['agent.deleted'],
  handle: async (_deps: Deps, event) => void others.push(event.data.agentId),
})

const options = { subscriptions: [agents, second] }
const app = await startTestApp({}, options)
const { db, deps } = app
const other = await app.secondServer({}, options)

const deleted = (orgId: string, subjectId = newId(), by = db): Promise<void> =>
  by.transaction({ orgId }, (db) =>
    recordEvent(db, systemActor(orgId, 'Test'), 'agent.deleted', {
      subjectId,
      workspaceId: null,
      data: { agentId: subjectId, name: 'N', slug: 'n' },
    }),
  )

const queued = (orgId: string) =>
  db.rows<{ sequence: bigint }>(sql`select sequence from subscription_queue where org_id = ${orgId}`)

interface Job {
  state: string
  retryCount: number
}
const jobsOf = (subjectId: string) =>
  db.rows<Job>(sql`
    select state::text, retry_count from pgboss.job
    where name = 'event.test-agents' and data ->> 'subjectId' = ${subjectId}`)

/** Waits for a condition while retries start without their delay. */
const untilRetried = (what: string, isTrue: () => boolean): Promise<void> =>
  until(what, async () => {
    await db.execute(sql`
      update pgboss.job set start_after = now() where name = 'event.test-agents' and state = 'retry' and start_after > now()`)
    return isTrue()
  })

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)

describe('a subscription', () => {
  test('gets the events of its types as they were stored, each subscription its own, and nothing remains', async () => {
    const owner = await app.createOrg()
    const seen: Handled[] = []
    handlers.set(owner.orgId, async (event) => void seen.push(event))
    const id = await createAgent(app, owner, 'Helper')
    await renameAgent(app, owner, id, 'Renamed')
    await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'Project' } })
    await app.call('DELETE', `/api/v1/agents/${id}`, { as: owner })
    await until('all were handled', () => handledBy(id).length === 3 && others.includes(id))
    assert.deepEqual(handledBy(id), [1, 2, 3])
    assert.deepEqual(
      seen.map(({ type, version, orgId, subjectType, depth }) => [type, version, orgId, subjectType, depth]),
      ['agent.created', 'agent.updated', 'agent.deleted'].map((type) => [type, 1, owner.orgId, 'agent', 0]),
    )
    const [created] = seen
    assert.equal(created?.type === 'agent.created' && created.data.name, 'Helper')
    await app.settled()
    assert.deepEqual(await queued(owner.orgId), [])
    assert.deepEqual(await jobsOf(id), [])
    assert.equal(others.filter((one) => one === id).length, 1)
  })

  test('gets every event of a subject in order and once, when two workers publish and handle them as fast as they can', async () => {
    const owner = await app.createOrg()
    const ids = [newId(), newId(), newId()]
    const count = 60
    const running = new Set<string>()
    const overlaps: string[] = []
    handlers.set(owner.orgId, async ({ subjectId }) => {
      if (running.has(subjectId)) overlaps.push(subjectId)
      running.add(subjectId)
      await new Promise((done) => setTimeout(done, Math.random() * 5))
      running.delete(subjectId)
    })
    await Promise.all(
      ids.map(async (id) => {
        for (let n = 0; n < count; n += 1) await deleted(owner.orgId, id, n % 2 === 0 ? db : other.db)
      }),
    )
    await until('all were handled', () => ids.every((id) => handledBy(id).length >= count))
    await app.settled()
    for (const id of ids) assert.deepEqual(handledBy(id), numbers(count))
    assert.deepEqual(overlaps, [])
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('that fails for a subject gets its event again before the later ones, and delays neither other subjects nor other orgs', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const [failing, fine, foreign] = [newId(), newId(), newId()]
    const attempts: [number, number][] = []
    handlers.set(owner.orgId, async ({ subjectId, sequence }, { attempt }) => {
      if (subjectId !== failing) return
      attempts.push([Number(sequence), attempt])
      if (attempt === 1) throw new Error('not yet')
    })
    await deleted(owner.orgId, failing)
    await until('it waits for its retry', async () => (await jobsOf(failing))[0]?.state === 'retry')
    await db.execute(sql`
      update pgboss.job set start_after = now() + interval '1 hour' where data ->> 'subjectId' = ${failing}`)
    await deleted(owner.orgId, failing)
    await deleted(owner.orgId, fine)
    await deleted(stranger.orgId, foreign)
    await until('the others were handled', () => handledBy(fine).length + handledBy(foreign).length === 2)
    assert.deepEqual(attempts, [[1, 1]])
    await untilRetried('both were handled', () => handledBy(failing).length === 2)
    assert.deepEqual(handledBy(failing), [1, 2])
    assert.deepEqual(attempts, [
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ])
  })

  test('that keeps failing gives the event up after its retries, which is logged and counted, and gets the next one', async () => {
    const owner = await app.createOrg()
    const id = newId()
    handlers.set(owner.orgId, async ({ sequence }) => {
      if (sequence === 1n) throw new Error('never')
    })
    const before = (await deps.jobs.lag()).failed
    for (let n = 0; n < 3; n += 1) await deleted(owner.orgId, id)
    await untilRetried('the later ones were handled', () => handledBy(id).length === 2)
    assert.deepEqual(handledBy(id), [2, 3])
    await app.settled()
    const [job, ...more] = await jobsOf(id)
    assert.deepEqual([job?.state, job?.retryCount, more.length], ['failed', 2, 0])
    assert.equal((await deps.jobs.lag()).failed, before + 1)
    const lines = [...app.logLines, ...other.logLines].filter((line) => line.includes(owner.orgId))
    assert.equal(lines.filter((line) => line.includes('an event was given up by a subscription')).length, 1)
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('gives up an event whose worker died in its last attempt, and gets the next one', async () => {
    const owner = await app.createOrg()
    const id = newId()
    const blocked = Promise.withResolvers<void>()
    let begun = 0
    handlers.set(owner.orgId, async ({ sequence }) => {
      begun += 1
      if (sequence === 1n) await blocked.promise
    })
    await deleted(owner.orgId, id)
    await deleted(owner.orgId, id)
    const waiting = async (): Promise<number> =>
      (
        await db.rows(sql`
          select from subscription_queue where org_id = ${owner.orgId} and subscription = ${agents.name}`)
      ).length
    await until('it has begun and the other waits', async () => begun === 1 && (await waiting()) === 2)
    const sweep = () => db.transaction('all orgs', (db) => deps.jobs.enqueue(db, sweepEvents, {}))
    await db.execute(sql`
      update subscription_queue set enqueued_at = now() - interval '1 hour'
      where org_id = ${owner.orgId} and enqueued_at is not null`)
    await sweep()
    await until('the sweep has ended', async () => {
      const rows = await db.rows(sql`
        select from pgboss.job where name = ${sweepEvents.name} and state in ('created', 'retry', 'active')`)
      return rows.length === 0
    })
    assert.equal(await waiting(), 2, 'an event that is being handled is not given up')
    await db.execute(sql`update pgboss.job set state = 'failed' where data ->> 'subjectId' = ${id}`)
    await sweep()
    await until('the next one was handled', () => handledBy(id).length === 1)
    blocked.resolve()
    await until('the first attempt has ended', () => handledBy(id).length === 2)
    assert.deepEqual(handledBy(id), [2, 1])
    await app.settled()
    assert.deepEqual(await queued(owner.orgId), [])
    assert.equal(begun, 2)
  })

  test('skips an event that was deleted at the end of its retention, and gets the next one', async () => {
    const owner = await app.createOrg()
    const id = newId()
    const [begun, blocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    handlers.set(owner.orgId, async ({ sequence }) => {
      if (sequence !== 1n) return
      begun.resolve()
      await blocked.promise
    })
    for (let n = 0; n < 3; n += 1) await deleted(owner.orgId, id)
    await begun.promise
    await eventsAbout(app, owner, id, 3)
    await db.execute(sql`delete from events where org_id = ${owner.orgId} and subject_id = ${id} and sequence = 2`)
    blocked.resolve()
    await until('the third was handled', () => handledBy(id).length === 2)
    assert.deepEqual(handledBy(id), [1, 3])
    await app.settled()
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('handles the events of one org while all other places wait for handlers of another org', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const blocked = Promise.withResolvers<void>()
    let running = 0
    handlers.set(owner.orgId, async () => {
      running += 1
      await blocked.promise
    })
    await Promise.all(Array.from({ length: 60 }, () => deleted(owner.orgId)))
    // Ten places in each of two processes, of which one org gets half.
    await until('the org has its share', () => running >= 10)
    const id = newId()
    await deleted(stranger.orgId, id)
    await until('the event of the other org was handled', () => handledBy(id).length === 1)
    assert.ok(running < 20, String(running))
    blocked.resolve()
    await app.settled()
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('gets no more events of an org of which 10,000 wait, while the others are handled, and gets later ones when there is room', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const blocked = Promise.withResolvers<void>()
    handlers.set(owner.orgId, () => blocked.promise)
    await db.execute(sql`
      insert into subscription_queue (org_id, subscription, subject_type, subject_id, sequence, event_id)
      select ${owner.orgId}, ${agents.name}, 'agent', gen_random_uuid(), 1, gen_random_uuid() from generate_series(1, 9999)`)
    const [kept, dropped, last] = [newId(), newId(), newId()]
    await db.transaction({ orgId: owner.orgId }, async (db) => {
      for (const subjectId of [kept, dropped, last]) {
        await recordEvent(db, systemActor(owner.orgId, 'Test'), 'agent.deleted', {
          subjectId,
          workspaceId: null,
          data: { agentId: subjectId, name: 'N', slug: 'n' },
        })
      }
    })
    const foreign = newId()
    await deleted(stranger.orgId, foreign)
    await until(
      'the other subscription and the other org got theirs',
      () => [kept, dropped, last].every((id) => others.includes(id)) && handledBy(foreign).length === 1,
    )
    const [first, second, third] = [
      ...(await eventsAbout(app, owner, kept, 1)),
      ...(await eventsAbout(app, owner, dropped, 1)),
      ...(await eventsAbout(app, owner, last, 1)),
    ]
    const waiting = await db.rows<{ eventId: string }>(sql`
      select event_id from subscription_queue where org_id = ${owner.orgId} and subscription = ${agents.name}`)
    assert.equal(waiting.length, 10_000)
    const ids = new Set(waiting.map(({ eventId }) => eventId))
    assert.deepEqual(
      [first, second, third].map((event) => ids.has(String(event?.id))),
      [true, false, false],
    )
    assert.deepEqual(await jobsOf(dropped), [])
    const lines = [...app.logLines, ...other.logLines].filter(
      (line) => line.includes(owner.orgId) && line.includes('too many of their org wait'),
    )
    const expected = { subscription: agents.name, eventId: second?.id, lastEventId: third?.id, count: 2 }
    assert.equal(lines.length, 1)
    assert.deepEqual({ ...JSON.parse(lines[0] ?? '{}'), ...expected }, JSON.parse(lines[0] ?? ''))
    await db.execute(sql`
      delete from subscription_queue where org_id = ${owner.orgId} and event_id <> ${first?.id}`)
    await deleted(owner.orgId, dropped)
    blocked.resolve()
    await until('both were handled', () => handledBy(kept).length + handledBy(dropped).length === 2)
    assert.deepEqual([handledBy(kept), handledBy(dropped), handledBy(last)], [[1], [2], []])
    await app.settled()
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('continues the chain of its event with what it records, and gets no event beyond the maximal depth', async () => {
    const owner = await app.createOrg()
    handlers.set(owner.orgId, async (event) => {
      await deleted(event.orgId, event.subjectId)
    })
    const id = await createAgent(app, owner, 'Loop')
    const events = await eventsAbout(app, owner, id, maxDepth + 2)
    await app.settled()
    assert.deepEqual(
      (await eventsAbout(app, owner, id, 1)).map(({ chain, isDelivered }) => [chain.id, chain.depth, isDelivered]),
      numbers(maxDepth + 2).map((n) => [events[0]?.id, n - 1, n <= maxDepth + 1]),
    )
    assert.deepEqual(handledBy(id), numbers(maxDepth + 1))
    assert.deepEqual(await queued(owner.orgId), [])
  })

  test('does not get an event of a request whose chain is too deep', async () => {
    const owner = await app.createOrg()
    const chain = app.deps.chains.format(owner.orgId, { id: newId(), depth: maxDepth + 1 })
    const json = { name: 'Deep' }
    const answer = await app.call('POST', '/api/v1/agents', { as: owner, json, headers: { [chainHeader]: chain } })
    const { id } = answer.body.data
    await eventsAbout(app, owner, id, 1)
    await renameAgent(app, owner, id, 'Shallow')
    await until('the later one was handled', () => handledBy(id).length === 1)
    assert.deepEqual(handledBy(id), [2])
  })
})

test('events without a subscription are published without reading or writing the queue, and enqueue no job', async () => {
  const owner = await app.createOrg()
  const client = new pg.Client(app.connection)
  await client.connect()
  try {
    await client.query('begin; lock table subscription_queue in access exclusive mode')
    const answer = await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'Project' } })
    const { id } = answer.body.data
    await eventsAbout(app, owner, id, 1)
    assert.deepEqual(await jobsOf(id), [])
  } finally {
    await client.end()
  }
})
