import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ask, createAgent, openSession, textOf, until } from '../../../test/support/chat.ts'
import { deposit } from '../../../test/support/billing.ts'
import { startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import { onOneServer } from '../../../test/support/database/distributed.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'

const model = await startFakeModel()
const app = await startTestApp({
  ...model.env,
  BILLING_ENFORCED: 'true',
  MODEL_FAKE_FREE: '0',
  MODEL_FAKE_PRICES: 'm1=1000000:4000000',
})

/** An org with a balance, and a session whose agent has answered before. */
const openSteadySession = async (): Promise<{ as: TestActor; agentId: string; sessionId: string }> => {
  const as = await app.createOrg()
  await deposit(app, as, 100_000)
  const agent = await createAgent(app, as, { name: 'Paid', model: 'fake/m1' })
  const { id } = await openSession(app, as, { agentId: agent.id })
  for (let i = 0; i < 2; i++) await ask(app, as, id, { text: 'Hello' })
  return { as, agentId: agent.id as string, sessionId: id as string }
}

/** The statements of a transaction in the order in which they were sent, with `begin` and `commit`; or a single one. */
type Recorded = string[]

// What the pollers of an idle process send.
const isPoll = (text: string): boolean =>
  /^(select kind\.name|select 1$|with wanted|-- all orgs: a worker)|heartbeat_on|with recursive waiting|pgboss\.(queue|schedule|version)|webhook_queue|from audit/.test(
    text,
  )

/** Records what this process sends to PostgreSQL while `work` runs. */
const record = async (work: () => Promise<unknown>): Promise<Recorded[]> => {
  const prototype = pg.Client.prototype as unknown as { query: (this: pg.Client, ...args: unknown[]) => unknown }
  const { query } = prototype
  const open = new Map<pg.Client, Recorded>()
  const recorded: Recorded[] = []
  prototype.query = function (...args) {
    const [first] = args as [string | { text: string }]
    const text = (typeof first === 'string' ? first : first.text).replaceAll(/\s+/g, ' ').trim()
    const transaction = open.get(this)
    if (transaction) transaction.push(text)
    else if (!isPoll(text)) {
      const begun = [text]
      recorded.push(begun)
      if (text.startsWith('begin')) open.set(this, begun)
    }
    if (text === 'commit' || text === 'rollback') open.delete(this)
    return query.apply(this, args)
  }
  try {
    await work()
  } finally {
    prototype.query = query
  }
  return recorded
}

/** Publishing the events of an org, also when only its begin was recorded, after the turn. Many turns share it. */
const isPublishing = (transaction: Recorded): boolean =>
  transaction.some((text) => text.includes('event_heads')) ||
  (transaction.length === 1 && transaction[0]?.startsWith('begin') === true)

const isPosting = (transaction: Recorded): boolean => transaction.some((text) => text.includes('usage_rollups'))

test('a turn with a paid model takes at most 12 statements and 6 transactions, and no job', async () => {
  const { as, sessionId } = await openSteadySession()
  // On a slow machine a turn lasts until the next check of its authority, every 300 ms, which is not counted.
  const turns: Recorded[][] = []
  for (let i = 0; i < 5; i++) {
    await app.settled()
    turns.push(
      (await record(() => ask(app, as, sessionId, { text: 'Hello again' }))).filter(
        (one) => !isPosting(one) && !isPublishing(one),
      ),
    )
  }
  const [turn] = turns.toSorted((a, b) => a.flat().length - b.flat().length)
  assert.ok(turn)
  const statements = turn.flat()
  const list = statements.join('\n')
  assert.ok(statements.length <= 12, `${statements.length} statements:\n${list}`)
  assert.ok(turn.length <= 6, `${turn.length} transactions:\n${list}`)
  assert.equal(statements.filter((text) => text.includes('pgboss')).length, 0, list)
})

test('charges of many turns are posted together, in one transaction of at most eight statements', async () => {
  const { as, agentId, sessionId } = await openSteadySession()
  await app.settled()
  const turns = 10
  const sessions = [sessionId]
  for (let i = 1; i < turns; i++) sessions.push((await openSession(app, as, { agentId })).id)
  const recorded = await record(async () => {
    await Promise.all(sessions.map((id) => ask(app, as, id, { text: 'Hello' })))
    await app.settled()
  })
  const postings = recorded.filter(isPosting)
  assert.ok(postings.length >= 1 && postings.length < turns, `${postings.length} postings of ${turns} turns`)
  for (const posting of postings) assert.ok(posting.length <= 8, posting.join('\n'))
})

if (await onOneServer(app.db, 'heap-only updates', 'the coordinator does not count those of shards')) {
  test('at least nine of ten updates of turns and sessions are heap-only, so that they write to no index', async () => {
    const sessions = await Promise.all([openSteadySession(), openSteadySession(), openSteadySession()])
    const updates = async () => {
      await app.db.execute(sql`select pg_stat_force_next_flush()`)
      return app.db.row<{ turns: number; turnsHot: number; sessions: number; sessionsHot: number }>(sql`
      select sum(n_tup_upd) filter (where relname = 'turns')::int as turns,
        sum(n_tup_hot_upd) filter (where relname = 'turns')::int as turns_hot,
        sum(n_tup_upd) filter (where relname = 'sessions')::int as sessions,
        sum(n_tup_hot_upd) filter (where relname = 'sessions')::int as sessions_hot
      from pg_stat_user_tables where relname in ('turns', 'sessions')`)
    }
    const turnsEach = 15
    await Promise.all(
      sessions.map(async ({ as, sessionId }) => {
        for (let i = 0; i < turnsEach; i++) await ask(app, as, sessionId, { text: 'Hello' })
      }),
    )
    // Other connections report their counters within a second.
    const counted = await until(updates, (row) => (row?.turns ?? 0) >= sessions.length * turnsEach * 2)
    assert.ok(counted)
    const { turns, turnsHot, sessions: changed, sessionsHot } = counted
    assert.ok(turnsHot / turns >= 0.9, `turns: ${turnsHot} of ${turns}`)
    assert.ok(sessionsHot / changed >= 0.9, `sessions: ${sessionsHot} of ${changed}`)
  })
}

test('a turn that starts in the process that created it reads the history and the money as any other turn', async () => {
  const { as, sessionId } = await openSteadySession()
  model.requests.length = 0
  const { turn, message } = await ask(app, as, sessionId, { text: 'And now?' })
  assert.equal(textOf(message), 'Hello.')
  assert.equal(turn.chargedMicrocents > 0, true)
  const [asked] = model.requests
  const said = asked?.messages.filter(({ role }) => role !== 'system').map(({ role }) => role)
  assert.deepEqual(said, ['user', 'assistant', 'user', 'assistant', 'user'])
  const row = await app.db.row<{ reserved: number }>(sql`
    select count(*)::int as reserved from usage_holds where org_id = ${as.orgId}`)
  assert.equal(row?.reserved, 0)
})
