import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { parseCidr } from '../../platform/outbound/public-addresses.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { accept, createWebhook, deliveriesOf } from '../../../test/support/webhooks.ts'

const slow = new Set<string>()
let most = 0
const silence = Promise.withResolvers<never>()
const outbound = createOutbound({
  allowCidrs: [parseCidr('127.0.0.0/8')!],
  resolve: async (name) => {
    if (!name.endsWith('.slow.example')) return [{ address: '127.0.0.1', family: 4 }]
    slow.add(name)
    most = Math.max(most, slow.size)
    try {
      return await silence.promise
    } finally {
      slow.delete(name)
    }
  },
})
const app = await startTestApp({}, { replace: { outbound } })

test("an org whose host names do not resolve delays neither another org's webhooks nor its deliveries", async () => {
  const [attacker, owner] = [await app.createOrg(), await app.createOrg()]
  const create = (index: number) =>
    app.call('POST', '/api/v1/webhooks', {
      as: attacker,
      json: { name: `slow ${index}`, url: `https://h${index}.slow.example/` },
    })
  const created = Promise.all(Array.from({ length: 40 }, (_, index) => create(index)))
  await until('its look-ups are under way', () => slow.size === 8)

  const endpoint = await startReceiver()
  const webhook = await createWebhook(app, owner, { url: `http://hooks.example.com:${new URL(endpoint.url).port}/` })
  await accept(app, webhook, { type: 'a' })
  await until('it is forwarded', () => endpoint.arrivals.length === 1)
  await until('it is recorded', async () => (await deliveriesOf(app, owner, webhook))[0]?.status === 'succeeded')
  assert.equal(most, 8, 'more look-ups of one domain than its limit never ran at once')

  // Its own webhooks are stored nevertheless, because a name may resolve later.
  for (const { status, text } of await created) assert.equal(status, 201, text)
  silence.reject(new Error('the test is over'))
  await until('its look-ups have ended', () => slow.size === 0)
})
