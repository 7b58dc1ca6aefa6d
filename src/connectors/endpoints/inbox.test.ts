import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgent } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import { addEndpoint, deliver } from '../../../test/support/endpoints.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'

const app = await startTestApp({}, { work: false })
const { db } = app

test('events that wait for a write together are stored for the endpoint, and the org, that each was sent to', async () => {
  const endpoints = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const owner = await app.createOrg()
      const agent = await createAgent(app, owner, { name: 'Helper' })
      return { orgId: owner.orgId, ...(await addEndpoint(app, owner, 'telegram', { agentId: agent.id })) }
    }),
  )
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  const send = (endpoint: (typeof endpoints)[number], n: number) =>
    deliver(
      app,
      endpoint,
      JSON.stringify({
        update_id: n,
        message: {
          message_id: n,
          from: { id: 7, is_bot: false, first_name: 'Ada' },
          chat: { id: 7, first_name: 'Ada', type: 'private' },
          date: 1,
          text: endpoint.id,
        },
      }),
    )
  const locked = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  const lock = db.transaction('all orgs', async (db) => {
    await db.execute(sql`lock table connector_event_keys in share mode`)
    locked.resolve()
    await sent.promise
  })
  await locked.promise
  const responses = endpoints.flatMap((endpoint) => numbers.map((n) => send(endpoint, n)))
  await until('two writes wait', async () => {
    const row = await db.row<{ n: number }>(sql`select count(*)::int as n from pg_locks where not granted`)
    return (row?.n ?? 0) >= 2
  })
  sent.resolve()
  await lock
  for (const { status, body } of await Promise.all(responses)) {
    assert.deepEqual([status, body.data.duplicate], [200, false])
  }
  for (const { orgId, id } of endpoints) {
    const events = await db.rows<{ orgId: string; message: string }>(sql`
      select org_id, message from connector_events where endpoint_id = ${id}`)
    assert.equal(events.length, numbers.length)
    assert.ok(events.every((one) => one.orgId === orgId && one.message === id))
  }
})
