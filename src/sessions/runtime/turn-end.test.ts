import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createAgent, openSession, say, until, untilStatus } from '../../../test/support/chat.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { sql } from '../../platform/database/database.ts'

const model = await startFakeModel()
const app = await startTestApp(model.env)

const waitingStatements = (): Promise<number> => waitingForLocks(app.db)

/** A turn whose model has been asked and has not answered, and a connection that has locked its session. */
const beginAndLock = async () => {
  const as = await app.createOrg()
  const agent = await createAgent(app, as, { name: 'Agent', model: 'fake/m1' })
  const { id: sessionId } = await openSession(app, as, { agentId: agent.id })
  const answer = held(reply(['Done.']))
  model.play(answer.script, reply(['Next.']))
  const { body } = await say(app, as, sessionId, { text: 'First', background: true })
  await answer.asked
  const client = new pg.Client(app.connection)
  await client.connect()
  await client.query('begin')
  await client.query('select from sessions where org_id = $1 and id = $2 for no key update', [as.orgId, sessionId])
  return { as, sessionId: sessionId as string, turnId: body.data.turn.id as string, answer, client }
}

test('a turn that ends while its session is being changed keeps the change, and the session is idle afterwards', async () => {
  const { as, sessionId, turnId, answer, client } = await beginAndLock()
  await client.query(`update sessions set title = 'Changed' where org_id = $1 and id = $2`, [as.orgId, sessionId])
  answer.release()
  await until(waitingStatements, (count) => count === 1)
  await client.query('commit')
  await client.end()
  await untilStatus(app, as, turnId, 'completed')
  const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}`, { as })
  const { title, status, activeTurnId, messageCount } = body.data
  assert.deepEqual([title, status, activeTurnId ?? null, messageCount], ['Changed', 'idle', null, 2])
})

test('a message that arrives while the turn before it ends starts its own turn when that one has ended', async () => {
  const { as, sessionId, turnId, answer, client } = await beginAndLock()
  const second = say(app, as, sessionId, { text: 'Second', background: true })
  await until(waitingStatements, (count) => count === 1)
  // The end of the turn now waits behind the transaction of the second message, whose turn its snapshot does not contain.
  answer.release()
  await until(waitingStatements, (count) => count === 2)
  await client.query('commit')
  await client.end()
  const { body } = await second
  await untilStatus(app, as, turnId, 'completed')
  await untilStatus(app, as, body.data.turn.id, 'completed')
  const { body: list } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })
  const authors = list.data.items.map((message: { role: string; turnId: string }) => [message.role, message.turnId])
  const [next] = [body.data.turn.id]
  assert.deepEqual(authors, [
    ['assistant', next],
    ['assistant', turnId],
    ['user', next],
    ['user', turnId],
  ])
  const row = await app.db.row<{ active: number }>(sql`
    select count(*)::int as active from active_turns where org_id = ${as.orgId}`)
  assert.equal(row?.active, 0)
})

test('a session with a long history is read after its turn is committed, and the model is shown the whole of it', async () => {
  const as = await app.createOrg()
  const agent = await createAgent(app, as, { name: 'Agent', model: 'fake/m1' })
  const { id } = await openSession(app, as, { agentId: agent.id })
  model.play(reply(['Short.']))
  await say(app, as, id, { text: 'First' })
  await app.db.execute(sql`
    update sessions set context_tokens = 1000000 where org_id = ${as.orgId} and id = ${id}`)
  await say(app, as, id, { text: 'Second' })
  const roles = model.requests
    .at(-1)
    ?.messages.filter(({ role }) => role !== 'system')
    .map(({ role }) => role)
  assert.deepEqual(roles, ['user', 'assistant', 'user'])
})

test('a turn that cannot be prepared again after a decision ends with its open calls closed', async () => {
  const as = await app.createOrg()
  const agent = await createAgent(app, as, {
    name: 'Writer',
    allowedTools: ['files.write'],
    settings: { approvals: ['files.write'] },
  })
  const session = await openSession(app, as, { agentId: agent.id })
  const { body } = await say(app, as, session.id, { text: '/tool files.write {"name":"a.txt","text":"x"}' })
  const { id: turnId, approvals } = body.data.turn
  await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as, json: { isActive: false } })
  const decision = { approvalId: approvals[0].approvalId, approved: true }
  assert.equal((await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json: decision })).status, 200)
  const ended = await until(
    () => app.call('GET', `/api/v1/turns/${turnId}`, { as }),
    ({ body }) => body.data.endedAt !== null,
  )
  const { status, toolCalls } = ended.body.data
  assert.equal(status, 'failed')
  assert.deepEqual(
    toolCalls.map((call: { status: string }) => call.status),
    ['cancelled'],
  )
  const open = await app.db.rows(sql`
    select 1 from tool_calls where org_id = ${as.orgId} and turn_id = ${turnId} and status in ('waiting', 'started')`)
  assert.deepEqual(open, [])
})
