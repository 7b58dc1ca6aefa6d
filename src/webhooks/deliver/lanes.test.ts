import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../platform/ids.ts'
import { createBodies } from './bodies.ts'
import { createLanes } from './lanes.ts'
import type { DeliveryLane } from './lane-queries.ts'

const places = 512
const lanesOf = (orgId: string, count: number) => Array.from({ length: count }, () => ({ orgId, webhookId: newId() }))

/** Starts as many attempts as the lanes allow, none of which ends. Returns their number by org. */
const fill = (lanes: ReturnType<typeof createLanes>): Map<string, number> => {
  const started = new Map<string, number>()
  let free = places
  for (;;) {
    const ready = lanes.removeReady(256, free)
    if (ready.length === 0) return started
    const ofOrg = new Map<string, number>()
    for (const lane of ready) {
      const left = lane.orgSlots - (ofOrg.get(lane.orgId) ?? 0)
      for (let n = Math.min(lane.slots, left, free); n > 0; n -= 1) {
        lanes.started(lane)
        free -= 1
        ofOrg.set(lane.orgId, (ofOrg.get(lane.orgId) ?? 0) + 1)
        started.set(lane.orgId, (started.get(lane.orgId) ?? 0) + 1)
      }
      lanes.markReady(lane)
    }
  }
}

describe('lanes', () => {
  test('give one org at most half of the places, however many endpoints it has', () => {
    const lanes = createLanes()
    const [org, other] = [newId(), newId()]
    for (const lane of lanesOf(org, 1_000)) lanes.markReady(lane)
    const started = fill(lanes).get(org) ?? 0
    assert.ok(started >= 200 && started <= places / 2, `${started}`)
    const [first] = lanesOf(other, 1)
    lanes.markReady(first as { orgId: string; webhookId: string })
    const [served] = lanes.removeReady(256, places - started)
    assert.equal(served?.orgId, other)
    assert.ok((served?.orgSlots ?? 0) >= 1)
  })

  test('leave places of an org to its webhooks without attempts, and to those that respond, when others hang', () => {
    const lanes = createLanes()
    const org = newId()
    const [prompt, fresh] = lanesOf(org, 2) as [DeliveryLane, DeliveryLane]
    lanes.started(prompt)
    lanes.ended(prompt, 10)
    for (const lane of lanesOf(org, 20)) lanes.markReady(lane)
    const started = fill(lanes).get(org) ?? 0
    assert.ok(started < places / 2, `${started}`)
    lanes.markReady(prompt)
    lanes.markReady(fresh)
    const served = lanes.removeReady(256, places - started)
    const slotsOf = ({ webhookId }: DeliveryLane) => served.find((lane) => lane.webhookId === webhookId)?.slots ?? 0
    assert.equal(slotsOf(fresh), 1)
    assert.ok(slotsOf(prompt) > 16, `${slotsOf(prompt)}`)
  })

  test('leave bytes of an org to its webhooks that respond and to new ones when others hang with large bodies', () => {
    const bodies = createBodies()
    const lanes = createLanes(bodies)
    const org = newId()
    const [prompt, fresh, ...hanging] = lanesOf(org, 50) as [DeliveryLane, DeliveryLane, ...DeliveryLane[]]
    lanes.started(prompt)
    lanes.ended(prompt, 10)
    // They have timed out before.
    for (const lane of hanging) {
      lanes.started(lane)
      lanes.ended(lane, 15_000)
      lanes.markReady(lane)
    }
    let claimed = 0
    for (let ready = lanes.removeReady(256, places); ready.length > 0; ready = lanes.removeReady(256, places)) {
      const [lane] = ready
      for (const one of ready) lanes.markReady(one)
      lanes.started(lane as DeliveryLane)
      bodies.add(org, 900_000)
      claimed += 1
      assert.ok(claimed < 100)
    }
    assert.ok(claimed > 10 && claimed < 25, `${claimed}`)
    lanes.markReady(prompt)
    lanes.markReady(fresh)
    const served = lanes.removeReady(256, places)
    const bytesOf = ({ webhookId }: DeliveryLane) => served.find((lane) => lane.webhookId === webhookId)?.orgBytes ?? 0
    assert.ok(bytesOf(prompt) > 5_000_000 && bytesOf(fresh) > 5_000_000, `${bytesOf(prompt)} ${bytesOf(fresh)}`)
  })

  test('give several orgs equal parts, and leave places for the next one', () => {
    const lanes = createLanes()
    const orgs = [newId(), newId(), newId()]
    for (const org of orgs) for (const lane of lanesOf(org, 300)) lanes.markReady(lane)
    const started = fill(lanes)
    const counts = orgs.map((org) => started.get(org) ?? 0)
    const sum = counts.reduce((a, b) => a + b)
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 64, counts.join())
    assert.ok(sum < places, `${sum}`)
  })

  test('serve every org of a claim, although the first one has more lanes than fit', () => {
    const lanes = createLanes()
    const [many, few] = [newId(), newId()]
    for (const lane of lanesOf(many, 1_000)) lanes.markReady(lane)
    for (const lane of lanesOf(few, 2)) lanes.markReady(lane)
    const orgs = lanes.removeReady(256, places).map(({ orgId }) => orgId)
    assert.equal(orgs.filter((org) => org === many).length, 128)
    assert.equal(orgs.filter((org) => org === few).length, 2)
  })

  test('serve an org with one webhook although another one has more due webhooks than are kept', () => {
    const lanes = createLanes()
    const [many, few] = [newId(), newId()]
    for (const lane of lanesOf(many, 10_001)) lanes.markReady(lane)
    const [only] = lanesOf(few, 1) as [DeliveryLane]
    lanes.markReady(only)
    const served = lanes.removeReady(256, places)
    assert.ok(served.some(({ webhookId }) => webhookId === only.webhookId))
  })

  test('keep a bounded number of ready lanes, because anybody on the network of Redis can name lanes', () => {
    const lanes = createLanes()
    for (let n = 0; n < 200; n += 1) for (const lane of lanesOf(newId(), 100)) lanes.markReady(lane)
    for (let n = 0; n < 20_000; n += 1) for (const lane of lanesOf(newId(), 1)) lanes.markReady(lane)
    let removed = 0
    for (let more = 1; more > 0; removed += more) more = lanes.removeReady(256, places).length
    assert.equal(removed, 20_000)
  })
})
