import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createImageQueue } from './queue.ts'

test('a person whose image took long waits for as long, while the images of others of the org are made', async () => {
  const clock = { ms: 0 }
  const queue = createImageQueue({ slowMs: 10_000, now: () => clock.ms })
  const order: string[] = []
  const slow = Promise.withResolvers<void>()
  const leaving = new AbortController()
  const add = (member: string, work: () => Promise<unknown> = () => nextTurn()) =>
    queue.run(
      async () => {
        order.push(member)
        await work()
      },
      { group: 'org', member, signal: leaving.signal },
    )
  const first = add('slow', () => slow.promise)
  const waiting = [add('slow'), add('slow')]
  const others = [add('other'), add('other'), add('other')]
  await nextTurn()
  assert.deepEqual(order, ['slow'])
  clock.ms = 30_000
  slow.resolve()
  await Promise.all([first, ...others])
  const late = add('slow')
  await add('other')
  await nextTurn()
  assert.deepEqual(order, ['slow', 'other', 'other', 'other', 'other'])
  const left = Promise.allSettled([...waiting, late])
  leaving.abort(new Error('left'))
  assert.deepEqual(
    (await left).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
})

test('a person whose images take seconds does not wait between them', async () => {
  const clock = { ms: 0 }
  const queue = createImageQueue({ slowMs: 10_000, now: () => clock.ms })
  for (let n = 0; n < 3; n += 1) {
    await queue.run(
      async () => {
        clock.ms += 9_000
      },
      { group: 'org', member: 'one' },
    )
  }
  queue.close()
  await assert.rejects(queue.run(() => nextTurn(), { group: 'org', member: 'one' }))
})
