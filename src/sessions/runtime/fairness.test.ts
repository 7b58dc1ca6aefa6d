import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, openSession, say, until } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'

const app = await startTestApp()

test('the turns of other orgs run while hundreds of slow turns of one org wait on the same worker', async () => {
  const busy = await app.createOrg()
  const other = await app.createOrg()
  const begin = async (): Promise<void> => {
    const { id } = await openSession(app, busy)
    assert.equal((await say(app, busy, id, { text: '/slow 600000', background: true })).status, 202)
  }
  // More turns than a worker runs at the same time. One org may use half of these places.
  for (let i = 0; i < 45; i++) await Promise.all(Array.from({ length: 10 }, begin))
  // A worker without CPU time for a lease loses the turn, which counts as running until it is claimed again.
  const running = async () => {
    const row = await app.db.row<{ running: number }>(sql`
      select count(*)::int as running from turns
      where org_id = ${busy.orgId} and status = 'running' and lease_until > statement_timestamp()`)
    return row?.running ?? 0
  }
  const half = 200
  await until(running, (count) => count >= half)
  const { id } = await openSession(app, other)
  const { turn } = await ask(app, other, id, { text: 'Hello' })
  assert.equal(turn.status, 'completed')
  assert.ok((await running()) <= half, 'more than half of the places')
  // None of the places was given up for the other org.
  await until(running, (count) => count === half)
})

test('turns of other members of the org start although slow turns of one member wait for a place', async () => {
  const busy = await app.createOrg()
  const other = await app.createUser(busy)
  const begin = async (): Promise<void> => {
    const { id } = await openSession(app, busy)
    assert.equal((await say(app, busy, id, { text: '/slow 600000', background: true })).status, 202)
  }
  for (let i = 0; i < 45; i++) await Promise.all(Array.from({ length: 10 }, begin))
  const running = async () =>
    app.db.rows<{ id: string }>(sql`
      select id from turns
      where org_id = ${busy.orgId} and user_id = ${busy.userId} and status = 'running'
        and lease_until > statement_timestamp()`)
  await until(running, ({ length }) => length >= 90)
  const { id } = await openSession(app, other)
  const { turn } = await ask(app, other, id, { text: 'Hello' })
  assert.equal(turn.status, 'completed')
  assert.ok((await running()).length >= 90, 'the slow turns still run')
})
