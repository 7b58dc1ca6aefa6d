import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSettler } from './settler.ts'

/** A settler whose first `failures` writes are rejected. */
const open = (failures = 0) => {
  const writes: number[][] = []
  const errors: unknown[] = []
  const settler = createSettler<number>({
    write: async (items) => {
      writes.push(items)
      if (writes.length <= failures) throw new Error('the database is down')
    },
    maxItems: 3,
    onError: (error) => errors.push(error),
  })
  return { settler, writes, errors }
}

test('the settler writes outcomes that arrive together in batches of at most maxItems', async () => {
  const { settler, writes } = open()
  await Promise.all([1, 2, 3, 4, 5].map((item) => settler.settle(item)))
  assert.deepEqual(writes, [
    [1, 2, 3],
    [4, 5],
  ])
})

test('the settler repeats a failed write until it succeeds, and resolves only then', async () => {
  const { settler, writes, errors } = open(1)
  await settler.settle(1)
  assert.deepEqual(writes, [[1], [1]])
  assert.equal(errors.length, 1)
})

test('after halt, the settler tries each write once and gives it up', async () => {
  const { settler, writes, errors } = open(2)
  settler.halt()
  await settler.settle(1)
  await settler.persist(() => Promise.reject(new Error('the database is down')))
  assert.deepEqual(writes, [[1]])
  assert.equal(errors.length, 2)
})
