import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from './errors.ts'
import { etagOf, isNotModified, requireMatch } from './etag.ts'

const matches = (ifMatch: string | undefined, revision = 3): boolean => {
  try {
    requireMatch(ifMatch, { revision })
    return true
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'CONFLICT')
    return false
  }
}

describe('If-Match', () => {
  test('a missing If-Match and * match every version', () => {
    assert.equal(matches(undefined), true)
    assert.equal(matches('*'), true)
    assert.equal(matches(' * '), true)
  })

  test('If-Match matches the current tag, alone or in a list', () => {
    for (const header of ['"3"', ' "3" ', '"1", "3"', '"1","2","3"', 'W/"3", "3"'])
      assert.equal(matches(header), true, header)
  })

  test('If-Match compares the revision and ignores moving values', () => {
    assert.equal(matches(etagOf({ revision: 3 }, [17, null])), true)
    for (const header of [etagOf({ revision: 2 }, [3]), 'W/"3.17"', '"33.17"', '".3"']) {
      assert.equal(matches(header), false, header)
    }
  })

  test('If-Match does not match another tag, a weak tag, an unquoted tag or an empty value', () => {
    for (const header of ['"2"', '"33"', 'W/"3"', '3', '', '"3', '3"', '"*"', 'W/"2", "4"']) {
      assert.equal(matches(header), false, header)
    }
  })
})

describe('If-None-Match', () => {
  const etag = etagOf({ revision: 3 })

  test('If-None-Match matches the strong tag, the weak tag, a list with it, and *', () => {
    for (const header of ['"3"', 'W/"3"', '"1", "3"', '"1",W/"3"', '*'])
      assert.equal(isNotModified(header, etag), true, header)
  })

  test('If-None-Match does not match without a header, with another tag or without quotes', () => {
    assert.equal(isNotModified(undefined, etag), false)
    for (const header of ['"2"', '3', '', 'W/', '"33"']) assert.equal(isNotModified(header, etag), false, header)
  })
})
