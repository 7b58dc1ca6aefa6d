import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { ApiError } from './errors.ts'

const id = '019aa3f0-0000-7000-8000-000000000001'
const raw = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const isBadRequest = (error: unknown): boolean => error instanceof ApiError && error.code === 'BAD_REQUEST'

describe('cursors', () => {
  test('a cursor decodes to the values that it was encoded from', () => {
    const values = ['2026-11-21 03:38:50.123456+00', id, 'naïve 😀', -5, true] as const
    assert.deepEqual(
      decodeCursor(encodeCursor([...values]), ['timestamp', 'uuid', 'string', 'number', 'boolean']),
      values,
    )
  })

  test('a cursor round-trips every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer(), (text, number) => {
        fc.pre(!text.includes('\0'))
        assert.deepEqual(decodeCursor(encodeCursor([text, number]), ['string', 'number']), [text, number])
      }),
    )
  })

  test('a cursor contains only characters that need no escaping in a URL', () => {
    assert.match(encodeCursor(['??>>~~', 'ÿÿÿ']), /^[A-Za-z0-9_-]+$/)
  })

  const refused: [string, string][] = [
    ['nothing', ''],
    ['noise', 'nonsense!'],
    ['no list', raw({ 0: '2026-11-21T00:00:00Z', 1: id })],
    ['null', raw(null)],
    ['a list that is too short', raw(['2026-11-21T00:00:00Z'])],
    ['a list that is too long', raw(['2026-11-21T00:00:00Z', id, id])],
    ['values in another order', raw([id, '2026-11-21T00:00:00Z'])],
    ['a number for a time', raw([1_700_000_000, id])],
    ['a list for an id', raw(['2026-11-21T00:00:00Z', [id]])],
    ['an id in capitals', raw(['2026-11-21T00:00:00Z', id.toUpperCase()])],
    ['an id with SQL behind it', raw(['2026-11-21T00:00:00Z', `${id}'--`])],
    ['a day that no month has', raw(['2026-02-30T00:00:00Z', id])],
    ['a month that no year has', raw(['2026-13-01T00:00:00Z', id])],
    ['an hour that no day has', raw(['2026-11-21T25:00:00Z', id])],
    ['the year 0', raw(['0000-01-01T00:00:00Z', id])],
    ['another time zone', raw(['2026-11-21T00:00:00+02:00', id])],
    ['infinity, which PostgreSQL would understand', raw(['infinity', id])],
  ]
  for (const [what, cursor] of refused) {
    test(`a cursor with ${what} is BAD_REQUEST`, () => {
      assert.throws(() => decodeCursor(cursor, ['timestamp', 'uuid']), isBadRequest)
    })
  }

  test('a cursor with text that cannot be stored or an inexact number is BAD_REQUEST', () => {
    for (const value of ['a\0b', '\ud800', 1, null]) {
      assert.throws(() => decodeCursor(raw([value]), ['string']), isBadRequest)
    }
    for (const value of ['1', 1.5, 1e300, 2 ** 53, null, true]) {
      assert.throws(() => decodeCursor(raw([value]), ['number']), isBadRequest)
    }
    for (const value of ['true', 0, 1, null]) assert.throws(() => decodeCursor(raw([value]), ['boolean']), isBadRequest)
  })

  test('decoding an arbitrary text never throws anything but BAD_REQUEST', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        (cursor) => {
          try {
            decodeCursor(cursor, ['timestamp', 'uuid'])
          } catch (error) {
            assert.ok(isBadRequest(error))
          }
        },
      ),
    )
  })
})
