import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { assertExact, deposit } from '../../test/support/billing.ts'
import { ask, createAgent, getTurn, openSession, say, textOf, untilStatus } from '../../test/support/chat.ts'
import { verifyOrg } from '../billing/ledger/verify.ts'
import { sql } from '../platform/database/database.ts'
import { idLater } from '../platform/ids.ts'
import { dropOldMessages } from './retention.ts'

const app = await startTestApp()
const { db } = app
const never = new AbortController().signal

const run = (text: string) => db.execute({ text, values: [] })

const monthMs = 30 * 86_400_000

/** SQL for an id that is `months` months older. */
const older = (id: string, months: number): string =>
  `(lpad(to_hex(('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint - ${months * monthMs}), 12, '0')
    || right(${id}::text, 23))::uuid`

/**
 * Gives each of the last nine months partitions of its own. The initial ones have no beginning, nor do those that cover the
 * past after a drop.
 */
const openMonths = async (): Promise<void> => {
  for (const table of ['messages', 'turn_steps', 'tool_calls']) {
    const endless = await db.rows<{ part: string }>(sql`
      select part from partition_bounds(${table}) where starts_at is null`)
    for (const { part } of endless) await run(`drop table ${part}`)
  }
  for (let n = 8; n >= 0; n--) await run(`select ensure_partitions(now() - ${n} * interval '1 month')`)
}

/** A new session whose id says that it began six months ago. */
const openOldSession = async (as: TestActor, agentId: string): Promise<string> => {
  const { id } = await openSession(app, as, { agentId })
  const oldId: string = idLater(id, -6 * monthMs).slice(0, 14) + id.slice(14)
  await run(`insert into sessions (org_id, id, workspace_id, agent_id, created_by)
    select org_id, '${oldId}', workspace_id, agent_id, created_by from sessions
    where org_id = '${as.orgId}' and id = '${id}'`)
  await run(
    `update session_participants set session_id = '${oldId}' where org_id = '${as.orgId}' and session_id = '${id}'`,
  )
  await run(`delete from sessions where org_id = '${as.orgId}' and id = '${id}'`)
  return oldId
}

/** Makes all turns of a session `months` months older, with their messages and calls. Returns the new id of the last. */
const age = async ({ orgId }: TestActor, sessionId: string, months: number): Promise<string> => {
  const rows = `org_id = '${orgId}' and session_id = '${sessionId}'`
  const ofTurns = `org_id = '${orgId}' and turn_id in (select id from turns where ${rows})`
  for (const table of ['turn_steps', 'tool_calls']) {
    await run(`update ${table} set turn_id = ${older('turn_id', months)} where ${ofTurns}`)
  }
  await run(`update messages set id = ${older('id', months)}, turn_id = ${older('turn_id', months)} where ${rows}`)
  await run(`update sessions set active_turn_id = ${older('active_turn_id', months)}
    where org_id = '${orgId}' and id = '${sessionId}' and active_turn_id is not null`)
  await run(`update turns set id = ${older('id', months)}, reply_id = ${older('reply_id', months)} where ${rows}`)
  const last = await db.row<{ id: string }>(sql`
    select id from turns where org_id = ${orgId} and session_id = ${sessionId} order by number desc limit 1`)
  return last?.id as string
}

const numberOf = async ({ orgId }: TestActor, turnId: string): Promise<number | undefined> =>
  (await db.row<{ number: number }>(sql`select number from turns where org_id = ${orgId} and id = ${turnId}`))?.number

/** The texts of the people in a session, newest first. */
const saidIn = async (as: TestActor, sessionId: string): Promise<string[]> => {
  const { status, body, text } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
  assert.equal(status, 200, text)
  const items = body.data.items as { role: string }[]
  assert.equal(items.filter(({ role }) => role === 'assistant').length, items.length / 2)
  return items.filter(({ role }) => role === 'user').map(textOf)
}

type Table = 'turns' | 'turn_steps' | 'tool_calls' | 'messages' | 'peer_chains' | 'usage_records'

const count = async ({ orgId }: TestActor, table: Table): Promise<number> =>
  (await db.rows({ text: `select from ${table} where org_id = '${orgId}'`, values: [] })).length

const prepare = async (agent: object = {}) => {
  await openMonths()
  const as = await app.createOrg()
  const { id: agentId } = await createAgent(app, as, { name: 'Helper', ...agent })
  return { as, agentId: agentId as string }
}

