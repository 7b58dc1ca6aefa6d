import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgent, openSession, until, untilStatus } from '../../../test/support/chat.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { createProbation } from './probation.ts'

const never = new AbortController().signal

test('turns on probation get places in the order of their requests, and a turn that stops waiting is skipped', async () => {
  const { tryEnter, enter } = createProbation({ places: 1, placeMs: 60_000 })
  const leave = tryEnter()
  assert.ok(leave)
  assert.equal(tryEnter(), undefined)
  const order: string[] = []
  const stop = new AbortController()
  const first = enter(stop.signal)
  const second = enter(never).then((leave) => {
    order.push('second')
    return leave
  })
  const third = enter(never).then(() => order.push('third'))
  stop.abort(new Error('stopped'))
  await assert.rejects(first, /stopped/)
  leave()
  leave()
  const leaveSecond = await second
  assert.deepEqual(order, ['second'])
  leaveSecond()
  await third
  assert.deepEqual(order, ['second', 'third'])
})

test('a turn on probation releases its place to the next turn after it has run long enough without a crash', async () => {
  const { tryEnter, enter } = createProbation({ places: 1, placeMs: 1 })
  assert.ok(tryEnter())
  assert.ok(await enter(never))
})

test('only a few turns of a dead worker run in a process at the same time, and the others wait without a lease', async () => {
  const fake = await startFakeModel()
  const app = await startTestApp(fake.env, { work: false })
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Waiting', model: 'fake/m1' })
  const turnIds: string[] = []
  for (let n = 0; n < 6; n++) {
    const session = await openSession(app, owner, { agentId: agent.id })
    const { body } = await app.call('POST', `/api/v1/sessions/${session.id}/messages`, {
      as: owner,
      json: { text: `turn ${n}`, background: true },
    })
    turnIds.push(body.data.turn.id)
  }
  await app.db.execute(sql`update turns set worker_deaths = 1 where org_id = ${owner.orgId}`)
  const { script, release } = held(reply(['done']))
  fake.play(script)
  await app.secondServer(fake.env, {
    work: true,
    replace: { probation: createProbation({ places: 4, placeMs: 3_600_000 }) },
  })
  const waiting = () =>
    app.db.rows<{ id: string }>(sql`
      select id from turns where org_id = ${owner.orgId} and attempts = 1 and lease_token is null`)
  await until(waiting, (rows) => rows.length === 2)
  await until(
    () => Promise.resolve(fake.requests.length),
    (asked) => asked === 4,
  )
  // The others run when the first ones have ended.
  release()
  for (const id of turnIds) await untilStatus(app, owner, id, 'completed')
})
