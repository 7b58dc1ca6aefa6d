import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { accept, createWebhook, deliveriesOf, openLoopback } from '../../test/support/webhooks.ts'

const app = await startTestApp(openLoopback)
const receiver = await startReceiver()
const path = '/api/v1/webhooks/health'

const healthOf = async (as: TestActor, query = '') => {
  const { status, body } = await app.call('GET', path + query, { as })
  assert.equal(status, 200)
  return body.data
}

describe('GET /webhooks/health', () => {
  test('lists the latest results and the begin of failures of every webhook of the org, and of no other org', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    const good = await createWebhook(app, owner, { url: receiver.url })
    const silent = await createWebhook(app, owner)
    receiver.answer = (response) => response.end()
    await accept(app, good, { type: 'a.b' })
    await accept(app, good, { type: 'a.c' })
    await until('both deliveries have ended', async () => (await healthOf(owner)).items[1].recentResults.length === 2)
    assert.deepEqual((await healthOf(owner)).items, [
      { id: silent.id, failingSince: null, recentResults: [] },
      { id: good.id, failingSince: null, recentResults: ['succeeded', 'succeeded'] },
    ])
    receiver.answer = (response) => response.writeHead(500).end()
    await accept(app, good, { type: 'a.d' })
    await until('the first attempt has failed', async () => (await healthOf(owner)).items[1].failingSince !== null)
    const waiting = (await deliveriesOf(app, owner, good))[0]
    assert.equal(waiting.status, 'pending')
    const { failingSince, recentResults } = (await healthOf(owner)).items[1]
    assert.ok(failingSince >= waiting.createdAt)
    assert.equal(recentResults.length, 2, 'a delivery that waits for an attempt has no result')
    assert.deepEqual((await healthOf(stranger)).items, [])
  })

  test('has the pages of the list of webhooks', async () => {
    const owner = await app.createOrg()
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) ids.unshift((await createWebhook(app, owner)).id)
    const first = await healthOf(owner, '?limit=2')
    const second = await healthOf(owner, `?limit=2&cursor=${first.nextCursor}`)
    const listed: { id: string }[] = [...first.items, ...second.items]
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids,
    )
    assert.equal(second.nextCursor, null)
  })
})