/** A session with an agent that asks before it writes, whose turn waits for approval. */
const prepareWaiting = async () => {
  const { as, agentId } = await prepare({ allowedTools: ['files.write'], settings: { approvals: ['files.write'] } })
  const sessionId = await openOldSession(as, agentId)
  const { body } = await say(app, as, sessionId, { text: '/tool files.write {"name":"a.txt","text":"x"}' })
  assert.equal(body.data.turn.status, 'requires_action')
  return { as, sessionId }
}

test('removes old months of messages, turns and calls, and the session continues with the next numbers', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  for (const text of ['first', 'second']) await ask(app, as, sessionId, { text })
  const oldTurn = await age(as, sessionId, 5)
  await ask(app, as, sessionId, { text: 'third' })
  assert.deepEqual(await saidIn(as, sessionId), ['third', 'second', 'first'])
  assert.equal((await getTurn(app, as, oldTurn)).status, 'completed')

  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual(await saidIn(as, sessionId), ['third'])
  assert.deepEqual([await count(as, 'turns'), await count(as, 'turn_steps'), await count(as, 'messages')], [1, 1, 2])
  assert.equal((await app.call('GET', `/api/v1/turns/${oldTurn}`, { as })).status, 404)
  const session = await app.call('GET', `/api/v1/sessions/${sessionId}`, { as })
  assert.deepEqual([session.status, session.body.data.messageCount], [200, 6])
  const listed = await app.call('GET', '/api/v1/sessions', { as })
  assert.equal(listed.body.data.items.length, 1)

  const { turn } = await ask(app, as, sessionId, { text: 'fourth' })
  assert.deepEqual([turn.status, await numberOf(as, turn.id)], ['completed', 4])
  assert.deepEqual(await saidIn(as, sessionId), ['fourth', 'third'])
})

test('a session of which everything was removed continues', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'first' })
  await age(as, sessionId, 5)
  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual(await saidIn(as, sessionId), [])
  assert.equal((await ask(app, as, sessionId, { text: 'second' })).turn.status, 'completed')
  assert.deepEqual(await saidIn(as, sessionId), ['second'])
})

test('keeps everything of months that are not completely older than the retention', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'old' })
  await age(as, sessionId, 2)
  await ask(app, as, sessionId, { text: 'new' })
  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual(await saidIn(as, sessionId), ['new', 'old'])
  assert.deepEqual([await count(as, 'turns'), await count(as, 'turn_steps')], [2, 2])
})

test('deletes no turn while its messages are in the initial partition, which is dropped as a whole', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'old' })
  await age(as, sessionId, 5)
  // As after the migration: one partition from the beginning of time to the end of this month.
  await run(`create table months as select part from partition_bounds('messages') where starts_at <= now()`)
  await run(`create table messages_initial (like messages including all)`)
  for (const { part } of await db.rows<{ part: string }>(sql`select part from months`)) {
    await run(`alter table messages detach partition ${part}`)
    await run(`insert into messages_initial select * from ${part}`)
    await run(`drop table ${part}`)
  }
  await run(`drop table months`)
  const next = await db.row<{ id: string }>(sql`
    select uuid_at((date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC') as id`)
  await run(`alter table messages attach partition messages_initial for values from (minvalue) to ('${next?.id}')`)

  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual(await saidIn(as, sessionId), ['old'])
  assert.equal(await count(as, 'turns'), 1)
})

test('cancels a turn that has waited for a person since before the retention, and its session continues', async () => {
  const { as, sessionId } = await prepareWaiting()
  const old = await age(as, sessionId, 5)
  // A message that waits behind it since today.
  const { body } = await say(app, as, sessionId, { text: 'And this?', background: true })
  assert.equal(body.data.turn.status, 'queued')

  await dropOldMessages(app.deps, 100, never)
  const young = await untilStatus(app, as, body.data.turn.id, 'completed')
  assert.equal(await numberOf(as, young.id), 2)
  assert.equal((await app.call('GET', `/api/v1/turns/${old}`, { as })).status, 404)
  assert.deepEqual([await count(as, 'tool_calls'), await count(as, 'turns')], [0, 1])
  const session = await app.call('GET', `/api/v1/sessions/${sessionId}`, { as })
  assert.deepEqual([session.body.data.status, session.body.data.activeTurnId], ['idle', null])
  assert.equal((await ask(app, as, sessionId, { text: 'Go on' })).turn.status, 'completed')
})

