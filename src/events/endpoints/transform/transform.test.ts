import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { startReceiver } from '../../../../test/fakes/receiver.ts'
import type { Arrival, Receiver } from '../../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import {
  createAgent,
  createEndpoint,
  endpointDeliveries,
  endpointsPath,
  patchEndpoint,
  readEndpoint,
  renameAgent,
} from '../../../../test/support/event-endpoints.ts'
import type { MadeEndpoint, SeenDelivery } from '../../../../test/support/event-endpoints.ts'
import { until } from '../../../../test/support/until.ts'
import { openLoopback } from '../../../../test/support/webhooks.ts'

// Three attempts: at once, after 0 s and after a day.
const app = await startTestApp({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,86400' })

const previewPath = `${endpointsPath}/transform-preview`
const parsed = ({ body }: Arrival) => JSON.parse(body.toString())
const untilArrivals = (receiver: Receiver, count: number): Promise<void> =>
  until(`${count} deliveries have arrived`, () => receiver.arrivals.length >= count)
const untilDeliveries = (as: TestActor, endpoint: MadeEndpoint, statuses: string[]): Promise<SeenDelivery[]> =>
  until(
    () => endpointDeliveries(app, as, endpoint),
    (items) => JSON.stringify(items.map(({ status }) => status)) === JSON.stringify(statuses),
  )
/** Fails for one name, and has the id of the event otherwise. */
const picky = '{ "id": id, "name": data.name = "Bad" ? $error("no " & data.name) : data.name }'
const pickyError = /^The transform failed at character \d+: it called \$error \(D3137\)\.$/

describe('an endpoint with `transform`', () => {
  test('receives the result, signed, with the id and the chain of the event and the same bytes on every attempt', async () => {
    const owner = await app.createOrg()
    const [receiver, plain] = [await startReceiver(), await startReceiver()]
    receiver.answer = (response) => response.writeHead(receiver.arrivals.length < 2 ? 500 : 204).end()
    const transform = '{ "text": data.name & " by " & actor.name, "at": $now(), "when": timestamp }'
    const { secret, record } = await createEndpoint(app, owner, { url: receiver.url, transform })
    assert.equal(record.transform, transform)
    await createEndpoint(app, owner, { url: plain.url })
    await createAgent(app, owner, 'Zoë 🎉')
    await untilArrivals(receiver, 2)
    await untilArrivals(plain, 1)
    const [first, second] = receiver.arrivals as [Arrival, Arrival]
    const event = parsed(plain.arrivals[0] as Arrival)
    assert.deepEqual(parsed(first), {
      text: `Zoë 🎉 by ${event.actor.name}`,
      at: event.timestamp,
      when: event.timestamp,
    })
    assert.equal(second.body.equals(first.body), true)
    for (const { body, headers } of [first, second]) {
      assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>))
      assert.equal(headers['webhook-id'], event.id)
      assert.equal(headers['content-type'], 'application/json')
      const chain = app.deps.chains.parse(owner.orgId, headers['atrium-event-chain'] as string)
      assert.deepEqual(chain, { id: event.chain.id, depth: 1 })
    }
  })

  test('whose transform fails has a failed attempt with the reason, without a request and without a retry', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, transform: picky })
    await createAgent(app, owner, 'Bad')
    const [delivery] = (await untilDeliveries(owner, endpoint, ['failed'])) as [SeenDelivery]
    assert.match(delivery.statusReason ?? '', pickyError)
    assert.equal(delivery.attempts.length, 1)
    assert.equal(delivery.nextAttemptAt, null)
    assert.equal(JSON.stringify(delivery).includes('Bad'), false, 'the reason repeats no data of the event')
    assert.notEqual((await readEndpoint(app, owner, endpoint)).failingSince, null)
    assert.equal(receiver.arrivals.length, 0)

    await patchEndpoint(app, owner, endpoint, { transform: null })
    const retry = `${endpointsPath}/${endpoint.id}/deliveries/${delivery.id}/retry`
    assert.equal((await app.call('POST', retry, { as: owner })).status, 202)
    await untilDeliveries(owner, endpoint, ['succeeded'])
    assert.equal(parsed(receiver.arrivals[0] as Arrival).data.name, 'Bad')
    assert.equal((await readEndpoint(app, owner, endpoint)).failingSince, null)
  })

  test('with `ordering: subject` continues with the next event of the subject after a transform failed', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, transform: picky, ordering: 'subject' })
    const id = await createAgent(app, owner, 'First')
    await renameAgent(app, owner, id, 'Bad')
    await renameAgent(app, owner, id, 'Last')
    await until('the events before and after the failed one have arrived', () => receiver.arrivals.length === 2)
    const deliveries = await until(
      () => endpointDeliveries(app, owner, endpoint),
      (items) =>
        items.length === 3 &&
        items.every(({ nextAttemptAt, status }) => nextAttemptAt === null && status !== 'sending'),
    )
    assert.equal(deliveries.filter(({ status }) => status === 'failed').length, 1)
    assert.deepEqual(
      receiver.arrivals.map((arrival) => parsed(arrival).name),
      ['First', 'Last'],
    )
  })

  test('receives test events transformed', async () => {
    const owner = await app.createOrg()
    const receiver = await startReceiver()
    const endpoint = await createEndpoint(app, owner, { url: receiver.url, transform: '{ "t": type, "test": isTest }' })
    const json = { type: 'agent.updated' }
    const answer = await app.call('POST', `${endpointsPath}/${endpoint.id}/test`, { as: owner, json })
    assert.equal(answer.status, 202, answer.text)
    await untilArrivals(receiver, 1)
    assert.deepEqual(parsed(receiver.arrivals[0] as Arrival), { t: 'agent.updated', test: true })
  })

  test('that loops does not delay the endpoints of another org, and its own deliveries fail with the reason', async () => {
    const [bad, good] = [await app.createOrg(), await app.createOrg()]
    const [wasted, receiver] = [await startReceiver(), await startReceiver()]
    const loop = '( $f := function($x) { $f($x) }; { "a": $f(1) } )'
    const hostile = await createEndpoint(app, bad, { url: wasted.url, transform: loop })
    await createEndpoint(app, good, { url: receiver.url, transform: '{ "name": data.name }' })
    for (let count = 0; count < 12; count += 1) await createAgent(app, bad, `Agent ${count}`)
    for (let count = 0; count < 5; count += 1) await createAgent(app, good, `Agent ${count}`)
    await untilArrivals(receiver, 5)
    const open = (await endpointDeliveries(app, bad, hostile)).filter(({ status }) => status !== 'failed')
    assert.ok(open.length > 0, 'the good deliveries did not wait for all hostile ones')
    const ended = await until(
      () => endpointDeliveries(app, bad, hostile),
      (items) => items.some(({ status }) => status === 'failed'),
    )
    assert.match(ended.find(({ status }) => status === 'failed')?.statusReason ?? '', /limit of 50 ms/)
    assert.equal(wasted.arrivals.length, 0)
    await patchEndpoint(app, bad, hostile, { status: 'paused' })
  })

  test('is rejected with the place of a mistake and changes nothing', async () => {
    const owner = await app.createOrg()
    const endpoint = await createEndpoint(app, owner, { transform: '{ "a": id }' })
    for (const [transform, message] of [
      ['{ "a": }', /^transform: .*\(character 8\)$/],
      ['$eval("1")', /^transform: The function \$eval is not available/],
      ['', /transform/],
      [`"${'x'.repeat(8_192)}"`, /transform/],
    ] as const) {
      const path = `${endpointsPath}/${endpoint.id}`
      const patched = await app.call('PATCH', path, { as: owner, json: { transform } })
      const json = { name: 'N', url: 'https://hooks.example.com/', types: ['*'], transform }
      const created = await app.call('POST', endpointsPath, { as: owner, json })
      for (const { status, body } of [patched, created]) {
        assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
        assert.match(body.error.message, message)
      }
    }
    assert.equal((await readEndpoint(app, owner, endpoint)).transform, '{ "a": id }')
    assert.equal((await app.call('GET', endpointsPath, { as: owner })).body.data.items.length, 1)
  })

  test('belongs to the person who set the transform', async () => {
    const owner = await app.createOrg()
    const endpoint = await createEndpoint(app, owner, {})
    const admin = await app.createUser(owner, 'admin')
    await patchEndpoint(app, admin, endpoint, { name: 'Renamed' })
    assert.equal((await readEndpoint(app, owner, endpoint)).owner.userId, owner.userId)
    await patchEndpoint(app, admin, endpoint, { transform: '{ "a": id }' })
    assert.equal((await readEndpoint(app, owner, endpoint)).owner.userId, admin.userId)
  })
})

