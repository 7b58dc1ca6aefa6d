import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBackoff } from './backoff.ts'

test('delays double with each failure in a row up to the maximum, and begin again after a success', () => {
  const backoff = createBackoff({ firstMs: 100, maxMs: 1_000, random: () => 1 })
  assert.deepEqual(
    Array.from({ length: 6 }, () => backoff.next()),
    [100, 200, 400, 800, 1_000, 1_000],
  )
  backoff.reset()
  assert.equal(backoff.next(), 100)
})

test('half of a delay is random, so that processes do not return together', () => {
  const lowest = createBackoff({ firstMs: 100, maxMs: 1_000, random: () => 0 })
  assert.equal(lowest.next(), 50)
  const backoff = createBackoff({ firstMs: 100, maxMs: 100 })
  const delays = Array.from({ length: 200 }, () => backoff.next())
  assert.ok(delays.every((ms) => ms >= 50 && ms <= 100))
  assert.ok(new Set(delays).size > 100)
})

test('the delay stays at the maximum after any number of failures', () => {
  const backoff = createBackoff({ firstMs: 100, maxMs: 5_000, random: () => 1 })
  for (let i = 0; i < 5_000; i++) backoff.next()
  assert.equal(backoff.next(), 5_000)
})