test('a turn that has waited for a person for less than the retention goes on', async () => {
  const { as, sessionId } = await prepareWaiting()
  const turnId = await age(as, sessionId, 2)
  await dropOldMessages(app.deps, 100, never)
  const { approvals } = await getTurn(app, as, turnId)
  const json = { approvalId: approvals[0].approvalId, approved: true }
  assert.equal((await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json })).status, 200)
  assert.equal((await untilStatus(app, as, turnId, 'completed')).toolCalls[0].status, 'done')
})

test('a turn that inherited untrusted content still says so when the turn that read it is removed', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'first' })
  const old = await age(as, sessionId, 5)
  await db.execute(sql`
    update turns set untrusted_from = 'web.fetch' where org_id = ${as.orgId} and id = ${old}`)
  await ask(app, as, sessionId, { text: 'second' })
  await dropOldMessages(app.deps, 100, never)
  assert.equal((await app.call('GET', `/api/v1/turns/${old}`, { as })).status, 404)
  const { turn } = await ask(app, as, sessionId, { text: 'third' })
  assert.equal(turn.untrustedFrom, 'web.fetch')
})

test('keeps the balance, the reports and the records of charges of the removed turns', async () => {
  const { as, agentId } = await prepare({ model: 'atrium/demo-paid' })
  await deposit(app, as, 5_000)
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: '/tokens 12345 0 0 0' })
  await app.settled()
  const before = await assertExact(app, as)
  const records = await count(as, 'usage_records')
  await age(as, sessionId, 5)
  await dropOldMessages(app.deps, 100, never)
  assert.equal(await count(as, 'turns'), 0)
  const after = await assertExact(app, as)
  assert.deepEqual([after.balance, after.usage], [before.balance, before.usage])
  assert.deepEqual([await count(as, 'usage_records'), await verifyOrg(db, as.orgId)], [records, []])
})

test('the shared budget of a chain of messages stays until the last turn of the chain has ended', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'first' })
  const chainId = await age(as, sessionId, 5)
  await db.execute(sql`
    insert into peer_chains (org_id, id, messages, steps, max_steps, deadline)
    values (${as.orgId}, ${chainId}, 1, 1, 10, now())`)
  const { turn } = await ask(app, as, sessionId, { text: 'second' })
  const setStatus = (status: string) =>
    db.execute(sql`
      update turns set chain_id = ${chainId}, status = ${status} where org_id = ${as.orgId} and id = ${turn.id}`)
  await setStatus('requires_action')
  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual([await count(as, 'peer_chains'), await count(as, 'turns')], [1, 2])
  await setStatus('completed')
  await dropOldMessages(app.deps, 100, never)
  assert.deepEqual([await count(as, 'peer_chains'), await count(as, 'turns')], [0, 1])
})

test('an interrupted run leaves sessions that work, and the next run completes it', async () => {
  const { as, agentId } = await prepare()
  const sessionId = await openOldSession(as, agentId)
  await ask(app, as, sessionId, { text: 'first' })
  await age(as, sessionId, 5)
  await ask(app, as, sessionId, { text: 'second' })
  for (let steps = 0, isDone = false; !isDone; steps++) {
    let left = steps
    const signal = {
      throwIfAborted: () => {
        if (left-- === 0) throw new Error('interrupted')
      },
    } as AbortSignal
    isDone = await dropOldMessages(app.deps, 100, signal).then(
      () => true,
      (error: Error) => assert.equal(error.message, 'interrupted') ?? false,
    )
    const said = await saidIn(as, sessionId)
    assert.equal(said[0], 'second')
    // A turn is there as long as one of its messages is.
    if (said.length === 2) assert.equal(await count(as, 'turns'), 2)
  }
  assert.deepEqual(await saidIn(as, sessionId), ['second'])
  assert.deepEqual([await count(as, 'turns'), await count(as, 'turn_steps')], [1, 1])
  await dropOldMessages(app.deps, 100, never)
  const { turn } = await ask(app, as, sessionId, { text: 'third' })
  assert.equal(await numberOf(as, turn.id), 3)
})
