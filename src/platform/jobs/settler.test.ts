import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createSettler } from './settler.ts'

const ofDatabase = (code: string): Error => Object.assign(new pg.DatabaseError('rejected', 0, 'error'), { code })

/** A settler whose first `failures` writes fail. `failAll` is called before each write. */
const open = (failures = 0, failAll: (items: number[]) => void = () => undefined) => {
  const writes: number[][] = []
  const errors: unknown[] = []
  const rejected: (number | undefined)[] = []
  const settler = createSettler<number>({
    write: async (items) => {
      writes.push(items)
      failAll(items)
      if (writes.length <= failures) throw new Error('the database is down')
    },
    maxItems: 3,
    onError: (error) => errors.push(error),
    onRejected: (_error, item) => rejected.push(item),
  })
  return { settler, writes, errors, rejected }
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

test('an outcome that the database can never accept is given up, and those of the same write are recorded', async () => {
  const { settler, writes, rejected, errors } = open(0, (items) => {
    if (items.includes(2)) throw ofDatabase('23514')
  })
  await Promise.all([1, 2, 3].map((item) => settler.settle(item)))
  assert.deepEqual(writes, [[1, 2, 3], [1], [2], [3]])
  assert.deepEqual(rejected, [2])
  assert.deepEqual(errors, [])
  await settler.persist(() => Promise.reject(ofDatabase('22P05')))
  assert.deepEqual(rejected, [2, undefined])
})

test('an outcome whose write fails for another reason is repeated beside the writes of others', async () => {
  let isFailing = true
  const { settler, rejected } = open(0, (items) => {
    if (items.includes(1) && isFailing) throw ofDatabase('40P01')
  })
  const first = settler.settle(1)
  await Promise.all([2, 3, 4].map((item) => settler.settle(item)))
  isFailing = false
  await first
  assert.deepEqual(rejected, [])
})

test('the write of a batch is repeated as a whole while the database is unavailable', async () => {
  let outages = 1
  const { settler, writes, rejected } = open(0, () => {
    if (outages-- > 0) throw ofDatabase('57P01')
  })
  await Promise.all([1, 2].map((item) => settler.settle(item)))
  assert.deepEqual(writes, [
    [1, 2],
    [1, 2],
  ])
  assert.deepEqual(rejected, [])
})
