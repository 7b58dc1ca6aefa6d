import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../../platform/ids.ts'
import { createKeptPictures } from './kept-pictures.ts'
import { createMediaBudget } from './media-budget.ts'

const never = new AbortController().signal
const limits = { bytes: 100, orgBytes: 60, waitMs: 60_000 }

describe('the memory for files in model calls', () => {
  test('one org cannot take more than its share, and does not hold up another org that waits behind it', async () => {
    const budget = createMediaBudget(limits)
    assert.equal(await budget.take('a', 60, never), true)
    let isGranted = false
    const later = budget.take('a', 10, never).then((result) => {
      isGranted = result
    })
    assert.equal(await budget.take('b', 40, never), true)
    assert.equal(isGranted, false)
    budget.giveBack('a', 60)
    await later
    assert.equal(isGranted, true)
  })

  test('a call that waits gets the memory that another org returns', async () => {
    const budget = createMediaBudget(limits)
    await budget.take('a', 60, never)
    const waiting = budget.take('b', 50, never)
    budget.giveBack('a', 60)
    assert.equal(await waiting, true)
  })

  test('a call that waited for too long is made without files, and the memory is not lost', async () => {
    const budget = createMediaBudget({ ...limits, waitMs: 1 })
    await budget.take('a', 60, never)
    assert.equal(await budget.take('a', 60, never), false)
    budget.giveBack('a', 60)
    assert.equal(await budget.take('a', 60, never), true)
  })

  test('a turn that ends stops waiting with the reason', async () => {
    const budget = createMediaBudget(limits)
    await budget.take('a', 60, never)
    const ending = new AbortController()
    const waiting = budget.take('a', 1, ending.signal)
    ending.abort(new Error('the turn was cancelled'))
    await assert.rejects(waiting, /was cancelled/)
    budget.giveBack('a', 60)
    assert.equal(await budget.take('b', 60, never), true)
    assert.equal(await budget.take('a', 40, never), true)
  })
})

describe('pictures that tools returned', () => {
  const picture = (bytes: number) => ({
    mimeType: 'image/png' as const,
    width: 1,
    height: 1,
    bytes: Buffer.alloc(bytes),
  })
  const owner = (orgId: string) => ({ orgId, turnId: newId() })

  test('are found only by the turn that keeps them, until it ends', () => {
    const kept = createKeptPictures()
    const mine = owner('a')
    const id = kept.keep(mine, picture(5))
    assert.equal(kept.find(mine, id)?.bytes.length, 5)
    assert.equal(kept.find(owner('a'), id), undefined)
    assert.equal(kept.find({ ...mine, orgId: 'b' }, id), undefined)
    kept.drop(mine)
    assert.equal(kept.find(mine, id), undefined)
  })

  test('have at most the memory of their turn, org and process, of which the oldest are dropped', () => {
    const kept = createKeptPictures({ bytes: 30, orgBytes: 20, turnBytes: 10 })
    const [first, second, third, other] = [owner('a'), owner('a'), owner('a'), owner('b')]
    const ids = [5, 5, 5].map((bytes) => kept.keep(first, picture(bytes)))
    assert.deepEqual(
      ids.map((id) => kept.find(first, id) !== undefined),
      [false, true, true],
    )
    const foreign = kept.keep(other, picture(10))
    kept.keep(second, picture(10))
    kept.keep(third, picture(10))
    assert.deepEqual(
      ids.map((id) => kept.find(first, id) !== undefined),
      [false, false, false],
    )
    assert.ok(kept.find(other, foreign))
    kept.keep(owner('c'), picture(10))
    assert.equal(kept.find(other, foreign), undefined)
  })
})
