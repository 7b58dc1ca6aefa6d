import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { noWakeups } from '../../platform/wake/wakeups.ts'
import type { Wakeups } from '../../platform/wake/wakeups.ts'
import type { DeliveryLane } from './lane-queries.ts'
import { createLog } from '../../platform/process/log.ts'
import { createDeliverer } from './deliverer.ts'
import { createDeliveryWake } from './wake.ts'

const app = await startTestApp({}, { work: false })

/** Wake-ups of one process that record what it publishes, and receive what the test sends. */
const recording = () => {
  const published: string[] = []
  const listeners: ((hint: string) => void)[] = []
  const wakeups: Wakeups = {
    ...noWakeups,
    publish: (topic, hint) => void published.push(`${topic} ${hint}`),
    subscribe: (_, listener) => void listeners.push(listener),
  }
  const receive = (hint: string): void => {
    for (const listener of listeners) listener(hint)
  }
  return { wakeups, published, receive }
}

const lane = (): DeliveryLane => ({ orgId: newId(), webhookId: newId() })

test('a process without a deliverer announces each webhook with new deliveries to the others', () => {
  const { wakeups, published } = recording()
  const [one, two] = [lane(), lane()]
  createDeliveryWake(wakeups).notify([one, two])
  assert.deepEqual(
    published,
    [one, two].map(({ orgId, webhookId }) => `deliveries ${orgId}/${webhookId}`),
  )
})

test('a process with a deliverer wakes that one and no other process', () => {
  const { wakeups, published } = recording()
  const wake = createDeliveryWake(wakeups)
  const woken: DeliveryLane[] = []
  wake.listen((lanes) => woken.push(...lanes))
  const one = lane()
  wake.notify([one])
  assert.deepEqual(woken, [one])
  assert.deepEqual(published, [])
})

test('a hint of another process wakes the deliverer, and one with anything but two UUIDs does not reach its statements', () => {
  const { wakeups, receive } = recording()
  const woken: DeliveryLane[] = []
  createDeliveryWake(wakeups).listen((lanes) => woken.push(...lanes))
  const one = lane()
  const { orgId, webhookId } = one
  for (const hint of ['', '/', orgId, `${orgId}/`, `${orgId}/${'-'.repeat(36)}`, `${orgId}/'; drop`]) receive(hint)
  receive(`${orgId}/${webhookId}`)
  assert.deepEqual(woken, [one])
})

test('a deliverer whose database refuses connections tries again with increasing delays', async () => {
  const db = openDatabase({
    connection: { ...app.connection, database: 'refused' },
    poolSize: 2,
    hotConnections: 1,
    onError: () => undefined,
  })
  const failedAt: number[] = []
  const log = createLog('warn', { write: () => void failedAt.push(performance.now()) })
  const prepareEvent = () => Promise.resolve({ error: 'unused' })
  const deliverer = createDeliverer({
    ...app.deps,
    prepareEvent,
    prepareTask: prepareEvent,
    schedule: [],
    db,
    log,
    deliveryWake: createDeliveryWake(),
  })
  deliverer.start()
  await until('five claims have failed', () => failedAt.length >= 5)
  await deliverer.stop({ deadlineMs: 0 })
  await db.close()
  // At least 250 + 500 + 1,000 + 2,000 ms.
  assert.ok((failedAt[4] as number) - (failedAt[0] as number) >= 3_700)
})
