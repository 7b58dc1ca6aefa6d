// Servers of version 0.1, which do not know event endpoints, run beside this version during an update.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { sql } from '../../src/platform/database/database.ts'
import { claimDeliveries } from '../../src/webhooks/deliver/claim.ts'
import { startTestApp } from '../harness.ts'
import { createAgent, createEndpoint } from '../support/event-endpoints.ts'
import { until } from '../support/until.ts'

const app = await startTestApp({}, { work: false })
const isDistributed = await app.db.isDistributed()

const recorded = JSON.parse(
  gunzipSync(readFileSync(new URL('../fixtures/statements-0.1.json.gz', import.meta.url))).toString(),
) as { text: string }[]
const statement = (part: string): string => {
  const found = recorded.find(({ text }) => text.includes(part))
  assert.ok(found, part)
  return found.text
}

const skip = isDistributed && 'version 0.1 has no distributed schema'
test(
  'servers of version 0.1 neither claim deliveries to event endpoints nor list the endpoints',
  { skip },
  async () => {
    const owner = await app.createOrg()
    const { id } = await createEndpoint(app, owner, {})
    await createAgent(app, owner, 'Helper')
    const { orgId } = owner
    await until('a delivery is queued', async () => {
      const rows = await app.db.rows(sql`select id from webhook_queue where org_id = ${orgId} and webhook_id = ${id}`)
      return rows.length === 1
    })
    const client = new pg.Client(app.connection)
    await client.connect()
    try {
      const claim = statement('update webhook_queue q set lease_token')
      const claimed = await client.query(claim, [[orgId], [id], [16], 64, randomUUID(), 30])
      assert.equal(claimed.rowCount, 0)
      const lanes = await client.query<{ webhook_id: string; is_due: boolean }>(statement('recursive lanes'), [
        '00000000-0000-0000-0000-000000000000',
        500,
      ])
      assert.deepEqual(
        lanes.rows.filter((lane) => lane.webhook_id === id).map((lane) => lane.is_due),
        [false],
      )
      const { rows } = await client.query('select from webhooks where id = $1', [id])
      assert.deepEqual(rows, [])
    } finally {
      await client.end()
    }
    const lanes = [{ orgId, webhookId: id, slots: 16 }]
    const mine = await claimDeliveries(app.db, { lanes, slots: 64, token: randomUUID(), leaseSeconds: 30 })
    assert.equal(mine.length, 1)
  },
)
