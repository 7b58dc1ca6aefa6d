import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { nextDelaySeconds, retryAfterSeconds } from './schedule.ts'

const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
const nowMs = Date.UTC(2026, 10, 21)
const after = (attempts: number, retryAfter?: string, random = 0.5) =>
  nextDelaySeconds(schedule, {
    attempts,
    random,
    nowMs,
    response: retryAfter === undefined ? undefined : { headers: { 'retry-after': retryAfter } },
  })

describe('nextDelaySeconds', () => {
  test('delays each attempt by the schedule, and makes none after the last step', () => {
    assert.deepEqual(
      schedule.map((_, index) => after(index + 1)),
      schedule,
    )
    assert.equal(after(schedule.length + 1), undefined)
    assert.equal(nextDelaySeconds([], { attempts: 1, random: 0, nowMs, response: undefined }), undefined)
  })

  test('spreads the delay by a tenth to both sides', () => {
    assert.equal(after(2, undefined, 0), 270)
    assert.equal(after(2, undefined, 1), 330)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempts, random) => {
        const step = schedule[attempts - 1]!
        const delay = after(attempts, undefined, random)!
        return delay >= step * 0.9 - 1e-6 && delay <= step * 1.1 + 1e-6
      }),
    )
  })

  test('extends the delay to Retry-After, up to the next step of the schedule', () => {
    assert.equal(after(1, '60'), 60)
    assert.equal(after(1, '100000'), 300)
    assert.equal(after(1, '1'), 5)
    assert.equal(after(7, '100000'), 36_000)
    assert.equal(after(1, new Date(nowMs + 60_000).toUTCString()), 60)
    assert.equal(after(1, new Date(nowMs - 60_000).toUTCString()), 5)
  })
})

test('ignores a Retry-After that is neither seconds nor a date', () => {
  for (const text of ['', 'soon', '-1', '1.5', '1e3', '5 s', '٣', '99999999999999']) {
    assert.equal(retryAfterSeconds(text, nowMs), undefined, text)
  }
})
