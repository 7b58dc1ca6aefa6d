import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupCommit } from './group-commit.ts'

/** A store that ends a write when it is told to. */
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
/** Until whatever a result sets off has begun. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('what arrives during a write goes into the next one together, and each gets its own result', async () => {
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

test('large items do not go together, and one that is too large goes alone', async () => {
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

test('one that is refused fails alone', async () => {
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

test('when the database is away all fail, and nothing is tried one by one', async () => {
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

test('a lane does not wait for the write of another, nor is it in two writes at once', async () => {
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
