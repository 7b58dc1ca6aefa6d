import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { daysBetween, monthsBetween, previousOf, spanOf } from './periods.ts'

const at = (text: string): Date => new Date(text)

describe('spanOf', () => {
  for (const [name, now, fromDay, toDay, grain] of [
    ['today', '2026-11-21T23:59:59.999Z', '2026-11-21', '2026-11-21', 'day'],
    // An evening in New York is the next day in UTC.
    ['today', '2026-11-21T21:00:00-05:00', '2026-11-22', '2026-11-22', 'day'],
    ['week', '2026-11-21T12:00:00Z', '2026-11-16', '2026-11-21', 'day'],
    ['week', '2026-11-22T12:00:00Z', '2026-11-16', '2026-11-22', 'day'],
    ['week', '2026-11-23T00:00:00Z', '2026-11-23', '2026-11-23', 'day'],
    ['week', '2026-01-01T00:00:00Z', '2025-12-29', '2026-01-01', 'day'],
    ['month', '2026-03-31T23:59:59Z', '2026-03-01', '2026-03-31', 'month'],
    ['month', '2026-04-01T00:00:00Z', '2026-04-01', '2026-04-01', 'month'],
    ['year', '2028-02-29T10:00:00Z', '2028-01-01', '2028-02-29', 'month'],
    ['7d', '2028-03-01T10:00:00Z', '2028-02-24', '2028-03-01', 'day'],
    ['30d', '2026-03-01T10:00:00Z', '2026-01-31', '2026-03-01', 'day'],
    ['90d', '2026-01-15T10:00:00Z', '2025-10-18', '2026-01-15', 'day'],
  ] as const) {
    test(`spans ${fromDay} to ${toDay} for the period ${name} at ${now}`, () => {
      assert.deepEqual(spanOf(name, at(now)), { period: name, fromDay, toDay, grain })
    })
  }

  test('has no first day for the period all, and means month by an unknown name', () => {
    assert.equal(spanOf('all', at('2026-11-21T00:00:00Z')).fromDay, null)
    for (const name of ['', 'Month', '31d', '__proto__', undefined]) {
      assert.equal(spanOf(name, at('2026-11-21T00:00:00Z')).period, 'month')
    }
  })

  test('lists each day between two dates once, a leap day included', () => {
    assert.deepEqual(daysBetween('2028-02-27', '2028-03-02'), [
      '2028-02-27',
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
      '2028-03-02',
    ])
    assert.equal(daysBetween('2028-01-01', '2028-12-31').length, 366)
    assert.equal(new Set(daysBetween('2026-01-01', '2026-12-31')).size, 365)
  })
})

describe('previousOf', () => {
  for (const [name, now, fromDay, toDay] of [
    ['today', '2026-03-01T12:00:00Z', '2026-02-28', '2026-02-28'],
    ['week', '2026-11-18T12:00:00Z', '2026-11-09', '2026-11-11'],
    ['7d', '2026-11-18T12:00:00Z', '2026-11-05', '2026-11-11'],
    ['30d', '2026-03-01T10:00:00Z', '2026-01-01', '2026-01-30'],
    ['month', '2026-01-10T00:00:00Z', '2025-12-01', '2025-12-10'],
    ['month', '2026-03-31T00:00:00Z', '2026-02-01', '2026-02-28'],
    ['year', '2028-02-29T00:00:00Z', '2027-01-01', '2027-02-28'],
  ] as const) {
    test(`compares ${name} at ${now} with ${fromDay} to ${toDay}`, () => {
      assert.deepEqual(previousOf(spanOf(name, at(now))), { fromDay, toDay })
    })
  }

  test('has nothing to compare the period all with', () => {
    assert.equal(previousOf(spanOf('all', at('2026-11-21T00:00:00Z'))), null)
  })
})

test('monthsBetween lists the first day of each month between two dates, over the end of a year', () => {
  assert.deepEqual(monthsBetween('2026-11-30', '2027-01-01'), ['2026-11-01', '2026-12-01', '2027-01-01'])
  assert.deepEqual(monthsBetween('2026-11-30', '2026-11-30'), ['2026-11-01'])
})
