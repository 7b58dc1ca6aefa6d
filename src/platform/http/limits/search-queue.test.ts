import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startTestApp } from '../../../../test/harness.ts'
import { inSearchQueue } from './search-queue.ts'

const app = await startTestApp()
const paths = ['/api/v1/files/usage', '/api/v1/files?search=report&recursive=true', '/api/v1/sessions?search=report']

test('a person with many searches leaves waiting places to others of the org, who get the next turn', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner, 'member')
  const release = Promise.withResolvers<void>()
  const order: string[] = []
  const searches = Array.from({ length: 6 }, (_, index) =>
    inSearchQueue(owner, async () => {
      await release.promise
      order.push(`owner ${index}`)
    }),
  )
  for (const path of paths) {
    // oxlint-disable-next-line no-await-in-loop -- each must find the queue as it is
    const { status, body, headers } = await app.call('GET', path, { as: owner })
    assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'SERVICE_UNAVAILABLE', '5'], path)
  }
  const theirs = inSearchQueue(member, async () => void order.push('member'))
  const answers = paths.map((path) => app.call('GET', path, { as: member }))
  await nextTurn()
  release.resolve()
  await Promise.all([...searches, theirs])
  assert.deepEqual(order.slice(0, 3), ['owner 0', 'owner 1', 'member'], order.join())
  for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text)
})
