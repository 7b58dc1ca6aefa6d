import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupCommit } from './group-commit.ts'

/** A store whose writes end on command. */
const startStore = () => {
  const writes: { items: string[]; end: PromiseWithResolvers<void> }[] = []
  const write = async (items: string[]): Promise<string[]> => {
    const end = Promise.withResolvers<void>()
    writes.push({ items, end })
    await end.promise
    if (items.includes('bad')) throw new Error('refused')
    return items.map((item) => `${item} is written`)
  }
  return { writes, write }
}

const laneOf = (): string => 'the only one'
/** Waits until the callbacks of a result have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('items that arrive during a write are written together next, and each gets its own result', async () => {
  const { writes, write } = startStore()
  const commit = createGroupCommit({ write, laneOf, maxItems: 3 })
  const results = Promise.all(['a', 'b', 'c', 'd', 'e'].map((item) => commit(item)))
  assert.deepEqual(
    writes.map(({ items }) => items),
    [['a']],
    'alone nobody waits',
  )
  for (const expected of [['a'], ['b', 'c', 'd'], ['e']]) {
    const { items, end } = writes.at(-1)!
    assert.deepEqual(items, expected)
    end.resolve()
    // The next one begins when this one's result is known.
    await settled()
  }
  assert.deepEqual(
    await results,
    ['a', 'b', 'c', 'd', 'e'].map((item) => `${item} is written`),
  )
})

test('items beyond the byte limit are written separately, and a larger item alone', async () => {
  const { writes, write } = startStore()
  const commit = createGroupCommit({ write, laneOf, maxItems: 9, maxBytes: 4, bytesOf: (item) => item.length })
  const results = Promise.all(['a', 'bbb', 'c', 'dddddd', 'e'].map((item) => commit(item)))
  for (const expected of [['a'], ['bbb', 'c'], ['dddddd'], ['e']]) {
    const { items, end } = writes.at(-1)!
    assert.deepEqual(items, expected)
    end.resolve()
    await settled()
  }
  assert.equal((await results).length, 5)
})

test('a rejected item fails alone', async () => {
  const { writes, write } = startStore()
  const commit = createGroupCommit({ write, laneOf, maxItems: 9 })
  const results = Promise.allSettled(['first', 'good', 'bad', 'fine'].map((item) => commit(item)))
  const expected = [['first'], ['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']]
  for (const wanted of expected) {
    const { items, end } = writes.at(-1)!
    assert.deepEqual(items, wanted)
    end.resolve()
    await settled()
  }
  assert.deepEqual(
    (await results).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
})

test('an unavailable database fails all items without single retries', async () => {
  let writes = 0
  const commit = createGroupCommit({
    write: async () => {
      writes += 1
      await new Promise((resolve) => setImmediate(resolve))
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    },
    laneOf,
    maxItems: 9,
  })
  const results = await Promise.allSettled(['a', 'b', 'c'].map((item) => commit(item)))
  assert.ok(results.every(({ status }) => status === 'rejected'))
  assert.equal(writes, 2)
})

test('lanes do not wait for each other, and no lane is in two writes at the same time', async () => {
  const { writes, write } = startStore()
  const commit = createGroupCommit({ write, laneOf: (item: string) => item[0] ?? '', maxItems: 9 })
  const results = Promise.all(['a1', 'a2', 'b1', 'b2', 'a3', 'c1'].map((item) => commit(item)))
  const begun = (): string[] => writes.map(({ items }) => items.join(' '))
  assert.deepEqual(begun(), ['a1', 'b1'], 'two writes at once, no more')
  writes[1]?.end.resolve()
  await settled()
  assert.deepEqual(begun(), ['a1', 'b1', 'b2 c1'], 'the lane of the write that goes on is left out')
  writes[2]?.end.resolve()
  await settled()
  assert.equal(writes.length, 3)
  writes[0]?.end.resolve()
  await settled()
  assert.deepEqual(begun(), ['a1', 'b1', 'b2 c1', 'a2 a3'], 'in the order of their arrival')
  writes[3]?.end.resolve()
  assert.equal((await results).length, 6)
})
