import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import { createAgent, openSession, say } from '../../test/support/chat.ts'
import { onOneServer } from '../../test/support/database/distributed.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Sql } from '../platform/database/database.ts'
import { idLater, newId } from '../platform/ids.ts'
import { historyRecord, listMessages } from './message-queries.ts'
import { endLastTurn, writeCheckpoint } from './runtime/queries.ts'
import type { EndedStep } from './runtime/checkpoint-queries.ts'
import { findTurnRecords } from './turns/details-queries.ts'

const app = await startTestApp({}, { work: false })
const { db } = app
const months = 24
const dayMs = 86_400_000

for (const table of ['messages', 'turn_steps', 'tool_calls']) {
  await db.execute({ text: `drop table ${table}_initial`, values: [] })
}
for (let n = months; n >= 0; n--) await db.row(sql`select ensure_partitions(now() - ${n} * interval '1 month')`)

const owner = await app.createOrg()
const agent = await createAgent(app, owner, { name: 'Helper' })
const session = await openSession(app, owner, { agentId: agent.id })

/** The statement that a query sends. */
const statementOf = async (send: (db: Db) => Promise<unknown>): Promise<Sql> => {
  let sent: Sql | undefined
  const keep = async (statement: unknown): Promise<undefined> => {
    sent = statement as Sql
  }
  await send({ rows: keep, row: keep, execute: keep, lookUp: keep } as unknown as Db).catch(() => undefined)
  assert.ok(sent)
  return sent
}

const planOf = async ({ text, values }: Sql): Promise<string> => {
  const rows = await db.rows<Record<string, string>>({ text: `explain (analyze, timing off) ${text}`, values })
  return rows.map((row) => Object.values(row)[0]).join('\n')
}

/** The partitions of a table that a plan scans. */
const scannedIn = (plan: string, table: string): Set<string> =>
  new Set([...plan.matchAll(new RegExp(String.raw`\bon (${table}_\d+)`, 'g'))].map(([, name]) => name as string))

test('idLater is the smallest id of a time relative to that of another id', async () => {
  const id = newId()
  for (const ms of [0, -dayMs, 40 * dayMs]) {
    const [row] = await db.rows<{ id: string }>(sql`
      select uuid_at(uuid_time(${id}::uuid) + ${ms} * interval '1 millisecond') as id`)
    assert.equal(idLater(id, ms), row?.id)
  }
  assert.equal(idLater('00000000-0000-7000-8000-000000000000', -dayMs), '00000000-0000-0000-0000-000000000000')
})

test('the messages and the history of a session are read from the months since the session began', async () => {
  const { orgId } = owner
  const options = { orgId, sessionId: session.id, turnNumber: 5, skipped: null, limit: 100, maxBytes: 100_000 }
  const statements = [
    await statementOf((db) =>
      listMessages(db, owner as never, session.id, { limit: 50, before: undefined, skipped: null }),
    ),
    sql`select ${historyRecord(options)} as history`,
  ]
  for (const statement of statements) {
    const plan = await planOf(statement)
    // This month and the two ahead; in its first week also the one before.
    assert.ok(scannedIn(plan, 'messages').size <= 4, plan)
    assert.match(plan, /Subplans Removed: 2\d/, plan)
  }
  const old = { ...options, sessionId: idLater(session.id, -200 * dayMs) }
  assert.ok(scannedIn(await planOf(sql`select ${historyRecord(old)} as history`), 'messages').size >= 9)
})

if (await onOneServer(db, 'generic plans', 'Citus plans each execution')) {
  test('the statements of a turn are planned once for all turns, although plans for one month would be cheaper', async () => {
    const { orgId } = owner
    const { body } = await say(app, owner, session.id, { text: 'Hello', background: true })
    const turn = body.data.turn
    const lease = { orgId, turnId: turn.id, token: newId() }
    const begun = { step: 1, attempt: 1, inputTokens: 1, costMicrocents: 1n, fallback: null }
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, isEstimate: false }
    const outcome = { status: 'completed', finishReason: null, parts: [], error: null }
    const ended = { step: 1, attempt: 1, ...outcome, ...usage, costMicrocents: 1n, fallback: null } as EndedStep
    const ending = { status: 'completed', stopReason: 'stop', error: null, parts: [], checkpoint: { ended } }
    const ends = {
      orgId,
      turn: { ...turn, sessionId: session.id },
      token: lease.token,
      ending,
      events: [],
      contextTokens: 0,
    }
    const statements: ((db: Db) => Promise<unknown>)[] = [
      (db) => writeCheckpoint(db, lease, { leaseMs: 1_000, isContinued: true }, { begun }),
      (db) => writeCheckpoint(db, lease, { leaseMs: 1_000, isContinued: true }, { ended }),
      (db) => endLastTurn(db, ends as never),
      (db) => listMessages(db, owner as never, session.id, { limit: 50, before: undefined, skipped: null }),
      (db) => findTurnRecords(db, orgId, owner.workspaceId, turn.id),
    ]
    await db.transaction('all orgs', async (db) => {
      // The default of PostgreSQL, with which reading all partitions seems most expensive.
      await db.execute(sql`set local random_page_cost = 4`)
      for (const send of statements) {
        const { text } = await statementOf(send)
        for (let n = 0; n < 8; n++) await send(db)
        const row = await db.row<{ generic: bigint }>(sql`
          select generic_plans as generic from pg_prepared_statements where statement = ${text}`)
        assert.ok((row?.generic ?? 0n) >= 2n, text)
      }
    })
  })
}