describe('the preview of a transform', () => {
  test('returns the result for the example of a type or for a given event, and sends and stores nothing', async () => {
    const owner = await app.createOrg()
    const transform = '{ "type": type, "text": expanded.text }'
    const ofType = await app.call('POST', previewPath, { as: owner, json: { transform, type: 'message.created' } })
    assert.equal(ofType.status, 200, ofType.text)
    assert.deepEqual(ofType.body.data.result, { type: 'message.created' })
    assert.equal(ofType.body.data.event.isTest, true)
    const event = { type: 'message.created', expanded: { text: 'Hello' } }
    const ofEvent = await app.call('POST', previewPath, { as: owner, json: { transform, event } })
    assert.deepEqual(ofEvent.body.data, { event, result: { type: 'message.created', text: 'Hello' } })
    assert.deepEqual((await app.call('GET', endpointsPath, { as: owner })).body.data.items, [])
  })

  test('explains an error with the values of the example', async () => {
    const owner = await app.createOrg()
    const errorOf = async (json: object): Promise<string> => {
      const { status, body } = await app.call('POST', previewPath, { as: owner, json })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      return body.error.message
    }
    assert.match(
      await errorOf({ transform: '{ "a": $number(data.name) }', event: { data: { name: 'Ada' } } }),
      /^transform: Unable to cast value to a number: "Ada" \(character \d+\)$/,
    )
    assert.match(await errorOf({ transform: 'id', type: 'agent.created' }), /^transform: The result is not an object/)
    assert.match(await errorOf({ transform: '{}', type: 'no.type' }), /type must be one of GET \/event-types/)
    assert.match(await errorOf({ transform: '{}' }), /Send either type or event/)
    assert.match(await errorOf({ transform: '{}', type: 'agent.created', event: {} }), /Send either type or event/)
  })
})
